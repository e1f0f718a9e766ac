"""Whether code runs where a model is trained, or only where it answers.

What is certain: code that never runs, or runs where no gradient is recorded. The rest is told by
names, and is a doubt: the functions, classes and conditions around code, what it caches.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from detlint.dataflow.control import is_certain
from detlint.dataflow.ir import DECORATORS
from detlint.dataflow.path_conditions import decided, implies
from detlint.models import attention as rows
from detlint.syntax.mentions import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op, Region


# Certain


def has_no_backward(op: Op) -> bool:
    """Whether an operation never runs, or records no gradient."""
    return never_runs(op) or records_none(op) or _is_asserted(op)


def never_runs(op: Op) -> bool:
    """Whether constants keep an operation from running."""
    asserted = ((each.args[0], True) for each in _asserts_before(op))
    told = chain(decided(op), asserted)
    return any(implies(test, _is_impossible, holds=holds) for test, holds in told)


def _is_impossible(test: Op, *, holds: bool) -> bool:
    value = test.constant
    return value is not ... and bool(value) is not holds


def records_none(op: Op) -> bool:
    """Whether an operation lies where no gradients are recorded."""
    node = op.node
    for function in op.function.around():
        whole, starts, ends = _unrecorded(function)
        row = getattr(node, "lineno", 0)
        before = bisect_right(starts, row) - 1
        if whole or (before >= 0 and row <= ends[before]):
            return True
        node = function.node or node
    return False


@lru_cache(maxsize=8)  # few: each holds its file
def _unrecorded(function: Function) -> tuple[bool, list[int], list[int]]:
    """Whether a function records no gradients at all; the first rows of its blocks that do not,
    and with each the last row of those that begin no later."""
    blocks = [op.name for op in function.coded("enter") if stops(op.args[0])]
    rows = sorted((each.body[0].lineno, each.end_lineno or 0) for each in blocks)
    ends = list(accumulate((end for _, end in rows), max))
    return any(map(stops, decorators(function))), [start for start, _ in rows], ends


def decorators(function: Function) -> Iterator[Op]:
    for each in function.nested:
        if each.name == DECORATORS:
            yield from (op.args[0] for op in each.ops if op.code == "drop")


def stops(op: Op) -> bool:
    """``torch.no_grad()``, ``torch.set_grad_enabled(False)``."""
    values = op.values
    names = values.called(op) or values.qualified(op)
    if not rows.NO_GRADIENT.isdisjoint(names):
        return True
    mode = op.given("mode", 0) if op.code == "call" else None
    off = mode is not None and values.constant(mode) is False
    return off and not rows.GRADIENT_SWITCH.isdisjoint(names)


def _asserts_before(op: Op) -> Iterator[Op]:
    around = set(op.region.around())
    for each in op.function.coded("test"):
        if each.name == "assert" and each.place < op.place and each.region in around:
            yield each


def _is_asserted(op: Op) -> bool:
    """Whether code before it asserts that no gradient is recorded: ``assert not
    x.requires_grad``."""
    return any(_needs_none(each.args[0]) for each in _asserts_before(op))


def _needs_none(test: Op) -> bool:
    if test.code == "not":
        return last_word(test.args[0]) in rows.RECORDS
    if test.code != "compare" or test.name not in (("Eq",), ("Is",)):
        return False
    left, right = test.args
    values = test.values
    return values.constant(right) is False and last_word(left) in rows.RECORDS


# By names


def only_answers(op: Op) -> bool:
    """Whether names around an operation say that nothing is trained there."""
    functions = list(op.function.around())
    names = [each.word for each in functions]
    return (
        any(map(rows.function_answers, names))
        or rows.class_answers(op.function.class_name)
        or any(implies(test, _decides, holds=holds) for test, holds in decided(op))
        or any(map(_needs_cache, functions))
        or _is_asked_for_answers(functions[-1])
        or _measures(functions)
        or any(map(_is_in_eight_bits, op.region.around()))
        or any(map(_is_said_to_answer, op.region.around()))
    )


def _decides(test: Op, *, holds: bool) -> bool:
    """Whether a condition that holds, or does not, says that a model only answers."""
    if test.code == "compare":
        return _compares(test, holds=holds)
    if test.code == "call" and last_word(test) == "is_grad_enabled":
        return not holds
    return any(rows.condition_answers(name, holds=holds) for name in own_names(test))


def _compares(test: Op, *, holds: bool) -> bool:
    """``phase == "decode"``, ``mode is Mode.TRAINING``, ``inference_params is not None``,
    ``q_len == 1``."""
    if len(test.args) != 2:
        return False
    (operator,), (left, right) = test.name, test.args
    value = test.values.constant(right)
    if value == 1 and value is not True and _is_length_of_queries(left):
        return operator in (("Eq",) if holds else ("NotEq", "Gt"))
    same = operator in ("Eq", "Is")
    if not same and operator not in ("NotEq", "IsNot"):
        return False
    if value is None or isinstance(value, bool):
        return implies(left, _decides, holds=holds is (same is (value is True)))
    said = [value] if isinstance(value, str) else own_names(right)
    return any(rows.condition_answers(each, holds=holds is same) for each in said)


def _is_length_of_queries(op: Op) -> bool:
    """``q_len``, ``q.shape[1]``, ``x.size(-2)``."""
    if any(map(rows.is_length_of_queries, own_names(op))):
        return True
    values = op.values
    if op.code == "item":
        axis, sized, word = op.args[1], op.args[0], "shape"
    elif op.code == "call" and len(op.args) == 2:
        axis, sized, word = op.args[1], op.args[0], "size"
    else:
        return False
    owner = sized.args[0] if sized.code == "attr" and sized.name == word else None
    first = owner is not None and any(map(rows.are_queries, own_names(owner)))
    return first and values.constant(axis) in (1, -2)


def last_word(op: Op) -> str:
    """The last word of a name, or of what is called."""
    return (op.args[0] if op.code == "call" else op).word


def own_names(op: Op) -> list[str]:
    """What a value is called: as it is written, and the variables that hold it."""
    bound = [each.rpartition(".")[2] for each in op.function.names_of(op)]
    return [last_word(op), *bound]


def takes_cache(call: Op) -> bool:
    """Whether a call is given a cache of keys and values, by the name of an argument."""
    names = [str(name) for name, _ in call.arguments() if name]
    for _, value in call.arguments():
        names += own_names(value)
        names += own_names(value.args[0]) if value.args else []
    return any(map(rows.holds_cache, names))


def makes_cache(function: Function) -> bool:
    """Whether a function makes a cache of keys and values, to decode with."""
    named = holds(function.unit.text, "KVCache")
    return named and any(last_word(op).endswith("KVCache") for op in function.coded("call"))


def _needs_cache(function: Function) -> bool:
    """Whether a function takes a cache, and does not run without: ``kv_cache.put(keys)`` on no
    condition."""
    for name, param in function.params.items():
        bound = function.bindings[name]
        if rows.is_cache(name) and all(each is param or each.code == "change" for each in bound):
            for use in param.uses:
                if use.code in ("attr", "item") and use.args[0] is param and is_certain(use):
                    return True
    return False


def _is_asked_for_answers(function: Function) -> bool:
    """Whether only functions by the name of evaluation or inference name a function of the file:
    ``def enable_for_eval(model): model.forward = function``."""
    if function.class_name or not function.name or isinstance(function.node, ast.ClassDef):
        return False
    name, unit = function.name, function.unit
    asking = [each for each in unit.all_naming(name) if name in each.globals]
    return bool(asking) and all(rows.evaluates(each.word) for each in asking)


def _measures(functions: list[Function]) -> bool:
    """Whether a function takes a time, by its name, and learns nothing."""
    return any(rows.measures(each.word) and not steps(each) for each in functions)


def steps(function: Function) -> bool:
    """Whether a function trains something, more than by a backward alone."""
    return any(
        op.code == "call" and rows.trains(last_word(op)) and last_word(op) != "backward"
        for each in function.everything()
        for op in each.ops
    )


def trains(function: Function) -> bool:
    """Whether a function trains something."""
    return any(
        op.code == "call" and (rows.trains(last_word(op)) or last_word(op) == "train")
        for each in function.everything()
        for op in each.ops
    )


def is_tried(op: Op) -> bool:
    """Whether a main block only tries what its file defines, without a backward."""
    block = next((each for each in op.region.around() if _is_main(each)), None)
    if block is None:
        return False
    inside = op.function.ops[block.start : block.end]
    return not any(each.code == "call" and rows.learns(last_word(each)) for each in inside)


def _is_main(region: Region) -> bool:
    """``if __name__ == "__main__":``."""
    test = region.head.args[0] if region.kind == "if" and region.head is not None else None
    return test is not None and test.code == "compare" and last_word(test.args[0]) == "__name__"


def _is_in_eight_bits(region: Region) -> bool:
    """Whether a branch is for numbers of eight bits, of which FlashAttention has no backward."""
    if region.kind != "if" or region.head is None:
        return False
    test = region.head.args[0]
    plain = bool(test.word) or (test.code == "compare" and test.name in (("Eq",), ("Is",)))
    named = [last_word(each) for each in (test, *test.args)] if plain else []
    return any("fp8" in each.split("_") or each.startswith("float8") for each in named)


def _is_said_to_answer(region: Region) -> bool:
    """Whether a comment at the top of a branch says so: ``# decode phase``."""
    node = region.node
    if region.kind not in ("if", "else") or not isinstance(node, ast.If):
        return False
    body = node.body if region.kind == "if" else node.orelse
    source = region.function.unit.source
    for row in range(body[0].lineno - 1, node.lineno - 1, -1):
        head, _, comment = source.line(row).partition("#")
        if rows.function_answers(comment.split(",")[0].partition(" phase")[0].strip("# ")):
            return True
        if head.strip():  # the line of the ``if`` or ``else``
            return False
    return False


def registers(function: Function) -> bool:
    """Whether a decorator registers a function: choosing it is up to others."""
    return any("regist" in ast.unparse(each.node) for each in decorators(function))
