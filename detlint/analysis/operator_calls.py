"""Calls of operators that a table names, for the rules that read one."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from detlint.analysis import (
    gradient_callers,
    gradient_inputs,
    gradient_names,
    gradient_uses,
    gradients,
    placement,
)
from detlint.analysis.kept_modules import maker
from detlint.analysis.operator_text import leads
from detlint.layout import layout_of
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.analysis.operator_text import Near
    from detlint.analysis.operators import Match
    from detlint.module import Module
    from detlint.operations import Argument


_WORD = re.compile(r"\w+")


class OperatorCalls:
    """What one rule asks about calls. ``triggers`` and ``near`` are those of the rule."""

    def __init__(self, module: Module, triggers: tuple[str, ...], near: Near) -> None:
        self._module = module
        self._triggers = triggers
        self._near = near
        self._stems = tuple(token.rstrip("(") for token in triggers)

    def match(
        self, call: cst.Call, table: Literal["refused", "switched"], release: tuple[int, int]
    ) -> Match | None:
        """The row of a table that a call leads to."""
        name = _name(maker(self._module, call.func) or call)
        if name is None:
            return None
        if not (self._is_led(*name) or name[0] in self._derived):
            return None
        # Not at the top: importing the tables takes longer than scanning a file.
        from detlint.analysis import operators

        search = operators.refused if table == "refused" else operators.switched
        found = search(self._module, call, release)
        return found if found is not None and self._is_kept(name, found) else None

    def _is_led(self, written: str, function: cst.BaseExpression) -> bool:
        """Whether a trigger begins the name of a function, or the name that one stands for."""
        if isinstance(function, cst.Attribute):  # its last word is that of what it stands for
            return written.startswith(self._stems)
        meaning = (self._module.qualified_name(function) or "").rpartition(".")[2]
        return written.startswith(self._stems) or meaning.startswith(self._stems)

    @cached_property
    def _derived(self) -> frozenset[str]:
        """The classes of the file that have a base which a trigger names."""
        return frozenset(
            block.name
            for block in layout_of(self._module.source.text).top
            if any(each.startswith(self._stems) for each in _WORD.findall(block.bases))
        )

    def _is_kept(self, name: tuple[str, cst.BaseExpression], found: Match) -> bool:
        """Whether a trigger led here: what narrowing leaves out is left out of whole files, too."""
        written, node = name
        own = found.form.rpartition(".")[2]
        if written != own:
            return f"{own}(" not in self._triggers and own not in self._near
        start, _ = self._module.span(node.attr if isinstance(node, cst.Attribute) else node)
        return leads(self._module.source.text, start, self._near)

    def is_harmless(self, call: cst.Call, found: Match) -> bool:
        """Whether it visibly runs on another device, or only a backward differs that is not."""
        elsewhere = placement.runs_on_cpu(self._module, call, found)
        if elsewhere or found.row.direction == "forward":
            return elsewhere
        if gradients.are_off(self._module, call):
            return True
        if _makes_layer(found):
            return found.made is None and (
                gradients.are_off_for(self._module, call)
                or gradient_uses.is_never_used(self._module, call)
            )
        return (
            gradient_names.is_reference(self._module, call)
            or gradient_callers.are_off_for_callers(self._module, call)
            or gradient_inputs.have_none(self._module, call, found)
            or gradient_uses.is_cut_off(self._module, call)
        )

    def is_apart(self, call: cst.Call, found: Match) -> bool:
        """Whether a gradient is concerned, and names say that nothing is trained there."""
        if found.row.direction == "forward":
            return False
        return gradients.are_unlikely_in(self._module) or (
            not _makes_layer(found) and gradients.are_unlikely(self._module, call)
        )

    def shown(self, call: cst.Call, found: Match) -> str:
        """The call as a person would name it: ``F.interpolate(mode="bicubic")``."""
        decisive = [self._argument(call, found, each) for each in found.usage.arguments]
        if "AdaptiveMax" in found.form and call.args and found.derived is None:
            decisive.append(self._size(call.args[0].value))
        function = dotted(call.func)
        if function is None and isinstance(call.func, cst.Attribute):
            function = f"….{call.func.attr.value}"
        text = f"{function or 'it'}({', '.join(filter(None, decisive))})"
        if found.derived is not None:
            text += f", made of {found.derived.base.removeprefix('torch.')},"
        if any(each.test == "dimensions" for each in found.usage.arguments + found.usage.called):
            text += " of an input with more than two dimensions"
        return text

    def _argument(self, call: cst.Call, found: Match, argument: Argument) -> str:
        from detlint.analysis.operators import given

        node = given(self._module, call, argument, method=found.form.startswith("torch.Tensor."))
        if node is None or argument.test not in ("in", "given", "not 1"):
            return ""
        if argument.test == "not 1":
            return self._size(node)
        value = self._module.literal(node)
        known = isinstance(value, (str, int, type(None)))
        if not known and argument.default in argument.values:
            return ""  # a parameter's default, which is the operator's
        if argument.test == "in" and (found.made is not None or value == argument.default):
            return ""
        if isinstance(value, (str, int)):
            shown = f'"{value}"' if isinstance(value, str) else repr(value)
            return f"{argument.name}={shown}"
        return f"{argument.name}=…"

    def _size(self, node: cst.BaseExpression) -> str:
        text = self._module.tree.text(node)
        return f"({text})" if isinstance(node, cst.Tuple) else text


def _makes_layer(found: Match) -> bool:
    """Whether it is a class that is called, or was: ``nn.CTCLoss``."""
    return found.form.rpartition(".")[2][0].isupper()


def _name(call: cst.Call) -> tuple[str, cst.BaseExpression] | None:
    """The last word of what is called, and the whole of it."""
    last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return (last.value, call.func) if isinstance(last, cst.Name) else None
