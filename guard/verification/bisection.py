"""From a step that differs to the operator: the step is recorded again, in detail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from guard.comparison import Cause, Operator
from guard.verification.operators import culprit
from guard.verification.plan import recording
from guard.verification.watching import Watch

if TYPE_CHECKING:
    from guard.comparison import Difference
    from guard.trace import Step, Trace
    from guard.verification.processes import Process
    from guard.verification.sessions import Session
    from guard.verification.watching import Watched

_KINDS = ("output", "loss", "gradient", "parameter", "buffer", "optimizer")
_CAUSES = (Cause.KERNEL, Cause.UNWRITTEN_MEMORY)


@dataclass(frozen=True)
class Bisection:
    """What recording in detail showed.

    operators   one, or none where no operator is at fault or none was found
    cause       that the operator shows, or None
    runs        that it took
    reproduced  whether the difference came again; None where nothing was tried
    notes       what a person should know
    """

    operators: tuple[Operator, ...] = ()
    cause: Cause | None = None
    runs: int = 0
    reproduced: bool | None = None
    notes: tuple[str, ...] = ()


def is_of_an_operator(difference: Difference) -> bool:
    """Whether it is one that an operator has caused, as far as is known."""
    event = difference.first or difference.second
    return difference.cause in _CAUSES and event is not None and event.kind in _KINDS


def bisect(session: Session, difference: Difference, other: int, budget: int) -> Bisection:
    """Run both again to the step that differs, until the operator is known.

    other   number of the run that differed from the first, for its circumstances
    budget  how many runs there may be; each try takes two
    """
    step = difference.step
    result = Bisection()
    seen: list[str] = []
    while result.runs + 2 <= budget:
        watched = _rerun(session, other, step)
        result = replace(result, runs=result.runs + 2)
        if watched.difference is None:
            seen.append(f"not again up to step {step}")
            continue
        result = replace(result, reproduced=True)
        if watched.difference.step != step:
            step = watched.difference.step
            seen.append(f"already at step {step}")
            continue
        return _concluded(result, watched, seen)
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


def _concluded(result: Bisection, watched: Watched, seen: list[str]) -> Bisection:
    difference = watched.difference
    first, second = watched.processes[0], watched.processes[watched.other]
    if difference is None:
        return result
    rank, number = difference.rank, difference.step
    steps = [_step(each.traces[rank], number) for each in (first, second)]
    notes = tuple(f"a first try differed {text}" for text in seen[:1])
    if steps[0] is None or steps[1] is None:
        return replace(result, notes=notes)
    found = culprit(steps[0], steps[1], _device(steps[0]))
    if found is None:
        text = "no operator gave another result than in the first run for what it was given"
        return replace(result, notes=(*notes, text))
    return replace(result, operators=(found.operator,), cause=found.cause, notes=notes)


def _step(trace: Trace, number: int) -> Step | None:
    trace.refresh()
    index = number - trace.header.first_step
    return trace.step(index) if 0 <= index < len(trace) else None


def _device(step: Step) -> str:
    """Where the step was computed, as its generators show."""
    on_gpu = any(e.kind == "generator" and e.name.startswith("torch.cuda") for e in step.events)
    return "cuda" if on_gpu else "cpu"
