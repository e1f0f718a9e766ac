"""The edit that sets a variable of the environment before a library is imported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.finding import Edit

if TYPE_CHECKING:
    from detlint.source import Source

_OS = re.compile(r"^import[ \t]+os[ \t]*(?:#.*)?$", re.MULTILINE)


def setting(source: Source, variable: str, value: str, library: str) -> tuple[Edit, ...]:
    """``os.environ.setdefault(…)`` above the first import of a library; none without such."""
    text, newline = source.text, source.newline
    found = re.search(rf"^(?:import|from)[ \t]+{library}\b", text, re.MULTILINE)
    if found is None:
        return ()
    above = _OS.search(text, 0, found.start())
    imported = "" if above else f"import os{newline * 2}"
    call = f'os.environ.setdefault("{variable}", "{value}")'
    start = found.start()
    lead = newline if start and not text[:start].endswith(newline * 2) and not imported else ""
    return (Edit(start, start, f"{lead}{imported}{call}{newline * 2}"),)
