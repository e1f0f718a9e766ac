"""Scopes and the names that they bind."""

from __future__ import annotations

from typing import NamedTuple

from detlint.lazy import cst


class Binding(NamedTuple):
    """One place that gives a name a meaning.

    kind       import, value, definition, parameter, loop, with or other
    node       the value, definition, default, iterable or context manager, where there is one
    name       the qualified name of an import
    annotation the declared type, where there is one
    fallback   it stands in an ``except`` handler, as in ``except ImportError: np = None``
    """

    kind: str
    node: cst.CSTNode | None = None
    name: str = ""
    annotation: cst.BaseExpression | None = None
    fallback: bool = False


class Scope:
    """The names that one module, class, function, lambda or comprehension binds."""

    __slots__ = ("bindings", "node", "outer", "parent")

    def __init__(self, node: cst.CSTNode, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.outer: dict[str, Scope] = {}  # names declared ``global`` or ``nonlocal``

    def bind(self, name: str, binding: Binding) -> None:
        """Record a binding, in the scope that ``global`` or ``nonlocal`` points at."""
        target = self.outer.get(name, self)
        target.bindings.setdefault(name, []).append(binding)

    def lookup(self, name: str) -> list[Binding]:
        """The bindings that a use of the name in this scope can see; none for a builtin."""
        scope: Scope | None = self
        while scope is not None:
            home = scope.outer.get(name, scope)
            # The names of a class body are not those of its methods.
            visible = scope is self or not isinstance(scope.node, cst.ClassDef)
            if visible and name in home.bindings:
                return home.bindings[name]
            scope = scope.parent
        return []


def dotted(node: cst.CSTNode | None) -> str | None:
    """``a.b.c`` as text, or None for anything but names and attributes."""
    parts: list[str] = []
    while type(node) is cst.Attribute:  # isinstance asks an abstract base class
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))
