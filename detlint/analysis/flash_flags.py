"""Flags on command lines that ask for FlashAttention."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.command_options import options
from detlint.documents.document import Word
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.launches import Launch
    from detlint.source import Source

IMPLEMENTATIONS = frozenset({"flash_attention_2", "flash_attention_3"})
SWITCHES = frozenset({"use_flash_attention_2", "use_flash_attn", "use_flash_attention"})
_FLAGS = frozenset(f"--{name.replace('_', sep)}" for name in SWITCHES for sep in "-_")
# Flags that take a value, with the values that ask for FlashAttention.
_VALUED = {
    "--attn-implementation": IMPLEMENTATIONS,
    "--attn_implementation": IMPLEMENTATIONS,
    "--attention-backend": frozenset({"flash"}),
}
# The same by the name of the option, in launches of programs.
_CHOICES = {
    "attn_implementation": IMPLEMENTATIONS,
    "_attn_implementation": IMPLEMENTATIONS,
    "attn_impl": IMPLEMENTATIONS | {"flash_attn"},  # ms-swift
    "flash_attn": frozenset({"fa2", "fa3"}),  # LLaMA-Factory
}
_MEGATRON = {"attention_backend": frozenset({"flash"})}
_BARE = SWITCHES | {"flash_attn", "use_flash_attn_2", "use_flash_attn_v2", "flash_attention"}
_DETERMINISTIC = words("deterministic_mode full_determinism enable_full_determinism")


class Request(NamedTuple):
    """A flag that asks for FlashAttention; ``choice``: of Hugging Face, by the name of an
    implementation."""

    word: Word
    shown: str
    choice: bool


def asked(word: str, following: str) -> str:
    """The flag by which an argument, or it and the next, asks for FlashAttention; else ""."""
    flag, equals, value = word.partition("=")
    if flag in _FLAGS:
        off = (value or following).lower() in ("false", "0", "no")
        return "" if off else word
    if flag in _VALUED and (value or following) in _VALUED[flag]:
        return word if equals else f"{word} {following}"
    return ""


def requests(source: Source, launch: Launch) -> Iterator[Request]:
    """The flags of a launch that ask for it, unless the launch makes it deterministic."""
    if is_deterministic(source, launch):
        return
    given = list(options(source, launch.arguments))
    settings = launch.environment
    hugging_face = settings.get("FLASH_ATTENTION_DETERMINISTIC", "0") != "1"
    engine = settings.get("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "1") != "0"
    if not hugging_face:
        return
    for option in given:
        word = Word(option.start, option.end, None)
        if option.value in _CHOICES.get(option.name, ()):
            yield Request(word, option.shown, choice=True)
        elif not engine:
            continue
        elif option.value in _MEGATRON.get(option.name, ()):
            yield Request(word, option.shown, choice=False)
        elif option.name in _BARE and (option.on or (option.is_set and "use-" in option.shown)):
            flag = option.shown if option.on else option.shown.split()[0]
            end = option.end if option.on else option.start + len(flag)
            yield Request(Word(option.start, end, None), flag, choice=False)


def is_deterministic(source: Source, launch: Launch) -> bool:
    """Whether a flag of a launch makes the program deterministic."""
    given = options(source, launch.arguments)
    return any(each.name in _DETERMINISTIC and each.is_set for each in given)
