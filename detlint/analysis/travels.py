"""Where a sampler, and the loader that is given it, go in one file.

Follows both through names, attributes, calls of the file's own functions and what these
return, to the loops over the loader. What gets out of sight is noted, not guessed at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.handlers import handler
from detlint.analysis.own_calls import OwnCalls, parameter_of
from detlint.models.loading import hands_on
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.reads import Reads
    from detlint.module import Module

# They hand on what they get, or its elements.
_CARRYING = frozenset(f"builtins.{name}" for name in ("enumerate", "iter", "zip", "reversed"))
_BARS = ("tqdm", "trange", "track", "progress_bar")
_LOOKING = re.compile(
    r"builtins\.(?:bool|hasattr|isinstance|len|list|next|print|repr|str|type)|logging\.\w+"
)
_WRAPPING = re.compile(r"torch\.utils\.data(?:\.sampler)?\.BatchSampler")
_SAMPLERS = ("sampler", "batch_sampler")


class Travels:
    """Where one value goes.

    escapes  whether code that is out of sight gets it
    loops    the loops over a loader that has it, and ``batches = iter(loader)``
    own      the calls of the file's own functions
    names    the variables, attributes and parameters that hold it on its way
    """

    def __init__(self, module: Module, reads: Reads, start: cst.CSTNode) -> None:
        self._module = module
        self._reads = reads
        self.own = OwnCalls(module)
        self.escapes = False
        self.loops: list[cst.CSTNode] = []
        self.names: set[str] = set()
        self._pending: list[cst.CSTNode] = [start]
        self._seen: set[cst.CSTNode] = set()
        while self._pending and not self.escapes:
            node = self._pending.pop()
            if node not in self._seen:
                self._seen.add(node)
                self._step(node)

    def _step(self, node: cst.CSTNode) -> None:
        parent = self._module.parent(node)
        found = handler(self, "in_", parent)
        if found is not None:
            found(parent, node)
        elif not isinstance(parent, _harmless()):
            self.escapes = True

    # By the node above

    def in_assign(self, statement: cst.Assign, _: cst.CSTNode) -> None:
        """``loader = x``."""
        for each in statement.targets:
            self._assigned(each.target)

    def in_ann_assign(self, statement: cst.AnnAssign, _: cst.CSTNode) -> None:
        """``loader: DataLoader = x``."""
        self._assigned(statement.target)

    def in_if_exp(self, choice: cst.IfExp, node: cst.CSTNode) -> None:
        """``x if distributed else None``."""
        if choice.test is not node:
            self._pending.append(choice)

    def in_boolean_operation(self, operation: cst.CSTNode, _: cst.CSTNode) -> None:
        """``sampler or x``."""
        self._pending.append(operation)

    def in_for(self, loop: cst.For, _: cst.CSTNode) -> None:
        """``for batch in x:``."""
        self.loops.append(loop)

    def in_attribute(self, attribute: cst.Attribute, _: cst.CSTNode) -> None:
        """``x.sampler``."""
        if attribute.attr.value in _SAMPLERS:
            self._pending.append(attribute)

    def in_return(self, statement: cst.Return, _: cst.CSTNode) -> None:
        """``return x``."""
        self._returned(statement, None)

    def in_element(self, element: cst.Element, _: cst.CSTNode) -> None:
        """``return x, y``, ``a, b = x, y``."""
        outer = self._module.parent(element)
        above = self._module.parent(outer) if outer is not None else None
        if not isinstance(outer, (cst.Tuple, cst.List)):
            self.escapes = True
            return
        place = list(outer.elements).index(element), len(outer.elements)
        if isinstance(above, cst.Return):
            self._returned(above, place)
        elif isinstance(above, cst.Assign):
            for each in above.targets:
                self._unpacked(each.target, place)
        else:
            self.escapes = True

    # Names and attributes

    def _assigned(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.names.add(target.value)
            self._pending += self._reads.loads(target)
        elif isinstance(target, cst.Attribute):
            self.names.add(target.attr.value)
            for name in self._module.tree.occurrences.get(target.attr.value, ()):
                use = self._module.parent(name)
                if isinstance(use, cst.Attribute) and use.attr is name and not self._stored(use):
                    self._pending.append(use)
        else:
            self.escapes = True

    def _stored(self, attribute: cst.Attribute) -> bool:
        parent = self._module.parent(attribute)
        annotated = isinstance(parent, cst.AnnAssign) and parent.target is attribute
        return annotated or isinstance(parent, (cst.AssignTarget, cst.Del))

    def _unpacked(self, target: cst.CSTNode, place: tuple[int, int]) -> None:
        elements = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
        if len(elements) == place[1]:
            self._assigned(elements[place[0]].value)
        else:
            self.escapes = True

    # Calls

    def in_arg(self, argument: cst.Arg, _: cst.CSTNode) -> None:
        """``DataLoader(dataset, sampler=x)``, ``train(model, x)``."""
        call = self._module.parent(argument)
        if not isinstance(call, cst.Call) or argument.star:
            self.escapes = True
            return
        keyword = argument.keyword.value if argument.keyword is not None else ""
        place = list(call.args).index(argument)
        name = self._module.called(call)
        if hands_on(name):
            if keyword in _SAMPLERS or (not keyword and place in (3, 4)):
                self._pending.append(call)
        elif self._carries(call):
            if name == "builtins.iter" and isinstance(self._module.parent(call), cst.Assign):
                self.loops.append(call)
            self._pending.append(call)
        elif not (name and _LOOKING.fullmatch(name)):
            self._given_to_own(call, keyword, place)

    def _carries(self, call: cst.Call) -> bool:
        name = self._module.called(call) or ""
        bar = call_word(call).lower() in _BARS
        return bar or name in _CARRYING or _WRAPPING.fullmatch(name) is not None

    def _given_to_own(self, call: cst.Call, keyword: str, place: int) -> None:
        """A function, method or class of this file."""
        function = self.own.called(call)
        parameter = parameter_of(function, keyword, place) if function is not None else None
        if function is None or parameter is None:
            self.escapes = True
            return
        self.names.add(parameter)
        below = self._module.tree.descendants(function.body)
        uses = (each for each in below if isinstance(each, cst.Name))
        first = next((each for each in uses if each.value == parameter), None)
        if first is not None:
            self._pending += self._reads.loads(first)

    def _returned(self, statement: cst.Return, place: tuple[int, int] | None) -> None:
        function = self._module.enclosing_function(statement)
        calls = list(self.own.calls_of(function)) if isinstance(function, cst.FunctionDef) else []
        self.escapes = self.escapes or not calls
        for call in calls:
            parent = self._module.parent(call)
            if place is None:
                self._pending.append(call)
            elif isinstance(parent, cst.Assign):
                for each in parent.targets:
                    self._unpacked(each.target, place)
            else:
                self.escapes = True


def _harmless() -> tuple[type[cst.CSTNode], ...]:
    """Nodes that only look at a value."""
    return (
        cst.Assert,
        cst.Comparison,
        cst.ComparisonTarget,
        cst.Del,
        cst.Expr,
        cst.FormattedStringExpression,
        cst.If,
        cst.UnaryOperation,
        cst.While,
    )
