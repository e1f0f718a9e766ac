"""Sets that the functions of a file share: attributes of ``self`` or a class, and globals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.element_sources import Sources
from detlint.analysis.kinds import Annotation, Kind, merge
from detlint.analysis.reads import Reads
from detlint.analysis.set_trail import Trail
from detlint.analysis.sets import Sets
from detlint.analysis.text_places import fields
from detlint.mentions import mentions
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# What stands before a mention of a set that is gone through, and before its attribute.
_FAR = 200
_BEFORE = r"(?:\bin\s+|[(*]\s*|\bfrom\s+|[-|&^+]\s*|=\s*)\(*"
_TAKEN = re.compile(rf"{_BEFORE}$")
_TAKEN_OF = re.compile(rf"{_BEFORE}[\w.]*\.$")


class Shared(NamedTuple):
    """A set that functions share.

    module    what holds all code that mentions it
    mentions  where that reads or fills it
    kind      of its elements
    """

    module: Module
    mentions: list[cst.CSTNode]
    kind: Kind | None


class SharedSets:
    """Finds them by the assignments of one module, and reads the rest of the file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._told: set[tuple[str, str]] = set()

    def made_by(self, target: cst.CSTNode) -> Shared | None:
        """The set that an assignment to a target makes, the first time that it is asked for."""
        found = self._named(target)
        if found is None or found in self._told:
            return None
        self._told.add(found)
        owner, name = found
        text = self._module.source.text
        if not _is_gone_through(text, name, attribute=bool(owner)):
            return None
        if not Trail(text).follow(name, None, own=bool(owner)):
            return None
        dot = r"\.\s*" if owner else ""
        places = [match.start(1) for match in re.finditer(rf"{dot}\b({name})\b", text)]
        if owner:  # `x = {…}` in the class itself
            places += fields(text, name)
        module = self._module.around(sorted(set(places)))
        return _Reader(module, owner, name).read() if module is not None else None

    def _named(self, target: cst.CSTNode) -> tuple[str, str] | None:
        """The class, if any, and the name of what an assignment binds for other functions."""
        owner = self._module.enclosing_class(target)
        if isinstance(target, cst.Attribute):
            own = owner is not None and dotted(target.value) in ("self", "cls")
            return (owner.name.value, target.attr.value) if own and owner is not None else None
        if not isinstance(target, cst.Name) or self._module.enclosing_function(target) is not None:
            return None
        return (owner.name.value if owner is not None else "", target.value)


class _Reader:
    """The mentions of one shared name in a module that holds them all."""

    def __init__(self, module: Module, owner: str, name: str) -> None:
        self._module = module
        self._owner = owner
        self._name = name
        self._sources = Sources(module)
        self._sets = Sets(module, Reads(module))

    def read(self) -> Shared | None:
        mentions = list(self._mentions())
        kinds: list[Kind | None] = []
        reads: list[cst.CSTNode] = []
        for each in mentions:
            statement = self._assignment(each)
            if statement is None:
                reads.append(each)
                continue
            value = getattr(statement, "value", None)
            declared = getattr(statement, "annotation", None)
            if declared is not None and Annotation(declared.annotation).is_set():
                kinds.append(Annotation(declared.annotation).elements())
            elif value is None or (isinstance(value, cst.Name) and value.value == "None"):
                continue
            elif not self._sets.is_set(value):
                return None
            else:
                kinds.append(self._sets.kinds.elements(value))
        kinds += [kind for each in reads for kind in self._fills(each)]
        return Shared(self._module, reads, merge(kinds))

    def _fills(self, mention: cst.CSTNode) -> Iterator[Kind | None]:
        for how, value in self._sources.filled_by(mention):
            kinds = self._sets.kinds
            yield kinds.value(value) if how == "one" else kinds.elements(value)

    def _mentions(self) -> Iterator[cst.CSTNode]:
        for name in self._module.tree.occurrences.get(self._name, ()):
            parent = self._module.parent(name)
            if isinstance(parent, cst.Attribute) and parent.attr is name:
                if self._owner and self._is_own(parent):
                    yield parent
            elif self._is_variable(name):
                yield name

    def _is_own(self, attribute: cst.Attribute) -> bool:
        holder = dotted(attribute.value)
        if holder in ("self", "cls"):
            owner = self._module.enclosing_class(attribute)
            return owner is not None and owner.name.value == self._owner
        return holder == self._owner

    def _is_variable(self, name: cst.Name) -> bool:
        scope = self._sets.reads.home(name)
        if scope is None or self._sets.reads.is_label(name):
            return False
        if self._owner:
            return isinstance(scope.node, cst.ClassDef) and scope.node.name.value == self._owner
        return isinstance(scope.node, cst.Module)

    def _assignment(self, mention: cst.CSTNode) -> cst.CSTNode | None:
        """The statement that assigns to a mention; a loop or ``del`` gives no value."""
        parent = self._module.parent(mention)
        if isinstance(parent, cst.AssignTarget):
            return self._module.parent(parent)
        if isinstance(parent, (cst.AnnAssign, cst.NamedExpr)) and parent.target is mention:
            return parent
        unpacked = isinstance(parent, (cst.Element, cst.For, cst.CompFor))
        return parent if unpacked and getattr(parent, "target", None) is mention else None


def _is_gone_through(text: str, name: str, *, attribute: bool) -> bool:
    """Whether the text of a file may go through a set of this name."""
    if f"{name}.pop(" in text:
        return True
    taken = _TAKEN_OF if attribute else _TAKEN
    return any(taken.search(text, max(place - _FAR, 0), place) for place in mentions(text, name))
