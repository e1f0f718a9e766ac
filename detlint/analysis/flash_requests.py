"""Options and arguments in Python that ask for FlashAttention by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import flash_arguments
from detlint.analysis.flash_advice import ANY_FLASH, EFFECT, FLAG, OLD_KEYWORD
from detlint.analysis.flash_calls import Found
from detlint.analysis.flash_flags import IMPLEMENTATIONS, SWITCHES
from detlint.analysis.flash_options import (
    CHOICES,
    by_place,
    chosen,
    for_answers,
    is_of_a_checkpoint,
    is_overwritten,
    shown,
)
from detlint.analysis.options import options
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.analysis.flash_surroundings import Surroundings
    from detlint.analysis.options import Option
    from detlint.module import Module

# Hugging Face reads these as well; the second is what the first set before there was a choice.
_OLD = frozenset({"use_flash_attention_2", "_flash_attn_2_enabled"})
_HUGGING_FACE = CHOICES | _OLD
_NAMES = _HUGGING_FACE | SWITCHES


class Requests:
    """Answers about the nodes of a file."""

    def __init__(self, module: Module, around: Surroundings) -> None:
        self._module = module
        self._around = around

    def of(self, node: cst.CSTNode) -> Iterator[Found]:
        """The options that a node gives a value that asks for it."""
        given = list(options(self._module, node, _NAMES))
        if isinstance(node, cst.Call):
            given += by_place(self._module, node)
        for option in given:
            if option.name in CHOICES:
                yield from self._chosen(option)
            elif self._is_on(option) and not self._is_settled(option):
                advice = OLD_KEYWORD if option.name in _HUGGING_FACE else ANY_FLASH
                said = shown(self._module, option, "True")
                yield Found(option.node, f"{said} asks for {EFFECT}", advice)

    def of_elements(self, elements: Sequence[cst.BaseElement]) -> Iterator[Found]:
        """The arguments in a list that ask for it."""
        for value, said in flash_arguments.of_elements(self._module, elements):
            if not self._around.settles:
                yield Found(value, f"{said} asks for {EFFECT}", FLAG)

    def of_text(self, node: cst.SimpleString) -> Iterator[Found]:
        """The text of a command that asks for it."""
        said = flash_arguments.of_text(self._module, node)
        if said and not self._around.settles:
            yield Found(node, f"{said} asks for {EFFECT}", FLAG)

    def _chosen(self, option: Option) -> Iterator[Found]:
        """The first of the values of an option that is an implementation by FlashAttention."""
        module = self._module
        # No trigger stands where config._attn_implementation is set to a constant's name: it
        # occurs in nearly every model of a library, to be read.
        direct = option.name.startswith("_") and option.form != "keyword"
        for value in chosen(module.names.value_of(option.value)):
            found = module.literal(value)
            if found in IMPLEMENTATIONS and (isinstance(value, cst.SimpleString) or not direct):
                if not self._is_settled(option):
                    said = shown(module, option, f'"{found}"')
                    edit = module.replace(value, '"sdpa"')
                    advice = self._around.advice(module.parent(option.node))
                    yield Found(option.node, f"{said} asks for {EFFECT}", advice, (edit,))
                return

    def _is_on(self, option: Option) -> bool:
        call = self._module.parent(option.node)
        told = isinstance(call, cst.Call) and self._module.argument(call, "deterministic")
        off = told and self._module.literal(told) is not False
        return self._module.literal(option.value) is True and not off

    def _is_settled(self, option: Option) -> bool:
        """Whether what is around an option makes it deterministic, or has no backward."""
        module = self._module
        if is_of_a_checkpoint(module, option) or is_overwritten(module, option):
            return True
        if for_answers(module, option.node):
            return True
        around = self._around
        return around.settles_hugging_face if option.name in _HUGGING_FACE else around.settles
