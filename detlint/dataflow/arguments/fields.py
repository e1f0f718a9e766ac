"""Fields of classes that hold options: what they are where nobody gives them, and who may."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.defaults import defaults
from detlint.dataflow.arguments.need import Need
from detlint.dataflow.arguments.required_arguments import opened_code
from detlint.dataflow.unit import UnparsedError
from detlint.models import names
from detlint.syntax.parsing import REFUSALS
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function
    from detlint.dataflow.unit import Unit
    from detlint.sources.source import Source


def read_fields(source: Source, need: str) -> list[tuple[str, str]]:
    """The classes of a file that have a field of an option's name, each with what calls have to
    pass so that it is what that needs; none of a file that does not parse."""
    asked = Need.parse(need)
    if asked.parameter not in source.text or "class " not in source.text:
        return []
    try:
        return in_deep_stack(lambda: list(_fields(opened_code(source), asked)))
    except (UnparsedError, *REFUSALS):
        return []


def _fields(unit: Unit, asked: Need) -> Iterator[tuple[str, str]]:
    # Of another class an attribute is changed as it goes.
    stored = any(not each.args[0].is_self for each in unit.stores(asked.parameter))
    for outer in unit.functions_holding(asked.parameter):
        for body in outer.everything():
            if not isinstance(body.node, ast.ClassDef) or not _holds_options(body, unit):
                continue
            known = not stored and "BaseSettings" not in unit.bases(body.word)
            for setting in defaults(body, (asked.parameter,)):
                if setting.form == "field":
                    value = setting.constant
                    unset = known and value is not ... and not asked.allows(value)
                    place = _place(body.node, asked.parameter)
                    found = asked._replace(function=body.word, place=place, unset=unset, field=True)
                    yield body.word, found.dump()


def _holds_options(body: Function, unit: Unit) -> bool:
    decorators = map(ast.unparse, body.decorators)
    said = names.words_of(body.word)
    return (
        bool(said and names.holds_options(said[-1]))
        or "BaseModel" in unit.bases(body.word)
        or any("dataclass" in each for each in decorators)
    )


def _place(node: ast.ClassDef, name: str) -> int:
    """The place of a field among the arguments of the constructor; -1 where bases have more."""
    given = [getattr(x.target, "id", "") for x in node.body if isinstance(x, ast.AnnAssign)]
    return given.index(name) if name in given and not node.bases else -1
