"""What a run would read, and by which settings: ``--show-files`` and ``--show-settings``; and what
it did, for ``--verbose``."""

from __future__ import annotations

import sys
from collections import Counter
from json import dumps
from typing import TYPE_CHECKING

from detlint import journal
from detlint.cli.said import counted, say
from detlint.cli.status import CLEAN
from detlint.cli.streams import write
from detlint.reporters.terminal import leading
from detlint.sources.kinds import kind_of_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.cli.parts import Part
    from detlint.finding import Finding
    from detlint.settings import Settings

_SHOWN = 10  # rules that took the most time; places where a budget ended


def show_files(parts: Sequence[Part]) -> int:
    """The files that would be linted, a line each."""
    paths = sorted(path for part in parts for path in part.paths)
    write(sys.stdout, (f"{leading(path)}\n" for path in paths))
    return CLEAN


def show_settings(parts: Sequence[Part]) -> int:
    """The settings of each part of the files, as TOML that gives the same."""
    write(sys.stdout, ("\n".join(_settings(part)) + "\n" for part in parts))
    return CLEAN


def _settings(part: Part) -> Iterator[str]:
    settings = part.settings
    yield f"# {_origin(settings)}, for {counted(len(part.paths), 'file')}"
    codes = ", ".join(rule.code for rule in part.engine.rules)
    yield f"# rules that run: {codes}"
    tables = []
    for field, value in settings._asdict().items():
        name = field.replace("_", "-")
        if field in {"per_file_ignores", "confidence", "models"}:
            if value:
                tables += [f"[{name}]", *(f"{dumps(key)} = {_toml(each)}" for key, each in value)]
        elif field == "target_torch":
            yield f'{name} = "{".".join(map(str, value))}"'
        elif field not in {"root", "project"} and value not in {(), None}:
            yield f"{name} = {_toml(value)}"
    yield from tables


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return dumps(str(value), ensure_ascii=False)


def _origin(settings: Settings) -> str:
    from detlint import configuration

    if not settings.project:
        return "no configuration file"
    document = configuration.in_folder(settings.project)
    return configuration.shown(document.path) if document else "no configuration file"


def tell_parts(parts: Sequence[Part]) -> None:
    """Which configuration holds for which files, and what kinds these are of."""
    for part in parts:
        kinds = Counter(kind_of_name(path) or "script" for path in map(_name, part.paths))
        told = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
        root = f", root {part.settings.root}" if part.settings.root else ""
        say(f"{_origin(part.settings)}: {counted(len(part.paths), 'file')} ({told}){root}")


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def tell_work(parts: Sequence[Part], findings: Sequence[Finding], seconds: float) -> None:
    """How much was linted, what took the time, and where searches ended before they were done."""
    told = journal.notes()
    files = sum(len(part.paths) for part in parts)
    found = counted(len(findings), "finding")
    say(
        f"linted {counted(len(told.linted), 'file')}, {files - len(told.linted)} are as they were "
        f"at an earlier run; {found}; {seconds:.2f} s in all"
    )
    if told.seconds:
        say("time of rules, in all processes together:")
    for code, taken in sorted(told.seconds.items(), key=lambda each: -each[1])[:_SHOWN]:
        say(f"{taken:8.3f} s  {code}")
    for path, code, place, limit in list(told.ended)[:_SHOWN]:
        say(f"{path}: {place}: {code} looked no further than {limit}")
    if len(told.ended) > _SHOWN:
        say(f"... and {len(told.ended) - _SHOWN} more")
    if not told.ended:
        say("no search was ended by its budget")
