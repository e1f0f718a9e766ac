"""From a step that differs to the operator: the step is recorded again, in detail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from guard.diff import Cause
from guard.verification.operators import Culprit, culprit
from guard.verification.plan import recording
from guard.verification.watching import Watch

if TYPE_CHECKING:
    from guard.diff import Difference, Operator
    from guard.trace import Step
    from guard.verification.processes import Process
    from guard.verification.sessions import Session
    from guard.verification.watching import Watched

_KINDS = ("output", "loss", "gradient", "parameter", "buffer", "optimizer")
# Of random numbers as well: the operator shows whether it drew any.
_CAUSES = (Cause.KERNEL, Cause.UNWRITTEN_MEMORY, Cause.GENERATOR)


@dataclass(frozen=True)
class Bisection:
    """What recording in detail showed.

    culprit     the operator and what it shows, or None where none was found
    runs        that it took
    reproduced  whether the difference came again; None where nothing was tried
    notes       what a person should know
    """

    culprit: Culprit | None = None
    runs: int = 0
    reproduced: bool | None = None
    notes: tuple[str, ...] = ()

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
    step = difference.step
    result = Bisection()
    seen: list[str] = []
    pool: list[Process] = []
    while result.runs + 2 <= budget:
        watched = _rerun(session, other, step)
        result = replace(result, runs=result.runs + 2)
        found = watched.difference
        if found is not None and found.step != step:
            step = found.step
            pool.clear()
            seen.append(f"already at step {step}")
            continue
        pool.extend(watched.processes)
        parted = _parted(pool, difference.rank if found is None else found.rank, step)
        if parted is not None:
            return _concluded(replace(result, reproduced=True), *parted, seen)
        seen.append(f"not again up to step {step}")
    if not result.runs:
        return result
    note = (
        f"the operator is not known: of {result.runs} runs in detail, two at a time, the "
        f"difference came {', then '.join(seen)}; --budget allows more"
    )
    return replace(result, reproduced=bool(result.reproduced), notes=(note,))


def _rerun(session: Session, other: int, step: int) -> Watched:
    options = recording(step, operators=step)
    plan = session.plan

    def start(run: int) -> Process:
        return session.start(plan.circumstances(run), options)

    return Watch(session, [lambda: start(0), lambda: start(other)], limited=True).run()


def _parted(pool: list[Process], rank: int, number: int) -> tuple[Step, Step] | None:
    """The step in the first recording and in one that has it otherwise."""
    found = [_step(each, rank, number) for each in pool]
    steps = [each for each in found if each is not None]
    for each in steps[1:]:
        if _computed(each) != _computed(steps[0]):
            return steps[0], each
    return None


def _computed(step: Step) -> list[tuple[str, str, int, bytes]]:
    """What a step computed: an unseeded generator that nothing uses is another in each run."""
    return [(e.kind, e.name, e.call, e.digest) for e in step.events if e.kind != "generator"]


def _concluded(result: Bisection, first: Step, second: Step, seen: list[str]) -> Bisection:
    notes = tuple(f"in detail, the difference came {text} in a first try" for text in seen[:1])
    found = culprit(first, second, _device(first))
    if found is None:
        text = "no operator gave another result than in the first run for what it was given"
        return replace(result, notes=(*notes, text))
    return replace(result, culprit=found, notes=notes)


def _step(process: Process, rank: int, number: int) -> Step | None:
    process.look()
    for trace in process.traces:
        index = number - trace.header.first_step
        if trace.header.rank == rank and 0 <= index < len(trace):
            return trace.step(index)
    return None


def _device(step: Step) -> str:
    """Where the step was computed, as its generators show."""
    on_gpu = any(e.kind == "generator" and e.name.startswith("torch.cuda") for e in step.events)
    return "cuda" if on_gpu else "cpu"
