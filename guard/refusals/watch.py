"""The stage that explains torch's refusals, lets allowed operators through, and surveys them all.

It wraps the functions of torch that the table of operators names, and ``backward``. Only those, so
that other code runs as ever.
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.operations import OPERATIONS, Operation
from guard.dependencies import import_torch
from guard.observe import engine, places
from guard.observe.patching import around, replace
from guard.refusals import translation
from guard.refusals.translation import explained_error
from guard.refusals.watcher import Watcher
from guard.settings import load
from guard.setup.activation import active
from guard.setup.flags import held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.settings import Settings

    Function = Callable[..., Any]
    Current = Callable[[], Watcher]


def install(stack: ExitStack, current: Current) -> None:
    """Wrap, until the stack is closed. ``current`` gives the watcher that is at work."""
    torch = import_torch("guard")
    for path, rows in _watched_functions().items():
        owner, name = _resolve(torch, path)
        if owner is not None:
            replace(stack, owner, name, _watched(getattr(owner, name), tuple(rows), current))
    stack.enter_context(engine.around(lambda *args, **kwargs: current().backward(*args, **kwargs)))
    around(stack, torch, "compile")(_compile)
    around(stack, sys, "excepthook")(_show)
    around(stack, threading, "excepthook")(_show_of_thread)


def _watched_functions() -> dict[str, list[Operation]]:
    found: dict[str, list[Operation]] = {}
    for row in OPERATIONS:
        for path in row.calls:
            found.setdefault(path, []).append(row)
    return found


def _resolve(torch: Any, path: str) -> tuple[Any, str]:  # noqa: ANN401
    """Where a dotted name lies, or None where this torch has no such function."""
    owner, *parts = torch, *path.split(".")[1:]
    for part in parts[:-1]:
        owner = getattr(owner, part, None)
    return (owner if hasattr(owner, parts[-1]) else None), parts[-1]


# One for all times: torch.compile keeps a list of torch's functions, as they were at its first use.
@functools.cache
def _watched(function: Function, rows: tuple[Operation, ...], current: Current) -> Function:
    # torch 2.2 has none; there, compiled code breaks off at a watched function.
    is_compiling = getattr(import_torch("guard").compiler, "is_compiling", bool)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        if is_compiling():  # a compiler traces the function itself
            return function(*args, **kwargs)
        return current().call(function, rows, args, kwargs)

    engine.tell_script_compiler(function, call)
    return call


def _compile(function: Function, model: Any = None, **options: Any) -> Any:  # noqa: ANN401
    """``torch.compile``, whose results explain what the compiled code raises."""
    if model is None:
        return lambda each: _compile(function, each, **options)
    compiled = function(model, **options)
    if isinstance(compiled, import_torch("guard").nn.Module):
        compiled.forward = _explaining(compiled.forward)
        return compiled
    return _explaining(compiled)


def _explaining(function: Function) -> Function:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:
            ours = explained_error(error)
            if ours is None:
                raise
            raise ours from error

    return call


# What no wrapper saw: functions that were imported by name before guard was enabled


def _show(show: Function, kind: Any, error: BaseException, traceback: Any) -> None:  # noqa: ANN401
    ours = explained_error(error)
    if ours is None:
        show(kind, error, traceback)
    else:
        show(type(ours), ours, None)


def _show_of_thread(show: Function, args: threading.ExceptHookArgs) -> None:
    ours = explained_error(args.exc_value)
    if ours is not None:
        args = threading.ExceptHookArgs((type(ours), ours, None, args.thread))
    show(args)


_watchers: list[Watcher] = []  # of the blocks that are open, outermost first
_installed = ExitStack()


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Explain refusals, and let the allowed operators through."""
    with watching(Watcher(settings)):
        yield


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Hand every watched call to a watcher, until an inner one takes over."""
    if not _watchers:
        install(_installed, _innermost)
    _watchers.append(watcher)
    try:
        yield
    except Exception as error:
        ours = explained_error(error)
        if ours is None:
            raise
        raise ours from error
    finally:
        _watchers.remove(watcher)
        if not _watchers:
            _installed.close()


def current() -> Watcher | None:
    """The watcher that is at work."""
    return _watchers[-1] if _watchers else None


def _innermost() -> Watcher:
    """One function for all blocks: by it ``_watched`` knows what it has wrapped before."""
    return _watchers[-1]


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
        stack.enter_context(watching(watcher))
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
