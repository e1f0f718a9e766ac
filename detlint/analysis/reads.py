"""Where a local is read and assigned, and which of its assignments a read can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.reaching import Store, Variable, dominated
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.module import Module
    from detlint.scope import Scope


def home(module: Module, name: cst.Name) -> Scope | None:
    """The scope that binds a name; None for a builtin."""
    scope: Scope | None = module.bindings.scope_of(name)
    first = scope
    while scope is not None:
        owner = scope.outer.get(name.value, scope)
        in_class = isinstance(scope.node, cst.ClassDef) and scope is not first
        if name.value in owner.bindings and not in_class:
            return owner
        scope = scope.parent
    return None


class Reads:
    """The reads and assignments of every name of a module, in the order of the source."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[str, dict[Scope, Variable]] = {}

    def _variable(self, name: cst.Name) -> Variable | None:
        """What a name stands for, if it is a variable that the module binds."""
        if name.value not in self._known:
            known = self._known[name.value] = {}
            for node in self._module.tree.occurrences.get(name.value, ()):
                self._add(node, known)
        scope = self.home(name)
        return self._known[name.value].get(scope) if scope is not None else None

    def _add(self, node: cst.Name, known: dict[Scope, Variable]) -> None:
        scope = None if self.is_label(node) else self.home(node)
        if scope is None:
            return
        variable = known.get(scope) or known.setdefault(scope, Variable(self._module))
        statement = self._stored_by(node)
        if statement is None:
            variable.loads.append(node)
        else:
            variable.stores.append(Store(statement, self.end(statement)))

    def home(self, name: cst.Name) -> Scope | None:
        """The scope that binds a name; None for a builtin."""
        return home(self._module, name)

    def variables(self, node: cst.CSTNode) -> Iterator[cst.Name]:
        """The variables that a node mentions, read or assigned."""
        for each in self._module.tree.descendants(node):
            if isinstance(each, cst.Name) and not self.is_label(each):
                yield each

    def place(self, node: cst.CSTNode) -> int:
        """Where a node begins, counted in nodes."""
        return self._module.tree.place(node)

    def end(self, node: cst.CSTNode) -> int:
        """Where a node ends. A loop or ``with`` header ends before its body."""
        if isinstance(node, (cst.For, cst.With)):
            return self.place(node.body) - 1
        return self._module.tree.last(node)

    def loads(self, name: cst.Name) -> list[cst.Name]:
        """Every read of the variable that a name stands for."""
        variable = self._variable(name)
        return variable.loads if variable else []

    def stores(self, name: cst.Name) -> list[Store]:
        """Every assignment of the variable that a name stands for."""
        variable = self._variable(name)
        return variable.stores if variable else []

    def reached(self, name: cst.Name, statement: cst.CSTNode) -> Sequence[cst.Name]:
        """The reads that see the value which the statement gave a name."""
        variable = self._variable(name)
        return variable.reached(Store(statement, self.end(statement))) if variable else ()

    def reaching(self, load: cst.Name) -> list[cst.CSTNode]:
        """The statements that gave the value which a read sees, as far as they come before it."""
        variable = self._variable(load)
        return variable.reaching(load) if variable else []

    def hides_parameter(self, load: cst.Name) -> bool:
        """Whether a read sees an assignment, and not what the caller gave."""
        variable = self._variable(load)
        return variable is not None and variable.is_dominated(load)

    def dominates(self, statement: cst.CSTNode, load: cst.CSTNode) -> bool:
        """Whether the block of a statement holds the read that follows it."""
        block = dominated(self._module, statement)
        return block is None or any(each is block for each in self._module.ancestors(load))

    def is_label(self, name: cst.Name) -> bool:
        """Whether a name is not a variable: an attribute, a keyword, the name of a definition."""
        parent = self._module.parent(name)
        if isinstance(parent, cst.Attribute):
            return parent.attr is name
        if isinstance(parent, cst.Arg):
            return parent.keyword is name
        labels = (cst.Param, cst.FunctionDef, cst.ClassDef)
        if isinstance(parent, labels):
            return getattr(parent, "name", None) is name
        return isinstance(parent, (cst.ImportAlias, cst.NameItem))

    def _stored_by(self, name: cst.Name) -> cst.CSTNode | None:
        """The statement that assigns the name here; None where it is read."""
        node: cst.CSTNode = name
        parent = self._module.parent(node)
        unpacking = (cst.Tuple, cst.List, cst.Element, cst.StarredElement)
        while isinstance(parent, unpacking):
            node, parent = parent, self._module.parent(parent)
        if isinstance(parent, cst.AssignTarget):
            return self._module.parent(parent)
        if isinstance(parent, (cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr)):
            return parent if parent.target is node else None
        if isinstance(parent, cst.AsName):
            item = self._module.parent(parent)
            return self._module.parent(item) if isinstance(item, cst.WithItem) else item
        return None
