"""Every operator without a deterministic implementation in one run, instead of one error each."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.observe import places
from guard.refusals import translation, watch
from guard.refusals.watcher import Watcher
from guard.settings import load
from guard.setup.activation import active
from guard.setup.flags import held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.operations import Operation

# Under warn_only fused attention says that it takes its free kernel; strictly, it does not.
_ATTENTION = r"[\s\S]*[Aa]ttention defaults to a non-deterministic algorithm"


class Found(NamedTuple):
    """An operator that ran and would have refused, or that differs silently.

    operation  the row of the table, or None for one that it does not know
    name       the operator: as torch names it in its refusal
    place      the line that called it, for a backward the line of the forward; None if unknown
    times      how often it ran
    """

    operation: Operation | None
    name: str
    place: places.Place | None
    times: int


class Survey:
    """What a survey found: iterate over it, count it, print it."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, places.Place | None]] = Counter()

    def __iter__(self) -> Iterator[Found]:
        for (name, place), count in self._counts.items():
            yield Found(translation.row_named(name), name, place, count)

    def __len__(self) -> int:
        return len(self._counts)

    def __str__(self) -> str:
        if not self._counts:
            return "guard.survey: every operator that ran has a deterministic implementation"
        places = "1 place runs" if len(self) == 1 else f"{len(self)} places run"
        parts = [f"guard.survey: {places} an operator without a deterministic implementation"]
        parts += [_shown(each) for each in self]
        return "\n".join(parts)

    def add(self, name: str, trail: places.Trail | None, count: int) -> None:
        """Count runs of an operator at a place."""
        self._counts[name, trail.resolve() if trail is not None else None] += count


def _shown(found: Found) -> str:
    often = "once" if found.times == 1 else f"{found.times} times"
    lines = [f"  {found.name}, {often}: {found.place or 'place unknown'}"]
    if found.place is not None and found.place.code:
        lines.append(f"      {found.place.code}")
    row = found.operation
    if row is not None and row.alternatives:
        lines.append(f"      instead: {row.alternatives[0].text}")
    return "\n".join(lines)


@contextmanager
def survey() -> Iterator[Survey]:
    """Run on through every operator that would refuse, and list them all with their places.

    Inside, torch only warns (``warn_only``), whatever the step sets, so results may differ from
    run to run, and fused attention is free to: what is found here is for mending, not for
    training. Works with and without ``guard.enable``.
    """
    found = Survey()
    with ExitStack() as stack:
        stack.enter_context(held())
        watcher = Watcher(active() or load(), surveys=True)
        stack.enter_context(watch.watching(watcher))
        stack.enter_context(_collected(found, watcher))
        yield found


@contextmanager
def _collected(found: Survey, watcher: Watcher) -> Iterator[None]:
    """Take torch's warnings out of the stream of warnings."""
    backwards: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("always", message=translation.WARNED)
        warnings.filterwarnings("ignore", message=_ATTENTION)
        show = warnings.showwarning

        def collect(message: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            alert = translation.alert_in(str(message))
            if alert is None:
                show(message, *args, **kwargs)
            elif watcher.is_in_backward:
                backwards[alert] += 1  # the engine hands its warnings on at its end
            else:
                found.add(alert, places.here(), 1)

        warnings.showwarning = collect
        try:
            yield
        finally:
            _place(found, backwards, watcher.started)


def _place(
    found: Survey,
    backwards: Counter[str],
    started: Counter[tuple[str, places.Trail | None]],
) -> None:
    """Give the warnings of backwards the places at which their nodes were made."""
    warned = {row.name for alert in backwards if (row := translation.row_named(alert)) is not None}
    placed = set()
    for (name, trail), count in started.items():
        row = translation.row_named(name)
        if row is None:
            continue
        refusing = translation.refusing(row).name
        if row.silent or refusing in warned:
            found.add(row.alerts[0] if row.alerts else name, trail, count)
        placed.add(refusing)
    for alert, count in backwards.items():
        row = translation.row_named(alert)
        if row is None or row.name not in placed:
            found.add(alert, None, count)
