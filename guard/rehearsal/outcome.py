"""From what was recorded to the report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import torch

from guard.rehearsal.findings import VERDICTS, Finding, OtherSource, Report
from guard.rehearsal.recorder import where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.rehearsal.recorder import Recorder

_LINES = 3  # at which the same was guessed, that are told
# What runs beside the process, or below Python.
_UNJUDGED = (
    "other processes and threads (DataLoader workers, ranks)",
    "what libraries draw in C++",
)


def report_of(
    recorder: Recorder, sources: Iterable[OtherSource] = (), unjudged: Iterable[str] = ()
) -> Report:
    """Everything that a rehearsal has found, the worst first."""
    findings = sorted(recorder.findings(), key=_rank)
    return Report(
        findings=tuple(findings),
        sources=(
            *_unwritten(recorder),
            *recorder.draws.sources(),
            *recorder.host.sources(),
            *sources,
        ),
        attention=tuple(recorder.attention_of()),
        limits=tuple(_limits(recorder)),
        unjudged=(*recorder.host.unjudged(), *unjudged, *_UNJUDGED),
        steps=recorder.steps,
        operators=recorder.operators,
        torch=torch.__version__,
        complete=not recorder.stopped,
    )


def _rank(finding: Finding) -> tuple[object, ...]:
    place = finding.where
    line = ("", 0) if place is None else (place.filename, place.line)
    return VERDICTS.index(finding.verdict), line, finding.operator, finding.direction, finding.node


def _unwritten(recorder: Recorder) -> Iterator[OtherSource]:
    for trail, count in recorder.unwritten.reads.items():
        yield OtherSource(
            "unwritten memory",
            "a tensor made by torch.empty or its like is read here before anything wrote to it: "
            "it holds what was in that memory before",
            "write to all of it first, or use torch.zeros; guard.enable fills such memory",
            where(trail),
            times=count,
        )


def _guesses(recorder: Recorder) -> Iterator[str]:
    """One sentence for all lines at which the same was guessed."""
    lines: dict[str, dict[str, None]] = {}
    times: Counter[str] = Counter()
    for (what, trail), count in recorder.guesses.items():
        times[what] += count
        held = lines.setdefault(what, {})
        if trail is not None:
            held[f"{trail.place.filename}, line {trail.place.line}"] = None
    for what, held in lines.items():
        more = len(held) - _LINES
        rest = "" if more <= 0 else " and 1 more line" if more == 1 else f" and {more} more lines"
        at = "; ".join(list(held)[:_LINES]) + rest
        counted = "" if times[what] == 1 else f" ({times[what]} times)"
        yield (
            f"{at}{': ' if at else ''}{what}{counted}, which is a guess: where the program decides "
            "by it, only one way was seen"
        )


def _limits(recorder: Recorder) -> Iterator[str]:
    if recorder.stopped:
        yield recorder.stopped
    yield from _guesses(recorder)
    yield from recorder.notes
    if recorder.compiled:
        yield (
            "torch.compile was left out: what was seen are the operators that it starts from, not "
            "the kernels that it makes of them"
        )
