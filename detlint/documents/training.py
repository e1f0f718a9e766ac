"""What the launches of a script are for, and whether they ask for determinism."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.documents.launches import launches, program, started
from detlint.documents.options import Option, options
from detlint.finding import Confidence
from detlint.models import launching as rows
from detlint.models.purposes import Purpose, purpose, trains
from detlint.sources.paths import names_in_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Command, Document
    from detlint.documents.launches import Launch

# Of folders: other code of a project lies among what prepares its data.
_APART = Purpose.INFERS | Purpose.SERVES | Purpose.EVALUATES | Purpose.MEASURES
# A seed of these may be another one each time.
_TRIED = Purpose.TESTS | Purpose.SERVES | Purpose.MEASURES


def may_train(launch: Launch) -> bool:
    """Whether the name of the program is none of what only serves, evaluates, generates or
    converts."""
    path = program(launch)
    if any(_converts(each.text or "") for each in launch.arguments):
        return trains(_name(path))
    return may_be_trained_by(path)


def _converts(argument: str) -> bool:
    """``--convert-checkpoint-from-megatron``."""
    return argument.startswith("--") and argument[2:].replace("-", "_").startswith(rows.CONVERTS)


def may_be_trained_by(program: str) -> bool:
    """The same of a program by its path or module: ``tools/eval.py``."""
    name = _name(program)
    folders = program.split("/")[:-1]
    return trains(name) or not (purpose(name) or any(_APART & purpose(each) for each in folders))


def _name(program: str) -> str:
    return program.rpartition("/")[2].removesuffix(".py")


def is_tester(launch: Launch) -> bool:
    """Whether it runs the tests of a project: ``python -m pytest``."""
    return program(launch).rpartition("/")[2] in rows.TESTERS


def runs_tests(launch: Launch) -> bool:
    """Whether the program's name is that of a test, a benchmark or a server, whose seed may be
    another one each time."""
    return bool(_TRIED & purpose(_name(program(launch))))


def configures_answers(path: str) -> bool:
    """Whether a configuration is for a test or an evaluation, by its name or that of a folder."""
    names = names_in_project(path)
    return any(map(_answers, names)) and not any(map(trains, names))


def _answers(name: str) -> bool:
    return bool(purpose(name) & ~Purpose.SHOWS)


@lru_cache(maxsize=1)
def only_infers(document: Document) -> bool:
    """Whether a document starts programs, none of which may train."""
    started = [launch for _, launch in launches(document)]
    return bool(started) and not any(may_train(launch) for launch in started)


def sureness(launch: Launch) -> Confidence:
    """What the program makes of its options is not seen; less is known where its name says that
    it does not train."""
    return Confidence.LIKELY if may_train(launch) else Confidence.POSSIBLE


def switched(document: Document, command: Command) -> Iterator[tuple[Option, Confidence]]:
    """The options of the program that a command starts, and how sure findings on them are."""
    launch = started(command)
    if launch is not None:
        sure = sureness(launch)
        for option in options(document.source, launch.arguments):
            yield option, sure


def asks_for_determinism(document: Document, launch: Launch) -> str:
    """How a launch says that its results must not vary: a flag, or a variable; "" if not."""
    for option in options(document.source, launch.arguments):
        if option.name in rows.DETERMINISTIC and option.is_set:
            return option.shown if option.on else option.shown.partition(" ")[0]
    for name, values in rows.VARIABLES.items():
        if (value := launch.environment.get(name)) in values:
            return f"{name}={value}"
    return ""


@lru_cache(maxsize=1)  # of a document, for each of its commands
def for_ascend(document: Document) -> bool:
    """Whether a script is for Ascend devices, with other kernels and another NCCL: by variables
    that it sets, and by words of its commands."""
    if any(map(rows.is_for_ascend, document.assignments)):
        return True
    text = document.source.text
    return any(
        rows.is_for_ascend(word.text or text[word.start : word.end])
        for command in document.commands
        if command.words and command.words[0].text != "unset"
        for word in command.words
    )
