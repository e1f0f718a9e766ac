"""What a difference comes from, and how far that was shown: from all that was found out.

A line that was found by running comes first, then an operator, then a circumstance that makes the
difference alone, then what the text of the program speaks for. Where none of these tells, the cause
is not shown, and what was shown not to be it is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause
from guard.diff.differences import Confidence, Explanation, Source
from guard.verification.attribution import NONE
from guard.verification.circumstances import ADDRESSES, HASHES, LISTINGS, MEMORY, TIMING, named
from guard.verification.reasons import FROM_A_THREAD, KEPT, SAVED

if TYPE_CHECKING:
    from guard.diff import Difference, Suspect
    from guard.diff.differences import Link
    from guard.verification.operators import Culprit

_OF_CIRCUMSTANCES = {
    HASHES.name: Source.STRING_HASH,
    MEMORY.name: Source.UNWRITTEN_MEMORY,
    TIMING.name: Source.THREAD_ORDER,
    LISTINGS.name: Source.LISTING,
    ADDRESSES.name: Source.OBJECT_ADDRESS,
}
# By the linter's codes; one covers those that begin with it.
_OF_CODES = (
    ("DET105", Source.STRING_HASH),
    ("DET203", Source.LISTING),
    ("DET205", Source.THREAD_ORDER),
    ("DET206", Source.THREAD_ORDER),
    ("DET10", Source.GENERATOR),
    ("DET20", Source.GENERATOR),
    ("DET40", Source.UNWRITTEN_MEMORY),
    ("DET5", Source.KERNEL),
    ("DET6", Source.KERNEL),
)
_OF_REASONS = {
    **{each.value: each for each in Source},
    FROM_A_THREAD: Source.THREAD_ORDER,
    KEPT: Source.STATE,
    SAVED: Source.STATE,
}
_OF_OPERATORS = {
    Cause.KERNEL: Source.KERNEL,
    Cause.GENERATOR: Source.GENERATOR,
    Cause.UNWRITTEN_MEMORY: Source.UNWRITTEN_MEMORY,
}
# What verify does not vary, so that runs differ by it whatever the circumstances.
FREE = frozenset(
    {
        *(Source.CLOCK, Source.ENTROPY, Source.PROCESS, Source.LOAD, Source.DRAWN_NAME),
        *(Source.OBJECT_ADDRESS,),
    }
)


def circumstance_of(shown: Shown | None) -> str:
    """The circumstance that a line depends on which running has shown from end to end; or ""."""
    names = (name for name, each in _OF_CIRCUMSTANCES.items() if shown and each is shown.source)
    return next(names, "") if shown is not None and shown.is_whole else ""


class Shown(NamedTuple):
    """What running the statements showed of the line with which a difference begins.

    is_whole  whether each statement of the slice was seen to lead to the next
    """

    source: Source
    what: str
    slice: tuple[Link, ...]
    is_whole: bool


class Known(NamedTuple):
    """All that was found out.

    operator      that recording in detail named, or None
    circumstance  that makes the difference alone, "none", or ""
    suspects      lines, the likeliest first
    shown         of the line that was found by running, or None
    """

    difference: Difference
    operator: Culprit | None
    circumstance: str
    suspects: tuple[Suspect, ...]
    shown: Shown | None


def explanation(known: Known) -> Explanation:
    """The cause of a difference, with its confidence."""
    found = (
        _of_state(known)
        or _of_statements(known)
        or _of_operator(known)
        or _of_circumstance(known)
        or _of_generators(known)
        or _of_text(known)
        or Explanation(Source.NOT_SHOWN, Confidence.POSSIBLE)
    )
    if found.confidence is Confidence.CERTAIN:
        return found
    return found._replace(excluded=tuple(_excluded(known, found.source)))


def _of_state(known: Known) -> Explanation | None:
    difference = known.difference
    if difference.cause is not Cause.STATE:
        return None
    first = known.suspects[0] if known.suspects else None
    kept = first is not None and first.fits == KEPT
    what = first.message.partition(" ")[0] if kept and first else ", ".join(difference.lost)
    sure = bool(difference.lost) and not kept
    return Explanation(Source.STATE, Confidence.CERTAIN if sure else Confidence.LIKELY, what)


def _of_statements(known: Known) -> Explanation | None:
    shown = known.shown
    if shown is None:
        return None
    told = Explanation(shown.source, Confidence.CERTAIN, shown.what, shown.slice)
    if shown.source is Source.NOT_SHOWN:
        other = _of_operator(known) or _of_circumstance(known) or _of_line(known)
        if other is None:
            return told._replace(confidence=Confidence.LIKELY)
        return other._replace(slice=shown.slice, what=shown.what or other.what)
    other_circumstance = _OF_CIRCUMSTANCES.get(known.circumstance, shown.source)
    agrees = other_circumstance is shown.source or known.circumstance == TIMING.name
    sure = shown.is_whole and agrees
    return told._replace(confidence=Confidence.CERTAIN if sure else Confidence.LIKELY)


def _of_line(known: Known) -> Explanation | None:
    """What the linter, or the text, says of the very line that was found by running."""
    found = _of_text(known)
    if found is None or not known.suspects or not known.shown or not known.shown.slice:
        return None
    first, begun = known.suspects[0], known.shown.slice[0]
    if (first.file, first.line) != (begun.file, begun.line):
        return None
    return found._replace(confidence=Confidence.LIKELY)


def _of_operator(known: Known) -> Explanation | None:
    if known.operator is None:
        return None
    operator, cause = known.operator.operator, known.operator.cause
    source = _OF_OPERATORS.get(cause)
    if source is None:
        return None
    sure = cause is Cause.GENERATOR or operator.row is not None
    sure = sure or known.circumstance == MEMORY.name
    return Explanation(source, Confidence.CERTAIN if sure else Confidence.LIKELY, operator.name)


def _of_circumstance(known: Known) -> Explanation | None:
    source = _OF_CIRCUMSTANCES.get(known.circumstance)
    if source is None:
        return None
    return Explanation(source, Confidence.LIKELY, named(known.circumstance).what)


def _of_generators(known: Known) -> Explanation | None:
    difference = known.difference
    if difference.cause is not Cause.GENERATOR or not difference.generators:
        return None
    return Explanation(Source.GENERATOR, Confidence.LIKELY, ", ".join(difference.generators))


def _of_text(known: Known) -> Explanation | None:
    for each in known.suspects[:1]:
        source = _OF_REASONS.get(each.fits)
        coded = (found for code, found in _OF_CODES if each.code.startswith(code))
        source = source or next(coded, None)
        if source is not None:
            return Explanation(source, Confidence.POSSIBLE, each.message)
    return None


def _excluded(known: Known, source: Source) -> list[str]:
    """What was shown not to make the difference."""
    found = []
    if "Every recorded generator agrees" in known.difference.why:
        found.append("generators: every recorded one agrees")
    if known.circumstance == NONE and source not in _OF_CIRCUMSTANCES.values():
        found.append(
            "hashes of strings, unwritten memory and the order of listings: the runs differ with "
            "these the same"
        )
    if known.shown is not None and known.operator is None:
        found.append("kernels: the line was given the same, and its difference came before them")
    return found
