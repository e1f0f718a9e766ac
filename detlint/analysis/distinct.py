"""Where the order of distinct elements reaches a result: those of a set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.argument import Argument
from detlint.analysis.attributes import Attributes
from detlint.analysis.call_names import takes_order
from detlint.analysis.conditions import call_word
from detlint.analysis.consumption import Consumption
from detlint.analysis.distinct_bodies import DistinctBody
from detlint.analysis.messages import Messages
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.conditions import Conditions
    from detlint.analysis.loop_body import LoopBody
    from detlint.analysis.order import Flow, Use
    from detlint.module import Module
    from detlint.scope import Scope

# What is listed under such a name goes into a message: `missing_keys`, `self.unexpected`.
_FAULTS = re.compile(
    r"(?:^|_)(?:conflicting|illegal|incompatible|invalid|mismatch(?:ed|ing)?|missing|undefined"
    r"|unexpected|unrecognized|unsupported|unused)(?:_|$)"
)
# And what is listed under these, names that are looked up among: `stop_words`, `target_modules`.
_LOOKED_UP = re.compile(
    r"(?:^|_)(?:allow(?:ed|list)?|banned|blacklist|blocked|denylist|exclude[ds]?|forbidden|ignored?"
    r"|leaf|skip(?:ped)?|supported|whitelist)(?:_|$)"
    r"|(?:^|_)(?:extensions|suffixes|modules?(?:_(?:names?|classes|types))?)$",
    re.IGNORECASE,
)
_STOPS = re.compile(r"(?:^|_)stop(?:ping|words?)?(?:_|$)")
_HANDED_ON = (
    *("assigned", "collected", "cut", "indexed", "joined", "passed", "returned", "sliced"),
    *("stored", "unpacked"),
)

# Copies of dicts.
_FULL = ("copy", "deepcopy", "state_dict")


class Distinct(Consumption):
    """The uses of the order of distinct elements, in one module.

    A function that cannot be seen uses the order only if its name says so: most look things up.
    """

    def __init__(
        self, module: Module, conditions: type[Conditions] = Messages, depth: int = 0
    ) -> None:
        super().__init__(module, conditions, depth)
        self._globals = Attributes(module)

    def body(self, loop: cst.For, positions: frozenset[str]) -> LoopBody:
        return DistinctBody.of(self, loop, positions)

    def of_other(self, module: Module) -> Consumption:
        return Distinct(module, type(self.conditions), self._depth + 1)

    def follow(self, flow: Flow) -> Iterator[Use]:
        if isinstance(self.module.parent(flow.node), cst.FormattedStringExpression):
            made = self.module.names.value_of(flow.node)
            if not isinstance(made, cst.Call) or call_word(made) != "join":
                return  # a list as Python shows it is for people to read
        for use in super().follow(flow):
            if self._matters(use, flow):
                yield use

    def follow_name(
        self,
        name: cst.Name,
        statement: cst.CSTNode,
        *,
        keyed: bool = False,
        filled: bool = False,
    ) -> Iterator[Use]:
        if filled and keyed and not self._grows(name):
            return  # what is there already keeps its place
        if _STOPS.search(name.value):
            return
        quiet = _says_little(name.value)
        for use in super().follow_name(name, statement, keyed=keyed, filled=filled):
            if not (quiet and use.how.startswith(_HANDED_ON)):
                yield use

    def _grows(self, name: cst.Name) -> bool:
        """Whether a dict starts empty, or nobody knows."""
        made = self.module.names.value_of(name)
        if isinstance(made, cst.Dict):
            return not made.elements
        if name.value == "self":
            return False
        return not isinstance(made, cst.Call) or call_word(made) not in _FULL

    def holds_one(self, flow: Flow) -> bool:
        """Also what two sets have in common: whoever takes one of that expects no more."""
        if super().holds_one(flow):
            return True
        root = self._root
        if flow.filled or root is None:
            return False
        return _is_common(self.module.names.value_of(root)) or self._is_counted(root)

    def _is_counted(self, node: cst.CSTNode) -> bool:
        """``if x and len(self.names) == 1: return next(iter(self.names))``."""
        below = node
        for each in self.module.ancestors(node):
            if isinstance(each, (cst.If, cst.IfExp)) and each.body is below:
                tests = self.module.tree.descendants(each.test)
                if any(_compares_length(test, node) for test in tests):
                    return True
            below = each
        return False

    def _matters(self, use: Use, flow: Flow) -> bool:
        """Whether a use shows the order to more than a reader of messages."""
        if use.how.startswith("passed to ") and isinstance(use.node, cst.Call):
            return flow.filled or self._takes_order(use.node, flow)
        return not any(map(_says_little, self._labels(use)))

    def _labels(self, use: Use) -> Iterator[str]:
        """The names under which a use keeps what it is given."""
        node = use.node
        if use.how.startswith("assigned to "):
            yield use.how.rpartition(" ")[2].rpartition(".")[2].removesuffix("[…]")
            for target in getattr(node, "targets", ()):
                if isinstance(target.target, cst.Subscript):
                    yield self._text(getattr(target.target.slice[0].slice, "value", None))
        elif use.how == "stored" and isinstance(node, cst.DictElement):
            yield self._text(node.key)
        elif use.how == "returned":
            function = self.module.enclosing_function(node)
            yield function.name.value if isinstance(function, cst.FunctionDef) else ""

    def _text(self, key: cst.BaseExpression | None) -> str:
        literal = self.module.literal(key) if key is not None else None
        return literal if isinstance(literal, str) else ""

    def _takes_order(self, call: cst.Call, flow: Flow) -> bool:
        """``train_on(x)``, ``f(*x)``, or a function of the file that goes through what it gets."""
        argument = self.module.parent(flow.node)
        if not isinstance(argument, cst.Arg) or self.module.parent(argument) is not call:
            return True  # the use of an expression in this one
        word = call_word(call)
        if reductions.REMOVING.search(word) or word == "select":
            return False
        if self.module.literal(self.module.argument(call, "sort_keys")) is True:
            return False
        if argument.star or takes_order(word):
            return True
        if Argument(self.module, argument, call).chooses():
            return True
        seen = self.definitions.of(call.func) is not None
        return seen and not self.functions.ignore_order(call, argument.value, keyed=flow.keyed)

    def _outlives(
        self, name: cst.Name, scope: Scope | None, reads: list[cst.Name], *, filled: bool
    ) -> bool:
        seen = super()._outlives(name, scope, reads, filled=filled)
        if seen and scope is not None and isinstance(scope.node, cst.Module):
            return not self._globals.global_only_looked_up(name.value)
        return seen


def _says_little(name: str) -> bool:
    return bool(_FAULTS.search(name) or _LOOKED_UP.search(name) or _STOPS.search(name))


def _compares_length(test: cst.CSTNode, node: cst.CSTNode) -> bool:
    """``len(node) == 1``."""
    if not isinstance(test, cst.Comparison) or not isinstance(test.left, cst.Call):
        return False
    first = test.comparisons[0]
    one = isinstance(first.comparator, cst.Integer) and first.comparator.value == "1"
    given = [each.value for each in test.left.args]
    counts = call_word(test.left) == "len" and len(given) == 1 and given[0].deep_equals(node)
    return counts and one and isinstance(first.operator, cst.Equal)


def _is_common(node: cst.CSTNode | None) -> bool:
    """``a & b``, ``a.intersection(b)``."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.BitAnd)
    return isinstance(node, cst.Call) and call_word(node) == "intersection"
