"""What a place in the code does with the memory of an array: reads it, writes it, hands it on.

Works for any library whose functions and methods a ``Vocabulary`` describes.
"""

from __future__ import annotations

import functools
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.module import Module


class Event(Enum):
    """What happens to an array at one place."""

    READ = "read"
    PROPERTY = "property"  # its shape, dtype or device is asked for, not its values
    GONE = "gone"  # written, or handed to code that may write it


class Use(NamedTuple):
    """An event, and the expression that does it."""

    event: Event
    node: cst.CSTNode


def _every(_: str) -> int:
    return 99


class Vocabulary(NamedTuple):
    """What a library's names do.

    reads              whether a function, by qualified name, reads its arguments
    is_module          whether a callable's own name says that it is a neural network
    module_prefix      qualified names of classes whose instances read their arguments
    readers            methods that read their object
    operand_readers    methods that read their arguments
    scaled_by_beta     readers that ignore an array where ``beta=`` is zero
    views              methods and attributes whose result holds the same values
    properties         methods and attributes that don't look at values
    property_functions functions, by qualified name, that don't look at values
    shape_arguments    methods that don't look at the values of their arguments
    inputs             how many of its first arguments a function reads; what follows is written
    """

    reads: Callable[[str], bool]
    is_module: Callable[[str], bool]
    module_prefix: str
    readers: frozenset[str]
    operand_readers: frozenset[str]
    scaled_by_beta: frozenset[str]
    views: frozenset[str]
    properties: frozenset[str]
    property_functions: frozenset[str]
    shape_arguments: frozenset[str]
    inputs: Callable[[str], int] = _every


def words(text: str) -> frozenset[str]:
    """A set of names, written one after the other."""
    return frozenset(text.split())


class Uses:
    """Answers about the uses of arrays in one module."""

    def __init__(self, module: Module, vocabulary: Vocabulary) -> None:
        self._module = module
        self._words = vocabulary
        self._by_parent: dict[str, Callable[[cst.CSTNode, cst.CSTNode], Use]] = {
            "Arg": self._argument,
            "Assert": self._read,
            "AugAssign": self._read,
            "BinaryOperation": self._read,
            "BooleanOperation": self._boolean,
            "Comparison": self._comparison,
            "ComparisonTarget": self._compared,
            "Attribute": self._attribute,
            "Expr": self._property,
            "FormattedStringExpression": self._read,
            "If": self._read,
            "IfExp": self._choice,
            "Index": self._read,
            "Subscript": self._subscript,
            "UnaryOperation": self._read,
            "While": self._read,
        }

    def of(self, node: cst.CSTNode) -> Use:
        """What the code around an expression does with its value."""
        parent = self._module.parent(node)
        if parent is None:
            return Use(Event.GONE, node)
        judge = self._by_parent.get(type(parent).__name__)
        return judge(node, parent) if judge else Use(Event.GONE, node)

    def counts(self, use: Use) -> bool:
        """Whether a read has a consequence: its result is not dropped, nor only its shape used."""
        return use.event is Event.READ and not self._dropped(use.node)

    def root(self, node: cst.CSTNode) -> cst.CSTNode:
        """The expression that a chain of views starts from: ``x`` of ``x.view(-1).to(device)``."""
        while True:
            inner = self._viewed(node)
            if inner is None:
                return node
            node = inner

    def _viewed(self, node: cst.CSTNode) -> cst.CSTNode | None:
        attribute = node.func if isinstance(node, cst.Call) else node
        if isinstance(attribute, cst.Attribute) and attribute.attr.value in self._words.views:
            return attribute.value
        return None

    # By the node above

    @staticmethod
    def _read(_: cst.CSTNode, parent: cst.CSTNode) -> Use:
        return Use(Event.READ, parent)

    @staticmethod
    def _property(_: cst.CSTNode, parent: cst.CSTNode) -> Use:
        return Use(Event.PROPERTY, parent)

    def _attribute(self, _: cst.CSTNode, parent: cst.CSTNode) -> Use:
        name = cst.ensure_type(parent, cst.Attribute).attr.value
        above = self._module.parent(parent)
        call = above if isinstance(above, cst.Call) and above.func is parent else None
        if name in self._words.views:
            moved = call is not None and name == "to" and self._names_meta(call)
            return Use(Event.GONE, parent) if moved else self.of(call or parent)
        if name in self._words.properties:
            return Use(Event.PROPERTY, parent)
        if call is not None and name in self._words.readers and not self._ignores(name, call):
            return Use(Event.READ, call)
        return Use(Event.GONE, parent)

    def _subscript(self, _: cst.CSTNode, parent: cst.CSTNode) -> Use:
        above = self._module.parent(parent)
        if isinstance(above, (cst.AssignTarget, cst.Del, cst.AnnAssign)):
            return Use(Event.GONE, parent)
        return self.of(parent)

    @staticmethod
    def _boolean(node: cst.CSTNode, parent: cst.CSTNode) -> Use:
        operation = cst.ensure_type(parent, cst.BooleanOperation)
        return Use(Event.READ if operation.left is node else Event.GONE, parent)

    @staticmethod
    def _choice(node: cst.CSTNode, parent: cst.CSTNode) -> Use:
        choice = cst.ensure_type(parent, cst.IfExp)
        return Use(Event.READ if choice.test is node else Event.GONE, parent)

    @staticmethod
    def _comparison(_: cst.CSTNode, parent: cst.CSTNode) -> Use:
        first = cst.ensure_type(parent, cst.Comparison).comparisons[0]
        return Use(_compares(first.operator), parent)

    def _compared(self, _: cst.CSTNode, parent: cst.CSTNode) -> Use:
        target = cst.ensure_type(parent, cst.ComparisonTarget)
        return Use(_compares(target.operator), self._module.parent(parent) or parent)

    def _argument(self, _: cst.CSTNode, parent: cst.CSTNode) -> Use:
        argument = cst.ensure_type(parent, cst.Arg)
        call = self._module.parent(parent)
        if not isinstance(call, cst.Call):  # a base class
            return Use(Event.GONE, parent)
        if argument.star or (argument.keyword and argument.keyword.value == "out"):
            return Use(Event.GONE, call)
        place = 0 if argument.keyword else call.args.index(argument)
        if place >= self._words.inputs(self._module.called(call) or ""):
            return Use(Event.GONE, call)  # np.add(x, y, out)
        return Use(self._called(call), call)

    def _called(self, call: cst.Call) -> Event:
        function = self._module.qualified_name(call.func)
        name = last_name(call.func)
        if function is not None and not function.startswith("."):
            if function in self._words.property_functions:
                return Event.PROPERTY
            if self._words.reads(function):
                return Event.GONE if self._ignores(name, call) else Event.READ
        elif isinstance(call.func, cst.Attribute):
            if name in self._words.shape_arguments:
                return Event.PROPERTY
            if name in self._words.operand_readers:
                return Event.READ
        return Event.READ if self._is_module(call.func, name) else Event.GONE

    def _is_module(self, function: cst.CSTNode, name: str) -> bool:
        # An attribute's class would have to be looked up in another method, out of sight here.
        if isinstance(function, cst.Name):
            made_by = self._module.called(self._module.names.value_of(function)) or ""
            if made_by.startswith(self._words.module_prefix):
                return made_by.rpartition(".")[2][0].isupper()
            if self._module.names.definition(function) is not None:
                return False
        return isinstance(function, (cst.Name, cst.Attribute)) and self._words.is_module(name)

    def _ignores(self, name: str, call: cst.Call) -> bool:
        scaled = name in self._words.scaled_by_beta
        return scaled and self._module.argument(call, "beta") is not None

    def _names_meta(self, call: cst.Call) -> bool:
        return any(self._module.literal(each.value) == "meta" for each in call.args)

    # What becomes of the result of a read

    def _dropped(self, node: cst.CSTNode) -> bool:
        if self._module.called(node) == "builtins.print":  # its result is nothing, its output all
            return False
        parent = self._module.parent(node)
        while parent is not None:
            if isinstance(parent, cst.Attribute) and parent.attr.value in self._words.properties:
                return True
            if isinstance(parent, cst.Call) and parent.func is not node:
                return False
            if not isinstance(parent, _passing_on()):
                break
            node, parent = parent, self._module.parent(parent)
        if isinstance(parent, cst.Arg):
            call = self._module.parent(parent)
            return isinstance(call, cst.Call) and self._called(call) is Event.PROPERTY
        if isinstance(parent, cst.Assign):
            return self._only_shapes(parent)
        return isinstance(parent, cst.Expr)

    def _only_shapes(self, assignment: cst.Assign) -> bool:
        """Whether nothing looks at the values of the names that a statement binds."""
        target = assignment.targets[0].target
        items = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
        names = [each.value for each in items] or [target]
        wanted = {each.value for each in names if isinstance(each, cst.Name)}
        if len(assignment.targets) > 1 or not all(isinstance(each, cst.Name) for each in names):
            return False
        function = self._module.enclosing_function(assignment)
        if function is None:  # functions that are out of sight may use what a module binds
            return wanted == {"_"}
        return all(
            self.of(use).event is Event.PROPERTY
            for use in loads(self._module, function)
            if use.value in wanted and not is_target(self._module, use)
        )


def loads(module: Module, node: cst.CSTNode) -> Iterator[cst.Name]:
    """The names below a node that stand for variables, in source order."""
    for each in module.tree.descendants(node):
        if isinstance(each, cst.Name) and not _is_label(module, each):
            yield each


def is_target(module: Module, name: cst.Name) -> bool:
    """Whether a statement binds the name here."""
    node: cst.CSTNode = name
    parent = module.parent(node)
    while isinstance(parent, (cst.Tuple, cst.List, cst.Element, cst.StarredElement)):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, (cst.For, cst.CompFor, cst.AnnAssign)):
        return parent.target is node
    return isinstance(parent, (cst.AssignTarget, cst.AsName))


def _is_label(module: Module, name: cst.Name) -> bool:
    """Whether the name names an attribute, a keyword or a parameter."""
    parent = module.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.attr is name
    if isinstance(parent, cst.Arg):
        return parent.keyword is name
    if isinstance(parent, cst.Param):
        return parent.name is name
    return False


@functools.cache
def _passing_on() -> tuple[type[cst.CSTNode], ...]:
    """The nodes whose value depends on that of the node below only."""
    return (cst.Attribute, cst.Call, cst.Subscript, cst.BinaryOperation, cst.UnaryOperation)


def _compares(operator: cst.BaseCompOp) -> Event:
    if isinstance(operator, (cst.Is, cst.IsNot)):
        return Event.PROPERTY
    return Event.GONE if isinstance(operator, (cst.In, cst.NotIn)) else Event.READ


def last_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
