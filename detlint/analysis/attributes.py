"""Attributes and globals that the code of a file only looks things up in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.argument import Argument
from detlint.analysis.conditions import Conditions
from detlint.analysis.reads import Reads
from detlint.layout import layout_of
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.module import Module

_LOOKING = ("builtins.bool", "builtins.frozenset", "builtins.len", "builtins.set")

# Where an attribute is given its value, or grows.
_STORED = r"[ \t]*(?:(?::[^=\n]+)?=(?!=)|\+=|\.(?:append|extend|sort)\()"
_GIVES = re.compile(
    r"^[ \t]+(?:async[ \t]+)?def[ \t]+__(?:getitem|iter|next|call)__\(", re.MULTILINE
)
_ASKS_ALL = re.compile(r"\b(?:getattr|vars)\([ \t]*self\b|\bself\.__dict__|\b__getattr")


class Attributes:
    """Answers for the attributes of one file, by every mention in its text."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[str, bool] = {}

    def only_looked_up(self, target: cst.CSTNode) -> bool:
        """Whether every read of an attribute, and there is one, asks ``in``, ``len`` or truth.

        Other methods may have been cut from the region, so what names it is parsed anew.
        """
        if not isinstance(target, cst.Attribute) or dotted(target.value) not in ("self", "cls"):
            return False  # an object of other code is read by that
        name = target.attr.value
        if name not in self._known:
            self._known[name] = self._is_looked_up(name)
        return self._known[name]

    def is_never_read(self, target: cst.CSTNode) -> bool:
        """Whether a class that gives its items itself keeps an attribute that its file never reads.

        The text tells, because other methods may have been cut from the region.
        """
        if not isinstance(target, cst.Attribute) or dotted(target.value) != "self":
            return False
        owner, text = self._module.enclosing_class(target), self._module.source.text
        name = re.escape(target.attr.value)
        if owner is None or re.search(rf"\.\s*{name}\b(?!{_STORED})|[\"']{name}[\"']", text):
            return False
        start = self._module.tree.span(owner)[0]
        if start and text[start - 1] != "\n":
            return False
        block = next(layout_of(text).blocks(start, len(text), ""), None)
        if block is None or _ASKS_ALL.search(text, block.start, block.end):
            return False
        return _GIVES.search(text, block.start, block.end) is not None

    def global_only_looked_up(self, name: str) -> bool:
        """The same for a variable that functions of the file may read."""
        key = f" {name}"
        if key not in self._known:
            self._known[key] = self._is_looked_up(name, attribute=False)
        return self._known[key]

    def _is_looked_up(self, name: str, *, attribute: bool = True) -> bool:
        text = self._module.source.text
        if attribute and re.search(rf"attr\([^,()]+,\s*[\"']{name}[\"']", text):
            return False
        before = r"\.\s*" if attribute else r"\b"
        places = [match.start(1) for match in re.finditer(rf"{before}({name})\b", text)]
        module = self._module.around(places)
        if module is None:
            return False
        mentions = Mentions(module, name, attribute=attribute)
        return mentions.look_up and not mentions.show_order


class Mentions:
    """What a module does with every attribute, or every variable, of one name.

    look_up     whether any asks for membership, length or truth
    show_order  whether any does more than that, or than to fill or reduce it
    """

    def __init__(self, module: Module, name: str, *, attribute: bool) -> None:
        self._module = module
        self._conditions = Conditions(module, Reads(module))
        mentions = module.tree.occurrences.get(name, ())
        found = list(filter(None, map(self._attribute if attribute else self._variable, mentions)))
        looking = [each for each in found if self._looks_up(each)]
        self.look_up = bool(looking)
        self.show_order = not all(each in looking or self._is_quiet(each) for each in found)

    def _attribute(self, name: cst.Name) -> cst.BaseExpression | None:
        above = self._module.parent(name)
        return above if isinstance(above, cst.Attribute) and above.attr is name else None

    def _variable(self, name: cst.Name) -> cst.BaseExpression | None:
        above = self._module.parent(name)
        part = isinstance(above, cst.Attribute) and above.attr is name
        label = isinstance(above, cst.Arg) and above.keyword is name
        return None if part or label else name

    def _looks_up(self, attribute: cst.BaseExpression) -> bool:
        parent = self._module.parent(attribute)
        if isinstance(parent, cst.ComparisonTarget):
            return isinstance(parent.operator, (cst.In, cst.NotIn))
        if isinstance(parent, cst.Arg):
            return self._module.called(self._module.parent(parent)) in _LOOKING
        return not isinstance(parent, cst.Expr) and self._conditions.only_tested(attribute)

    def _is_quiet(self, attribute: cst.BaseExpression) -> bool:
        """Whether a mention assigns, fills, sorts or reduces the attribute, or logs it."""
        parent = self._module.parent(attribute)
        if isinstance(parent, (cst.AnnAssign, cst.AssignTarget, cst.AugAssign)):
            return parent.target is attribute
        if isinstance(parent, cst.Attribute):
            return parent.attr.value in reductions.UNORDERED_READS
        if self._conditions.is_diagnostic(attribute):
            return True
        call = self._module.parent(parent) if parent is not None else None
        if not isinstance(parent, cst.Arg) or not isinstance(call, cst.Call):
            return False
        return Argument(self._module, parent, call).ignores_order()
