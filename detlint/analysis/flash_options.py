"""Options that ask for FlashAttention: by their place, only for answers, and as they are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis import answering, answering_functions, attention, phases, reference_models
from detlint.analysis.argument import described
from detlint.analysis.conditions import call_word
from detlint.analysis.definitions import Definitions
from detlint.analysis.flash_flags import IMPLEMENTATIONS
from detlint.analysis.notebook_models import only_answers
from detlint.analysis.options import Option
from detlint.analysis.uses import last_name
from detlint.lexer import masked
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

CHOICES = frozenset({"attn_implementation", "_attn_implementation"})
# Of transformers' models.
_SETTER = "set_attn_implementation"
# What a main block that is more than a try says or calls.
_LEARNS = re.compile(
    r"backward|grad|optim|train|\bfit\b|\b(?:main|run|cli|app|parse_\w+|Fire)\w*\(", re.IGNORECASE
)
# https://github.com/Dao-AILab/flash-attention#flashattention-3-beta-release
_EIGHT_BITS = re.compile(r"(?:^|[\W_])(?:fp8|float8)")
_DENIED = re.compile(r"\bnot\b|!=|\bor\b")


def by_place(module: Module, call: cst.Call) -> Iterator[Option]:
    """``train("flash_attention_2")``, of a function of the file that takes it for its
    ``attn_implementation``, and ``model.set_attn_implementation("flash_attention_2")``."""
    given = [each for each in call.args if _is_implementation(module, each)]
    if not given:
        return
    if call_word(call) == _SETTER:
        yield Option("attn_implementation", given[0].value, given[0], "place")
        return
    definition = Definitions(module).of(call.func)
    taken = (definition.arguments(call) or {}) if definition is not None else {}
    for name, value in taken.items():
        for each in given:
            if name in CHOICES and each.value is value:
                yield Option(name, value, each, "place")


def _is_implementation(module: Module, argument: cst.Arg) -> bool:
    plain = argument.keyword is None and isinstance(argument.value, cst.SimpleString)
    return plain and module.literal(argument.value) in IMPLEMENTATIONS


def chosen(value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What an expression may yield: both sides of a choice, the values of a mapping."""
    if isinstance(value, cst.IfExp):
        yield from chosen(value.body)
        yield from chosen(value.orelse)
    elif isinstance(value, cst.BooleanOperation):
        yield from chosen(value.right)
    elif isinstance(value, cst.Dict):
        for element in value.elements:
            yield element.value
    else:
        yield value


def is_of_a_checkpoint(module: Module, option: Option) -> bool:
    """Whether an option is only the default of a model's configuration: what a checkpoint or who
    makes the model says counts, and it asks for nothing by itself."""
    owner = module.enclosing_class(option.node) if option.form == "parameter" else None
    return owner is not None and any(
        last_name(each.value).endswith("Config") for each in owner.bases
    )


def is_overwritten(module: Module, option: Option) -> bool:
    """Whether what its function sets last, on no condition, is another value."""
    function = module.enclosing_function(option.node)
    if option.form != "attribute" or not isinstance(function, cst.FunctionDef):
        return False
    if not isinstance(option.node, cst.Assign) or not isinstance(function.body, cst.IndentedBlock):
        return False
    target = module.tree.text(option.node.targets[0].target)
    place = module.span(option.node)[1]
    return any(
        isinstance(each, cst.Assign)
        and module.span(each)[0] > place
        and module.tree.text(each.targets[0].target) == target
        and module.literal(each.value) in (False, "sdpa", "eager")
        for line in function.body.body
        if isinstance(line, cst.SimpleStatementLine)
        for each in line.body
    )


def never_runs(module: Module, node: cst.CSTNode) -> bool:
    """Whether nothing can lead to a node."""
    from detlint.analysis import unreachable  # which needs the parser

    return unreachable.never_runs(module, node)


_FOR_ANSWERS = (
    never_runs,
    phases.answers,
    attention.records_none,
    answering.is_evaluated,
    answering.caches,
    answering.is_checked,
    answering.compares_answers,
    answering.measures,
    answering.is_aside,
    answering.is_frozen_around,
    reference_models.is_reference,
    only_answers,
)


def for_answers(module: Module, node: cst.CSTNode) -> bool:
    """Whether what is around an option says that the model only answers."""
    return any(says(module, node) for says in _FOR_ANSWERS)


def is_chosen_by_name(module: Module, node: cst.CSTNode) -> bool:
    """Whether a class around a node is one that Hugging Face's models take where
    ``attn_implementation`` asks for it: what asks for it is told."""
    owner = module.enclosing_class(node)
    return owner is not None and owner.name.value.endswith("FlashAttention2")


def calls_for_answers(module: Module, call: cst.Call) -> bool:
    """The same of a call of FlashAttention itself."""
    return (
        never_runs(module, call)
        or attention.has_no_backward(module, call)
        or answering_functions.only_answers(module, call)
        or answering.compares_answers(module, call)
        or answering.measures(module, call)
        or _is_tried(module, call)
        or _is_in_eight_bits(module, call)
    )


def answers_around(module: Module, node: cst.CSTNode) -> bool:
    """The same of what keeps a function of FlashAttention, for calls elsewhere."""
    return (
        never_runs(module, node)
        or phases.answers(module, node)
        or answering.compares_answers(module, node)
        or answering.measures(module, node)
        or attention.registers_backend(module, node)
    )


def _is_tried(module: Module, call: cst.Call) -> bool:
    """Whether a main block only tries what its file defines, without a backward."""
    if module.enclosing_function(call) is not None:
        return False
    text = masked(answering.block_around(module, call))
    return text.startswith("if __name__ ==") and _LEARNS.search(text) is None


def _is_in_eight_bits(module: Module, call: cst.Call) -> bool:
    """Whether a branch is for numbers of eight bits, of which FlashAttention has no backward."""
    below: cst.CSTNode = call
    for above in module.ancestors(call):
        if isinstance(above, cst.If) and below is above.body:
            test = module.tree.text(above.test)
            if _EIGHT_BITS.search(test) and not _DENIED.search(test):
                return True
        below = above
    return False


def shown(module: Module, option: Option, value: str) -> str:
    """An option and its value as a message says them, near to what the source does."""
    call = module.parent(option.node)
    if option.form == "place" and isinstance(call, cst.Call):
        return f"{described(call.func)}({value})"
    makes = option.form == "field" and getattr(option.node, "value", None) is not option.value
    if makes or option.form in ("flag", "default"):
        return f"{option.name} (default: {value})"
    return f"{option.name}={value}"
