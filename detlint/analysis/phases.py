"""Whether code runs where a model answers, not where it is trained, by what it is called.

Decoding, prefilling, inference: in the names of functions and classes, and in the conditions
of the branches around it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.branches import jumps
from detlint.analysis.uses import last_name, words
from detlint.models.names import words_of
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# At the start of a word in a function's name. Not a decoder: that is half of what is trained.
_FUNCTION = re.compile(
    r"(?:^|_)(?:decode(?!r)|decoding|pre_?fill|generate(?!d|or)|generation|infer(?!red)|predict(?!or))"
)
# A class for conditional generation is trained, too.
_CLASS = words("decode decoding inference prefill prefilling")
_ANSWERS = words("decode decoding generating inference infer inferring prefill prefilling")
_TRAINS = words("training train")
# What a branch begins with: "# decode phase".
_COMMENT = re.compile(
    r"#+[ \t]*(?:decod(?:e|ing)|inference|infer|generat(?:e|ion|ing))\b", re.IGNORECASE
)
# How many tokens are asked about at once: one, where a model decodes.
_QUERIES = re.compile(
    r"^(?:\w+\.)*(?:(?:q|query|tgt|seq)_?(?:seq_?)?len(?:gth)?|(?:max_)?seqlen_q)$"
    r"|^(?:q|quer(?:y|ies)\w*|hidden_states|x)\.(?:shape\[(?:1|-2)\]|size\((?:1|-2)\))$"
)
_RECORDS = frozenset({"requires_grad", "is_grad_enabled"})
_GRADIENTS = frozenset({"torch.is_grad_enabled"})


def answers(module: Module, node: cst.CSTNode, *, forward: bool = False) -> bool:
    """Whether names around some code say that nothing is trained there.

    ``forward`` leaves out whether gradients are recorded, for what differs without any: a
    backward that is written by hand asks that, too.
    """
    below = node
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            if _FUNCTION.search(above.name.value):
                return True
        elif isinstance(above, cst.ClassDef):
            if not _CLASS.isdisjoint(words_of(above.name.value)):
                return True
        elif isinstance(above, (cst.If, cst.IfExp)):
            if below is not above.test and _decides(
                module, above.test, below is above.body, forward
            ):
                return True
        elif isinstance(above, cst.IndentedBlock) and (
            any(_decides(module, test, False, forward) for test in _left_behind(above, below))
            or _is_said_to_answer(module, above)
        ):
            return True
        below = above
    return False


def _is_said_to_answer(module: Module, block: cst.IndentedBlock) -> bool:
    """Whether a comment at the top of a branch says so."""
    if not isinstance(module.parent(block), (cst.If, cst.Else)):
        return False
    text = module.source.text  # what is parsed holds no comments
    end = text.rfind("\n", 0, module.span(block.body[0])[0])
    while end > 0:
        begin = text.rfind("\n", 0, end) + 1
        line = text[begin:end].strip()
        if _COMMENT.search(line):
            return True
        if line and not line.startswith("#"):  # the line of the `if` or `else`
            return False
        end = begin - 1
    return False


def asserts_no_gradient(module: Module, node: cst.CSTNode) -> bool:
    """Whether a statement before some code asserts that no gradient is recorded.

    ``assert x.requires_grad is False``, ``assert not x.requires_grad``.
    """
    below = node
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            return False
        if isinstance(above, cst.IndentedBlock):
            for statement in above.body:
                if statement is below:
                    break
                if isinstance(statement, cst.SimpleStatementLine) and any(
                    isinstance(each, cst.Assert) and _needs_none(module, each.test)
                    for each in statement.body
                ):
                    return True
        below = above
    return False


def _needs_none(module: Module, test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        denied = test.expression
        return last_name(denied.func if isinstance(denied, cst.Call) else denied) in _RECORDS
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    operator, value = test.comparisons[0].operator, test.comparisons[0].comparator
    same = isinstance(operator, (cst.Equal, cst.Is)) and module.literal(value) is False
    return same and last_name(test.left) in _RECORDS


def _left_behind(block: cst.IndentedBlock, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The conditions under which a block is left before a statement of it: none of them holds."""
    for statement in block.body:
        if statement is node:
            return
        if isinstance(statement, cst.If) and jumps(statement):
            yield statement.test


def _decides(module: Module, test: cst.BaseExpression, holds: bool, forward: bool) -> bool:
    """Whether a condition that holds, or does not, says that a model only answers."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _decides(module, test.expression, not holds, forward)
    if isinstance(test, cst.BooleanOperation):
        sides = [_decides(module, each, holds, forward) for each in (test.left, test.right)]
        return any(sides) if isinstance(test.operator, cst.And) is holds else all(sides)
    if isinstance(test, cst.Comparison):
        return _compares(module, test, holds, forward)
    if isinstance(test, cst.Call) and module.called(test) in _GRADIENTS:
        return not (holds or forward)
    said = set(words_of(last_name(test.func if isinstance(test, cst.Call) else test)))
    return not said.isdisjoint(_ANSWERS if holds else _TRAINS)


def _compares(module: Module, test: cst.Comparison, holds: bool, forward: bool) -> bool:
    """``phase == "decode"``, ``mode is Mode.TRAINING``, ``inference_params is not None``,
    ``q_len == 1``."""
    if len(test.comparisons) != 1:
        return False
    operator, value = test.comparisons[0].operator, test.comparisons[0].comparator
    if module.tree.text(value) == "1" and _QUERIES.search(module.tree.text(test.left)):
        return isinstance(operator, cst.Equal if holds else (cst.NotEqual, cst.GreaterThan))
    same = isinstance(operator, (cst.Equal, cst.Is))
    if not same and not isinstance(operator, (cst.NotEqual, cst.IsNot)):
        return False
    literal = module.literal(value)
    if literal is None or isinstance(literal, bool):
        return _decides(module, test.left, holds is (same is (literal is True)), forward)
    said = set(words_of(literal if isinstance(literal, str) else last_name(value)))
    return not said.isdisjoint(_ANSWERS if holds is same else _TRAINS)
