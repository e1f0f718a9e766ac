"""Which of the program's tasks a thread does: what it was started for, or what a pool was given.

What several threads do comes in another order in each run. What one task does, does not. Tasks are
named by the task that started them, by what they run, and by how many of these were started before:
which thread of a pool does one is another in each run.
"""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import pool as pool_module
from multiprocessing.pool import ThreadPool
from typing import TYPE_CHECKING, Any

from guard.observe.patching import around
from guard.recording.naming import ByIdentity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import ExitStack

_PLAIN = "mapstar"  # of multiprocessing.pool: calls a function of one item each
MAIN = ""  # of the thread that the program begins with, and of those that nothing is known of


class Lanes:
    """Of one process.

    begins  is called as this thread starts a task
    ends    is called by the thread that has done one, with its name and whether it has failed
    """

    def __init__(self, begins: Callable[[], None], ends: Callable[[str, str], None]) -> None:
        self._begins, self._ends = begins, ends
        self._local = threading.local()
        self._counts: Counter[str] = Counter()
        self._started: ByIdentity[str] = ByIdentity()

    @property
    def current(self) -> str:
        """The name of the task that this thread does: "work 2"; of one within another,
        "work 2 > load 1"."""
        found: str = getattr(self._local, "name", MAIN)
        return found

    def follow(self, stack: ExitStack) -> None:
        """Name the tasks that are started from here on, until the stack is closed."""

        @around(stack, threading.Thread, "start")
        def _(original: Callable[..., None], thread: threading.Thread) -> None:
            self._started.set(thread, self._next(_what_runs(thread)))
            original(thread)

        @around(stack, threading.Thread, "_bootstrap_inner")
        def _(original: Callable[..., None], thread: threading.Thread) -> None:
            self._do(self._started.get(thread) or MAIN, original, thread)

        for kind, submit in ((ThreadPoolExecutor, "submit"), (ThreadPool, "apply_async")):

            @around(stack, kind, submit)
            def _(original: Any, pool: Any, task: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
                return original(pool, partial(self._do, self._next(task), task), *args, **kwargs)

        for name in ("imap", "imap_unordered"):

            @around(stack, ThreadPool, name)
            def _(original: Any, pool: Any, func: Any, iterable: Any, *args: Any) -> Any:  # noqa: ANN401
                return original(pool, _call, self._each(func, iterable), *args)

        @around(stack, ThreadPool, "_map_async")  # which map, starmap and their like call
        def _(original: Any, pool: Any, func: Any, iterable: Any, mapper: Any, *args: Any) -> Any:  # noqa: ANN401
            call = _call if mapper.__name__ == _PLAIN else _call_star
            plain = getattr(pool_module, _PLAIN)
            return original(pool, call, list(self._each(func, iterable)), plain, *args)

    def _each(self, task: Any, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
        """A task for each item; a pool may take them in a thread of its own."""
        name = self._next(task)
        return ((partial(self._do, f"{name}, item {at}", task), e) for at, e in enumerate(items))

    def _next(self, task: Any) -> str:  # noqa: ANN401 - whatever can be called
        self._begins()
        while isinstance(task, partial):
            task = task.func
        kind = getattr(task, "__qualname__", type(task).__qualname__)
        within = f"{self.current} > " if self.current else ""
        name = f"{within}{kind.rpartition('.<locals>.')[2]}"
        self._counts[name] += 1
        return f"{name} {self._counts[name]}"

    def _do(self, name: str, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        around, self._local.name = self.current, name
        error = ""
        try:
            return task(*args, **kwargs)
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            self._local.name = around
            self._ends(name, error)


def _call(given: tuple[Any, Any]) -> Any:  # noqa: ANN401
    task, item = given
    return task(item)


def _call_star(given: tuple[Any, Any]) -> Any:  # noqa: ANN401
    task, items = given
    return task(*items)


def _what_runs(thread: threading.Thread) -> Any:  # noqa: ANN401 - whatever can be called
    """What a thread is started for: its target, or the ``run`` of its class."""
    is_plain = type(thread).run is threading.Thread.run
    target = getattr(thread, "_target", None) if is_plain else None
    return target if target is not None else type(thread)
