"""Scripts of the project that hand their arguments on: ``torchrun train.py --lr 1 "$@"``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.flash_flags import is_deterministic
from detlint.analysis.launches import launches, may_train
from detlint.documents import Unreadable, read
from detlint.documents.shell_scripts import script_of
from detlint.source import Source

if TYPE_CHECKING:
    from detlint.documents.document import Command, Document
    from detlint.documents.launches import Launch

_ALL = re.compile(r"[\"']?\$(?:[@*]|\{[@*](?::\d+)?\})[\"']?")


def handed_on(document: Document, command: Command) -> Launch | None:
    """What trains with the arguments that a command gives to a script, if that is beside it."""
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
        takes = any(_ALL.fullmatch(source.text[each.start : each.end]) for each in launch.arguments)
        if takes and may_train(launch) and not is_deterministic(source, launch):
            environment = {**command.environment, **launch.environment}
            return launch._replace(arguments=arguments, environment=environment)
    return None


def _read(path: str, text: str) -> Document | None:
    try:
        return read(Source(path, text, kind="shell"))
    except Unreadable:
        return None
