"""Lines of the program that may be to blame, where the linter finds none that fits."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from guard.comparison import Cause, Suspect
from guard.places import Place
from guard.verification import passages, races
from guard.verification.circumstances import HASHES, LISTINGS, MEMORY
from guard.verification.flows import CLOCKS, is_ready, last_two, told
from guard.verification.hash_orders import hash_orders
from guard.verification.own_seeds import own_seeds
from guard.verification.passages import calls
from guard.verification.readiness import asks
from guard.verification.reasons import (
    ADVICE,
    AS_OFTEN,
    FIRST,
    FROM_A_CLOCK,
    FROM_A_THREAD,
    KEPT,
    NAMED,
    READY,
    SAVED,
    SET,
    UNSEEDED,
    WHOLE,
)
from guard.verification.suspects import GENERAL
from guard.verification.texts import Text, listed, unwritten
from guard.verification.time_limits import time_limits
from guard.verification.unsteady import unsteady_draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.comparison import Change, Difference
    from guard.verification.flows import Flow, Read, Use
    from guard.verification.passages import Line

_MOST = 3  # lines that are told
# What the linter says of these circumstances: where it says it, nothing is to be added.
_CODES = {
    HASHES.name: ("DET204", "DET105"),
    LISTINGS.name: ("DET203",),
    MEMORY.name: ("DET40", "DET305"),
}
_CONDITIONS = (Cause.CONTROL_FLOW, Cause.LENGTH)
_DATA = (Cause.BATCH_ORDER, Cause.BATCH_CONTENT)
_DRAWN = (Cause.GENERATOR, *_DATA)
_COMPUTED = (Cause.KERNEL, Cause.OUTSIDE)
_FORWARD = ("output", "loss", "batch")
_OF_ORDER = ("DET203", "DET204", "DET205")
_BY_CLOCK = (
    Cause.HYPERPARAMETER,
    Cause.OUTSIDE,
    Cause.LENGTH,
    Cause.CONTROL_FLOW,
    Cause.INITIALISATION,
    Cause.GENERATOR,
    Cause.BATCH_ORDER,
    Cause.BATCH_CONTENT,
)
_SEEDED = 5
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
    here = os.path.realpath(place.filename) if place is not None else ""
    ranked = []
    for number, path in enumerate(asked.text.trees):
        is_far = os.path.realpath(path) != here
        for rank, line, what, why in _possible(path, asked, special):
            if rank < _SURE or not fits:
                ranked.append(((rank, is_far, number, line), Suspect("", what, path, line, why)))
    told_of: dict[tuple[str, int], Suspect] = {}
    exact = {(each.file, each.line): each for each in reversed(suspects)}
    for _, suspect in sorted(ranked, key=lambda each: each[0]):
        at = (suspect.file, suspect.line)
        told_of.setdefault(at, exact.get(at, suspect))
    lines = list(told_of.values())[:_MOST]
    return (*lines, *(each for each in suspects if each not in lines))


def entered(asked: Asked) -> Place | None:
    """The line that sets a hyperparameter to what is another value in each run."""
    difference = asked.difference
    event = difference.first or difference.second
    if difference.cause is not Cause.HYPERPARAMETER or event is None:
        return None
    if asked.circumstance in _CODES:
        return None
    name = event.name.rpartition(".")[2]
    found = (
        Place(path, use.line, use.function)
        for path, flow in asked.text.flows.items()
        for use, _ in flow.into_item(name)
    )
    return next(found, None)


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
    tree, difference = asked.text.trees[path], asked.difference
    cause, circumstance = difference.cause, asked.circumstance
    if cause is Cause.ENVIRONMENT:
        items = [each.name for each in asked.changes if each.decides]
        yield from (_Found(*each, SET) for each in passages.setters(tree, items))
    elif cause is Cause.STATE:
        yield from (_Found(*each, SAVED) for each in passages.states(tree, difference.lost))
        yield from _kept(path, asked)
    yield from _drawn(tree, asked)
    if circumstance == HASHES.name:
        yield from _later(hash_orders(tree), _SURE)
    elif circumstance == LISTINGS.name:
        yield from _later(listed(tree), _SURE)
    elif circumstance == MEMORY.name or cause is Cause.UNWRITTEN_MEMORY:
        yield from _later(unwritten(tree), _SURE)
    if circumstance not in _CODES:
        yield from _raced(path, asked, codes)
    if circumstance in _CODES:  # when a clock ends a loop, another circumstance can do so by luck
        late = _flowing(path, asked.text.flows[path], difference) if _parts(difference) else ()
        yield from (each._replace(rank=each.rank + 2 * _SURE) for each in late)
    else:
        yield from _timed(path, asked)


def _timed(path: str, asked: Asked) -> Iterator[_Found]:
    """Values that differ in each run; of what may be a kernel as well, last."""
    tree, flow, difference = asked.text.trees[path], asked.text.flows[path], asked.difference
    if difference.cause in _BY_CLOCK:
        seeded = _later(own_seeds(tree), _SEEDED)
        yield from (each._replace(fits=UNSEEDED) for each in seeded)
        yield from _flowing(path, flow, difference)
        yield from _own(tree)
        if _parts(difference):
            yield from _deciding(tree, threaded=bool(asked.text.threads))
    elif difference.cause is Cause.KERNEL and not asked.is_known:
        conditions = _used(flow.into_conditions(), parts=True)
        yield from (each._replace(rank=each.rank + 2 * _SURE) for each in conditions)


def _kept(path: str, asked: Asked) -> Iterator[_Found]:
    """What is not saved; later, where it is known what else was lost."""
    lost = asked.difference.lost
    rank = 0 if not lost else 2 if "hyperparameter" in lost else _MOST + 1
    for each in asked.text.kept.get(path, ()):
        what = f"{each.name} changes here, nothing of that name is saved, and line {each.begun}"
        yield _Found(rank, each.line, f"{what} begins it anew in a resumed run", KEPT)


def _drawn(tree: ast.Module, asked: Asked) -> Iterator[_Found]:
    """Draws at any time, or as often as something else lets them."""
    difference = asked.difference
    if difference.cause in _DRAWN:
        drawn = passages.draws(tree, asked.text.threads.threaded, difference.generators)
        yield from (_Found(*each, FROM_A_THREAD) for each in drawn)
    if difference.cause is Cause.GENERATOR:
        late = 2 * _SURE if asked.circumstance in _CODES else 0
        found = _later(unsteady_draws(tree, difference.generators), late)
        yield from (each._replace(fits=AS_OFTEN) for each in found)


def _raced(path: str, asked: Asked, codes: Sequence[str]) -> Iterator[_Found]:
    """Where threads or names that are drawn decide an order, or a kernel that adds or writes in
    none."""
    tree, cause, threads = asked.text.trees[path], asked.difference.cause, asked.text.threads
    if cause in _DATA:
        sure = cause is Cause.BATCH_ORDER and not any(each in _OF_ORDER for each in codes)
        first = 0 if sure else _SURE
        for why, found in (
            (FIRST, races.handed_over(tree, threads)),
            (NAMED, iter(asked.text.names.get(path, ()))),
        ):
            yield from (each._replace(fits=why) for each in _later(found, first))
    elif cause in _COMPUTED and not asked.is_known:
        event = asked.difference.first or asked.difference.second
        backward = event is not None and event.kind not in _FORWARD
        name = event.name.rpartition(".")[2] if event is not None and backward else ""
        added = _later(races.added_up(tree, threads), 0)
        yield from (each._replace(fits=FIRST) for each in added)
        yield from _later(races.indexed(tree, backward=backward, name=name), _SURE)


def _parts(difference: Difference) -> bool:
    """Whether the runs do other things: a condition decides that."""
    is_other = bool(difference.parted) and difference.first is None
    return difference.cause in _CONDITIONS or is_other


def _later(lines: Iterator[Line], rank: int) -> Iterator[_Found]:
    return (_Found(rank + each, line, what) for each, line, what in lines)


def _flowing(path: str, flow: Flow, difference: Difference) -> Iterator[_Found]:
    """Values that differ in each run, by what they go into."""
    place, cause = difference.place, difference.cause
    found: Iterator[tuple[Use, list[Read]]] = iter(())
    if _parts(difference):
        found = flow.into_conditions()
    elif cause is Cause.HYPERPARAMETER and (event := difference.first or difference.second):
        found = flow.into_item(event.name.rpartition(".")[2])
    elif cause is Cause.OUTSIDE and place and os.path.realpath(place.filename) == path:
        found = flow.into_line(place.line)
    yield from _used(found, parts=_parts(difference))


def _used(found: Iterator[tuple[Use, list[Read]]], *, parts: bool) -> Iterator[_Found]:
    """What such values are used for; where runs do other things, what ends a loop comes first."""
    for use, reads in found:
        for order, read in enumerate(reads[:_MOST]):
            rank = order + (0 if use.ends or not parts else _MOST)
            text = f"{read.what}, and {use.what.format(use.line)}"
            is_asked = read.what == is_ready(read.name)
            yield _Found(rank, read.line, text, READY if is_asked else FROM_A_CLOCK)


def _own(tree: ast.AST) -> Iterator[_Found]:
    for call, name in calls(tree):
        if what := told(name):
            order = 0 if last_two(name) in CLOCKS else 1 if name != "hash" else 2
            yield _Found(_SURE + order, call.lineno, what)


def _deciding(tree: ast.AST, *, threaded: bool) -> Iterator[_Found]:
    """Limits in seconds; what asks other threads how far they are."""
    limits = _later(time_limits(tree), 0)
    yield from (each._replace(fits=FROM_A_CLOCK) for each in limits)
    for node in ast.walk(tree) if threaded else ():
        if isinstance(node, (ast.Call, ast.ExceptHandler)) and (name := asks(node)):
            yield _Found(_SURE, node.lineno, is_ready(name), READY)
