"""What the page is made of besides its data: style, and what answers the pointer and the keys."""

STYLE = """
:root{color-scheme:light dark;--paper:#fdfdfc;--ink:#1c1e21;--soft:#5b6169;--line:#d9dce0;
--panel:#f3f4f5;--good:#1a7f4b;--bad:#b3261e;--same:#dfe9e3;--d1:#f3c9a5;--d2:#e58f5a;--d3:#c8502c;
--d4:#8f1d1d;--mark:#1c1e21}
@media (prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e6e8eb;--soft:#a3abb5;
--line:#33383f;--panel:#1e2126;--good:#5fce97;--bad:#ff8a80;--same:#22352b;--d1:#5c3a20;
--d2:#96562b;--d3:#d9773f;--d4:#ffb08a;--mark:#fff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:75rem;padding:1.5rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;line-height:1.3;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .5rem}
.same{color:var(--good)}.parted{color:var(--bad)}.soft{color:var(--soft)}
p{margin:.25rem 0;max-width:60rem}code,.code{font-family:ui-monospace,monospace;font-size:.92em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.2rem;margin:1rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
dl.verdict{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:1rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;padding:.5rem}
.scroll:focus-visible{outline:2px solid var(--ink);outline-offset:2px}
svg{display:block;max-width:none}svg text{fill:var(--ink);font:12px ui-monospace,monospace}
svg .axis{fill:var(--soft)}.l0{fill:var(--same)}.l1{fill:var(--d1)}.l2{fill:var(--d2)}
.l3{fill:var(--d3)}.l4{fill:var(--d4)}.mark{fill:none;stroke:var(--mark);stroke-width:2}
.pointer{fill:none;stroke:var(--ink);stroke-width:1}.curve{fill:none;stroke:var(--bad);
stroke-width:1.5}.curve.ulps{stroke:var(--d2);stroke-dasharray:5 3}.dot{fill:var(--bad)}
.dot.ulps{fill:var(--d2)}.grid{stroke:var(--line)}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0;margin:.5rem 0;
font-size:.9rem}.key svg{display:inline-block;vertical-align:-1px;margin-right:.4rem}
output{display:block;min-height:1.5em;font-size:.9rem}
table{border-collapse:collapse;font-size:.9rem}th,td{text-align:left;padding:.2rem .8rem .2rem 0;
border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
td.n{text-align:right;font-variant-numeric:tabular-nums}summary{cursor:pointer;margin:.75rem 0}
@media (max-width:40rem){body{padding:1rem}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media print{.scroll{overflow:visible}}
"""

# The time line works without it; with it, a cell says what it stands for.
SCRIPT = """
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
"""
