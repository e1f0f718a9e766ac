"""What a rule reports: plain data, so that it pickles, caches and renders anywhere."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import NamedTuple


class Confidence(IntEnum):
    """How sure a finding is: as sure as the weakest step on its way.

    CERTAIN   names and values are resolved, and show what differs
    LIKELY    a step is assumed: a type, who calls, what a program reaches, what a switch does
    POSSIBLE  a sign speaks against it, such as the code's role, or most of its kind are harmless
    """

    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3

    def __str__(self) -> str:
        return self.name.lower()


class Edit(NamedTuple):
    """Replace the characters ``start:end`` (offsets in the decoded text) by ``replacement``."""

    start: int
    end: int
    replacement: str


class Step(NamedTuple):
    """A place on the way of a value: what happens to it there, as in "listed here".

    path  of another file than the finding's, as seen from the folder of that
    """

    row: int
    column: int
    end_row: int
    end_column: int
    text: str
    path: str = ""


class Finding(NamedTuple):
    """One place where a run can differ from the last. Rows and columns are 1-based,
    columns count characters, and the end is exclusive, as in ruff's JSON."""

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    code: str
    name: str
    message: str
    advice: str = ""
    edits: tuple[Edit, ...] = ()
    safe: bool = True
    cell: int | None = None
    confidence: Confidence = Confidence.CERTAIN
    way: tuple[Step, ...] = ()  # of the value, where that is more than the finding's own place

    @property
    def fixable(self) -> bool:
        """Whether the rule proposed a change (that may still need ``--unsafe-fixes``)."""
        return bool(self.edits)

    def file_of(self, step: Step) -> str:
        """The path of the file that a step of its way stands in."""
        if not step.path:
            return self.path
        return os.path.normpath(os.path.join(os.path.dirname(self.path), step.path))

    @property
    def is_unseen(self) -> bool:
        """Whether it is none unless other files make it one: it is asked for again with them."""
        return self.message.startswith(UNSEEN)

    @property
    def given_by(self) -> list[str]:
        """The parts of the file that give others what is unseen."""
        parts = self.message.removeprefix(UNSEEN).removeprefix(": ") if self.is_unseen else ""
        return parts.split(", ") if parts else []


# The message of what leaves a file, in which nothing shows it; behind it, what gives it to others.
UNSEEN = "what other files do with this is not seen"

UNPARSED = "DET000"


def unreadable(path: str, message: str, row: int = 0, column: int = 1) -> Finding:
    """The finding for a file, or a place in it, that cannot be read."""
    advice = ""
    if row and path.endswith(".ipynb"):
        advice = "mend the cell, or make it a raw or Markdown cell if it holds no code"
    elif row:
        name = os.path.basename(path)
        advice = f'mend it there, or leave the file out by extend-exclude = ["{name}"]'
    place = (max(row, 1), column)
    return Finding(path, *place, *place, UNPARSED, "unreadable-source", message, advice)
