"""Wall time and peak memory of a program and of all processes that it starts."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from programs import Program

# Short programs run more often: their times scatter more, and cost little.
SHORT_SECONDS = 0.5
SHORT_REPEATS = 8


class Result(NamedTuple):
    """Seconds of each timed run, and the peak of the largest process in bytes."""

    program: Program
    seconds: list[float]
    peak: int

    @property
    def median(self) -> float:
        """Of the timed runs."""
        return statistics.median(self.seconds)

    @property
    def fastest(self) -> float:
        """Of the timed runs: what else runs on the machine only ever adds time."""
        return min(self.seconds)

    @property
    def per_megabyte(self) -> float:
        """Seconds for a million bytes of input."""
        return self.median / self.program.corpus.megabytes


def all_programs(programs: list[Program], rounds: int) -> list[Result]:
    """Round by round, each program once, so that a disturbance meets all of them."""
    seconds: dict[str, list[float]] = {program.name: [] for program in programs}
    peaks = {}
    for program in programs:
        watched, peaks[program.name] = _warm_up(program)
        if program.rounds == 0:
            seconds[program.name].append(watched)
    for number in range(rounds):
        for program in programs:
            if number < program.rounds:
                seconds[program.name] += _repeated(program)
        print(f"round {number + 1} of {rounds} done")
    return [Result(each, seconds[each.name], peaks[each.name]) for each in programs]


def _repeated(program: Program) -> Iterator[float]:
    first, _ = _run(program)
    yield first
    if first < SHORT_SECONDS:
        yield from (_run(program)[0] for _ in range(SHORT_REPEATS - 1))


def _warm_up(program: Program) -> tuple[float, int]:
    """A run that fills caches and is watched, which costs a short one time: seconds and bytes."""
    print(f"warming up: {program.name}")
    if program.primed:
        _run(program)
    watcher = _Watcher()
    seconds, peak = _run(program, watcher)
    return seconds, max(peak, watcher.peak)


def _run(program: Program, watcher: _Watcher | None = None) -> tuple[float, int]:
    if program.prepare:
        program.prepare()
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            program.argv,
            cwd=program.corpus.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        with watcher.watching(process.pid) if watcher else contextlib.nullcontext():
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    # 1 means findings, but also a Python program that crashed.
    if process.returncode not in (0, 1) or "Traceback (most recent" in text:
        raise SystemExit(f"{program.name}: exit status {process.returncode}\n{text[-2000:]}")
    return seconds, usage.ru_maxrss * 1024  # the kernel counts in KiB


class _Watcher:
    """Asks the kernel for the peak of each process of a session, while it lives.

    wait4 knows only of processes that were waited for, which a pool's may not be.
    A process shorter than the interval is missed here, and known to wait4. It grows with the run,
    so that watching a long one costs nothing.
    """

    INTERVAL = 0.02
    SHARE = 0.01  # of the time since the start

    def __init__(self) -> None:
        self.peak = 0

    @contextlib.contextmanager
    def watching(self, session: int) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=self._watch, args=(session, stop))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _watch(self, session: int, stop: threading.Event) -> None:
        start = time.perf_counter()
        while not stop.wait(max(self.INTERVAL, self.SHARE * (time.perf_counter() - start))):
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):  # it may end at any moment
                    if _session(process) == session:
                        self.peak = max(self.peak, _high_water(process))


def _session(process: Path) -> int:
    # The second field, the name, is in brackets and may hold anything.
    after_name = (process / "stat").read_text(errors="replace").rpartition(")")[2]
    return int(after_name.split()[3])


def _high_water(process: Path) -> int:
    for line in (process / "status").read_text(errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
