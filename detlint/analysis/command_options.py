"""Options on the command line of a program: ``--name value``, ``--name=value``, ``name=value``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Word
from detlint.finding import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.source import Source

TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
FALSE = frozenset({"false", "0", "no", "off", "n", "f"})
_OPTION = re.compile(r"--?([A-Za-z_][\w.-]*)(=.*)?", re.DOTALL)
# Hydra's overrides, and settings behind --cfg-options: +trainer.benchmark=true.
_OVERRIDE = re.compile(r"(?:\+\+?)?([A-Za-z_][\w./@-]*)(=.*)", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:\w+|\{[^{}\s]*\}|\(\(?(?:[^()\n]|\([^()\n]*\))*\)\)?)")
# The value may stand elsewhere, in another array or variable.
_NEAR = 80
_QUOTES = "\"'"
# What is never an option: --name=$value, numbers of seq, arithmetic, a count or a status.
_ONE_VALUE = re.compile(
    r"[\"']?(?:[-\w.+/]+=|\$\((?:\(|[ \t]*(?:seq|date|nproc|pwd|hostname|wc|expr)\b)|\$[#?$!])"
)
# What may be several words, or none, whatever stands before it: all of an array, what is made
# for the purpose by its name, and what is added to an array somewhere else.
_MANY = re.compile(
    r"[\"']?(?:\$(?:[@*]|\{(?:[@*]|\w+\[[@*]\])|\{?\w*(?:args|opts|options|flags|params|extra|arguments)"
    r"(?:\b|_)))",
    re.IGNORECASE,
)
# Options that take no value, as programs call them.
_SWITCH = re.compile(
    r"(?:no|use|disable|enable|overlap|skip|with|do|is|reset|untie|calculate)[-_]"
    r"(?!\w*[-_](?:path|dir|file|size|type|dtype|iters?|steps?|freq|interval|impl)$)"
    r"|(?:bf16|fp16|fp8|fp32|swiglu|geglu|squared-relu|sequence-parallel|group-query-attention"
    r"|recompute-activations|mock-data|colocate|colocated|finetune|finetuning|qk-layernorm|debug|verbose"
    r"|sft|accumulate-allreduce-grads-in-fp32|attention-softmax-in-fp32|deterministic-mode"
    r"|distribute-saved-activations|multi-latent-attention|apply-layernorm-1p)$"
)


class Option(NamedTuple):
    """An option, from ``start`` to ``end`` with its value.

    keys   its name: ``--trainer.cudnn-benchmark`` has ("trainer", "cudnn_benchmark")
    value  None where it is not known, "" where there is none
    raw    the value as the source spells it, without the quotes around it
    place  the offset of ``raw``
    """

    keys: tuple[str, ...]
    value: str | None
    start: int
    end: int
    raw: str
    place: int
    shown: str
    apart: bool  # the value is a word of its own, and may be another argument
    dashed: bool

    @property
    def name(self) -> str:
        """The last of the keys."""
        return self.keys[-1]

    @property
    def word(self) -> Word:
        """The option with its value, as something to report."""
        return Word(self.start, self.end, None)

    @property
    def on(self) -> bool | None:
        """Whether a switch is turned on; None where that is not known."""
        if self.value is None:
            return None
        value = self.value.lower()
        if value in FALSE:
            return False
        return True if value in TRUE or not value else None

    @property
    def is_set(self) -> bool:
        """The same of a switch that takes no value, so that what follows is none."""
        return self.on is True or (self.apart and self.on is None)

    def turned(self, value: str) -> tuple[Edit, ...]:
        """The edit that gives a switch another value, spelled as the old one: ``False``."""
        if not self.value or self.raw != self.value:
            return ()
        value = value.capitalize() if self.raw[0].isupper() else value
        if self.raw in ("0", "1"):
            value = "1" if value == "true" else "0"
        return (Edit(self.place, self.place + len(self.raw), value),)


def is_trainer(option: Option, name: str) -> bool:
    """Whether an option is that of Lightning's Trainer: ``--trainer.benchmark``."""
    return option.keys == ("trainer", name)


def options(source: Source, arguments: Sequence[Word]) -> Iterator[Option]:
    """The options among the arguments of a program, in order."""
    following: Iterable[Word | None] = (*arguments[1:], None)
    for word, after in zip(arguments, following, strict=bool(arguments)):
        text, raw = word.text, source.text[word.start : word.end]
        spelled = raw.strip(_QUOTES) if text is None else text
        if (match := _OPTION.fullmatch(spelled)) is not None:
            yield _option(source, match, word, after, dashed=True)
        elif (match := _OVERRIDE.fullmatch(spelled)) is not None:
            yield _option(source, match, word, None, dashed=False)


def _option(
    source: Source, match: re.Match[str], word: Word, after: Word | None, *, dashed: bool
) -> Option:
    keys = tuple(match[1].replace("-", "_").split("."))
    if match[2] is None:
        if after is None or _begins_option(source, after):
            return Option(keys, "", word.start, word.end, "", word.end, match[0], False, dashed)
        raw, place = _bare(_spelled(source, after), after.start)
        shown = f"{match[0]} {after.text if after.text is not None else raw}"
        end = after.end if 0 <= after.start - word.end <= _NEAR else word.end
        return Option(keys, after.text, word.start, end, raw, place, shown, True, dashed)
    # A word that stands for more than its text, as a variable does, has no value to point at.
    whole = source.text[word.start : word.end]
    offset = whole.find("=") + 1
    raw, place = _bare(whole[offset:], word.start + offset) if offset else ("", word.end)
    value = None if word.text is None else match[2][1:].strip(_QUOTES)
    return Option(keys, value, word.start, word.end, raw, place, match[0], False, dashed)


def _begins_option(source: Source, word: Word) -> bool:
    text = source.text[word.start : word.end] if word.text is None else word.text
    return re.match(r"[\"']?--?[A-Za-z]", text) is not None


def _spelled(source: Source, word: Word) -> str:
    """What a word is in the source. Of one that is taken out of a longer text, as of a command
    in a string, and not known, only where it begins is."""
    if word.text is None and source.text.endswith("$", word.start, word.end):
        expansion = _EXPANSION.match(source.text, word.end - 1)
        if expansion is not None:
            return source.text[word.start : expansion.end()]
    return source.text[word.start : word.end]


def _bare(raw: str, place: int) -> tuple[str, int]:
    start = len(raw) - len(raw.lstrip(_QUOTES))
    return raw.strip(_QUOTES), place + start


def may_hold_more(source: Source, arguments: Sequence[Word]) -> bool:
    """Whether an argument that is not known may be options: ``$EXTRA_ARGS``, ``"$@"``."""
    takes_value = False
    for word in arguments:
        if word.text is None:
            if word.start == word.end:
                return True  # what a branch, or the text before, adds to an array
            raw = source.text[word.start : word.start + _NEAR]
            if not _ONE_VALUE.match(raw) and (not takes_value or _MANY.match(raw)):
                return True
            takes_value = False
        else:
            option = _OPTION.fullmatch(word.text)
            takes_value = (
                option is not None and option[2] is None and _SWITCH.match(option[1]) is None
            )
    return False
