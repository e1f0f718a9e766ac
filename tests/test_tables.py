"""DET203: the order of rows that each name their file matters where somebody goes by it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.dataflow.orders.tables import may_be_same
from detlint.models.listings import DATA_SETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

    Project = Callable[[dict[str, str]], Path]

TOP = "import csv, glob, json, os\nimport pandas as pd\nfrom pathlib import Path\n\n"
ROWS = "pd.DataFrame([{'path': p, 'size': size_of(p)} for p in glob.glob('a/*')])"
TABLE = f"{TOP}table = {ROWS}\ntable.to_csv('sizes.csv')\n"
TRAIN = """\
import torch
from rows import read

def fit(model, opt, name):
    for x, y in read(name):
        model(x).sub(y).mean().backward()
        opt.step()
"""


def told(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> list[tuple[str, str]]:
    """The confidences of DET203 in a file that lists, with what the order does there."""
    project(files)
    options = ["--no-cache", "--select", "DET203", "--output-format", "json"]
    main([*options, "--min-confidence", "possible", "."])
    found = json.loads(capsys.readouterr().out)
    own = [each for each in found if each["filename"].endswith("list.py")]
    said = (x["message"].partition("and here ")[2].partition(", as line")[0] for x in own)
    return [(x["confidence"], each) for x, each in zip(own, said, strict=True)]


@pytest.mark.parametrize(
    "lines",
    [
        "table.to_csv('a.csv')",
        "json.dump([[p.name, size_of(p)] for p in Path('a').iterdir()], open('a.json', 'w'))",
        "open('a', 'w').writelines(f'{p} {size_of(p)}' for p in glob.glob('a/*'))",
        "open('a', 'w').write('|'.join(f'{p} {size_of(p)}' for p in glob.glob('a/*')))",
        "w = csv.writer(open('a', 'w'))\nfor n in os.listdir('a'): w.writerow([n, size_of(n)])",
        "for n in os.listdir('a'):\n    out.write(f'{n},{size_of(n)}')",
        (
            "rows = []\nfor p in glob.glob('a/*'):\n    rows += [(p, size_of(p))]\n"
            "pd.DataFrame(rows).to_csv('a.csv')"
        ),
        (
            "all = pd.DataFrame()\nfor p in glob.glob('a/*'):\n"
            "    all = pd.concat([all, pd.DataFrame([{'path': p, 'size': size_of(p)}])])\n"
            "all.to_csv('a.csv')"
        ),
        (
            "columns = {'path': [], 'size': []}\nfor p in glob.glob('a/*'):\n"
            "    columns['path'].append(p)\n    columns['size'].append(size_of(p))\n"
            "pd.DataFrame(columns).to_csv('a.csv')"
        ),
        (
            "def row(p, n):\n    found = {'path': p}\n    found['size'] = n\n    return found\n"
            "rows = []\nfor p in glob.glob('a/*'):\n    rows.append(row(p, size_of(p)))\n"
            "pd.DataFrame(rows).to_csv('a.csv')"
        ),
        (
            "def table_of(d):\n    return pd.DataFrame([{'n': x, 's': size_of(x)} for x in "
            "os.listdir(d)])\n\ntable_of('a').to_csv('a.csv')"
        ),
        (
            "rows = {}\nfor p in glob.glob('a/*'):\n    rows[p] = {'path': p, 'size': size_of(p)}\n"
            "pd.DataFrame(list(rows.values())).to_csv('a.csv')"
        ),
        (
            "rows = []\nfor p in glob.glob('a/*'):\n    row = {'path': p, 'size': size_of(p)}\n"
            "    rows.append({**row, 'k': 1})\npd.DataFrame(rows).to_csv('a.csv')"
        ),
        (
            "def rows_of(d):\n    rows = []\n    for sub in Path(d).iterdir():\n"
            "        for p in [x for x in sorted(sub.iterdir()) if x.is_file()]:\n"
            "            rows.append({'path': str(p), 'k': 1})\n    return rows\n\n"
            "table = pd.DataFrame(rows_of('a'))\ntable[table['k'] == 1].to_csv('a.csv')"
        ),
        (
            "rows = []\nfor top, dirs, names in sorted(os.walk('a')):\n    for n in names:\n"
            "        rows.append((f'{top}/{n}', size_of(n)))\npd.DataFrame(rows).to_csv('a.csv')"
        ),
    ],
)
def test_rows_that_name_their_files_are_possible(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    table = f"table = {ROWS}\n" if lines.startswith("table") else ""
    found = told(project, capsys, {"list.py": f"{TOP}{table}{lines}\n"})
    assert found == [("possible", "it is written in rows, of which each names its file")]


@pytest.mark.parametrize(
    "lines",
    [
        "table[:9].to_csv('a.csv')\ntable.to_csv('b.csv')",
        "table.to_csv('a.csv')\nkeep(table.iloc[0])",
        "table.to_csv('a.csv')\nkeep(table.iloc[:9], table.iloc[9:])",
        "table.to_csv('a.csv')\nkeep(table.values)",
        "train_test_split(table)",
        "table.to_csv('a.csv')\ntable['path'].to_numpy()",
        "table = table[table['size'] > 9]\ntable.to_csv('a.csv')\nkeep(table.iloc[0])",
        (
            "rows = {}\nfor p in glob.glob('a/*'):\n    rows[p] = {'size': size_of(p), 'k': 1}\n"
            "pd.DataFrame(list(rows.values())).to_csv('a.csv')"
        ),
        "pd.DataFrame([{'size': size_of(p), 'ok': 1} for p in glob.glob('a/*')]).to_csv('a.csv')",
        "pd.DataFrame([{'i': i, 'p': p} for i, p in enumerate(glob.glob('a/*'))]).to_csv('a.csv')",
        "pd.DataFrame([{'k': p.split('_')[0], 's': 1} for p in glob.glob('*')]).to_csv('a.csv')",
        (
            "rows = []\nfor p in glob.glob('a/*'):\n    rows.append({'id': len(rows), 'path': p})\n"
            "pd.DataFrame(rows).to_csv('a.csv')"
        ),
        "for n in os.listdir('a'):\n    out.write(n)",
        (
            "texts = []\nfor p in Path('a').glob('*.txt'):\n"
            "    texts.append(f'{p.stem}\\n{p.read_text()}')\n"
            "open('b', 'w').write('--'.join(texts))"
        ),
        "for i, n in enumerate(os.listdir('a')):\n    out.write(f'{i} {n}')",
        (
            "columns = {'size': [], 'k': []}\nfor p in glob.glob('a/*'):\n"
            "    columns['k'].append(p[0])\n    columns['size'].append(size_of(p))\n"
            "pd.DataFrame(columns).to_csv('a.csv')"
        ),
    ],
)
def test_rows_that_are_cut_or_numbered_or_name_no_file_are_likely(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    table = f"table = {ROWS}\n" if "table" in lines else ""
    found = told(project, capsys, {"list.py": f"{TOP}{table}{lines}\n"})
    assert [each for each, _ in found] == ["likely"]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("import pandas as pd\n\ndef read(name):\n    return pd.read_csv('sizes.csv').values\n", 1),
        ("import pandas as pd\n\ndef read(name):\n    return pd.read_csv(name).values\n", 0),
        ("import csv\n\ndef read(n):\n    return csv.reader(open(f'{n}sizes.csv'))\n", 1),
        ("import csv\n\ndef read(n):\n    return csv.reader(open(f'size{n}.csv'))\n", 0),
        ("import csv\n\ndef read(name):\n    return csv.reader(open(name))\n", 0),
        ("import os\n\ndef read(d):\n    return open(os.path.join(d, 'sizes.csv'))\n", 1),
        ("import os\n\ndef read(d):\n    return open(os.path.join(d, d + '.csv'))\n", 0),
        ("import os\n\ndef read(d):\n    return open(os.path.join(d, d + '.tsv'))\n", 0),
        ("import pandas as pd\n\ndef read(name):\n    return pd.read_csv('rates.csv').values\n", 0),
        ("import pandas as pd\n\ndef read(name):\n    return pd.read_excel(name).values\n", 0),
        ("import json\n\ndef read(name):\n    return json.load(open('rows.json'))\n", 0),
        ("import yaml\n\ndef read(name):\n    return yaml.safe_load(open(name))\n", 0),
        ("def read(name):\n    return open(name, 'w')\n", 0),
    ],
)
def test_rows_that_a_training_may_read_are_likely(
    project: Project, capsys: pytest.CaptureFixture[str], text: str, reads: int
) -> None:
    files = {"list.py": TABLE, "rows.py": text, "train.py": TRAIN, "pyproject.toml": ""}
    found = told(project, capsys, files)
    assert [each for each, _ in found] == ["likely" if reads else "possible"]


GUARD = "if __name__ == '__main__':\n    main('b')\n"
READ = (
    "import pandas as pd\n\ndef main(d):\n    table = pd.read_csv(d + 'sizes.csv')\n    {}\n\n"
    "main('a/')\n"
)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"report.py": READ.format("print(table.mean())")}, "possible"),
        ({"split.py": READ.format("keep(train_test_split(table))")}, "likely"),
        (
            {"split.py": READ.replace("d + 'sizes.csv'", "d").format("train_test_split(table)")},
            "possible",
        ),
        ({"tests/test_split.py": READ.format("keep(train_test_split(table))")}, "possible"),
        ({"train.yaml": "data: tables/sizes.csv\n"}, "likely"),
        ({"train.yaml": "data: tables/rates.csv\n"}, "possible"),
        ({"train.sh": "python -m other.train --data sizes.csv\n"}, "likely"),
        # One program that reads and another that trains, started by a third.
        (
            {
                "report.py": READ.format("print(table)") + GUARD,
                "train.py": TRAIN.replace("rows", "other"),
                "all.py": "import looks, train\n\ntrain.fit(1, 2, 3)\nlooks.main()\n",
                "looks.py": "import report\n\nif __name__ == '__main__':\n    report.main('c')\n",
            },
            "possible",
        ),
        # One that is handed what another file reads.
        (
            {
                "data.py": READ.format("return table") + GUARD,
                "train.py": TRAIN.replace("from rows import read", "def read(x): return x"),
                "all.py": "import data, train\n\ntrain.fit(1, 2, data.main('c'))\n",
            },
            "likely",
        ),
    ],
)
def test_who_reads_a_table_whose_name_ends_so(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], found: str
) -> None:
    assert [each for each, _ in told(project, capsys, {"list.py": TABLE, **files})] == [found]


@pytest.mark.parametrize(
    ("name", "found"),
    [("'rows'", "likely"), ("'rows.csv'", "likely"), ("sys.argv[1]", "possible")],
)
def test_a_table_whose_name_is_seen(
    project: Project, capsys: pytest.CaptureFixture[str], name: str, found: str
) -> None:
    lists = f"import sys\n{TOP}{ROWS}.to_csv({name})\n"
    read = f"from lists import *\n\ntable = pd.read_csv({name})\ntrain_test_split(table)\n"
    files = {"list.py": lists, "split.py": f"import pandas as pd\nimport sys\n{read}"}
    assert [each for each, _ in told(project, capsys, files)] == [found]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a.csv", "a.csv", True),
        ("a.csv", "b.csv", False),
        ("*.csv", "b.csv", True),
        ("*.csv", "b.txt", False),
        ("a_*.csv", "*_b.csv", True),
        ("a_*.csv", "b_*.csv", False),
        ("*", "[1].csv", True),
        ("*[1].csv", "a1.csv", False),
    ],
)
def test_patterns_of_one_file(one: str, other: str, same: bool) -> None:
    assert may_be_same(one, other) is may_be_same(other, one) is same


DATA = """\
from torch.utils.data import DataLoader, Subset, random_split
from torchvision import datasets
from torchvision.datasets import Cityscapes, Omniglot, VOCSegmentation

{}
"""
SORTED = "Subset(data, sorted(range(len(data)), key=data.images.__getitem__))"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("batches = DataLoader(Cityscapes('d'), shuffle=True)", "passed to DataLoader()"),
        ("for image, label in datasets.SUN397('d'):\n    fit(image, label)", "looped over"),
        ("train, test = random_split(datasets.Kitti('d'), (9, 1))", "passed to random_split()"),
        ("first = datasets.INaturalist('d')[0]", "indexed"),
        ("images = Omniglot('d')\nfit(images)", "passed to fit()"),
        (f"data = Cityscapes('d')\nbatches = DataLoader({SORTED})", ""),
        ("number = len(Cityscapes('d'))", ""),
        ("batches = DataLoader(VOCSegmentation('d'))", ""),
    ],
)
def test_data_sets_that_stand_as_their_folders_list_them(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: str
) -> None:
    shown = told(project, capsys, {"list.py": DATA.format(lines)})
    assert shown == ([("likely", f"it is {found}")] if found else [])


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Cityscapes", "key=data.images.__getitem__"),
        ("SUN397", "key=data._image_files.__getitem__"),
        ("Omniglot", "its labels number what it lists"),
    ],
)
def test_what_puts_a_data_set_in_order(
    findings: Callable[..., list[Finding]], name: str, advice: str
) -> None:
    (found,) = findings(DATA.format(f"DataLoader(datasets.{name}('d'))"), "DET203")
    assert advice in found.advice


@pytest.mark.parametrize("name", [each for each in DATA_SETS if each.count(".") == 3])
def test_a_data_set_lists_its_folder_as_it_comes(name: str) -> None:
    found = importlib.util.find_spec("torchvision")
    if found is None or not found.submodule_search_locations:
        pytest.skip("could not import 'torchvision'")
    module, kind = name.split(".")[2:]
    text = Path(found.submodule_search_locations[0], "datasets", f"{module}.py").read_text()
    own = re.split(r"^(?=class )", text, flags=re.MULTILINE)
    (own,) = (each for each in own if each.startswith(f"class {kind}("))
    assert re.search(r"(?<!sorted\()(os\.listdir|list_dir|[\w.]*\.rglob)\(", own)
    assert f"self.{DATA_SETS[name].samples}" in own


KEPT = f"""{TOP}
class Images:
    def __init__(self, root, name, other):
        self.root, self.name, self.other = root, name, other

    def table(self):
        if not os.path.isfile(os.path.join(self.root, self.name)):
            rows = [[p, size_of(p)] for p in glob.glob(self.root + "/*")]
            pd.DataFrame(rows).to_csv(os.path.join(self.root, self.name))
        return pd.read_csv(os.path.join(self.root, self.%s))
"""


@pytest.mark.parametrize(("read", "sure"), [("name", "likely"), ("other", "possible")])
def test_a_table_that_its_own_file_reads_back(
    project: Project, capsys: pytest.CaptureFixture[str], read: str, sure: str
) -> None:
    [(found, _)] = told(project, capsys, {"list.py": KEPT % read})
    assert found == sure
