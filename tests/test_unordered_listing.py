"""What DET203 says of an order, and what its fix makes of less common shapes."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import pytest
from notebook_files import notebook

from detlint.cli import main
from detlint.finding import Confidence
from detlint.fixes.applying import fix
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.engine import Engine
    from detlint.finding import Finding

HEADER = "import glob, os, fsspec\nfrom pathlib import Path\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(
            "first = os.listdir('.')[0]\n",
            "os.listdir() lists in the file system's order, and here it is indexed",
            id="an index into a listing",
        ),
        pytest.param(
            "longest = max(glob.glob('*'), key=len)\n",
            "glob.glob() lists in the file system's order, and here it is searched by max(key=…), "
            "which keeps the first of equals",
            id="a maximum by a key",
        ),
        pytest.param(
            "jobs = [pool.apply_async(load, (x,)) for x in os.listdir('.')]\n"
            "build([job.get() for job in jobs])\n",
            "os.listdir() lists in the file system's order, and here results in that order are "
            "passed to build()",
            id="jobs of a pool",
        ),
        pytest.param(
            "pairs = zip(Path('a').iterdir(), labels)\n",
            "Path.iterdir() lists in the file system's order, and here it is paired by zip()",
            id="a zip with another list",
        ),
        pytest.param(
            "for root, dirs, files in os.walk('.'):\n    emit(root)\n",
            "os.walk() visits folders in the file system's order, and here they are looped over, "
            "as line 4 shows: `emit(root)`",
            id="the folders of a walk",
        ),
        pytest.param(
            "for root, dirs, files in sorted(os.walk('.')):\n    emit(files[0])\n",
            "os.walk() lists each folder in the file system's order, and here it is indexed, "
            "as line 4 shows: `files[0]`",
            id="the files of a sorted walk",
        ),
        pytest.param(
            "class Images:\n    def __init__(self):\n        self.names = os.listdir('.')\n",
            "os.listdir() lists in the file system's order, and here it is assigned to self.names",
            id="an attribute",
        ),
        pytest.param(
            "build(fsspec.filesystem('file').ls('.'))\n",
            "fsspec's ls() lists in the file system's order, and here it is passed to build()",
            id="a call that is not known",
        ),
        pytest.param(
            "makers[0](os.listdir('.'))\n",
            "os.listdir() lists in the file system's order, and here it is passed to makers[…]()",
            id="a call of an element",
        ),
        pytest.param(
            "run(8)(os.listdir('.'))\n",
            "os.listdir() lists in the file system's order, and here it is passed to run(…)()",
            id="a call of what a call gives",
        ),
        pytest.param(
            "def f(d, n):\n    names = glob.glob(d)\n    a = torch.cat(names) if n else 0\n"
            "    return a, names[n]\n",
            "glob.glob() lists in the file system's order, and here it is indexed, "
            "as line 6 shows: `names[n]`",
            id="a use of the elements, after one of the whole",
        ),
        pytest.param(
            "import numpy as np\n\ndef f(d):\n    images = np.array([load(x) for x in "
            "glob.glob(d)])\n    return images.transpose(0, 3, 1, 2)\n",
            "glob.glob() lists in the file system's order, and here it is read into an array, "
            "as line 7 shows: `images.transpose`",
            id="a method of an array",
        ),
    ],
)
def test_the_message_says_how_the_order_is_used(
    code: str, message: str, findings: Callable[..., list[Finding]]
) -> None:
    assert [each.message for each in findings(HEADER + code, "DET203")] == [message]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "found = next(Path('.').glob('*'))",
            "found = next(iter(sorted(Path('.').glob('*'))))",
            id="next wants an iterator",
        ),
        pytest.param(
            "with os.scandir('.') as entries:\n    names = [e.name for e in entries]\nemit(names)",
            "with os.scandir('.') as entries:\n"
            "    names = [e.name for e in sorted(entries, key=lambda e: e.name)]\nemit(names)",
            id="an iterator that a with block closes is sorted where it is used",
        ),
        pytest.param(
            "for root, _, files in os.walk('.'):\n    emit(root, files[0])",
            "for root, _, files in sorted(os.walk('.')):\n    emit(root, sorted(files)[0])",
            id="a walk whose folders have no name",
        ),
        pytest.param(
            "for root, dirs, files in os.walk('.', topdown=False):\n    print(root)",
            "for root, dirs, files in os.walk('.', topdown=False):\n    print(root)",
            id="a walk from the bottom up is left alone",
        ),
        pytest.param(
            "entries = os.scandir('.')\nprint(next(entries))\nentries.close()",
            "entries = os.scandir('.')\nprint(next(entries))\nentries.close()",
            id="a listing that is closed is left alone",
        ),
        pytest.param(
            "emit(fsspec.filesystem('s3').ls('', detail=True))",
            "emit(sorted(fsspec.filesystem('s3').ls('', detail=True), key=lambda e: e[\"name\"]))",
            id="details are sorted by name",
        ),
        pytest.param(
            "emit(fsspec.filesystem('s3').ls('.'))",
            "emit(fsspec.filesystem('s3').ls('.'))",
            id="file systems differ in whether they give details by default",
        ),
    ],
)
def test_the_fix_keeps_the_code_running(
    before: str, after: str, engine: Callable[..., Engine]
) -> None:
    source = Source("example.py", HEADER + before + "\n")
    fixed = fix(source, engine("DET203").lint, unsafe=False).source.text
    assert fixed == HEADER + after + "\n"


def test_listings_that_show_together_are_one_finding(
    findings: Callable[..., list[Finding]], engine: Callable[..., Engine]
) -> None:
    both = "names = glob.glob('a*') + glob.glob('b*')\nfirst = names[0]\n"
    assert [each.row for each in findings(HEADER + both, "DET203")] == [HEADER.count("\n") + 1]
    fixed = fix(Source("a.py", HEADER + both), engine("DET203").lint, unsafe=False).source.text
    assert "sorted(glob.glob('a*')) + sorted(glob.glob('b*'))" in fixed
    apart = "first = glob.glob('a*')[0] + glob.glob('b*')[0]\n"
    assert len(findings(HEADER + apart, "DET203")) == 2
    below = "names = glob.glob('a*')\nnames += glob.glob('b*')\nfirst = names[0]\n"
    assert len(findings(HEADER + below, "DET203")) == 2


def test_a_listing_is_judged_in_its_own_function(
    findings: Callable[..., list[Finding]],
) -> None:
    code = """
        import os

        def count(d):
            names = os.listdir(d)
            return len(names)

        def first(d):
            names = os.listdir(d)
            return names[0]
    """
    assert [each.row for each in findings(textwrap.dedent(code), "DET203")] == [8]


SCRIPT = """
import os

def names(d):
    return os.listdir(d)

def main():
    if names("a"):
        emit("built")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        pytest.param(SCRIPT, [], id="all its calls in the script ask for its truth"),
        pytest.param(SCRIPT.replace('"built"', 'names("b")'), [4], id="one of them shows it"),
        pytest.param(SCRIPT.replace("    main()", "    len(names('.'))"), [4], id="only tried out"),
        pytest.param(SCRIPT.partition("if __name__")[0], [4], id="other files may import it"),
    ],
)
def test_what_a_function_of_a_script_returns_is_followed_to_its_callers(
    code: str, rows: list[int], findings: Callable[..., list[Finding]]
) -> None:
    assert [each.row for each in findings(code, "DET203")] == rows


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        pytest.param('__name__ == "__main__"', [], id="nobody imports it"),
        pytest.param("os.name == 'nt'", [3], id="somebody may import it"),
    ],
)
def test_a_name_of_a_script_that_nothing_reads_shows_no_order(
    test: str, rows: list[int], findings: Callable[..., list[Finding]]
) -> None:
    code = f"import os\nif {test}:\n    names = list(map(str, os.listdir('.')))\n"
    assert [each.row for each in findings(code, "DET203")] == rows


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        pytest.param("NAMES = os.listdir('.')\n", [3], id="others may import it"),
        pytest.param("names = os.listdir('.')\nprint(1)\n", [], id="nothing reads it in a script"),
        pytest.param("NAMES = os.listdir('.')\nprint(1)\n", [3], id="a constant is for others"),
        pytest.param(
            "NAMES = os.listdir('.')\ndef f(n):\n    return n in NAMES\n",
            [],
            id="a function looks things up in it",
        ),
        pytest.param(
            "NAMES = os.listdir('.')\ndef f():\n    return NAMES[3]\n",
            [3],
            id="a function reads its order",
        ),
        pytest.param(
            "NAMES = os.listdir('.')\ndef f():\n    for n in sorted(NAMES):\n        emit(n)\n",
            [],
            id="a function sorts it",
        ),
        pytest.param(
            "NAMES = os.listdir('.')\nNAMES = sorted(NAMES)\ndef f():\n    return NAMES[3]\n",
            [],
            id="it is sorted before any function runs",
        ),
        pytest.param(
            "FOUND = glob.glob('*.json')\ndef f():\n    return FOUND[0]\n",
            [3],
            id="a function takes the first of a kind",
        ),
        pytest.param(
            "def add():\n    total = 0.0\n    for n in names:\n        total += load(n)\n"
            "    return total\nif __name__ == '__main__':\n    names = os.listdir('.')\n",
            [9],
            id="a function adds up what the main block listed",
        ),
        pytest.param(
            "def f():\n    names = [3]\n    return names[0]\nnames = os.listdir('.')\nprint(1)\n",
            [],
            id="a local of a function is another variable",
        ),
    ],
)
def test_a_global_is_followed_into_the_functions_that_read_it(
    code: str, rows: list[int], findings: Callable[..., list[Finding]]
) -> None:
    assert [each.row for each in findings(HEADER + code, "DET203")] == rows


def test_a_walk_from_the_bottom_up_is_sorted_as_a_whole(
    findings: Callable[[str], list[Finding]],
) -> None:
    code = "for r, dirs, files in os.walk('.', topdown=False):\n    load(files[0])\n    add(dirs)\n"
    (found,) = findings(HEADER + code)
    assert found.advice.startswith("sort the whole walk, sorted(os.walk(…))")


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        pytest.param(
            "import matplotlib.pyplot as plt\nfor n in os.listdir('.'):\n    plt.plot(load(n))\n"
            "    curves.append(n)\nplt.legend(curves)\nplt.savefig('curves.png')\n",
            [],
            id="pictures",
        ),
        pytest.param(
            "for n in os.listdir('.'):\n    if stop.is_set():\n        break\n    save(n, f(n))\n",
            [],
            id="a loop that somebody may interrupt",
        ),
        pytest.param(
            "for n in os.listdir('.'):\n    if is_full(n):\n        break\n    save(n, f(n))\n",
            [3],
            id="a loop that ends by itself",
        ),
        pytest.param(
            "import matplotlib.pyplot as plt\nimport torch\nx = list(map(load, os.listdir('.')))\n"
            "train(x[0])\nplt.show()\n",
            [5],
            id="pictures, and a model",
        ),
        pytest.param(
            "import matplotlib.pyplot as plt\nx = list(map(load, os.listdir('.')))\n"
            "table(x).to_csv('x.csv')\nplt.show()\n",
            [4],
            id="pictures, and a table",
        ),
        pytest.param(
            "def split(d):\n"
            "    for part, path in enumerate(glob.glob(d + '/pytorch_model-*.bin')):\n"
            "        index['weight_map'][part] = save(part, path)\n",
            [],
            id="shards with an index",
        ),
        pytest.param(
            "def split(d):\n"
            "    for part, path in enumerate(glob.glob(d + '/pytorch_model-*.bin')):\n"
            "        parts[part] = save(part, path)\n",
            [4],
            id="shards without one",
        ),
        pytest.param(
            "import gradio\ndef convert_all(d):\n    done = []\n    for name in os.listdir(d):\n"
            "        convert(name)\n        done.append(name)\n        yield '\\n'.join(done)\n",
            [],
            id="a window shows how far it is",
        ),
        pytest.param(
            "import gradio\ndef images(d):\n"
            "    for name in os.listdir(d):\n        yield load(name)\n",
            [5],
            id="a file with a window yields images",
        ),
    ],
)
def test_what_a_file_is_for_says_whether_an_order_matters(
    code: str, rows: list[int], engine: Callable[..., Engine]
) -> None:
    found = engine("DET203", least=Confidence.LIKELY).lint(Source("example.py", HEADER + code))
    assert [each.row for each in found] == rows


@pytest.mark.parametrize(
    ("key", "rows", "possible"),
    [
        pytest.param("os.path.getmtime", [], [3], id="the time"),
        pytest.param("lambda x: int(x[4:])", [], [], id="a number in the name"),
        pytest.param("len", [3], [3], id="a length, which many share"),
    ],
)
def test_a_key_decides_unless_what_is_possible_is_asked_for(
    key: str, rows: list[int], possible: list[int], engine: Callable[..., Engine]
) -> None:
    source = Source("example.py", HEADER + f"newest = max(glob.glob('*'), key={key})\n")
    found = [
        [each.row for each in engine("DET203", least=least).lint(source)]
        for least in (Confidence.LIKELY, Confidence.POSSIBLE)
    ]
    assert found == [rows, possible]


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        pytest.param("    return os.path.basename(x)\n", [], id="an expression"),
        pytest.param("    if x:\n        return 1\n    return 2\n", [7], id="a condition"),
        pytest.param("    return x.size; pass\n", [5], id="two statements in a line"),
    ],
)
def test_a_key_may_be_a_function_of_the_file(
    body: str, rows: list[int], findings: Callable[..., list[Finding]]
) -> None:
    code = HEADER + f"def key(x):\n{body}newest = max(glob.glob('*'), key=key)\n"
    assert [each.row for each in findings(code, "DET203")] == rows


def test_a_loop_that_fills_a_dict_may_hold_conditions(
    findings: Callable[..., list[Finding]],
) -> None:
    code = (
        "def scores(d, known):\n"
        "    found = {}\n"
        "    for key in known:\n"
        "        if key:\n"
        "            note(key)\n"
        "        found[key] = 0\n"
        "    for name in os.listdir(d):\n"
        "        for key in known:\n"
        "            if name == f'{key}.json':\n"
        "                which = key\n"
        "        found[which] = load(name)\n"
        "    return found\n"
    )
    assert [each.row for each in findings(HEADER + code, "DET203")] == []


@pytest.mark.parametrize(
    "head", ["from steps import step\n", "from steps import run as step\n", "import steps\n", ""]
)
def test_what_is_called_may_be_imported_where_the_loop_stands(
    head: str, findings: Callable[..., list[Finding]]
) -> None:
    called = "steps.step" if head.startswith("import") else "step"
    text = f"{head}import os\nfor name in os.listdir('.'):\n    {called}(batch=name)\n"
    (found,) = findings(text, "DET203")
    assert found.confidence is Confidence.LIKELY


ROWS = """
    import os

    class Photos:
        def __init__(self, folder, table=None):
            if table is not None:
                self.names = read(table)
            else:
                self.names = os.listdir(folder)

        def __getitem__(self, i):
            return self.names[i]
"""


@pytest.mark.parametrize(
    ("calls", "confidence"),
    [
        ("Photos('a', table='a.csv')\nPhotos('b', 'b.csv')", "possible"),
        ("Photos('a', table='a.csv')\nPhotos('b')", "likely"),
        ("table = None if one else 'a.csv'\nPhotos('a', table)", "likely"),
    ],
)
def test_what_stands_in_for_something_that_all_calls_pass(
    calls: str,
    confidence: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = f"from rows import Photos\n\n{calls}\nloss.backward()\n"
    project({"rows.py": ROWS, "train.py": script})
    options = ("--select", "DET203", "--output-format", "json", "--min-confidence", "possible")
    main(["--no-cache", *options, "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["confidence"] == confidence
    assert found["message"].endswith(", where callers pass no `table`")


NESTED = """
import os

import numpy as np


def kept_by_part(d):
    data = {"train": {"names": []}, "test": {"names": []}}
    for name in os.listdir(d):  # DET203
        data["train"]["names"].append(name)
    others = {}
    for name in os.listdir(d):  # DET203
        others.setdefault("train", {}).setdefault(name[:3], []).append(name)
    np.save("rows.npy", (data, others))


def kept_by_part_and_looked_up(d, wanted):
    data = {"train": {"names": []}}
    for name in os.listdir(d):
        data["train"]["names"].append(name)
    return len(data["train"]["names"]), wanted in data["train"]["names"]


def kept_by_name(d):
    rows = {}
    for name in os.listdir(d):
        rows[name] = {"lines": []}
        rows[name]["lines"].append(name)
    lines = {}
    for name in os.listdir(d):
        lines[name] = []
        lines[name].append(name)
    return rows["a"], lines["a"]


def kept_by_half_a_name(d):
    rows = {}
    for name in os.listdir(d):  # DET203
        rows[name] = []
        rows[name[:3]].append(name)
    lines = {}
    for name in os.listdir(d):  # DET203
        lines[name] = []
        lines[name].append(name)
    return rows["a"], list(lines)


class KeptByPart:
    def __init__(self):
        self.data = {"train": {"names": []}}

    def fill(self, d):
        for name in os.listdir(d):  # DET203
            self.data["train"]["names"].append(name)
"""
SORTED_LATER = """
import os


def sorted_by_part(d):
    data = {"train": {"names": []}, "names": []}
    for name in os.listdir(d):
        data["train"]["names"].append(name)
    data["train"]["names"].sort()
    for name in os.listdir(d):
        data["names"].append(name)
    data["names"] = sorted(data["names"])
    return data


def sorted_by_another_part(d):
    data = {"train": {"names": []}, "names": []}
    data["names"].sort()
    for name in os.listdir(d):  # DET203
        data["names"].append(name)
    for name in os.listdir(d):  # DET203
        data["train"]["names"].append(name)
    data["train"]["others"].sort()
    return data
"""


@pytest.mark.parametrize("narrowed", [True, False])
@pytest.mark.parametrize("text", [NESTED, SORTED_LATER])
def test_lists_in_dicts_in_a_dict_have_the_order_of_the_loop_unless_they_are_sorted(
    findings: Callable[..., list[Finding]], text: str, *, narrowed: bool
) -> None:
    lines = text.lstrip("\n").splitlines()
    marked = [row for row, line in enumerate(lines, 1) if line.endswith("# DET203")]
    found = findings(text, "DET203", narrowed=narrowed)
    assert [each.row for each in found] == marked != []
    assert {each.confidence for each in found} == {Confidence.LIKELY}


TABLE = """
import glob
import pandas as pd
rows = pd.concat([pd.read_csv(each) for each in glob.glob("*")])
"""
WITH_EACH = "found = [(each,) for each in os.listdir(d)]\n"
INSERTS = """
found = [(each,) for each in os.listdir(d)]
statement = "INSERT INTO t VALUES (?)"
db.executemany(statement, found)
"""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (f"{TABLE}rows.groupby('k')['x'].agg(['mean', 'std']).to_csv('a.csv')", "possible"),
        (
            f"{TABLE}rows.groupby('k').agg({{'x': 'sum', 'y': ['min', 'max']}}).to_csv(d)",
            "possible",
        ),
        (f"{TABLE}rows.groupby('k').agg(x=('x', 'mean')).to_csv(d)", "possible"),
        (f"{TABLE}print(rows)\nkeep(rows['x'].mean())", "possible"),
        (f"{TABLE}rows.groupby('k')['x'].agg(['mean', 'first']).to_csv('a.csv')", "likely"),
        (f"{TABLE}rows.groupby('k').agg(x=('mean', 'last')).to_csv(d)", "likely"),
        (f"{TABLE}rows.groupby('k')['x'].agg(asked).to_csv('a.csv')", "likely"),
        (f"{TABLE}rows.groupby('k')['x'].mean()\nrows.to_csv('a.csv')", "likely"),
        (f"{TABLE}def f():\n    rows.to_csv('a.csv')\nrows['x'].mean()", "likely"),
        (INSERTS.replace("INSERT", "INSERT OR REPLACE"), ""),
        (INSERTS.replace("(?)", "(?) ON CONFLICT (a) DO NOTHING"), ""),
        (INSERTS, "likely"),
        (INSERTS.replace("statement =", "other ="), "likely"),
        (f"{WITH_EACH}db.upsert_rows(found)", "possible"),
        (f"{WITH_EACH}db.insert_rows(found)", "likely"),
        (f"{WITH_EACH}box.addItems([name for name, in found])", ""),
        (f"{WITH_EACH}box.takeItems([name for name, in found])", "likely"),
    ],
)
def test_what_finds_rows_by_a_key_or_tells_of_all_together_shows_no_order(
    findings: Callable[..., list[Finding]], code: str, found: str
) -> None:
    told = findings(f"import os\n{code}\n", "DET203")
    assert [each.confidence.name.lower() for each in told] == [found] * bool(found)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("read(name).to_csv('all.csv')", "likely"),
        ("np.save('all.npy', read(name))", "likely"),
        ("read(name).save(os.path.join(out, 'last.png'))", "likely"),
        ("read(name).to_csv('now.csv')\n    send(name, 'now.csv')", "possible"),
        (
            "for each in sorted(os.listdir(name)):\n        read(name, each).to_csv(each)",
            "possible",
        ),
        (
            "for each in sorted(os.listdir(name)):\n        np.save(each, read(name, each))",
            "possible",
        ),
        (
            "for each in sorted(Path(name).glob('*')):\n        read(each).to_csv(each.name)",
            "possible",
        ),
        ("read(name).to_csv(f'{out}/{name}.csv')", ""),
        ("for each in sorted(glob.glob(f'{name}/*')):\n        read(each).to_csv(each)", ""),
        ("for each in sorted(os.listdir(name)):\n        read(each).to_csv(name + each)", ""),
        ("if name == out:\n        read(name).to_csv('all.csv')", ""),
        ("read(name).to_csv()", ""),
    ],
)
def test_the_last_round_decides_what_a_file_holds_that_each_of_them_writes(
    findings: Callable[..., list[Finding]], body: str, found: str
) -> None:
    code = f"import numpy as np\n\ndef f(d, out):\n  for name in os.listdir(d):\n    {body}\n"
    told = findings(HEADER + code, "DET203")
    assert [each.confidence.name.lower() for each in told] == [found] * bool(found)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import sys\nsys.path.append(glob.glob('dist/*')[0])", "possible"),
        ("import sys\nfor each in glob.glob('libs/*'):\n    sys.path.insert(0, each)", "possible"),
        ("import sys\nsys.argv.append(glob.glob('dist/*')[0])", "likely"),
        ("import sys\nfirst = glob.glob('x/*')[0]\nsys.path.append(first)\nrun(first)", "likely"),
    ],
)
def test_where_python_looks_for_modules_is_possible(
    findings: Callable[..., list[Finding]], code: str, found: str
) -> None:
    told = findings(f"{HEADER}{code}\n", "DET203")
    assert [each.confidence.name.lower() for each in told] == [found]


@pytest.mark.parametrize(
    ("test", "value", "found"),
    [
        ("int(name.split('_')[1]) == step", "name", "possible"),
        ("float(re.search('a(.*)', name).group(1)) == step", "load(name)", "possible"),
        ("last and int(name[4:-3]) == step", "name", "possible"),
        ("name == step", "name", ""),
        ("int(load(name)) == step", "name", "likely"),
        ("len(name) == step", "name", "likely"),
        ("int(name[4:-3]) >= step", "name", "likely"),
    ],
)
def test_the_file_with_a_number_in_its_name_is_mostly_one(
    findings: Callable[..., list[Finding]], test: str, value: str, found: str
) -> None:
    loop = f"for name in os.listdir(d):\n        if {test}:\n            return {value}"
    told = findings(f"{HEADER}import re\n\ndef f(d, step, last):\n    {loop}\n", "DET203")
    assert [each.confidence.name.lower() for each in told] == [found] * bool(found)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("import blobfile as bf\nfirst = list(bf.listdir(name))[0]", 1),
        ("import blobfile as bf\nfirst = sorted(bf.listdir(name))[0]", 0),
        ("import blobfile as bf\nfirst = next(bf.scandir(name))", 1),
        ("from glob2 import glob\nfirst = glob(name)[0]", 1),
        ("import glob2\nfirst = sorted(glob2.glob(name))[0]", 0),
    ],
)
def test_other_libraries_list_as_the_file_system_does(
    findings: Callable[..., list[Finding]], line: str, count: int
) -> None:
    assert len(findings(f"{HEADER}{line}\n", "DET203")) == count


LISTS = """\
import os

def listed(folder):
    found = []
    for name in os.listdir(folder):
        found.append({"name": name, "file": f"{folder}/{name}"})
    return found
"""
USES = "from lists import *\nimport torch\n\nrows = listed('a')\n"
EACH = f"{USES}for row in rows:\n    torch.save(torch.load(row['file']), row['name'] + '.out')\n"
FIRST = f"{USES}print(torch.load(rows[0]['file']))\n"


@pytest.mark.parametrize(
    ("one", "more", "rows"),
    [
        ("use.py", "", [4]),
        ("use.ipynb", "", []),
        ("use.ipynb", "json.dump(NAMES, open('names.json', 'w'))\n", [5]),
    ],
)
def test_what_nothing_reads_of_a_notebook_is_nowhere_imported(
    engine: Callable[..., Engine], one: str, more: str, rows: list[int]
) -> None:
    text = f"import json\nimport os\n\nNAMES = [x.upper() for x in os.listdir('data')]\n{more}"
    whole = notebook(text) if one.endswith(".ipynb") else text
    found = engine("DET203").lint_bytes(one, whole.encode())
    assert [each.row for each in found] == rows


@pytest.mark.parametrize("one", ["use.py", "use.ipynb"])
@pytest.mark.parametrize(("text", "number"), [(EACH, 0), (FIRST, 1)])
def test_a_notebook_calls_as_another_file_does(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    one: str,
    text: str,
    number: int,
) -> None:
    used = notebook(text) if one.endswith(".ipynb") else text
    project({"lists.py": LISTS, "other.py": EACH, one: used, "pyproject.toml": ""})
    main(["--no-cache", "--select", "DET203", "--output-format", "json", "."])
    assert len(json.loads(capsys.readouterr().out)) == number


@pytest.mark.parametrize(
    ("lines", "use", "sure"),
    [
        ("print(size_of(names))", "size_of()", Confidence.POSSIBLE),
        ("save(size_of(names))", "size_of()", Confidence.LIKELY),
        ("print(size_of(names))\nsave(names)", "save()", Confidence.LIKELY),
    ],
)
def test_what_is_only_printed_of_a_listing_is_told_last(
    findings: Callable[..., list[Finding]], lines: str, use: str, sure: Confidence
) -> None:
    code = f"{HEADER}from sizes import size_of\nnames = os.listdir('a')\n{lines}\n"
    (found,) = findings(code, "DET203")
    assert f"passed to {use}" in found.message
    assert found.confidence is sure


IMAGES = """import os

class Images:
    def __init__(self, folder):
        self.names = os.listdir(folder)

    def __getitem__(self, index):
        return read(self.names[index])
"""
ASKING = """import torch
from data import Images

def main():
    for name in Images("a"):
        with torch.no_grad():
            {}(name)

if __name__ == "__main__":
    main()
"""
TRAINING = (
    "import torch\n\ndef main():\n    net = torch.nn.Conv2d(3, 3, 3)\n"
    "    step = torch.optim.SGD(net.parameters(), lr=0.1)\n    for x in {}:\n"
    "        net(x).sum().backward()\n        step.step()\n"
)


@pytest.mark.parametrize("training", ["", "torch.load('rows')", "Images('a')"])
@pytest.mark.parametrize(("call", "sure"), [("write", "possible"), ("evaluate", "likely")])
def test_what_programs_only_ask_a_model_for_is_possible_whatever_another_trains_on(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    call: str,
    training: str,
    sure: str,
) -> None:
    block = '\nif __name__ == "__main__":\n    main()\n'
    reads = "Images" in training  # then it decides what is trained
    train = f"{'from data import Images' * reads}\n{TRAINING.format(training)}{block}"
    files = {"data.py": IMAGES, "show.py": ASKING.format(call), "pyproject.toml": ""}
    project({**files, "train.py": train} if training else files)
    options = ["--select", "DET203", "--min-confidence", "possible", "--output-format", "json"]
    main(["--no-cache", *options, "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["filename"].endswith("data.py")
    assert found["confidence"] == ("likely" if reads else sure)


WRITING = """def make(folder):
    with open(folder + "/rows.txt", "w") as file:
        for name in os.listdir(folder):
            file.write(name + "\\n")
"""


@pytest.mark.parametrize("home", ["data", "lists"])
@pytest.mark.parametrize("read", ["rows.txt", "others.txt"])
def test_what_a_program_writes_is_likely_wherever_its_function_stands(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    home: str,
    read: str,
) -> None:
    files = dict.fromkeys(("data", "lists"), "import os\n\n")
    files["data"] += f"def rows():\n    return open('data/{read}').read().split()\n"
    files[home] += WRITING
    main_block = '\nif __name__ == "__main__":\n    main()\n'
    train = f"from data import rows\n{TRAINING.format('rows()')}{main_block}"
    prepare = f"from {home} import make\n\nmake('data')\n"
    modules = {f"{name}.py": text for name, text in files.items()}
    project({**modules, "prepare.py": prepare, "train.py": train, "pyproject.toml": ""})
    options = ["--select", "DET203", "--min-confidence", "possible", "--output-format", "json"]
    main(["--no-cache", *options, "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["confidence"] == "likely"


BESIDE = """
from collections import defaultdict

def read(folder, places):
    texts = defaultdict(list)
    for file in folder.glob("*.xml"):
        meeting, speaker = file.stem.split(".")
        texts[meeting, places[speaker]].append(file.read_text())
    return texts, places

def prepare(folder):
    texts, places = read(folder, {})
    return number(texts)

def number(texts):
    grouped = defaultdict(list)
    for key, some in texts.items():
        grouped[key[0]].extend(some)
    return {key: dict(enumerate(some)) for key, some in grouped.items()}
"""


def test_what_a_function_gives_beside_something_else_is_followed(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    project({"a.py": BESIDE})
    main(["--no-cache", "--select", "DET203", "--output-format", "json", "."])
    assert [each["location"]["row"] for each in json.loads(capsys.readouterr().out)] == [6]
