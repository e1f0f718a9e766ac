// The time line works without it; with it, a cell says what it stands for.
(() => {
  const told = document.getElementById('told'), box = document.getElementById('timeline');
  const data = JSON.parse(document.getElementById('data').textContent);
  const pointer = document.getElementById('pointer');
  if (!box || !pointer) return;
  let row = data.entered ? data.entered[1] : 0, column = data.entered ? data.entered[0] : 0;
  const show = () => {
    const [size, high, left, top] = data.sizes, [name, runs] = data.rows[row];
    let at = 0, found = [0, 0];
    for (const [length, differing, all] of runs) {
      if (column < at + length) { found = [differing, all]; break; }
      at += length;
    }
    const begin = data.columns[column];
    const end = column + 1 < data.columns.length ? data.columns[column + 1] - 1 : data.last;
    const steps = begin === end ? 'step ' + begin : 'steps ' + begin + ' to ' + end;
    told.textContent = name + ', ' + steps + ': ' + (found[1] === 0 ? 'nothing recorded'
      : found[0] === 0 ? 'all ' + found[1] + ' the same'
      : found[0] + ' of ' + found[1] + ' differ');
    pointer.setAttribute('x', left + column * size);
    pointer.setAttribute('y', top + row * high);
    pointer.removeAttribute('visibility');
  };
  const clamp = (value, length) => Math.max(0, Math.min(length - 1, value));
  const svg = box.querySelector('svg');
  svg.addEventListener('pointermove', event => {
    const [size, high, left, top] = data.sizes, corner = svg.getBoundingClientRect();
    const x = Math.floor((event.clientX - corner.left - left) / size);
    const y = Math.floor((event.clientY - corner.top - top) / high);
    if (x < 0 || y < 0 || x >= data.columns.length || y >= data.rows.length) return;
    [column, row] = [x, y];
    show();
  });
  const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  box.addEventListener('keydown', event => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    column = clamp(column + move[0], data.columns.length);
    row = clamp(row + move[1], data.rows.length);
    show();
  });
  box.addEventListener('focus', show);
})();
