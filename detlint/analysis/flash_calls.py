"""Calls of FlashAttention that are not told to be deterministic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis import attention, flash_advice
from detlint.analysis.flash_options import calls_for_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.flash_surroundings import Surroundings
    from detlint.finding import Edit
    from detlint.module import Module
    from detlint.rule import cst


class Found(NamedTuple):
    """What is wrong at a node."""

    node: cst.CSTNode
    message: str
    advice: str
    edits: tuple[Edit, ...] = ()


def called(module: Module, call: cst.Call, around: Surroundings) -> Iterator[Found]:
    """A call of a function or a module of flash-attn, if its backward will run."""
    name = attention.library_function(module, call.func)
    if name is None or around.is_library:
        return
    given = attention.told(module, call, name)
    off = given is not None and module.literal(given) is False
    if not off and (given is not None or not _leaves_it_out(module, call, name)):
        return
    if around.serves or attention.registers_backend(module, call):
        return
    if calls_for_answers(module, call):
        return
    how = "with deterministic=False" if off else "without deterministic=True"
    message = f"{name}() {how} adds up gradients in varying order in its backward"
    edit = (
        module.replace(given, "True")
        if given is not None
        else module.add_argument(call, "deterministic=True")
    )
    advice = flash_advice.of_call(name, attention.generation(module, call.func))
    yield Found(call, message, advice, (edit,))


def _leaves_it_out(module: Module, call: cst.Call, name: str) -> bool:
    positional = sum(each.keyword is None for each in call.args)
    known = name in attention.FUNCTIONS and positional <= attention.FUNCTIONS[name]
    return known and not module.has_unpacking(call)
