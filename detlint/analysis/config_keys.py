"""What the table of settings says of one setting in its document."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.config_rows import LIGHTNING, ROWS, TRAINER_PATH, Row, is_in_trainer
from detlint.analysis.config_text import replacement, shown
from detlint.documents.flavours import spelled

if TYPE_CHECKING:
    from detlint.documents import Document
    from detlint.documents.document import Entry, Scalar
    from detlint.finding import Edit


# Settings that turn deterministic algorithms, and a deterministic FlashAttention, on.
_DETERMINISM = ("full_determinism", "deterministic_mode", "use_deterministic_algorithms")
_VARIABLES = {"FLASH_ATTENTION_DETERMINISTIC": "1", "NVTE_ALLOW_NONDETERMINISTIC_ALGO": "0"}


# What only a configuration that trains something holds.
_TRAINS = re.compile(
    r"(?:^|_)(?:train|training|trainer|lr|learning_rate|optim|optimizer|epochs?|loss|losses|grad"
    r"|gradient|warmup|max_steps|finetuning)(?:_|$)"
)
# What one that asks a model for text holds, unless it is the model's own.
_GENERATES = re.compile(
    r"(?:^|_)(?:max_new_tokens|max_completion_length|temperature|top_[pk]|do_sample|num_beams"
    r"|num_generations|repetition_penalty|sampling_params|generation_kwargs)$"
)
_IN_TRAINER = re.compile(rf"(?:^|\.){TRAINER_PATH}\w+\Z")
_OF_MODEL = frozenset({"architectures", "model_type", "auto_map"})


@cache
def _patterns(code: str) -> list[tuple[Row, re.Pattern[str]]]:
    return [(row, re.compile(rf"(?:^|\.)(?:{row.path})\Z")) for row in ROWS if row.code == code]


class Setting(NamedTuple):
    """A setting that makes runs differ, as a finding says it."""

    message: str
    advice: str
    edits: tuple[Edit, ...]
    safe: bool


def setting(document: Document, entry: Entry, code: str) -> Setting | None:
    """What a rule finds in a setting."""
    if not entry.known or not entry.keys:
        return None
    path = _path(entry)
    for row, pattern in _patterns(code):
        if (
            (not row.flavours or document.flavour in row.flavours)
            and _is_one_of(entry.value, row.values)
            and pattern.search(path)
            and row.beside(beside(document, entry))
        ):
            edits = () if row.good is None else replacement(document, entry, row.good)
            good = edits[0].replacement if edits else str(row.good).lower()
            message = f"{shown(document, entry)} {row.effect}"
            return Setting(message, row.advice.format(good), edits, row.safe)
    return None


def _path(entry: Entry) -> str:
    return ".".join(spelled(key) for key in entry.keys)


def beside(document: Document, entry: Entry) -> dict[str, Scalar]:
    """The settings of the mapping that an entry is in; of what is nested there, the key alone."""
    above = entry.keys[:-1]
    found: dict[str, Scalar] = {}
    for node in document.entries():
        if node.keys[: len(above)] == above and len(node.keys) > len(above):
            deeper = len(node.keys) > len(above) + 1 or not node.known
            found.setdefault(spelled(node.keys[len(above)]), "" if deeper else node.value)
    return found


def is_deterministic(document: Document) -> bool:
    """Whether the configuration turns deterministic algorithms on, under any name."""
    return any(
        entry.value is True
        and (spelled(entry.keys[-1]) in _DETERMINISM or _is_switch(document, entry))
        for entry in document.entries()
        if entry.keys
    )


def trains(document: Document) -> bool:
    """Whether a key of the configuration is one of training."""
    return any(map(_TRAINS.search, _keys(document)))


def generates(document: Document) -> bool:
    """Whether the configuration says how a model is asked for text, and nothing of training."""
    keys = _keys(document)
    asks = _OF_MODEL.isdisjoint(keys) and any(map(_GENERATES.search, keys))
    return asks and not any(map(_TRAINS.search, keys))


def _keys(document: Document) -> set[str]:
    return {spelled(key) for entry in document.entries() for key in entry.keys}


def is_told(document: Document) -> bool:
    """Whether the configuration sets a variable that makes FlashAttention's backward
    deterministic."""
    return any(
        entry.keys and str(entry.value) == _VARIABLES.get(entry.keys[-1])
        for entry in document.entries()
    )


def _is_switch(document: Document, entry: Entry) -> bool:
    if spelled(entry.keys[-1]) != "deterministic":
        return False
    if document.flavour in LIGHTNING and _IN_TRAINER.search(_path(entry)):
        return True
    return document.flavour in ("torchtitan", "ultralytics", "mmengine") or is_in_trainer(
        beside(document, entry)
    )


def _is_one_of(value: Scalar, values: tuple[Scalar, ...]) -> bool:
    """Equality that tells 1 from true."""
    return any(type(value) is type(each) and value == each for each in values)
