"""Notebooks: what is read of them, where findings stand, and what is left alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from notebook_files import code, executed, failed, markdown, notebook, shown
from test_cli import detlint

from detlint.engine import LARGEST, Engine
from detlint.finding import Confidence
from detlint.notebooks.notebook import Notebook
from detlint.rules import every_rule
from detlint.settings import Settings
from detlint.sources.decoding import decode
from detlint.sources.source import DecodeError

if TYPE_CHECKING:
    from pathlib import Path

    from detlint.finding import Finding

IMPORT = "import torch\n"
LEAK = "torch.backends.cudnn.benchmark = True"


def lint(document: str | bytes, *codes: str, bar: Confidence = Confidence.LIKELY) -> list[Finding]:
    """Findings as they are shown: with rows of their cells."""
    data = document if isinstance(document, bytes) else document.encode()
    known = {rule.code for rule in every_rule()}
    rules = [rule for rule in every_rule() if not codes or rule.code in (*codes, "DET000")]
    found = Engine(rules, Settings(min_confidence=bar), known=known).lint_bytes("nb.ipynb", data)
    try:
        source = decode("nb.ipynb", data)
    except DecodeError:
        return found
    assert isinstance(source, Notebook)
    return [source.placed(each) for each in found]


def places(document: str | bytes, *codes: str) -> list[tuple[int | None, int, int, str]]:
    return [(each.cell, each.row, each.column, each.code) for each in lint(document, *codes)]


def test_cells_are_one_program_and_findings_stand_in_theirs() -> None:
    document = notebook(markdown("# Training"), IMPORT, "", f"if True:\n    {LEAK}", "done = 1")
    assert places(document) == [(4, 2, 5, "DET301")]


def test_names_of_one_cell_are_known_in_the_next() -> None:
    first = "from torch.backends import cudnn as c"
    assert places(notebook(first, "c.benchmark = True", "c.benchmark = False")) == [
        (2, 1, 1, "DET301")
    ]


def test_a_message_that_names_a_line_names_its_cell() -> None:
    late = 'import os\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"'
    (found,) = lint(notebook(IMPORT, "\nmodel.cuda()", late), "DET306")
    assert found.cell == 3
    assert "after work on the GPU in line 2 of cell 2: cuBLAS reads it once" in found.message


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            json.dumps(
                {
                    "metadata": {"name": ""},
                    "nbformat": 3,
                    "nbformat_minor": 0,
                    "worksheets": [
                        {
                            "cells": [
                                {"cell_type": "heading", "level": 1, "source": ["Title"]},
                                {
                                    "cell_type": "code",
                                    "collapsed": False,
                                    "input": [IMPORT, LEAK],
                                    "language": "python",
                                    "outputs": [],
                                    "prompt_number": 1,
                                },
                            ]
                        }
                    ],
                }
            ),
            id="format 3",
        ),
        pytest.param(
            notebook(markdown("x"), code("") | {"source": IMPORT + LEAK}), id="one string a cell"
        ),
        pytest.param(
            notebook(markdown("x"), code("") | {"source": ["import tor", f"ch\n{LEAK}"]}),
            id="strings that are no lines",
        ),
        pytest.param(
            notebook(markdown("x"), IMPORT.replace("\n", "\r\n") + LEAK), id="carriage returns"
        ),
        pytest.param("\ufeff" + notebook(markdown("x"), IMPORT + LEAK), id="byte order mark"),
        pytest.param(notebook(markdown("x"), IMPORT + LEAK, metadata={}), id="no language"),
        pytest.param(
            notebook(markdown("x"), IMPORT + LEAK, metadata={"language_info": {"name": "ipython"}}),
            id="language ipython",
        ),
        pytest.param(
            notebook(markdown("x"), IMPORT + LEAK).replace("=", "\\u003d"), id="escaped signs"
        ),
        pytest.param(
            notebook(markdown("x"), IMPORT + LEAK).replace('"nbformat": 4', '"nbformat": 9'),
            id="a format to come",
        ),
    ],
)
def test_notebooks_of_each_form_are_read(document: str) -> None:
    assert places(document, "DET301") == [(2, 2, 1, "DET301")]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            notebook(IMPORT + LEAK, metadata={"kernelspec": {"language": "julia"}}), id="Julia"
        ),
        pytest.param(notebook(IMPORT + LEAK, metadata={"language_info": {"name": "R"}}), id="R"),
        pytest.param(
            notebook(code(LEAK) | {"metadata": {"vscode": {"languageId": "sql"}}}), id="SQL cell"
        ),
        pytest.param(notebook(markdown(LEAK)), id="prose"),
        pytest.param(notebook(code("") | {"outputs": [{"text": [LEAK]}]}), id="output"),
        pytest.param(notebook(code("") | {"source": None}), id="no source"),
        pytest.param(notebook(), id="no cells"),
        pytest.param("", id="empty file"),
        pytest.param("version https://git-lfs.github.com/spec/v1\n", id="a pointer to a file"),
    ],
)
def test_what_is_no_python_is_left_alone(document: str) -> None:
    assert lint(document) == []


@pytest.mark.parametrize("start", ["", "\n \n", "  # comment\n"])
def test_a_cell_may_be_indented_as_a_whole(start: str) -> None:
    document = notebook(IMPORT, f"{start}    {LEAK}\n    %env PYTHONHASHSEED=0", "x = 1")
    row = start.count("\n") + 1
    assert places(document) == [(2, row, 5, "DET301"), (2, row + 1, 5, "DET106")]


# What does not parse


def test_a_cell_that_does_not_parse_is_told_and_the_others_are_linted() -> None:
    document = notebook(IMPORT, "def f(:\n    pass", LEAK, "x = 1\nprint 'done'")
    assert places(document) == [
        (2, 1, 7, "DET000"),
        (3, 1, 1, "DET301"),
        (4, 2, 1, "DET000"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("await fetch()", id="await outside of functions"),
        pytest.param("async with f() as x:\n    pass", id="async with"),
        pytest.param("from __future__ import annotations", id="future import in a later cell"),
    ],
)
def test_what_only_cells_may_hold_is_no_problem(text: str) -> None:
    assert places(notebook(IMPORT + LEAK, f"{text}\ncudnn = 1")) == [(1, 2, 1, "DET301")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("x = '\0'", "source code cannot contain null bytes", id="null byte"),
        pytest.param(
            "x = '\ud800'", "it holds half of a character: \\ud800", id="half of a character"
        ),
    ],
)
def test_characters_that_python_has_not_break_only_their_cell(text: str, says: str) -> None:
    document = notebook(IMPORT, "@", LEAK).replace('"@"', json.dumps(text))
    told, found = lint(document)
    assert (told.cell, told.code, told.message) == (2, "DET000", says)
    assert (found.cell, found.code) == (3, "DET301")


@pytest.mark.parametrize(
    ("data", "place", "says"),
    [
        pytest.param("{'cudnn': 1}", (1, 2), "Expecting value", id="no JSON"),
        pytest.param(
            '{"cells": [{"source": ["cudnn"', (1, 31), "Expecting ',' delimiter", id="cut short"
        ),
        pytest.param('{"nbformat": 4,\n"x": "cudnn"}', (2, 14), "it has no cells", id="no cells"),
        pytest.param('{"cells":\n 5, "x": "cudnn"}', (2, 2), "expected '['", id="cells is 5"),
        pytest.param('{"cells": [5, "cudnn"]}', (1, 12), "expected '{'", id="a cell is 5"),
        pytest.param('["cudnn"]', (1, 1), "expected '{'", id="a list"),
        pytest.param('{"cells": []} cudnn', (1, 15), "expected 'the end'", id="more than one"),
        pytest.param(
            '{"cells": [{"cell_type": "code",\n "source": [1, "cudnn"]}]}',
            (2, 12),
            "the source of a cell is not text",
            id="a number in the source",
        ),
        pytest.param(
            '{"cells": [{"cell_type": "code", "source": {"cudnn": 1}}]}',
            (1, 44),
            "the source of a cell is not text",
            id="the source is an object",
        ),
        pytest.param('{"cudnn": ' + "[" * 100_000, (1, 1), "nested too deeply", id="depth"),
    ],
)
def test_what_is_no_notebook_is_told_with_its_place(
    data: str, place: tuple[int, int], says: str
) -> None:
    (found,) = lint(data)
    assert (found.code, found.row, found.column, found.cell) == ("DET000", *place, None)
    assert found.message.startswith("not a notebook: ")
    assert says in found.message


def test_a_merge_that_is_not_finished_is_told_as_such() -> None:
    cell = '{"cell_type": "code", "source": ["cudnn"]}\n'
    (found,) = lint(f'{{"cells": [\n<<<<<<< HEAD\n{cell}=======\n{cell}>>>>>>> topic\n]}}')
    assert (found.code, found.row, found.column) == ("DET000", 2, 1)
    assert found.message.startswith("a conflict marker of a merge is left here: take one side (git")


def test_bytes_that_are_no_text_are_told() -> None:
    (found,) = lint(notebook(LEAK).encode().replace(b"True", b"\xff"))
    assert found.message == "byte 0xff is not valid utf-8: invalid start byte"


def test_pictures_do_not_make_a_notebook_too_large() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * (LARGEST + 1)}}
    assert places(notebook(code(f"{IMPORT}{LEAK}\nfit(1)") | {"outputs": [picture]})) == [
        (1, 2, 1, "DET301")
    ]


def test_code_of_megabytes_is_told() -> None:
    (found,) = lint(notebook(LEAK + "\nx = 1" * (LARGEST // 6)))
    assert "too large to parse: 4 MB, and the limit is 4 MB" in found.message


# Order of execution


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(executed(None, None), id="never run"),
        pytest.param(executed(1, 2, 3), id="in order"),
        pytest.param(executed(1, None, 2), id="some never run"),
        pytest.param(executed(1, None, 3), id="a number that was cleared"),
        pytest.param(executed(2, None, None, 5, 6), id="numbers that were cleared"),
        pytest.param(executed(3, 4), id="after something else"),
        pytest.param(executed(0, 0), id="by what does not count"),
        pytest.param(notebook(shown("a", 1), code("", 5), markdown("b"), code("c", 2)), id="empty"),
        pytest.param(notebook(code("a", 2), code("b", 1)), id="without results"),
        pytest.param(notebook(failed("fit(0)", 2), failed("fit(1)", 1)), id="errors alone"),
        pytest.param(
            notebook(shown("fit(0)", 2), shown("fit(1)", 3), failed("y = (x", 1)),
            id="no Python, which shows only that",
        ),
    ],
)
def test_cells_that_were_run_in_order_are_fine(document: str) -> None:
    assert [each for each in lint(document, "DET208") if each.code == "DET208"] == []


@pytest.mark.parametrize(
    ("counts", "cell", "says"),
    [
        pytest.param((1, 3, 2), 3, "execution count [2] stands below [3]: the cells", id="swapped"),
        pytest.param(
            (1, 5, 3, 2), 3, "execution count [3] stands below [5]: the cells", id="the first"
        ),
        pytest.param(
            (4, 5, 2), 3, "execution count [2] stands below [5]: the cells", id="gap and order"
        ),
        pytest.param((1, 2, 2), 3, "execution count [2] stands at two cells: the cells", id="same"),
    ],
)
def test_other_orders_are_told_once(counts: tuple[int, ...], cell: int, says: str) -> None:
    (found,) = lint(executed(*counts), "DET208")
    assert (found.cell, found.row, found.column, found.end_column) == (cell, 1, 1, 7)
    assert found.message.startswith(says)
    assert ", so the saved results " in found.message
    assert found.message.endswith("; restart the kernel, run all cells, and save")
    assert found.confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    "counts",
    [
        *((1, 3), (1, 2, 4, 5), (1, 2, 5, 9), (7, 8, None, 11), (2, None, 13, None, None)),
        *((3, 9), (1, 2, 5, 10), (1, None, 4, 5)),
    ],
)
def test_cells_that_may_have_run_again_are_possible(counts: tuple[int | None, ...]) -> None:
    assert lint(executed(*counts), "DET208") == []
    (found,) = lint(executed(*counts), "DET208", bar=Confidence.POSSIBLE)
    assert found.confidence is Confidence.POSSIBLE
    assert "is gone, or was run again" in found.message


def test_the_cell_that_results_rest_on_is_told() -> None:
    cells = ("x = [1, 2]", "x", "print('a')", "x.append(3)", "open('x', 'w').write(str(x))")
    counted = [shown(each, count) for each, count in zip(cells, (1, 9, 2, 8, 4), strict=True)]
    (found,) = lint(notebook(*counted), "DET208")
    assert found.cell == 5
    assert found.message.startswith("execution count [4] stands below [8]: ")


def test_a_cell_that_failed_ran_before_others_all_the_same() -> None:
    document = notebook(shown("fit(0)", 2), shown("fit(1)", 3), failed("fit(2)", 1))
    (found,) = lint(document, "DET208")
    assert found.confidence is Confidence.LIKELY


@pytest.mark.parametrize(
    ("counts", "cell", "says"),
    [
        ((1, 2, 5, 10), 3, "execution count [5] stands below [2]: "),
        ((1, None, 4, 5), 3, "execution count [4] stands below [1]: "),
        ((3, 9), 2, "execution count [9] stands below [3]: "),
    ],
)
def test_the_first_gap_is_told(counts: tuple[int | None, ...], cell: int, says: str) -> None:
    (found,) = lint(executed(*counts), "DET208", bar=Confidence.POSSIBLE)
    assert (found.cell, found.row, found.column) == (cell, 1, 1)
    assert found.message.startswith(says)


MOUNTED = "import os\nfrom google.colab import drive\ndrive.mount('/content/drive')"
DRIVING = ("DATA = '/tmp/data'", "!unzip -q data.zip -d {DATA}", "!python train.py --data {DATA}")


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param((MOUNTED, *DRIVING), id="a program runs"),
        pytest.param((MOUNTED, *DRIVING[1:], "os.makedirs('/tmp/data')"), id="folders"),
        pytest.param(("import numpy as np", "x = np.ones(3)\nprint(x.sum())"), id="one computes"),
        pytest.param(
            (
                "import json",
                "import matplotlib.pyplot as plt",
                (
                    "def draw(path):\n    rows = json.load(open(path))\n"
                    "    plt.plot([x['epoch'] + 1 for x in rows], [x['loss'] for x in rows])"
                ),
                "draw('a.json')",
                "draw('b.json')",
            ),
            id="plots of what was saved",
        ),
        pytest.param(
            (
                "import re",
                "log = 'loss 0.5'",
                "found = re.search(r'loss ([.0-9]+)', log)",
                "print({'loss': float(found.group(1))})",
            ),
            id="a log that was pasted",
        ),
        pytest.param(("%load_ext tensorboard", "%tensorboard --logdir runs"), id="TensorBoard"),
        pytest.param(("import sys", "sys.path.append('src')", "print(sys.path)"), id="paths"),
        pytest.param(
            ("import numpy as np", "w = np.random.rand(4)", "x = np.random.rand(4)"), id="they draw"
        ),
        pytest.param(("seen = []", "seen.append(1)", "print(seen)"), id="a list that grows"),
        pytest.param(("x = 'a'", "y = x * 2", "print(y)\n!ls data"), id="what a shell shows"),
        pytest.param(
            ("def f(x):\n    return x.mean() / x.std()", "import torch", "print(f(3))"),
            id="a function",
        ),
    ],
)
def test_cells_that_share_no_state_leave_the_order_possible(cells: tuple[str, ...]) -> None:
    counts = range(len(cells), 0, -1)
    document = notebook(*map(shown, cells, counts))
    assert lint(document, "DET208") == []
    (found,) = lint(document, "DET208", bar=Confidence.POSSIBLE)
    assert found.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(
            ("import numpy as np", "x = np.random.rand(4)", "np.save('x', np.random.rand(4))"),
            id="they draw, and keep it",
        ),
        pytest.param(("from net import fit", "score = fit(3)", "print(score)"), id="a score"),
        pytest.param(("from net import fit", "rate = 0.1", "fit(rate)"), id="an option"),
        pytest.param(("rate = 0.1", "%run train.py", "print(score)"), id="what a magic runs"),
        pytest.param(
            ("n = 1", "n = n + len(str(n))", "open('n', 'w').write(str(n))"), id="a kept number"
        ),
        pytest.param(
            ("import json", "rows = json.load(open('a'))", "json.dump(rows, open('b', 'w'))"),
            id="data that are written",
        ),
        pytest.param(
            ("def f(x):\n    return x.mean() / x.std()", "import np", "np.save('x', f(3))"),
            id="a function",
        ),
        pytest.param(("import torch", "x = torch.ones(3)", "y = (x"), id="no Python"),
    ],
)
def test_cells_that_share_state_depend_on_the_order(cells: tuple[str, ...]) -> None:
    document = notebook(*map(shown, cells, range(len(cells), 0, -1)))
    (found,) = (each for each in lint(document, "DET208") if each.code == "DET208")
    assert found.confidence is Confidence.LIKELY


TRAINED = (
    "import numpy as np, torch\nnet = torch.nn.Linear(1, 1)",
    "net(torch.ones(1)).backward()",
)
TABLES = ("import pandas as pd\na, b = load()", "a = a[a.x > 1]")
SAVED = "a.to_pickle('a.pkl')"
PRINTED = ("print(net.weight.grad)", "np.savetxt('w', net.weight.detach().numpy())")


@pytest.mark.parametrize(
    ("cells", "counts", "sure"),
    [
        ((*TRAINED, *PRINTED), (1, 2, 25, 16), Confidence.POSSIBLE),
        ((*TRAINED, *PRINTED), (1, 7, 3, 4), Confidence.LIKELY),
        ((*TRAINED, *PRINTED), (3, 2, 25, 16), Confidence.LIKELY),
        ((*TRAINED, "g = net.weight.grad", "print(g)"), (1, 2, 25, 16), Confidence.POSSIBLE),
        ((*TRAINED, "print(net(torch.ones(1)))", "print(2)"), (1, 2, 25, 16), Confidence.POSSIBLE),
        ((*TRAINED, "net.weight.zero_()", PRINTED[1]), (1, 2, 25, 16), Confidence.LIKELY),
        ((*TABLES, "b.head()", "a.head()", SAVED), (1, 2, 4, 3, 5), Confidence.POSSIBLE),
        ((*TABLES, "len(b)", "print(a)", SAVED), (1, 2, 4, 3, 5), Confidence.POSSIBLE),
        ((*TABLES, "b.clean()", "a.head()", SAVED), (1, 2, 4, 3, 5), Confidence.POSSIBLE),
        ((*TABLES, "a.clean()", "!ls", SAVED), (1, 2, 4, 5, 3), Confidence.LIKELY),
        ((*TABLES, SAVED, "!ls", "len(a)"), (1, 2, 5, 3, 4), Confidence.POSSIBLE),
        ((TABLES[0], "b.head()", TABLES[1], "a.head()"), (1, 2, 4, 3), Confidence.POSSIBLE),
        ((TABLES[0], "b.head()", TABLES[1], SAVED), (1, 2, 4, 3), Confidence.LIKELY),
        (
            ("x = load('a')\nprint(x.a, len(x))", "x = load('b')\nprint(x.a, len(x))"),
            (2, 1),
            Confidence.LIKELY,
        ),
        (
            ("x = pd.read_csv('a')\nprint(len(x))", "x = pd.read_csv('b')\nprint(len(x))"),
            (2, 1),
            Confidence.POSSIBLE,
        ),
        ((*TRAINED, "print(torch.rand(2))", "print(2)"), (1, 2, 25, 16), Confidence.POSSIBLE),
    ],
)
def test_what_only_shows_something_may_run_again(
    cells: tuple[str, ...], counts: tuple[int, ...], sure: Confidence
) -> None:
    document = notebook(*map(shown, cells, counts))
    found = lint(document, "DET208", bar=Confidence.POSSIBLE)
    assert [each.confidence for each in found] == [sure]


LISTED = "import os\nname = os.listdir('data')[0]"


@pytest.mark.parametrize(
    ("cells", "sure"),
    [
        ((LISTED, "print(name)"), Confidence.POSSIBLE),
        ((LISTED, "!ls data", "plt.imshow(read(name))"), Confidence.POSSIBLE),
        ((LISTED, "plt.plot(read(name))\nplt.savefig('a.png')"), Confidence.POSSIBLE),
        ((LISTED, "# model.fit(name)", "read(name)"), Confidence.POSSIBLE),
        ((LISTED, "print(name)", "table(name).to_csv('a.csv')"), Confidence.LIKELY),
        ((LISTED, "print(name)", "model.fit(name)"), Confidence.LIKELY),
        ((LISTED, "print(name)", "train_one(name)"), Confidence.LIKELY),
        ((LISTED, "print(accuracy_score(name))"), Confidence.LIKELY),
        ((LISTED, "print(name)", "wandb.log({'x': name})"), Confidence.LIKELY),
        ((LISTED, "print(name)", "!python train.py"), Confidence.LIKELY),
        ((LISTED, "print(name)", "%run train.py"), Confidence.LIKELY),
        ((LISTED, "print(name)", "main(name)"), Confidence.LIKELY),
    ],
)
def test_what_a_notebook_leaves_behind(cells: tuple[str, ...], sure: Confidence) -> None:
    (found,) = lint(notebook(*map(shown, cells, range(1, 9))), "DET203", bar=Confidence.POSSIBLE)
    assert found.confidence is sure


def test_a_notebook_that_shows_nothing_says_nothing_of_itself() -> None:
    (found,) = lint(notebook(LISTED, "x = read(name)"), "DET203", bar=Confidence.POSSIBLE)
    assert found.confidence is Confidence.LIKELY


# Suppressions


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param((IMPORT, f"{LEAK}  # detlint: ignore[DET301] quick"), id="on the line"),
        pytest.param((IMPORT, f"# detlint: ignore[DET301] quick\n{LEAK}"), id="above the line"),
        pytest.param((IMPORT, f"{LEAK}  # noqa: DET301"), id="noqa"),
        pytest.param(
            (IMPORT, "# detlint: off[DET301]", "x = 1", LEAK, "# detlint: on[DET301]"),
            id="off across cells",
        ),
        pytest.param((IMPORT + LEAK, "# detlint: skip-file"), id="the whole notebook"),
        pytest.param((IMPORT, "%env PYTHONHASHSEED=0\n# detlint: skip-file"), id="of magics"),
        pytest.param(
            ("# detlint: ignore[DET106] for children\n%env PYTHONHASHSEED=0",), id="above a magic"
        ),
    ],
)
def test_comments_in_cells_suppress(cells: tuple[str, ...]) -> None:
    assert lint(notebook(*cells)) == []


def test_a_comment_in_a_cell_suppresses_its_place_in_the_order() -> None:
    comment = "# detlint: ignore[DET208] the server was restarted\nfit(1)"
    assert lint(notebook(shown("fit(0)", 7), shown(comment, 1))) == []


def test_switched_on_again_in_another_cell() -> None:
    document = notebook(IMPORT + "# detlint: off", LEAK, "# detlint: on", LEAK)
    assert places(document) == [(4, 1, 1, "DET301")]


def test_a_suppression_without_use_is_told_in_its_cell() -> None:
    document = notebook("x = 1", "\ny = 1  # detlint: ignore[DET301]")
    assert places(document) == [(2, 2, 26, "DET001")]


# Output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cells = (markdown("# Training"), IMPORT, f"%matplotlib inline\n{LEAK}")
    (tmp_path / "nb.ipynb").write_text(notebook(*cells), encoding="utf-8")
    return tmp_path


def test_text_shows_the_lines_of_the_cell(folder: Path) -> None:
    done = detlint(".", "--show-source", cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    place = "nb.ipynb:cell 3:2:1: DET301 [*]"
    assert done.stdout.splitlines() == [
        f"{place} {LEAK} has cuDNN pick its kernels by timing them [likely]",
        "  |",
        "1 | %matplotlib inline",
        f"2 | {LEAK}",
        "  | " + "^" * len(LEAK),
        "  |",
        "help: set it to False",
        "fix:",
        f"2 - {LEAK}",
        f"2 + {LEAK.replace('True', 'False')}",
        "",
        "Found 1 finding in 1 file (1 file checked). 1 fixable with --fix.",
    ]


def test_json_tells_cells_as_ruff_does(folder: Path) -> None:
    (found,) = json.loads(detlint(".", "--output-format=json", cwd=folder).stdout)
    assert (found["cell"], found["location"]) == (3, {"row": 2, "column": 1})
    assert found["fix"]["edits"] == [
        {
            "cell": 3,
            "content": "False",
            "location": {"row": 2, "column": 34},
            "end_location": {"row": 2, "column": 38},
        }
    ]
    # ruff counts the cells in the same way.
    text = notebook(markdown("# Training"), "", "import os", "")
    (folder / "other.ipynb").write_text(text, encoding="utf-8")
    command = ["check", "--isolated", "--no-cache", "--select=F", "--output-format=json"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "other.ipynb"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert json.loads(done.stdout)[0]["cell"] == 3


def test_github_and_sarif_point_at_the_line_of_the_file(folder: Path) -> None:
    lines = (folder / "nb.ipynb").read_text(encoding="utf-8").splitlines()
    row = next(row for row, line in enumerate(lines, start=1) if LEAK in line)
    shown = detlint(".", "--output-format=github", cwd=folder).stdout
    assert f"nb.ipynb,line={row}::DET301" in shown
    assert "::DET301 (cell 3, line 2) " in shown
    log: Any = json.loads(detlint(".", "--output-format=sarif", cwd=folder).stdout)
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["region"]
    assert (place, result["properties"]) == ({"startLine": row}, {"cell": 3})


def test_what_is_cached_is_shown_the_same(folder: Path) -> None:
    cold = detlint(".", "--show-source", cwd=folder)
    assert (folder / ".cache-of-test").is_dir()
    assert detlint(".", "--show-source", cwd=folder).stdout == cold.stdout


def test_standard_input_is_a_notebook_by_its_name(folder: Path) -> None:
    data = (folder / "nb.ipynb").read_bytes()
    done = detlint("-", "--stdin-filename=a/nb.ipynb", cwd=folder, stdin=data)
    assert done.stdout.startswith("a/nb.ipynb:cell 3:2:1: DET301")


def test_checkpoints_are_left_out(folder: Path) -> None:
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / "nb.ipynb").rename(folder / ".ipynb_checkpoints" / "nb-checkpoint.ipynb")
    assert "No files to check" in detlint(".", cwd=folder).stdout


# Programs


TRAIN = "model = torch.nn.Linear(2, 2)\nmodel(torch.ones(2, 2)).sum().backward(); sgd.step()"


def test_a_notebook_is_a_program_and_imports_what_lies_beside_it(folder: Path) -> None:
    text = notebook("import torch\nfrom helper import prepare", "prepare()", TRAIN)
    (folder / "nb.ipynb").write_text(text, encoding="utf-8")
    helper = folder / "helper.py"
    helper.write_text("def prepare():\n    pass\n", encoding="utf-8")
    told = detlint(".", "--select=DET102", cwd=folder).stdout
    assert told.startswith("nb.ipynb:cell 3:1:9: DET102 `torch.nn.Linear(2, 2)` draws")
    helper.write_text("import torch\n\ndef prepare():\n    torch.manual_seed(0)\n")
    assert detlint(".", "--select=DET102", cwd=folder).returncode == 0


def test_a_message_names_lines_of_a_notebook_by_their_cell(folder: Path) -> None:
    net = "\nnet = torch.nn.Conv2d(2, 2, 2).cuda()\nsgd = torch.optim.SGD(net.parameters())"
    steps = "for x in rows:\n    net(x).sum().backward()\n    sgd.step()"
    text = notebook("import torch\nimport helper", net, steps)
    (folder / "nb.ipynb").write_text(text, encoding="utf-8")
    (folder / "helper.py").write_text("x = 1\n", encoding="utf-8")
    told = detlint(".", "--select=DET304", cwd=folder).stdout
    assert told.startswith("nb.ipynb:cell 3:2:5: DET304 ")
    assert "`torch.nn.Conv2d` at nb.ipynb:cell 2:2, and neither" in told


@pytest.mark.parametrize(
    ("magic", "status"),
    [
        ("%env CUBLAS_WORKSPACE_CONFIG=:4096:8", 0),
        ("%set_env CUBLAS_WORKSPACE_CONFIG :4096:8", 0),
        ("%env CUBLAS_WORKSPACE_CONFIG=$config", 0),
        ("%env CUBLAS_WORKSPACE_CONFIG", 1),
        ("%env OTHER=1", 1),
    ],
)
def test_variables_that_magics_set_count_for_the_program(
    folder: Path, magic: str, status: int
) -> None:
    device = 'torch.use_deterministic_algorithms(True)\ndevice = "cuda"'
    text = notebook(magic, IMPORT + device, TRAIN)
    (folder / "nb.ipynb").write_text(text, encoding="utf-8")
    done = detlint(".", "--select=DET306", cwd=folder)
    assert done.returncode == status, done.stdout


# Commands and variables


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param(
            ("%env PYTHONHASHSEED=0", "import torch"), [(1, 1, 1, "DET106")], id="hash seed"
        ),
        pytest.param(("%env PYTHONHASHSEED=0", "!python train.py"), [], id="hash seed of a child"),
        pytest.param(
            ("x = 1", "%env CUBLAS_WORKSPACE_CONFIG=:4096:2"), [(2, 1, 1, "DET306")], id="magic"
        ),
        pytest.param(
            ("%%bash\nexport CUBLAS_WORKSPACE_CONFIG=:4096:2\ntorchrun train.py",),
            [(1, 2, 8, "DET306")],
            id="cell of a shell",
        ),
        pytest.param(
            ("!CUBLAS_WORKSPACE_CONFIG=:4096:2 torchrun train.py --x {x}",),
            [(1, 1, 2, "DET306")],
            id="command",
        ),
        pytest.param(
            ("x = 1", "if x:\n    !torchrun train.py --seed $RANDOM"),
            [(2, 2, 24, "DET103")],
            id="seed from the shell",
        ),
        pytest.param(("!torchrun train.py --seed {seed}",), [], id="seed from Python"),
        pytest.param(("!torchrun train.py --seed $seed",), [], id="seed from Python's variable"),
        pytest.param(("'%env CUBLAS_WORKSPACE_CONFIG=:4096:2'",), [], id="text"),
        pytest.param(
            ("!export CUBLAS_WORKSPACE_CONFIG=:4096:2  # detlint: ignore[DET306] old driver",),
            [],
            id="a comment of the shell",
        ),
    ],
)
def test_what_magics_and_commands_say_is_linted(
    cells: tuple[str, ...], expected: list[tuple[int, int, int, str]]
) -> None:
    assert places(notebook(*cells)) == expected


def test_a_command_is_fixed_where_it_stands(folder: Path) -> None:
    text = notebook("x = 1", "if x:\n    !CUBLAS_WORKSPACE_CONFIG=:4096:2 torchrun train.py")
    (folder / "nb.ipynb").write_text(text, encoding="utf-8")
    detlint(".", "--fix", cwd=folder)
    assert (folder / "nb.ipynb").read_text(encoding="utf-8") == text.replace(":4096:2", ":4096:8")


def test_what_a_magic_sets_counts_for_a_program_that_is_started(folder: Path) -> None:
    (folder / "nb.ipynb").write_text(notebook("x = 1"), encoding="utf-8")
    program = f"{IMPORT}\ntorch.use_deterministic_algorithms(True)\n{TRAIN}\ndevice = 'cuda'\n"
    (folder / "train.py").write_text(program, encoding="utf-8")
    assert "train.py:3:1: DET306" in detlint(".", "--select=DET306", cwd=folder).stdout
    text = notebook("%env CUBLAS_WORKSPACE_CONFIG=:4096:8", "!python train.py")
    (folder / "nb.ipynb").write_text(text, encoding="utf-8")
    assert detlint(".", "--select=DET306", cwd=folder).returncode == 0


LISTED = "import os\ndef names(d):\n    return os.listdir(d)\n"


@pytest.mark.parametrize(
    ("cell", "is_found"),
    [
        ("print(len(names('a')))", False),
        ("known = set(names('a'))", False),
        ("known = names('a')[:9]", True),
        ("for name in names('a'):\n    rows.append(name)", True),
        ("", True),
    ],
)
def test_what_a_function_returns_is_seen_where_a_notebook_calls_it(
    cell: str, *, is_found: bool
) -> None:
    found = lint(notebook("rows = []", LISTED, cell, "save(rows)"), "DET203")
    assert [each.code for each in found] == ["DET203"] * is_found
