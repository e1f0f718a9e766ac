"""What an editor has open, and what is shown of it.

A look at the text alone takes milliseconds, and is shown at once. What other files have a say in
is judged when the typing rests, in another process; until then, what was said of it before holds.
"""

from __future__ import annotations

import gc
import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from detlint.errors import DetlintError
from detlint.finding import UNPARSED, Finding, unreadable
from detlint.server.linking import Linking, Question
from detlint.server.projects import Projects, prepare, tidy
from detlint.server.sheets import Cell, Change, Sheet, Text
from detlint.server.shift import Shift
from detlint.server.worker import Worker
from detlint.sources.source import DecodeError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from detlint.server.projects import Project
    from detlint.sources.source import Source

# Seconds without typing after which programs are judged: of what is typed, and of the rest.
_REST = 0.15
_LONGER = 0.6
_NOTHING = ""  # is looked at before anything is open: importing the rules takes longer than a look


class Shown(NamedTuple):
    """What the editor was told: the findings of a sheet, whose source has these places."""

    sheet: Sheet
    findings: tuple[Finding, ...]


class _Linked(NamedTuple):
    """What other files made of the findings of a source."""

    source: Source
    before: tuple[Finding, ...]
    after: tuple[Finding, ...]


class Session:
    """The open documents. ``publish`` is called with what is to be shown, from any thread, and
    ``tell`` with what a person should know."""

    def __init__(
        self,
        options: argparse.Namespace,
        roots: Sequence[str],
        publish: Callable[[Shown], None],
        tell: Callable[[str], None],
    ) -> None:
        self._publish = publish
        self._tell = tell
        self._projects = Projects(options, roots)
        self._lock = threading.Lock()  # of what follows, which several threads change
        self._sheets: dict[str, Sheet] = {}
        self._shown: dict[str, Shown] = {}
        self._linked: dict[str, _Linked] = {}
        self._stamps: dict[str, object] = {}
        self._told: set[str] = set()
        self._changed = False, False  # files, and configurations among them
        self._asked = Linking(options, roots)
        self._tidy = True
        self._looking = Worker(self._look, self._fail, self._rest)
        self._linking = Worker(self._link, self._fail, self._watch)

    def start(self) -> None:
        """Start its threads, with stacks that the caller made large."""
        self._looking.start()
        self._looking.ask(_NOTHING)
        self._linking.start()

    def stop(self) -> None:
        """End its threads."""
        self._looking.stop()
        self._linking.stop()
        self._asked.stop()

    # What the editor says

    def show(self, sheet: Sheet) -> None:
        """A document is opened, or has another text now."""
        with self._lock:
            self._sheets[sheet.uri] = sheet
            others = [each for each in self._sheets if each != sheet.uri]
        self._looking.ask(sheet.uri)
        for each in others:
            self._linking.ask(each, _LONGER)

    def change(self, uri: str, version: int | None, changes: Sequence[Change]) -> None:
        """The text of a document is edited."""
        with self._lock:
            sheet = self._sheets.get(uri)
        if sheet is not None and isinstance(sheet.content, Text):
            text = sheet.content
            for each in changes:
                text = text.changed(each)
            self.show(Sheet(uri, sheet.path, version, text))

    def change_cells(self, uri: str, changed: Callable[[Sequence[Cell]], Sequence[Cell]]) -> None:
        """The cells of a notebook are edited."""
        with self._lock:
            sheet = self._sheets.get(uri)
        if sheet is not None and not isinstance(sheet.content, Text):
            self.show(Sheet(uri, sheet.path, None, changed(sheet.content)))

    def close(self, uri: str) -> None:
        """A document is closed: nothing is shown of it."""
        self._looking.forget(uri)
        self._linking.forget(uri)
        with self._lock:
            sheet = self._sheets.pop(uri, None)
            self._shown.pop(uri, None)
            self._linked.pop(uri, None)
            self._stamps.pop(uri, None)
        if sheet is not None:
            self._publish(Shown(sheet, ()))
        self.refresh()

    def refresh(self, *, settings: bool = False) -> None:
        """Files have changed on disk, among them ``settings``."""
        with self._lock:
            self._changed = True, settings or self._changed[1]
        if settings:
            self._projects.forget()
        for uri in self._open():
            if settings:
                self._looking.ask(uri)
            else:
                self._linking.ask(uri, _LONGER)

    def shown(self, uri: str) -> Shown | None:
        """What is shown of a document, or of the notebook that it is a cell of."""
        with self._lock:
            found = self._shown.get(uri)
            if found is None:
                within = (each for each in self._shown.values() if uri in each.sheet.uris)
                found = next(within, None)
        return found

    def _open(self) -> list[str]:
        with self._lock:
            return list(self._sheets)

    # Looking, in one thread

    def _look(self, uri: str) -> None:
        if uri == _NOTHING:
            prepare()
            return
        self._look_at(uri)
        tidy()
        self._tidy = False

    def _rest(self) -> None:
        if not self._tidy:
            gc.collect()  # what survived the first time
            self._tidy = True

    def _look_at(self, uri: str) -> None:
        sheet = self._sheet(uri)
        project = self._project(sheet) if sheet else None
        if sheet is None:
            return
        if project is None or not project.holds(sheet.path):
            self._show(sheet, ())
            return
        try:
            source = sheet.source
        except DecodeError as error:
            if sheet.path.endswith(".ipynb"):
                self._show(sheet, ())
            else:
                where = error.message, error.row, error.column
                self._show(sheet, [unreadable(sheet.path, *where)])
            return
        found = tuple(project.look(source))
        with self._lock:
            linked, shown = self._linked.get(uri), self._shown.get(uri)
        told = list(_as_before(project, source, found, linked))
        told += _while_broken(source, found, shown)
        seen = [each for each in told if not each.is_unseen]
        self._show(sheet, project.new(_sorted(seen), source))
        self._linking.ask(uri, _REST)

    def _sheet(self, uri: str) -> Sheet | None:
        with self._lock:
            return self._sheets.get(uri)

    def _project(self, sheet: Sheet) -> Project | None:
        """Its project; None where the configuration cannot be used, which is told once."""
        try:
            project = self._projects.of(sheet.path)
        except DetlintError as error:
            with self._lock:
                new = str(error) not in self._told
                self._told.add(str(error))
            if new:
                self._tell(f"detlint: {error}")
            return None
        with self._lock:
            self._stamps[sheet.uri] = self._projects.state(sheet.path)
        return project

    def _show(self, sheet: Sheet, findings: Sequence[Finding]) -> None:
        """Tell the editor, unless the text has changed since, or it knows."""
        shown = Shown(sheet, tuple(findings))
        with self._lock:
            if self._sheets.get(sheet.uri) is not sheet:
                return
            before = self._shown.get(sheet.uri)
            self._shown[sheet.uri] = shown
        if before != shown:
            self._publish(shown)

    # Linking, in another

    def _link(self, uri: str) -> None:
        sheet = self._sheet(uri)
        project = self._project(sheet) if sheet else None
        if sheet is None or project is None or not project.holds(sheet.path):
            return
        with self._lock:
            others = [each for each in self._sheets.values() if each.uri != uri]
            changed, self._changed = self._changed, (False, False)
        texts = {os.path.realpath(each.path): each.text for each in others}
        answer = self._asked.ask(Question(sheet.path, sheet.text, texts, *changed))
        if answer is None:
            return  # in the middle of a word: what is shown holds until it parses
        with self._lock:
            if self._sheets.get(uri) is sheet:
                self._linked[uri] = _Linked(sheet.source, *answer)
        self._show(sheet, project.new(_sorted(answer.after), sheet.source))

    def _watch(self) -> None:
        """See whether configurations have changed: not every editor says so."""
        with self._lock:
            known = dict(self._stamps)
        for uri, stamp in known.items():
            sheet = self._sheet(uri)
            if sheet is not None and self._projects.state(sheet.path) != stamp:
                with self._lock:
                    self._told.clear()
                    self._changed = True, True
                self._looking.ask(uri)

    def _fail(self, traceback: str) -> None:
        self._tell(f"detlint: internal error, please report it:\n{traceback}")


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.code, *finding[1:5]


def _sorted(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: (each.row, each.column, each.code))


def _as_before(
    project: Project, source: Source, found: Sequence[Finding], linked: _Linked | None
) -> Iterator[Finding]:
    """What is found, with what other files said of it before the last change."""
    if linked is None:
        yield from (each for each in found if not project.is_open(each))
        return
    shift = Shift(linked.source, source)
    before = {_key(each) for each in shift.moved(linked.before)}
    after = {_key(each): each for each in shift.moved(linked.after)}
    for each in found:
        said = after.pop(_key(each), None)
        if not project.is_open(each):
            yield each
        elif said is not None:
            yield said._replace(edits=each.edits, safe=each.safe, way=each.way)
    yield from (each for key, each in after.items() if key not in before)


def _while_broken(
    source: Source, found: Sequence[Finding], shown: Shown | None
) -> Iterator[Finding]:
    """What was shown of a text that parsed, while a line of it is being typed."""
    if shown is None or not any(each.code == UNPARSED for each in found):
        return
    try:
        shift = Shift(shown.sheet.source, source)
    except DecodeError:
        return
    told = {_key(each) for each in found}
    for each in shift.moved(shown.findings):
        if each.code != UNPARSED and _key(each) not in told:
            yield each
