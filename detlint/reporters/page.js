// Without this, the page shows all findings by rule. It hides those that the filters leave out,
// sorts them under other headings, and keeps the choice in the address, so that it can be sent.
(() => {
  const form = document.querySelector('form');
  const list = document.getElementById('findings');
  const told = document.getElementById('told');
  const findings = [...list.querySelectorAll('article')];
  const said = new Map(findings.map(each => [each, each.textContent.toLowerCase()]));
  const order = new Map(findings.map((each, place) => [each, place]));
  const programs = each => JSON.parse(each.dataset.programs);

  const keys = {
    rule: each => [each.dataset.rule],
    file: each => [each.dataset.file],
    program: each => programs(each).length ? programs(each) : ['no program'],
  };

  const chosen = () => ({
    text: form.text.value.trim().toLowerCase(),
    rule: form.rule.value,
    file: form.file.value,
    program: form.program.value,
    confidence: [...form.confidence].filter(each => each.checked).map(each => each.value),
    group: form.group.value,
  });

  const fits = (each, wanted) =>
    (!wanted.rule || each.dataset.rule === wanted.rule)
    && (!wanted.file || each.dataset.file === wanted.file)
    && (!wanted.program || programs(each).includes(wanted.program))
    && wanted.confidence.includes(each.dataset.confidence)
    && wanted.text.split(/\s+/).every(word => said.get(each).includes(word));

  // A finding that several programs have stands below all their names at once.
  const grouped = wanted => {
    const groups = new Map();
    for (const each of findings) {
      const name = keys[wanted.group](each).join(', ');
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(each);
    }
    return [...groups].sort(([a], [b]) => a < b ? -1 : 1);
  };

  const arrange = wanted => {
    const sections = grouped(wanted).map(([name, members]) => {
      const section = document.createElement('section');
      const heading = document.createElement('h2');
      heading.textContent = name;
      section.append(heading, ...members.sort((a, b) => order.get(a) - order.get(b)));
      return section;
    });
    list.replaceChildren(...sections);
  };

  let group = 'rule';
  const show = () => {
    const wanted = chosen();
    if (wanted.group !== group) arrange(wanted);
    group = wanted.group;
    let count = 0;
    for (const each of findings) {
      each.hidden = !fits(each, wanted);
      count += !each.hidden;
    }
    for (const each of list.querySelectorAll('section')) {
      each.hidden = !each.querySelector('article:not([hidden])');
    }
    told.textContent = count === findings.length
      ? `All ${count} findings are shown.`
      : `${count} of ${findings.length} findings are shown.`;
  };

  const remember = () => {
    const state = new URLSearchParams();
    const wanted = chosen();
    for (const key of ['text', 'rule', 'file', 'program']) {
      if (form[key].value) state.set(key, form[key].value);
    }
    if (wanted.confidence.length < form.confidence.length) {
      state.set('confidence', wanted.confidence.join(' '));
    }
    if (wanted.group !== 'rule') state.set('group', wanted.group);
    const address = state.toString();
    try {
      history.replaceState(null, '', address ? '#' + address : location.pathname);
    } catch {
      // Some viewers show the page below an address that may not change.
    }
  };

  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const key of ['text', 'rule', 'file', 'program']) {
      if (state.has(key)) form[key].value = state.get(key);
    }
    if (state.has('confidence')) {
      const kept = state.get('confidence').split(' ');
      for (const each of form.confidence) each.checked = kept.includes(each.value);
    }
    if (keys[state.get('group')]) form.group.value = state.get('group');
  };

  form.addEventListener('input', () => { show(); remember(); });
  form.addEventListener('reset', () => setTimeout(() => { show(); remember(); }));
  form.addEventListener('submit', event => event.preventDefault());
  addEventListener('hashchange', () => { if (location.hash.includes('=')) { recall(); show(); } });
  form.classList.remove('scripted');
  if (location.hash.includes('=')) recall();
  show();
})();
