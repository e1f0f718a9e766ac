"""Lines that are possibly to blame, where the linter names none that fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from programs import write

from guard.diff import Cause, Change, Confidence, Difference, Link, Source, Suspect
from guard.diff.differences import Explanation, Operator
from guard.diff.report import suspect
from guard.observe.places import Place
from guard.trace import Event
from guard.verification.attribution import _what
from guard.verification.explaining import RAN, Known, explanation, worded_by
from guard.verification.operators import Culprit
from guard.verification.plan import HASHES, LISTINGS, TIMING
from guard.verification.statements import Entry, led_by, proven_first
from guard.verification.suspects import Asked, advised, with_possibilities
from guard.verification.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

    from guard.trace.model import Kind

READY_BY = Source.READINESS.value


def lines_of(
    suspects: tuple[Suspect, ...],
    cause: Cause,
    circumstance: str,
    files: list[str],
    changes: tuple[Change, ...] = (),
    **told: Any,
) -> tuple[Suspect, ...]:
    difference = Difference(0, 0, "training", told.pop("first", None), None, cause, "", **told)
    return with_possibilities(suspects, Asked(difference, circumstance, Text(files), changes))


THREAD = """\
def add(rows):
    global total
    total += rows.sum()
for _ in range(2): threading.Thread(target=add)
"""


HOGWILD = """\
def work(model, seen):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step()
    seen[0] += 1
model = Net().share_memory()
Process(target=work, args=(model, seen))
"""
CLOCK = """\
import time
end = time.monotonic() + 3
while time.monotonic() < end:
    search()
if time.monotonic() > end:
    raise TimeoutError
"""


TIMER = """\
import signal
from signal import alarm as wake
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
train()
wake(2)
signal.setitimer(signal.ITIMER_REAL, 0)
wake(0)
"""


@pytest.mark.parametrize(
    ("text", "cause", "lines"),
    [
        (TIMER, Cause.KERNEL, [4, 6]),
        (TIMER, Cause.STATE, []),
        (HOGWILD, Cause.INITIALISATION, [3, 4]),
        (HOGWILD.replace(".share_memory()", ""), Cause.INITIALISATION, []),
        (CLOCK, Cause.OUTSIDE, [3]),
        (CLOCK, Cause.STATE, []),
    ],
    ids=["timer", "resumed with a timer", "shared", "not shared", "clock", "resumed"],
)
def test_lines_that_processes_or_the_clock_decide(
    text: str, cause: Cause, lines: list[int], tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", text))
    found = lines_of((), cause, "none", [path])
    assert [each.line for each in found] == lines


def test_a_buffer_that_a_thread_writes_comes_before_what_it_puts(tmp_path: Path) -> None:
    written = HANDED.replace("    ready", "    self.slots[0][row] = rows\n    ready")
    path = str(write(tmp_path / "train.py", written))
    found = lines_of((), Cause.BATCH_CONTENT, "none", [path])
    assert [each.line for each in found] == [2, 3]
    assert found[0].message.startswith("a part of self.slots[0] is written in a thread")


def test_what_the_linter_finds_comes_first_if_it_fits(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", HANDED))
    fits, general = (Suspect(code, "m", path, 9) for code in ("DET101", "DET304"))
    assert lines_of((fits,), Cause.BATCH_CONTENT, "none", [path]) == (fits,)
    found = lines_of((general,), Cause.BATCH_CONTENT, "none", [path])
    assert [each.line for each in found] == [2, 9]
    assert lines_of((), Cause.BATCH_CONTENT, "hashes", [path]) == ()


def test_the_linters_finding_stands_for_the_text_of_its_line(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", HANDED))
    found = Suspect("DET205", "m", path, 2)
    assert lines_of((found,), Cause.BATCH_ORDER, "none", [path]) == (found,)


def test_the_file_of_the_place_comes_first(tmp_path: Path) -> None:
    paths = [str(write(tmp_path / name, THREAD)) for name in ("a.py", "b.py")]
    found = lines_of((), Cause.OUTSIDE, "none", paths, place=Place(paths[1], 9, "f"))
    assert [each.file for each in found] == paths[::-1]
    told = suspect(found[0])
    assert told[0] == f"possibly {paths[1]}:3"
    assert told[1].startswith("total grows in threads, in the order they come to it")


@pytest.mark.parametrize(
    ("confidence", "line", "label"),
    [
        (Confidence.CERTAIN, 3, ""),
        (Confidence.CERTAIN, 4, "possibly "),
        (Confidence.LIKELY, 3, "possibly "),
    ],
)
def test_the_line_of_a_cause_that_is_certain_is_told_so(
    confidence: Confidence, line: int, label: str
) -> None:
    links = (Link("/a.py", 3, "a = time()"), Link("/a.py", 4, "b = a"))
    cause = Explanation(Source.CLOCK, confidence, "time()", links)
    assert suspect(Suspect("", "m", "/a.py", line, ""), cause) == (f"{label}/a.py:{line}", "m")
    assert suspect(Suspect("DET103", "m", "/a.py", 3, ""), cause)[0] == "DET103 /a.py:3"


def test_only_the_same_difference_tells_a_circumstance() -> None:
    def difference(step: int, kind: str = "batch", cause: Cause = Cause.BATCH_ORDER) -> Difference:
        event = Event(kind, "0", 0, "", None, b"") if kind else None  # type: ignore[arg-type]
        return Difference(0, step, "training", event, None, cause, "")

    assert _what(difference(3)) == _what(difference(3, cause=Cause.BATCH_CONTENT))
    rates = [Event("hyperparameter", each, 0, "", None, b"") for each in ("SGD.lr", "SGD[2].lr")]
    one, other = (replace(difference(3), first=each) for each in rates)
    assert _what(one) == _what(other)
    assert _what(difference(3)) != _what(difference(2))
    assert _what(difference(3)) != _what(difference(3, "output"))
    assert _what(difference(3)) != _what(difference(3, "", Cause.LENGTH))


THREADS = """\
def fastest():
    torch.set_num_threads(1)
torch.set_num_threads(fastest())
"""
CHECKPOINT = """\
torch.save({"model": model.state_dict(), "o": {**optimizer.state_dict(), "state": {}}}, path)
optimizer.load_state_dict(state["o"])
model.load_state_dict(state["model"])
"""
FORGETFUL = """\
import torch
model.load_state_dict(torch.load(path))
torch.save(model.state_dict(), path)
"""
BEAT = """\
import random, threading; import numpy as np
class Beat(threading.Thread):
    def run(self):
        time.sleep(random.random())
def jitter(own):
    return own.random() + np.random.rand()
pool.submit(jitter, random.Random(1))
x = random.random()
"""


GOING = """\
import random, weakref; import numpy as np; from torch import rand
class Held:
    def __del__(self):
        SEEN.append(random.random())
    def close(self):
        SEEN[0] = random.random()
def gone(reference):
    np.random.rand()
def done():
    return [rand(1)]
kept = weakref.ref(held, gone)
weakref.finalize(held, done)
def other():
    random.random()
"""


@pytest.mark.parametrize(
    ("cause", "generators", "lines"),
    [
        (Cause.GENERATOR, (), [4, 8, 10]),
        (Cause.GENERATOR, ("torch.cpu",), [10]),
        (Cause.OUTSIDE, ("numpy",), [8, 4]),  # the second is changed
        (Cause.STATE, (), []),
    ],
)
def test_what_is_done_as_objects_are_collected_is_told(
    cause: Cause, generators: tuple[str, ...], lines: list[int], tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", GOING))
    found = lines_of((), cause, "none", [path], generators=generators)
    assert [each.line for each in found] == lines
    assert all("as an object is collected" in each.message for each in found)
    assert {each.fits for each in found} == ({Source.COLLECTION.value} if lines else set())


@pytest.mark.parametrize(
    ("text", "cause", "told", "lines"),
    [
        (THREADS, Cause.ENVIRONMENT, {"change": "torch: threads"}, [3, 2]),
        (THREADS, Cause.ENVIRONMENT, {"change": "torch: version"}, []),
        (CHECKPOINT, Cause.STATE, {"lost": ("optimizer",)}, [1, 2]),
        (FORGETFUL, Cause.STATE, {"lost": ("generator",)}, [3, 2]),
        (BEAT, Cause.GENERATOR, {}, [4, 6]),
    ],
    ids=[
        "threads",
        "version",
        "state",
        "state that is not saved",
        "drawn in threads",
    ],
)
def test_what_the_text_says_comes_before_what_the_linter_says(
    text: str, cause: Cause, told: dict[str, Any], lines: list[int], tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", text))
    changes = (Change(told["change"], "1", "2"),) if "change" in told else ()
    given: dict[str, Any] = {"lost": told.get("lost", ())}
    found = lines_of((), cause, "none", [path], changes, **given)
    assert [each.line for each in found] == lines
    vague = Suspect("DET101", "m", path, 90)
    found = lines_of((vague,), cause, "none", [path], changes, **given)
    assert found[-1] == vague
    assert not lines or found[0].line == lines[0]


def test_advice_fits_the_first_suspect(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", HANDED))
    found = lines_of((), Cause.BATCH_ORDER, "none", [path])
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_ORDER, "", advice="Look.")
    assert "Of a queue or a list that several fill, sort" in advised(difference, found)
    assert advised(difference, ()) == "Look."


HANDED = """\
def produce(rows):
    ready.put(rows)
for _ in range(2): threading.Thread(target=produce)
rows = table[ids.long()]
table[ids.long()] = rows
x = DataLoader(data)
"""


@pytest.mark.parametrize(
    ("cause", "kind", "codes", "lines"),
    [
        (Cause.BATCH_ORDER, "batch", (), [2]),
        (Cause.BATCH_ORDER, "batch", ("DET201",), [2, 90]),
        (Cause.BATCH_ORDER, "batch", ("DET205",), [90]),
        (Cause.BATCH_CONTENT, "batch", ("DET101",), [90]),
        (Cause.KERNEL, "output", ("DET501",), [90]),
    ],
)
def test_lines_at_which_what_comes_first_decides(
    cause: Cause, kind: Kind, codes: tuple[str, ...], lines: list[int], tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", HANDED))
    suspects = tuple(Suspect(code, "m", path, 90) for code in codes)
    event = Event(kind, "x", 0, "", None, b"")
    found = lines_of(suspects, cause, "none", [path], first=event)
    assert [each.line for each in found] == lines


def test_what_an_operator_that_is_known_does_needs_no_other_line(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", HANDED))
    difference = Difference(0, 0, "training", None, None, Cause.KERNEL, "")
    assert with_possibilities((), Asked(difference, "none", Text([path]), is_known=True)) == ()


def test_the_line_that_running_shows_is_told_once_and_in_the_words_that_say_most() -> None:
    why = Source.ENTROPY.value
    shown = Suspect("", "differs", "/a.py", 3, why)
    plain, telling = (Suspect("", "reads the clock", "/a.py", 3, fits) for fits in ("", why))
    linted, other = Suspect("DET103", "m", "/a.py", 3), Suspect("", "m", "/a.py", 5)

    assert led_by(Entry((shown,)), (other,), Text(())) == (shown, other)
    assert led_by(Entry((shown,)), (plain, other), Text(())) == (telling, other)
    assert led_by(Entry((shown,)), (telling, other), Text(())) == (telling, other)
    assert led_by(Entry((shown,)), (linted, other), Text(())) == (linted, other)
    elsewise = Suspect("", "reads the clock", "/a.py", 3, Source.CLOCK.value)
    assert led_by(Entry((shown,)), (elsewise, other), Text(())) == (shown, other)


def test_the_line_of_an_operator_that_was_seen_to_differ_comes_before_what_may() -> None:
    place = Place("/a.py", 3, "forward")
    operator = Operator("aten.index_put.default", "backward", place)
    kernel, other = Suspect("DET502", "m", "/a.py", 3), Suspect("DET502", "m", "/a.py", 4)
    shown = Culprit(operator, Cause.KERNEL, "")

    assert proven_first(shown, (other, kernel)) == (kernel, other)
    first, second = proven_first(shown, (other,))
    assert (first.file, first.line, first.fits) == ("/a.py", 3, Source.KERNEL.value)
    assert "aten.index_put.default gave something else for the same" in first.message
    assert second == other
    assert proven_first(shown, ()) == (first,)
    sure, likely = (Explanation(Source.KERNEL, each) for each in list(Confidence)[:2])
    assert suspect(first, sure)[0] == "/a.py:3"
    assert suspect(first, likely)[0] == "possibly /a.py:3"
    outside = shown._replace(cause=Cause.OUTSIDE)
    assert proven_first(outside, (other, kernel)) == (other, kernel)
    assert proven_first(None, (other,)) == (other,)


@pytest.mark.parametrize(
    ("fits", "circumstance", "is_first"),
    [
        (RAN, LISTINGS.name, True),
        (RAN, HASHES.name, False),
        (RAN, "none", False),
        (Source.LISTING.value, LISTINGS.name, False),
    ],
)
def test_what_the_linter_says_of_a_circumstance_comes_before_a_line_that_reads_nothing(
    fits: str, circumstance: str, *, is_first: bool
) -> None:
    shown = Suspect("", "differs", "/a.py", 3, fits)
    listing, other = Suspect("DET203", "m", "/b.py", 8, "o"), Suspect("DET101", "m", "/b.py", 9)
    told = led_by(Entry((shown,)), (other, listing), Text(()), circumstance)
    first = (listing, shown, other) if is_first else (shown, other, listing)
    assert told == first


def test_a_line_that_reads_nothing_known_to_differ_is_told_by_the_cause_of_it() -> None:
    shown = Suspect("", "differs", "/a.py", 3, RAN)
    memory, links = Source.UNWRITTEN_MEMORY, (Link("/a.py", 3, "rows.resize_(8)"),)
    cause = Explanation(memory, Confidence.LIKELY, "", links)
    assert worded_by(cause, shown).fits == memory.value
    elsewhere, opaque = replace(shown, line=4), replace(shown, fits="`a` differs as well")
    assert [worded_by(cause, each) for each in (elsewhere, opaque)] == [elsewhere, opaque]
    assert worded_by(cause._replace(source=Source.NOT_SHOWN), shown) is shown


@pytest.mark.parametrize("fits", [RAN, Source.CLOCK.value])
def test_what_sends_a_signal_comes_before_a_line_that_reads_nothing(
    fits: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "train.py", "import signal\nx = 1\nsignal.alarm(3)\n")
    shown, timer = Suspect("", "differs", "/a.py", 2, fits), Suspect("", "m", str(path), 3)
    told = led_by(Entry((shown,)), (timer,), Text([str(path)]))
    assert told == ((timer, shown) if fits == RAN else (shown, timer))


def test_a_draw_in_a_thread_is_one_from_the_generator_that_differs(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", BEAT))
    for generators, lines in ((("python",), [4]), (("numpy",), [6]), (("made at a.py:1",), [])):
        found = lines_of((), Cause.GENERATOR, "none", [path], generators=generators)
        assert [each.line for each in found] == lines


USED = """\
import os
import psutil
def used():
    return psutil.Process(os.getpid()).memory_info().rss / 2**20
"""


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("size = 8\nif used() > 900:\n    size //= 2\ntrain(size)", 3),
        ("size = int(used())\nDataLoader(rows, batch_size=size)", 2),
        ("while psutil.virtual_memory().percent < 90:\n    grow()", 2),
        ("free = open('/proc/meminfo').readline().split()\nx = rows[: int(free[1])]\ntrain(x)", 2),
        ("n = torch.cuda.memory_allocated()\nfor part in rows.split(n):\n    step(part)", 2),
        ("print(f'{used():.1f}')\nhistory.append(used())", 0),
        ("DataLoader(rows, num_workers=psutil.cpu_count() // 2)", 0),
        ("for at in range(psutil.virtual_memory().total):\n    step(at)", 0),
        ("if torch.cuda.memory_reserved() > 2**30:\n    torch.cuda.empty_cache()", 0),
        ("model = open('/proc/cpuinfo').readline()\nx = rows[: len(model)]\ntrain(x)", 0),
    ],
)
def test_what_is_measured_and_decides_something(code: str, line: int, tmp_path: Path) -> None:
    head = "import psutil, torch; from helpers import used\n"
    paths = [write(tmp_path / "train.py", head + code), write(tmp_path / "helpers.py", USED)]
    found = Text(map(str, paths)).measured
    assert [each[:2] for each in found] == [(str(paths[0]), line)] * bool(line)
    told = lines_of((), Cause.BATCH_CONTENT, "none", [*map(str, paths)])
    assert [(e.line, e.fits) for e in told] == [(line, Source.LOAD.value)] * bool(line)


POOLED = """\
import time
from concurrent.futures import ThreadPoolExecutor, wait
from helpers import is_ready
pool = ThreadPoolExecutor(1)
def work(stop, rows):
    while not stop.wait(0.1):
        rows.append(1)
def train(model, rows, job, stop):
    job = pool.submit(work, stop, rows)
"""
READY = "def is_ready(job):\n    return job.done()\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("if job is not None and job.done():\n        model.step()", [10]),
        ("if not rows.empty():\n        model(rows.get())", [10]),
        ("ready = job.running()\n    x = 1 if ready else 2\n    model(x)", [10]),
        ("if is_ready(job):\n        model.step()", [10]),
        ("done, _ = wait([job], timeout=3)\n    model(1 if job in done else 2)", [10]),
        ("done, _ = wait([job])\n    model(1 if job in done else 2)", []),
        ("while not job.done():\n        time.sleep(1)\n    model(job.result())", []),
        ("print('done' if job.done() else 'not yet')", []),
        ("if rows.empty(3):\n        model.step()", []),
        ("stop.wait()\n    model.step()", []),
    ],
)
def test_what_is_decided_by_how_far_a_thread_has_come(
    code: str, found: list[int], tmp_path: Path
) -> None:
    files = [write(tmp_path / "train.py", f"{POOLED}    {code}\n")]
    files.append(write(tmp_path / "helpers.py", READY))
    polls = Text(map(str, files)).polls
    assert [each.line for each in polls if each.is_in_thread] == [6]
    assert [each.line for each in polls if not each.is_in_thread] == found
    alone = files[0].read_text().replace("pool.submit(work, stop, rows)", "None")
    write(files[0], alone)
    assert not Text(map(str, files)).polls


LIMITED = """\
import asyncio
from asyncio import timeout
from concurrent.futures import as_completed
async def read(jobs):
    done, late = await asyncio.wait(jobs, timeout=LIMIT)
    return [job.result() if job in done else 0 for job in jobs]
async def read_one(job):
    return await asyncio.wait_for(job, LIMIT)
async def read_all(jobs):
    async with timeout(LIMIT):
        return [await job for job in jobs]
def read_now(jobs):
    return [job.result() for job in as_completed(jobs, timeout=LIMIT)]
"""


@pytest.mark.parametrize(("limit", "lines"), [("LIMIT", [5, 8, 10]), ("None", [])])
def test_a_limited_wait_may_be_it_where_nothing_else_is_known(
    limit: str, lines: list[int], tmp_path: Path
) -> None:
    path = str(write(tmp_path / "train.py", LIMITED.replace("LIMIT", limit)))
    told = lines_of((), Cause.BATCH_CONTENT, "none", [path])
    assert [(each.line, each.fits) for each in told] == [(line, READY_BY) for line in lines]
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_CONTENT, "")
    found = explanation(Known(difference, None, "none", told, None))
    source = Source.READINESS if lines else Source.NOT_SHOWN
    assert (found.source, found.confidence) == (source, Confidence.POSSIBLE)


WAITED = """\
import threading
def work(rows):
    rows.append(1)
rows = []
thread = threading.Thread(target=work, args=(rows,))
if thread.is_alive():
    train(rows)
"""


def test_one_thread_comes_early_or_late_and_several_come_first(tmp_path: Path) -> None:
    path = str(write(tmp_path / "train.py", WAITED))
    told = lines_of((), Cause.BATCH_CONTENT, "", [path])
    assert [(e.line, e.fits) for e in told] == [(6, READY_BY), (3, READY_BY)]
    several = WAITED.replace("thread =", "for _ in range(2): thread =")
    told = lines_of((), Cause.BATCH_CONTENT, "", [str(write(tmp_path / "more.py", several))])
    assert [(e.line, e.fits) for e in told] == [(6, READY_BY), (3, Source.THREAD_ORDER.value)]


@pytest.mark.parametrize(
    ("fits", "is_one", "told"),
    [
        ([READY_BY], False, (Source.READINESS, Confidence.LIKELY)),
        ([READY_BY, Source.THREAD_ORDER.value], False, (Source.READINESS, Confidence.POSSIBLE)),
        ([Source.THREAD_ORDER.value], False, (Source.THREAD_ORDER, Confidence.LIKELY)),
        ([], False, (Source.THREAD_ORDER, Confidence.LIKELY)),
        ([], True, (Source.READINESS, Confidence.LIKELY)),
    ],
)
def test_what_the_timing_of_threads_means(
    fits: list[str], is_one: bool, told: tuple[Source, Confidence]
) -> None:
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_CONTENT, "")
    lines = tuple(Suspect("", "", "train.py", 3, each) for each in fits)
    found = explanation(Known(difference, None, TIMING.name, lines, None, is_one=is_one))
    assert (found.source, found.confidence) == told


@pytest.mark.parametrize(
    ("code", "allocates"),
    [
        ("a = torch.empty_like(x)\n    dist.recv(a, src=0)\n    return a", False),
        ("a = torch.empty(3)\n    job = dist.irecv(a, 0)\n    job.wait()\n    return a", False),
        ("a = [torch.empty(3) for _ in x]\n    dist.all_gather(a, x)\n    return a", False),
        ("a = torch.empty_like(x)\n    dist.recv(a[:3], src=0)\n    return a", True),
        ("a = torch.empty_like(x)\n    if n:\n        dist.recv(a, src=0)\n    return a", True),
        ("a = torch.empty_like(x)\n    dist.broadcast(a, src=0)\n    return a", True),
        ("a = torch.empty(3)\n    dist.all_gather(x, a)\n    return x", True),
        ("a = torch.empty(3)\n    dist.recv(a, src=0)\n    return a + torch.empty(3)", True),
    ],
)
def test_memory_that_another_rank_fills_is_not_left_unwritten(
    code: str, allocates: bool, tmp_path: Path
) -> None:
    head = "import torch\nimport torch.distributed as dist\ndef f(x, n):\n    "
    path = write(tmp_path / "train.py", head + code)
    assert Text([str(path)]).allocates is allocates
