"""Where values end: what is only drawn or counted is no result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.dataflow.ends import NOWHERE, End, ends_of
from detlint.dataflow.unit import Unit
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

IMPORTS = """\
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
"""
ROWS = "for i, row in frame.sample(frac=1).iterrows():\n"


@pytest.mark.parametrize(
    ("lines", "end"),
    [
        ("x = np.random.rand(3)", NOWHERE),
        ("plt.plot(np.random.rand(3))", End.FIGURE),
        ("ax.scatter(1 + np.random.rand(3) * 0.1, v)", End.FIGURE),
        ("left, (a1, a2) = plt.subplots(2)\na2.bar(x, np.random.rand(3))", End.FIGURE),
        ("places = []\nplaces.append(np.random.rand(3))\nplt.plot(places[0], v)", End.FIGURE),
        ("places = {}\nplaces['a'] = np.random.rand(3)\nplt.plot(places['a'], v)", End.FIGURE),
        ("x = np.clip(np.random.rand(3), 0, 1)\nsns.stripplot(x=x, y=y)", End.FIGURE),
        ("def show(x):\n    plt.plot(x)\nshow(np.random.rand(3))", End.FIGURE),
        ("def _noise():\n    return np.random.rand(3)\nplt.plot(_noise())", End.FIGURE),
        ("x = np.random.rand(3)\nplt.plot(x)\nplt.title(f'{x}')", End.FIGURE | End.MESSAGE),
        ("time.sleep(np.random.rand())", End.ELSE),  # of which nothing says what that is
        ("import time\ntime.sleep(np.random.rand())", End.PAUSE),
        ("x = model(np.random.rand(3).copy().shape)", End.MESSAGE),
        ("x = np.random.rand(3)\nlen(x)\n[x][0]", End.MESSAGE),
        ("x = np.random.rand(3)\nprint(len(x), isinstance(x, list))", End.MESSAGE),
        ("x = model(np.random.rand(3).copy().mean())", End.ELSE),
        (
            "v = w\nif np.random.rand() > 0.5:\n    v = -w\nplt.plot(v)",
            End.FIGURE | End.MESSAGE,
        ),
        ("plt.plot(w if np.random.rand() > 0.5 else v)", End.FIGURE | End.MESSAGE),
        ("v = w\nif np.random.rand() > 0.5:\n    v = -w\nnp.save('v', v)", End.ELSE),
        ("n = 0\nif np.random.rand() > 0.5:\n    n += 1\nnp.save('n', n)", End.ELSE),
        ("def f():\n    if np.random.rand() > 0.5:\n        return\n    g()", End.ELSE),
        ("print(np.random.rand(3))", End.ELSE),  # noise that is printed is a result
        ("x = np.random.rand(3)\nplt.plot(x)\nnp.save('x.npy', x)", End.ELSE),
        ("plt.plot(model(np.random.rand(3)))", End.ELSE),
        ("def f(places):\n    places.append(np.random.rand(3))\n    plt.plot(places)", End.ELSE),
        ("class A:\n    def f(self):\n        self.x = np.random.rand(3)", End.ELSE),
        ("x = np.random.rand(3)\nplt.plot(x)\ny = sns.load_dataset('a').assign(x=x)", End.ELSE),
    ],
)
def test_where_a_draw_ends(lines: str, end: End) -> None:
    unit = Unit(Source("a.py", f"{IMPORTS}{lines}\n"))
    calls = (op for piece in unit.ops_naming("rand") for op in (piece,) if op.code == "call")
    draw = next(op for op in calls if "numpy.random.rand" in op.called)
    assert ends_of(draw, picks=False) == end


def told(capsys: pytest.CaptureFixture[str], rule: str) -> list[str]:
    """The confidences of a rule's findings."""
    options = ["--no-cache", "--output-format", "json", "--min-confidence", "possible"]
    main([*options, "--select", rule, "."])
    return [each["confidence"] for each in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("plt.scatter(1 + np.random.rand(3) * 0.1, v)", "possible"),
        ("np.savetxt('v', 1 + np.random.rand(3) * 0.1)", "likely"),
        ("plt.scatter(1 + np.random.rand(3), v); np.savetxt('v', np.random.rand(3))", "likely"),
    ],
)
def test_a_draw_that_is_only_drawn_in_a_figure(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, found: str
) -> None:
    project({"bars.py": f"{IMPORTS}v = np.loadtxt('v')\n{line}\nnp.savetxt('w', v)\n"})
    assert told(capsys, "DET102") == [found]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("frame.sample(9).plot.scatter('x', 'y')", "possible"),
        (f"{ROWS}    display(row['x'])", "possible"),
        (
            f"{ROWS}    display(row['x'])\n    if i == 2:\n        break",
            "possible",
        ),
        (
            f"n = 0\n{ROWS}    display(i)\n    n += row['x']\n    if i == 2: break\nprint(n)",
            "likely",
        ),
        ("print(frame.sample(9)['x'].mean())", "likely"),
        ("part = frame.sample(9)\nplt.plot(part['x'])\npart.to_csv('part.csv')", "likely"),
        ("model.fit(sns.load_dataset('iris').sample(frac=1))", "likely"),
    ],
)
def test_rows_that_are_picked_to_be_shown(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: str
) -> None:
    text = f"import pandas as pd\n{IMPORTS}frame = pd.read_csv('a.csv')\n{lines}\n"
    project({"look.py": f"{text}frame.to_csv('b.csv')\n"})
    assert told(capsys, "DET104") == [found]


COUNTING = """\
def rate(values):
    values = [float(v) for v in values]
    return sum(values) / len(values)


def main(names: set[str], size, flags: dict[str, float], key):
    found, totals, won = dict(), dict(a=0), []
    for name in names:
        {}
    return {}
"""


@pytest.mark.parametrize(
    ("line", "given", "shows"),
    [
        ("found.setdefault('a', []).append(name)", "found['a']", True),
        ("totals['a'] |= size(name)", "totals", False),
        ("totals['a'] += len(name)", "totals", False),
        ("totals['a'] += flags[name]", "totals", True),
        ("totals['a'] -= float(size(name) > 3)", "totals", False),
    ],
)
def test_what_whole_numbers_add_up_to(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, given: str, *, shows: bool
) -> None:
    project({"count.py": COUNTING.format(line, given)})
    assert bool(told(capsys, "DET204")) is shows


@pytest.mark.parametrize(
    ("line", "given", "shows"),
    [
        ("won.append(float(size(name) > 3))", "rate(won), len(won)", False),
        ("won.append(1.0 if size(name) else 0.0)", "rate(won), len(won)", False),
        ("won.append(float(size(name) > 3))", "won", True),
        ("won.append(float(flags[name]))", "rate(won), len(won)", True),
        ("won.append(name)", "rate(won), len(won)", True),
    ],
)
def test_a_list_of_verdicts_that_is_only_added_up(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, given: str, *, shows: bool
) -> None:
    project({"count.py": COUNTING.format(line, given)})
    assert bool(told(capsys, "DET204")) is shows


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("for a, n in zip(axes, glob('*')):\n    a.plot(np.load(n))", ["possible"]),
        ("for i, n in enumerate(glob('*')):\n    axes[i].plot(np.load(n))", ["possible"]),
        ("for i, n in enumerate(glob('*')):\n    plt.plot(i, np.load(n))", ["possible"]),
        ("plt.plot(np.load(glob('*')[0]))", ["possible"]),
        ("row = np.load(glob('*')[0])\nplt.plot(row)\nnp.save('row', row)", ["likely"]),
        ("rows = train(list(glob('*')))\nplt.plot(rows)", ["likely"]),
        ("for a, n in zip(rates, glob('*')):\n    print(a * np.load(n).sum())", ["likely"]),
    ],
)
def test_an_order_that_only_figures_show(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    top = f"{IMPORTS}from glob import glob\nfigure, axes = plt.subplots(9)\n"
    project({"look.py": f"{top}{lines}\nnp.save('x', x)\n"})
    assert told(capsys, "DET203") == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("rows = glob('*')\nif rows[:5]:\n    print(f'first: {rows[:5]}')", []),
        ("rows = glob('*')\nif rows[:5]:\n    np.save('x', rows[:5])", ["likely"]),
        (
            "m = np.zeros(3)\nfor n in glob('*'):\n    m[0] += np.load(n)\nprint(m / 9)",
            ["possible"],
        ),
        (
            "m = np.zeros(3)\nfor n in glob('*'):\n    m[0] += np.load(n)\nnp.save('m', m)",
            ["likely"],
        ),
        ("find({'$and': [{'name': {'$in': glob('*')}}]})", []),
        ("find({'$and': [{'name': {'$push': glob('*')}}]})", ["likely"]),
    ],
)
def test_an_order_that_is_only_printed_or_looked_up_among(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    project({"look.py": f"import numpy as np\nfrom glob import glob\n{lines}\n"})
    assert told(capsys, "DET203") == found


PICTURES = """\
import random
import torch

torch.manual_seed(0)


def fit(model, batches, opt, logger):
    shown = random.randrange(len(batches))
    for i, x in enumerate(batches):
        y = model(x)
        y.mean().backward()
        opt.step()
        if i == shown:
            {}
    return y


torch.save(fit(*make()), 'a.pt')
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("save_image(y, f'{i}.png')", "possible"),
        ("for each in y:\n                cv2.imwrite('a.png', crop(each))", "possible"),
        ("logger.add_images('y', y, i)", "possible"),
        (
            "grid = []\n            grid.append(y)\n            logger.add_image('y', grid)",
            "possible",
        ),
        (
            "x = crop(x)\n            os.makedirs('a')\n            save_image(x, 'a/b.png')",
            "possible",
        ),
        ("torch.save(y, f'{i}.pt')", "likely"),
        ("y = crop(y)\n            save_image(y, 'a.png')", "likely"),
        ("batches.append(y)\n            save_image(y, 'a.png')", "likely"),
        ("save_image(model(x), 'a.png')", "likely"),
        ("save_image(y, 'a.png')\n            break", "likely"),
    ],
)
def test_a_draw_that_picks_which_picture_is_kept_of_a_training(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: str
) -> None:
    project({"fit.py": PICTURES.format(lines)})
    assert told(capsys, "DET102") == [found]


def test_a_draw_that_picks_which_picture_is_made_is_a_result_where_nothing_is_trained(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PICTURES.format("save_image(y, f'{i}.png')").replace("        y.mean().backward()\n", "")
    project({"make.py": text.replace("        opt.step()\n", "")})
    assert told(capsys, "DET102") == ["likely"]


SHARES = """\
import json, random, sys
from csv import DictWriter

rows = open(sys.argv[1]).readlines()
train, test = DictWriter(open("{}.csv", "w")), DictWriter(open("{}.csv", "w"))
{}
"""
BY_PLACE = "kept = []\nwhile rows:\n    kept.append(rows.pop(random.randrange(len(rows))))\n"
SHARED = "for row in rows:\n    (test if {} else train).writerow(row)"


@pytest.mark.parametrize(
    ("kind", "lines", "confidence"),
    [
        ("train", f"{BY_PLACE}print(''.join(kept))", "possible"),
        ("train", f"{BY_PLACE}open('a', 'w').write(''.join(kept))", "likely"),
        ("train", f"{BY_PLACE}print(' '.join(kept))", "possible"),
        ("train", f"{BY_PLACE}json.dump(' '.join(kept), open('a', 'w'))", "likely"),
        ("train", f"{BY_PLACE}json.dump('-'.join(kept), open('a', 'w'))", "possible"),
        ("train", SHARED.format("random.randint(0, 4) == 0"), "likely"),
        ("ports", SHARED.format("random.randint(0, 4) == 0"), "possible"),
        ("train", SHARED.format("random.random() < 0.2"), "likely"),
        ("train", f"port = random.randint(1, 9)\n{SHARED.format('sys.argv[port]')}", "possible"),
        ("train", f"size = random.randint(1, 9)\n{SHARED.format('len(row) + size')}", "possible"),
    ],
)
def test_rows_that_are_shuffled_or_shared_out_by_hand(
    project: Project, capsys: pytest.CaptureFixture[str], kind: str, lines: str, confidence: str
) -> None:
    project({"rows.py": SHARES.format(kind, kind, lines)})
    assert told(capsys, "DET102") == [confidence]
