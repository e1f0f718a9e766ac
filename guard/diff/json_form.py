"""The report for programs; docs/verify-compare.md describes the keys."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from guard.diff import phrases

if TYPE_CHECKING:
    from guard.diff.differences import Comparison, Difference, Explanation
    from guard.observe.places import Place
    from guard.trace import Event

FORMAT = 1  # another number when a key goes, or means something else


def as_json(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison but the time line, of what JSON has: no NaN, no bytes."""
    difference = comparison.difference
    return {
        "format": FORMAT,
        "identical": difference is None and comparison.steps > 0,
        "verdict": phrases.verdict(comparison),
        "runs": list(comparison.names),
        "ranks": list(comparison.ranks),
        "steps": comparison.steps,
        "training_steps": comparison.trainings,
        "kinds": list(comparison.kinds),
        "differing_steps": comparison.differing,
        "difference": None if difference is None else _difference(difference),
        "cause": _explanation(comparison.explanation),
        "totals": comparison.totals,
        "environment": [each._asdict() for each in comparison.changes],
        "operators": [
            {**asdict(each), "place": _place(each.place)} for each in comparison.operators
        ],
        "suspects": [asdict(each) for each in comparison.suspects],
        "growth": [_finite(each._asdict()) for each in comparison.growth],
        "limits": list(comparison.limits),
        "notes": list(comparison.notes),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "rank": difference.rank,
        "step": difference.step,
        "step_kind": difference.step_kind,
        "cause": difference.cause.name,
        "what": phrases.what(difference),
        "why": difference.why,
        "advice": difference.advice,
        "place": _place(difference.place),
        "since": difference.since,
        "generators": list(difference.generators),
        "agreed": list(difference.agreed),
        "parted": list(difference.parted),
        "first": _event(difference.first),
        "second": _event(difference.second),
        "size": None if difference.size is None else _finite(difference.size._asdict()),
        "consequences": difference.consequences,
    }


def _explanation(explanation: Explanation | None) -> dict[str, Any] | None:
    if explanation is None:
        return None
    return {
        "source": explanation.source.name,
        "words": explanation.words,
        "confidence": explanation.confidence.value,
        "what": explanation.what,
        "slice": [each._asdict() for each in explanation.slice],
        "excluded": list(explanation.excluded),
    }


def _event(event: Event | None) -> dict[str, Any] | None:
    if event is None:
        return None
    summary = event.summary
    return {
        "kind": event.kind,
        "name": event.name,
        "call": event.call,
        "detail": event.detail,
        "phase": event.phase,
        "module": event.module,
        "place": _place(event.place),
        "digest": event.digest.hex(),
        "value": _number(event.value),
        "summary": None if summary is None else _finite(asdict(summary)),
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {"file": place.filename, "line": place.line, "function": place.function}


def _finite(found: dict[str, Any]) -> dict[str, Any]:
    return {name: _numbers(value) for name, value in found.items()}


def _numbers(value: Any) -> Any:  # noqa: ANN401 - whatever a field holds
    if isinstance(value, (tuple, list)):
        return [_numbers(each) for each in value]
    return _number(value) if isinstance(value, float) else value


def _number(value: float | None) -> float | str | None:
    """A number, or as text what JSON has no number for: "nan", "inf", "-inf"."""
    return value if value is None or math.isfinite(value) else str(value)
