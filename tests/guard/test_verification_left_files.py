"""Files that one run leaves to the next."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from programs import python, write

from guard.diff import Confidence, Difference, Source
from guard.diff.differences import Cause
from guard.verification.explaining import Known, explanation
from guard.verification.left_files import (
    Journal,
    Left,
    blamed,
    found_by_one,
    found_later,
    journal_of,
    left_to,
    otherwise,
)

if TYPE_CHECKING:
    from pathlib import Path

CACHED = """\
import pathlib
import torch

KEPT = pathlib.Path(__file__).with_name("rows.pt")
torch.manual_seed(0)
rows = torch.randn(16, 4)
if KEPT.exists():
    rows = torch.load(KEPT){back}
else:
    torch.save(rows{kept}, KEPT)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for part in rows.split(4):
    loss = model(part).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


LISTING = """\
import os
from pathlib import Path
import torch
from numbering import number

KEPT = Path(__file__).parent / "kept"
KEPT.mkdir(exist_ok=True)  # one run after the other from here on
torch.manual_seed(0)
rows = torch.randn(16, 4)
shift = number(KEPT)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for part in rows.split(4):
    loss = model(part + shift).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
COUNTED = """\
import os

def number(folder):
    found = len(os.listdir(folder))
    (folder / f"version_{found}").mkdir()
    return found
"""
ASKED = """\
def number(folder):
    found = 0
    while (folder / f"version_{found}").exists():
        found += 1
    (folder / f"version_{found}").mkdir()
    return found
"""
IN_ORDER = """\
def number(folder):
    found = [each.stem for each in folder.glob("*.txt")]
    (folder / "log").write_text("")
    return sum(ord(each) * place for place, each in enumerate(found))
"""


BOOK = """\
import sqlite3, time

def number(folder):
    with sqlite3.connect(folder / "runs.db") as book:
        book.execute("CREATE TABLE IF NOT EXISTS runs (name TEXT)")
        last = {}
        book.execute("INSERT INTO runs VALUES (7)")
        return int(last)
"""


class Run:
    """A run's folder, as ``left_to`` looks at it."""

    def __init__(self, folder: Path, number: int) -> None:
        self.folder, self.number = str(folder / str(number)), number
        os.makedirs(self.folder)
        self.journal = Journal(journal_of(self.folder))


def left(reader: Run, others: list[Run]) -> dict[str, Any]:
    return left_to(reader, others)  # type: ignore[arg-type]  # all that is asked of a process


def test_what_a_run_reads_as_another_has_left_it_is_told(tmp_path: Path) -> None:
    first, second = runs = [Run(tmp_path, number) for number in (0, 1)]
    first.journal.note("/data/kept", writes=True)
    first.journal.note("/data/kept", writes=False)
    second.journal.note("/data/kept", writes=False)
    second.journal.note("/data/other", writes=False)
    found = left(second, runs)
    assert list(found) == ["/data/kept"]
    assert (found["/data/kept"].by, found["/data/kept"].to) == (0, 1)
    assert left(first, runs) == {}


def test_a_line_that_reads_several_files_is_told_once() -> None:
    first, second = (Left(os.path.abspath(each), 0, 1, "train.py", 3) for each in ("a", "b"))
    both, one = blamed([first, first._replace(line=5, folder="."), second])
    assert both.message == "a and b are read here, which an earlier run had written"
    assert one.message == "a is found here, which an earlier run had written"
    assert (both.line, one.line) == (3, 5)


@pytest.mark.parametrize("was_there", [True, False])
def test_what_each_run_read_as_another_had_left_it(tmp_path: Path, *, was_there: bool) -> None:
    """Both read a file, and the second one what the first has made of it since."""
    first, second, third = runs = [Run(tmp_path, number) for number in range(3)]
    if was_there:
        first.journal.note("/data/kept", writes=False)
    first.journal.note("/data/kept", writes=True)
    for each in (second, third):
        each.journal.note("/data/kept", writes=False)
        each.journal.note("/data/kept", writes=True)
    (found,) = otherwise(first, second, runs)  # type: ignore[arg-type]
    told = "run 1 had found what was there before" if was_there else "run 1 had not found it"
    assert found.note.endswith(f"run 2 read it: {told}")
    (later,) = otherwise(second, third, runs)  # type: ignore[arg-type]
    assert (later.by, later.was_there) == (1, True)
    assert later.note.endswith("run 3 read it: run 2 had found what was there before")
    fourth = Run(tmp_path, 3)
    fourth.journal.note("/data/kept", writes=False)
    fifth = Run(tmp_path, 4)
    fifth.journal.note("/data/kept", writes=False)
    assert not list(otherwise(fourth, fifth, runs))  # type: ignore[arg-type]


def test_a_folder_that_only_imports_and_guard_look_at_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "turn").touch()
    outside = tmp_path.parent / f"{tmp_path.name} code"
    outside.mkdir()
    write(outside / "own.py", "import os\nfound = os.listdir(os.path.dirname(__file__))\n")
    text = f"import sys; sys.path.insert(0, {str(outside)!r})\n"
    for more in ("", "import own"):
        script = write(tmp_path / "looks.py", LOOKED_FOR.format(f"{text}import nothing\n{more}"))
        script.write_text(script.read_text().replace("import nothing", "import json.tool"))
        (tmp_path / "journal").unlink(missing_ok=True)
        done = python(script, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        journal = tmp_path / "journal"
        told = journal.read_text().splitlines() if journal.exists() else []
        listed = [json.loads(each)[1] for each in told if json.loads(each)[0] == "l"]
        assert listed == [str(outside)] * bool(more)


def test_what_a_run_has_written_itself_is_its_own(tmp_path: Path) -> None:
    first, second = runs = [Run(tmp_path, number) for number in (0, 1)]
    for each in runs:
        each.journal.note("/data/log", writes=True)
        each.journal.note("/data/log", writes=False)
    assert left(second, runs) == {}
    first.journal.note("/data/late", writes=False)
    second.journal.note("/data/late", writes=True)
    assert left(first, runs) == {}


def test_what_one_run_alone_finds_in_a_folder_is_told_with_the_line(tmp_path: Path) -> None:
    first, second = runs = [Run(tmp_path, number) for number in (0, 1)]
    (folder := tmp_path / "kept").mkdir()
    write(folder / "a.txt", "")
    for run, name in zip(runs, ("b", "__pycache__"), strict=True):
        run.journal.listed(str(folder))
        (folder / name).mkdir()
    (found,) = found_by_one(first, second)  # type: ignore[arg-type]  # as above
    assert (found.by, found.to, found.path) == (0, 1, str(folder / "b"))
    assert found.note.startswith("run 2 found ")
    assert found.file == __file__
    third = Run(tmp_path, 2)
    third.journal.listed(str(folder))
    assert not list(found_by_one(second, third))  # type: ignore[arg-type]


def test_code_and_what_is_not_there_are_no_data(tmp_path: Path) -> None:
    journal, data = Journal(str(tmp_path / "journal")), write(tmp_path / "data.txt", "1")
    assert journal.reading(__file__) == ""
    assert journal.reading(str(tmp_path / "nothing")) == ""
    assert journal.reading(7) == ""
    assert journal.reading(str(data)) == str(data)
    assert journal.reading(str(data)) == ""  # once


def test_what_a_run_finds_when_it_asks_is_told_unless_it_reads_it(tmp_path: Path) -> None:
    first, second = runs = [Run(tmp_path, number) for number in (0, 1)]
    for name in ("asked", "opened"):
        first.journal.note(name, writes=True)
        second.journal.note(name, writes=False, asks=True)
    second.journal.note("opened", writes=False)
    found = left(second, runs)
    words = {
        name: each.note.partition("run 2 ")[2].partition(":")[0] for name, each in found.items()
    }
    assert words == {"asked": "found it there", "opened": "read it"}


def test_what_is_asked_to_be_made_is_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "turn").touch()
    outside = tmp_path.parent / f"{tmp_path.name} beside"
    (outside / "kept").mkdir(parents=True)
    names = [f"{outside}/{each}" for each in ("kept/a", "kept/b", "kept")]
    text = "os.makedirs({!r}, exist_ok=True)\npathlib.Path({!r}).mkdir()\nos.path.isdir({!r})"
    script = write(tmp_path / "looks.py", LOOKED_FOR.format(text.format(*names)))
    done = python(script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(each)[:2] for each in (tmp_path / "journal").read_text().splitlines()]
    assert [full for kind, full in told if kind == "a"] == [names[2]]


LOOKED_FOR = """\
import os, pathlib
from guard.verification.left_files import Journal
from guard.verification.subject import take_turns
here, NAMES = os.getcwd(), ("turn", "waiting", "journal", "files", "tmp")
turn, waiting, journal, copy, temporary = (os.path.join(here, each) for each in NAMES)
take_turns(turn, waiting, [here], journal, copy, temporary)
os.chdir("files")
{}
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("if not os.path.exists('a.txt'): open('a.txt', 'w').close()", ["a.txt"]),
        (
            "path = pathlib.Path('b/c.txt')\nif not path.is_file(): path.write_text('1')",
            ["b/c.txt"],
        ),
        ("try: open('a.txt')\nexcept OSError: open('t', 'w')\nos.replace('t', 'a.txt')", ["a.txt"]),
        ("os.path.exists('a.txt')\nopen('a.txt', 'w').close()\nos.remove('a.txt')", []),
        ("open('a.txt', 'w').close()\nos.path.exists('a.txt')\nopen('a.txt', 'w')", []),
        ("os.path.exists('../a.txt')\nopen('../a.txt', 'w').close()", []),
        (
            "if not os.path.exists('../tmp/a'): open('../tmp/a', 'w').close()",
            [os.path.join("$TMPDIR", "a")],
        ),
        ("import tempfile; tempfile.NamedTemporaryFile(dir='../tmp', delete=False)", []),
        ("os.stat('b', follow_symlinks=False)\nassert os.stat in os.supports_follow_symlinks", []),
    ],
)
def test_what_a_run_looks_for_and_then_writes_is_found_by_the_next(
    text: str, names: list[str], tmp_path: Path
) -> None:
    (tmp_path / "files" / "b").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "turn").touch()
    script = write(tmp_path / "looks.py", LOOKED_FOR.format(text))
    done = python(script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = "".join(found_later(SimpleNamespace(folder=str(tmp_path))))  # type: ignore[arg-type]
    assert all(f"that finds {each} computes" in told for each in names)
    assert bool(told) is bool(names)
    assert not names or "looks.py:" in told


@pytest.mark.parametrize("is_left", [True, False])
def test_a_file_is_likely_where_running_has_shown_it(*, is_left: bool) -> None:
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_CONTENT, "")
    found = explanation(Known(difference, None, "", (), None, ("rows.pt",), is_left))
    assert (found.source, found.what) == (Source.LEFT, "rows.pt")
    drawn = replace(difference, cause=Cause.GENERATOR, generators=("numpy",))
    other = explanation(Known(drawn, None, "", (), None, ("rows.pt",), is_left))
    assert other.source is (Source.LEFT if is_left else Source.GENERATOR)
    assert found.confidence is (Confidence.LIKELY if is_left else Confidence.POSSIBLE)


@pytest.mark.parametrize(("kept", "back"), [(".half()", ".float()"), ("", "")])
def test_a_cache_that_rounds_is_named_with_the_line_that_reads_it(
    kept: str, back: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    write(tmp_path / "train.py", CACHED.format(kept=kept, back=back))
    done = python("-m", "guard", "verify", "--json", "train.py", cwd=tmp_path)
    found = json.loads(done.stdout)
    if not kept:
        assert done.returncode == 0, done.stdout
        return
    assert done.returncode == 1, done.stdout + done.stderr
    assert (found["cause"]["source"], found["cause"]["confidence"]) == ("LEFT", "likely")
    assert (found["suspects"][0]["line"], found["cause"]["what"]) == (8, "rows.pt")
    assert not any("the same circumstances" in each for each in found["verify"]["notes"])


def test_a_cache_below_the_home_folder_is_named_as_well(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = CACHED.format(kept=".half()", back=".float()")
    text = text.replace('Path(__file__).with_name("rows.pt")', 'Path.home() / ".rows.pt"')
    write(tmp_path / "work" / "train.py", text)
    home = {"HOME": str(tmp_path)}
    given = ("-m", "guard", "verify", "--one-by-one", "--json", "train.py")
    done = python(*given, cwd=tmp_path / "work", environ=home)
    found = json.loads(done.stdout)
    assert done.returncode == 1, done.stdout + done.stderr
    assert (found["cause"]["source"], found["suspects"][0]["line"]) == ("LEFT", 8)
    assert found["cause"]["what"].endswith(".rows.pt")
    again = python(*given, cwd=tmp_path / "work", environ=home)
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize(
    ("code", "source", "line"),
    [(COUNTED, "LEFT", 4), (ASKED, "LEFT", 3), (IN_ORDER, "LISTING", 2)],
)
def test_what_a_folder_holds_is_told_from_the_order_of_its_listing(
    code: str, source: str, line: int, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "kept").mkdir()
    for each in "abc":
        write(tmp_path / "kept" / f"{each}.txt", each)
    write(tmp_path / "numbering.py", code)
    write(tmp_path / "train.py", LISTING)
    done = python("-m", "guard", "verify", "--json", "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["cause"]["source"], found["cause"]["confidence"]) == (source, "certain")
    assert found["cause"]["slice"][0]["line"] == line
    notes = "; ".join(found["verify"]["notes"])
    asked = "run 1 had written kept/version_0, and run 2 found it there" in notes
    assert asked if code == ASKED else "run 2 found kept" in notes
    assert (found["verify"]["circumstance"] == "listings") == (source == "LISTING")
    assert ("Sort what is listed" in found["difference"]["advice"]) == (source == "LISTING")


@pytest.mark.parametrize(
    ("asked", "source"),
    [
        ("book.execute('INSERT INTO runs VALUES (7)').lastrowid", "LEFT"),
        ("book.execute('SELECT count(*) FROM runs').fetchone()[0]", "LEFT"),
        ("time.time_ns() % 997", "CLOCK"),
    ],
)
def test_what_an_earlier_run_has_entered_in_a_database_is_told_where_it_is_asked_for(
    asked: str, source: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    write(tmp_path / "numbering.py", BOOK.format(asked))
    text = LISTING.replace("part + shift", "part")
    text = text.replace("model = ", "torch.manual_seed(40 + shift)\nmodel = ")
    write(tmp_path / "train.py", text)
    done = python("-m", "guard", "verify", "--json", "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["cause"]["source"], found["cause"]["confidence"]) == (source, "certain")
    assert found["cause"]["slice"][0]["line"] == 6
    assert "Seed it" not in found["difference"]["advice"]


def test_a_file_that_is_opened_to_be_read_and_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "turn").touch()
    outside = tmp_path.parent / f"{tmp_path.name} beside"
    outside.mkdir()
    for each in "abc":
        write(outside / each, "1")
    text = "import sqlite3\nfor name, mode in zip('abcd', ('r+', 'a', 'w+', 'x+')):\n"
    text += f"    open(os.path.join({str(outside)!r}, name), mode).close()\n"
    text += f"for _ in range(2): sqlite3.connect({str(outside / 'e')!r}).execute('VACUUM')\n"
    done = python(write(tmp_path / "looks.py", LOOKED_FOR.format(text)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(each)[:2] for each in (tmp_path / "journal").read_text().splitlines()]
    found = [kind + os.path.basename(full) for kind, full in told if kind in "rw"]
    assert found == ["ra", "wa", "wb", "wc", "wd", "we", "re"]


def test_a_cache_in_the_folder_itself_is_noted_where_runs_agree(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = CACHED.format(kept=".half()", back=".float()")
    text = text.replace('pathlib.Path(__file__).with_name("rows.pt")', 'pathlib.Path("rows.pt")')
    write(tmp_path / "train.py", text)
    done = python("-m", "guard", "verify", "--json", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    notes = json.loads(done.stdout)["verify"]["notes"]
    assert any("that finds rows.pt" in each and "train.py:7" in each for each in notes)


@pytest.mark.parametrize(("name", "is_kept"), [("'rows.pt'", True), ("f'{os.getpid()}.pt'", False)])
def test_a_cache_among_temporary_files_is_noted_if_another_run_finds_it(
    name: str, is_kept: object, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    text = CACHED.format(kept="", back="").replace("import pathlib", "import os, pathlib, tempfile")
    place = f"pathlib.Path(tempfile.gettempdir()) / {name}"
    text = text.replace('pathlib.Path(__file__).with_name("rows.pt")', place)
    asked = "if KEPT.exists():\n    rows = torch.load(KEPT)\nelse:\n"
    text = text.replace(asked, "try:\n    rows = torch.load(KEPT)\nexcept FileNotFoundError:\n")
    assert "except FileNotFoundError" in text
    write(tmp_path / "train.py", text)
    done = python("-m", "guard", "verify", "--json", "--runs", "2", "train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    notes = json.loads(done.stdout)["verify"]["notes"]
    named = [each for each in notes if "a temporary folder of its own" in each]
    assert len(named) == bool(is_kept)
    assert all("$TMPDIR/rows.pt" in each and "train.py:8" in each for each in named)
