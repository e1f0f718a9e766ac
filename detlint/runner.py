"""Many files in, their findings out: from the cache where unchanged, else linted in parallel."""

from __future__ import annotations

import gc
import os
import sys
from collections import deque
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from detlint import journal
from detlint.aside import die_silently, share_out
from detlint.catalogue import class_of
from detlint.sources.cache import content_digest
from detlint.sources.kinds import is_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from detlint.aside import Share
    from detlint.engine import Engine
    from detlint.finding import Finding
    from detlint.journal import Notes
    from detlint.sources.cache import Cache

# Starting two processes costs about as much as linting this many bytes.
_WORTH_A_POOL = 400_000
# Bytes: small enough to share out evenly, so many that messages between processes cost nothing.
_BATCH = 100_000
_SMALL = 2_000  # takes as long as an empty file
# The process that judges programs meanwhile has the most to do, and all else waits for it.
_PATIENCE = 5
_RARELY = 10_000_000  # objects made
_MUCH = 300_000  # of these, with some 50 MB

S = TypeVar("S")
T = TypeVar("T")


class Task(NamedTuple):
    """A file to lint, unless its content still has the digest; ``kept``: what comes of it is
    kept, under its digest."""

    path: str
    digest: str | None = None
    size: int = 0
    kept: bool = True


class Result(NamedTuple):
    """What became of a task. ``findings`` is None where the content is as the digest said;
    ``stat`` is None where nothing is to be kept. ``runs``: a person runs the file. ``failure``:
    the traceback of an error of ours."""

    path: str
    stat: os.stat_result | None
    digest: str
    findings: list[Finding] | None
    runs: bool = False
    failure: str = ""


class Linted(NamedTuple):
    """All findings, in the order of the paths, the paths of entrypoints, and those of files at
    which linting failed, with tracebacks."""

    findings: list[Finding]
    entrypoints: list[str]
    failures: dict[str, str]


def lint_files(  # noqa: PLR0913, PLR0917 - what a run consists of
    paths: Sequence[str],
    make_engine: Callable[[], Engine],
    cache: Cache,
    jobs: int,
    progress: Callable[[int, int], None],
    meanwhile: Callable[[Share, Callable[[], bool]], None] = lambda *_: None,
) -> Linted:
    """What linting each file by itself gives, whatever the parallelism.

    ``make_engine`` is called only if there is something to lint.
    ``progress`` is told how many of how many files are done.
    ``meanwhile`` is called here while other processes lint, if they do; it must not fork, and is
    handed what shares work out among these, and what tells whether they still lint.
    """
    collect_rarely()
    found: dict[str, list[Finding]] = {}
    runs: set[str] = set()
    failures: dict[str, str] = {}
    tasks: list[Task] = []
    for path in paths:
        try:
            stat = os.stat(path)
        except OSError:
            tasks.append(Task(path))  # reading it again says why
            continue
        if is_data(path, stat.st_size):
            found[path] = []
            continue
        cached = cache.lookup(path, stat)
        if cached is None:
            tasks.append(Task(path, cache.digest(path), stat.st_size, cache.keeps))
        else:
            found[path] = cached
            if cache.runs(path):
                runs.add(path)
    if tasks:
        # The largest first: a large one begun last would keep one process busy alone.
        tasks.sort(key=lambda task: -task.size)
        size = sum(task.size for task in tasks)
        workers = min(jobs, len(tasks)) if size > _WORTH_A_POOL else 1
        for result in _results(tasks, make_engine(), workers, progress, meanwhile):
            found[result.path] = _remember(result, cache)
            if result.failure:
                failures[result.path] = result.failure
            if result.runs or (result.findings is None and cache.runs(result.path)):
                runs.add(result.path)
    # A cached finding names the path by which an earlier run found the file.
    findings = [each._replace(path=path) for path in paths for each in found[path]]
    return Linted(
        findings,
        [path for path in paths if path in runs],
        {path: failures[path] for path in paths if path in failures},
    )


def collect_rarely() -> None:
    """A syntax tree is many objects and no garbage: collecting at each 700th costs a third. What
    is garbage of a file is let go of when it is done, so that of a million objects that are left
    15,000 are garbage, and finding it takes half a second: it would cost two projects in one folder
    more than both apart. What projects leave that are done is found when it is much."""
    if gc.get_threshold()[0] != _RARELY:
        gc.freeze()
        gc.set_threshold(_RARELY, 20, 20)
    elif gc.get_count()[0] > _MUCH:
        gc.collect()


def _remember(result: Result, cache: Cache) -> list[Finding]:
    if result.findings is None:
        findings = cache.findings(result.path)
    else:
        findings = result.findings
        journal.linted(result.path)
    if result.stat is not None:
        cache.store(result.path, result.stat, result.digest, findings, runs=result.runs)
    return findings


def _results(
    tasks: Sequence[Task],
    engine: Engine,
    workers: int,
    progress: Callable[[int, int], None],
    meanwhile: Callable[[Share, Callable[[], bool]], None],
) -> Iterator[Result]:
    batches = list(_batches(tasks))
    done = 0
    pooled = workers > 1
    outcome = _in_pool(batches, engine, workers, meanwhile) if pooled else _here(batches, engine)
    for results in outcome:
        done += len(results)
        progress(done, len(tasks))
        yield from results


def _batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += max(task.size, _SMALL)
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _here(batches: Sequence[Sequence[Task]], engine: Engine) -> Iterator[list[Result]]:
    for batch in batches:
        yield _lint_all(batch, engine)


def _in_pool(
    batches: Sequence[Sequence[Task]],
    engine: Engine,
    workers: int,
    meanwhile: Callable[[Share, Callable[[], bool]], None],
) -> Iterator[list[Result]]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    pool = _pool(engine, workers)
    feed = Feed(pool, batches)
    done = False
    try:
        for _ in range(workers + 1):
            feed.hand_over()
        meanwhile(feed.share, feed.is_at_work)
        feed.hand_over_all()
        for future in as_completed(feed.futures):
            try:
                yield _taken(future.result())
            except BrokenProcessPool:
                feed.lost.append(feed.futures[future])
            del feed.futures[future]  # with what it gave
        done = True
    finally:
        # Not waited for, its thread may close a pipe to which Python's exit writes: exit status 1.
        pool.shutdown(wait=done, cancel_futures=True)
    yield from _one_by_one(feed.lost, engine)


class Feed:
    """Hands batches to a pool, each when one is done, so that what is shared out meanwhile need not
    wait for all of them; and none while something is shared out, for which this process waits.

    futures  those that were handed over; ``lost`` are the ones that could not be
    """

    def __init__(self, pool: ProcessPoolExecutor, batches: Sequence[Sequence[Task]]) -> None:
        self.futures: dict[Future[tuple[list[Result], Notes | None]], Sequence[Task]] = {}
        self.lost: list[Sequence[Task]] = []
        self._pool = pool
        self._waiting = deque(batches)
        self._lock = RLock()
        self._shares = False
        self._held = 0  # batches that would have been handed over

    def hand_over(self, _: object = None) -> None:
        """Hand over the next batch."""
        with self._lock:
            if self._shares:
                self._held += 1
            elif self._waiting:
                batch = self._waiting.popleft()
                try:
                    future = self._pool.submit(_work, batch)
                except RuntimeError:  # it broke
                    self.lost.append(batch)
                else:
                    self.futures[future] = batch
                    future.add_done_callback(self.hand_over)

    def hand_over_all(self) -> None:
        """Hand over what is left."""
        with self._lock:
            while self._waiting:
                self.hand_over()

    def is_at_work(self) -> bool:
        """Whether some batch is not done."""
        return bool(self._waiting) or not all(each.done() for each in list(self.futures))

    def share(self, function: Callable[[S], T], shares: Sequence[S]) -> list[T]:
        """Share something out in the pool."""
        self._shares = True
        try:
            return share_out(self._pool, function, shares)
        finally:
            with self._lock:
                self._shares, held, self._held = False, self._held, 0
                for _ in range(held):
                    self.hand_over()


def _one_by_one(batches: Sequence[Sequence[Task]], engine: Engine) -> Iterator[list[Result]]:
    """A worker died: lint what was lost file by file, and name the one that kills its process."""
    from concurrent.futures.process import BrokenProcessPool

    pool = _pool(engine, 1)
    for task in (task for batch in batches for task in batch):
        try:
            yield _taken(pool.submit(_work, [task]).result())
        except BrokenProcessPool:  # noqa: PERF203 - the process is worth more than the block
            message = "the process that parsed it died; leave the file out and report it"
            yield [Result(task.path, None, "", engine.unreadable(task.path, message))]
            pool.shutdown()  # a fork beside its thread might take a lock along
            pool = _pool(engine, 1)
    pool.shutdown()


def _pool(engine: Engine, workers: int) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor

    # Forking is the quickest start, and safe here: nothing has started a thread yet.
    from multiprocessing import get_context

    forks = sys.platform == "linux"
    if forks:
        # Once for all of them: all rules together are slow to import.
        for rule in engine.rules:
            class_of(rule)
    context = get_context("fork" if forks else "spawn")
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(engine, journal.is_open())
    )


_engine: Engine | None = None


def _start_worker(engine: Engine, noted: bool) -> None:
    from detlint.dataflow.unit import end_soon

    global _engine  # noqa: PLW0603 - sent once a process rather than with each batch
    _engine = engine
    end_soon()
    if noted:
        journal.begin()
    if hasattr(os, "nice"):
        os.nice(_PATIENCE)
    die_silently()


def _work(batch: Sequence[Task]) -> tuple[list[Result], Notes | None]:
    return _lint_all(batch, cast("Engine", _engine)), journal.drained()


def _lint_all(batch: Sequence[Task], engine: Engine) -> list[Result]:
    from detlint.syntax.stack import in_deep_stack

    return in_deep_stack(lambda: [_lint(task, engine) for task in batch])


def _taken(told: tuple[list[Result], Notes | None]) -> list[Result]:
    results, notes = told
    journal.add(notes)
    return results


def _lint(task: Task, engine: Engine) -> Result:
    try:
        with open(task.path, "rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            data = file.read()
    except OSError as error:
        findings = engine.unreadable(task.path, f"cannot be read: {error.strerror}")
        return Result(task.path, None, "", findings)
    digest = content_digest(data) if task.kept else ""
    if digest and digest == task.digest:
        return Result(task.path, stat, digest, None)
    try:
        return Result(task.path, stat, digest, *engine.look(task.path, data))
    except Exception:  # noqa: BLE001 - what is found in other files must not be lost with it
        import traceback

        return Result(task.path, None, "", [], failure=traceback.format_exc())
