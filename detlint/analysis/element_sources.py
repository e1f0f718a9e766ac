"""Where the values of variables come from: declared types, loops that unpack, calls that fill."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import kind_tables as tables
from detlint.analysis.kinds import Annotation, Kind, parsed
from detlint.mentions import mentions
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module
    from detlint.scope import Binding, Scope

    # What a variable is bound to, and what is put into it; whether by a key, as into a dict.
    _Filled = tuple[list[Binding], list[tuple[bool, tuple[str, cst.CSTNode]]]]

_ONE = ("add", "append", "appendleft", "insert", "setdefault")
_MANY = ("extend", "update", "union_update", "symmetric_difference_update")
# Classes that decide themselves how their instances are hashed.
_OWN_HASH = re.compile(r"__hash__|__eq__|dataclass|NamedTuple|attrs?\.|@define|@frozen")

# ``self.names: list[str] =``, with what stands before the name.
_BEFORE_FIELD = re.compile(r"[ \t]+(?:self\.)?\Z")
_DECLARED = re.compile(r"[ \t]*:[ \t]*([\w.]+(?:\[[^=#\n]*\])?[^=#\n,()]*)(?:=|#|$)", re.MULTILINE)


class Sources:
    """Answers for the variables of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._annotations: dict[str, Annotation | None] = {}
        self._filled: dict[str, dict[int, _Filled]] = {}

    def declared(self, binding: Binding) -> Annotation | None:
        """The declared type of a variable."""
        return Annotation(binding.annotation) if binding.annotation is not None else None

    def annotation(self, node: cst.Attribute) -> Annotation | None:
        """The declared type of ``self.x``, by the text of the file: its class may be cut away."""
        if dotted(node.value) not in ("self", "cls"):
            return None
        name = node.attr.value
        if name not in self._annotations:
            self._annotations[name] = self._find_annotation(name)
        return self._annotations[name]

    def _find_annotation(self, name: str) -> Annotation | None:
        text = self._module.source.text
        declared = (
            _DECLARED.match(text, place + len(name))
            for place in mentions(text, name)
            if _BEFORE_FIELD.match(text, text.rfind("\n", 0, place) + 1, place)
        )
        found = {each[1] for each in declared if each is not None}
        node = parsed(found.pop()) if len(found) == 1 else None
        return Annotation(node) if node is not None else None

    def is_keywords(self, name: cst.Name) -> bool:
        """Whether a variable is the ``**kwargs`` of its function."""
        function = self._module.enclosing_function(name)
        star = function.params.star_kwarg if function is not None else None
        return star is not None and star.name.value == name.value

    def unpacked(self, name: cst.Name) -> Iterator[tuple[cst.CSTNode, int]]:
        """The loops that unpack into a variable: (iterable, place)."""
        scope: Scope | None = self._module.bindings.scope_of(name)
        while scope is not None and name.value not in scope.bindings:
            scope = scope.parent
        for each in self._module.tree.occurrences.get(name.value, ()):
            element = self._module.parent(each)
            pair = self._module.parent(element) if element is not None else None
            if not isinstance(element, cst.Element) or not isinstance(pair, cst.Tuple):
                continue
            loop = self._module.parent(pair)
            loops = isinstance(loop, (cst.For, cst.CompFor)) and loop.target is pair
            if loops and self._module.bindings.scope_of(each) is scope:
                yield loop.iter, list(pair.elements).index(element)  # type: ignore[union-attr]

    def fills(self, name: cst.Name) -> list[tuple[str, cst.CSTNode]]:
        """What is put into a collection: ("one" or "many", value)."""
        bindings = self._module.names.visible(name)
        if name.value not in self._filled:
            self._filled[name.value] = self._fills(name.value)
        _, filled = self._filled[name.value].get(id(bindings), (bindings, []))
        if any(self._is_dict(each.node) for each in bindings):
            return [each for _, each in filled]
        return [each for stored, each in filled if not stored]

    def _fills(self, name: str) -> dict[int, _Filled]:
        """What is put into each variable of a name, by the identity of what it is bound to."""
        found: dict[int, _Filled] = {}
        for mention in self._module.tree.occurrences.get(name, ()):
            bindings = self._module.names.visible(mention)
            stored = isinstance(self._module.parent(mention), cst.Subscript)
            added = ((stored, each) for each in self.filled_by(mention))
            found.setdefault(id(bindings), (bindings, []))[1].extend(added)
        return found

    def _is_dict(self, node: cst.CSTNode | None) -> bool:
        kinds = ("builtins.dict", "collections.defaultdict", "collections.OrderedDict")
        return isinstance(node, cst.Dict) or self._module.called(node) in kinds

    def filled_by(self, mention: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode]]:
        """What the mention of a collection puts into it."""
        above = self._module.parent(mention)
        if isinstance(above, cst.AugAssign) and above.target is mention:
            if isinstance(above.operator, (cst.AddAssign, cst.BitOrAssign)):
                yield "many", above.value
        elif isinstance(above, cst.Subscript) and above.value is mention:
            key = above.slice[0].slice
            stored = isinstance(self._module.parent(above), (cst.AssignTarget, cst.AugAssign))
            if stored and isinstance(key, cst.Index):
                yield "one", key.value
        elif isinstance(above, cst.Attribute) and above.value is mention:
            call = self._module.parent(above)
            if isinstance(call, cst.Call) and call.func is above and call.args:
                yield from self._filled_by_call(above.attr.value, call)

    @staticmethod
    def _filled_by_call(method: str, call: cst.Call) -> Iterator[tuple[str, cst.CSTNode]]:
        if method in _ONE:
            yield "one", call.args[1 if method == "insert" and len(call.args) > 1 else 0].value
        elif method in _MANY:
            for each in call.args:
                if each.keyword is None and not each.star:
                    yield "many", each.value

    def instance(self, function: cst.BaseExpression) -> Kind | None:
        """The kind of an object that calling a class of this file makes; None for other calls."""
        owner = self._module.names.definition(function)
        if not isinstance(owner, cst.ClassDef):
            return None
        bases = {self._module.qualified_name(each.value) or "" for each in owner.bases}
        if bases & tables.STABLE_BASES:
            return Kind.STABLE
        known = bases <= tables.OBJECT_BASES and not _OWN_HASH.search(self._module.source.text)
        return Kind.OBJECT if known else Kind.UNKNOWN
