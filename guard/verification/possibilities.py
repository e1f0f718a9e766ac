"""Lines of the program that may be to blame, where running showed none and the linter has none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause, Source, Suspect
from guard.verification.checkpoints import states
from guard.verification.circumstances import HASHES, LISTINGS, MEMORY
from guard.verification.reasons import ADVICE, FROM_A_THREAD, KEPT, SAVED, SET, WHOLE
from guard.verification.suspects import GENERAL
from guard.verification.texts import Text, setters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.diff import Change, Difference
    from guard.verification.threads import Line

_MOST = 3  # lines that are told
# What the linter says of these circumstances: where it says it, nothing is to be added.
_CODES = {
    HASHES.name: ("DET204", "DET105"),
    LISTINGS.name: ("DET203",),
    MEMORY.name: ("DET40", "DET305"),
}
_CONDITIONS = (Cause.CONTROL_FLOW, Cause.LENGTH)
_DATA = (Cause.BATCH_ORDER, Cause.BATCH_CONTENT)
_COMPUTED = (Cause.KERNEL, Cause.OUTSIDE)
_OF_ORDER = ("DET203", "DET204", "DET205")
_SURE = 10  # ranks below are told before the linter's findings


class _Found(NamedTuple):
    """A line; the lower the rank, the likelier."""

    rank: int
    line: int
    what: str
    fits: str = ""


@dataclass(frozen=True)
class Asked:
    """What is known of a difference when the text is asked.

    circumstance  that makes the difference, "none", or "" where it is not known
    changes       of the environment
    is_known      whether the operator is
    """

    difference: Difference
    circumstance: str
    text: Text
    changes: Sequence[Change] = ()
    is_known: bool = False


def with_possibilities(suspects: tuple[Suspect, ...], asked: Asked) -> tuple[Suspect, ...]:
    """The linter's suspects; lines that are surely of the cause come before them, others only if
    none of the linter's fits the circumstance."""
    fitting = _CODES.get(asked.circumstance, ("DET",))
    special = [each.code for each in suspects if not each.code.startswith(GENERAL)]
    fits = any(each.startswith(fitting) for each in special)
    place = asked.difference.place
    here, near = (os.path.realpath(place.filename), place.line) if place is not None else ("", 0)
    ranked = []
    for number, path in enumerate(asked.text.trees):
        is_far = os.path.realpath(path) != here
        for rank, line, what, why in _possible(path, asked, special):
            if rank < _SURE or not fits:
                order = (rank, is_far, number, abs(line - (0 if is_far else near)))
                ranked.append((order, Suspect("", what, path, line, why)))
    told_of: dict[tuple[str, int], Suspect] = {}
    exact = {(each.file, each.line): each for each in reversed(suspects)}
    for _, suspect in sorted(ranked, key=lambda each: each[0]):
        at = (suspect.file, suspect.line)
        told_of.setdefault(at, exact.get(at, suspect))
    lines = list(told_of.values())[:_MOST]
    return (*lines, *(each for each in suspects if each not in lines))


def advised(difference: Difference, circumstance: str, suspects: Sequence[Suspect]) -> str:
    """What to do: what fits the first suspect, where it is a line of the text that tells."""
    fits = suspects[0].fits if suspects else ""
    if difference.cause is Cause.STATE and fits == SAVED:
        return difference.advice + WHOLE
    if circumstance in _CODES and difference.cause not in _CONDITIONS:
        return difference.advice
    return ADVICE.get(fits, difference.advice)


def _possible(path: str, asked: Asked, codes: Sequence[str]) -> Iterator[_Found]:
    """Lines of a file.

    codes  of what the linter found, but for what it says of a whole program
    """
    tree, difference, cause = asked.text.trees[path], asked.difference, asked.difference.cause
    if cause is Cause.ENVIRONMENT:
        items = [each.name for each in asked.changes if each.decides]
        yield from _lines(setters(tree, items), SET)
    elif cause is Cause.STATE:
        yield from _lines(states(tree, difference.lost), SAVED)
        yield from _kept(path, asked)
    elif cause in (Cause.GENERATOR, *_DATA):
        drawn = asked.text.threads.draws(tree, difference.generators)
        yield from _lines(drawn, FROM_A_THREAD)
    if asked.circumstance not in _CODES:
        yield from _of_threads(path, asked, codes)


def _lines(lines: Iterable[Line], fits: str = "", rank: int = 0) -> Iterator[_Found]:
    return (_Found(rank + each.rank, each.line, each.what, fits) for each in lines)


def _kept(path: str, asked: Asked) -> Iterator[_Found]:
    """What is not saved; later, where it is known what else was lost."""
    lost = asked.difference.lost
    rank = 0 if not lost else 2 if "hyperparameter" in lost else _MOST + 1
    for each in asked.text.kept.get(path, ()):
        what = f"{each.name} changes here, nothing of that name is saved, and line {each.begun}"
        yield _Found(rank, each.line, f"{what} begins it anew in a resumed run", KEPT)


def _of_threads(path: str, asked: Asked, codes: Sequence[str]) -> Iterator[_Found]:
    """What threads or names that are drawn put in an order, or add up in one."""
    tree, cause, text = asked.text.trees[path], asked.difference.cause, asked.text
    by_threads = Source.THREAD_ORDER.value
    if cause in _DATA:
        sure = cause is Cause.BATCH_ORDER and not any(each in _OF_ORDER for each in codes)
        first = 0 if sure else _SURE
        yield from _lines(text.threads.handed_over(tree), by_threads, first)
    elif cause in _COMPUTED and not asked.is_known:
        yield from _lines(text.threads.added_up(tree), by_threads)
