"""Flags on command lines that ask for FlashAttention, and scripts that hand them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.documents import Unreadable, read
from detlint.documents.document import Word
from detlint.documents.launches import launches
from detlint.documents.options import options
from detlint.documents.shell_scripts import script_of
from detlint.documents.training import may_train
from detlint.models import attention as rows
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Command, Document
    from detlint.documents.launches import Launch

# All the arguments of a script: ``"$@"``.
_ALL = frozenset(("$@", "$*", "${@}", "${*}"))


class Request(NamedTuple):
    """A flag that asks for FlashAttention; ``choice``: of Hugging Face, by the name of an
    implementation."""

    word: Word
    shown: str
    choice: bool


def asked(word: str, following: str) -> str:
    """The flag by which an argument, or it and the next, asks for FlashAttention; else ""."""
    flag, equals, value = word.partition("=")
    if flag in rows.FLAGS:
        off = (value or following).lower() in ("false", "0", "no")
        return "" if off else word
    if flag in rows.VALUED_FLAGS and (value or following) in rows.VALUED_FLAGS[flag]:
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
        if option.value in rows.IMPLEMENTED_BY.get(option.name, ()):
            yield Request(word, option.shown, choice=True)
        elif not engine:
            continue
        elif option.value in rows.BACKENDS.get(option.name, ()):
            yield Request(word, option.shown, choice=False)
        elif option.name in rows.BARE and (option.on or (option.is_set and "use-" in option.shown)):
            flag = option.shown if option.on else option.shown.split()[0]
            end = option.end if option.on else option.start + len(flag)
            yield Request(Word(option.start, end, None), flag, choice=False)


def is_deterministic(source: Source, launch: Launch) -> bool:
    """Whether a flag of a launch makes the program deterministic."""
    given = options(source, launch.arguments)
    return any(each.name in rows.DETERMINISTIC_FLAGS and each.is_set for each in given)


def handed_on(document: Document, command: Command) -> Launch | None:
    """What is launched with the arguments that a command gives to a script of the project, if
    that is beside it: ``torchrun train.py --lr 1 "$@"``."""
    beside = document.source.beside
    path, arguments = script_of(command.words, document.source) if beside is not None else ("", ())
    if beside is None or not path or not arguments:
        return None
    text = beside(path)
    inner = _read(path, text) if text is not None and "$" in text else None
    if inner is None:
        return None
    source = inner.source
    for _, launch in launches(inner):
        takes = any(_is_all(source.text[each.start : each.end]) for each in launch.arguments)
        if takes and may_train(launch) and not is_deterministic(source, launch):
            environment = {**command.environment, **launch.environment}
            return launch._replace(arguments=arguments, environment=environment)
    return None


def _is_all(argument: str) -> bool:
    bare = argument.strip("\"'")
    return bare in _ALL or (bare.startswith(("${@:", "${*:")) and bare[4:-1].isdigit())


def _read(path: str, text: str) -> Document | None:
    try:
        return read(Source(path, text, kind="shell"))
    except Unreadable:
        return None
