"""What a program says elsewhere of the FlashAttention that one of its files calls or asks for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.analysis.answering import INFERS, TAKES_STEPS
from detlint.analysis.file_names import names
from detlint.analysis.flash_advice import ANY, ANY_FLASH, HUGGING_FACE, KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.callgraph.program import Program

# In a call, as that of a function that another file keeps.
_TOLD = re.compile(r"\bdeterministic=(?!False\b)\w")
# Whose attention may be meant where an option is handed on to them, or chosen by it.
_LIBRARY = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:transformers|megatron|nemo|xformers|deepspeed|kernels)\b"
    r"|\.from_pretrained\(|\.from_config\(",
    re.MULTILINE,
)
_OPTION = re.compile(r"--?([\w-]+)")
_CONFIGURES = re.compile(r"(?:^|_)(?:config|configs|cfg|cfgs|conf)(?:_|$)")
_DEFINES = re.compile(r"^(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
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


def train(programs: Sequence[Program], path: str, row: int) -> bool:
    """Whether programs show that a gradient comes to the code at a row of a file: one that is
    there to train runs the code, or may be given the file for its configuration."""
    if programs and _is_configuration(path, programs[0].source_of(path).text):
        return any(each.learns for each in programs)
    return any(each.learns and each.runs(path, row) for each in programs if path in each)


def _is_configuration(path: str, text: str) -> bool:
    return any(map(_CONFIGURES.search, names(path))) and _DEFINES.search(text) is None


def is_never_read(message: str, texts: tuple[str, ...]) -> bool:
    """Whether files declare the option that a message begins with, and nothing reads it."""
    option = _OPTION.match(message)
    return option is not None and _is_only_declared(option[1].replace("-", "_"), texts)


@lru_cache(maxsize=16)  # asked of each launch, of few options
def _is_only_declared(option: str, texts: tuple[str, ...]) -> bool:
    texts = tuple(each for each in texts if option in each or option.replace("_", "-") in each)
    name = option.replace("_", "[-_]")
    mentioned = re.compile(rf"^[^#\n]*\b{name}\b[^\n]*", re.MULTILINE)
    declared = re.compile(rf"[ \t]*(?:{name}[ \t]*:|[^\n]*add_argument\(|[\"']--?{name}[\"'])")
    lines = [line for text in texts for line in mentioned.findall(text)]
    return bool(lines) and all(map(declared.match, lines))


@lru_cache(maxsize=1)  # asked of each finding, of the same texts
def only_answer(texts: tuple[str, ...]) -> bool:
    """Whether some of the files run a model, and none of them trains one."""
    return any(map(INFERS.search, texts)) and not any(map(TAKES_STEPS.search, texts))


def _is_of_torch(program: Program) -> bool:
    """Whether the switch chooses PyTorch's own attention: a file that names it calls that, none
    such a library that has another, and no file imports FlashAttention."""
    texts = list(program.texts())
    naming = [each for each in texts if "use_flash_att" in each and _SWITCH.search(each)]
    return any(map(_OWN.search, naming)) and not (
        any(map(_LIBRARY.search, naming)) or any(map(_imports_flash, texts))
    )


def _imports_flash(text: str) -> bool:
    named = "flash_attn" in text or "transformer_engine" in text
    return named and _FLASH.search(text) is not None
