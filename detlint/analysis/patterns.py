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
    if of_path and pattern is not None and not isinstance(text, str):
        if _is_file_name(module, pattern):
            return True
        text = _written(module, pattern)
    return isinstance(text, str) and re.search(r"[*?\[]", text) is None


def _written(module: Module, pattern: cst.BaseExpression) -> str | None:
    """What is written out of ``f"{name}.pth"``, ``name + ".pth"``, ``"{}.pth".format(name)``."""
    text = ""
    if isinstance(pattern, cst.FormattedString):
        text = "".join(each.value for each in pattern.parts if hasattr(each, "value"))
    elif isinstance(pattern, cst.BinaryOperation) and isinstance(pattern.operator, cst.Add):
        below = module.tree.descendants(pattern)
        literals = (each.evaluated_value for each in below if isinstance(each, cst.SimpleString))
        text = "".join(map(str, literals))
    return text if re.search(r"\w", text) else None


def _is_file_name(module: Module, pattern: cst.CSTNode) -> bool:
    """Whether a text is the last part of a path: ``path.name``, ``path.split(os.sep)[-1]``."""
    value = module.names.value_of(pattern)
    if isinstance(value, cst.Attribute):
        return value.attr.value in ("name", "stem") and module.qualified_name(value) is None
    if isinstance(value, cst.Call):
        return module.called(value) == "os.path.basename"
    if not isinstance(value, cst.Subscript) or not isinstance(value.value, cst.Call):
        return False
    index = value.slice[0].slice
    last = isinstance(index, cst.Index) and module.literal(index.value) == -1
    splits = call_word(value.value) in ("split", "rsplit")
    separator = value.value.args[0].value if value.value.args else None
    by_folder = module.literal(separator) in ("/", "\\")
    named = module.qualified_name(separator) in ("os.sep", "os.path.sep")
    whole = module.called(value.value) == "os.path.split"
    return last and splits and (by_folder or named or whole)
