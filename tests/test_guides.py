"""What the guides say is true: every block is run or read, and no sentence is too long."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from forks import Forks
from guide_blocks import Block, Reader, blocks, missing, says
from prose import too_long, without_markup

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ("rules.md", "guard-reference.md")
# For those who change detlint: drawings, and longer sentences.
INTERNAL = ("architecture.md",)
# What it shows is a package of its own, which tests/test_plugins.py installs and runs.
ELSEWHERE = ("plugins.md",)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = [each for each in PAGES if each.name not in GENERATED + INTERNAL]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    pytest.importorskip("torch")
    parent = Forks(tmp_path_factory.mktemp("forks"), flags=("-W", "ignore"))
    yield parent
    parent.close()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", GUIDES, ids=name)
def test_a_guide_can_be_read_at_once(page: Path) -> None:
    assert not too_long(without_markup(text_of(page)))


@pytest.mark.parametrize(
    "page",
    [each for each in GUIDES if blocks(text_of(each)) and each.name not in ELSEWHERE],
    ids=name,
)
def test_what_a_guide_shows_is_so(page: Path, tmp_path: Path, forks: Forks) -> None:
    found = blocks(text_of(page))
    if absent := missing(found):
        pytest.skip(f"needs {', '.join(absent)}")
    reader = Reader(tmp_path, forks)
    printed: str | None = None
    before: Block | None = None
    for block in found:
        place = f"{name(page)}:{block.line}"
        if block.language == "text":
            assert before is not None, f"{place}: output of nothing"
            assert printed is None or says(block.text, printed), f"{place}: not so:\n{printed}"
        else:
            try:
                printed = reader.follow(block)
            except AssertionError as error:
                raise AssertionError(f"{place}: {error}") from error
        before = block


@pytest.mark.parametrize("page", GUIDES, ids=name)
def test_a_file_that_a_guide_shows_is_used(page: Path) -> None:
    found = blocks(text_of(page))
    for number, block in enumerate(found):
        if block.file.endswith(".py"):
            later = "".join(each.text for each in found[number + 1 :])
            stem = Path(block.file).stem
            assert re.search(rf"\b{stem}\b", later), f"{name(page)}:{block.line}: {block.file}"
