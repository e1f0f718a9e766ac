"""What the pattern of a listing says of the files that it finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_MATCHING = ("glob", "iglob", "rglob")


def _word(module: Module, node: cst.Call) -> str:
    name = module.called(node)
    return name.rpartition(".")[2] if name is not None else call_word(node)


def lists_one_folder(module: Module, listing: cst.CSTNode | None) -> bool:
    """Whether a listing gives the names in one folder: ``listdir``, but not ``rglob``."""
    recursive = (*_MATCHING, "walk")
    return not isinstance(listing, cst.Call) or _word(module, listing) not in recursive


def seeks_one(module: Module, listing: cst.CSTNode | None) -> bool:
    """``rglob("model.pth")``: a file by its whole name, of which code expects one."""
    if not isinstance(listing, cst.Call) or _word(module, listing) not in _MATCHING:
        return False
    pattern = listing.args[0].value if listing.args else None
    text = module.literal(pattern)
    of_path = not (module.called(listing) or "").startswith("glob.")  # else in a variable, often
    if isinstance(pattern, cst.FormattedString) and of_path:  # rglob(f"{name}.pth")
        text = "".join(each.value for each in pattern.parts if hasattr(each, "value"))
        text = text if re.search(r"\w", text) else None
    return isinstance(text, str) and re.search(r"[*?\[]", text) is None
