"""Fields of classes that hold options: what they are where nobody gives them, and who may."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.defaults import defaults, is_dataclass, place_of_field
from detlint.dataflow.arguments.need import Need
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.unit import Unit


def may_have(text: str, need: str) -> bool:
    """Whether a text may have a class with such a field."""
    return "class " in text and Need.parse(need).parameter in text


def fields(unit: Unit, need: str) -> Iterator[tuple[str, str]]:
    """The classes of a file that have a field of an option's name, each with what calls have to
    pass so that it is what that needs."""
    asked = Need.parse(need)
    for outer in unit.functions_holding(asked.parameter, beside=("class ",)):
        for body in outer.everything():
            node = body.node
            if not isinstance(node, ast.ClassDef) or not _holds_options(node, unit):
                continue
            for setting in defaults(body, (asked.parameter,)):
                if setting.form == "field":
                    value = setting.constant
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
