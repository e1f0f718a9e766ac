"""The report for a person, and for programs: the verdict, what followed, what was compared.

Coloured and wrapped on a terminal, plain elsewhere; docs/verify-compare.md describes the keys.
"""

from __future__ import annotations

import math
import os
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from guard.diff.differences import Cause, Confidence, Source
from guard.diff.names import count, describe, listed, several, steps
from guard.observe.places import Place
from guard.terminal import grid, rendered, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.diff.differences import (
        Comparison,
        Difference,
        Explanation,
        Link,
        Operator,
        Size,
        Suspect,
    )

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
    task = f" of {difference.lane}, which a thread runs" if difference.lane else ""
    return f"step {difference.step}{kind}{task}{rank}"


def what(difference: Difference) -> str:
    """What differs first, in a few words."""
    event = difference.first or difference.second
    if difference.cause is Cause.LENGTH:
        return "one run has more than the other"
    if difference.parted and (difference.cause is Cause.CONTROL_FLOW or event is None):
        return "they do other things"
    if event is None:
        return "the fingerprint of the step"
    return describe(event)


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
    inside = "" if place.function in ("", "<module>") else f", in {place.function}"
    return place.short + inside


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
        told.append(f"to do: {each.alternative}")
    return f"{each.name}{phase}{module}", "; ".join(told)


def _slice(links: Sequence[Link]) -> Iterator[str]:
    """The statements of a slice; of a long one the first and the last: "train.py:12  x = 3"."""
    few = len(links) <= 2 * _SHOWN
    for at, each in enumerate(links):
        if few or not _SHOWN <= at < len(links) - _SHOWN:
            is_cut = not each.follows or (not few and at == len(links) - _SHOWN)
            yield from ["…"] * is_cut
            yield f"{os.path.basename(each.file)}:{each.line}  {each.text}"


def suspect(each: Suspect, cause: Explanation | None = None) -> tuple[str, str]:
    """A finding of the linter, and why it fits; or a line that is possibly to blame, and surely
    where the cause is certain and begins with it."""
    fits = f" ({each.fits})" if each.fits else ""
    sure = cause if cause is not None and cause.confidence is Confidence.CERTAIN else None
    begins = [(link.file, link.line) for link in sure.slice[:1]] if sure else ()
    is_lost = sure and sure.what and each.message.startswith(sure.what)
    # it gave something else for the same
    is_shown = is_lost or (sure and each.fits == Source.KERNEL.value)
    label = each.code or ("" if is_shown or (each.file, each.line) in begins else "possibly")
    return f"{label} {each.file}:{each.line}".strip(), f"{each.message}{fits}"


def rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """All that a report says below the verdict, a line each: what is asked first stands first, then
    what followed, and what was not compared. A name that stands above is "" when it comes again."""
    last = ""
    for name, told in _rows(comparison):
        if told:
            yield "" if name == last else name, told
            last = name


def _rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    if comparison.difference is not None:
        yield from _told(comparison, comparison.difference)
        yield "then", aftermath(comparison)
    if comparison.steps or comparison.difference is None:
        yield "compared", extent(comparison)
    yield from (("around", f"{e.name} is {e.first} and {e.second}") for e in comparison.changes)
    yield from (("note", each) for each in (*comparison.notes, *comparison.limits))


def _told(comparison: Comparison, difference: Difference) -> Iterator[tuple[str, str]]:
    explanation = comparison.explanation
    yield "cause", explanation.words if explanation else difference.cause.value
    if explanation is not None:
        yield "shows as", difference.cause.value
        yield from (("excluded", each) for each in explanation.excluded)
    yield from (("slice", each) for each in _slice(explanation.slice if explanation else ()))
    yield "where", placed(difference.place)
    yield "why", difference.why
    told = (filter(None, operator(each)) for each in comparison.operators)
    yield from (("operator", ": ".join(each)) for each in told)
    yield from (("suspect", ": ".join(suspect(each, explanation))) for each in comparison.suspects)
    yield "next", difference.advice
    yield from (("only in one", each) for each in difference.parted)
    yield "apart", sized(difference.size)
    yield "agreed", "; ".join(difference.agreed) or "nothing: it is the first that is compared"


def text(comparison: Comparison, stream: TextIO) -> str:
    """The verdict first, then why and what to do, then what followed and what was not compared.

    Colours follow the stream; nothing is written to it.
    """
    from rich.text import Text

    style = "bold green" if comparison.difference is None and comparison.steps else "bold red"
    shown = grid(((name, "bold"), told) for name, told in rows(comparison))
    return rendered((Text(visible(verdict(comparison)), style=style), shown), stream)


FORMAT = 1  # another number when a key goes, or means something else
_KEYS = {  # another name in JSON, or none
    "names": "runs",
    "trainings": "training_steps",
    "differing": "differing_steps",
    "changes": "environment",
    "explanation": "cause",
    "timeline": "",
    "lost": "",
    "inputs": "",
}


def as_json(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison but the time line, of what JSON has: no NaN, no bytes."""
    difference, explanation = comparison.difference, comparison.explanation
    found: dict[str, Any] = _plain(comparison)
    if difference is not None:
        found["difference"]["what"] = what(difference)
    if explanation is not None:
        told = {"words": explanation.words, "confidence": explanation.confidence.value}
        found["cause"] |= told
    identical = difference is None and comparison.steps > 0
    return {"format": FORMAT, "identical": identical, "verdict": verdict(comparison), **found}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a field holds
    """As JSON has it; as text what it has no number for: "nan", "inf", "-inf"."""
    if isinstance(value, Place):
        return {"file": value.filename, "line": value.line, "function": value.function}
    if is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        named = ((_KEYS.get(name, name), each) for name, each in value.items())
        return {name: _plain(each) for name, each in named if name}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Enum):
        return value.name
    return value.hex() if isinstance(value, bytes) else value
