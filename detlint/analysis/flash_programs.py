"""What a program says elsewhere of the FlashAttention that one of its files calls or asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.flash_advice import ANY, ANY_FLASH, HUGGING_FACE, KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.project.program import Program

# In a call, as that of a function that another file keeps.
_TOLD = re.compile(r"\bdeterministic=(?!False\b)\w")
# Whose attention may be meant where an option is handed on to them, or chosen by it.
_LIBRARY = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:transformers|megatron|nemo|xformers|deepspeed|kernels)\b"
    r"|\.from_pretrained\(|\.from_config\(",
    re.MULTILINE,
)
_BY_NAME = re.compile(r"\b(?:import_module|__import__|exec_module|instantiate)\(")
_FLASH = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:flash_attn|transformer_engine)", re.MULTILINE)
_SWITCH = re.compile(r"\buse_flash_att\w+")
_OWN = re.compile(r"\bscaled_dot_product_attention\b")


def settles(program: Program, advice: str) -> bool:
    """Whether a program makes deterministic what some advice is about, or means another thing.

    FlashAttention itself reads no variable: only what calls it for the program does.
    """
    if advice.startswith(KEPT):
        return any(map(_TOLD.search, program.texts()))
    if advice == ANY_FLASH and _is_of_torch(program):
        return True
    if advice not in HUGGING_FACE | ANY:
        return False
    return (
        program.has("sets", "FLASH_ATTENTION_DETERMINISTIC=1")
        or program.is_guarded()
        or (advice in ANY and program.has("sets", "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0"))
    )


def may_train(programs: Sequence[Program], path: str, row: int) -> bool:
    """Whether the code at a row of a file is of a program's own, or one that trains may run it:
    not a notebook, whose fits are of other things."""
    within = [each for each in programs if path in each]
    if any(each.path == path for each in within):
        return True
    training = [each for each in programs if each.path.endswith(".py") and not each.only_answers()]
    if not within:
        return any(map(_imports_by_name, training))
    return any(each.may_run(path, row) for each in training if path in each)


def _imports_by_name(program: Program) -> bool:
    """Whether a program imports modules, or makes objects, by names that it reads or puts
    together."""
    return any(map(_BY_NAME.search, program.texts()))


def _is_of_torch(program: Program) -> bool:
    """Whether the switch chooses PyTorch's own attention: a file that names it calls that, none
    such a library that has another, and no file imports FlashAttention."""
    texts = list(program.texts())
    naming = list(filter(_SWITCH.search, texts))
    return any(map(_OWN.search, naming)) and not (
        any(map(_LIBRARY.search, naming)) or any(map(_FLASH.search, texts))
    )
