"""What scripts say together with the files beside them: what they source or hand their arguments
to, and the parsers of the programs that they start. By itself, a script is linted without."""

from __future__ import annotations

import os
import re
from functools import cached_property, partial
from typing import TYPE_CHECKING

from detlint.grouping import grouped
from detlint.kept import Work
from detlint.sources.cache import dump, load
from detlint.sources.decoding import decode
from detlint.sources.kinds import kind_of_name
from detlint.sources.source import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.engine import Engine
    from detlint.finding import Finding
    from detlint.index.index import Index
    from detlint.kept import Kept
    from detlint.link import Linker
    from detlint.sources.context import Context

_SOURCES = re.compile(rb"^[ \t]*(?:source|\.)[ \t]+\S+?\.(?:sh|bash|env|inc)\b", re.MULTILINE)
_HANDS_ON = re.compile(
    rb"^[^#\n]*\.(?:sh|bash)[\"']?[ \t]+(?:\\\r?\n[ \t]*)*[^\s;&|>]", re.MULTILINE
)
# Findings that advise an option, by code, with one that every parser has which may know it. It
# may come from the field of a class.
_ADVISED = {"DET701": (" is launched without --deterministic-mode", "--micro-batch-size")}
_TAIL = re.compile(r"(?:\A|/)([\w.@+-]+)[\"']?\Z")
_PROGRAM = re.compile(r"([\w.+-]+\.py)\b")
_HIGHEST = 6  # folders above a file that are looked into


def may_differ(paths: Iterable[str]) -> bool:
    """Whether there are scripts among some files."""
    return any(kind_of_name(os.path.basename(path)) == "shell" for path in paths)


def together(
    findings: Sequence[Finding], context: Context, engine: Engine, linker: Linker
) -> list[Finding]:
    """Findings of files, in the order of the paths: those of scripts as what they source makes
    them, and without those that advise what a project's own parser does not know."""
    project = _Project(context.paths, context.files, linker.index)
    again = dict(_relinted(project, engine, linker.kept))
    found: list[Finding] = []
    if again:
        by_path = grouped((each.path, each) for each in findings)
        for path in context.paths:
            found += again.get(path, by_path.get(path, []))
    else:
        found = list(findings)
    return [each for each in found if each.code not in _ADVISED or not _is_refused(each, project)]


def _relinted(
    project: _Project, engine: Engine, kept: Kept | None
) -> Iterator[tuple[str, list[Finding]]]:
    """Scripts that source or start others of the project, and what is found in them then."""
    for path in project.scripts:
        work = partial(_lint_with_others, path, project, engine)
        name = f"script {os.path.realpath(path)}"
        told = work().result if kept is None else kept.result(name, "", str, work)
        if told is not None:
            yield path, load(path, told)


def _lint_with_others(path: str, project: _Project, engine: Engine) -> Work:
    """What is found in a script with others that it sources or starts; None if it does not."""
    data, read = project.data(path), [os.path.realpath(path)]
    if not (_SOURCES.search(data) or _HANDS_ON.search(data)):
        return Work(None, read)
    try:
        source = decode(path, data)
    except DecodeError:
        return Work(None, read)

    def beside(name: str) -> str | None:
        found = project.script_beside(path, name)
        if found is None:
            return None
        read.append(found)
        return project.data(found).decode("utf-8", "replace")

    source.beside = beside
    found = engine.lint(source)
    return Work(dump(found) if len(read) > 1 else None, read)


def _is_refused(finding: Finding, project: _Project) -> bool:
    """Whether the program that a finding names is of the project, and so is its parser, which
    does not know the option that the finding advises."""
    says, known = _ADVISED[finding.code]
    if says not in finding.message:
        return False
    option = says.rpartition(" ")[2].lstrip("-")
    program = _TAIL.search(finding.message.partition(says)[0])
    written = _PROGRAM.search(project.line(finding.path, finding.row))
    name = program[1] if program else written[1] if written else ""
    # One that the text does not name is taken for one of the script's project.
    for path in project.named(name) if name else [os.path.realpath(finding.path)]:
        folder = os.path.dirname(path)
        for _ in range(_HIGHEST):
            if project.holds(folder, [f'"{known}"', f"'{known}'"]):
                return not project.holds(folder, [option, option.replace("-", "_")])
            folder = os.path.dirname(folder)
    return False


class _Project:
    """Files by their real paths; ``paths`` are those that are linted, as they are named."""

    def __init__(self, paths: Sequence[str], files: Sequence[str], index: Index) -> None:
        self._paths = paths
        self._real = frozenset(files)
        self._index = index

    @cached_property
    def scripts(self) -> list[str]:
        """The shell scripts, as they are named."""
        return [each for each in self._paths if kind_of_name(os.path.basename(each)) == "shell"]

    def data(self, path: str) -> bytes:
        """What a file holds; nothing if it cannot be read."""
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def line(self, path: str, row: int) -> str:
        """A line of a script."""
        lines = self.data(path).decode("utf-8", "replace").split("\n")
        return lines[row - 1] if row <= len(lines) else ""

    def script_beside(self, path: str, name: str) -> str | None:
        """A script that another names, seen from its folder or one above."""
        folder = os.path.dirname(os.path.realpath(path))
        for _ in range(_HIGHEST):
            found = os.path.normpath(os.path.join(folder, name))
            if found in self._real and found != os.path.realpath(path):
                return found
            folder = os.path.dirname(folder)
        return None

    def named(self, name: str) -> list[str]:
        """The programs of a file name."""
        return self._by_name.get(name, [])

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        return grouped((os.path.basename(each), each) for each in sorted(self._real))

    def holds(self, folder: str, words: Sequence[str]) -> bool:
        """Whether a Python file below a folder holds one of some words."""
        inside = os.path.join(folder, "")
        return any(
            each.startswith(inside) and self._index.holds(each, words) for each in self._python
        )

    @cached_property
    def _python(self) -> list[str]:
        return sorted(each for each in self._real if each.endswith(".py"))
