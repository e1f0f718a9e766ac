"""What the code of a ``torch.nn.Module`` class may fill of its own parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.parameters import attribute_of_self, is_self
from detlint.analysis.tensors import TORCH
from detlint.analysis.uses import Event, Uses, last_name, loads, words
from detlint.mentions import heads, mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.parameters import Declared
    from detlint.module import Module

# They hand out every parameter at once.
_EVERY = words(
    """
    parameters named_parameters buffers named_buffers modules named_modules children
    named_children state_dict load_state_dict apply _apply _parameters _buffers __dict__
    get_parameter get_buffer
    """
)
_HARMLESS = words(
    "builtins.isinstance builtins.id builtins.len builtins.repr builtins.str builtins.super"
    " builtins.type"
)
# A function of one of these names may fill what it gets; another one in forward() computes.
_FILLS = re.compile(
    r"init|fill|reset|normal|uniform|xavier|kaiming|glorot|zero|ones|const|ortho|copy|load|set"
    r"|update|ema|observe|quant|_$",
    re.IGNORECASE,
)
# What fills one's own weights: nn.init.zeros_(self.bias), self.weight.data.uniform_(-1, 1).
_INITIALISES = re.compile(
    r"^(?!__).*init|(?:normal|uniform|zeros?|ones|constant|fill|copy|eye|orthogonal|dirac|sparse)_$"
)


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

    def initialise(self) -> bool:
        """Whether the class fills any of what it owns, and so does not wait for a checkpoint."""
        return any(
            isinstance(node, cst.Call)
            and _INITIALISES.search(last_name(node.func))
            and any(is_self(each) for each in self._module.tree.descendants(node))
            for node in self._nodes
        )

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
            call = self._module.parent(parent) if parent is not None else None
            return call is not parameter.statement and not self._registers_nothing(call)
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
        return not (self._is_computed_with(use.node) or self._is_alias(use.node))

    def _registers_nothing(self, call: cst.CSTNode | None) -> bool:
        """``self.register_parameter("bias", None)``, where a layer does without."""
        return (
            isinstance(call, cst.Call)
            and last_name(call.func).startswith("register_")
            and self._module.literal(self._module.argument(call, "param", 1)) is None
        )

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
        return not _FILLS.search(last_name(node.func))

    def _is_alias(self, node: cst.CSTNode) -> bool:
        """Whether a local stands for the parameter, and is only read."""
        statement = self._module.parent(node)
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0].target
        function = self._module.enclosing_function(node)
        if not isinstance(target, cst.Name) or function is None or statement.value is not node:
            return False
        uses = [
            self._uses.of(name)
            for name in loads(self._module, function)
            if name.value == target.value and name is not target
        ]
        return all(use.event is not Event.GONE or self._is_computed_with(use.node) for use in uses)

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
        text = self._module.source.text
        return len(mentions(text, name)) > len(heads(text, name))
