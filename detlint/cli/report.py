"""What a run found, written in the formats that were asked for."""

from __future__ import annotations

import io
import os
import sys
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TextIO, cast

from detlint.cli.screen import is_read, screen_of
from detlint.cli.streams import write
from detlint.errors import OutputError
from detlint.reporters import STYLES, Report, load
from detlint.sources.kinds import NOTEBOOK, kind_of_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from detlint.finding import Finding
    from detlint.notebooks.notebook import Notebook
    from detlint.rule import Rule
    from detlint.settings import Settings
    from detlint.sources.source import Source


def report(  # noqa: PLR0913 - what a run has
    options: argparse.Namespace,
    settings: Settings,
    findings: Sequence[Finding],
    *,
    files: int,
    fixed: int = 0,
    known: int = 0,
    read: Callable[[str], Source | None] | None = None,
    programs: Callable[[], Mapping[str, Sequence[str]]] = dict,
) -> None:
    """``programs`` gives those that have each file, asked only by a format that shows it; ``read``
    gives what was read from standard input, in which case ``--fix`` writes the
    fixed source to standard output."""
    from detlint.settings import project_root

    stream = sys.stderr if read and options.fix else sys.stdout
    screen = screen_of(stream)
    having = cache(programs)
    sources = lru_cache(maxsize=1)(read or decoded)
    told = Report(
        [_placed(each, sources) for each in findings],
        files=files,
        fixed=fixed,
        known=known,
        statistics=options.statistics,
        quiet=options.quiet,
        sources=sources,
        rules=_rule,
        root=lambda: project_root(settings),
        programs=lambda finding: having().get(finding.path, ()),
    )
    wanted: bool | None = options.show_source
    for name, file in options.outputs:
        show = STYLES.get(name, wanted)
        if file:
            _write(name, file, told._replace(show_source=bool(show)))
        else:
            shown = is_read(stream) if show is None else show
            _print(name, stream, told._replace(**screen._asdict(), show_source=shown))


def _print(name: str, stream: TextIO, told: Report) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # a name or a line may not fit its encoding
    write(stream, load(name)(told))


def _write(name: str, file: str, told: Report) -> None:
    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(load(name)(told))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"{file}: cannot be written: {reason}") from error


def _rule(code: str) -> type[Rule] | None:
    from detlint.plugins import rule_of

    return rule_of(code)


def decoded(path: str) -> Source | None:
    """The source of a path, None where there is none that can be read."""
    from detlint.sources.decoding import decode
    from detlint.sources.source import DecodeError

    try:
        with open(path, "rb") as file:
            return decode(path, file.read())
    except (OSError, DecodeError):
        return None


def quoted(path: str, data: bytes) -> Source:
    """A source to quote from, also where it is not text, or no notebook."""
    from detlint.sources.decoding import decode
    from detlint.sources.source import DecodeError, Source

    try:
        return decode(path, data)
    except DecodeError:
        return Source(path, data.decode("utf-8", "replace"))


def _placed(finding: Finding, sources: Callable[[str], Source | None]) -> Finding:
    """With the rows of its cell, for one in a notebook."""
    if kind_of_name(os.path.basename(finding.path)) != NOTEBOOK:
        return finding
    source = sources(finding.path)
    if source is None or source.kind != NOTEBOOK:
        return finding
    return cast("Notebook", source).placed(finding)
