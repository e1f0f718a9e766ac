"""Tensors that code makes from numbers and data alone, so that no gradient leads through them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definitions, is_plain
from detlint.analysis.gradient_names import is_called_target, is_loaded, is_loader
from detlint.analysis.gradients import are_off, stops
from detlint.analysis.private_calls import file_calls, is_private
from detlint.analysis.unpacking import origins
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.scope import Binding

_MAKERS = frozenset(
    f"torch.{name}"
    for name in words(
        """
        arange empty empty_like eye from_numpy full full_like linspace logspace ones ones_like rand
        rand_like randint randint_like randn randn_like randperm tensor zeros zeros_like
        autograd.Variable Tensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
        """
    )
)
_NUMBERS = frozenset(f"builtins.{name}" for name in ("float", "int", "len", "range"))
_FUNCTION = re.compile(r"(?:torch|torch\.nn\.functional|math)\.[a-z]\w*$")
# What these attributes and methods give has no gradient, whoever's they are.
_MEASURES = words("data device dtype ndim shape")
_COUNTS = words("detach dim generate inference item numel numpy size tolist")
# Their arguments say of what shape, type or place the result is.
_SHAPING = words(
    """
    bfloat16 chunk clone contiguous cpu cuda double expand flatten flip float half narrow permute
    repeat reshape roll split squeeze t to transpose tril triu type type_as unbind unflatten
    unsqueeze view
    """
)
# Through which what a loader gives comes to a loop.
_ITERATES = re.compile(r"builtins\.(?:enumerate|iter|list|next|reversed|tuple|zip)$|.*\btqdm$")
_FILLS = words("add append extend insert setdefault update")
_DEEPEST = 40
_HANDED_ON = 2  # functions through which a value is passed
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_UNTRAINED = re.compile(r"\bParameter\([^#]*?\bFalse\b")
_MADE = re.compile(r"\btorch\.(?:arange|linspace|meshgrid|zeros|ones|tensor|from_numpy|rand|eye)")
_OBJECT = re.compile(r"self\.\w+[ \t]*=[ \t]*(?:\w+\.)*[A-Z]\w*\(")  # ``self.x = nn.Parameter(…)``
# Into an attribute: ``self.x[0] = y``, ``self.x += y``, ``self.x.copy_(y)``, or given away.
_WRITTEN = (
    r"\bself\.{name}(?:\[[^\n]*\][ \t]*[-+*/@]?=[^=]|[ \t]*[-+*/@]=|(?:\.\w+(?:\(\))?)*\.\w+_\()"
    r"|\[[^\[\]\n]*\bself\.{name}\b[^\[\]\n]*\][^\n]*\blr\b|\.(?!{name})\w+\.{name}[ \t]*=[^=]"
)
_BOUND = r"\bself\.{name}\b(?=[ \t]*(?::[^=\n]*)?=[^=])"


class Constants:
    """Answers about the values of one function."""

    def __init__(self, module: Module, handed_on: int = 0) -> None:
        self._module = module
        self._handed_on = handed_on
        self._asked: list[str] = []
        self._depth = 0

    def holds(self, node: cst.CSTNode | None) -> bool:
        """Whether an expression visibly has no gradient; not where anything of it is unknown."""
        if node is None or self._depth > _DEEPEST:
            return False
        self._depth += 1
        try:
            return self._is_constant(node)
        finally:
            self._depth -= 1

    def _is_constant(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.BaseNumber, cst.BaseString, cst.Comparison)):
            return True
        if isinstance(node, cst.Name):
            known = node.value in ("True", "False", "None") or is_loader(node.value)
            return known or self._is_constant_name(node)
        if isinstance(node, cst.Attribute):
            known = node.attr.value in _MEASURES or is_loader(node.attr.value)
            return known or self._is_buffer(node)
        if isinstance(node, cst.Subscript):
            return is_loaded(self._module, node) or self.holds(node.value)
        if isinstance(node, cst.Call):
            return self._is_constant_call(node)
        parts = _parts(node)
        return parts is not None and all(map(self.holds, parts))

    def _is_constant_call(self, call: cst.Call) -> bool:
        trained = self._module.argument(call, "requires_grad")
        if trained is not None and self._module.literal(trained) is not False:
            return False
        name = self._module.called(call)
        if name is None:
            method = isinstance(call.func, cst.Attribute) and self._gives_constant(call, call.func)
            return method or self._returns_constants(call)
        if name in _MAKERS | _NUMBERS or name.startswith("numpy."):
            return True
        given = [each.value for each in call.args if each.keyword is None]
        if _ITERATES.match(name):
            return bool(given) and all(map(self.holds, given))
        return bool(_FUNCTION.match(name) and given) and all(map(self.holds, given))

    def _returns_constants(self, call: cst.Call) -> bool:
        """Whether a function of the file returns nothing else."""
        if self._handed_on >= _HANDED_ON:
            return False
        found = Definitions(self._module).of(call.func)
        if found is not None and any(
            stops(found.module, each.decorator) for each in found.node.decorators
        ):
            return True
        if found is None or not is_plain(found.node):
            return False
        inside = Constants(found.module, self._handed_on + 1)
        below = found.module.tree.descendants(found.node.body)
        returned = [each.value for each in below if isinstance(each, cst.Return)]
        return bool(returned) and all(map(inside.holds, returned))

    def _gives_constant(self, call: cst.Call, method: cst.Attribute) -> bool:
        name = method.attr.value
        if name in _COUNTS or name == "requires_grad_":
            return name in _COUNTS
        given = [] if name in _SHAPING else [each.value for each in call.args]
        return self.holds(method.value) and all(map(self.holds, given))

    def _is_constant_name(self, name: cst.Name) -> bool:
        if name.value in self._asked:
            return True  # what it is made of besides decides
        bindings = self._module.names.visible(name)
        function = self._module.enclosing_function(name)
        if not bindings or (function is None and not self._is_in_block(name)):
            return False
        uses = [
            each
            for each in self._module.tree.occurrences[name.value]
            if self._module.enclosing_function(each) is function
        ]
        # A change in place, as in ``x += y``, binds as well.
        changes = sum(_is_changed(self._module.parent(each), each) for each in uses)
        parts = list(origins(self._module, name))
        if sum(each.kind == "other" for each in bindings) > changes + len(parts):
            return False
        made = [each for each in bindings if each.kind != "other"]
        made.sort(key=lambda each: each.kind == "parameter")  # what is parsed for, last
        self._asked.append(name.value)
        try:
            return (
                bool(made or parts)
                and all(map(self._stays_constant, uses))
                and all(are_off(self._module, each) or self.holds(each) for each in parts)
                and all(self._is_constant_binding(each, name) for each in made)
            )
        finally:
            self._asked.pop()

    def _is_in_block(self, name: cst.Name) -> bool:
        """Whether a name of a script stands in a block, as ``if __name__ == "__main__"`` is."""
        return any(isinstance(each, cst.IndentedBlock) for each in self._module.ancestors(name))

    def _is_constant_binding(self, binding: Binding, name: cst.Name) -> bool:
        if binding.kind == "parameter":
            return is_called_target(name.value) or self._is_given_constants(name)
        if binding.kind not in ("value", "loop") or binding.node is None:
            return False
        return are_off(self._module, binding.node) or self.holds(binding.node)

    def _is_given_constants(self, name: cst.Name) -> bool:
        """Whether all calls of a function that stand in its file give it constants. A method that
        is not private may be called elsewhere with others."""
        function = self._module.enclosing_function(name)
        if self._handed_on >= _HANDED_ON or not isinstance(function, cst.FunctionDef):
            return False
        top = self._module.parent(self._module.parent(function) or function) is None
        if not (top or is_private(function.name.value)):
            return False
        calls = list(file_calls(self._module, function))
        return bool(calls) and all(
            call is not None
            and (given := definition.arguments(call)) is not None
            and Constants(definition.module, self._handed_on + 1).holds(given.get(name.value))
            for definition, call in calls
        )

    def _stays_constant(self, name: cst.Name) -> bool:
        """Whether nothing unknown is written into a tensor where a name of it stands."""
        node: cst.CSTNode = name
        above = self._module.parent(node)
        while isinstance(above, cst.Subscript) and above.value is node:
            node, above = above, self._module.parent(above)
        if isinstance(above, cst.AugAssign) and above.target is node:
            return self.holds(above.value)
        if isinstance(above, cst.AssignTarget):
            assignment = self._module.parent(above)
            return isinstance(assignment, cst.Assign) and self.holds(assignment.value)
        return not isinstance(above, cst.Attribute) or self._is_kept_by(above)

    def _is_kept_by(self, attribute: cst.Attribute) -> bool:
        """Whether a method leaves a tensor as it is, or writes only what is known into it."""
        call, method = self._module.parent(attribute), attribute.attr.value
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return method in (*_MEASURES, "T")
        if method == "requires_grad_":
            return False
        writes = (method.endswith("_") and not method.endswith("__")) or method in _FILLS
        return not writes or all(self.holds(each.value) for each in call.args)

    def _is_buffer(self, node: cst.Attribute) -> bool:
        """``self.x``: a buffer, a parameter that is told not to be trained, or a tensor made of
        data, and nothing else."""
        if not self._module.names.is_self(node.value):
            return False
        key, name = f".{node.attr.value}", re.escape(node.attr.value)
        if key in self._asked:
            return True  # what it is made of besides decides
        text = self._module.source.text
        if re.search(rf"register_parameter\(.{name}\b|\b{name}\.requires_grad", text):
            return False
        registered = re.search(rf"\bself\.register_buffer\(\s*[\"']{name}[\"']", text)
        bound = [match.start() for match in re.finditer(_BOUND.format(name=name), text)]
        if not bound:
            return registered is not None
        self._asked.append(key)
        try:
            return self._are_untrained(node, bound, registered=registered is not None)
        finally:
            self._asked.pop()

    def _are_untrained(self, node: cst.Attribute, places: list[int], *, registered: bool) -> bool:
        """Whether all that is assigned to an attribute is ``Parameter(…, requires_grad=False)``,
        or made of numbers, and nothing else is written into it."""
        text, name = self._module.source.text, re.escape(node.attr.value)
        untrained = _UNTRAINED.search(text) is not None
        objects = any(_OBJECT.match(text, place) for place in places)
        if not (untrained or registered) and (objects or not _MADE.search(text)):
            return False
        around, owner = self._module.around(places), self._module.enclosing_class(node)
        if around is None or owner is None:
            return False
        values = [
            value
            for inside, attributes in around.bindings.attributes.items()
            if inside.name.value == owner.name.value
            for value in attributes.get(node.attr.value, [])
        ]
        if values and all(_is_untrained(around, value) for value in values):
            return True
        if not registered and re.search(_WRITTEN.format(name=name), text):
            return False
        inside = Constants(around, _HANDED_ON)
        inside._asked, inside._depth = [*self._asked], self._depth
        known = [each for each in values if around.names.literal(each) is not None]
        return bool(known) and len(values) >= len(places) and all(map(inside.holds, known))


def _is_untrained(module: Module, value: cst.CSTNode | None) -> bool:
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        made = value.func.value
        if value.func.attr.value == "requires_grad_" and module.called(made) in _PARAMETERS:
            told = module.argument(value, "requires_grad", 0)
            return module.literal(told) is False
    return module.literal(value) is None or (
        isinstance(value, cst.Call)
        and module.called(value) in _PARAMETERS
        and module.literal(module.argument(value, "requires_grad", 1)) is False
    )


def _is_changed(above: cst.CSTNode | None, name: cst.Name) -> bool:
    return isinstance(above, cst.AugAssign) and above.target is name


def _parts(node: cst.CSTNode) -> list[cst.CSTNode] | None:
    """What an operator is put between, or what a list holds."""
    if isinstance(node, (cst.Tuple, cst.List)):
        return [each.value for each in node.elements]
    if isinstance(node, cst.UnaryOperation):
        return [node.expression]
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        return [node.left, node.right]
    return [node.body, node.orelse] if isinstance(node, cst.IfExp) else None
