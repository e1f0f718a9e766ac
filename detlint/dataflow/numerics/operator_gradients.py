"""Whether a gradient is asked for of what an operator computes, and how sure that is."""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.dataflow.learning.inference import (
    has_no_backward,
    only_answers,
    own_names,
    takes_cache,
)
from detlint.dataflow.numerics.cuts import is_cut_off
from detlint.dataflow.numerics.gradients import NEEDED, NONE, UNKNOWN
from detlint.dataflow.numerics.layers import is_of_module, word_of
from detlint.dataflow.numerics.tensors import method_of
from detlint.dataflow.path_conditions import decided, implies
from detlint.dataflow.slices import closure
from detlint.models import gradients as rows
from detlint.models import layers, training
from detlint.models.attention import holds_cache
from detlint.models.operators import OWN, SECOND

if TYPE_CHECKING:
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.numerics.gradients import Gradients
    from detlint.dataflow.numerics.operators import Match, Operators

_MOST = 20  # functions that call one another
_CALLS = 3  # from a function without gradients to the one that is asked about


def may_differ(operators: Operators, found: Match) -> bool:
    """Whether an operator may run where it differs: not on the CPU where CUDA alone is concerned,
    nor without gradients where the backward is."""
    backward = found.row.direction == "backward"
    return not (runs_on_cpu(operators, found) or (backward and has_none(operators, found)))


def has_none(operators: Operators, found: Match) -> bool:
    """Whether an operator visibly computes nothing that a gradient comes to, or a call of a layer
    whose backward alone is concerned."""
    call = found.call
    if has_no_backward(call) or _is_in_function(operators, call) or is_off(operators, found):
        return True
    return not found.only_makes and (_is_given_none(operators, found) or is_cut_off(call))


def is_off(operators: Operators, found: Match) -> bool:
    """Whether no gradients are recorded in all that calls a function, or a layer that is made."""
    if found.only_makes:
        return _has_idle_layer(operators, found)
    return are_off_for_callers(operators.gradients, found.call.function)


def _is_in_function(operators: Operators, op: Op) -> bool:
    """Whether it is called by a custom ``torch.autograd.Function``, whose own backward is used."""
    return not layers.FUNCTIONS.isdisjoint(operators.unit.qualified_bases(op.function.class_name))


def _has_idle_layer(operators: Operators, found: Match) -> bool:
    """Whether all calls of what is made are without gradients, or a local is never called."""
    way = operators.gradients.layers.way(found.call)
    if (way.calls or way.handed) and not way.after_weights:
        return all(map(has_no_backward, (*way.calls, *way.handed)))
    return not way.is_read and _is_dropped(found.call)


def _is_dropped(made: Op) -> bool:
    """Whether a local, or a variable of a script, holds what nothing reads."""
    function = made.function
    if not function.names_of(made) and not any(each.code == "attr" for each in made.uses):
        return False
    if function.node is None and function.outer is None:  # the module
        return _runs(function) and all(each.code == "store_global" for each in made.uses)
    return not made.uses


def _runs(module: Function) -> bool:
    """Whether a file is a script, as far as it does more than to define."""
    return any(each.code in ("iter", "enter", "test") for each in module.ops)


def are_off_for_callers(gradients: Gradients, function: Function, depth: int = 0) -> bool:
    """Whether a function is called in its file, and there only where gradients are off, or while
    a module is made: no step could go back there a second time."""
    if _makes_module(gradients, function):
        return True
    known = function.known_calls
    return (
        depth < _CALLS
        and known.all
        and all(
            has_no_backward(each)
            or is_off_gpu(each)
            or are_off_for_callers(gradients, each.function, depth + 1)
            for each in known.calls
        )
    )


def _makes_module(gradients: Gradients, function: Function) -> bool:
    """Whether it is the constructor of a module with weights that does not train itself."""
    owner, unit = function.class_name, function.unit
    makes = bool(owner) and function.word == "__init__" and gradients.layers.weighs_as_class(owner)
    return makes and not any(map(_goes_back, unit.methods_naming(owner, "backward")))


def _is_given_none(operators: Operators, found: Match) -> bool:
    """Whether no gradient comes to anything that an operator computes with, for certain."""
    tensor = found.input
    if tensor is None:
        return False
    if operators.tensors.is_integer(tensor):
        return True
    given = [tensor]
    second = SECOND.get(found.form.rpartition(".")[2])
    if second is not None:
        given += filter(None, [found.argument(second, 1)])
    return all(operators.gradients.comes_to(each) == NONE for each in given)


def is_likely(operators: Operators, found: Match) -> bool:
    """Whether a gradient visibly comes to what an operator computes with, or what nobody knows
    of is computed in a loss, or beside a backward."""
    call = found.call
    if is_doubted(found):
        return False
    comes = _comes(operators, found)
    if comes == UNKNOWN:
        part = not rows.takes_recordings(found.form) and _is_a_part(operators, found)
        return part or _judges(operators, found) or goes_back(call)
    return comes == NEEDED


def _is_a_part(operators: Operators, found: Match) -> bool:
    """Whether it is a layer of a model that another class calls: a method gives it, or the class
    keeps it, whose ``forward`` is that of its base."""
    owner, unit = found.call.function.class_name, operators.unit
    way = operators.gradients.layers.way(found.call)
    if not found.only_makes or way.calls or owner not in unit.classes:
        return False
    inherits = bool(unit.bases(owner)) and not unit.defines("forward", owner)
    asked = any(each.class_name == owner for each in way.given)
    kept = any(each.code == "store_attr" for each in found.call.uses)
    return inherits and (asked or kept) and is_of_module(found.call)


def may_be_trained(operators: Operators, found: Match) -> bool:
    """The same, where a layer that nobody sees called counts, and what is not known of in a
    class of layers."""
    if is_likely(operators, found):
        return True
    if rows.takes_recordings(found.form) or is_doubted(found):
        return False
    if _comes(operators, found) not in (NEEDED, UNKNOWN):
        return False
    own = found.call.function.class_name and is_of_module(found.call)
    return found.makes_layer or bool(own)


def _comes(operators: Operators, found: Match) -> str:
    if found.form.endswith(OWN):
        return NEEDED
    if found.only_makes:
        way = operators.gradients.layers.way(found.call)
        if not (way.is_read or way.after_weights) and "loss" in found.form.lower():
            return "" if _is_kept(found.call) else UNKNOWN
        return operators.gradients.fed(found.call)
    comes = {operators.gradients.comes_to(each) for each in _given(found)}
    return next((each for each in (NEEDED, UNKNOWN) if each in comes), "")


def _given(found: Match) -> list[Op]:
    """What an operator computes with: its first arguments, and the tensor of a method."""
    given = [each for _, each in found.call.arguments()][:2]
    return [*given, found.call.args[0].args[0]] if found.is_method else given


def _is_kept(made: Op) -> bool:
    """Whether a class keeps it, and its file has no use for it."""
    return any(each.code == "store_attr" for each in made.uses)


def is_doubted(found: Match) -> bool:
    """Whether names around a call say that nothing is trained there, and no backward beside it
    says otherwise: data or weights are got ready, a model answers."""
    op = found.call
    functions = [each.word for each in op.function.around()]
    path = os.path.splitext(op.function.unit.path)[0].replace(os.sep, "/").split("/")
    named = (*functions, op.function.class_name, *path[-3:])
    if only_answers(op) or any(map(rows.is_tried, named)):
        return True
    if any(map(rows.is_apart, named)) and not goes_back(op):
        return True
    given = [] if found.makes_layer else [word_of(each) for each in op.args]
    return any(map(rows.is_of_positions, (*functions, *given)))


def seems_exact(found: Match) -> bool:
    """Whether names say that an operator looks up whole numbers, that have no gradient, or what a
    cache holds, or that its index reaches no place twice, as one choice for each row does."""
    tensor, index = found.input, found.argument("index", 2)
    word = word_of(_root(tensor)) if tensor is not None else ""
    places = own_names(_root(index)) if index is not None else []
    chooses = found.form.endswith("gather") and any(map(rows.is_choice, places))
    backward = found.row.direction == "backward"
    return (
        takes_cache(found.call)
        or any(map(holds_cache, (word, found.call.function.class_name)))
        or (backward and rows.is_whole(word))
        or any(map(rows.is_permutation, places))
        or chooses
    )


def _root(op: Op) -> Op:
    """``self.key_cache`` of ``self.key_cache[0].flatten()``."""
    while op.code in ("item", "slice") or method_of(op):
        op = op.args[0] if op.code != "call" else op.args[0].args[0]
    return op


def _judges(operators: Operators, found: Match) -> bool:
    """Whether code is that of a loss or a discriminator, or of a function that one calls."""
    if "loss" in found.form.lower():
        return True

    def callers(function: Function) -> list[Function]:
        calls = () if function.class_name else function.known_calls.calls
        return [call.function for call in calls]

    for each in closure([found.call.function], callers, _MOST):
        names = [around.word for around in each.around()]
        if any(map(rows.judges, (*names, each.class_name))) or _gives_a_loss(each):
            return True
    stem = os.path.splitext(os.path.basename(operators.unit.path))[0]
    return rows.judges(stem)


def _gives_a_loss(function: Function) -> bool:
    """Whether a function adds up a loss and returns it, whatever its own name; not one that takes
    a step of training, which is given images as well."""
    if rows.steps(function.word):
        return False
    return any(
        isinstance(each.node, ast.Return)
        and isinstance(each.node.value, ast.Name)
        and rows.judges(each.node.value.id)
        for each in function.returns
    )


def goes_back(op: Op) -> bool:
    """Whether a function, or the code of a script, works out gradients."""
    outer = op.function
    while outer.outer is not None:
        outer = outer.outer
    return _goes_back(outer)


@lru_cache(maxsize=8)  # few: each holds its file
def _goes_back(outer: Function) -> bool:
    called = outer.unit.values.called
    return any(
        training.goes_back(str(call.args[0].name), called(call)) for call in outer.all_coded("call")
    )


def is_off_gpu(op: Op) -> bool:
    """Whether code is the branch for where there is no GPU: ``if torch.cuda.is_available(): …
    else: …``, ``if not x.is_cuda``."""
    return any(implies(test, _says_off_gpu, holds=holds) for test, holds in decided(op))


def _says_off_gpu(test: Op, *, holds: bool) -> bool:
    is_asked = rows.says_cuda(test.word)
    return not holds and (is_asked or "torch.cuda.is_available" in test.called)


def _is_asked_off_gpu(operators: Operators, function: Function) -> bool:
    """Whether all calls of a function, or all that make objects of its class, are such code."""
    made = operators.unit.defined("__init__", function.class_name) or function
    calls = operators.callers.of(made)
    return bool(calls) and all(map(is_off_gpu, calls))


def runs_on_cpu(operators: Operators, found: Match) -> bool:
    """Whether an operator that differs on CUDA alone gets a tensor that lies elsewhere."""
    if found.differs_on_cpu:
        return False
    if is_off_gpu(found.call) or _is_asked_off_gpu(operators, found.call.function):
        return True
    return (
        not found.makes_layer
        and found.input is not None
        and operators.tensors.lies_on_cpu(found.input)
    )
