"""What the pattern of a listing says of the files that it finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.reads import Reads
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
    values = _values(module, listing.args[0].value)
    return all(_is_whole(module, each) and _ends_in_name(module, each) for each in values)


def _values(module: Module, pattern: cst.BaseExpression) -> list[cst.CSTNode]:
    """What a variable holds: what each branch gives it, or the statement above an attribute."""
    value = module.names.value_of(pattern)
    if isinstance(value, cst.Attribute):
        return [_given_above(module, value) or value]
    if value is not pattern or not isinstance(value, cst.Name):
        return [value]
    reads = Reads(module)
    scope, statements = reads.home(value), [each.statement for each in reads.stores(value)]
    kinds = {each.kind for each in scope.bindings[value.value]} if scope is not None else set()
    grows = any(isinstance(module.parent(each), cst.AugAssign) for each in reads.loads(value))
    plain = all(_gives(each, value) for each in statements)
    if kinds != {"value"} or grows or not plain:
        return [value]
    return [each.value for each in statements if isinstance(each, cst.Assign)]


def _given_above(module: Module, attribute: cst.Attribute) -> cst.BaseExpression | None:
    """``args.file = …``, further up in the block that reads ``args.file``."""
    lines = (x for x in module.ancestors(attribute) if isinstance(x, cst.SimpleStatementLine))
    line = next(lines, None)
    block = module.parent(line) if line is not None else None
    if line is None or not isinstance(block, (cst.IndentedBlock, cst.Module)):
        return None
    above = list(block.body[: block.body.index(line)])
    for statement in reversed(above):
        below = module.tree.descendants(statement)
        given = [each for each in below if isinstance(each, cst.Assign) and _gives(each, attribute)]
        if given:
            return given[0].value if isinstance(statement, cst.SimpleStatementLine) else None
    return None


def _gives(statement: cst.CSTNode, target: cst.CSTNode) -> bool:
    """Whether a statement assigns to a target, and to no other."""
    if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
        return False
    return statement.targets[0].target.deep_equals(target)


def _is_whole(module: Module, pattern: cst.CSTNode) -> bool:
    """Whether no part of a path can be a wildcard. A variable is taken for a folder, or for a
    name, unless it is known, or is called otherwise."""
    value = module.names.value_of(pattern)
    if isinstance(value, (cst.SimpleString, cst.ConcatenatedString)):
        text = module.literal(value)
        return isinstance(text, str) and _WILD.search(text) is None
    if isinstance(value, cst.Subscript):  # levels[1]
        made = module.names.value_of(value.value)
        known = [each.value for each in made.elements] if isinstance(made, cst.List) else []
        return _is_named_plainly(value.value) and all(_is_whole(module, each) for each in known)
    if value is pattern and isinstance(value, (cst.Name, cst.Attribute)):
        return _is_named_plainly(value)
    parts = _parts(module, value)
    return bool(parts) and all(_is_whole(module, each) for each in parts)


def _is_named_plainly(variable: cst.CSTNode) -> bool:
    return _PATTERN.search(dotted(variable) or "pattern") is None


def _parts(module: Module, path: cst.CSTNode) -> list[cst.CSTNode]:
    """What a path is put together from: ``f"{a}/b"``, ``a + "/b"``, ``os.path.join(a, "b")``."""
    if isinstance(path, cst.FormattedString):
        texts = [cst.SimpleString(repr(x.value)) for x in path.parts if hasattr(x, "value")]
        return [*texts, *(x.expression for x in path.parts if hasattr(x, "expression"))]
    if isinstance(path, cst.BinaryOperation):
        adds = isinstance(path.operator, (cst.Add, cst.Divide))
        return [path.left, path.right] if adds else []
    if not isinstance(path, cst.Call) or not (_joins(module, path) or _formats(path)):
        return []
    method = path.func
    template = [method.value] if isinstance(method, cst.Attribute) and _formats(path) else []
    return [*template, *(each.value for each in path.args)]


def _joins(module: Module, call: cst.CSTNode) -> bool:
    return module.called(call) in _JOINING


def _formats(call: cst.Call) -> bool:
    """``"{}.png".format(name)``."""
    method = call.func
    if not isinstance(method, cst.Attribute) or method.attr.value != "format":
        return False
    return isinstance(method.value, cst.SimpleString)


def _ends_in_name(module: Module, path: cst.CSTNode) -> bool:
    """Whether the last part of a path is written out: ``f"{folder}/model.yaml"``."""
    parts = _parts(module, path)
    joined = not parts or _joins(module, path) or _divides(path)
    name = r"\w|\.$" if joined else r"/[^/]*\w[^/]*$"
    return re.search(name, _tail(module, parts[-1] if parts and joined else path)) is not None


def _divides(path: cst.CSTNode) -> bool:
    return isinstance(path, cst.BinaryOperation) and isinstance(path.operator, cst.Divide)


def _tail(module: Module, path: cst.CSTNode) -> str:
    """What is written out at the end of a path, a variable for its suffix aside."""
    if isinstance(path, cst.FormattedString):
        last = path.parts[-1] if path.parts else None
        return last.value if isinstance(last, cst.FormattedStringText) else ""
    if isinstance(path, cst.BinaryOperation):
        left = _tail(module, path.left)
        return _tail(module, path.right) or (left if left.endswith(".") else "")
    if isinstance(path, cst.Call) and _formats(path):
        template = str(module.literal(_parts(module, path)[0]))
        return template.rpartition("}")[2]
    if isinstance(path, cst.Call) and _joins(module, path) and path.args:
        return _tail(module, path.args[-1].value)
    text = module.literal(path) if isinstance(path, cst.BaseString) else None
    return text if isinstance(text, str) else ""


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
