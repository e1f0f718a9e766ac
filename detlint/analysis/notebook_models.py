"""Whether a model that a notebook makes only answers, until another takes its name.

Told by the text of its cells: functions that use the name may have been narrowed away.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.kinds import NOTEBOOK
from detlint.lexer import masked
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_ANSWERS = re.compile(
    r"generat|infer|predict|pipeline|decod|evaluat|^eval$|answer|chat$|caption|transcrib|describe",
    re.IGNORECASE,
)
# What neither trains nor answers.
_NEITHER = frozenset(
    (
        *("device", "dtype", "config", "generation_config", "to", "cuda", "half", "bfloat16"),
        *("hf_device_map", "get_memory_footprint", "num_parameters", "load_adapter", "tie_weights"),
        *("set_adapter", "save_pretrained", "push_to_hub", "merge_and_unload", "name_or_path"),
        *("print", "type", "display", "from_pretrained"),
    )
)
_HEAD = re.compile(r"^(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
_TOP = re.compile(r"^[^\s#)\]}]", re.MULTILINE)
_DEFINES = re.compile(r"\bdef[ \t]+\w+[ \t]*\(")
_CALLED = re.compile(r"([\w.]+)[ \t]*$")
_WITHOUT_GRADIENT = re.compile(r"\bno_grad\b|\binference_mode\b")
_NEAR = 400


def only_answers(module: Module, node: cst.CSTNode) -> bool:
    """Whether a cell binds what it makes around a node to a name that, until it is bound anew,
    is asked for answers and given to nothing that may train it."""
    if module.source.kind != NOTEBOOK or module.enclosing_function(node) is not None:
        return False
    bound = next((each for each in module.ancestors(node) if isinstance(each, cst.Assign)), None)
    if bound is None or not isinstance(bound.value, cst.Call):
        return False
    target = bound.targets[0].target
    if not isinstance(target, cst.Name) or len(bound.targets) > 1:
        return False
    text = masked(module.source.text)
    uses = [_use(text, *place) for place in _places(text, target.value, module.span(bound)[1])]
    return "answers" in uses and "" not in uses


def _places(text: str, name: str, start: int) -> Iterator[tuple[int, int]]:
    """Where a name is used from a place on until it is bound anew, and in functions anywhere."""
    blocks = [(each.start(), _block_end(text, each.end())) for each in _HEAD.finditer(text)]
    until = len(text)
    for bound in re.finditer(rf"^{name}[ \t]*(?:=(?!=)|,|:)", text[start:], re.MULTILINE):
        value = start + bound.end()
        if not re.search(rf"(?<![\w.]){name}\b(?![ \t]*=(?!=))", text[value : _end(text, value)]):
            until = start + bound.start()
            break
    for match in re.finditer(rf"(?<![\w.]){name}\b(?![ \t]*=(?!=))", text):
        place = match.start()
        block = next((each for each in blocks if each[0] <= place < each[1]), None)
        if block is None and not start <= place < until:
            continue
        if block is None or not _is_parameter(text, name, block[0], place):
            yield match.span()


def _block_end(text: str, start: int) -> int:
    following = _TOP.search(text, text.find("\n", start) + 1 or len(text))
    return following.start() if following else len(text)


def _end(text: str, place: int) -> int:
    """The end of a statement: of the line in which no bracket is open."""
    depth = 0
    for index in range(place, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[index], 0)
        if text[index] == "\n" and depth <= 0:
            return index
    return len(text)


def _is_parameter(text: str, name: str, start: int, place: int) -> bool:
    """Whether the function around a place, or that it declares, has a parameter of the name."""
    heads = [each.end() for each in _DEFINES.finditer(text, start, place)]
    for head in reversed(heads):
        if re.search(rf"\b{name}\b", text[head : _end(text, head - 1)].partition("):")[0]):
            return True
    return False


def _use(text: str, start: int, end: int) -> str:
    """What a use does with a model: "answers", "neither", or "" where it may train."""
    member = re.compile(r"\s*\.\s*(\w+)").match(text, end)
    if member is not None:
        return _kind(member[1])
    if re.compile(r"[ \t]*\(").match(text, end):
        recent = _WITHOUT_GRADIENT.search(text, max(start - _NEAR, 0), start)
        return "answers" if recent else ""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if re.fullmatch(r"[ \t]*(?:del[ \t]+(?:\w+[ \t]*,[ \t]*)*)?", line):
        return "neither"
    return _kind(_call_around(text, start))


def _kind(name: str) -> str:
    if _ANSWERS.search(name):
        return "answers"
    return "neither" if name in _NEITHER else ""


def _call_around(text: str, place: int) -> str:
    """The last name of the call that something is an argument of; "" for none."""
    depth = 0
    for index in range(place - 1, max(place - 4 * _NEAR, -1), -1):
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(text[index], 0)
        if depth < 0:
            called = _CALLED.search(text, max(index - _NEAR, 0), index)
            return called[1].rpartition(".")[2] if called and text[index] == "(" else ""
    return ""
