"""The ways in which a program has torch.compile pick kernels by timing them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.branches import behind_setting
from detlint.analysis.environments import variables
from detlint.analysis.pointwise import compiles_pointwise
from detlint.analysis.switches import code, switches
from detlint.analysis.uses import last_name
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

    # An option, its value, and where it is given.
    Item = tuple[str, cst.BaseExpression, cst.CSTNode]

_CONFIG = "torch._inductor.config"
# max_autotune_pointwise is not among them: it changes no result.
_OPTIONS = ("max_autotune", "max_autotune_gemm", "coordinate_descent_tuning")
_VARIABLES = tuple(f"TORCHINDUCTOR_{option.upper()}" for option in _OPTIONS)
_MODE = "max-autotune"
# Files, folders, classes and functions that check or time something, by name.
_TRIAL = re.compile(r"^(?:tests?|bench(?:mark)?s?)(?:_|$)|_(?:tests?|bench(?:mark)?s?)$")
_TIMED = re.compile(r"(?:^|_|\.)bench(?:mark)?(?:s|er|ing)?(?:_|$)", re.IGNORECASE)


class Timing(NamedTuple):
    """A setting by which inductor times kernels: where, and how the source says it."""

    node: cst.CSTNode
    shown: str


def timings(module: Module, node: cst.CSTNode) -> Iterator[Timing]:
    """What a call, an assignment or an element of a dict turns on."""
    for switch in switches(module, node):
        place, _, option = switch.flag.rpartition(".")
        on = place == _CONFIG and option in _OPTIONS and module.literal(switch.value) is True
        if on and not behind_setting(module, node):
            yield Timing(switch.node, switch.shown("True"))
    for name in _VARIABLES:
        for variable in variables(module, node, name):
            if variable.text == "1" and not behind_setting(module, node):
                yield Timing(variable.node, f"{name}=1")
    if isinstance(node, cst.Call):
        yield from _called(module, node)
    if isinstance(node, (cst.Dict, cst.Call)):
        yield from _listed(module, node)


def _listed(module: Module, node: cst.Dict | cst.Call) -> Iterator[Timing]:
    """Options in a dict that is made for some call, here or in another file: the names and modes
    are inductor's own."""
    if isinstance(node, cst.Call) and module.called(node) != "builtins.dict":
        return
    above = module.parent(node)
    if isinstance(above, cst.Arg) and _takes_options(module, module.parent(above)):
        return
    if behind_setting(module, node) or _is_asked_for(module, node):
        return
    items = list(_entries(module, node))
    given = {name: value for name, value, _ in items}
    backend = given.get("backend")
    if backend is None or module.literal(backend) == "inductor":
        yield from _turned_on(module, iter(items))
        for name, value, place in items:
            mode = module.literal(value)
            if name == "mode" and isinstance(mode, str) and mode.startswith(_MODE):
                yield Timing(place, f'mode="{mode}"')


def _takes_options(module: Module, call: cst.CSTNode | None) -> bool:
    """Whether a call is judged with the options that stand in it."""
    patches = module.called(call) == f"{_CONFIG}.patch"
    return isinstance(call, cst.Call) and (patches or _compiles(module, call) is not None)


def is_trial(module: Module, node: cst.CSTNode) -> bool:
    """Whether code stands in a test or a benchmark, which keeps no result."""
    folder, file = os.path.split(module.source.path)
    named = (os.path.splitext(file)[0], os.path.basename(folder))
    return any(map(_TRIAL.search, named)) or any(
        isinstance(above, cst.FunctionDef)
        and (_TRIAL.search(above.name.value) or any(map(_times, above.decorators)))
        for above in module.ancestors(node)
    )


def _times(decorator: cst.Decorator) -> bool:
    """``@register_benchmark(…)``."""
    made = decorator.decorator
    return _TIMED.search(last_name(made.func if isinstance(made, cst.Call) else made)) is not None


def _called(module: Module, call: cst.Call) -> Iterator[Timing]:
    if module.called(call) == f"{_CONFIG}.patch":
        yield from _turned_on(module, _patched(module, call))
        return
    function = _compiles(module, call)
    if function is None or not _uses_inductor(module, call) or compiles_pointwise(module, call):
        return
    for argument in call.args:
        keyword = argument.keyword.value if argument.keyword is not None else ""
        if keyword in ("mode", "torch_compile_mode"):
            mode = module.literal(argument.value)
            if isinstance(mode, str) and mode.startswith(_MODE) and not _is_asked_for(module, call):
                yield Timing(argument, f'{function}({keyword}="{mode}")')
        elif keyword == "options":
            # Those that a name stands for are told where they are listed.
            for timing in _turned_on(module, _entries(module, argument.value)):
                yield Timing(argument, timing.shown)


def _compiles(module: Module, call: cst.Call) -> str | None:
    """How a call that has a model compiled is written, if it is one."""
    name = module.called(call)
    if name == "functools.partial" and call.args:
        function = call.args[0].value
        return code(function) if module.qualified_name(function) == "torch.compile" else None
    if name == "torch.compile" or (name or "").startswith("transformers."):
        return code(call.func)
    # A method by its name, since the modes are torch's own: model.compile(mode="max-autotune").
    method = isinstance(call.func, cst.Attribute) and call.func.attr.value == "compile"
    return ".compile" if method and name is None else None


def _uses_inductor(module: Module, call: cst.Call) -> bool:
    backend = module.argument(call, "backend")
    disabled = module.literal(module.argument(call, "disable"))
    return disabled is not True and (backend is None or module.literal(backend) == "inductor")


def _is_asked_for(module: Module, node: cst.CSTNode) -> bool:
    """Whether a setting of that name decides, as in ``if args.max_autotune:``."""
    return any(
        isinstance(above, (cst.If, cst.IfExp))
        and "autotune" in module.tree.text(above.test).casefold()
        for above in module.ancestors(node)
    )


def _patched(module: Module, call: cst.Call) -> Iterator[Item]:
    """``patch(name=value)``, ``patch({"name": value})``, ``patch("name", value)``."""
    yield from _entries(module, call)
    values = [argument.value for argument in call.args if argument.keyword is None]
    if len(values) == 1:
        yield from _entries(module, values[0])
    elif len(values) == 2:
        yield str(module.literal(values[0])), values[1], call


def _entries(module: Module, node: cst.CSTNode) -> Iterator[Item]:
    """The items of a dict, or the keywords of a call."""
    if isinstance(node, cst.Call):
        for argument in node.args:
            if argument.keyword is not None:
                yield argument.keyword.value, argument.value, argument
    elif isinstance(node, cst.Dict):
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                yield str(module.literal(element.key)), element.value, element


def _turned_on(module: Module, items: Iterator[Item]) -> Iterator[Timing]:
    """The first option among some items that is on."""
    for name, value, node in items:
        if name in _OPTIONS and module.literal(value) is True:
            yield Timing(node, f"{name}=True")
            return
