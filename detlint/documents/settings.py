"""Settings of a configuration that make runs differ: what a finding says of one, and its fix."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.flavours import spelled
from detlint.finding import Confidence, Edit
from detlint.grouping import grouped
from detlint.models import configurations as rows
from detlint.models.attention import VARIABLES
from detlint.sources.kinds import NOTEBOOK, PYTHON, kind_of_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.documents import Document
    from detlint.documents.document import Entry, Scalar
    from detlint.finding import Finding
    from detlint.models.configurations import Row, Value
    from detlint.rule import Rule

_SIGNS = {"yaml": "{}: {}", "toml": "{} = {}", "json": '"{}": {}'}
_SHORTEST = 60


class Setting(NamedTuple):
    """A setting that makes runs differ, as a finding says it."""

    message: str
    advice: str
    edits: tuple[Edit, ...]
    safe: bool


class OfCudnn:
    """A rule on switches of cuDNN, also in configurations, of which those in capitals may be of
    yacs: what the project declares and never reads sets nothing. Nor does a switch of code that no
    program runs, or in programs that leave cuDNN nothing to do."""

    @classmethod
    def awaits_programs(cls, finding: Finding) -> bool:
        """``Rule.awaits_programs``."""
        return "cuDNN" in finding.message or _is_of_yacs(finding)

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:
        """``Rule.doubted``."""
        return "cuDNN" in finding.message and program.variation.needs_no_cudnn()

    @classmethod
    def doubted_by_all(
        cls,
        finding: Finding,
        programs: Sequence[Program],
        linted: PythonFiles,
    ) -> bool:
        """``Rule.doubted_by_all``."""
        if _is_of_yacs(finding):
            return linted.only_declare(finding.message.partition(":")[0])
        path = os.path.realpath(finding.path)
        code = kind_of_name(path) in (PYTHON, NOTEBOOK)
        return code and linted.never_runs(path, finding.row, finding.column, programs)


def _is_of_yacs(finding: Finding) -> bool:
    return finding.message.partition(":")[0].isupper()


def report_setting(
    rule: Rule,
    entry: Entry,
    unless: Callable[[Document], bool] = lambda _: False,
    doubt: Callable[[Document], bool] = lambda _: False,
) -> None:
    """Report a setting that the table has for a rule, once where aliases repeat it.

    ``unless`` says of what the whole document makes pointless, ``doubt`` of what it makes
    doubtful; asked last.
    """
    if rule.findings:
        place = rule.document.source.location(entry.start)
        if any((each.row, each.column) == place for each in rule.findings):
            return
    found = setting(rule.document, entry, rule.code)
    if found is not None and not unless(rule.document):
        # Its kind is told by its keys.
        sure = Confidence.POSSIBLE if doubt(rule.document) else Confidence.LIKELY
        rule.report(
            entry,
            found.message,
            advice=found.advice,
            edits=found.edits,
            safe=found.safe,
            confidence=min(rule.confidence, sure),
        )


def setting(document: Document, entry: Entry, code: str) -> Setting | None:
    """What a rule finds in a setting."""
    if not entry.known or not entry.keys:
        return None
    keys = _keys(entry)
    for row in _by_last_key(code).get(keys[-1], ()):
        if (
            (not row.flavours or document.flavour in row.flavours)
            # True is not 1.
            and any(type(entry.value) is type(each) and entry.value == each for each in row.values)
            and len(keys) <= row.deepest
            and any(rows.is_in(path, keys) for path in row.paths)
            and row.beside(beside(document, entry))
        ):
            edits = () if row.good is None else replacement(document, entry, row.good)
            good = edits[0].replacement if edits else str(row.good).lower()
            message = f"{shown(document, entry)} {row.effect}"
            return Setting(message, row.advice.format(good), edits, row.safe)
    return None


@cache
def _by_last_key(code: str) -> dict[str, list[Row]]:
    """The rows of a rule, by the last keys of their paths."""
    pairs = ((x.rpartition(".")[2], y) for y in rows.ROWS if y.code == code for x in y.paths)
    return grouped(dict.fromkeys(pairs))


def _keys(entry: Entry) -> tuple[str, ...]:
    return tuple(".".join(spelled(key) for key in entry.keys).split("."))


def beside(document: Document, entry: Entry) -> dict[str, Scalar]:
    """The settings of the mapping that an entry is in; of what is nested there, the key alone."""
    above = entry.keys[:-1]
    found: dict[str, Scalar] = {}
    for node in document.entries():
        if node.keys[: len(above)] == above and len(node.keys) > len(above):
            deeper = len(node.keys) > len(above) + 1 or not node.known
            found.setdefault(spelled(node.keys[len(above)]), "" if deeper else node.value)
    return found


def is_deterministic(document: Document) -> bool:
    """Whether the configuration turns deterministic algorithms on, under any name."""
    return any(
        entry.value is True
        and (spelled(entry.keys[-1]) in rows.DETERMINISM or _is_switch(document, entry))
        for entry in document.entries()
        if entry.keys
    )


def makes_trainer_deterministic(document: Document) -> bool:
    """Whether the configuration has a trainer turn deterministic algorithms on."""
    return any(
        entry.value is True and _is_switch(document, entry)
        for entry in document.entries()
        if entry.keys
    )


def trains(document: Document) -> bool:
    """Whether a key of the configuration is one of training."""
    return any(map(rows.trains, _words(document)))


def generates(document: Document) -> bool:
    """Whether the configuration says how a model is asked for text, and nothing of training."""
    keys = _words(document)
    asks = rows.OF_MODEL.isdisjoint(keys) and any(map(rows.generates, keys))
    return asks and not any(map(rows.trains, keys))


def _words(document: Document) -> set[str]:
    return {spelled(key) for entry in document.entries() for key in entry.keys}


def is_told(document: Document) -> bool:
    """Whether the configuration sets a variable that makes FlashAttention's backward
    deterministic."""
    return any(
        entry.keys and str(entry.value) == VARIABLES.get(entry.keys[-1])
        for entry in document.entries()
    )


def _is_switch(document: Document, entry: Entry) -> bool:
    if spelled(entry.keys[-1]) != "deterministic":
        return False
    if rows.is_trainers(_keys(entry)) or document.flavour in rows.DETERMINISTIC:
        return True
    return rows.is_in_trainer(beside(document, entry))


# How a setting is written


def shown(document: Document, entry: Entry) -> str:
    """The key and the value as they are written: ``benchmark: true``."""
    written = document.source.text[entry.start : entry.end]
    value = written if len(written) <= _SHORTEST and "\n" not in written else "…"
    form = _SIGNS.get(document.source.kind, "{}: {}")
    return form.format(entry.keys[-1], value or "null")


def replacement(document: Document, entry: Entry, value: Value) -> tuple[Edit, ...]:
    """The edit that sets another value and keeps the way in which the old one is written."""
    text = document.source.text
    written = text[entry.start : entry.end]
    before = text[max(0, entry.start - 200) : entry.start].split()[-1:]
    marked = any(each.lstrip("[{,").startswith(("&", "!")) for each in before)
    # In YAML, a value that an alias elsewhere repeats, or that its own tag describes.
    if not written or written.startswith("*") or marked:
        return ()
    return (Edit(entry.start, entry.end, _like(written, value)),)


def _like(written: str, value: Value) -> str:
    if isinstance(value, bool):
        return _boolean(written, value)
    if isinstance(value, int):
        return str(value)
    quote = written[0] if written[0] in "\"'" else ""
    return f"{quote}{value}{quote}"


def _boolean(written: str, value: bool) -> str:
    words = {"yes": "no", "no": "yes", "on": "off", "off": "on", "y": "n", "n": "y"}
    word = words.get(written.lower(), "true" if value else "false")
    if written.isupper():
        return word.upper()
    return word.capitalize() if written[:1].isupper() else word
