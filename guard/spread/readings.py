"""Where a run's metric is read: its output, or a file that this very run wrote."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.spread import metrics
from guard.spread.plans import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.spread.plans import Plan

    Before = dict[str, tuple[int, int, int]]  # path -> when and what


def read(plan: Plan, seed: int, text: str, before: Before) -> metrics.Match:
    """The metric of a run that printed a text. Raises GuardError where there is none."""
    if plan.source is None:
        return _printed(text, plan.metric)
    path = _written(plan, seed, before)
    try:
        match = metrics.in_file(path, plan.metric)
    except (GuardError, OSError) as error:
        raise GuardError(f"{path}: {error}") from None
    if match is None:
        raise GuardError(f"{path} holds no number for {plan.metric!r}")
    return metrics.Match(match.value, f"{path}: {match.text}")


def _printed(text: str, name: str) -> metrics.Match:
    match = metrics.in_output(text, name)
    if match is None:
        names = ", ".join(metrics.names_in(text))
        also = f"; numbers that it names: {names}" if names else ""
        raise GuardError(f"it printed no number for {name!r}{also}")
    return match


def _written(plan: Plan, seed: int, before: Before) -> str:
    """The file that this run wrote; one of an earlier run would give that run's value."""
    after = look(plan, seed)
    written = [path for path in after if after[path] != before.get(path)]
    if not written:
        told = "it is there, but this run did not write it" if after else "there is no such file"
        raise GuardError(f"{_path(plan, seed)}: {told}")
    if len(written) > 1:
        raise GuardError(f"it wrote several files of that name: {', '.join(sorted(written))}")
    return written[0]


def _path(plan: Plan, seed: int) -> str:
    return (plan.source or "").replace(PLACEHOLDER, str(seed))


def look(plan: Plan, seed: int) -> Before:
    """The files of ``--from`` as they are now: one that stays so is not from the next run."""
    if plan.source is None:
        return {}
    path = _path(plan, seed)
    found: Iterable[str] = [path] if os.path.exists(path) else glob.glob(path, recursive=True)
    stats = {each: os.stat(each) for each in found if os.path.isfile(each)}
    return {each: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for each, stat in stats.items()}
