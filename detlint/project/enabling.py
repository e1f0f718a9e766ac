"""The edit that turns guard on at an entrypoint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.finding import Edit
from detlint.header import below_imports

if TYPE_CHECKING:
    from detlint.source import Source

_IMPORTED = re.compile(r"^(?:import[ \t]+guard|from[ \t]+guard[ \t]+import)\b", re.MULTILINE)
_OTHER = re.compile(
    r"^[ \t]*(?:guard[ \t]*[:=]|(?:def|class)[ \t]+guard\b|from\b.*\bguard\b(?![ \t]+import)"
    r"|import\b.*\bas[ \t]+guard\b)",
    re.MULTILINE,
)


def enabling(source: Source) -> tuple[Edit, ...]:
    """``import guard`` and ``guard.enable(seed=0)`` below the imports; none where the file
    calls something else guard."""
    text, newline = source.text, source.newline
    if _OTHER.search(text):
        return ()
    place, after = below_imports(text)
    call = f"{newline * 2}guard.enable(seed=0)" if after else f"guard.enable(seed=0){newline * 2}"
    enable = Edit(place, place, call)
    if _IMPORTED.search(text):
        return (enable,)
    # As other fixes insert it, so that it comes once.
    line = f"{newline}import guard" if after else f"import guard{newline * 2}"
    return (Edit(place, place, line), enable)
