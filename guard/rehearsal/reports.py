"""The report for a person: coloured and wrapped on a terminal, an entry a line elsewhere.

SARIF 2.1.0, so that code scanning can hold a change to what preflight finds. And what no run of one
process shows, as the linter reads it in the program's text.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO, TypeVar

from detlint.addresses import address
from guard.errors import GuardError
from guard.observe.places import Place
from guard.rehearsal.findings import (
    DETERMINISTIC,
    FOUND,
    RAISES,
    REPAIRED,
    SILENT,
    SWITCH,
    UNKNOWN,
    OtherSource,
    Report,
)
from guard.setup.variables import hash_seed
from guard.terminal import counted, grid, heading, rendered, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from guard.rehearsal.findings import Attention, Finding, Report, Verdict

    Row = tuple[tuple[str, str], ...]
    _Entry = TypeVar("_Entry", Finding, OtherSource)
    Object = dict[str, object]

_STYLES: dict[Verdict, str] = {
    RAISES: "bold red",
    SILENT: "bold red",
    UNKNOWN: "yellow",
    REPAIRED: "green",
    SWITCH: "green",
    DETERMINISTIC: "dim",
}
_AT, _MODULE, _SOURCE_AT = 3, 4, 2  # columns
_SHOWN = 3  # lines of those that say the same
_SWITCHED_ON = "With torch.use_deterministic_algorithms(True), as guard sets it:"


def render(report: Report, stream: TextIO, *, verbose: bool = False) -> str:
    """What ran, the worst first, then what is no operator, and what could not be seen.

    verbose  each line by itself, also where many say the same
    """
    return rendered(_parts(report, verbose=verbose), stream)


def _parts(report: Report, *, verbose: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    yield heading(_summary(report))
    shown = [each for each in report.findings if each.verdict in (*FOUND, REPAIRED, SWITCH)]
    if shown:
        yield Text(_SWITCHED_ON)
        harmless = (REPAIRED, SWITCH)
        yield grid(_rows(shown, _row, _AT, lambda e: e.verdict in harmless, verbose=verbose))
    if report.attention:
        yield heading("attention")
        yield grid(_attention_row(each) for each in report.attention)
    if report.sources:
        yield heading("not operators")
        yield grid(_rows(report.sources, _source_row, _SOURCE_AT, lambda _: True, verbose=verbose))
    if report.limits:
        yield heading("not seen")
        for limit in report.limits:
            yield Text(visible(limit))
    yield Text(_verdict(report), style="bold")


def _summary(report: Report) -> str:
    each = [f"{count} {verdict}" for verdict, count in report.counts().items() if count]
    told = ", ".join(each) or "nothing ran"
    return f"preflight: {counted(report.steps, 'step')} on CUDA, torch {report.torch}: {told}"


def _verdict(report: Report) -> str:
    if not report.operators:
        return "Nothing ran on CUDA, so that nothing is known."
    found, sources = len(report.found), sum(each.counts for each in report.sources)
    if not found and not sources:
        if not report.complete:
            return "Nothing found in what was seen, which is not all of it."
        left = "; not judged: " + "; ".join(report.unjudged) if report.unjudged else ""
        return f"Nothing found: no operator refuses{left}."
    calls = f"{counted(found, 'call')} of operators that refuse or differ"
    others = f"{counted(sources, 'other source')} of nondeterminism"
    return f"Found {' and '.join([calls] * bool(found) + [others] * bool(sources))}."


def _rows(
    entries: Sequence[_Entry],
    row_of: Callable[[_Entry], Row],
    at: int,
    may_join: Callable[[_Entry], bool],
    *,
    verbose: bool,
) -> Iterator[Row]:
    """A row each, or one for all that differ by nothing but their lines, in the column ``at``."""
    joined: dict[object, list[_Entry]] = {}
    for index, entry in enumerate(entries):
        alike = entry._replace(where=None, times=0) if may_join(entry) and not verbose else index
        joined.setdefault(alike, []).append(entry)
    for group in joined.values():
        total = group[0]._replace(times=sum(each.times for each in group))
        row = list(row_of(total))
        lines = dict.fromkeys(_place(each.where) for each in group)
        row[at] = (_several(list(lines)), row[at][1])
        if len(lines) > 1 and at == _AT:
            row[_MODULE] = ("", "")
        yield tuple(row)


def _several(lines: list[str]) -> str:
    more = len(lines) - _SHOWN
    shown = ", ".join(lines[:_SHOWN])
    return f"{shown} and {counted(more, 'more line')} (--verbose)" if more > 0 else shown


def _row(each: Finding) -> tuple[tuple[str, str], ...]:
    what = each.operator.removeprefix("aten::")
    named = f"{each.name} ({what})" if each.name else what
    advice = f"instead: {each.alternative}" if each.alternative else _why(each)
    condition = f" [when: {each.condition}]" if each.condition else ""
    return (
        (each.verdict, _STYLES[each.verdict]),
        (f"{each.times}x {each.direction}", ""),
        (named, "bold"),
        (_place(each.where), ""),
        (_module(each.where), ""),
        (advice + condition, "dim"),
    )


def _why(each: Finding) -> str:
    if each.reason and "::" in each.operator and not each.operator.startswith("aten::"):
        return each.reason  # a whole sentence, of the table of libraries
    if each.verdict == UNKNOWN:
        return "of another library: look there for a deterministic variant, or compare two runs"
    return f"by default it {each.reason}" if each.reason else ""


def _attention_row(each: Attention) -> tuple[tuple[str, str], ...]:
    return (
        (each.verdict, _STYLES[each.verdict]),
        (f"{each.times}x", ""),
        (f"{each.backend} on {each.gpu}", "bold"),
        (_place(each.where), ""),
        (_module(each.where), ""),
        (each.reason, "dim"),
    )


def _source_row(each: OtherSource) -> tuple[tuple[str, str], ...]:
    style = "bold red" if each.counts else "dim"
    return (
        (each.name, style),
        (each.text if each.times == 1 else f"{each.text}, {each.times} times", ""),
        (_place(each.where), ""),
        (each.advice, "dim"),
    )


def _place(where: Place | None) -> str:
    return "line not known" if where is None else where.short


def _module(where: Place | None) -> str:
    return "" if where is None else where.inside


_RULES = {
    "preflight/raises": "torch refuses this operator on a GPU with determinism on",
    "preflight/silent": "this operator differs from run to run on a GPU, and nothing says so",
    "preflight/unknown": "this operator is of another library, and nobody has looked at it",
    "preflight/source": "runs differ by this, which is no operator",
}


def log(report: Report) -> Object:
    """One log of one run; what could not be seen stands among its notifications."""
    from detlint.reporters.sarif import ROOT, SCHEMA

    results = list(_results(report))
    used = sorted({str(each["ruleId"]) for each in results})
    for each in results:
        each["ruleIndex"] = used.index(str(each["ruleId"]))
    rules = [{"id": name, "shortDescription": {"text": _RULES[name]}} for name in used]
    known = {"informationUri": page} if (page := address("Repository")) else {}
    driver = {"name": "guard preflight", **known, "rules": rules}
    notes = [{"level": "note", "message": {"text": each}} for each in report.limits]
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {
                "executionSuccessful": report.complete,
                "toolExecutionNotifications": notes,
            }
        ],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that guard ran in"}}},
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(report: Report) -> Iterator[Object]:
    for finding in report.findings:
        if finding.verdict in FOUND:
            level = "error" if finding.verdict == RAISES else "warning"
            yield _result(f"preflight/{finding.verdict}", level, _told_of(finding), finding.where)
    for source in report.sources:
        level = "warning" if source.counts else "note"
        yield _result("preflight/source", level, _told(source), source.where)


def _result(rule: str, level: str, text: str, where: Place | None) -> Object:
    from detlint.reporters.places import digest
    from detlint.reporters.sarif import artifact

    result: Object = {"ruleId": rule, "level": level, "message": {"text": text}}
    if where is not None:
        location = artifact(where.filename, os.path.realpath(os.getcwd()))
        region = {"startLine": max(1, where.line)}
        result["locations"] = [
            {"physicalLocation": {"artifactLocation": location, "region": region}}
        ]
    # The same wherever in the file the line moves.
    parts = (rule, text, "" if where is None else os.path.basename(where.filename))
    result["partialFingerprints"] = {"guardPreflight/v1": digest(*parts)}
    return result


def _told_of(finding: Finding) -> str:
    place = finding.where
    inside = f" in module {place.inside}" if place and place.module else ""
    condition = f", {finding.condition}" if finding.condition else ""
    advice = f" Instead: {finding.alternative}." if finding.alternative else ""
    name = finding.name or finding.operator
    return f"{finding.verdict}: {finding.direction} of {name}{inside}{condition}.{advice}"


def _told(source: OtherSource) -> str:
    return f"{source.name}: {source.text}. {source.advice}."


# Seeds from the clock, samplers with seeds of their own, hashes, and orders.
_CODES = ("DET101", "DET103", "DET105", "DET203", "DET204", "DET205", "DET207")
_OF_HASHES = ("DET105", "DET204")
_HASHED = ", or start the program with `python -m guard run`, which fixes the hashes of strings"
_UNREAD = "sets, listings of folders and what comes in the order in which it is done"


def read_sources(program: str, *, module: bool) -> tuple[OtherSource, ...]:
    """What the linter finds in the program's own files. Raises GuardError if it cannot be asked."""
    from guard.verification.program_files import program_files
    from guard.verification.suspects import findings

    files = program_files(program, module=module)
    return tuple(_sources(findings(files, _CODES))) if files else ()


def _sources(found: Iterable[dict[str, object]]) -> Iterator[OtherSource]:
    for each in found:
        code, location = str(each["code"]), each["location"]
        if not isinstance(location, dict):
            continue
        is_of_hashes = code in _OF_HASHES
        yield OtherSource(
            code,
            str(each["message"]),
            f"see `detlint explain {code}`{_HASHED if is_of_hashes else ''}",
            Place(str(each["filename"]), int(location["row"]), ""),
            # Any other code says that a file could not be read.
            counts=code in _CODES and (not is_of_hashes or hash_seed() is None),
        )


def joined(report: Report, read: tuple[OtherSource, ...] | GuardError) -> Report:
    """The report with what the linter found at other lines than the run did."""
    if isinstance(read, GuardError):
        return report._replace(unjudged=(f"{_UNREAD}: {read}", *report.unjudged))
    seen = {_line(each) for each in report.sources}
    more = tuple(each for each in read if _line(each) not in seen)
    return report._replace(sources=(*report.sources, *more))


def _line(source: OtherSource) -> tuple[str, int]:
    return ("", 0) if source.where is None else (source.where.filename, source.where.line)
