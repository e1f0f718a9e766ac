"""From a step that differs to the operator: the step is recorded again, in detail.

The first operator that gave two runs different results, and what to do about it.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from detlint.operations import OPERATIONS, Operation
from detlint.operations.extensions import PLATFORMS, VISION
from detlint.operations.rows import plain_name
from detlint.operations.switched import SWITCHED, Switched
from guard.diff import Cause, Operator
from guard.diff.alignment import either
from guard.diff.names import is_random, packet
from guard.program import text_of
from guard.verification.plan import recording
from guard.verification.runs import rerun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.diff import Difference
    from guard.observe.places import Place
    from guard.trace import Event, Step
    from guard.verification.runs import Process
    from guard.verification.sessions import Session

_SWITCH = "torch.use_deterministic_algorithms(True), which `python -m guard run` switches on"
_UNWRITTEN = "write every element before it is read: torch.zeros in the place of torch.empty"
_SEEDED = "seed the generator that it draws from, before the program draws for the first time"
# In a backward they add up, where indices occur twice: the table has this under another name.
_ADDING = ("index_put", "unsafe_index_put", "index_put_impl")
_ADDS = "torch.index_put(accumulate=True)"
_EMPTY = ("empty", "new_empty", "resize")  # what they give is not written by anyone
_SHOWN = {
    Cause.KERNEL: "{} was given the same in both runs, and gave another result.",
    Cause.GENERATOR: "{} was given the same in both runs, and drew other random numbers.",
    Cause.OUTSIDE: "What {} was given differs, though no operator before it gave another result: "
    "it is another tensor of these, or comes from outside of torch (a number, NumPy, a file, "
    "another rank).",
}
READ = (
    "What {} was given differs, though no operator before it gave another result: it read what "
    "nothing had written."
)


class Culprit(NamedTuple):
    """An operator, and what it shows."""

    operator: Operator
    cause: Cause
    why: str  # a sentence for a person
    allocates: bool = False  # whether memory was allocated before it and not filled
    is_number: bool = False  # whether it was given another number of Python's


def culprit(first: Step, second: Step, device: str) -> Culprit | None:
    """The first operator that is another one, or whose results part, in two recordings of the
    same step in detail."""
    ones, others = list(_operators(first)), list(_operators(second))
    for event, other in zip_longest(ones, others):
        if event is None or other is None or _key(event) != _key(other):
            return _of_kernel(ones, others, device) or _parting(event, other)
        # zero_() and their like read what was there before, and give the same for all that.
        if event.digest != other.digest:
            # What comes again with the same in the other run comes in another order.
            is_moved = any(_key(e) == _key(event) and e.inputs == event.inputs for e in others)
            allocates = not is_moved and _allocates(first, event)
            return _culprit(event, other, device, allocates=allocates)
    return None


def _of_kernel(ones: list[Event], others: list[Event], device: str) -> Culprit | None:
    """One that gave another result for the same, in runs that do other things: what a run does
    now and then, such as logging by the clock, need not be why they part."""
    known = {(*_key(each), each.call): each for each in others}
    for event in ones:
        other = known.get((*_key(event), event.call))
        if other and event.inputs == other.inputs and event.digest != other.digest:
            found = _culprit(event, other, device, allocates=False)
            if found.cause is Cause.KERNEL:
                return found
    return None


def _parting(event: Event | None, other: Event | None) -> Culprit:
    """Where one run does something else."""
    found = either(event, other)
    names = ["nothing more" if each is None else each.name for each in (event, other)]
    operator = Operator(found.name, found.phase, found.place, found.module)
    why = (
        f"All operators up to there gave the same; then the first run does {names[0]} and the "
        f"second {names[1]}."
    )
    return Culprit(operator, Cause.CONTROL_FLOW, why)


def _allocates(step: Step, until: Event) -> bool:
    """Whether memory was allocated before an operator, and the next did not write into it; not
    where something came from another rank, which may be what the operator was given."""
    ran = [each for each in step.events if each.kind == "operator"]
    at = ran.index(until)
    return not any(packet(each.name).startswith("recv") for each in ran[:at]) and any(
        packet(one.name).startswith(_EMPTY) and not packet(other.name).endswith("_")
        for one, other in pairwise(ran[: at + 1])
    )


def _operators(step: Step) -> Iterator[Event]:
    """But for those whose result is not their own: unwritten memory, and what other ranks gave,
    which may come later."""
    found = (event for event in step.events if event.kind == "operator")
    named = ((event, event.name.partition(".")[0], packet(event.name)) for event in found)
    return (e for e, of, name in named if "c10d" not in of and not name.startswith(_EMPTY))


def _key(event: Event) -> tuple[object, ...]:
    return event.name, event.phase


def _culprit(event: Event, other: Event, device: str, *, allocates: bool) -> Culprit:
    draws = is_random(event.name)
    reads = event.inputs != other.inputs and not (draws and _overwrites(event, other))
    draws = draws and not reads
    is_backward, said = event.phase == "backward", written_at(event.place)
    row = None if reads or draws else row_of(event.name, device, said, backward=is_backward)
    operator = Operator(
        name=event.name,
        phase=event.phase,
        place=event.place,
        module=event.module,
        alternative="" if reads else _SEEDED if draws else alternative(row),
        row=None if row is None else row.name,
    )
    cause = Cause.OUTSIDE if reads else Cause.GENERATOR if draws else Cause.KERNEL
    if reads and event.value != other.value:
        why = f"{event.name} was given another number: {event.value!r} and {other.value!r}."
        return Culprit(operator, cause, why, is_number=True)
    return Culprit(operator, cause, _SHOWN[cause].format(event.name), allocates=reads and allocates)


def _overwrites(event: Event, other: Event) -> bool:
    """Whether an operator does not read what it is given, but writes over it: bernoulli_(0.5)."""
    packet, _, overload = event.name.partition(".")[2].partition(".")
    return packet.endswith("_") and overload != "Tensor" and event.value == other.value


def unwritten(operator: Operator) -> Operator:
    """One that read memory which nothing had written, with what to do."""
    return replace(operator, alternative=_UNWRITTEN)


def row_of(
    name: str, device: str, said: str = "", *, backward: bool = False
) -> Operation | Switched | None:
    """The row of an operator as the dispatcher names it: "aten.index_put_.default".

    said  the statement that calls it
    """
    overload = plain_name(name.replace(".", "::", 1).removesuffix(".default"))
    adds = backward or _ADDS.partition("(")[2].rstrip(")") in said
    if adds and overload.partition("::")[2].strip("_") in _ADDING:
        return next((e for e in SWITCHED if e.name == _ADDS and device in e.devices), None)
    rows: tuple[Operation | Switched, ...] = (*OPERATIONS, *SWITCHED, *PLATFORMS, *VISION)
    return next((e for e in rows if overload in e.overloads and device in e.devices), None)


def written_at(place: Place | None) -> str:
    """The innermost statement of a line, on one line; "" where there is none."""
    if place is None:
        return ""
    with suppress(OSError, SyntaxError, ValueError):
        nodes = ast.walk(ast.parse(text_of(place.filename)))
        found = [each for each in nodes if isinstance(each, ast.stmt)]
        around = [e for e in found if e.lineno <= place.line <= (e.end_lineno or e.lineno)]
        if around:
            return ast.unparse(max(around, key=lambda each: each.lineno))
    return ""


def alternative(row: Operation | Switched | None) -> str:
    """What to do, by the tables."""
    if row is None:
        return f"see whether it helps: {_SWITCH}; it is not in the table of operators"
    if isinstance(row, Switched):
        return f"{_SWITCH}; by default it {row.reason}"
    return row.alternatives[0].text if row.alternatives else _SWITCH


_KINDS = ("output", "loss", "gradient", "parameter", "buffer", "optimizer")
# Of random numbers as well: the operator shows whether it drew any.
_CAUSES = (Cause.KERNEL, Cause.UNWRITTEN_MEMORY, Cause.GENERATOR)


@dataclass(frozen=True)
class Bisection:
    """What recording in detail showed."""

    culprit: Culprit | None = None  # the operator and what it shows, or None where none was found
    runs: int = 0  # that it took
    rank: int = 0  # of the process whose step it was
    # whether the difference came again; None where nothing was tried
    reproduced: bool | None = None
    notes: tuple[str, ...] = ()  # what a person should know

    @property
    def operators(self) -> tuple[Operator, ...]:
        """The operator, or none."""
        return () if self.culprit is None else (self.culprit.operator,)


def is_of_an_operator(difference: Difference) -> bool:
    """Whether it is one that an operator has caused, as far as is known."""
    event = difference.first or difference.second
    return difference.cause in _CAUSES and event is not None and event.kind in _KINDS


def bisect(session: Session, difference: Difference, other: int, budget: int) -> Bisection:
    """Run both again to the step that differs, until the operator is known.

    Every recording in detail is compared with the first of that step, so that a difference that
    is rare needs to show in one of them only.

    other   number of the run that differed from the first, for its circumstances
    budget  how many runs there may be; each try takes two
    """
    at = difference
    result = Bisection()
    seen: list[str] = []
    pool: list[Process] = []
    while result.runs + 2 <= budget:
        options = recording(at.step, operators=at.step, lane=at.lane)
        watched = rerun(session, (0, other), options)
        result = replace(result, runs=result.runs + 2)
        found = watched.difference
        if found is not None and (found.lane, found.step) != (at.lane, at.step):
            at = found
            pool.clear()
            seen.append("came at another step")
            continue
        pool.extend(watched.processes)
        shows = at if found is None else found
        parted = _parted(pool, shows)
        if parted is not None:
            return _concluded(replace(result, reproduced=True, rank=shows.rank), *parted, seen)
        seen.append("did not come again")
    if not result.runs:
        return result
    note = (
        f"the operator is not known: of {result.runs} runs in detail, two at a time, the "
        f"difference {' or '.join(dict.fromkeys(seen))}; --budget allows more"
    )
    return replace(result, reproduced=bool(result.reproduced), notes=(note,))


def bisect_line(
    session: Session,
    difference: Difference,
    other: int,
    budget: int,
    stands_at: Callable[[Place], bool],
) -> Bisection:
    """The kernel of a line that gave something else for the same, whatever module it runs in.

    stands_at  whether a place is one of the line
    """
    result = bisect(session, difference, other, budget)
    found = result.culprit
    place = found.operator.place if found is not None else None
    if found is None or found.cause is not Cause.KERNEL or place is None or not stands_at(place):
        return replace(result, culprit=None, notes=())
    return result


def _parted(pool: list[Process], at: Difference) -> tuple[Step, Step] | None:
    """The step in the first recording and in one that has it otherwise."""
    found = [_step(each, at) for each in pool]
    steps = [each for each in found if each is not None]
    for each in steps[1:]:
        if _computed(each) != _computed(steps[0]):
            return steps[0], each
    return None


def _computed(step: Step) -> list[tuple[str, str, int, bytes]]:
    """What a step computed: an unseeded generator that nothing uses is another in each run."""
    return [(e.kind, e.name, e.call, e.digest) for e in step.events if e.kind != "generator"]


def _concluded(result: Bisection, first: Step, second: Step, seen: list[str]) -> Bisection:
    notes = tuple(f"in detail, the difference {text} in a first try" for text in seen[:1])
    found = culprit(first, second, _device(first))
    if found is None:
        text = "no operator gave another result than in the first run for what it was given"
        return replace(result, notes=(*notes, text))
    return replace(result, culprit=found, notes=notes)


def _step(process: Process, at: Difference) -> Step | None:
    process.look()
    for trace in process.traces:
        index, steps = at.step - trace.header.first_step, trace.lanes.get(at.lane, ())
        if trace.header.rank == at.rank and 0 <= index < len(steps):
            return trace.step(steps[index])
    return None


def _device(step: Step) -> str:
    """Where the step was computed, as its generators show."""
    on_gpu = any(e.kind == "generator" and e.name.startswith("torch.cuda") for e in step.events)
    return "cuda" if on_gpu else "cpu"
