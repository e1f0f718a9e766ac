"""DET204: sets that an object keeps, which one method fills and another one numbers, and numbers
that nothing reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

_TAGS = """
import csv

class Tags:
    def __init__(self, path):
        self.words = set()
        self.{fill}(path)
        self.number()

    def {fill}(self, path):
        with open(path) as file:
            for row in csv.reader(file):
                self.words |= set(row[0].split())

    def number(self):
        self.words = ["<none>"] + {listed}
        self.ids = {{}}
        for place, word in enumerate(self.words):
            self.ids[word] = place

if __name__ == "__main__":
    print(Tags("tags.csv").ids)
"""


def found(capsys: Capture) -> list[tuple[str, int, str]]:
    """The confidence, row and message of each finding."""
    asked = ["--output-format=json", "--min-confidence=possible", "--select=DET204"]
    main(["--no-cache", *asked, "."])
    told = json.loads(capsys.readouterr().out)
    return [(each["confidence"], each["location"]["row"], each["message"]) for each in told]


@pytest.mark.parametrize("fill", ["gather", "add", "update"])
def test_a_set_that_one_method_fills_and_another_numbers(
    project: Project, capsys: Capture, fill: str
) -> None:
    project({"tags.py": _TAGS.format(fill=fill, listed="list(self.words)")})
    [(_, row, message)] = found(capsys)
    assert row == 16
    assert "the set `self.words` gives its strings" in message
    assert f"self.{fill}." not in message


@pytest.mark.parametrize("fill", ["gather", "add"])
def test_one_that_is_sorted_first_shows_nothing(
    project: Project, capsys: Capture, fill: str
) -> None:
    project({"tags.py": _TAGS.format(fill=fill, listed="sorted(self.words)")})
    assert not found(capsys)


def test_a_list_that_another_method_makes_is_none(project: Project, capsys: Capture) -> None:
    text = _TAGS.format(fill="gather", listed="list(self.words)")
    text = text.replace("self.words |= set(row[0].split())", "self.words = row[0].split()")
    project({"tags.py": text})
    assert not found(capsys)


_GENRES = """
import csv

def genres(path):
    found = set()
    for row in csv.reader(open(path)):
        found.update(row[0].split("|"))
    numbers = {numbered}
    return {given}

print(genres("films.csv"))
"""


@pytest.mark.parametrize(
    "numbered",
    [
        ("dict(zip(found, range(len(found))))", "likely"),
        ("{genre: place for place, genre in enumerate(found)}", "certain"),
    ],
)
@pytest.mark.parametrize(
    ("given", "levels"),
    [("numbers", []), ("len(found)", ["possible"]), ("numbers, found", [])],
)
def test_numbers_that_nothing_reads_are_possible(
    project: Project, capsys: Capture, numbered: tuple[str, str], given: str, levels: list[str]
) -> None:
    text, sure = numbered
    project({"films.py": _GENRES.format(numbered=text, given=given)})
    assert [level for level, *_ in found(capsys)] == (levels or [sure])
