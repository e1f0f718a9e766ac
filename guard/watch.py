"""Watching the functions of torch that may refuse: their errors are explained where they rise.

Only the functions that the table of operators names are wrapped, and ``backward``, so that
other code runs as ever. What a wrapped function returns is tagged with the line that called
it, and an error of its backward names that line.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from detlint.operations import OPERATIONS, Operation
from guard import graph, places, silence, translation
from guard.allowance import allowed
from guard.dependencies import import_torch
from guard.errors import NondeterministicOperationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from guard.settings import Settings

    Function = Callable[..., Any]

_watchers: list[Watcher] = []  # of the blocks that are open, outermost first
_installed = ExitStack()


class Watcher:
    """Follows the table's operators under one set of settings.

    let_through  how often each allowed operator ran, by the row's name
    started      how often the backward of each place began, in a survey
    """

    def __init__(self, settings: Settings, *, surveys: bool = False) -> None:
        self.let_through: Counter[str] = Counter()
        self.started: Counter[tuple[str, places.Trail | None]] = Counter()
        self._allowed = allowed(settings.allow)
        self._strict = settings.strict
        self._surveys = surveys
        self._last: tuple[Operation, places.Trail | None] | None = None
        self._lifts = ExitStack()
        self.is_in_backward = False

    # Forward

    def call(
        self, function: Function, rows: Sequence[Operation], args: Any, kwargs: Any  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """What a watched function gives; its refusal explained."""
        rows = [row for row in rows if not row.silent or silence.differs(row, args, kwargs)]
        for row in rows:
            if row.silent and row.direction == "forward":
                self._begin(row, places.here())
        try:
            result = function(*args, **kwargs)
        except RuntimeError as error:
            row = translation.find(str(error))
            if row is not None and row in self._allowed:
                # It refuses before it has done anything, so that it can be called again.
                self.let_through[row.name] += 1
                with _lifted():
                    return function(*args, **kwargs)
            explained = explain(error, places.here())
            if explained is None:
                raise
            raise explained from error
        for row in rows:
            if row.direction == "backward":
                self._tag(result, row)
        return result

    def _tag(self, result: Any, row: Operation) -> None:  # noqa: ANN401
        """Note on the graph's node which line made it, and what to do when it runs."""
        node = graph.made_by(result, row)
        if node is None or "guard" in node.metadata:
            return
        trail = places.here()
        node.metadata["guard"] = trail
        self._hook(node, row, trail)

    def _hook(self, node: Any, row: Operation, trail: places.Trail | None) -> None:  # noqa: ANN401
        node.register_prehook(lambda _: self._begin(row, trail))
        if row in self._allowed:
            node.register_hook(lambda *_: self._lifts.close())

    # Backward

    def backward(self, function: Function, outputs: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """Run the engine; a refusal is explained by the line that made the node."""
        self._last, self.is_in_backward = None, True
        wanted = self._allowed or (frozenset(OPERATIONS) if self._surveys else frozenset())
        for node, row in graph.untagged(outputs, wanted) if wanted else ():
            self._hook(node, row, None)
        try:
            return function(outputs, *args, **kwargs)
        except RuntimeError as error:
            row = translation.find(str(error))
            last = self._last
            made = last[1] if last is not None and row is not None and last[0] is row else None
            explained = explain(error, made, started=places.here())
            if explained is None:
                raise
            raise explained from error
        finally:
            self._lifts.close()
            self.is_in_backward = False

    def _begin(self, row: Operation, trail: places.Trail | None) -> None:
        """A node of the row's is about to run, or a silent function."""
        self._last = (row, trail)
        if self._surveys:
            self.started[row.name, trail] += 1
        elif row in self._allowed:
            self.let_through[row.name] += 1
            if not row.silent:
                self._lifts.enter_context(_lifted())
        elif row.silent and self._strict:
            started = places.here() if row.direction == "backward" else None
            raise _refused(translation.explain_operation(row), trail, started)


def explain(
    error: BaseException, trail: places.Trail | None, started: places.Trail | None = None
) -> NondeterministicOperationError | None:
    """Our error for one of torch's, cuDNN's or an attention library's; None for any other.

    ``trail`` is where the operator was called, ``started`` where its backward was.
    """
    if isinstance(error, NondeterministicOperationError):
        return None
    explanation = translation.explain(str(error))
    if explanation is None:
        return None
    return _refused(explanation, trail, started, str(error))


def _refused(
    explanation: translation.Explanation,
    trail: places.Trail | None,
    started: places.Trail | None = None,
    said: str = "",
) -> NondeterministicOperationError:
    text = translation.render(
        explanation,
        trail.resolve() if trail is not None else None,
        started.place if started is not None else None,
        said,
    )
    return NondeterministicOperationError(text, explanation.operation)


@contextmanager
def _lifted() -> Iterator[None]:
    """Determinism off, for as long as one operator takes."""
    torch = import_torch("guard")
    before = torch.is_deterministic_algorithms_warn_only_enabled()
    torch._C._set_deterministic_algorithms(False)  # noqa: SLF001
    try:
        yield
    finally:
        torch._C._set_deterministic_algorithms(True, warn_only=before)  # noqa: SLF001


# The stage


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Explain refusals, and let the allowed operators through."""
    with watching(Watcher(settings)):
        yield


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Hand every watched call to a watcher, until an inner one takes over."""
    if not _watchers:
        _install(_installed)
    _watchers.append(watcher)
    try:
        yield
    except Exception as error:
        explained = explain(error, places.of_error(error))
        if explained is None:
            raise
        raise explained from error
    finally:
        _watchers.remove(watcher)
        if not _watchers:
            _installed.close()


def current() -> Watcher | None:
    """The watcher that is at work."""
    return _watchers[-1] if _watchers else None


def _install(stack: ExitStack) -> None:
    torch = import_torch("guard")
    for path, rows in _watched_functions().items():
        owner, name = _resolve(torch, path)
        if owner is not None:
            _replace(stack, owner, name, _watched(getattr(owner, name), rows))
    backward = torch.autograd.graph._engine_run_backward  # noqa: SLF001
    wrapped = _watched_backward(backward)
    for owner in (torch.autograd, torch.autograd.graph):
        _replace(stack, owner, "_engine_run_backward", wrapped)
    _replace(stack, torch, "compile", _watched_compile(torch.compile))
    _replace(stack, sys, "excepthook", _excepthook(sys.excepthook))
    _replace(stack, threading, "excepthook", _thread_excepthook(threading.excepthook))


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


def _replace(stack: ExitStack, owner: Any, name: str, new: Any) -> None:  # noqa: ANN401
    """Set an attribute until the stack is closed; one that was inherited is taken away again."""
    own = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, new)
    undo = functools.partial(setattr, owner, name, before) if own else None
    stack.callback(undo or functools.partial(delattr, owner, name))


def _watched(function: Function, rows: Sequence[Operation]) -> Function:
    is_compiling = import_torch("guard").compiler.is_compiling

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if is_compiling() or not _watchers:  # a compiler traces the function itself
            return function(*args, **kwargs)
        return _watchers[-1].call(function, rows, args, kwargs)

    graph.tell_script_compiler(function, call)
    return call


def _watched_backward(function: Function) -> Function:
    @functools.wraps(function)
    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return _watchers[-1].backward(function, outputs, args, kwargs)

    return run


def _watched_compile(function: Function) -> Function:
    """``torch.compile``, whose results explain what the compiled code raises."""

    @functools.wraps(function)
    def compile_(model: Any = None, **options: Any) -> Any:  # noqa: ANN401
        if model is None:
            return lambda each: compile_(each, **options)
        compiled = function(model, **options)
        if isinstance(compiled, import_torch("guard").nn.Module):
            compiled.forward = _explaining(compiled.forward)
            return compiled
        return _explaining(compiled)

    return compile_


def _explaining(function: Function) -> Function:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:
            explained = explain(error, places.of_error(error)) if _watchers else None
            if explained is None:
                raise
            raise explained from error

    return call


# What no wrapper saw: functions that were imported by name before guard was enabled


def _excepthook(show: Function) -> Function:
    def hook(kind: Any, error: BaseException, traceback: Any) -> None:  # noqa: ANN401
        explained = explain(error, places.of_error(error))
        if explained is None:
            show(kind, error, traceback)
            return
        explained.__cause__ = error
        show(type(explained), explained, None)

    return hook


def _thread_excepthook(show: Function) -> Function:
    def hook(args: threading.ExceptHookArgs) -> None:
        error = args.exc_value
        explained = explain(error, places.of_error(error)) if error is not None else None
        if explained is None:
            show(args)
            return
        explained.__cause__ = error
        show(threading.ExceptHookArgs((type(explained), explained, None, args.thread)))

    return hook
