"""Which row of a table of operators a call leads to, as its source shows."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis import tensor_facts
from detlint.analysis.dimensions import Dimensions
from detlint.analysis.kept_modules import later_calls, maker
from detlint.analysis.private_calls import calls_or_makings
from detlint.analysis.sizes import Sizes
from detlint.analysis.subclasses import derived
from detlint.extension_operations import REFUSED as REFUSED_OF_EXTENSIONS
from detlint.extension_operations import SWITCHED as SWITCHED_OF_EXTENSIONS
from detlint.operations import ABSENT, OPERATIONS
from detlint.rule import cst
from detlint.switched_operations import SWITCHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.analysis.subclasses import Derived
    from detlint.module import Module
    from detlint.operations import Argument, Operation, Usage
    from detlint.switched_operations import Switched

_METHOD = "torch.Tensor."
_DEFINED_IN = re.compile(r"^torch\.nn\.modules\.(?:[a-z]\w*\.)?(?=[A-Z])")
_Rows = dict[str, list[tuple["Operation | Switched", "Usage"]]]
Release = tuple[int, int]


class Match(NamedTuple):
    """A row, how its use was found, and the form that was used."""

    row: Operation | Switched
    usage: Usage
    form: str
    made: cst.Call | None = None  # the call that made the module, where another one calls it
    derived: Derived | None = None  # where a class of the file is made of such a module


def refused(module: Module, call: cst.Call, release: Release) -> Match | None:
    """The operator without a deterministic implementation to which a call leads for sure."""
    known = _refused_rows(release)
    return (
        _match(module, call, known)
        or _of_kept(module, call, known)
        or _of_subclass(module, call, known)
    )


def switched(module: Module, call: cst.Call, release: Release) -> Match | None:
    """The operator that is deterministic only under the switch, to which a call leads for sure."""
    return _match(module, call, _switched_rows(release))


@functools.cache
def _refused_rows(release: Release) -> _Rows:
    return _by_form((*OPERATIONS, *REFUSED_OF_EXTENSIONS), release)


@functools.cache
def _switched_rows(release: Release) -> _Rows:
    return _by_form((*SWITCHED, *SWITCHED_OF_EXTENSIONS), release)


def _by_form(rows: tuple[Operation | Switched, ...], release: Release) -> _Rows:
    """Public forms with the rows that they may lead to, in a release of torch."""
    found: _Rows = {}
    for row in rows:
        begun = not row.since or release >= _release(row.since)
        if begun and not (row.until and release >= _release(row.until)):
            for usage in row.usages:
                for form in usage.forms:
                    found.setdefault(form, []).append((row, usage))
    for known in found.values():
        known.sort(key=lambda each: -len(each[1].arguments))  # what says more goes first
    return found


def _release(text: str) -> Release:
    major, minor = text.split(".")
    return int(major), int(minor)


def _match(module: Module, call: cst.Call, known: _Rows) -> Match | None:
    name = module.called(call)
    if name is not None:
        form = _DEFINED_IN.sub("torch.nn.", name)
        # ``torch.Tensor.put_(x, …)`` is a call of a method as a function.
        for row, usage in known.get(form, ()):
            if not usage.called and _all_hold(module, call, usage.arguments, method=False):
                return Match(row, usage, form)
        return None
    if isinstance(call.func, cst.Attribute):
        form = _METHOD + call.func.attr.value
        for row, usage in known.get(form, ()):
            if usage.familiar and not _is_of_tensor(module, call):
                continue
            if _all_hold(module, call, usage.arguments, method=True):
                return Match(row, usage, form)
    return _of_module(module, call, known)


def _of_module(module: Module, call: cst.Call, known: _Rows) -> Match | None:
    """``loss = nn.CrossEntropyLoss()`` and then ``loss(x, y)``, in one function."""
    made = maker(module, call.func)
    if made is None or _outermost(module, made) is not _outermost(module, call):
        return None
    form = _DEFINED_IN.sub("torch.nn.", module.called(made) or "")
    for row, usage in known.get(form, ()):
        if (
            usage.called
            and _all_hold(module, made, usage.arguments, method=False)
            and _all_hold(module, call, usage.called, method=False)
        ):
            return Match(row, usage, form, made)
    return None


def _of_kept(module: Module, call: cst.Call, known: _Rows) -> Match | None:
    """``self.loss = nn.CrossEntropyLoss()`` that another method gives a tensor that decides."""
    form = _DEFINED_IN.sub("torch.nn.", module.called(call) or "")
    rows = [
        (row, usage)
        for row, usage in known.get(form, ())
        if usage.called and _all_hold(module, call, usage.arguments, method=False)
    ]
    for around, later in later_calls(module, call) if rows else ():
        for row, usage in rows:
            if _all_hold(around, later, usage.called, method=False):
                return Match(row, usage, form)
    return None


def _of_subclass(module: Module, call: cst.Call, known: _Rows) -> Match | None:
    """``SamePool(3)`` of ``class SamePool(nn.MaxPool3d)``."""
    for each in derived(module, call):
        form = _DEFINED_IN.sub("torch.nn.", each.base)
        for row, usage in known.get(form, ()):
            if not usage.called and _all_hold(
                each.module, each.call, usage.arguments, method=False
            ):
                return Match(row, usage, form, derived=each)
    return None


def _outermost(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    functions = [each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)]
    return functions[-1] if functions else None


def _is_of_tensor(module: Module, call: cst.Call) -> bool:
    # NumPy and pandas say axis, and xarray names its dimensions with strings.
    if type(module.literal(module.argument(call, "dim"))) is int:
        return True
    if tensor_facts.is_gather(module, call):
        return True
    return isinstance(call.func, cst.Attribute) and tensor_facts.is_tensor(module, call.func.value)


def _all_hold(
    module: Module, call: cst.Call, arguments: tuple[Argument, ...], *, method: bool
) -> bool:
    return all(_holds(module, call, argument, method=method) for argument in arguments)


def given(
    module: Module, call: cst.Call, argument: Argument, *, method: bool
) -> cst.BaseExpression | None:
    """What a call passes for an argument; a method's tensor is its first."""
    position = argument.position
    if method and position is not None:
        if position == 0:
            return call.func.value if isinstance(call.func, cst.Attribute) else None
        position -= 1
    return module.argument(call, argument.name, position)


def _holds(module: Module, call: cst.Call, argument: Argument, *, method: bool) -> bool:
    node = given(module, call, argument, method=method)
    if node is None:
        if argument.test == "perhaps floating":
            return True
        return argument.default is not ABSENT and not module.has_unpacking(call)
    return _passes(module, node, argument)


def _passes(module: Module, node: cst.BaseExpression, argument: Argument) -> bool:
    test, values = argument.test, argument.values
    answers: dict[str, Callable[[], bool]] = {
        "in": lambda: module.literal(node) in values or _is_default(module, node, values),
        # xarray's ``x.median(dim="time")`` is not torch's.
        "given": lambda: not isinstance(module.literal(node), (str, type(None))),
        "not 1": lambda: Sizes(module).other_than_one(node) is True,
        "perhaps not 1": lambda: Sizes(module).other_than_one(node) is not False,
        "length": lambda: _length(module.names.value_of(node)) in values,
        "dimensions": lambda: (Dimensions(module).of(node),) >= values,
        "tensor": lambda: not isinstance(module.literal(node), (int, float)),
        "floating": lambda: tensor_facts.numbers(module, node) == "floating",
        "perhaps floating": lambda: tensor_facts.numbers(module, node) not in ("integer", "open"),
    }
    return answers[test]()


def _is_default(module: Module, node: cst.BaseExpression, values: tuple[object, ...]) -> bool:
    """Whether a parameter has such a value by default, and no call in the file gives it another."""
    bindings = module.names.visible(node) if isinstance(node, cst.Name) else []
    function = module.enclosing_function(node)
    if (
        not isinstance(node, cst.Name)
        or not isinstance(function, cst.FunctionDef)
        or [each.kind for each in bindings] != ["parameter"]
        or module.literal(bindings[0].node) not in values
    ):
        return False
    for definition, call in calls_or_makings(module, function):
        given = definition.arguments(call) if call is not None else None
        if given is None or node.value in given:
            return False
    return True


def _length(node: cst.CSTNode) -> int | None:
    if not isinstance(node, (cst.Tuple, cst.List)):
        return None
    starred = any(isinstance(each, cst.StarredElement) for each in node.elements)
    return None if starred else len(node.elements)
