"""What is varied within a process: the order of listings, the timing of threads, addresses,
the date.

The order in which a folder's entries are listed is promised by no file system. The number of
threads stays, and so does the processor's affinity, by which torch counts them: with another number
of threads sums are rounded otherwise, which is no fault of the program.

Objects that are made one after the other lie one after the other, so that what hangs on their
addresses is the same in many runs, and another one in the next. Here small pieces of memory of all
sizes are taken, and every second given back, by chance: what is made later lies in between.
"""

from __future__ import annotations

import _thread
import atexit
import datetime as dt
import functools
import gc
import hashlib
import os
import queue
import random
import sys
import threading
import time
import weakref
from contextlib import ExitStack, suppress
from functools import partial
from time import monotonic as _monotonic  # the true one
from typing import TYPE_CHECKING, Any, TypeVar

from guard.observe import clocks, patching
from guard.observe.patching import Scan, around, when_imported
from guard.observe.places import asking, is_own, outward
from guard.program import before_running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Listing = Callable[..., Any]

_T = TypeVar("_T")
_NOT_FILES = ("/proc", "/sys", "/dev")  # the kernel's, in an order of its own
_BLOCK = bytes(1 << 18)  # hashed in about 0.2 ms, without holding the interpreter's lock
_INTERVALS = (0.005, 0.0005, 0.02, 0.001)  # seconds; the first is Python's own
_STALLS = 0.06  # of the times that a process is disturbed: 2 to 3 % of its time
_MORE_STALLS, _SHORT = 0.3, 10.0  # in its first seconds: 12 %
_LATEST_ITEM, _LATE_ITEMS = 0.04, 0.15  # seconds; the share of items
_LATEST_CHILD = 0.02  # seconds by which a forked process is late
_LATEST_TASK, _LATE_TASKS = 0.02, 0.15  # seconds; the share of a pool's tasks, but for the first
_FIRST_TASKS = 16  # all of which are late
# What a worker of a pool runs, and is given its queue first.
_WORKERS = {"multiprocessing.pool": "worker", "concurrent.futures.process": "_process_worker"}
_LONGEST_END = 2.0  # seconds
_LATEST = 0.006  # seconds by which a thread is late
# The first of a kind is later: until the main thread has computed for so many seconds or has waited
# for so many, and so many at most; how many kinds.
_FURTHER, _IDLE, _LATEST_FIRST, _KINDS = 1.0, 0.25, 4.0, 3
_SIZES = range(48, 257, 16)  # bytes: those of most objects
_PIECES = 4000  # of each size
_SHIFT = 400 * 86_400 + 5 * 3_600 + 7 * 60 + 11  # seconds: no part of a date stays the same
_MEASURING = ("perf_counter", "monotonic", "process_time", "thread_time")
# How many times as long what is measured takes: the first of it, and later half as many, a third …;
# or later, and twice, three times as many ….
_FIRST_TIMES, _LATER_TIMES = 20, 0.25
_LEAST, _MOST, _LONGEST = 0.001, 0.5, 5.0  # seconds that count at least, once at most, in all
# Of what passes, that share is told at first in the other runs, and by so much more each time that
# a clock is read; until it is so far behind, which is what a loop may wait longer for its time.
_SHARE, _MORE, _FARTHEST = 0.05, 0.0025, 1.0
# How many arguments say of which time.
_OF_THE_PRESENT = {"localtime": 1, "gmtime": 1, "ctime": 1, "strftime": 2, "asctime": 1}
_BETWEEN = (__file__, patching.__file__, clocks.__file__, "<")  # not what looks at statements
_HEAD = sys.getsizeof(b"")
_forever = ExitStack()  # what is varied stays so
# What ends this process's thread, and what lives as long as it.
_disturbance: list[tuple[_thread.LockType, weakref.ref[random.Random]]] = []
_held: list[list[bytes]] = []  # for good: what is between them is given out


def permuted(names: list[_T], run: int, path: str) -> list[_T]:
    """The entries in the order of a run: as they are, in reverse, then shuffled."""
    if run == 0 or path.startswith(_NOT_FILES):
        return names
    if run == 1:
        return names[::-1]
    return random.Random(f"{run} {path}").sample(names, len(names))  # noqa: S311 - no secret


def permute(run: int) -> None:
    """Have ``os.listdir`` and ``os.scandir`` list in the order of a run from now on.

    With them ``os.walk``, ``glob`` and ``pathlib``, also where these took hold of the
    functions when they were imported. What lists folders in C++ or Rust is not covered. Done
    once: a process that is forked from one that has it, has it.
    """
    if hasattr(os.listdir, "__wrapped__"):
        return
    originals = {os.listdir: _listdir(os.listdir, run), os.scandir: _scandir(os.scandir, run)}
    for original, new in originals.items():
        for holder in _holders():
            for name, value in list(vars(holder).items()):
                if value is original:
                    setattr(holder, name, new)
                elif isinstance(value, staticmethod) and value.__func__ is original:
                    setattr(holder, name, staticmethod(new))


def _holders() -> Iterator[Any]:
    yield os
    for name in ("glob", "pathlib", "pathlib._local", "pathlib._os", "shutil"):
        module = sys.modules.get(name)
        if module is not None:
            yield module
            yield from (each for each in vars(module).values() if isinstance(each, type))


def _path(given: tuple[Any, ...]) -> str:
    path = given[0] if given and given[0] is not None else "."
    return str(path) if isinstance(path, int) else os.path.abspath(os.fsdecode(path))


def _listdir(listdir: Listing, run: int) -> Listing:
    @functools.wraps(listdir)
    def listed(*given: Any, **named: Any) -> list[Any]:
        return permuted(listdir(*given, **named), run, _path(given or tuple(named.values())))

    return listed


def _scandir(scandir: Listing, run: int) -> Listing:
    @functools.wraps(scandir)
    def scanned(*given: Any, **named: Any) -> Scan:
        with scandir(*given, **named) as entries:
            found = list(entries)
        return Scan(permuted(found, run, _path(given or tuple(named.values()))))

    return scanned


def disturb(run: int) -> None:
    """Disturb this process, and those that it forks, in the way of a run: 1 to 2 % of a core.

    From run 1 on, all threads of Python's stand still now and then, as on a busy machine: what
    waits for a few milliseconds waits in vain. At first more often, since most programs that are
    verified are short. Threads do not begin at once, nor do the tasks of pools once a worker has
    taken them, so that another one is first; and what they put into queues comes late now and then.
    """
    sys.setswitchinterval(_INTERVALS[run % len(_INTERVALS)])
    if run:
        _hold_up_threads(run)
        _hold_up_tasks(run)
        _hold_up_queues(run)
    _start(run)
    atexit.register(_end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _begin_late(run))


def _begin_late(run: int) -> None:
    # detlint: ignore[DET103] it is to be another one in each process
    draws = random.Random(f"{run} child {os.getpid()}")  # noqa: S311 - no secret
    time.sleep(draws.uniform(0, _LATEST_CHILD) if run else 0)
    _late_tasks[:] = [_LateTasks(draws)] if run else []
    _start(run)


def _start(run: int) -> None:
    # detlint: ignore[DET103] it is to be another one in each process
    draws = random.Random(f"{run} {os.getpid()}")  # noqa: S311 - no secret; not the program's own
    ends = _thread.allocate_lock()
    ends.acquire()
    _disturbance[:] = [(ends, weakref.ref(draws))]
    # Not of `threading`: programs count its threads, and wait for them.
    _thread.start_new_thread(_disturbing, (run, draws, ends))


def _end() -> None:
    """Wait for the thread's end: a thread that hands over the interpreter's lock when that is
    being finalized reads what has been freed, and the process ends by a signal."""
    ((ends, thread),) = _disturbance
    ends.release()
    until = _monotonic() + _LONGEST_END
    while thread() is not None and _monotonic() < until:  # its arguments end with it
        time.sleep(0.001)


def _disturbing(run: int, draws: random.Random, ends: _thread.LockType) -> None:
    stall, begun = _stalling() if run else None, time.monotonic()
    while not ends.acquire(timeout=draws.uniform(0.001, 0.03)):
        share = _STALLS if time.monotonic() - begun > _SHORT else _MORE_STALLS
        if stall is not None and draws.random() < share:
            stall(int(draws.uniform(2_000, 12_000)))
        elif draws.random() < 0.5:
            hashlib.sha256(_BLOCK)
        else:
            until = time.perf_counter() + draws.uniform(0, 0.0004)
            while time.perf_counter() < until:  # holds the lock
                pass


def _hold_up_threads(run: int) -> None:
    """Let each thread of ``threading`` wait before it does what it is for; the first that the
    program's own files start of each kind so long that who has started it goes on meanwhile."""
    draws = random.Random(f"threads {run}")  # noqa: S311 - no secret; not the program's own
    kinds: list[object] = []  # compared, as not all can be hashed
    first: set[threading.Thread] = set()

    @around(_forever, threading.Thread, "start")
    def _(original: Callable[..., Any], thread: threading.Thread) -> None:
        kind = getattr(thread, "_target", None) or type(thread)
        if kind not in kinds and len(kinds) < _KINDS and asking() is not None:
            kinds.append(kind)
            first.add(thread)
        original(thread)

    @around(_forever, threading.Thread, "_bootstrap_inner")
    def _(original: Callable[..., Any], thread: threading.Thread) -> None:
        run_it = thread.run
        seconds, is_first = draws.uniform(0, _LATEST), thread in first
        first.discard(thread)

        def begin() -> None:
            vars(thread).pop("run")
            time.sleep(seconds)
            if is_first:
                _let_the_main_thread_go_on()
            run_it()

        vars(thread)["run"] = begin  # who starts it waits until ``original`` begins
        original(thread)


def _let_the_main_thread_go_on() -> None:
    """Wait until it has got further, waits itself, or has ended."""
    main = threading.main_thread()
    if not main.is_alive() or main.ident is None or not hasattr(time, "pthread_getcpuclockid"):
        return
    computed = partial(time.clock_gettime, time.pthread_getcpuclockid(main.ident))
    until, ends = computed() + _FURTHER, _monotonic() + _LATEST_FIRST
    last, since = computed(), _monotonic()
    while last < until and _monotonic() < min(ends, since + _IDLE) and main.is_alive():
        time.sleep(0.01)
        if (now := computed()) - last > _IDLE / 1000:
            last, since = now, _monotonic()


class _LateTasks:
    """How late the tasks of this process's pools begin: a second in all. The first is by far the
    last of those that are taken with it."""

    def __init__(self, draws: random.Random, first: float = 0.0) -> None:
        self._draws = draws
        self._first = first
        self._left, self._count = 1.0, 0

    def wait(self) -> None:
        """A worker has taken a task."""
        seconds = self._draws.uniform(0, _LATEST_TASK / 2)
        if self._count >= _FIRST_TASKS and self._draws.random() > _LATE_TASKS:
            seconds = 0.0
        self._count += 1
        seconds, self._first = self._first or seconds, 0.0
        if 0 < seconds < self._left:
            self._left -= seconds
            time.sleep(seconds)


_late_tasks: list[_LateTasks] = []  # those of this process


def _late() -> None:
    for each in _late_tasks:
        each.wait()


def _hold_up_tasks(run: int) -> None:
    """Let each task of a pool of threads or processes wait before it does what it is for."""
    draws = random.Random(f"tasks {run}")  # noqa: S311 - no secret; not the program's own
    _late_tasks[:] = [_LateTasks(draws, _LATEST_TASK)]
    when_imported("concurrent.futures.thread", _hold_up_futures)
    for module, worker in _WORKERS.items():
        when_imported(module, partial(_hold_up_workers, module, worker))


def _hold_up_futures() -> None:
    @around(_forever, sys.modules["concurrent.futures.thread"]._WorkItem, "run")  # noqa: SLF001
    def _(original: Callable[..., None], *given: Any) -> None:
        _late()
        original(*given)


def _hold_up_workers(module: str, worker: str) -> None:
    @around(_forever, sys.modules[module], worker)
    def _(original: Callable[..., None], tasks: Any, *given: Any, **named: Any) -> None:  # noqa: ANN401
        original(_Taken(tasks), *given, **named)


class _Taken:
    """A pool's queue of tasks, as a worker has it: what is taken from it begins late."""

    def __init__(self, tasks: Any) -> None:  # noqa: ANN401 - of threads, or of processes
        self._tasks = tasks

    def get(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        found = self._tasks.get(*given, **named)
        if found is not None:
            _late()
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._tasks, name)


def _hold_up_queues(run: int) -> None:
    """Let what is put into a ``queue.Queue`` come late, for some of the times, up to a second."""
    draws = random.Random(f"queues {run}")  # noqa: S311 - no secret; not the program's own
    left = [1.0]

    @around(_forever, queue.Queue, "put")
    def _(original: Callable[..., Any], *given: Any, **named: Any) -> None:
        seconds = draws.uniform(0, _LATEST_ITEM) if draws.random() < _LATE_ITEMS else 0.0
        if 0 < seconds < left[0]:
            left[0] -= seconds
            time.sleep(seconds)
        original(*given, **named)


def _stalling() -> Callable[[int], None] | None:
    """Waits for some microseconds, and keeps the interpreter's lock meanwhile; None where no such
    function is to be had."""
    with suppress(ImportError, AttributeError, OSError, TypeError):
        import ctypes

        found: Callable[[int], None] = ctypes.PyDLL(None).usleep
        return found
    return None


def scatter(run: int) -> None:
    """Scatter what is made from here on; run 0 is left.

    Again once torch has been imported, and when the program begins: recording fills the gaps.
    """
    if not run:
        return
    _take(run)
    before_running.append(partial(_take, run))
    if "torch" not in sys.modules:
        when_imported("torch", partial(_take, run))


def _take(run: int) -> None:
    draws = random.Random(run)  # noqa: S311 - of its own: the program's is left alone
    for size in _SIZES:
        pieces = [bytes(size - _HEAD) for _ in range(_PIECES)]
        draws.shuffle(pieces)
        _held.append(pieces[: _PIECES // 2])
        while pieces:
            pieces.pop()


class Pace:
    """How fast time passes for the program in a run. In every second run what it measures takes
    longer, most of all what comes first; in the others less at first, and what comes later longer.

    So a time that is over in one run is not over in the other, also where it is over at each step
    of runs that are looked at. And what is the fastest by a hair is the last of some in one run,
    and the first of them in the next.
    """

    def __init__(self, run: int) -> None:
        self._is_first = run % 2 == 1
        self._is_slow = not self._is_first
        self._read = 0
        self._last: float | None = None
        self._ahead = 0.0

    def ahead(self) -> float:
        """Seconds by which a clock is ahead that is read now."""
        self._read += 1
        now = _monotonic() - clocks.left_out()  # what looking at statements takes is no time
        passed, self._last = now - (now if self._last is None else self._last), now
        share = _SHARE + self._read * _MORE
        self._is_slow = self._is_slow and share < 1 and self._ahead > -_FARTHEST
        if self._is_slow:
            self._ahead = max(self._ahead - passed * (1 - share), -_FARTHEST)
            return self._ahead
        times = _FIRST_TIMES / self._read if self._is_first else _LATER_TIMES * self._read
        more = min((passed + _LEAST) * times, _MOST)
        self._ahead = min(self._ahead + more, _LONGEST)
        return self._ahead


def shift(run: int) -> None:
    """Have the program's own files measure other times, and but for run 0 read another date.

    Libraries go on by the true clock: they compare it with times of files and of others.
    """
    seconds, pace = run * _SHIFT, Pace(run)
    for name in ("time", *_MEASURING):
        for suffix, unit in clocks.UNITS.items():
            _shift_clock(name + suffix, unit, seconds * (name == "time"), pace)

    if "timeit" in sys.modules:
        sys.modules["timeit"].default_timer = time.perf_counter  # type: ignore[attr-defined]
    if not run:
        return
    _shift_broken_down(seconds)
    with suppress(AttributeError, ImportError, IndexError, KeyError, TypeError):
        _shift_datetime(seconds, pace)


def _shift_clock(name: str, unit: float, date: int, pace: Pace) -> None:
    last: float = 0

    @around(_forever, time, name)
    def _(clock: Callable[[], float]) -> float:
        nonlocal last
        now = clock()
        if not _is_asked_by_the_program():
            return now
        # Also where it tells the time of a processor, which passes slower.
        ahead = (date + pace.ahead()) * (unit * 10**9)
        last = clocks.later(last, now + type(now)(ahead), unit)
        return last


def _shift_broken_down(seconds: int) -> None:
    """What ``time`` gives of the present where it is not told of which time."""
    clock = time.time
    while hasattr(clock, "__wrapped__"):
        clock = clock.__wrapped__
    for name, arguments in _OF_THE_PRESENT.items():
        whole = name in ("strftime", "asctime")  # these are given a time that is broken down
        localtime = getattr(time.localtime, "__wrapped__", time.localtime)

        @around(_forever, time, name)
        def _(
            original: Callable[..., Any],
            *given: Any,
            arguments: int = arguments,
            then: Callable[[float], Any] = localtime if whole else float,
        ) -> Any:  # noqa: ANN401
            if len(given) < arguments and _is_asked_by_the_program():
                given = (*given, then(clock() + seconds))
            return original(*given)


def _shift_datetime(seconds: int, pace: Pace) -> None:
    """``datetime.now`` and ``utcnow``, of the class itself: who has imported it before has it, too.
    ``today`` asks ``time``."""
    import ctypes

    (held,) = (e for e in gc.get_referents(vars(dt.datetime)) if isinstance(e, dict))
    for name in ("now", "utcnow"):
        original = held[name]

        def shifted(cls: Any, /, *given: Any, original: Any = original, **named: Any) -> Any:  # noqa: ANN401
            found = original.__get__(None, cls)(*given, **named)
            if not _is_asked_by_the_program():
                return found
            return found + dt.timedelta(seconds=seconds + pace.ahead())

        held[name] = classmethod(shifted)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dt.datetime))


def _is_asked_by_the_program() -> bool:
    """Whether a file of the program's own asks; code that is made as it runs is left out."""
    for frame in outward(sys._getframe(2)):  # noqa: SLF001 - the documented way to a frame
        if not frame.f_code.co_filename.startswith(_BETWEEN):
            return is_own(frame.f_code.co_filename)
    return False
