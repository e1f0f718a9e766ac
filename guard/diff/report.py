"""The report for a person, and for programs: the verdict, what followed, what was compared.

Coloured and wrapped on a terminal, plain elsewhere; docs/verify-compare.md describes the keys.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from guard.diff.differences import Cause
from guard.diff.names import count, describe, function, line, listed, several, steps
from guard.terminal import grid, rendered, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from guard.diff.differences import (
        Comparison,
        Difference,
        Explanation,
        Link,
        Operator,
        Size,
        Suspect,
    )
    from guard.observe.places import Place
    from guard.trace import Event

_SHOWN = 3  # statements of a slice, at either end


def verdict(comparison: Comparison) -> str:
    """The answer, in a sentence."""
    difference = comparison.difference
    if difference is None:
        if not comparison.steps:
            return "Nothing to compare: no step was recorded in both runs."
        return f"Identical, bit for bit, {steps(comparison.steps)}."
    return f"The runs part at {where(difference, len(comparison.ranks))}: {what(difference)}."


def where(difference: Difference, ranks: int = 1) -> str:
    """The step, and the rank where there are several."""
    kind = "" if difference.step_kind == "training" else f" ({difference.step_kind})"
    rank = f" on rank {difference.rank}" if ranks > 1 or difference.rank else ""
    if difference.step_kind == "end":
        return f"the end, in the state they leave{rank}"
    return f"step {difference.step}{kind}{rank}"


def what(difference: Difference) -> str:
    """What differs first, in a few words."""
    event = difference.first or difference.second
    if difference.cause is Cause.LENGTH:
        return "one run has more than the other"
    if difference.parted and (difference.cause is Cause.CONTROL_FLOW or event is None):
        return "they do other things"
    if event is None:
        return "the fingerprint of the step"
    phase = ", in backward" if event.kind == "gradient" else ""
    return describe(event) + phase


def extent(comparison: Comparison) -> str:
    """How much was compared."""
    evaluations = comparison.steps - comparison.trainings
    told = steps(comparison.steps)
    if 0 < evaluations <= comparison.steps:
        told += f" ({comparison.trainings:,} training, {evaluations:,} evaluation)"
    ranks = len(comparison.ranks)
    told += f" on each of {ranks} ranks" if ranks > 1 else ""
    kinds = listed([several(kind) for kind in comparison.kinds])
    return f"{told}: {kinds}" if kinds else told


def aftermath(comparison: Comparison) -> str:
    """What differs later, summed up; "" where nothing does."""
    difference = comparison.difference
    if difference is None or not difference.consequences:
        return ""
    counted = [
        f"{number:,} of {count(comparison.totals.get(kind, number), kind)}"
        for kind, number in difference.consequences.items()
    ]
    if not comparison.differing:
        return f"no step differs, only the state in which the runs end: {listed(counted)}"
    differ = "differs" if comparison.differing == 1 else "differ"
    return f"{steps(comparison.differing)} {differ} from there on: {listed(counted)}"


def placed(place: Place | None) -> str:
    """A line and its function: "train.py:12, in forward"; "not known"."""
    if place is None:
        return "not known"
    inside = function(place)
    return f"{line(place)}, in {inside}" if inside else line(place)


def sized(size: Size | None) -> str:
    """How far apart: "3.1e-07 (4 units in the last place)"; "" where it is not known."""
    if size is None:
        return ""
    ulps = f" ({_whole(size.ulps)} units in the last place)" if size.ulps is not None else ""
    return f"{size.absolute:.3g}{ulps}"


def _whole(number: float) -> str:
    return f"{number:.0f}" if number < 1e6 else f"{number:.2g}"


def operator(each: Operator) -> tuple[str, str]:
    """An operator, and where it ran and what to do."""
    phase = f" ({each.phase})" if each.phase else ""
    module = f" in {each.module}" if each.module else ""
    told = [placed(each.place)] if each.place else []
    if each.row:
        told.append(f"known as {each.row}")
    if each.alternative:
        told.append(f"instead: {each.alternative}")
    return f"{each.name}{phase}{module}", "; ".join(told)


def link(each: Link | None) -> str:
    """A statement of a slice: "train.py:12  x = time.time()"; None is what was left out."""
    if each is None:
        return "…"
    return f"{os.path.basename(each.file)}:{each.line}  {each.text}"


def shortened(links: Sequence[Link]) -> list[Link | None]:
    """The first and the last statements of a slice that is long; None in the place of others."""
    if len(links) <= 2 * _SHOWN:
        return list(links)
    return [*links[:_SHOWN], None, *links[-_SHOWN:]]


def suspect(each: Suspect) -> tuple[str, str]:
    """A finding of the linter, and why it fits; or a line that is possibly to blame."""
    fits = f" ({each.fits})" if each.fits else ""
    return f"{each.code or 'possibly'} {each.file}:{each.line}", f"{each.message}{fits}"


def text(comparison: Comparison, stream: TextIO) -> str:
    """The verdict first, then why and what to do, then what followed and what was not compared.

    Colours follow the stream; nothing is written to it.
    """
    return rendered(_parts(comparison), stream)


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    from rich.text import Text

    difference = comparison.difference
    style = "bold green" if difference is None and comparison.steps else "bold red"
    yield Text(visible(verdict(comparison)), style=style)
    rows = list(_told(comparison))
    if difference is None:
        rows.append(("compared", extent(comparison)))
    elif comparison.steps:
        rows.append(("then", aftermath(comparison)))
        rows.append(("compared", extent(comparison)))
    rows += [("around", f"{e.name} is {e.first} and {e.second}") for e in comparison.changes]
    rows += [("note", each) for each in (*comparison.notes, *comparison.limits)]
    yield grid(_rows((name, told) for name, told in rows if told))


def _told(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What is known of the difference, a line each: what is asked first stands first."""
    difference = comparison.difference
    if difference is None:
        return
    explanation = comparison.explanation
    if explanation is None:
        yield "cause", difference.cause.value
    else:
        yield "cause", explanation.words
        yield "shows as", difference.cause.value
        yield from (("excluded", each) for each in explanation.excluded)
    yield "where", placed(difference.place)
    if explanation is not None:
        yield from (("slice", link(each)) for each in shortened(explanation.slice))
    yield "why", difference.why
    told = (filter(None, operator(each)) for each in comparison.operators)
    yield from (("operator", ": ".join(each)) for each in told)
    yield from (("suspect", ": ".join(suspect(each))) for each in comparison.suspects)
    yield "next", difference.advice
    for parted in difference.parted:
        yield "only in one", parted
    yield "apart", sized(difference.size)
    yield "agreed", "; ".join(difference.agreed) or "nothing was recorded before it"


def _rows(told: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], str]]:
    """A name that stands above is not told again."""
    last = ""
    for name, text in told:
        yield ("" if name == last else name, "bold"), text
        last = name


FORMAT = 1  # another number when a key goes, or means something else


def as_json(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison but the time line, of what JSON has: no NaN, no bytes."""
    difference = comparison.difference
    return {
        "format": FORMAT,
        "identical": difference is None and comparison.steps > 0,
        "verdict": verdict(comparison),
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
        "what": what(difference),
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
