"""The cells of a notebook's JSON, and where in it their lines are written.

A JSON library decodes a value but does not say where it stood. So objects and lists on the way
to the cells are read here, key by key, and everything else is passed over by the library.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.sources.source import CONFLICT, DecodeError, conflict

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPACES = frozenset(" \t\r\n")
_SPACE = re.compile(r"[ \t\r\n]*")
_PYTHON = frozenset(f"{kind}python{release}" for kind in ("", "i", "x") for release in ("", "3"))
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
# A person cannot mend these in Jupyter, which does not open the file.
_SIDES = "take one side (git checkout --ours or --theirs), or merge the cells (nbdime mergetool)"
_decode = JSONDecoder().raw_decode


class Literal(NamedTuple):
    """A string of the JSON: ``start:end`` with its quotes, and what it says."""

    start: int
    end: int
    value: str


class Cell(NamedTuple):
    """A code cell. ``number`` counts all cells from 1, as a person does who looks at the notebook.

    literals   its text: one string, or (``listed``) a list of them, as a rule one a line
    execution  its place among the cells that were run, None if that was not kept
    shows      whether results of it are saved that are no errors
    """

    number: int
    literals: tuple[Literal, ...]
    listed: bool
    execution: int | None
    shows: bool = False

    @property
    def text(self) -> str:
        """What is typed in the cell."""
        return "".join(each.value for each in self.literals)


def read_cells(text: str) -> list[Cell]:
    """The Python cells of a notebook of the formats 2 to 4; none if it is in another language.

    Raises DecodeError, with a place in the JSON.
    """
    reader = _Reader(text)
    try:
        return _notebook(reader)
    except RecursionError:
        raise DecodeError("not a notebook: nested too deeply") from None
    except ValueError as error:
        if row := conflict(text):
            raise DecodeError(f"{CONFLICT}: {_SIDES}", row) from None
        at = getattr(error, "pos", reader.at)
        row, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        damage = getattr(error, "msg", "")
        reason = f"its JSON is damaged here ({damage}), restore it" if damage else str(error)
        raise DecodeError(f"not a notebook: {reason}", row, column) from None


class _Reader:
    """A place in JSON text, which moves on over what is read. Raises ValueError."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def value(self) -> Any:  # noqa: ANN401 - whatever JSON holds
        """The value here, decoded."""
        self.next()
        found, self.at = _decode(self.text, self.at)
        return found

    def members(self) -> Iterator[str]:
        """The keys of the object here; whoever asks has to read the value before the next key."""
        yield from self._parts("{", "}", is_object=True)

    def items(self) -> Iterator[str]:
        """A step for each item of the list here, which whoever asks has to read."""
        yield from self._parts("[", "]", is_object=False)

    def _parts(self, opening: str, closing: str, *, is_object: bool) -> Iterator[str]:
        self.take(opening)
        mark = self.next()
        while mark != closing:
            key = ""
            if is_object:
                key = str(self.value())
                self.take(":")
                self.next()
            yield key
            mark = self.next()
            if mark != closing:
                self.take(",")
                if self.next() == closing:
                    raise ValueError("a comma too many")
        self.at += 1

    def next(self) -> str:
        """The next character that is no space, "" at the end."""
        mark = self.text[self.at : self.at + 1]
        if mark in _SPACES:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]  # always
            mark = self.text[self.at : self.at + 1]
        return mark

    def take(self, mark: str) -> None:
        """Move past a character that has to be here."""
        if self.next() != mark:
            raise ValueError(f"expected {mark or 'the end'!r}")
        self.at += len(mark)


def _notebook(reader: _Reader) -> list[Cell]:
    cells: list[Cell | None] | None = None
    metadata: Any = None
    for key in reader.members():
        if key == "cells":
            cells = list(_cells(reader, 1))
        elif key == "worksheets":  # until format 4
            cells = []
            for _ in reader.items():
                for inner in reader.members():
                    if inner == "cells":
                        cells += _cells(reader, len(cells) + 1)
                    else:
                        reader.value()
        elif key == "metadata":
            metadata = reader.value()
        else:
            reader.value()
    reader.take("")
    if cells is None:
        raise ValueError("it has no cells")
    return [cell for cell in cells if cell is not None] if _is_python(metadata) else []


def _cells(reader: _Reader, first: int) -> Iterator[Cell | None]:
    for number, _ in enumerate(reader.items(), start=first):
        yield _cell(reader, number)


def _cell(reader: _Reader, number: int) -> Cell | None:
    """A cell; None if it holds no Python."""
    found: dict[str, Any] = {}
    starts: dict[str, int] = {}
    for key in reader.members():
        starts[key] = reader.at
        found[key] = reader.value()
    if found.get("cell_type") != "code" or not _is_python(found):
        return None
    key = "source" if "source" in found else "input"  # until format 4
    source = found.get(key) or ()
    values = [source] if isinstance(source, str) else source
    if not isinstance(values, (list, tuple)) or not all(isinstance(each, str) for each in values):
        reader.at = starts[key]
        raise ValueError("the source of a cell is not text")
    written = _STRING.finditer(reader.text, starts.get(key, 0)) if values else ()
    literals = tuple(
        Literal(*match.span(), value)
        for value, match in zip(values, written)  # noqa: B905 - other strings follow
    )
    count = found.get("execution_count", found.get("prompt_number"))
    execution = count if isinstance(count, int) and count > 0 else None
    shows = any(map(_is_result, found.get("outputs") or ()))
    return Cell(number, literals, isinstance(source, list), execution, shows)


def _is_result(output: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Whether something is shown that is no error."""
    kind = output.get("output_type") if isinstance(output, dict) else None
    return kind not in ("error", "pyerr")  # until format 4


def _is_python(metadata: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Whether what a notebook or cell says of itself names Python, or no language."""
    places = (
        ("kernelspec", "language"),
        ("language_info", "name"),
        ("language",),
        ("metadata", "vscode", "languageId"),
    )
    for place in places:
        value = metadata
        for key in place:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and re.split(r"\W", value.lower(), maxsplit=1)[0] not in _PYTHON:
            return False
    return True
