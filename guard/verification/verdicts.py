"""The answer of ``guard verify``: plain data, its exit status, and its forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from guard.diff import Comparison, as_json, text
from guard.terminal import counted, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

IDENTICAL, DIFFERS, FAILED, INTERRUPTED = 0, 1, 2, 130
_AS_THEY_ARE = ("status", "runs", "reruns", "reproduced", "isolation", "resume", "interrupted")
_OF_A_FAILURE = ("run", "why", "output")


@dataclass(frozen=True)
class Failure:
    """A run that did not come to its end."""

    run: int  # its number, from 1
    why: str  # in words
    output: tuple[str, ...] = ()  # the last lines that the program wrote
    decides: bool = True  # whether nothing can be said for it


@dataclass(frozen=True)
class Verdict:
    """What became of the runs."""

    # of the two that part, or of the first two; None where nothing was recorded
    comparison: Comparison | None
    runs: int  # that were compared
    isolation: str  # "copies" or "in place"
    reruns: int = 0  # further ones, to name the operator and the circumstance
    # whether the difference came again in detail; None where that was not tried
    reproduced: bool | None = None
    circumstance: str = ""  # that makes the difference alone; "none", or "" where it is not known
    failure: Failure | None = None
    resume: dict[str, Any] | None = None  # what an interrupted run was made of, or None
    interrupted: bool = False  # whether verify was, so that it is what was known by then

    @property
    def status(self) -> int:
        """What the command exits with."""
        if self.interrupted:
            return INTERRUPTED
        if self.comparison is None or (self.failure is not None and self.failure.decides):
            return FAILED
        return IDENTICAL if self.comparison.difference is None else DIFFERS

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON has it, and "verify"; docs/verify.md describes the keys."""
        compared, failure = self.comparison, self.failure
        verify = {name: getattr(self, name) for name in _AS_THEY_ARE}
        verify |= {
            "identical": self.status == IDENTICAL,
            "circumstance": self.circumstance or None,
            "steps": 0 if compared is None else compared.steps,
            "notes": [] if compared is None else list(compared.notes),
            "failure": failure and {name: getattr(failure, name) for name in _OF_A_FAILURE},
        }
        return {**({} if compared is None else as_json(compared)), "verify": verify}

    def as_text(self, stream: TextIO) -> str:
        """For a person. A failure that decides comes first, and how far the runs agree."""
        comparison, failure = self.comparison, self.failure
        told = "" if failure is None else "".join(f"{line}\n" for line in _failed(failure))
        if comparison is None:
            return told
        is_cut = self.interrupted or (failure is not None and failure.decides)
        if is_cut and comparison.difference is None:
            if not comparison.steps:
                return told
            steps = counted(comparison.steps, "step")
            return f"{told}As far as they went, the runs are identical: {steps}.\n"
        decides = failure is not None and failure.decides
        shown = text(comparison, stream)
        return told + shown if decides else shown + told


def _failed(failure: Failure) -> Iterator[str]:
    yield visible(f"run {failure.run} {failure.why}")
    if failure.output:
        yield "the last that it wrote:"
        yield from (f"  | {visible(line)}" for line in failure.output)
