"""The stage that explains torch's refusals, and lets the allowed operators through.

It wraps the functions of torch that the table of operators names, and ``backward``. Only those, so
that other code runs as ever.
"""

from __future__ import annotations

import functools
import sys
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from detlint.operations import OPERATIONS, Operation
from guard.dependencies import import_torch
from guard.observe import engine
from guard.observe.patching import around, replace
from guard.refusals.translation import explained_error
from guard.refusals.watcher import Watcher

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
    return _watchers[-1]
