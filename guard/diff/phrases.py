"""The sentences that every report has: the verdict, what followed, what was compared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from guard.diff.differences import Cause
from guard.diff.names import count, describe, function, line, listed, several, steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.diff.differences import Comparison, Difference, Link, Operator, Size, Suspect
    from guard.observe.places import Place

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
