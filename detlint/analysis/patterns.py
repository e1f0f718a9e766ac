"""What the pattern of a listing says of the files that it finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.module import Module

_MATCHING = ("glob", "iglob", "rglob")
_JOINING = ("os.path.join", "pathlib.Path", "builtins.str")
_WILD = re.compile(r"[*?\[]")
# What a variable is called that may hold a wildcard.
_PATTERN = re.compile(
    r"pattern|glob|wild|regex|expr|search|match|mask|template|query|(?:^|_)(?:names|files|paths)$",
    re.IGNORECASE,
)


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
    return isinstance(text, str) and _WILD.search(text) is None


def lists_one(module: Module, listing: cst.Call) -> bool:
    """``glob.glob(os.path.join(folder, "model.yaml"))``: it lists that file, or nothing."""
    word = _word(module, listing)
    if word not in _MATCHING or word == "rglob" or not listing.args:
        return False
    pattern = module.names.value_of(listing.args[0].value)
    return _is_whole(module, pattern) and _ends_in_name(module, pattern)


def _is_whole(module: Module, pattern: cst.CSTNode) -> bool:
    """Whether no part of a path can be a wildcard. A variable is taken for a folder, or for a
    name, unless it is known, or is called otherwise."""
    value = module.names.value_of(pattern)
    if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
        text = module.literal(value)
        return isinstance(text, str) and _WILD.search(text) is None
    if value is pattern and isinstance(value, (cst.Name, cst.Attribute)):
        return _PATTERN.search(dotted(value) or "pattern") is None
    parts = _parts(module, value)
    return bool(parts) and all(_is_whole(module, each) for each in parts)


def _parts(module: Module, path: cst.CSTNode) -> list[cst.CSTNode]:
    """What a path is put together from: ``f"{a}/b"``, ``a + "/b"``, ``os.path.join(a, "b")``."""
    if isinstance(path, cst.FormattedString):
        texts = [cst.SimpleString(repr(x.value)) for x in path.parts if hasattr(x, "value")]
        return [*texts, *(x.expression for x in path.parts if hasattr(x, "expression"))]
    if isinstance(path, cst.BinaryOperation):
        adds = isinstance(path.operator, (cst.Add, cst.Divide))
        return [path.left, path.right] if adds else []
    joins = isinstance(path, cst.Call) and module.called(path) in _JOINING
    return [each.value for each in path.args] if joins else []  # type: ignore[attr-defined]


def _ends_in_name(module: Module, path: cst.CSTNode) -> bool:
    """Whether the last part of a path is written out: ``f"{folder}/model.yaml"``."""
    parts = _parts(module, path)
    last = parts[-1] if parts else path
    if isinstance(path, cst.FormattedString):
        tail = path.parts[-1] if path.parts else None
        text: object = tail.value if isinstance(tail, cst.FormattedStringText) else None
    else:
        text = module.literal(last) if isinstance(last, cst.BaseString) else None
    joined = not parts or isinstance(path, cst.Call) or _divides(path)
    name = r"\w" if joined else r"/[^/]*\w[^/]*$"
    return isinstance(text, str) and re.search(name, text) is not None


def _divides(path: cst.CSTNode) -> bool:
    return isinstance(path, cst.BinaryOperation) and isinstance(path.operator, cst.Divide)


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
