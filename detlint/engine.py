"""One source in, its findings out."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint import journal
from detlint.finding import UNPARSED, Confidence, unreadable
from detlint.index.entrypoints import STARTS, may_start
from detlint.settings import enabled
from detlint.sources.decoding import decode
from detlint.sources.kinds import NOTEBOOK, PYTHON, kind_of
from detlint.sources.source import DecodeError, Source
from detlint.syntax import parsing
from detlint.triggers import DIRECTIVES, Mentions, Triggers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from detlint.catalogue import Entry
    from detlint.documents import Document
    from detlint.documents.document import Node
    from detlint.finding import Finding
    from detlint.rule import Rule
    from detlint.settings import Settings
    from detlint.triggers import Hits

    AnyRule = type[Rule] | Entry

# Trees take a hundred times the size of the text.
LARGEST = 4_000_000
# Most of a notebook is pictures.
LARGEST_NOTEBOOK = 200_000_000


_VISITED: dict[type, tuple[str, ...]] = {}


class Look(NamedTuple):
    """What a look at a file gives. ``runs``: a person runs it."""

    findings: list[Finding]
    runs: bool = False


class Engine:
    """Lints sources with one set of rules. ``known`` holds the codes of all rules.

    ``narrowed=False`` parses whole files: slow, and the reference for reading piece by piece.
    """

    def __init__(
        self,
        rules: Sequence[AnyRule],
        settings: Settings,
        *,
        known: Collection[str],
        narrowed: bool = True,
    ) -> None:
        self._settings = settings
        self.rules = rules
        # What a program shows is not known here, so a suppression of it may be of use; and what
        # is said of one must not depend on the bar, for which some rules run.
        usual = settings.with_bar(Confidence.LIKELY)
        self._enabled = {
            rule.code
            for rule in rules
            if not rule.judges_programs() and enabled(usual, rule.code, rule.default)
        }
        self._open = {rule.code for rule in rules if rule.crosses_files}  # linking shows them
        self.known = known
        self._narrowed = narrowed
        self._triggers = Triggers(rules, settings)
        self._mentions = Mentions(rules)

    def lint_bytes(self, path: str, data: bytes) -> list[Finding]:
        """Findings of a file's bytes. What cannot be read is a finding, DET000."""
        return self.look(path, data).findings

    def look(self, path: str, data: bytes) -> Look:
        """The same, and whether the file is a program."""
        kind = kind_of(path, data)
        runs = kind == NOTEBOOK
        if len(data) > (LARGEST_NOTEBOOK if runs else LARGEST):
            return Look(self._lint_oversized(path, data), runs)
        try:
            source = decode(path, data)
        except DecodeError as error:
            if kind != PYTHON and not self._is_of_use(kind, data):
                return Look([], runs)  # nothing that a rule would read
            return Look(self.unreadable(path, error.message, error.row, error.column), runs)
        if runs and len(source.text) > LARGEST:
            return Look(self._lint_oversized(path, source.text.encode()), runs)
        return self.look_at(source, data[len(source.bom) :])

    def lint(self, source: Source) -> list[Finding]:
        """Findings of a decoded source by itself, suppressed ones left out, in order of place."""
        return [each for each in self.look_at(source).findings if not each.is_unseen]

    def look_at(self, source: Source, data: bytes | None = None) -> Look:
        """The same of a decoded source, with what other files may make a finding; ``data``: the
        bytes of which it was made, without a mark of their order."""
        if source.kind == NOTEBOOK:
            source, findings = self._lint_notebook(source)
            directed, runs = _is_directed(source), True
        elif source.kind == PYTHON:
            is_utf8 = source.encoding == "utf-8" and source.text is source.written
            utf8 = data if data is not None and is_utf8 else _utf8(source)
            hits = self._triggers.find(source.text, utf8)
            result = self._lint_python(source, hits, utf8)
            if isinstance(result, parsing.Problem):
                findings = self.unreadable(source.path, *result)
            else:
                findings = result
            directed, runs = not hits.marks.isdisjoint(DIRECTIVES), _runs(source, hits)
        else:
            return Look(self._lint_document(source))
        if directed:
            from detlint.suppression import comments

            findings = comments.apply(
                source,
                findings,
                enabled=self._enabled,
                known=self.known,
                possible=lambda: self._asking_for_all.unsuppressed(source),
            )
        return Look(self._shown(findings), runs)

    def unsuppressed(self, source: Source) -> list[Finding]:
        """Findings of a decoded source as if it held no suppression, in any order."""
        if source.kind == NOTEBOOK:
            return self._lint_notebook(source)[1]
        if source.kind != PYTHON:
            from detlint.documents import read

            return _visit(read(source), self._mentions.find(source.text), self._settings)
        utf8 = _utf8(source)
        found = self._lint_python(source, self._triggers.find(source.text, utf8), utf8)
        return [] if isinstance(found, parsing.Problem) else found

    @cached_property
    def _asking_for_all(self) -> Engine:
        settings = self._settings.with_bar(Confidence.POSSIBLE)
        return Engine(self.rules, settings, known=self.known, narrowed=self._narrowed)

    def _shown(self, findings: Sequence[Finding]) -> list[Finding]:
        """Those that are sure enough, or may be with other files open, in order of place."""
        shown = (each for each in findings if each.code in self._open or self._settings.shows(each))
        return sorted(shown, key=lambda each: each[1:6])

    def _lint_python(
        self, source: Source, hits: Hits, utf8: bytes
    ) -> list[Finding] | parsing.Problem:
        # Python's parser would take half of the time, so it is asked about what is to be read.
        doubtful = not hits.marks.isdisjoint(parsing.DAMAGE) or parsing.is_suspicious(
            source.text, utf8
        )
        problem = parsing.problem(source) if doubtful else None
        if problem is not None:
            return problem
        return self._follow(source, hits.rules) if hits.rules else []

    def _follow(
        self, source: Source, rules: dict[AnyRule, list[int]]
    ) -> list[Finding] | parsing.Problem:
        """What the rules find that follow values."""
        from detlint.dataflow.unit import Unit, leaving
        from detlint.syntax.alive import alive
        from detlint.syntax.stack import in_deep_stack

        def look(*, whole: bool = False, partly: bool = False) -> list[Finding]:
            found = []
            with leaving(Unit(source, whole=whole, models=self._settings.models)) as unit:
                for rule, triggers in rules.items():
                    active = rule(unit, self._settings)
                    offsets = alive(source.text, triggers)
                    if not (offsets and active.may_tell()):
                        continue
                    for some in [[each] for each in offsets] if partly else [offsets]:
                        with (
                            journal.asking(source.path, rule.code),
                            suppress(parsing.UnparsedError) if partly else nullcontext(),
                        ):
                            active.examine(some)
                    found += active.findings
            return list(dict.fromkeys(found)) if partly else found

        try:
            return in_deep_stack(lambda: look(whole=not self._narrowed))
        except (parsing.UnparsedError, *parsing.REFUSALS):
            # Lines were misjudged, or it is no Python, or one newer than ours.
            problem = parsing.problem(source)
            if problem is not None:
                return problem
        newer = parsing.newer(source)
        if newer is None:
            return in_deep_stack(lambda: look(whole=True))
        return [*self.unreadable(source.path, *newer), *in_deep_stack(lambda: look(partly=True))]

    def _lint_notebook(self, source: Source) -> tuple[Source, list[Finding]]:
        """Findings of a notebook's cells, and what of it could be read."""
        from detlint.documents import read
        from detlint.notebooks.notebook import Notebook

        assert isinstance(source, Notebook)  # noqa: S101 - what decoding gives of this kind
        problems: list[parsing.Problem] = []
        result = self._lint_cells(source)
        if source.broken or isinstance(result, parsing.Problem):
            source, problems = source.readable
            result = self._lint_cells(source)
            if isinstance(result, parsing.Problem):
                problems, result = [result], []
        findings = [each for it in problems for each in self.unreadable(source.path, *it)]
        rules = self._mentions.find(source.written)
        told = _visit(read(source), rules, self._settings) if rules else []
        return source, [*findings, *result, *told]

    def _lint_cells(self, source: Source) -> list[Finding] | parsing.Problem:
        utf8 = _utf8(source)
        return self._lint_python(source, self._triggers.find(source.text, utf8), utf8)

    def _is_of_use(self, kind: str, data: bytes) -> bool:
        """Whether a rule would read a source of these bytes, if they were one."""
        tokens = kind == NOTEBOOK and self._triggers.occur_in(data)
        return tokens or self._mentions.occur_in(data)

    def _lint_document(self, source: Source) -> list[Finding]:
        rules = self._mentions.find(source.text)
        directed = _is_directed(source)
        if not (rules or directed):
            return []
        from detlint.documents import Unreadable, read

        try:
            document = read(source)
        except Unreadable as problem:
            return self.unreadable(source.path, *problem.place) if rules else []
        # Arguments of two commands may stand in one array.
        findings = list(dict.fromkeys(_visit(document, rules, self._settings)))
        if directed:
            from detlint.suppression import comments

            findings = comments.apply(
                source,
                findings,
                enabled=self._enabled,
                known=self.known,
                comments=document.comments,
                possible=lambda: self._asking_for_all.unsuppressed(source),
            )
        return self._shown(findings)

    def unreadable(self, path: str, message: str, row: int = 0, column: int = 1) -> list[Finding]:
        """The finding for a file, or a place in it, that cannot be read."""
        if UNPARSED not in self._enabled:
            return []
        return [unreadable(path, message, row, column)]

    def _lint_oversized(self, path: str, data: bytes) -> list[Finding]:
        if not self._triggers.occur_in(data):
            return []
        limit = LARGEST_NOTEBOOK if len(data) > LARGEST_NOTEBOOK else LARGEST
        size = f"{len(data) / 1e6:.0f} MB, and the limit is {limit / 1e6:.0f} MB"
        message = f"too large to parse: {size}"
        return self.unreadable(path, message)


def _utf8(source: Source) -> bytes:
    return source.text.encode("utf-8", "surrogatepass")


def _runs(source: Source, hits: Hits) -> bool:
    return may_start(source.path, source.text, told=not hits.marks.isdisjoint(STARTS))


def _is_directed(source: Source) -> bool:
    return any(word in source.text for word in DIRECTIVES)


def _visited(rule: Rule) -> tuple[str, ...]:
    """The kinds of nodes that a rule visits."""
    kind = type(rule)
    if kind not in _VISITED:
        named = (each for each in dir(kind) if each.startswith("visit_"))
        _VISITED[kind] = tuple(each.removeprefix("visit_") for each in named)
    return _VISITED[kind]


def _visit(document: Document, rules: Sequence[AnyRule], settings: Settings) -> list[Finding]:
    """What rules find in one traversal."""
    active = [rule(document, settings) for rule in rules]
    handlers: dict[str, list[Callable[[Node], None]]] = {}
    for rule in active:
        for name in _visited(rule):
            handler = journal.timed(getattr(rule, f"visit_{name}"), document.source.path, rule.code)
            handlers.setdefault(name, []).append(handler)
    for node in document.nodes:
        for handler in handlers.get(type(node).__name__, ()):
            handler(node)
    return [finding for rule in active for finding in rule.findings]
