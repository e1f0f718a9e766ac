"""Orders that differ and hardly matter: each beside one that does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import levels

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

KINDS = "KINDS = {'cat', 'dog'}\n"
TAKES = (
    "from kinds import KINDS\n\ndef {name}(tmp):\n    first = next(iter(KINDS))\n    return first\n"
)
HELPER = """\
from pathlib import Path

def sources():
    found = []
    for path in Path("src").rglob("*.py"):
        if path.stem != "setup":
            found.append(path)
    return found

def test_no_tabs():
    assert not sources()[0].read_text().count("tab")
"""
WORDS = """\
from sklearn.feature_extraction.text import TfidfVectorizer
from joined import joined

class Films:
    def __init__(self, rows):
        self.model = TfidfVectorizer({options})
        texts = []
        for names, tags in rows:
            texts.append(joined(names, tags))
        self.known = self.model.fit_transform(texts)
"""
JOINED = "def joined(a, b):\n    return ' '.join(set(a.split()) | set(b.split()))\n"
FILES = "import glob\nimport os\n\nfiles = glob.glob('in/*.mp4')\n"
JOBS = """
jobs = [(file, i % args.{number}) for i, file in enumerate(files)]
done = [pool.submit(work, job) for job in jobs]
for each in done:
    each.result()
"""
TABLE = """\
from pathlib import Path

import pandas as pd

rows = []
for path in Path("logs").glob("*.txt"):
    rows.append({"loss": float(path.read_text()), "kind": "a"})
table = pd.DataFrame(rows)
"""


def told(capsys: Capture, code: str) -> list[tuple[str, str]]:
    """The confidence and message of each finding."""
    asked = ["--no-cache", "--output-format=json", "--min-confidence=possible"]
    main([*asked, f"--select={code}", "."])
    found = json.loads(capsys.readouterr().out)
    return [(each["confidence"], each["message"]) for each in found]


@pytest.mark.parametrize(
    ("files", "code", "confidence"),
    [
        pytest.param(
            {"kinds.py": KINDS, "tests/test_kinds.py": TAKES.format(name="test_first")},
            "DET204",
            "possible",
            id="a test takes any of a set",
        ),
        pytest.param(
            {"kinds.py": KINDS, "data/rows.py": TAKES.format(name="first")},
            "DET204",
            "certain",
            id="other code takes the first of a set",
        ),
        pytest.param({"test_text.py": HELPER}, "DET203", "possible", id="pytest's"),
        pytest.param(
            {"test_text.py": f"{HELPER}\nif __name__ == '__main__':\n    print(sources()[0])\n"},
            "DET203",
            "likely",
            id="a program by a name of a test",
        ),
        pytest.param(
            {"films.py": WORDS.format(options=""), "joined.py": JOINED},
            "DET204",
            "possible",
            id="words that are counted",
        ),
        pytest.param(
            {"films.py": WORDS.format(options="ngram_range=(1, 2)"), "joined.py": JOINED},
            "DET204",
            "likely",
            id="pairs of words that are counted",
        ),
        pytest.param(
            {"jobs.py": FILES + JOBS.format(number="folds")},
            "DET203",
            "likely",
            id="a number picks the fold",
        ),
        pytest.param(
            {"paths.py": "import glob\n\nPATHS = [x for x in glob.glob('lib/*.jar')]\n"},
            "DET203",
            "possible",
            id="archives of code",
        ),
        pytest.param(
            {"paths.py": "import glob\n\nPATHS = [x for x in glob.glob('lib/*.txt')]\n"},
            "DET203",
            "likely",
            id="texts",
        ),
        pytest.param(
            {"mean.py": f"{TABLE}table.groupby('kind')['loss'].agg(['mean'])\n"},
            "DET203",
            "possible",
            id="the mean of groups",
        ),
        pytest.param(
            {"mean.py": f"{TABLE}table.groupby('kind')['loss'].agg(['first'])\n"},
            "DET203",
            "likely",
            id="the first of groups",
        ),
    ],
)
def test_an_order_that_hardly_matters_is_possible(
    project: Project, capsys: Capture, files: dict[str, str], code: str, confidence: str
) -> None:
    project(files)
    assert [sure for sure, _ in told(capsys, code)] == [confidence]


@pytest.mark.parametrize("size", ["size_of(files)", "round(size_of(files), 1)"])
def test_the_use_that_matters_is_named(project: Project, capsys: Capture, size: str) -> None:
    project(
        {"data.py": f"{FILES}from sizes import size_of\nprint(f'{{{size}}} GB')\nrows_of(files)\n"}
    )
    [(_, message)] = told(capsys, "DET203")
    assert "passed to rows_of()" in message


EACH_ALONE = """\
import os
import numpy as np
import world

if __name__ == "__main__":
    for name in os.listdir("rows"):
{before}        world.kind = name.split("_")[0]
        np.save(os.path.join("out", name), np.load(os.path.join("rows", name)))
{after}"""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param("", "", [], id="the script ends with the loop"),
        pytest.param("", "    np.save('last', world.kind)\n", ["likely"], id="read after it"),
        pytest.param("        print(world.kind)\n", "", ["likely"], id="read before it is given"),
        pytest.param("        if name[0] == 'a':\n    ", "", ["likely"], id="given in some rounds"),
    ],
)
def test_what_each_round_gives_a_variable_of_a_module(
    before: str, after: str, told: list[str], project: Project, capsys: Capture
) -> None:
    script = EACH_ALONE.format(before=before, after=after)
    project({"world.py": "kind = ''\n", "each.py": script})
    assert levels(capsys, "DET203") == told
