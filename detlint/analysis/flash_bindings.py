"""Functions of flash-attn that are kept or handed on, to be called by another name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import attention, flash_advice
from detlint.analysis.flash_calls import Found
from detlint.analysis.flash_options import answers_around, calls_for_answers, chosen
from detlint.analysis.uses import last_name
from detlint.lexer import masked
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.analysis.flash_surroundings import Surroundings
    from detlint.module import Module

# What calls a function with the arguments that follow it.
_APPLIES = frozenset({"functools.partial", "torch.utils.checkpoint.checkpoint"})
# What shares it out: ``DistributedAttention(flash_attn_func, group)`` of DeepSpeed.
_SHARES = re.compile(r"[A-Z]\w*Attention$")
_TOLD = re.compile(r"\bdeterministic\b")


def kept(module: Module, node: cst.CSTNode, around: Surroundings) -> Iterator[Found]:
    """``self.attend = flash_attn_func``, ``{"flash": flash_attn_func}``,
    ``return flash_attn_func``, ``partial(flash_attn_func, causal=True)``, if what is called so is
    not told to be deterministic."""
    for value, shown in _values(module, node):
        for each in chosen(value):
            name = _function(module, each)
            if name is None or around.is_library or around.serves or _is_silent(module, node):
                continue
            message = (
                f"{name}(), {shown} without deterministic=True, adds up gradients in varying "
                "order in its backward"
            )
            yield Found(each, message, flash_advice.of_kept(name))


def _values(module: Module, node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, str]]:
    """The expressions that a node keeps or hands on, and how it does."""
    if isinstance(node, cst.Assign):
        target = node.targets[0].target
        if isinstance(target, (cst.Name, cst.Attribute)) and not isinstance(node.value, cst.Dict):
            yield node.value, f"kept as {module.tree.text(target)}"
    elif isinstance(node, cst.DictElement):
        yield node.value, "kept in a table"
    elif isinstance(node, cst.Return) and node.value is not None:
        yield node.value, "returned"
    elif isinstance(node, cst.Call) and (
        module.called(node) in _APPLIES or _SHARES.match(last_name(node.func))
    ):
        yield from ((each.value, "handed on") for each in node.args[:1] if not each.star)


def _function(module: Module, node: cst.CSTNode) -> str | None:
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    name = attention.library_function(module, node)
    return name if name in attention.FUNCTIONS and name[0].islower() else None


def _is_silent(module: Module, node: cst.CSTNode) -> bool:
    """Whether its calls are told to be deterministic, may be, or are reported themselves."""
    if answers_around(module, node):
        return True
    assigned = module.parent(node) if isinstance(node, cst.Call) else node
    calls = list(_calls(module, assigned)) if isinstance(assigned, cst.Assign) else []
    if calls:
        return _are_settled(calls)
    if isinstance(node, cst.Assign) and not _is_read(module, node):
        return True
    return _TOLD.search(masked(module.source.text)) is not None


def _is_read(module: Module, node: cst.Assign) -> bool:
    """Whether the file reads an attribute that it keeps a function as; a plain name that it never
    calls may be for anything."""
    target = node.targets[0].target
    if not isinstance(target, cst.Attribute):
        return False
    pattern = rf"\.{target.attr.value}\b(?!\s*(?::[^=\n]*)?=[^=])"
    return re.search(pattern, masked(module.source.text)) is not None


def _are_settled(calls: Sequence[tuple[Module, cst.Call]]) -> bool:
    """Whether calls are reported themselves, may be told, or have no backward."""
    return any(
        attention.library_function(around, call.func) or _is_told(around, call)
        for around, call in calls
    ) or all(calls_for_answers(around, call) for around, call in calls)


def _is_told(module: Module, call: cst.Call) -> bool:
    return module.has_unpacking(call) or module.argument(call, "deterministic") is not None


def _calls(module: Module, node: cst.Assign) -> Iterator[tuple[Module, cst.Call]]:
    """The calls in the file, which may have been narrowed away, of the attribute or the plain
    name that something is assigned to."""
    target = node.targets[0].target
    own = isinstance(target, cst.Attribute)
    name = target.attr.value if isinstance(target, cst.Attribute) else module.tree.text(target)
    if not name.isidentifier():
        return
    before = r"\." if own else r"(?<![\w.])"
    text = module.source.text
    places = [each.start() + own for each in re.finditer(rf"{before}{name}\(", text)]
    around = module.around(places) if places else None
    if around is None:
        return
    for each in around.tree.occurrences.get(name, []):
        above = around.parent(each)
        function = above if own and isinstance(above, cst.Attribute) else each
        call = around.parent(function)
        if isinstance(call, cst.Call) and call.func is function:
            yield around, call
