"""Models that others are compared with in training, and that no optimizer changes.

Told by the text: statements that use the model may have been narrowed away.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.answering import block_around
from detlint.analysis.uses import last_name
from detlint.lexer import masked
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# TRL's trainers whose second argument is the reference or the teacher, under no_grad there.
_PAIRS = r"\w*(?:DPO|KTO|BCO|XPO|NashMD|GKD)\w*Trainer\w*"
_TRAINER = re.compile(r"\b(\w*Trainer\w*)[ \t]*\(")
_SUBCLASS = r"^[ \t]*class[ \t]+(\w+)[ \t]*\([^()]*\b{}\b"
_KEYWORDS = frozenset({"ref_model", "reference_model", "teacher_model"})
_NAMED = re.compile(r"(?:^|_)(?:ref|reference|teacher)(?:_|$)")
_NO_GRADIENT = re.compile(r"^([ \t]*)with\b[^\n]*\b(?:no_grad|inference_mode)\(", re.MULTILINE)
# What is done with parameters that no optimizer has: counted, looked at, averaged.
_LOOKS = re.compile(r"numel|requires_grad|\.device|\.dtype|\bzip\(|\.copy_\(|\.shape")
_TRAINED = r"(?:\.module)?\.(?:train\((?!False)|requires_grad_\((?!False)|zero_grad|fit\()"
_WRAPS = re.compile(r"\b(?:get_peft_model|prepare_model_for_kbit_training)\(\s*$")


def is_reference(module: Module, node: cst.CSTNode) -> bool:
    """Whether the model made around a node is a trainer's reference or teacher, or one by such a
    name that is only asked for answers."""
    for above in module.ancestors(node):
        if isinstance(above, cst.Arg) and _is_given_as_reference(module, above):
            return True
        if isinstance(above, cst.Assign):
            target = above.targets[0].target
            if len(above.targets) > 1 or not isinstance(target, (cst.Name, cst.Attribute)):
                return False
            inside = module.enclosing_function(above) is not None and isinstance(target, cst.Name)
            text = masked(block_around(module, node) if inside else module.source.text)
            name = module.tree.text(target)
            return _is_of_trainer(name, text, module.source.text) or (
                isinstance(target, cst.Name) and _only_answers(name, text)
            )
    return False


def _is_given_as_reference(module: Module, argument: cst.Arg) -> bool:
    """``DPOTrainer(model, AutoModel.from_pretrained(…))``."""
    call = module.parent(argument)
    if not isinstance(call, cst.Call) or "Trainer" not in (called := last_name(call.func)):
        return False
    if argument.keyword is not None:
        return argument.keyword.value in _KEYWORDS
    second = len(call.args) > 1 and call.args[1] is argument
    return second and called in _takers(called, module.source.text)


def _takers(called: str, text: str) -> set[str]:
    """The name of a trainer, if it takes a reference for its second argument."""
    if re.fullmatch(_PAIRS, called):
        return {called}
    bases = re.compile(_SUBCLASS.format(_PAIRS), re.MULTILINE)
    return {match[1] for match in bases.finditer(text)} & {called}


def _is_of_trainer(name: str, text: str, whole: str) -> bool:
    """Whether a trainer takes a model for its reference, and none for the one that it trains."""
    found = False
    for match in _TRAINER.finditer(text):
        given = list(_arguments(text, match.end()))
        plain = [each.strip() for each in given if not re.match(r"\s*\w+\s*=(?!=)", each)]
        named = dict(each.split("=", 1) for each in given if re.match(r"\s*\w+\s*=(?!=)", each))
        keywords = {key.strip() for key, value in named.items() if value.strip() == name}
        if plain[:1] == [name] or "model" in keywords:
            return False
        second = plain[1:2] == [name] and bool(_takers(match[1], whole))
        found |= second or not keywords.isdisjoint(_KEYWORDS)
    return found


def _arguments(text: str, start: int) -> Iterator[str]:
    """The arguments of a call, by the place behind its bracket."""
    depth, begin = 0, start
    for index in range(start, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
        if depth < 0 or (text[index] == "," and not depth):
            yield text[begin:index]
            begin = index + 1
        if depth < 0:
            return


def _only_answers(name: str, text: str) -> bool:
    """Whether a local by the name of a reference or teacher is put in evaluation mode, or is
    asked under ``no_grad``, and nothing trains it."""
    if not _NAMED.search(name):
        return False
    word = rf"(?<![\w.]){name}\b"
    evaluated = re.search(rf"{word}(?:\.module)?\.eval\(", text)
    if evaluated is None and not any(re.search(word, each) for each in _without_gradient(text)):
        return False
    trained = r"\.(?:train\((?!False)|requires_grad_\((?!False)|zero_grad|fit\()"
    if re.search(rf"{word}(?:\.module)?{trained}", text) or any(
        map(_is_wrapped, _before(word, text))
    ):
        return False
    parameters = re.finditer(rf"{word}(?:\.module)?\.(?:named_)?parameters\(", text)
    return all(_LOOKS.search(_lines(text, each.start())) for each in parameters)


def _before(word: str, text: str) -> Iterator[str]:
    for match in re.finditer(word, text):
        yield text[max(match.start() - 80, 0) : match.start()]


def _is_wrapped(before: str) -> bool:
    """Whether what stands before a name hands it to a trainer, or makes it ready for one."""
    return bool(_WRAPS.search(before) or re.search(r"Trainer\((?:\s*model\s*=)?\s*$", before))


def _lines(text: str, place: int) -> str:
    """The line of a place and the one below it."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", text.find("\n", place) + 1)
    return text[start : end if end > start else len(text)]


def _without_gradient(text: str) -> Iterator[str]:
    """The bodies of ``with torch.no_grad():``."""
    for match in _NO_GRADIENT.finditer(text):
        end = re.compile(rf"^(?!{match[1]}[ \t])[ \t]*[^\s)\]}}]", re.MULTILINE)
        after = end.search(text, text.find("\n", match.end()) + 1 or len(text))
        yield text[match.end() : after.start() if after else len(text)]
