"""Defaults of options: of parameters, of fields, of flags on the command line."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Function, Op

_FIELDS = frozenset(("field", "Field", "attrib"))
_READING = frozenset(("get", "pop", "getattr"))
_DECLARING = frozenset(("add_argument", "option"))  # argparse, click


def defaults(function: Function, names: Collection[str]) -> Iterator[Setting]:
    """Those of one function."""
    for name, param in function.params.items():
        if name in names and param.args:
            yield Setting(name, "parameter", param.args[0], param, param.node)
    if isinstance(function.node, ast.ClassDef):
        yield from _fields(function, names)
    for op in function.ops:
        if op.code == "call":
            yield from _of_call(op, names)


def _fields(function: Function, names: Collection[str]) -> Iterator[Setting]:
    for name in names:
        for op in function.bindings.get(name, ()):
            value = op.args[0] if op.code == "declared" and op.args else op
            if value.code == "phi" or (op.code == "declared" and not op.args):
                continue
            yield Setting(name, "field", default_of(value), value, op.node)


def declared_fields(node: ast.ClassDef) -> dict[str, ast.expr | None]:
    """The annotated fields of a class in their order, with their defaults."""
    found: dict[str, ast.expr | None] = {}
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            found.setdefault(each.target.id, each.value)
    return found


def is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(each) for each in node.decorator_list)


def place_of_field(node: ast.ClassDef, name: str) -> int:
    """The place of a field among the arguments of the constructor; -1 where bases have more."""
    names = list(declared_fields(node))
    return names.index(name) if name in names and not node.bases else -1


def default_of(value: Op) -> Op:
    """``field(default=True)`` → ``True``."""
    if value.code == "call" and value.args[0].name in _FIELDS:
        return value.given("default", 0) or value
    return value


def _of_call(op: Op, names: Collection[str]) -> Iterator[Setting]:
    method = op.args[0].name
    values = op.values
    given = [value for name, value in op.arguments() if name is None]
    if method in _DECLARING:
        default = op.given("default")
        flags = (_flag(values.constant(each)) for each in given)
        name = next((each for each in flags if each in names), "")
        if name and default is not None:
            yield Setting(name, "flag", default, op, op.node)
    elif method in _READING and len(given) > 1:
        said = values.constant(given[-2])
        if isinstance(said, str) and said in names:
            yield Setting(said, "default", given[-1], op, op.node)


def _flag(text: object) -> str:
    """``"--ds.use-flash-attn"`` → ``use_flash_attn``."""
    if not isinstance(text, str) or not text.startswith("--"):
        return ""
    return text.lstrip("-").rpartition(".")[2].replace("-", "_")
