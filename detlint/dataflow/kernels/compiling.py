"""What has torch.compile choose kernels by timing them."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.settings import (
    entries,
    flags_at,
    is_left_open,
    is_turned_on,
    keywords,
    names_tested,
    options_at,
)
from detlint.dataflow.calls import said
from detlint.dataflow.ir import DECORATORS
from detlint.models import tuning

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.arguments.settings import Setting
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_FLAGS = frozenset(f"{tuning.INDUCTOR}.{option}" for option in tuning.TIMING)
_OPTIONS = frozenset((*tuning.TIMING, *tuning.MODES, *tuning.TIMING_VARIABLES))
_ATTRIBUTES = ("attribute", "variable")  # of anything: these options are told by what holds them


class Timing(NamedTuple):
    """A setting by which inductor times kernels: where, and how the source says it."""

    op: Op
    node: ast.AST
    shown: str


def timings(unit: Unit, offsets: Sequence[int]) -> Iterator[Timing]:
    """What turns timing on in the functions at some offsets. Raises UnparsedError."""
    for each in flags_at(unit, offsets):
        if each.name in _FLAGS and is_turned_on(each):
            yield Timing(each.op, each.node, each.shown("True"))
    told: set[Op] = set()  # dicts and calls
    for each in options_at(unit, offsets, _OPTIONS):
        if each.op not in told and _times(unit.values, each):
            told.add(each.op)
            yield Timing(each.op, each.node, _shown(unit.values, each))


def _times(values: Values, setting: Setting) -> bool:
    """Whether an option or a variable has inductor time kernels."""
    if setting.form in _ATTRIBUTES or not _is_on(setting):
        return False
    if setting.form == "keyword" and "builtins.dict" not in values.called(setting.op):
        return not _is_asked_for(setting.op) and _takes(values, setting)
    if is_left_open(setting.op) or _is_asked_for(setting.op):
        return False
    if setting.name in tuning.TIMING_VARIABLES:
        return True
    # The names and modes are inductor's own, so the call may stand in another file.
    calls = [use for use in setting.op.uses if use.code == "call" and compiles(values, use)]
    return all(_uses_inductor(values, each) for each in (setting.op, *calls))


def _is_on(setting: Setting) -> bool:
    value = setting.constant
    if setting.name in tuning.TIMING_VARIABLES:
        return setting.known_text == "1"
    if setting.name in tuning.MODES:
        return isinstance(value, str) and value.startswith(tuning.TIMING_MODE)
    return value is True


def _takes(values: Values, setting: Setting) -> bool:
    """Whether a call takes such an option: ``torch.compile(mode=…)``, ``patch(…=True)``."""
    call = setting.op
    if f"{tuning.INDUCTOR}.patch" in values.called(call):
        return setting.name in tuning.TIMING
    takes = setting.name in tuning.MODES and compiles(values, call)
    return takes and _uses_inductor(values, call) and not _is_pointwise(values, call)


def compiles(values: Values, call: Op) -> bool:
    """Whether a call compiles a model, or will."""
    called = values.called(call)
    if "functools.partial" in called:
        return any("torch.compile" in values.qualified(each) for each in call.args[1:2])
    if called:
        return any(name == "torch.compile" or name.startswith("transformers.") for name in called)
    # A method by its name, since the modes are torch's own: model.compile(mode="max-autotune").
    return call.args[0].code == "attr" and call.args[0].name == "compile"


def _uses_inductor(values: Values, op: Op) -> bool:
    """Whether nothing that is given beside it chooses another backend."""
    plain = op.code == "call" and "builtins.dict" not in values.called(op)
    items = keywords(values, op) if plain else entries(values, op)
    given = {each.name: values.constant(each.value) for each in items}
    return given.get("backend", "inductor") == "inductor" and given.get("disable") is not True


def _shown(values: Values, setting: Setting) -> str:
    if setting.name in tuning.TIMING_VARIABLES:
        return f"{setting.name}=1"
    value = "True" if setting.constant is True else f'"{setting.constant}"'
    call = setting.op
    if setting.form != "keyword" or "builtins.dict" in values.called(call):
        return f"{setting.name}={value}"
    function = ast.unparse(call.call_node.args[0]) if call.call_node.args else ""
    if "functools.partial" not in values.called(call):
        function = said(call) if values.called(call) else ".compile"
    return f"{function}({setting.name}={value})"


def _is_asked_for(op: Op) -> bool:
    """Whether a setting of that name decides, as in ``if args.max_autotune:``."""
    return any("autotune" in name.casefold() for name in names_tested(op))


def _is_pointwise(values: Values, call: Op) -> bool:
    """Whether what is compiled computes each element by itself: what a call decorates, or is
    given."""
    if call.function.name == DECORATORS:
        return _adds_nothing(values, call.function.decorated)
    model = call.given("model", 0)
    return model is not None and _adds_nothing(values, values.function(model))


def _adds_nothing(values: Values, function: Function | None) -> bool:
    """Whether all that a function does is known, and nothing of it adds elements up."""
    if function is None or any(each.name != DECORATORS for each in function.nested):
        return False
    return not any(
        op.code in ("await", "yield", "yield_from", "class")
        or (op.code in ("binary", "augment") and op.name == "MatMult")
        or (op.code == "call" and not _is_known(values, op))
        for op in function.ops
    )


def _is_known(values: Values, call: Op) -> bool:
    called, function = values.called(call), call.args[0]
    if called:
        return all(map(tuning.is_pointwise, called))
    # A method: one of a module would be an attribute of self.
    if function.code != "attr" or values.owner(function.args[0]):
        return False
    return tuning.is_pointwise(str(function.name))


def is_trial(op: Op) -> bool:
    """Whether code stands in what a name says is a test or a benchmark, which keeps no result."""
    folder, file = os.path.split(op.function.unit.path)
    around = [os.path.splitext(file)[0], os.path.basename(folder)]
    function: Function | None = op.function.decorated or op.function
    while function is not None:
        around.append(function.word)
        decorators = function.decorators
        around += (ast.unparse(each).partition("(")[0] for each in decorators)
        function = function.outer
    return any(map(tuning.tries, around))
