"""What is done as soon as the program has imported a module."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from guard.observe.patching import when_imported

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "guard_arrival_example"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of a module that can be imported; what looks for it and the module are gone afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield tmp_path / f"{NAME}.py"
    sys.modules.pop(NAME, None)


def test_it_is_done_once_and_leaves_no_trace(file: Path) -> None:
    file.write_text("x = 1")
    found: list[int] = []
    before = list(sys.meta_path)
    when_imported(NAME, lambda: found.append(sys.modules[NAME].x))
    module = importlib.import_module(NAME)
    importlib.reload(module)
    assert found == [1]
    assert sys.meta_path == before
    assert "exec_module" not in vars(module.__loader__)


def test_one_that_is_there_counts_at_once(file: Path) -> None:
    file.write_text("")
    importlib.import_module(NAME)
    found: list[str] = []
    when_imported(NAME, lambda: found.append(NAME))
    assert found == [NAME]


def test_a_program_may_ask_first_whether_it_is_there(file: Path) -> None:
    file.write_text("")
    found: list[str] = []
    when_imported(NAME, lambda: found.append(NAME))
    assert find_spec(NAME) is not None
    assert not found
    importlib.import_module(NAME)
    assert found == [NAME]


def test_a_program_may_try_again(file: Path) -> None:
    file.write_text("raise ValueError")
    found: list[str] = []
    when_imported(NAME, lambda: found.append(NAME))
    with pytest.raises(ValueError, match=r"^$"):
        importlib.import_module(NAME)
    assert not found
    file.write_text("# whole now")
    importlib.invalidate_caches()
    importlib.import_module(NAME)
    assert found == [NAME]


def test_several_may_wait_for_one(file: Path) -> None:
    file.write_text("")
    found: list[int] = []
    for number in range(3):
        when_imported(NAME, lambda number=number: found.append(number))
    importlib.import_module(NAME)
    assert sorted(found) == [0, 1, 2]


def test_it_can_be_taken_back(file: Path) -> None:
    file.write_text("")
    found: list[str] = []
    when_imported(NAME, lambda: found.append(NAME))()
    importlib.import_module(NAME)
    assert not found
