"""What a rule is: metadata that documents and tests it, and what it does with a source."""

from __future__ import annotations

import ast
import os
import re
import textwrap
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from detlint.finding import UNSEEN, Confidence, Edit, Finding, Step
from detlint.settings import enabled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.other_files import OtherFiles
    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.dataflow.callers import AllCallers
    from detlint.dataflow.unit import Unit
    from detlint.documents.document import Document, Node, Word
    from detlint.settings import Settings

    # Nodes, each with what happens there.
    Way = Sequence[tuple[ast.AST, str]]

__all__ = ["PARTS", "WHY", "Confidence", "Example", "Rule"]

WHY = "Why runs differ"
# What the docstring of a rule is made of, in this order.
PARTS = (
    WHY,
    "Reported",
    "Lowers the confidence",
    "Not reported",
    "What to do",
    "Fix safety",
)
# The code of a rule: letters for who it is of, and a number.
CODE = re.compile(r"[A-Z]{2,}\d{3}")
_HEADING = re.compile(rf"^({'|'.join(PARTS)}):", re.MULTILINE)


class Example(NamedTuple):
    """A case that documents and tests a rule.

    ``bad`` marks each expected line with ``# DET…``. ``fixed`` is what the fix
    makes of it, to the letter; ``good`` is a person's rewrite, in which the rule
    finds nothing. ``path`` says what kind of source it is.
    """

    bad: str
    fixed: str = ""
    good: str = ""
    path: str = "example.py"


class Rule:
    """One kind of non-determinism.

    A subclass defines the attributes below and ``examine`` (which follows the values of Python),
    methods ``visit_<Node>`` for classes of ``detlint.documents.document`` (in other kinds of
    sources), or ``judge``. One instance lints one file.
    Its docstring, in ``PARTS``, source and examples are its documentation, and are tested.
    """

    code: ClassVar[str]
    summary: ClassVar[str]
    # Tokens without one of which a file cannot hold a finding. Matched in bytes, as
    # substrings, outside comments and docstrings; a leading letter must begin a word.
    triggers: ClassVar[tuple[str, ...]]
    # Triggers that mean nothing from a release of torch on, if that is the `target-torch`.
    settled: ClassVar[tuple[tuple[str, tuple[int, int]], ...]] = ()
    # Tokens without one of which a source that is not Python cannot hold a finding.
    mentions: ClassVar[tuple[str, ...]] = ()
    # Text anywhere in the file that makes the rule pointless there.
    silencers: ClassVar[tuple[str, ...]] = ()
    # Text without any of which, anywhere in the file, the rule finds nothing there.
    needs: ClassVar[tuple[str, ...]] = ("",)
    source: ClassVar[str]
    # How it was shown that what the rule flags differs from run to run: on the "CPU" or on
    # "CUDA (device, torch, date)" by its programs in tests/proofs, or by the "source" alone.
    shown: ClassVar[str] = "source"
    examples: ClassVar[tuple[Example, ...]]
    default: ClassVar[bool] = True
    # Whether what it finds may rest on other files: then it is asked again when these are open.
    crosses_files: ClassVar[bool] = False
    # How sure a finding is, unless its report says otherwise.
    confidence: ClassVar[Confidence] = Confidence.LIKELY
    # The roles of code (detlint.dataflow.learning.roles) in which what values say is only possible.
    lowered_by: ClassVar[tuple[str, ...]] = ("packaging", "showing")
    # Whether a finding in what no program runs is only possible.
    lowered_where_dead: ClassVar[bool] = False
    # Likewise in a file that no program has, of what nothing names: not if whoever may call it,
    # such as a notebook that is not there, cannot change what it does.
    lowered_where_unused: ClassVar[bool] = True
    # Likewise what no program that may train reaches, where some do.
    lowered_where_untrained: ClassVar[bool] = False
    # Whether only programs in which the line of a finding may run are asked if they clear it.
    judged_where_it_runs: ClassVar[bool] = False

    def __init__(self, source: Document | Unit, settings: Settings) -> None:
        self._read = source
        # One of them: a rule is made for one source, and called with the nodes of its kind.
        self.document = cast("Document", source)
        self.unit = cast("Unit", source)
        self.settings = settings
        self.findings: list[Finding] = []
        self.others: OtherFiles | None = None  # of the project, where they are open
        self.asked: Sequence[Finding] = ()  # what is asked again, where they are

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:  # noqa: ARG003  # for subclasses
        """Whether the token at an offset may be a finding, as far as the text around it tells.

        What a rule turns down here is not parsed on its account, and must be what it
        would turn down after parsing, too.
        """
        return True

    @classmethod
    def expects(cls, text: str, offset: int) -> bool:  # noqa: ARG003  # for subclasses
        """The same where what is only possible is not asked for."""
        return True

    def examine(self, offsets: Sequence[int]) -> None:
        """Follow the values of a file from what stands at some offsets: the rule's triggers."""
        raise NotImplementedError

    @property
    def has_own_guard(self) -> bool:
        """Whether `guard` means another's in the file; False until the project's files are open."""
        return self.others is not None and self.others.has_own_guard(self.unit)

    @cached_property
    def all_callers(self) -> AllCallers | None:
        """The calls of the file's functions in the whole project, unless others install it."""
        from detlint.dataflow.callers import AllCallers

        if self.others is None or self.others.is_installed(self.unit):
            return None
        return AllCallers(self.others.importing)

    def _steps(self, way: Way, there: Way, unit: Unit | None) -> tuple[Step, ...]:
        """Its steps, one a line; none where all of it stands in one. Those ``there`` stand in
        another file."""
        steps: dict[tuple[str, int], Step] = {}
        for read, several in ((self._read, way), (unit or self._read, there)):
            path = "" if read is self._read else self._seen_from_here(read.source.path)
            for node, text in several:
                start, end = read.span(node)  # type: ignore[arg-type]  # of its own kind
                first, last = read.source.location(start), read.source.location(end)
                steps[path, first[0]] = Step(*first, *last, text, path)
        return tuple(steps.values()) if len(steps) > 1 else ()

    def _seen_from_here(self, path: str) -> str:
        return os.path.relpath(path, os.path.dirname(self._read.source.path))

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        """Findings of a program: an entrypoint with the files that it imports."""
        return iter(())

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        """Whether what a program does elsewhere clears a finding in one of its files."""
        return False

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:  # noqa: ARG003
        """Whether what a program is for leaves a finding in one of its files only possible."""
        return False

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:  # noqa: ARG003
        """Whether other files may change a finding of a rule that ``crosses_files``."""
        return True

    @classmethod
    def doubted_by_all(
        cls, finding: Finding, programs: Sequence[Program], linted: PythonFiles
    ) -> bool:
        """Whether all programs that are linted, its file part of them or not, leave a finding
        no more than possible; ``linted``: the Python files that are linted."""
        if finding.confidence == Confidence.POSSIBLE:
            return False
        path, row = os.path.realpath(finding.path), finding.row
        place, unused = (path, row, finding.column), cls.lowered_where_unused
        if cls.lowered_where_dead and linted.never_runs(*place, programs, unused=unused):
            return True
        if cls.is_left_to_callers(finding) and linted.is_left_to_others(path, row, programs):
            return True
        if not cls.lowered_where_untrained:
            return False
        return linted.is_left_out(*place, programs)

    @classmethod
    def is_left_to_callers(cls, finding: Finding) -> bool:  # noqa: ARG003
        """Whether who calls the code may seed what it draws, so that a finding in what only others
        may use is no more than possible."""
        return False

    @classmethod
    def awaits_programs(cls, finding: Finding) -> bool:  # noqa: ARG003
        """Whether programs may change a finding of a rule that ``may_be_cleared``."""
        return True

    @classmethod
    def may_be_cleared(cls) -> bool:
        """Whether findings of files wait for what programs say."""
        told = (
            (cls.cleared, Rule.cleared),
            (cls.doubted, Rule.doubted),
            (cls.doubted_by_all, Rule.doubted_by_all),
        )
        overridden = any(own.__func__ is not given.__func__ for own, given in told)  # type: ignore[union-attr]
        return overridden or cls.lowered_where_dead or cls.lowered_where_untrained

    @classmethod
    def judges_programs(cls) -> bool:
        """Whether the rule has findings of programs, besides those of files."""
        return cls.judge.__func__ is not Rule.judge.__func__  # type: ignore[attr-defined]

    @classmethod
    def about(cls, finding: Finding) -> tuple[str, int, int] | None:  # noqa: ARG003
        """The place that a finding of a program is about, if that is said once, at one of several
        programs."""
        return None

    @classmethod
    def name(cls) -> str:
        """The kebab-case name: ``CudnnBenchmark`` → ``cudnn-benchmark``."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def rationale(cls) -> str:
        """The docstring as plain text: why runs differ, what is reported, what to do."""
        first, _, rest = (cls.__doc__ or "").partition("\n")
        return f"{first}\n{textwrap.dedent(rest)}".strip()

    @classmethod
    def parts(cls) -> dict[str, str]:
        """The text of each part of the docstring, by its heading, in the order found."""
        _, *pieces = _HEADING.split(cls.rationale())
        return dict(zip(pieces[::2], map(str.strip, pieces[1::2]), strict=True))

    def wants(self, confidence: Confidence) -> bool:
        """Whether a finding of this confidence is asked for."""
        return self.settings.bar(self.code) <= confidence

    def may_tell(self) -> bool:
        """Whether a finding in the file would be sure enough, for all that the file is for."""
        return self.wants(Confidence.POSSIBLE) or not self.unit.roles.doubt_all(self.lowered_by)

    def lowered(
        self,
        node: ast.AST | Node | Word,
        given: Confidence | None = None,
        unit: Unit | None = None,
    ) -> Confidence:
        """A confidence, the rule's own by default, as far as what the code around a node is for
        leaves it; ``unit``: the file of the node, if it is another. No more than possible of a rule
        that is off by default, and runs only where all that is possible is asked for."""
        given, unit = self.confidence if given is None else given, unit or self.unit
        if not self.default and self.wants(Confidence.POSSIBLE):
            usual = self.settings.with_bar(Confidence.LIKELY)
            if not enabled(usual, self.code, default_on=False):
                return Confidence.POSSIBLE
        if given > Confidence.POSSIBLE and isinstance(node, ast.AST):
            start, _ = unit.span(node)
            if unit.roles.doubt(start, self.lowered_by) or self._is_only_tested_by(unit):
                return Confidence.POSSIBLE
        return given

    def _is_only_tested_by(self, unit: Unit) -> bool:
        """Whether another file is a test of what this one gives."""
        others = self.others if unit is not self.unit else None
        return others is not None and others.tests(unit) and not others.tests(self.unit)

    def leave(self, node: ast.AST, parts: Sequence[str] = ()) -> None:
        """Note a node that is a finding if other files make it one; ``parts``: of the file, that
        give it to them."""
        said = f"{UNSEEN}: {', '.join(parts)}" if parts else UNSEEN
        self.report(node, said, confidence=Confidence.POSSIBLE)

    def report(  # noqa: PLR0913 - what a finding consists of
        self,
        node: ast.AST | Node | Word,
        message: str = "",
        *,
        advice: str = "",
        edits: tuple[Edit, ...] = (),
        safe: bool = True,
        confidence: Confidence | None = None,
        way: Way = (),
        there: Way = (),
        unit: Unit | None = None,
    ) -> None:
        """Add a finding at a node. ``message`` and ``confidence`` default to the rule's.

        ``way``: where the value comes from and goes to, each with what happens there; ``there``:
        the same in another file, ``unit``.

        A fix that would drop a comment is never safe.
        """
        source = self._read.source
        start, end = self._read.span(node)  # type: ignore[arg-type]  # of its own kind
        keeps_comments = not any(self._read.drops_comment(edit) for edit in edits)
        self.findings.append(
            Finding(
                source.path,
                *source.location(start),
                *source.location(end),
                code=self.code,
                name=self.name(),
                message=message or self.summary,
                advice=advice,
                edits=edits,
                safe=safe and keeps_comments,
                confidence=self.lowered(node, confidence),
                way=self._steps(way, there, unit),
            )
        )
