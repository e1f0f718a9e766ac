"""Command lines in Python that ask for FlashAttention: lists of arguments, and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.flash_flags import asked
from detlint.analysis.launches import may_be_trained_by
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.module import Module

_COMMANDS = frozenset(
    {"append", "split", "system", "run", "Popen", "call", "check_call", "check_output"}
)


def of_elements(
    module: Module, elements: Sequence[cst.BaseElement]
) -> Iterator[tuple[cst.CSTNode, str]]:
    """The arguments in a list that ask for it, and how they are shown."""
    values = [each.value for each in elements]
    texts = [_text(module, each) for each in values]
    if not _may_train(texts):
        return
    for value, text, following in zip(values, texts, [*texts[1:], ""], strict=bool(texts)):
        if said := asked(text, following):
            yield value, said


def of_text(module: Module, node: cst.SimpleString) -> str:
    """How the first argument that asks for it in the text of a command is shown; "" if none."""
    if "--" not in node.value or not _is_command(module, node):
        return ""
    words = _text(module, node).split()
    if not _may_train(words):
        return ""
    found = (asked(*pair) for pair in zip(words, [*words[1:], ""], strict=bool(words)))
    return next(filter(None, found), "")


def _may_train(words: Sequence[str]) -> bool:
    """Whether the programs that a command names, if it does, are none that only answer."""
    pairs = zip(["", *words], words, strict=False)
    programs = [each for before, each in pairs if each.endswith(".py") or before == "-m"]
    return all(map(may_be_trained_by, programs))


def _text(module: Module, node: cst.BaseExpression) -> str:
    text = module.literal(node) if isinstance(node, cst.SimpleString) else ""
    return text if isinstance(text, str) else ""


def _is_command(module: Module, node: cst.SimpleString) -> bool:
    """``os.system("…")``, ``subprocess.run("…", shell=True)``, ``"…".split()``."""
    above = module.parent(node)
    call = module.parent(above) if above is not None else None
    return isinstance(call, cst.Call) and call_word(call) in _COMMANDS
