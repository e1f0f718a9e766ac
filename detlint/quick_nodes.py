"""libcst's nodes, made faster while a text is parsed.

The parser makes each node by a call of its class from the module ``libcst``. Half of the nodes are
blanks and ends of lines, of which few differ; and a frozen dataclass sets each field through
``object.__setattr__``, where the setter of the slot does. Checks that nodes make of themselves
tell nothing of parsed text. All of it is a third of the time that a parse takes.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ALIKE = ("SimpleWhitespace", "Newline")  # one node for all that are equal: nothing changes them
_FREQUENT = (
    "Arg",
    "Assign",
    "AssignEqual",
    "AssignTarget",
    "Attribute",
    "Call",
    "Comma",
    "Dot",
    "Element",
    "EmptyLine",
    "Integer",
    "Name",
    "ParenthesizedWhitespace",
    "SimpleStatementLine",
    "SimpleString",
    "TrailingWhitespace",
)


@contextmanager
def quick_nodes() -> Iterator[None]:
    """Within it, what libcst parses is made so; the nodes are the same."""
    quick = _quick()
    usual = {name: getattr(cst, name) for name in quick}
    check = cst.CSTNode.__post_init__
    cst.CSTNode.__post_init__ = bool  # type: ignore[method-assign,assignment]  # does nothing
    vars(cst).update(quick)
    try:
        yield
    finally:
        vars(cst).update(usual)
        cst.CSTNode.__post_init__ = check  # type: ignore[method-assign]


@cache
def _quick() -> dict[str, Callable[..., cst.CSTNode]]:
    alike = {name: lru_cache(maxsize=1_000)(getattr(cst, name)) for name in _ALIKE}
    return {**alike, **{name: _maker(getattr(cst, name)) for name in _FREQUENT}}


def _maker(kind: type[cst.CSTNode]) -> Callable[..., cst.CSTNode]:
    """A function that makes nodes of a kind from its fields, with the defaults of the class."""
    known: dict[str, Any] = {"new": object.__new__, "kind": kind}
    parameters, body = [], ["self = new(kind)"]
    for field in fields(kind):
        name = field.name
        known[f"set_{name}"] = getattr(kind, name).__set__
        known[f"of_{name}"] = MISSING if field.default is MISSING else field.default
        parameters.append(f"{name}=of_{name}")
        if field.default_factory is not MISSING:
            known[f"make_{name}"] = field.default_factory
            body.append(f"if {name} is of_{name}: {name} = make_{name}()")
        body.append(f"set_{name}(self, {name})")
    lines = "\n    ".join((*body, "return self"))
    exec(f"def make({', '.join(parameters)}):\n    {lines}", known)  # noqa: S102 - of names of fields
    make: Callable[..., cst.CSTNode] = known["make"]
    return make
