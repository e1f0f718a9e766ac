"""What is asked of parts of a file holds, whichever of them are asked about, and in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.dataflow.arguments.need import Need
from detlint.index.index import Index, _short
from detlint.sources.cache import Cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from detlint.index.facts import Fact

    Project = Callable[[dict[str, str]], Path]

SEEDS = "import torch\n\n\ndef first():\n    torch.manual_seed(0)\n\n\n"
LAST = "\n\ndef last():\n    torch.manual_seed(2)\n"
FILES = {
    "a part that is no Python": (
        f"{SEEDS}def second():\n    print 'x'\n    torch.manual_seed(1)\n{LAST}",
        {"first": [5], "second": [], "last": [14]},
    ),
    "the file's own statements are none": (
        f"{SEEDS}print 'x'; torch.manual_seed(1)\n{LAST}",
        {"first": [5], "": [], "last": [12]},
    ),
    "a line that looks like the end of a function": (
        f"{SEEDS}def second():\n    return torch.manual_seed(1) or \\\nSEED\n{LAST}",
        {"first": [5], "second": [9], "last": [14]},
    ),
    "a name that an import gives": (
        "from torch import manual_seed as fix\n\n\ndef first():\n    # seed\n    fix(0)\n",
        {"": [], "first": [6]},
    ),
    "a name that only an import tells": (
        "from torch import manual_seed as fix\n\n\ndef first():\n    fix(0)\n",
        {"": [], "first": [5]},
    ),
}


def told(path: str, questions: Sequence[Sequence[str]]) -> list[tuple[str, Fact]]:
    """What is known of the seeds in a file after some questions about several parts each."""
    index = Index(Cache.disabled())
    for parts in questions:
        index.facts(path, "seeds", parts.__contains__)
    return index.facts(path, "seeds")


@pytest.mark.parametrize("file", FILES)
def test_facts_of_a_part_stand_by_themselves(file: str, tmp_path: Path) -> None:
    text, rows = FILES[file]
    path = tmp_path / "train.py"
    path.write_text(text)
    parts = Index(Cache.disabled()).parts_with(str(path), "seeds")
    assert sorted(parts) == sorted(rows)
    jointly = told(str(path), [parts])
    assert {part: [x.row for one, x in jointly if one == part] for part in parts} == rows
    for questions in (
        [],
        [[each] for each in parts],
        [[each] for each in reversed(parts)],
        [parts[:2], parts[1:]],
        [parts[1:], parts[:2]],
    ):
        assert told(str(path), questions) == jointly, questions


def test_what_a_file_does_not_tell_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_text("def train(seed=None):\n    return seed\n")
    need = Need("train", "seed", 0, ("None",), others=True, unset=False).dump()
    other = Need("fit", "seed", 0, ("None",), others=True, unset=False).dump()
    for asked in ((need, other), (other,), (other, need)):
        index = Index(Cache.open(str(tmp_path / "cache"), str(tmp_path), "key"))
        assert [index.gives(str(file), each) for each in asked] == [[] for _ in asked]
        index.save()
        index._cache.save()
        # From here on the file cannot be read.
        monkeypatch.setattr(Index, "source", None)


def test_no_functions_are_opened_for_an_attribute_that_no_function_keeps(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("settings.seed = 0\n")
    index = Index(Cache.open(None, str(tmp_path), "key"))
    asked: list[str] = []
    index._ask = lambda path, *_: asked.append(path) or []  # type: ignore[method-assign]
    for name in ("train", "Trainer"):
        need = Need(name, "seed", 0, ("None",), others=True, unset=False).dump()
        index.gives(str(file), need)
    assert asked == [str(file)]  # of the class


def test_what_processes_learn_of_one_file_is_joined(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    one, other = (Index(Cache.open(str(tmp_path / "cache"), str(tmp_path), "key")) for _ in "ab")
    needs = [Need(name, "seed", 0, ("None",), others=True, unset=False).dump() for name in "fgh"]
    for index, asked in ((one, needs[:2]), (other, needs[1:])):
        assert [index.gives(str(file), each) for each in asked] == [[], []]
    one.add(other.learned())
    assert all(_short(f"gives {each}") in one._of(str(file))["nothing"] for each in needs)
