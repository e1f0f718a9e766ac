"""Output formats, one a file: each turns a Report into pieces of text."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from detlint.addresses import address
from detlint.sources.kinds import NOTEBOOK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.finding import Finding
    from detlint.notebooks.notebook import Notebook
    from detlint.rule import Rule
    from detlint.sources.source import Source

# The name of a format is the name of the module that renders it.
FORMATS = ("text", "json", "github", "sarif", "gitlab", "junit", "rdjson", "html")
# Text with the source below each finding, and without.
STYLES = {"full": True, "concise": False}


class Report(NamedTuple):
    """What a run found, and how to show it.

    ``links``: a terminal opens them. ``width``: how wide it is, 0 for lines of any length.
    ``known`` is how many findings are left out, as a baseline or an earlier commit has them.
    ``root`` gives the folder of the project, asked only by a format that names files from it.
    ``sources`` gives the source of a path, or None where it has gone; ``rules`` the rule
    behind a code, or None for a code that has none. Both are asked only for what a format
    shows. The findings come in the order to show them in, and those in notebooks with rows of
    their cells.
    """

    findings: Sequence[Finding]
    files: int = 0
    fixed: int = 0
    known: int = 0
    colour: bool = False
    links: bool = False
    width: int = 0
    show_source: bool = False
    statistics: bool = False
    quiet: bool = False  # nothing but findings
    sources: Callable[[str], Source | None] = lambda _path: None
    rules: Callable[[str], type[Rule] | None] = lambda _code: None
    root: Callable[[], str] = os.getcwd
    programs: Callable[[Finding], Sequence[str]] = lambda _finding: ()  # that have its file


def load(name: str) -> Callable[[Report], Iterator[str]]:
    """The ``render`` of one of FORMATS. A format that is not asked for is not imported."""
    if name not in FORMATS and name not in STYLES:
        raise ValueError(f"unknown output format {name!r}: expected one of {', '.join(FORMATS)}")
    from importlib import import_module

    module = import_module(f"{__name__}.{'text' if name in STYLES else name}")
    render: Callable[[Report], Iterator[str]] = module.render
    return render


def reader(report: Report) -> Callable[[Finding], Source | None]:
    """The source that a finding is in, kept until the next file's is asked for."""
    read = lru_cache(maxsize=1)(report.sources)
    return lambda finding: read(finding.path)


def notebook(finding: Finding, source: Source | None) -> Notebook | None:
    """The notebook that a finding is in a cell of."""
    if finding.cell is None or source is None or source.kind != NOTEBOOK:
        return None
    return cast("Notebook", source)


def excerpted(finding: Finding, source: Source | None) -> Source | None:
    """The text that a finding's rows count in: for one in a notebook, that of its cell."""
    if finding.cell is None:
        return source
    whole = notebook(finding, source)
    return whole.cell_source(finding.cell) if whole else None


def file_rows(finding: Finding, source: Source | None) -> tuple[int, int]:
    """The first and last line of a finding in its file; a notebook's are those of its JSON."""
    if finding.cell is None:
        return finding.row, finding.end_row
    whole = notebook(finding, source)
    if whole is None:
        return 1, 1
    first, last = (whole.file_row(finding.cell, row) for row in (finding.row, finding.end_row))
    return first, last


def whole_message(finding: Finding) -> str:
    """What is wrong and, in a line of its own, what to do: for formats with one place for both."""
    return "\nhelp: ".join(filter(None, (finding.message, finding.advice)))


def documentation(finding: Finding) -> str:
    """The address of the section that explains a finding, "" for none; of a plugin's, where it
    says so."""
    if not finding.code.startswith("DET"):
        from detlint.plugins import rule_of

        rule = rule_of(finding.code)
        return rule.source if rule is not None else ""
    pages = address("Documentation")
    return f"{pages}/rules.md#{finding.code.lower()}-{finding.name}" if pages else ""
