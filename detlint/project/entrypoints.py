"""Which files a person runs."""

from __future__ import annotations

import os
import re

from detlint.kinds import NOTEBOOK, PYTHON, kind_of

# Bytes without one of which a file is no entrypoint, whatever its name.
_HINTS = (b"__main__", b".backward(", b".fit(", b".train(")
MAIN_BLOCK = re.compile(r"^if[ \t(]+(?:__name__[ \t]*==|['\"]__main__['\"][ \t]*==)", re.MULTILINE)
_TRAINS = re.compile(r"\.(?:backward|fit|train)\(")
_TEST = re.compile(r"(?:test_\w*|\w*_tests?|conftest|setup)\.py")


def may_run(path: str, data: bytes) -> bool:
    """``is_entrypoint`` of a file's bytes."""
    kind = kind_of(path, data)
    if kind != PYTHON:
        return kind == NOTEBOOK
    if not any(hint in data for hint in _HINTS) and not path.endswith("__main__.py"):
        return False
    from detlint.source import DecodeError, Source

    try:
        return is_entrypoint(path, Source.decode(path, data).text)
    except DecodeError:
        return False


def is_entrypoint(path: str, text: str) -> bool:
    """Whether a file is a program: it says so, or trains as it is loaded. Tests are not:
    pytest runs them, and shares what it seeds."""
    name = os.path.basename(path)
    if kind_of(name) == NOTEBOOK:
        return True
    if _TEST.fullmatch(name):
        return False
    if name == "__main__.py" or ("__name__" in text and MAIN_BLOCK.search(text)):
        return True
    return bool(_TRAINS.search(text)) and _trains_at_the_top(text)


def _trains_at_the_top(text: str) -> bool:
    from detlint.layout import Layout

    layout = Layout(text)
    return any(
        layout.at(match.start()) is None
        for block in layout.blocks(0, len(text), "")
        if not block.kind
        for match in _TRAINS.finditer(text, block.start, block.end)
    )


def main_line(text: str) -> int | None:
    """The offset of ``if __name__ == "__main__":``."""
    match = MAIN_BLOCK.search(text)
    return match.start() if match else None
