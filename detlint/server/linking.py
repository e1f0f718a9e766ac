"""What other files say of a text, asked in a process of its own: typing must not wait for it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.errors import DetlintError
from detlint.finding import UNPARSED
from detlint.sources.decoding import from_text
from detlint.sources.source import DecodeError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

    from detlint.finding import Finding
    from detlint.server.projects import Projects
    from detlint.sources.source import Source

_POLITE = 5  # how much of the processor it leaves to what a person waits for


class Question(NamedTuple):
    """A text by its path, and those of the other open files by their real paths.

    changed   files may have changed on disk since the last question
    settings  and configurations, too
    """

    path: str
    text: str
    others: Mapping[str, str]
    changed: bool
    settings: bool


class Answer(NamedTuple):
    """The findings of the text by itself, and what is left of them and added; None where the text
    does not parse."""

    before: tuple[Finding, ...]
    after: tuple[Finding, ...]


class Linking:
    """The process, begun with the first question. Only one thread may ask."""

    def __init__(self, options: argparse.Namespace, roots: Sequence[str]) -> None:
        self._given = options, roots
        self._stopped = threading.Event()
        self._process: Any = None
        self._ours: Connection | None = None

    def ask(self, question: Question) -> Answer | None:
        """Raises RuntimeError with the traceback of what fails there; None once it is stopped."""
        if self._stopped.is_set():
            return None
        if self._process is None or not self._process.is_alive():
            self._begin()
        assert self._ours is not None  # noqa: S101 - it has just begun
        try:
            self._ours.send(question)
            answer = self._ours.recv()
        except (EOFError, OSError) as error:
            if self._stopped.is_set():
                return None
            raise RuntimeError(f"the process that links has died: {error!r}") from error
        if isinstance(answer, str):
            raise RuntimeError(answer)  # noqa: TRY004 - it is what went wrong there
        return answer  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End it, whatever it does, for good."""
        self._stopped.set()
        if self._process is not None:
            self._process.kill()

    def _begin(self) -> None:
        context = get_context("spawn")  # threads run here, and must not be forked
        self._ours, theirs = context.Pipe()
        arguments = (theirs, *self._given)
        process = context.Process(target=_answer, args=arguments, daemon=True)
        process.start()
        self._process = process  # only now can another thread end it
        theirs.close()


def _answer(connection: Connection, options: argparse.Namespace, roots: Sequence[str]) -> None:
    """Answer until nobody asks any more."""
    import signal

    from detlint.server.projects import Projects

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # which Windows does not have
        os.nice(_POLITE)
    answers = _Answers(Projects(options, roots))
    while True:
        try:
            question = connection.recv()
        except (EOFError, OSError):
            return
        try:
            found: Answer | str | None = answers.to(question)
        except Exception:  # noqa: BLE001 - told where the editor is told
            import traceback

            found = traceback.format_exc()
        connection.send(found)


class _Answers:
    """The sources of open files, kept from question to question: what is handed in twice need not
    be indexed twice."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._sources: dict[str, tuple[str, Source]] = {}

    def to(self, question: Question) -> Answer | None:
        """None where the text does not parse, or its configuration cannot be used."""
        if question.settings:
            self._projects.forget()
        if question.changed:
            self._projects.look_again()
        try:
            source = from_text(question.path, question.text)
            project = self._projects.of(question.path)
        except (DecodeError, DetlintError):
            return None  # the other process tells
        before = project.look(source)
        if any(each.code == UNPARSED for each in before):
            return None
        after = project.link(source, before, self._opened(question.others))
        return Answer(tuple(before), tuple(after))

    def _opened(self, texts: Mapping[str, str]) -> dict[str, Source]:
        known, self._sources = self._sources, {}
        for path, text in texts.items():
            if path in known and known[path][0] == text:
                self._sources[path] = known[path]
            else:
                with suppress(DecodeError):
                    self._sources[path] = text, from_text(path, text)
        return {path: source for path, (_, source) in self._sources.items()}
