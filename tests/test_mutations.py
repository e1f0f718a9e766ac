"""Damaged programs: whatever an editor or a transfer leaves of one, nothing of ours fails on it."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main
from detlint.engine import Engine
from detlint.finding import Confidence
from detlint.rules import every_rule
from detlint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
FILES, LONGEST = 40, 4_000  # characters
EACH = 50  # damaged versions of one file
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
INSERTED = (*("'", '"', '"""', "f'"), *"()[]{}:,\\#\n", "lambda")
ROUNDS, LINKED = 8, 5  # projects, and their files
SHARED = "(Model, main, fit as train, Data)"
SWAPPED = str.maketrans("()[]{}", "[]{}()")


def delete(tokens: list[str], place: int) -> list[str]:
    return tokens[:place] + tokens[place + 1 :]


def repeat(tokens: list[str], place: int) -> list[str]:
    return tokens[: place + 1] + tokens[place:]


def cut(tokens: list[str], place: int) -> list[str]:
    return tokens[:place]


def cut_middle(tokens: list[str], place: int) -> list[str]:
    return tokens[:place] + tokens[place + 20 :]


def swap_bracket(tokens: list[str], place: int) -> list[str]:
    brackets = [index for index, each in enumerate(tokens) if each in "()[]{}"]
    if not brackets:
        return tokens
    index = brackets[place % len(brackets)]
    return [*tokens[:index], tokens[index].translate(SWAPPED), *tokens[index + 1 :]]


def rename(tokens: list[str], place: int) -> list[str]:
    """So that a name may be defined by itself, in a circle or not at all."""
    words = [index for index, each in enumerate(tokens) if each.isidentifier()]
    if not words:
        return tokens
    index, other = words[place % len(words)], words[place * 7 % len(words)]
    return [*tokens[:index], tokens[other], *tokens[index + 1 :]]


def insert(tokens: list[str], place: int) -> list[str]:
    return [*tokens[:place], INSERTED[place % len(INSERTED)], *tokens[place:]]


DAMAGE: tuple[Callable[[list[str], int], list[str]], ...] = (
    delete,
    repeat,
    cut,
    cut_middle,
    swap_bracket,
    insert,
    rename,
    rename,
)


def programs() -> list[Path]:
    """Small programs, evenly from all that the tests have."""
    folders = (HERE / "cases", HERE / "proofs", HERE.parent / "examples")
    found = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    small = [path for path in found if path.stat().st_size <= LONGEST]
    return [small[index * len(small) // FILES] for index in range(FILES)]


@pytest.fixture(scope="module")
def engine() -> Engine:
    """All rules, and nothing of a project."""
    rules = every_rule()
    return Engine(
        rules, Settings(min_confidence=Confidence.POSSIBLE), known={rule.code for rule in rules}
    )


@pytest.mark.parametrize("path", programs(), ids=lambda path: "/".join(path.parts[-2:]))
def test_damaged_programs_are_read_or_told_not_to_parse(path: Path, engine: Engine) -> None:
    tokens = TOKEN.findall(path.read_text(encoding="utf-8"))
    draw = random.Random(path.name)  # noqa: S311 - the same damage each time
    for _ in range(EACH):
        damaged = tokens
        for _ in range(draw.randint(1, 3)):
            damaged = draw.choice(DAMAGE)(damaged, draw.randrange(max(len(damaged), 1)))
        text = "".join(damaged)
        try:
            engine.lint_bytes("damaged.py", text.encode())
        except Exception as error:  # noqa: BLE001 - the text is what one has to see
            pytest.fail(f"{error!r} at\n{text}")


def test_damaged_files_that_import_each_other_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random("linked")  # noqa: S311 - the same damage each time
    sources = programs()
    for number in range(ROUNDS):
        names = [f"m{place}" for place in range(LINKED)]
        for place, name in enumerate(names):
            imports = "".join(f"from {each} import {SHARED}\n" for each in draw.sample(names, 2))
            text = sources[(number * LINKED + place) % FILES].read_text(encoding="utf-8")
            tokens = TOKEN.findall(f"{imports}import {names[place - 1]}\n{text}")
            for _ in range(draw.randint(0, 2)):
                tokens = draw.choice(DAMAGE)(tokens, draw.randrange(max(len(tokens), 1)))
            (tmp_path / f"{name}.py").write_text("".join(tokens), encoding="utf-8")
        arguments = ["--no-cache", "--jobs", "1", "--min-confidence", "possible", "-q", "."]
        assert main(arguments) == 1, f"round {number}: {capsys.readouterr().err}"
