"""Whether a file can be loaded: what it surely imports, and what others may take of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.index.imports import imports
from detlint.syntax.layout import layout_of
from detlint.syntax.parsing import REFUSALS, parsed

if TYPE_CHECKING:
    from detlint.index.imports import Import

# By which a module may have names that its text does not bind.
_HIDES = re.compile(
    r"\b(?:__getattr__|__dict__|globals|locals|setattr|exec|vars\(\)|sys\.modules)"
    r"|\bimport[ \t]*\(?[ \t]*\*"
)
# By which names may mean other modules; what is appended comes after the program's own folder.
# Each branch begins with a bare literal: what stands before it is looked up backwards.
_REDIRECTS = re.compile(
    r"chdir\((?<=\bchdir\()|sys\.(?:path(?!\.append)|modules|meta_path|path_hooks)\b"
)
# Statements that may work for long, or end it all, before those below them run.
_WORKS = re.compile(r"(?:async|exit|for|os\._exit|quit|raise|sys\.exit|while|with)\b")


def sure_imports(text: str) -> list[Import]:
    """What a file imports under no test as soon as it is loaded; nothing where it may change what
    the names of modules mean."""
    found: list[Import] = []
    for block in layout_of(text).top if _REDIRECTS.search(text) is None else ():
        code = text[block.start : block.end]
        if _WORKS.match(code):
            break
        if code.startswith(("from ", "import ")):
            found += imports(code)
    return found


def may_give(text: str, name: str) -> bool:
    """Whether a module may have a name: it says that outside of functions, or hides its names."""
    if not name.isidentifier() or name.startswith("__") or _HIDES.search(text):
        return True
    word = re.compile(rf"\b{name}\b")
    if re.search(rf"\bglobal\b.*\b{name}\b", text) or any(
        each.name == name or (not each.kind and word.search(text, each.start, each.end))
        for each in layout_of(text).top
    ):
        return True
    try:
        parsed(text)
    except REFUSALS:
        return True
    return False
