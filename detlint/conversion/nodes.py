"""Functions that make libcst's nodes from their fields, a few times as fast as their classes.

A frozen dataclass sets each field through ``object.__setattr__``, where the setter of the slot
does, and then checks itself, which tells nothing of text that has been parsed.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable

Node = TypeVar("Node", bound=cst.CSTNode)


def maker(kind: type[Node]) -> Callable[..., Node]:
    """A function that makes nodes of a kind from keywords, with the defaults of the class."""
    known: dict[str, Any] = {"new": object.__new__, "kind": kind}
    parameters, body = [], ["self = new(kind)"]
    for field in fields(kind):
        name = field.name
        known[f"set_{name}"] = getattr(kind, name).__set__
        if field.default_factory is not MISSING:
            # Blanks: nothing changes them, so that all nodes may share one.
            known[f"of_{name}"] = field.default_factory()
        elif field.default is not MISSING:
            known[f"of_{name}"] = field.default
        parameters.append(f"{name}=of_{name}" if f"of_{name}" in known else name)
        body.append(f"set_{name}(self, {name})")
    lines = "\n    ".join((*body, "return self"))
    exec(f"def make({', '.join(parameters)}):\n    {lines}", known)  # noqa: S102 - of names of fields
    make: Callable[..., Node] = known["make"]
    return make
