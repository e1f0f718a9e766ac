"""The parameters of a ``torch.nn.Module`` class, and what its code does with each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst
from detlint.tensors import TORCH
from detlint.uses import Event, Uses, loads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_MODULE = frozenset(
    f"torch.nn.{name}" for name in ("Module", "modules.Module", "modules.module.Module")
)
_HARMLESS_BASES = frozenset(("abc.ABC", "typing.Generic", "typing.Protocol", "builtins.object"))
_PARAMETER = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))
_BUFFER = frozenset(("torch.nn.Buffer", "torch.nn.parameter.Buffer"))
# They hand out every parameter at once.
_EVERY = frozenset(
    """
    parameters named_parameters buffers named_buffers modules named_modules children
    named_children state_dict load_state_dict apply _apply _parameters _buffers __dict__
    get_parameter get_buffer
    """.split()
)
_HARMLESS = frozenset(f"builtins.{name}" for name in "isinstance id len repr str super type".split())
# A function of one of these names may fill what it gets; another one in forward() computes.
_FILLS = re.compile(
    r"init|fill|reset|normal|uniform|xavier|kaiming|glorot|zero|ones|const|ortho|copy|load|set"
    r"|update|ema|observe|quant|_$",
    re.IGNORECASE,
)


class Declared(NamedTuple):
    """A parameter as the class makes it: its name, and the call that makes its first value."""

    name: str
    value: cst.BaseExpression
    statement: cst.CSTNode


def family(module: Module, owner: cst.ClassDef) -> list[cst.ClassDef]:
    """A class and its bases up to ``torch.nn.Module``; empty if one of them is out of sight."""
    found: list[cst.ClassDef] = []
    pending, is_module = [owner], False
    while pending:
        current = pending.pop()
        if current in found:
            continue
        found.append(current)
        if current.keywords:
            return []
        for base in current.bases:
            node = base.value.value if isinstance(base.value, cst.Subscript) else base.value
            name = module.qualified_name(node)
            definition = module.names.definition(node)
            if isinstance(definition, cst.ClassDef):
                pending.append(definition)
            elif name in _MODULE:
                is_module = True
            elif name not in _HARMLESS_BASES:
                return []
    return found if is_module else []


def declared(module: Module, owner: cst.ClassDef) -> Iterator[Declared]:
    """The parameters, and the buffers that no checkpoint holds, that a class makes for itself."""
    for node in module.tree.descendants(owner.body):
        if isinstance(node, (cst.Assign, cst.AnnAssign)):
            name, value = attribute_of_self(_target(node)), _content(module, node.value)
            if name and value is not None:
                yield Declared(name, value, node)
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            yield from _registered(module, node, node.func)


def _registered(module: Module, call: cst.Call, method: cst.Attribute) -> Iterator[Declared]:
    name = module.literal(module.argument(call, "name", 0))
    if not isinstance(name, str) or not _is_self(method.value):
        return
    value: cst.BaseExpression | None = None
    if method.attr.value == "register_parameter":
        value = _content(module, module.argument(call, "param", 1))
    elif method.attr.value == "register_buffer" and _is_transient(module, call):
        value = module.argument(call, "tensor", 1)
    if value is not None:
        yield Declared(name, value, call)


def _content(module: Module, value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The tensor that ``Parameter(…)`` wraps. A frozen one is there to be loaded."""
    if not isinstance(value, cst.Call):
        return None
    kind = module.called(value)
    if kind in _PARAMETER:
        if module.literal(module.argument(value, "requires_grad", 1)) is not False:
            return module.argument(value, "data", 0)
    elif kind in _BUFFER and _is_transient(module, value):
        return module.argument(value, "data", 0)
    return None


def _is_transient(module: Module, call: cst.Call) -> bool:
    return module.literal(module.argument(call, "persistent", 2)) is False


def _target(statement: cst.Assign | cst.AnnAssign) -> cst.CSTNode | None:
    if isinstance(statement, cst.AnnAssign):
        return statement.target
    return statement.targets[0].target if len(statement.targets) == 1 else None


def attribute_of_self(node: cst.CSTNode | None) -> str:
    """``weight`` for ``self.weight``."""
    return node.attr.value if isinstance(node, cst.Attribute) and _is_self(node.value) else ""


def _is_self(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"


class Fillers:
    """What the code of a class and its bases may fill."""

    def __init__(self, module: Module, classes: list[cst.ClassDef]) -> None:
        self._module = module
        self._uses = Uses(module, TORCH)
        self._nodes = [node for each in classes for node in module.tree.descendants(each.body)]

    def reach_every_parameter(self) -> bool:
        """Whether the module, or all its parameters at once, is handed to unknown code."""
        return any(self._hands_out(node) for node in self._nodes)

    def _hands_out(self, node: cst.CSTNode) -> bool:
        parent = self._module.parent(node)
        if isinstance(node, cst.Attribute):
            return node.attr.value in _EVERY and not self._is_looked_at(node)
        if not isinstance(node, cst.Name) or node.value != "self":
            return False
        if isinstance(parent, cst.Arg):
            call = self._module.parent(parent)
            return self._module.called(call) not in _HARMLESS
        return isinstance(parent, (cst.Assign, cst.Element, cst.DictElement))

    def _is_looked_at(self, node: cst.Attribute) -> bool:
        """``next(self.parameters())`` asks for a device; ``Function.apply`` is another apply."""
        call = self._module.parent(node)
        argument = self._module.parent(call) if isinstance(call, cst.Call) else None
        around = self._module.parent(argument) if isinstance(argument, cst.Arg) else None
        if node.attr.value == "apply":
            owner = node.value.attr if isinstance(node.value, cst.Attribute) else node.value
            return isinstance(owner, cst.Name) and owner.value.lstrip("_")[:1].isupper()
        return self._module.called(around) == "builtins.next" if around is not None else False

    def fill(self, parameter: Declared) -> bool:
        """Whether any code may fill one parameter."""
        return any(
            self._fills(node, parameter)
            for node in self._nodes
            if self._mentions(node, parameter.name) and self._runs(node)
        )

    def read(self, parameter: Declared) -> bool:
        """Whether any code looks at a parameter's values."""
        return any(
            self._uses.counts(self._uses.of(node))
            for node in self._nodes
            if isinstance(node, cst.Attribute) and attribute_of_self(node) == parameter.name
        )

    def _mentions(self, node: cst.CSTNode, name: str) -> bool:
        if isinstance(node, cst.Attribute):
            return node.attr.value == name
        return isinstance(node, cst.SimpleString) and node.evaluated_value == name

    def _fills(self, node: cst.CSTNode, parameter: Declared) -> bool:
        parent = self._module.parent(node)
        if isinstance(node, cst.SimpleString):
            return self._module.parent(parent or node) is not parameter.statement
        if isinstance(parent, cst.AssignTarget):
            statement = self._module.parent(parent)
            return statement is not parameter.statement and not self._is_other_branch(
                node, parameter.statement
            )
        if parent is parameter.statement:  # an annotated assignment
            return False
        use = self._uses.of(node)
        if use.event is not Event.GONE:
            return False
        return not (self._is_computed_with(use.node) or self._is_alias(use.node, parent))

    def _is_computed_with(self, node: cst.CSTNode) -> bool:
        """Whether forward() only passes the parameter on to a function, or into a list for one."""
        function = self._module.enclosing_function(node)
        if not isinstance(function, cst.FunctionDef) or function.name.value != "forward":
            return False
        while not isinstance(node, cst.Call):
            parent = self._module.parent(node)
            if not isinstance(parent, (cst.Element, cst.List, cst.Tuple, cst.Arg, cst.Call)):
                return False
            node = parent
        return not _FILLS.search(_last_name(node.func))

    def _is_alias(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
        """Whether a local stands for the parameter, and is only read."""
        statement = self._module.parent(node)
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0].target
        function = self._module.enclosing_function(node)
        if not isinstance(target, cst.Name) or function is None or statement.value is not node:
            return False
        del parent
        return all(
            self._uses.of(name).event is not Event.GONE or self._is_computed_with(self._uses.of(name).node)
            for name in loads(self._module, function)
            if name.value == target.value and name is not target
        )

    def _is_other_branch(self, node: cst.CSTNode, other: cst.CSTNode) -> bool:
        """Whether two statements stand on different sides of an ``if``."""
        above = [other, *self._module.ancestors(other)]
        below: cst.CSTNode = node
        for each in self._module.ancestors(node):
            if isinstance(each, cst.If) and each in above:
                side = above[above.index(each) - 1]
                return side is not below
            below = each
        return False

    def _runs(self, node: cst.CSTNode) -> bool:
        """Whether the method around a node may be called: a private one that nobody names isn't."""
        function = self._module.enclosing_function(node)
        if not isinstance(function, cst.FunctionDef):
            return True
        name = function.name.value
        if not name.startswith("_") or name.startswith("__"):
            return True
        mentions = len(re.findall(rf"\b{name}\b", self._module.source.text))
        definitions = len(re.findall(rf"\bdef[ \t]+{name}\b", self._module.source.text))
        return mentions > definitions


def _last_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""
