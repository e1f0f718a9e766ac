"""Where a local is read, and which of its assignments a read can see.

Judged by order and nesting: an assignment hides an earlier one from the reads
that follow it in its own block. Going round a loop to an earlier line is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class Store(NamedTuple):
    """An assignment of a name: the statement, and its place among the nodes of the file."""

    statement: cst.CSTNode
    end: int


class _Mentions(NamedTuple):
    """Of one name: where each scope's variable is read, and where it is assigned."""

    loads: dict[Scope, list[cst.Name]]
    stores: dict[Scope, list[Store]]


class Reads:
    """The reads and assignments of every name of a module, in the order of the source."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[str, _Mentions] = {}

    def _of(self, name: cst.Name) -> _Mentions:
        """The mentions of all variables of a name, looked up when one of them is asked for."""
        if name.value not in self._known:
            self._known[name.value] = _Mentions({}, {})
            for node in self._module.tree.occurrences.get(name.value, ()):
                self._add(node, self._known[name.value])
        return self._known[name.value]

    def _add(self, node: cst.Name, mentions: _Mentions) -> None:
        scope = None if self.is_label(node) else self.home(node)
        if scope is None:
            return
        statement = self._stored_by(node)
        if statement is None:
            mentions.loads.setdefault(scope, []).append(node)
        else:
            store = Store(statement, self.end(statement))
            mentions.stores.setdefault(scope, []).append(store)

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
        from detlint.tree import children

        if isinstance(node, (cst.For, cst.With)):
            return self.place(node.body) - 1
        while True:
            below = list(children(node))
            if not below:
                return self.place(node)
            node = below[-1]

    def loads(self, name: cst.Name) -> list[cst.Name]:
        """Every read of the variable that a name stands for."""
        scope = self.home(name)
        return self._of(name).loads.get(scope, []) if scope else []

    def stores(self, name: cst.Name) -> list[Store]:
        """Every assignment of the variable that a name stands for."""
        scope = self.home(name)
        return self._of(name).stores.get(scope, []) if scope else []

    def reached(self, name: cst.Name, statement: cst.CSTNode) -> Iterator[cst.Name]:
        """The reads that see the value which the statement gave a name."""
        scope = self.home(name)
        if scope is None:
            return
        end = self.end(statement)
        later = [each for each in self._of(name).stores.get(scope, ()) if each.end > end]
        for load in self._of(name).loads.get(scope, ()):
            if self._sees(load, Store(statement, end), later):
                yield load

    def _sees(self, load: cst.Name, store: Store, later: list[Store]) -> bool:
        place = self.place(load)
        if place <= store.end or self._exclusive(store.statement, load):
            return False
        hiding = [each.statement for each in later if each.end < place]
        return not any(
            self.dominates(each, load)
            or self._follows(each, store.statement, load)
            or self._decide(each, hiding, load)
            for each in hiding
        )

    def _decide(self, statement: cst.CSTNode, others: list[cst.CSTNode], load: cst.Name) -> bool:
        """Whether a statement and others give the name a value in every branch of an ``if``
        before the read, as far as a branch goes on."""
        top: cst.CSTNode | None = self._module.parent(self._block(statement) or statement)
        while isinstance(above := self._module.parent(top) if top else None, (cst.If, cst.Else)):
            top = above
        if not isinstance(top, cst.If) or not self.dominates(top, load):
            return False
        blocks = [self._block(each) for each in others]
        branch: cst.If | cst.Else | None = top
        while branch is not None:
            if not (any(each is branch.body for each in blocks) or _leaves(branch.body)):
                return False
            if isinstance(branch, cst.Else):
                return True
            branch = branch.orelse
        return False

    def _follows(self, statement: cst.CSTNode, earlier: cst.CSTNode, load: cst.Name) -> bool:
        """Whether both stand in one block, so that the earlier value leaves it only by an
        exception between the two, to a read in a handler."""
        block = self._block(statement)
        if block is None or block is not self._block(earlier):
            return False
        above = self._module.parent(block)
        handlers = above.handlers if isinstance(above, (cst.Try, cst.TryStar)) else ()
        return not any(each in self._module.ancestors(load) for each in handlers)

    def _block(self, statement: cst.CSTNode) -> cst.CSTNode | None:
        """The block that a plain statement stands in."""
        line = self._module.parent(statement)
        plain = isinstance(line, cst.SimpleStatementLine)
        return self._module.parent(line) if plain and line is not None else None

    def reaching(self, load: cst.Name) -> list[cst.CSTNode]:
        """The statements that gave the value which a read sees, as far as they come before it."""
        stores = self.stores(load)
        return [
            store.statement
            for store in stores
            if self._sees(load, store, [each for each in stores if each.end > store.end])
        ]

    def hides_parameter(self, load: cst.Name) -> bool:
        """Whether a read sees an assignment, and not what the caller gave."""
        before = (each for each in self.stores(load) if each.end < self.place(load))
        return any(self.dominates(each.statement, load) for each in before)

    def dominates(self, statement: cst.CSTNode, load: cst.CSTNode) -> bool:
        """Whether the block of a statement holds the read that follows it."""
        blocks = (cst.IndentedBlock, cst.Module, cst.SimpleStatementSuite)
        if isinstance(statement, cst.For):  # its target, in its body
            return statement.body in self._module.ancestors(load)
        around = self._module.ancestors(statement)
        block = next((each for each in around if isinstance(each, blocks)), None)
        return block is None or block in self._module.ancestors(load)

    def _exclusive(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        """Whether two nodes stand in different branches of one ``if``."""
        above = [second, *self._module.ancestors(second)]
        below = first
        for parent in self._module.ancestors(first):
            if parent in above:
                if not isinstance(parent, cst.If) or parent is second:
                    return False
                other = above[above.index(parent) - 1]
                return {below, other} == {parent.body, parent.orelse}
            below = parent
        return False

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


def _leaves(block: cst.BaseSuite) -> bool:
    """Whether what follows a block does not run after it."""
    last = block.body[-1] if block.body else None
    last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(last, (cst.Continue, cst.Break, cst.Return, cst.Raise))
