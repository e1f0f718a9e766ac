"""What all calls of a function in a project do with the order of what it returns: findings in
functions whose callers sort that, or have no use for its order, are none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.orders.use import RETURNED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.finding import Finding
    from detlint.sources.source import Source

_OF_SETS = "DET204"
_CODES = ("DET203", _OF_SETS)


class _Function(NamedTuple):
    """A function by its name and the real path of its file.

    distinct  what it returns has no equal elements, as a set
    """

    name: str
    home: str
    distinct: bool = False


def are_asked(findings: Iterable[Finding]) -> bool:
    """Whether callers may settle one of some findings."""
    return any(map(_is_asked, findings))


def ignored(findings: Iterable[Finding], paths: Iterable[str]) -> set[Finding]:
    """Those of some findings that are in functions that are called, but never for the order."""
    functions = {each: _function(each) for each in findings if _is_asked(each)}
    # First the files that they stand in: a function whose order one file uses is asked no more.
    first = {each.path for each in functions}
    nearest = sorted(paths, key=lambda each: each not in first)
    settled = _ignored({each for each in functions.values() if each.name}, nearest)
    return {each for each, function in functions.items() if function in settled}


def _is_asked(finding: Finding) -> bool:
    return finding.code in _CODES and finding.advice.endswith(RETURNED)


def _function(finding: Finding) -> _Function:
    """The function at the top of its file that a finding stands in; "" for none."""
    from detlint.syntax.layout import layout_of

    home = os.path.realpath(finding.path)
    source = _source(finding.path, _data(finding.path))
    if source is None:
        return _Function("", home)
    for block in layout_of(source.text).top:
        if block.kind == "def" and not block.name.startswith("__"):
            first, last = (source.location(each)[0] for each in (block.start, block.end - 1))
            if first <= finding.row <= last:
                return _Function(block.name, home, finding.code == _OF_SETS)
    return _Function("", home)


def _ignored(functions: set[_Function], paths: Iterable[str]) -> set[_Function]:
    """Which of some functions are called, and by no file that uses the order."""
    from detlint.dataflow.orders.returned_orders import is_ignored

    asked, called = set(functions), set[_Function]()
    for path in paths:
        if not asked:
            break
        data = _data(path) if path.endswith((".py", ".ipynb")) else b""
        named = [each for each in asked if each.name.encode() in data]
        source = _source(path, data) if named else None
        if source is None:
            continue
        real = os.path.realpath(path)
        for each in named:
            own = real == each.home
            found = is_ignored(source, each.name, own=own, distinct=each.distinct)
            if found is not None:
                called.add(each)
            if found is False:
                asked.discard(each)
    return asked & called


def _data(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _source(path: str, data: bytes) -> Source | None:
    from detlint.sources.decoding import decode
    from detlint.sources.source import DecodeError

    try:
        return decode(path, data)
    except DecodeError:
        return None
