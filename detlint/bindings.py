"""One walk over a tree that fills in parents, scopes and what each name is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from detlint.scope import Binding, Scope, dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.tree import Tree

_SCOPES = (
    cst.FunctionDef,
    cst.ClassDef,
    cst.Lambda,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
)
_COMPREHENSIONS = _SCOPES[3:]
_HAVE_SCOPES = frozenset(_SCOPES)


class Bindings:
    """The scopes of a tree.

    attributes for each class, what its methods assign to ``self.<name>``
               (None for a value that is not known, as in a loop)
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.module = Scope(tree.module, None)
        self._scopes: list[Scope] = []  # by the places of nodes in the tree
        self._has_handlers = cst.ExceptHandler in map(type, tree.nodes)
        self.attributes: dict[cst.ClassDef, dict[str, list[cst.CSTNode | None]]] = {}
        self._walk()

    def _walk(self) -> None:
        entered, scopes, above = {0: self.module}, self._scopes, self.tree.above
        for place, node in enumerate(self.tree.nodes):
            scope = entered.pop(place) if place in entered else scopes[above[place]]
            scopes.append(scope)
            kind = type(node)
            binder = _BINDERS.get(kind)
            if binder is not None:
                binder(self, node, scope)
            if kind in _HAVE_SCOPES:
                entered.update(self._enter(node, scope))

    def _enter(self, node: cst.CSTNode, outer: Scope) -> Iterator[tuple[int, Scope]]:
        """The scopes of what is directly below a node that has one of its own."""
        inner = Scope(node, outer)
        for child in self.tree.children(node):
            yield self.tree.place(child), _home(node, child, outer, inner)
            if isinstance(child, cst.Parameters):
                _bind_parameters(child, inner)

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """The scope in which a node is evaluated."""
        return self._scopes[self.tree.place(node)]

    def bind_target(self, target: cst.CSTNode, scope: Scope, binding: Binding) -> None:
        """Bind every name of an assignment target; unpacked names keep a value only pairwise."""
        if isinstance(target, cst.Name):
            scope.bind(target.value, binding)
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element, each in zip(target.elements, _unpacked(target, binding), strict=True):
                self.bind_target(element.value, scope, each)
        elif isinstance(target, cst.Attribute) and dotted(target.value) == "self":
            owner = _owner(scope)
            if owner is not None:
                value = binding.node if binding.kind == "value" else None
                values = self.attributes.setdefault(owner, {})
                values.setdefault(target.attr.value, []).append(value)

    def enclosing_class(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """The innermost class around a node."""
        above = self.tree.ancestors(node)
        return next((each for each in above if type(each) is cst.ClassDef), None)

    def is_fallback(self, node: cst.CSTNode) -> bool:
        """Whether the node stands in an ``except`` handler, as a stand-in for a failed import."""
        if not self._has_handlers:
            return False
        return any(type(each) is cst.ExceptHandler for each in self.tree.ancestors(node))


def _owner(scope: Scope | None) -> cst.ClassDef | None:
    while scope is not None and not isinstance(scope.node, cst.ClassDef):
        scope = scope.parent
    return scope.node if scope is not None and isinstance(scope.node, cst.ClassDef) else None


def _home(node: cst.CSTNode, child: cst.CSTNode, scope: Scope, inner: Scope) -> Scope:
    """Decorators, bases, defaults and annotations are evaluated in the scope outside."""
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return inner if child is node.body else scope
    return scope if isinstance(child, cst.Parameters) else inner


def _bind_parameters(parameters: cst.Parameters, scope: Scope) -> None:
    plain = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    for parameter in plain:
        annotation = parameter.annotation.annotation if parameter.annotation else None
        binding = Binding("parameter", parameter.default, annotation=annotation)
        scope.bind(parameter.name.value, binding)
    for star in (parameters.star_arg, parameters.star_kwarg):
        if isinstance(star, cst.Param):
            scope.bind(star.name.value, Binding("other"))


def _unpacked(target: cst.Tuple | cst.List, binding: Binding) -> Iterable[Binding]:
    value = binding.node
    values = value.elements if isinstance(value, (cst.Tuple, cst.List)) else ()
    starred = any(isinstance(each, cst.StarredElement) for each in (*target.elements, *values))
    if binding.kind == "value" and len(values) == len(target.elements) and not starred:
        return [binding._replace(node=element.value) for element in values]
    return [Binding("other")] * len(target.elements)


def _import(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    for alias in cast("cst.Import", node).names:
        name = dotted(alias.name) or ""
        bound = name if alias.asname else name.partition(".")[0]
        local = dotted(alias.asname.name) if alias.asname else bound
        scope.bind(local or "", Binding("import", name=bound, fallback=self.is_fallback(node)))


def _import_from(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    statement = cast("cst.ImportFrom", node)
    if isinstance(statement.names, cst.ImportStar):
        return
    module = "." * len(statement.relative) + (dotted(statement.module) or "")
    for alias in statement.names:
        name = dotted(alias.name) or ""
        local = dotted(alias.asname.name) if alias.asname else name
        qualified = f"{module}.{name}" if statement.module else f"{module}{name}"
        binding = Binding("import", name=qualified, fallback=self.is_fallback(node))
        scope.bind(local or "", binding)


def _assign(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    statement = cast("cst.Assign", node)
    binding = Binding("value", statement.value, fallback=self.is_fallback(node))
    for target in statement.targets:
        self.bind_target(target.target, scope, binding)


def _annotated(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    statement = cast("cst.AnnAssign", node)
    annotation = statement.annotation.annotation
    if statement.value is not None:
        binding = Binding("value", statement.value, annotation=annotation)
        self.bind_target(statement.target, scope, binding)


def _walrus(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    expression = cast("cst.NamedExpr", node)
    while isinstance(scope.node, _COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    self.bind_target(expression.target, scope, Binding("value", expression.value))


def _augmented(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    self.bind_target(cast("cst.AugAssign", node).target, scope, Binding("other"))


def _loop(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    loop = cast("cst.For", node)
    self.bind_target(loop.target, scope, Binding("loop", loop.iter))


def _with_item(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    item = cast("cst.WithItem", node)
    if item.asname is not None:
        self.bind_target(item.asname.name, scope, Binding("with", item.item))


def _handler(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    name = cast("cst.ExceptHandler", node).name
    if name is not None:
        self.bind_target(name.name, scope, Binding("other"))


def _definition(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    name = cast("cst.FunctionDef | cst.ClassDef", node).name.value
    scope.bind(name, Binding("definition", node, fallback=self.is_fallback(node)))


def _global(self: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    for item in cast("cst.Global", node).names:
        if scope is not self.module:
            scope.outer[item.name.value] = self.module


def _nonlocal(_: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    for item in cast("cst.Nonlocal", node).names:
        home = scope.parent
        while home is not None and item.name.value not in home.bindings:
            home = home.parent
        if home is not None:
            scope.outer[item.name.value] = home


def _capture(_: Bindings, node: cst.CSTNode, scope: Scope) -> None:
    name = cast("cst.MatchAs | cst.MatchStar", node).name
    if name is not None:
        scope.bind(name.value, Binding("other"))


_BINDERS: dict[type[cst.CSTNode], Callable[[Bindings, cst.CSTNode, Scope], None]] = {
    cst.Import: _import,
    cst.ImportFrom: _import_from,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.NamedExpr: _walrus,
    cst.AugAssign: _augmented,
    cst.For: _loop,
    cst.CompFor: _loop,
    cst.WithItem: _with_item,
    cst.ExceptHandler: _handler,
    cst.FunctionDef: _definition,
    cst.ClassDef: _definition,
    cst.Global: _global,
    cst.Nonlocal: _nonlocal,
    cst.MatchAs: _capture,
    cst.MatchStar: _capture,
}
