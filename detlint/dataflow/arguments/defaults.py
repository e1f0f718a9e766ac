"""Defaults of options: of parameters, of flags on the command line, of fields, and who may give
those."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.need import Need
from detlint.dataflow.arguments.settings import Setting
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

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


def may_have_field(text: str, need: str) -> bool:
    """Whether a text may have a class with such a field."""
    return "class " in text and Need.parse(need).parameter in text


def fields_named(unit: Unit, need: str) -> Iterator[tuple[str, str]]:
    """The classes of a file that have a field of an option's name, each with what calls have to
    pass so that it is what that needs."""
    asked = Need.parse(need)
    naming = unit.functions_holding(asked.parameter, beside=("class ",))
    for body in (each for outer in naming for each in outer.everything()):
        node, settings = body.node, defaults(body, (asked.parameter,))
        if not isinstance(node, ast.ClassDef) or not _holds_options(node, unit):
            continue
        for value in (each.constant for each in settings if each.form == "field"):
            off = value is not ... and not asked.allows(value)
            unset = off and not _may_change(unit, node.name, asked.parameter)
            place = place_of_field(node, asked.parameter)
            found = asked._replace(function=node.name, place=place, unset=unset, field=True)
            yield node.name, found.dump()


def _may_change(unit: Unit, owner: str, name: str) -> bool:
    """Whether what is read from outside gives a field its value, or code does as it goes: of
    another class an attribute is changed."""
    stored = any(not each.args[0].is_self for each in unit.stores(name))
    return stored or "BaseSettings" in unit.bases(owner)


def _holds_options(node: ast.ClassDef, unit: Unit) -> bool:
    by_name = names.is_class_of_options(node.name)
    return by_name or "BaseModel" in unit.bases(node.name) or is_dataclass(node)
