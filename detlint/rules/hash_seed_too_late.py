"""DET106 hash-seed-too-late."""

from __future__ import annotations

import re
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.environment import Environment
from detlint.dataflow.arguments.settings import options
from detlint.dataflow.orders.given_sets import leaving
from detlint.dataflow.orders.sets import Sets
from detlint.dataflow.unit import Unit, asked
from detlint.documents.entropy import entropy
from detlint.documents.launches import launches, program
from detlint.documents.training import is_tester, runs_tests
from detlint.documents.variables import export, replaced, unseen_by
from detlint.models import randomness
from detlint.rule import Confidence, Example, Rule
from detlint.sources.kinds import NOTEBOOK

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Function
    from detlint.documents import Document
    from detlint.documents.document import Command, Text, Variable
    from detlint.documents.entropy import Entropy
    from detlint.finding import Edit, Finding
    from detlint.sources.source import Source

_VARIABLE = "PYTHONHASHSEED"
_EXPORT = "export it before Python starts"
_KEEPS = "this process keeps its hashes"
_IN_SHELL = f"start it as {_VARIABLE}=0 python ..."
_OF_KERNEL = "set it before Jupyter starts"
_HASHES = re.compile(r"(?<![\w.])hash\(")
# Sets, but for keywords that end a word: ``reset(x)``, ``x.set(y)``.
_SETS = re.compile(
    r"(?<![\w.])(?:frozen)?set[(),\]]|\.keys\(\)\s*[-&|^]"
    r"|(?:[=(,]|\b(?:in|return))\s*\{\s*[\w.\"']+\s*(?:,|for\b)"
)
_FILES = 256  # whose answers are kept: the programs of a project share most of theirs


class HashSeedTooLate(Rule):
    """Why runs differ: Python reads `PYTHONHASHSEED` once, when it starts. A program that sets it
    in `os.environ` keeps its own random hashes, and with them the order of its sets. Only
    interpreters that it starts later see the value.

    Reported:
    - `os.environ["PYTHONHASHSEED"] = …`, every other way to set it, and `%env` in a notebook
    - in a script: a value that is not exported, or is exported only after Python has run
    - in a script: the value `random`, or one that differs in each run

    Lowers the confidence:
    - all programs of a script are tests, benchmarks or servers by their names
    - no file of the programs that set it calls `hash`, shows the order of a set, or gives others a
      set: *possible*

    Not reported:
    - a file that starts itself anew with `os.exec…`
    - code that sets it for other programs or spawned processes, and seeds nothing of its own
    - an earlier value that is put back

    What to do: Export the variable before Python starts: `PYTHONHASHSEED=0 python train.py`. Or
    start the program with `python -m guard run train.py`, which starts Python anew with it.

    Fix safety: safe. In a script, it exports the variable before Python starts.
    """

    code = "DET106"
    summary = "PYTHONHASHSEED is set after Python has read it"
    triggers = (_VARIABLE,)
    mentions = (_VARIABLE,)
    silencers = ("execv", "execl")
    source = "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import os
                import random

                def set_seed(seed):
                    random.seed(seed)
                    os.environ["PYTHONHASHSEED"] = str(seed)  # DET106
            """,
            good="""
                import random

                def set_seed(seed):
                    random.seed(seed)  # started as: PYTHONHASHSEED=0 python train.py
            """,
        ),
        Example(
            bad="""
                import os

                os.environ.setdefault("PYTHONHASHSEED", "0")  # DET106
            """,
            good="""
                import os
                import sys

                if os.environ.get("PYTHONHASHSEED") != "0":
                    os.environ["PYTHONHASHSEED"] = "0"
                    os.execv(sys.executable, sys.orig_argv)
            """,
        ),
        Example(
            path="train.sh",
            bad="""
                PYTHONHASHSEED=0  # DET106
                python train.py
            """,
            fixed="""
                export PYTHONHASHSEED=0
                python train.py
            """,
        ),
    )

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:
        """Where the program's files have nothing that hashes decide about."""
        sources = (program.source_of(each) for each in program.paths)
        return _KEEPS in finding.message and not any(map(depends_on_hashes, sources))

    def visit_Text(self, _node: Text) -> None:
        doubtful = all(runs_tests(launch) for _, launch in launches(self.document))
        sure = Confidence.POSSIBLE if doubtful else None
        for each in _faults_of(self.document):
            advice, edits = each.advice, each.edits
            self.report(each.node, each.message, advice=advice, edits=edits, confidence=sure)

    def visit_Variable(self, node: Variable) -> None:
        """``%env PYTHONHASHSEED=0`` in a notebook, whose kernel is running."""
        if node.name != _VARIABLE or not self.document.source.text.startswith("%", node.start):
            return
        if not any(command.start > node.start for command, _ in launches(self.document)):
            self._report(node)

    def examine(self, offsets: Sequence[int]) -> None:
        for outer in self.unit.functions_at(offsets):
            for function in outer.everything():
                found = [
                    each for each in options(function, (_VARIABLE,)) if each.form == "environment"
                ]
                if found and not _is_for_children(function):
                    environment = Environment(function)
                    for each in found:
                        if each.value is None or not environment.is_read(each.value):
                            self._report(each.op.node)

    def _report(self, node: ast.AST | Variable) -> None:
        notebook = self._read.source.kind == NOTEBOOK
        self.report(
            node,
            f"{_VARIABLE} is set here after Python has read it: {_KEEPS}; "
            f"{_OF_KERNEL if notebook else _IN_SHELL}",
            advice="set it before Python starts, or start the program with python -m guard run",
        )


def _is_for_children(function: Function) -> bool:
    """Whether a function starts other programs, and seeds nothing of its own."""
    called = [name for op in function.ops for name in function.unit.values.called(op)]
    starts = any(name in randomness.STARTING for name in called)
    return starts and not any(name in randomness.SEEDING for name in called)


# Scripts


class _Fault(NamedTuple):
    """A setting that does not do what it is there for."""

    node: Variable
    message: str
    advice: str
    edits: tuple[Edit, ...]


def _faults_of(document: Document) -> Iterator[_Fault]:
    """The settings of the variable that no program sees, or by which hashes differ."""
    named = document.assignments.get(_VARIABLE, ())
    started = [
        (command, program(launch))
        for command, launch in launches(document)
        if not is_tester(launch)
    ]
    last = max((command.end for command, _ in started), default=-1)
    seen = max((each.end for each, _ in started if _VARIABLE in each.environment), default=-1)
    for node in named:
        yield from _faults(document, node, started, last=last, seen=seen)


def _faults(
    document: Document, node: Variable, started: list[tuple[Command, str]], *, last: int, seen: int
) -> Iterator[_Fault]:
    """``last`` is where the last command of ``started`` ends, ``seen`` the last that sees it."""
    after = last > node.start
    raw = document.source.text[node.value_start : node.value_end]
    if node.value == "random" and after:
        message = f"{_VARIABLE}=random has Python draw the hashes of strings anew in every run"
        yield _Fault(node, message, "set it to 0", replaced(document, node, "0"))
    elif node.value is None and after and (found := _entropy(document, raw)):
        message = f"{_VARIABLE} comes from {found.what} (`{raw}`), so hashes differ from run to run"
        yield _Fault(node, message, "set it to 0", ())
    elif name := unseen_by(document, node):
        message = f"{_VARIABLE} is set here and not exported: {name} does not see it"
        yield _Fault(node, message, _EXPORT, export(document, node))
    elif node.exported and _is_last(document, node) and started and started[-1][1]:
        message = f"{_VARIABLE} is exported after {started[-1][1]} has run"
        yield _Fault(node, message, _EXPORT, ())
    elif _is_of_one_line(document, node) and after and seen <= node.start:
        message = f"{_VARIABLE} is exported in a shell of its own: each line of a recipe has one"
        yield _Fault(node, message, "export it in a line outside of recipes", ())


def _is_last(document: Document, node: Variable) -> bool:
    """Whether a script runs nothing below: in an image, what is built starts later."""
    return document.source.kind == "shell" and bool(node.value) and _end(document) <= node.start


@lru_cache(maxsize=1)
def _end(document: Document) -> int:
    """Where the last command ends."""
    return max((each.end for each in document.commands), default=-1)


def _is_of_one_line(document: Document, node: Variable) -> bool:
    """Whether a recipe of a Makefile exports it by itself."""
    text = document.source.text
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    return document.source.kind == "makefile" and line.strip("\t @-") == "export"


def _entropy(document: Document, raw: str) -> Entropy | None:
    return entropy(raw, seeded="RANDOM" in document.assignments)


@lru_cache(maxsize=_FILES)
def depends_on_hashes(source: Source) -> bool:
    """Whether a file calls ``hash``, shows the order of a set, or gives others one; so may one
    that does not parse."""
    if _HASHES.search(source.text):
        return True
    if not _SETS.search(source.text):
        return False
    with closing(Unit(source.code)) as unit:
        return asked(unit, _shows_order, failed=True)


def _shows_order(unit: Unit) -> bool:
    sets = Sets(unit)
    near = sets.near([each.start() for each in _SETS.finditer(sets.unit.text)])
    shown = any(True for each in near for _ in sets.of_function(each))
    return shown or bool(sets.left) or any(True for _ in leaving(sets, near))
