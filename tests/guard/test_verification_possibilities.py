"""Lines that are possibly to blame, where the linter names none that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.comparison import Cause, Difference, Suspect
from guard.comparison.phrases import suspect
from guard.places import Place
from guard.trace import Event
from guard.verification.attribution import _what
from guard.verification.possibilities import with_possibilities

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
import os, time, torch
vocabulary = {"a", "b"}
for word in set(text): number[word] = len(number)
names = sorted(os.listdir("x"))
paths = [each for each in folder.glob("*.pt")]
room = torch.empty(3)
rate = hash(name) % 7
begun = time.perf_counter()
salt = os.getpid()
order = list({each for each in paths})
"""


@pytest.mark.parametrize(
    ("circumstance", "cause", "lines"),
    [
        ("hashes", Cause.BATCH_ORDER, [3, 10, 7]),
        ("listings", Cause.BATCH_ORDER, [5]),
        ("memory", Cause.KERNEL, [6]),
        ("", Cause.UNWRITTEN_MEMORY, [6]),
        ("", Cause.HYPERPARAMETER, [8, 9, 7]),
        ("none", Cause.CONTROL_FLOW, [8, 9, 7]),
        ("timing", Cause.KERNEL, []),
    ],
)
def test_lines_that_are_possibly_to_blame(
    circumstance: str, cause: Cause, lines: list[int], tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", TEXT))
    found = with_possibilities((), cause, circumstance, [path], None)
    assert [each.line for each in found] == lines
    assert all(each.code == "" for each in found)


def test_what_the_linter_finds_comes_alone_if_it_fits(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", TEXT))
    fits, other = (Suspect(code, "m", path, 2) for code in ("DET204", "DET202"))
    assert with_possibilities((fits,), Cause.BATCH_ORDER, "hashes", [path], None) == (fits,)
    found = with_possibilities((other,), Cause.BATCH_ORDER, "hashes", [path], None)
    assert (found[0].line, found[-1]) == (3, other)
    assert with_possibilities((other,), Cause.BATCH_ORDER, "", [path], None) == (other,)


def test_the_file_of_the_place_comes_first(tmp_path: Path) -> None:
    paths = [str(write(tmp_path / name, "for a in set(b): pass\n")) for name in ("a.py", "b.py")]
    place = Place(paths[1], 9, "f")
    found = with_possibilities((), Cause.BATCH_ORDER, "hashes", paths, place)
    assert [each.file for each in found] == paths[::-1]
    told = suspect(found[0])
    assert told == (f"possibly {paths[1]}:1", "set(b) is gone through in no fixed order")


def test_only_the_same_difference_tells_a_circumstance() -> None:
    def difference(step: int, kind: str = "batch", cause: Cause = Cause.BATCH_ORDER) -> Difference:
        event = Event(kind, "0", 0, "", None, b"") if kind else None  # type: ignore[arg-type]
        return Difference(0, step, "training", event, None, cause, "")

    assert _what(difference(3)) == _what(difference(3, cause=Cause.BATCH_CONTENT))
    assert _what(difference(3)) != _what(difference(2))
    assert _what(difference(3)) != _what(difference(3, "output"))
    assert _what(difference(3)) != _what(difference(3, "", Cause.LENGTH))
