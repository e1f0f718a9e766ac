"""Whether a file shows that a gradient comes to a call: its input comes from what is trained."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import trained_layers
from detlint.analysis.definitions import Definitions
from detlint.analysis.gradient_uses import is_never_read
from detlint.analysis.gradients import ENDING, are_off
from detlint.analysis.kept_modules import kept_in, later_calls
from detlint.analysis.position_embeddings import is_of_positions
from detlint.analysis.private_calls import file_calls
from detlint.analysis.reads import Reads
from detlint.analysis.trained_code import goes_back, is_of_a_loss
from detlint.analysis.uses import words
from detlint.mentions import calls, mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.operators import Match
    from detlint.module import Module

# What layers give, as parameters are called that are given it.
_FEATURES = re.compile(
    r"^(?:f(?:ea)?t?_?maps?|fm\d?|feat(?:ure)?s?|hiddens?|hidden_states?|latents?|logits?|preds?"
    r"|predictions?|fakes?|embeddings?)(?:_\w+)?$|_(?:feat(?:ure)?s?|latents?|logits?|preds?)$"
)
_MODEL = re.compile(r"(?:^|_)(?:model|net|network|generator|decoder|encoder|backbone)$")
_RUNS = re.compile(r"^(?:forward|encode|decode|extract)(?:_|$)")
_NOT_FLOWING = ENDING | frozenset(
    words("device dim dtype generate inference nonzero ndim requires_grad sample shape size")
)
_DATA = re.compile(
    r"torch\.(?:arange|as_tensor|from_numpy|linspace|load|tensor|(?:empty|full|ones|rand|randn"
    r"|zeros)(?:_like)?)$|(?:numpy\.|builtins\.(?:bool|float|int|len|range|str)$)"
)
_KEPT = re.compile(r"self\.\w+[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\.)*$")
_FAR = 100  # characters of such an assignment
_DEEPEST = 30
_HANDED_ON = 2  # functions through which a value is passed


class Evidence:
    """What a file shows of gradients that come to its calls."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._flows: dict[tuple[Module, int], _Flow] = {}

    def is_shown(self, call: cst.Call, found: Match) -> bool:
        """Whether what a call computes with visibly comes out of a layer, a model or a parameter
        that is trained, or the call stands in a loss or a discriminator, or is one."""
        module, name = self._module, found.form.rpartition(".")[2]
        tensors = [each.value for each in call.args[:2]]
        if found.form.startswith("torch.Tensor.") and isinstance(call.func, cst.Attribute):
            tensors.append(call.func.value)
        if not name[0].isupper() and is_of_positions(module, call, tensors):
            return False
        functions = [each for each in module.ancestors(call) if isinstance(each, cst.FunctionDef)]
        if "loss" in name.lower() or is_of_a_loss(module, call):
            return True
        if goes_back(module, functions[-1] if functions else None):
            return True
        if name[0].isupper():
            return self.is_fed(module, found.made or call, 0)
        return bool(functions) and any(map(self.flow(module, 0).gives, tensors))

    def flow(self, module: Module, handed_on: int) -> _Flow:
        """Where values of a part of the file come from, given through so many functions."""
        key = module, handed_on
        if key not in self._flows:
            self._flows[key] = _Flow(self, module, handed_on)
        return self._flows[key]

    def is_fed(self, module: Module, made: cst.Call, handed_on: int) -> bool:
        """Whether a layer follows others with weights, or is called with what such give."""
        target = kept_in(module, made)
        kept = isinstance(target, cst.Attribute) and module.names.is_self(target.value)
        if isinstance(target, cst.Attribute) and kept and is_never_read(module, target):
            return False
        calls = list(later_calls(module, made)) if kept else []
        if calls:
            return any(
                self.flow(inside, handed_on).gives(each.value)
                for inside, call in calls
                if not are_off(inside, call)
                for each in call.args
            )
        return trained_layers.come_before(module.source.text, module.span(made)[0])

    def is_made_to_be_fed(self, module: Module, owner: cst.ClassDef, handed_on: int) -> bool:
        """Whether the file makes a class after layers with weights, and calls what it made, where
        that can be seen, with what such give: not images, which come before the encoder."""
        text, name = module.source.text, owner.name.value
        after = trained_layers.is_made_after_others(text, name)
        if not after or handed_on >= _HANDED_ON:
            return after
        if not any(_KEPT.search(text, max(each - _FAR, 0), each) for each in mentions(text, name)):
            return True
        around = module.around([place for place, _ in calls(text, name) if not _heads(text, place)])
        return around is not None and any(
            self.is_fed(around, above, handed_on + 1)
            for each in around.tree.occurrences.get(name, ())
            if isinstance(above := around.parent(each), cst.Call) and above.func is each
        )


class _Flow:
    """Follows expressions of one function back to what a gradient is asked for."""

    def __init__(self, evidence: Evidence, module: Module, handed_on: int) -> None:
        self._evidence = evidence
        self._module = module
        self._handed_on = handed_on
        self._reads = Reads(module)
        self._depth = 0
        self._known: dict[int, bool] = {}  # by id: libcst hashes nodes in Python code

    def gives(self, node: cst.CSTNode | None) -> bool:
        """Whether the file shows that an expression has a gradient."""
        if node is None or self._depth > _DEEPEST:
            return False
        if id(node) not in self._known:
            self._known[id(node)] = False  # what a loop gives itself
            self._depth += 1
            try:
                self._known[id(node)] = self._gives(node)
            finally:
                self._depth -= 1
        return self._known[id(node)]

    def _gives(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Name):
            return self._of_name(node)
        if isinstance(node, cst.Attribute):
            return self._of_attribute(node)
        if isinstance(node, cst.Call):
            return self._of_call(node)
        return any(map(self.gives, _parts(node)))

    def _of_name(self, name: cst.Name) -> bool:
        values = [_value(each) for each in self._reads.reaching(name)]
        if any(not are_off(self._module, each) and self.gives(each) for each in values if each):
            return True
        kinds = {each.kind for each in self._module.names.visible(name)}
        return (
            "parameter" in kinds and not self._reads.hides_parameter(name) and self._is_given(name)
        )

    def _is_given(self, name: cst.Name) -> bool:
        """Whether a parameter is called after features, or a call in the file gives it such."""
        function = self._module.enclosing_function(name)
        if _FEATURES.search(name.value):
            return True
        if not isinstance(function, cst.FunctionDef) or self._handed_on >= _HANDED_ON:
            return False
        owner = self._module.enclosing_class(function)
        if function.name.value in ("forward", "__call__"):
            return owner is not None and self._evidence.is_made_to_be_fed(
                self._module, owner, self._handed_on
            )
        return any(
            call is not None
            and not are_off(definition.module, call)
            and self._evidence.flow(definition.module, self._handed_on + 1).gives(
                (definition.arguments(call) or {}).get(name.value)
            )
            for definition, call in file_calls(self._module, function)
        )

    def _of_attribute(self, node: cst.Attribute) -> bool:
        name = node.attr.value
        if name in _NOT_FLOWING:
            return False
        if self._module.names.is_self(node.value):
            return trained_layers.is_parameter(self._module.source.text, name)
        if name == "weight" and isinstance(layer := node.value, cst.Attribute):  # of an embedding
            return self._is_layer(layer) and not trained_layers.is_frozen(
                self._module.source.text, layer.attr.value
            )
        return self.gives(node.value)

    def _of_call(self, call: cst.Call) -> bool:
        name = self._module.called(call) or ""
        last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        if isinstance(last, cst.Name) and last.value in _NOT_FLOWING:
            return False
        if _DATA.match(name) or self._is_layer(call.func):
            return not _DATA.match(name)
        given = [each.value for each in call.args]
        if isinstance(call.func, cst.Attribute) and not name:
            given.append(call.func.value)
        return any(map(self.gives, given)) or self._returns(call)

    def _is_layer(self, function: cst.CSTNode) -> bool:
        """Whether what is called has weights: ``self.conv``, ``self.ups[i]``, ``layer`` of
        ``for layer in self.layers``, ``model``, ``self.encoder.forward_features``."""
        while isinstance(function, cst.Subscript):
            function = function.value
        if isinstance(function, cst.Name):
            stores = self._reads.reaching(function)
            for each in stores:
                origin = _value(each)
                if isinstance(origin, cst.Call) and origin.args:  # enumerate(self.layers)
                    origin = origin.args[-1].value
                if isinstance(origin, (cst.Attribute, cst.Subscript)) and self._is_layer(origin):
                    return True
            known = self._module.qualified_name(function) is not None
            return not known and _MODEL.search(function.value) is not None
        if not isinstance(function, cst.Attribute):
            return False
        if self._module.names.is_self(function.value):
            return trained_layers.has_weights(self._module.source.text, function)
        return bool(_RUNS.search(function.attr.value)) and self._is_layer(function.value)

    def _returns(self, call: cst.Call) -> bool:
        """Whether a function of the file returns what has a gradient."""
        if self._handed_on >= _HANDED_ON:
            return False
        found = Definitions(self._module).of(call.func)
        if found is None:
            return False
        inside = self._evidence.flow(found.module, self._handed_on + 1)
        below = found.module.tree.descendants(found.node.body)
        return any(inside.gives(each.value) for each in below if isinstance(each, cst.Return))


def _heads(text: str, place: int) -> bool:
    """Whether a class is defined at a place."""
    return text.endswith("class ", 0, place)


def _value(statement: cst.CSTNode) -> cst.CSTNode | None:
    """What a statement binds a name to, or takes it out of."""
    if isinstance(statement, (cst.For, cst.CompFor)):
        return statement.iter
    if isinstance(statement, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
        return statement.value
    return None


def _parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The expressions whose values an expression is made of, if these are tensors."""
    if isinstance(node, (cst.Tuple, cst.List)):
        return [each.value for each in node.elements]
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        return [node.elt]
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    if isinstance(node, cst.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, cst.UnaryOperation):
        return [node.expression]
    return [node.value] if isinstance(node, (cst.Subscript, cst.NamedExpr)) else []
