"""A metric among what a program printed, or in a file that it wrote."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = (
    r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])"  # 12,345.6
    r"|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\.?\d)"
    r"|(?:inf|infinity|nan)\b)"
)
# Between a name and its number: a colon, an equals sign, the border of a table, or only spaces;
# then a quote, or what NumPy and torch put around a number: np.float64(0.5), tensor(0.5).
_BETWEEN = r"[\"']?(?:\s*[:=|│┃║]\s*|\s+)[\"'\[]?(?:[A-Za-z_][\w.]*\(\[?)?"
_NAMED = re.compile(rf"([A-Za-z][\w/.-]*(?: [A-Za-z][\w/.-]*)?)[\"']?\s*[:=]\s*[\"']?{_NUMBER}")
_LONGEST = 160  # characters of a line that are shown


class Match(NamedTuple):
    """A metric's value, and the text in which it was found."""

    value: float
    text: str


def in_output(text: str, name: str) -> Match | None:
    """The last ``name: number``, ``name=number``, ``name number`` or JSON member of an output.

    Colours are taken out; a line that is overwritten, as a progress bar is, counts in each of
    its versions.
    """
    pattern = _pattern(name)
    found = None
    for line in _lines(text):
        if (match := _in_line(line, name, pattern)) is not None:
            found = match
    return found


def in_file(path: str, name: str) -> Match | None:
    """The last value in a CSV column, or under a key of a JSON or JSON Lines document.

    A key may be given with those above it: ``val.loss``. Any other file is read as an output.
    Raises GuardError where the name stands for several.
    """
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        text = file.read()
    if path.endswith((".csv", ".tsv")):
        return _in_table(text, name, "\t" if path.endswith(".tsv") else ",")
    document = _parsed(text)
    return in_output(text, name) if document is None else _in_document(document, name)


def names_in(text: str) -> list[str]:
    """What the last lines of an output call their numbers: for someone who mistyped a name."""
    found = (
        match.group(1).strip() for line in _lines(text)[-50:] for match in _NAMED.finditer(line)
    )
    return list(dict.fromkeys(found))[-12:]


def _pattern(name: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<![\w./-])[\"']?{words}{_BETWEEN}({_NUMBER})", re.IGNORECASE)


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]+", _ANSI.sub("", text)) if line.strip()]


def _in_line(line: str, name: str, pattern: re.Pattern[str]) -> Match | None:
    if line.lstrip().startswith("{") and (document := _parsed(line)) is not None:
        found = _in_document(document, name)
        if found is not None:
            return Match(found.value, _shown(line))
    matches = pattern.findall(line)
    return Match(_number(matches[-1]), _shown(line)) if matches else None


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def _shown(line: str) -> str:
    text = "".join(each if each.isprintable() else " " for each in line).strip()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _parsed(text: str) -> object:
    """A JSON document, the documents of JSON Lines as a list, or None for neither."""
    try:
        document: object = json.loads(text)
    except ValueError:
        document = _parsed_lines(text)
    return document if isinstance(document, (dict, list)) else None


def _parsed_lines(text: str) -> list[object] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None


def _in_document(document: object, name: str) -> Match | None:
    paths = {
        path: value
        for path, value in _numbers(document, "")
        if path == name or path.endswith(f".{name}")
    }
    if name in paths:
        return Match(paths[name], f"{name}: {paths[name]!r}")
    if len(paths) > 1:
        raise GuardError(f"{name!r} could be each of {', '.join(paths)}: give it in full")
    return next((Match(value, f"{path}: {value!r}") for path, value in paths.items()), None)


def _numbers(document: object, path: str) -> Iterator[tuple[str, float]]:
    """Each number with the keys above it; the items of a list share their list's."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _numbers(value, f"{path}.{key}" if path else str(key))
    elif isinstance(document, list):
        for value in document:
            yield from _numbers(value, path)
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        yield path, float(document)


def _in_table(text: str, name: str, delimiter: str) -> Match | None:
    rows = csv.DictReader(text.splitlines(), delimiter=delimiter)
    names = [each.strip() for each in rows.fieldnames or ()]
    if name not in names:
        raise GuardError(f"it has no column {name!r}; it has {', '.join(names) or 'none'}")
    rows.fieldnames = names
    found = None
    for number, row in enumerate(rows, 2):
        found = _in_cell(row.get(name), f"line {number}, column {name}") or found
    return found


def _in_cell(cell: str | Iterable[str] | None, where: str) -> Match | None:
    """Loggers leave a column empty in rows that have nothing to say of it."""
    if not isinstance(cell, str) or not cell.strip():
        return None
    try:
        return Match(float(cell), f"{where}: {cell.strip()}")
    except ValueError:
        return None
