"""The cause of a difference: what its first statement reads, how sure it is, and the slice."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import statement_runs
import torch
from statement_runs import flows

from guard.diff import (
    Cause,
    Comparison,
    Confidence,
    Difference,
    Explanation,
    Link,
    Operator,
    Source,
    Suspect,
    as_json,
    report,
)
from guard.diff.slices import slice_of
from guard.diff.sources import source_of, stamps, tells_file_time, varies
from guard.diff.statements import Calling, Node
from guard.digests.generators import NONE
from guard.digests.traits import (
    ALONE,
    ASKED,
    HANDED,
    IN_MEMORY,
    MISSING,
    OBJECTS,
    SETS,
    SHARED,
    STRINGS,
    Traits,
    traits_of,
    value_of,
)
from guard.observe.places import Place
from guard.observe.statements import statements
from guard.trace.statements import Call, Ran
from guard.verification import perturbations
from guard.verification.explaining import (
    RAN,
    Known,
    Origin,
    Shown,
    _beside_others,
    explanation,
    line_of,
    origin_of,
    suspect,
)
from guard.verification.operators import Culprit
from guard.verification.suspects import (
    ADVICE,
    AMONG_PROCESSES,
    ANY_RANK,
    BEGUN,
    FIRST,
    FROM_A_THREAD,
    IN_A_QUERY,
    TOGETHER,
    UNFINISHED,
)

PREPARED = """\
import gc, os, random, subprocess, tempfile, threading, time, uuid, weakref
from datetime import datetime
import numpy as np
import torch
class Sample:
    def __init__(self, number): self.number = number
samples = [Sample(number) for number in range(300)]
numbers = lambda given: [each.number for each in given]
"""
# A line that is another one in each run, what uses it, and what it is.
PROGRAMS = {
    "a clock": ("a = time.time()", "b = a % 1", Source.CLOCK),
    "a clock that is asked later": ("a = datetime.now()", "b = a.microsecond", Source.CLOCK),
    "a clock of NumPy's": (
        "a = np.datetime64('now', 'ns') + np.timedelta64(time.perf_counter_ns() % 997, 'ns')",
        "b = int(a.astype(int)) % 1000",
        Source.CLOCK,
    ),
    "a UUID": ("a = uuid.uuid4().hex", "b = int(a[:6], 16)", Source.ENTROPY),
    "entropy": ("a = os.urandom(8)", "b = int.from_bytes(a, 'big')", Source.ENTROPY),
    "an unseeded generator": ("a = random.Random(None)", "b = a.random()", Source.ENTROPY),
    "a seed of several streams": (
        "a = np.random.SeedSequence(None)",
        "b = np.random.Generator(np.random.PCG64(a)).random()",
        Source.ENTROPY,
    ),
    "streams": (
        "a = dict(enumerate(np.random.SeedSequence().spawn(2)))",
        "b = np.random.default_rng(a[1]).random()",
        Source.ENTROPY,
    ),
    "what draws bits": (
        "a = np.random.PCG64(time.time_ns())",
        "b = np.random.Generator(a).random()",
        Source.CLOCK,
    ),
    "a folder": (
        "a = tempfile.mkdtemp()",
        "b = int.from_bytes(a[-8:].encode(), 'big')",
        Source.DRAWN_NAME,
    ),
    "a text": ("a = repr(samples)", "b = len(a) + int(a[-6:-2], 16)", Source.OBJECT_ADDRESS),
    "a text in a text": (
        "a = f'{samples[0]} {samples[1]}'",
        "b = len(a) + int(a[-6:-2], 16)",
        Source.OBJECT_ADDRESS,
    ),
    "a function": ("a = str(numbers)", "b = int(a[-6:-1], 16)", Source.OBJECT_ADDRESS),
    "another program": (
        "a = subprocess.run(['od', '-N4', '/dev/urandom'], capture_output=True).stdout",
        "b = a[9:]",
        Source.PROGRAM,
    ),
    "addresses": ("a = sorted(samples, key=id)", "b = numbers(a)", Source.OBJECT_ADDRESS),
    "hashes": ("a = [hash(each) % 7 for each in samples]", "b = repr(a)", Source.OBJECT_ADDRESS),
    "a set": ("a = list(set(samples))", "b = numbers(a)", Source.OBJECT_ADDRESS),
    "a set that a call gives": (
        "f = lambda: set(samples)\ndef g():\n    return f()\na = list(g())",
        "b = numbers(a)",
        Source.OBJECT_ADDRESS,
    ),
    "a weak set": (
        "kept = weakref.WeakSet(samples)\na = [each.number for each in kept]",
        "b = repr(a)",
        Source.OBJECT_ADDRESS,
    ),
}


@pytest.fixture
def scattered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of two runs makes its objects at other addresses."""
    runs, ran = [], statement_runs.run

    def run(*given: object, **told: object) -> object:
        runs.append(given)
        perturbations.scatter(len(runs) - 1)
        return ran(*given, **told)  # type: ignore[arg-type]

    monkeypatch.setattr(statement_runs, "run", run)


@pytest.mark.parametrize("prefix", ["None", "uuid.uuid4().hex"])
@pytest.mark.parametrize(
    ("text", "begins", "source"),
    [
        ("a = os.stat(folder).st_mtime_ns % 1000", "a = ", Source.CLOCK),
        ("path.write_text(str(time.time()))\na = path.read_text()", "path.write", Source.CLOCK),
        (
            "a = subprocess.run(ASKED, capture_output=True).stdout",
            "a = ",
            Source.PROGRAM,
        ),
        (
            "done = subprocess.run(ASKED, capture_output=True)\na = done.stdout",
            "done = ",
            Source.PROGRAM,
        ),
        ("a = folder[-3:]", "folder = ", Source.DRAWN_NAME),
    ],
    ids=["a time", "a file", "a program", "what a program gave", "the name"],
)
@pytest.mark.usefixtures("scattered")
def test_where_a_file_lies_decides_nothing_of_what_is_there(
    text: str, begins: str, source: Source, prefix: str, tmp_path: Path
) -> None:
    made = f"token = {prefix}\nfolder = tempfile.mkdtemp(prefix=token)\n"
    made += "path = pathlib.Path(folder) / 'a'\nASKED = ['od', '-N4', '/dev/urandom']\n"
    found = flows(tmp_path, f"import pathlib\n{PREPARED}{made}{text}\nb = str(a)\n")
    [first] = found.nodes[-1].origins

    assert first.statement.text.startswith(begins)
    assert origin_of(first, found.traits(first)).source is source


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cause_is_what_its_first_statement_reads(name: str, tmp_path: Path) -> None:
    source, use, expected = PROGRAMS[name]
    found = flows(tmp_path, f"{PREPARED}{source}\n{use}\n")
    last = (PREPARED + source).count("\n") + 1

    used = [each for each in found.tainted if each.statement.text == use]
    assert used, "the difference did not come"
    (origin,) = used[-1].origins
    assert origin.statement.line == last
    assert origin_of(origin, found.traits(origin)).source is expected
    nodes, gaps = slice_of(found, origin, used[-1])
    assert (nodes[0], nodes[-1]) == (origin, used[-1])
    assert not gaps or expected is Source.DRAWN_NAME or "uuid" in source


HELD_WEAKLY = """\
class View:
    def __init__(self, number):
        self.number, self.own = number, self
kept = {}
kept["a"] = View({})
time.sleep(0)
a = {}
b = 0 if a is None else a.number
"""


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("weakref.WeakValueDictionary()", "3", "kept.get('a')"), 7),
        (("weakref.WeakValueDictionary()", "3", "next(iter(kept.values()), None)"), 7),
        (("weakref.WeakValueDictionary()", "time.time()", "kept.get('a')"), 5),
        (("dict()", "3", "kept.get('a')"), None),
    ],
)
def test_what_is_held_weakly_is_there_until_it_is_collected(
    given: tuple[str, str, str], line: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [lambda: None, gc.collect if line != 5 else lambda: None]
    monkeypatch.setattr("time.sleep", lambda _: runs.pop(0)())
    gc.disable()
    try:
        found = flows(tmp_path, PREPARED + HELD_WEAKLY.format(*given))
    finally:
        gc.enable()
    before = PREPARED.count("\n")

    used = [each for each in found.tainted if each.statement.text.startswith("b = ")]
    (origin,) = used[-1].origins if line else (None,)
    assert bool(used) == bool(line)
    if origin is not None and line is not None:
        assert origin.statement.line == before + line
        cause = origin_of(origin, found.traits(origin))
        assert (cause.source is Source.COLLECTION) is (line == 7)
        assert line == 5 or not cause.is_sure


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_model_in_shared_memory_is_written_by_others(*, is_shared: bool) -> None:
    model, batch = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 1)), torch.ones(3, 2)
    if is_shared:
        model.share_memory()
    batch.share_memory_()  # as a loader's workers hand it over
    assert bool(traits_of([model]) & IN_MEMORY) is is_shared
    assert bool(traits_of([[model[1].weight]]) & IN_MEMORY) is is_shared
    assert not traits_of([batch, model[0]]) & IN_MEMORY
    ran = Ran(1, 1, 2, (3, 5), (), (7,), NONE, NONE, "", [])
    call = Call("a.py", "f", 1, (), 1, 1, (), 0)
    node = Node(ran, ran, statements("a = model(x)")[1], Calling(call, call, "Process-1", None), 2)
    found = origin_of(node, Traits(traits_of([model, batch])))
    told = (Source.THREAD_ORDER, False) if is_shared else (Source.NOT_SHOWN, True)
    assert (found.source, found.is_sure) == told


MAPPED = """\
import mmap, time
import numpy as np
{}
time.sleep(0)
a = float(board[0])
"""


def test_a_tensor_that_the_program_shares_is_told_where_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(_: float) -> None:
        sys._getframe(1).f_globals["board"].fill_(next(numbers))

    numbers = iter((3.5, 4.5))
    monkeypatch.setattr("time.sleep", write)
    made = "import torch\nboard = torch.zeros(8).share_memory_()"
    found = flows(tmp_path, MAPPED.format(made))
    (origin,) = next(each for each in found.tainted if each.statement.line == 6).origins
    assert origin.statement.line == 6
    assert origin_of(origin, found.traits(origin)).source is Source.READINESS


def test_coroutines_that_go_on_in_another_order_are_told_where_they_wait(tmp_path: Path) -> None:
    text = """\
    import asyncio
    events, rows = [asyncio.Event() for _ in range(3)], []
    async def read(number):
        await events[number].wait()
        rows.append(number * 1000 + 7000)
    async def run():
        tasks = [asyncio.create_task(read(number)) for number in range(3)]
        await asyncio.sleep(0)
        for number in ORDER([0, 1, 2]):
            events[number].set()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return [each + 1 for each in rows]
    a = asyncio.run(run())
    """
    orders = (list, lambda each: each[::-1])
    found = flows(tmp_path, textwrap.dedent(text), ORDER=orders)
    (*_, last) = (each for each in found.tainted if each.statement.line == 13)
    assert {each.statement.line for each in last.origins} <= {4, 9}
    (*_, added) = (each for each in found.tainted if each.statement.line == 5)
    (origin,) = added.origins
    assert origin_of(origin, found.traits(origin)).source is Source.READINESS


@pytest.mark.parametrize(
    ("made", "is_shared"),
    [("board = np.frombuffer(mmap.mmap(-1, 64))", True), ("board = np.zeros(8)", False)],
)
def test_what_others_may_write_meanwhile_is_told_where_it_is_read(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_shared: bool
) -> None:
    def write(_: float) -> None:
        frame = sys._getframe(1)
        frame.f_globals["board"][0] = next(numbers)

    numbers = iter((3.5, 4.5))
    monkeypatch.setattr("time.sleep", write)
    found = flows(tmp_path, MAPPED.format(made))
    (origin,) = next(each for each in found.tainted if each.statement.line == 5).origins
    assert origin.statement.line == (5 if is_shared else 3)
    told = origin_of(origin, found.traits(origin)).source
    assert told is (Source.READINESS if is_shared else Source.NOT_SHOWN)


WITH_TIMES = {
    "a file": (
        "with gzip.open('rows.gz', 'wb') as file:",
        "file.write(b'3')",
        "a = pathlib.Path('rows.gz').read_bytes()",
    ),
    "memory": (
        "with zipfile.ZipFile(held, 'w') as file:",
        "file.writestr('3', '4')",
        "a = held.getvalue()",
    ),
    "bytes": ("if True:", "a = gzip.compress(b'3')", "b = a[:8]"),
}


@pytest.mark.parametrize("name", WITH_TIMES)
def test_a_time_that_a_library_writes_is_a_clock(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(1_700_000_000, 1_800_000_000, 1000))
    now = SimpleNamespace(time=partial(next, times), localtime=time.localtime)
    monkeypatch.setattr("gzip.time", now)
    monkeypatch.setattr("zipfile.time", now)
    monkeypatch.chdir(tmp_path)
    made, put, used = WITH_TIMES[name]
    text = f"import gzip, io, pathlib, zipfile\nheld = io.BytesIO()\n{made}\n    {put}\n{used}\n"
    found = flows(tmp_path, text)
    (origin,) = next(each for each in found.tainted if each.statement.line == 5).origins
    assert origin.statement.line == (4 if name == "bytes" else 3)
    assert origin_of(origin, found.traits(origin)).source is Source.CLOCK
    fixed = statements("a = gzip.compress(b'3', mtime=0)")[1], statements("gzip.open(a)")[1]
    assert not any(map(stamps, fixed))


LOGGED = """\
import logging, pathlib
handler = logging.FileHandler('rows.log', mode='w')
handler.setFormatter(logging.Formatter('%(asctime)s %(message)s'))
log = logging.Logger('rows')
log.addHandler(handler)
log.warning('begun')
handler.close()
a = pathlib.Path('rows.log').read_bytes()
"""
LOGGED_BY_DEFAULT = """\
import logging
path = 'rows.log'
logging.basicConfig(filename='rows.log', filemode='w', format='%(asctime)s')
logging.warning('begun')
logging.root.handlers.pop().close()
with open(path) as file:
    a = file.read()
"""


@pytest.mark.parametrize("text", [LOGGED, LOGGED_BY_DEFAULT], ids=["a handler", "by default"])
def test_the_time_in_a_log_is_told_where_its_format_is_given(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    times = ["12:00:01", "12:00:02"]
    monkeypatch.setattr("logging.root", logging.RootLogger(logging.INFO))
    monkeypatch.setattr("logging.Formatter.formatTime", lambda *_: times.pop())
    found = flows(tmp_path, text)
    last = text.count("\n")
    (origin,) = next(each for each in found.tainted if each.statement.line == last).origins
    assert origin.statement.line == 3
    assert origin_of(origin, found.traits(origin)).source is Source.CLOCK


@pytest.mark.parametrize(
    "started",
    [
        "os.system('od -N4 /dev/urandom > rows.txt')",
        "subprocess.run(['dd', 'if=/dev/urandom', 'of=' + NAME, 'count=1'], cwd=folder)",
    ],
)
def test_what_another_program_writes_is_told_where_it_is_started(
    started: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"""\
    import os, pathlib, subprocess
    NAME, folder = "rows.txt", pathlib.Path("{tmp_path}")
    {started}
    a = (folder / "rows.txt").read_bytes()
    """
    found = flows(tmp_path, textwrap.dedent(text))
    (origin,) = next(each for each in found.tainted if each.statement.line == 4).origins
    assert origin.statement.line == 3
    assert origin_of(origin, found.traits(origin)).source is Source.PROGRAM


@pytest.mark.parametrize(
    ("read", "line", "source"),
    [
        ("pathlib.Path(NAME % 'train').read_text()", 4, Source.PROGRAM),
        ("np.loadtxt(NAME % 'train')", 4, Source.PROGRAM),
        ("pathlib.Path('/proc/self/schedstat').read_text()", 6, Source.LOAD),
        ("device.read(4)", 6, Source.ENTROPY),
    ],
)
def test_a_file_that_nothing_wrote_may_be_of_a_program_that_was_started(
    read: str, line: int, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "split.sh").write_text(
        "od -N4 -An -tu4 /dev/urandom > part-train", encoding="utf-8"
    )
    text = f"""\
    import os, pathlib, numpy as np
    NAME = "part-%s"
    device = open("/dev/urandom", "rb", buffering=0)
    os.system("sh split.sh")
    with device:
        a = {read}
    """
    found = flows(tmp_path, textwrap.dedent(text))
    (origin,) = next(each for each in found.tainted if each.statement.line == 6).origins
    assert origin.statement.line == line
    assert origin_of(origin, found.traits(origin)).source is source


@pytest.mark.parametrize(
    ("started", "waits", "source"),
    [
        ("job = {}", "", Source.READINESS),
        ("with {}:\n        pass", "", Source.PROGRAM),
        ("job = {}", "job.wait()", Source.PROGRAM),
        ("{}.communicate()", "", Source.PROGRAM),
    ],
)
def test_a_program_that_nothing_waits_for_may_still_write(
    started: str, waits: str, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    began = started.format("subprocess.Popen('od -N4 /dev/urandom > rows.txt', shell=True)")
    text = f"""\
    import os, pathlib, subprocess, time; pathlib.Path("rows.txt").unlink(missing_ok=True)
    {began}
    {waits}
    while not os.path.exists("rows.txt") or not os.path.getsize("rows.txt"): time.sleep(0.01)
    a = pathlib.Path("rows.txt").read_bytes()
    if "job" in globals(): job.wait()
    """
    found = flows(tmp_path, textwrap.dedent(text))
    (origin,) = next(
        each for each in found.tainted if each.statement.text.startswith("a =")
    ).origins
    told = origin_of(origin, found.traits(origin))
    assert (origin.statement.line, told.source) == (2, source)
    line = suspect(origin, found.traits(origin))
    is_open = source is Source.READINESS
    assert ("had written more or less in each run: nothing waits for it" in line.message) is is_open
    assert ADVICE[line.fits].startswith("Wait for it before its file is read") is is_open


BESIDE = """\
import multiprocessing, os, time
fork = multiprocessing.get_context("fork")
def write(name):
    with open(name, "w") as file:
        for row in range(20):
            print(row, file=file, flush=True)
            time.sleep(0.02)
names = ["rows.txt", "more.txt"][:COUNT]
for name in names:
    os.path.exists(name) and os.remove(name)
jobs = [fork.Process(target=write, args=(name,)) for name in names]
for job in jobs: job.start()
"""


def test_a_process_may_still_write_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"{BESIDE}time.sleep(SECONDS())\nwith open('rows.txt') as file:\n    a = file.read()\n"
    seconds = (partial(float, 0.1), partial(float, 0.25))
    found = flows(tmp_path, f"{text}jobs[0].join()\n", SECONDS=seconds, COUNT=(1, 1))
    (origin,) = next(
        each for each in found.tainted if each.statement.text.startswith("a =")
    ).origins
    told = origin_of(origin, found.traits(origin))
    assert origin.statement.text.startswith(("with", "print"))
    assert (told.source, told.fits) == (Source.READINESS, UNFINISHED)


@pytest.mark.parametrize(
    ("count", "picks", "source"),
    [
        (2, "a = max(names, key=os.path.getmtime)", Source.THREAD_ORDER),
        (2, "a = max(names, key=lambda e: os.stat(e).st_mtime_ns)", Source.THREAD_ORDER),
        (2, "a = os.stat(names[0]).st_mtime_ns", Source.CLOCK),
        (1, "a = max(names, key=lambda e: os.stat(e).st_mtime_ns)", Source.CLOCK),
    ],
)
def test_the_latest_of_files_is_that_of_the_process_that_ends_last(
    count: int, picks: str, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"{BESIDE.replace('range(20)', 'range(2)')}for job in jobs: job.join()\n{picks}\n"
    found = flows(tmp_path, text, COUNT=(count, count))
    node = next(each for each in found.nodes if tells_file_time(each.statement))
    assert origin_of(node, found.traits(node)).source is source


def test_a_seed_is_followed_through_the_generator(tmp_path: Path) -> None:
    text = "import time, torch\nseed = time.time_ns()\ntorch.manual_seed(seed)\na = torch.rand(3)\n"
    found = flows(tmp_path, text)

    drawn = next(each for each in found.tainted if each.statement.line == 4)
    assert {each.statement.line for each in drawn.origins} == {2}
    seeded = next(each for each in found.nodes if each.statement.line == 3)
    assert seeded in slice_of(found, next(iter(drawn.origins)), drawn).nodes


def test_a_seed_comes_before_other_parts_of_what_holds_it(tmp_path: Path) -> None:
    text = """\
    import time, torch
    class Config:
        def __init__(self):
            self.size = 3
            self.seed = time.time_ns()
    class Net:
        def __init__(self, config):
            self.weight = torch.rand(config.size)
    def make():
        config = Config()
        return config
    config = make()
    torch.manual_seed(config.seed)
    net = Net(config)
    """
    found = flows(tmp_path, textwrap.dedent(text))
    drawn = next(each for each in found.tainted if each.statement.line == 8)
    nodes = slice_of(found, next(iter(drawn.origins)), drawn).nodes
    assert [each.statement.line for each in nodes][-2:] == [13, 8]


def test_parts_of_a_module_are_told_apart(tmp_path: Path) -> None:
    text = """\
    import torch
    parts = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    chosen = parts[NUMBER]
    found = chosen.weight
    """
    found = flows(tmp_path, textwrap.dedent(text), NUMBER=(0, 2))

    assert 3 in [each.statement.line for each in found.tainted]


def test_names_of_sorted_files_come_from_what_drew_them(tmp_path: Path) -> None:
    text = """\
    import os, tempfile
    folder = FOLDER
    for number in range(8):
        handle, name = tempfile.mkstemp(dir=folder, text=True)
        os.write(handle, str(number).encode())
        os.close(handle)
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            number = file.read()
    """
    folders = [tmp_path / each for each in ("one", "two")]
    for each in folders:
        each.mkdir()
    found = flows(tmp_path, textwrap.dedent(text), FOLDER=(str(folders[0]), str(folders[0])))

    listed = [each for each in found.tainted if each.statement.line == 7]
    assert {each.statement.line for node in listed for each in node.origins} <= {2, 4}


@pytest.mark.parametrize(
    ("begun", "change"),
    [
        ("1.0", "total = total * 0.5 + n"),
        ("{}", "given = total.setdefault(n, len(total))"),
        ("[0.5]", "total.insert(1, n)"),
    ],
)
def test_what_threads_change_together_is_named(begun: str, change: str, tmp_path: Path) -> None:
    text = f"""\
    import threading
    total = {begun}
    def add(n):
        global total
        {change}
    threads = [threading.Thread(target=add, args=(n,)) for n in (0.1, 0.7, 0.9)]
    for thread in ORDER(threads):
        thread.start()
        thread.join()
    a = str(total)
    """
    found = flows(tmp_path, textwrap.dedent(text), ORDER=(list, lambda each: each[::-1]))

    node = next(each for each in found.nodes if each.statement.line == 5)
    assert origin_of(node, found.traits(node)) == Origin(
        Source.THREAD_ORDER,
        f"`{change}` runs in a thread, beside others",
        fits=TOGETHER,
    )


@pytest.mark.parametrize(
    ("text", "fits", "says"),
    [
        ("a = [*pool.imap_unordered(f, [1])]", Source.THREAD_ORDER.value, "imap_unordered"),
        ("a = dist.recv(held)", ANY_RANK, "src=rank"),
        ("a = server.getsockname()", Source.ENTROPY.value, "a free port"),
        ("a = barrier.wait() == 0", FIRST, "number == 0"),
        ("a = lock.acquire(blocking=False)", FIRST, "number == 0"),
        ("a = work.is_completed()", Source.READINESS.value, "at a step that is fixed"),
        ("a = result.ready()", Source.READINESS.value, "at a step that is fixed"),
        ("a = held.mean()", TOGETHER, "keep its own part"),
        ("a = dist.reduce(held, 0, async_op=True)", BEGUN, "Call work.wait()"),
        ("a = db.execute('SELECT x FROM t ORDER BY random()')", IN_A_QUERY, "a query"),
        ("a = counter.value", AMONG_PROCESSES, "barrier"),
        ("counter.value += 1", TOGETHER, "keep its own part"),
        ("a = os.environ['MASTER_PORT']", Source.VARIABLE.value, "what starts a job sets its port"),
    ],
)
def test_what_to_do_follows_how_it_comes_about(text: str, fits: str, says: str) -> None:
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statements(text)[1], Calling(call, call, "main", None), 0)
    read = {TOGETHER: IN_MEMORY, AMONG_PROCESSES: SHARED}.get(fits, 0)
    assert suspect(node, Traits(read=read)).fits == fits
    others = {"imap_unordered", "src=rank", "keep its own part", "Call work.wait()", "a query"}
    assert says in ADVICE[fits]
    assert not any(each in ADVICE[fits] for each in others - {says})


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("a = hex(n) + SUFFIX", "`SUFFIX` differs as well, and where that comes from is not known"),
        ("a = next(given)", f"{RAN}; what `given` holds is not known"),
        ("a = RESULT(n)", RAN),
    ],
)
def test_of_a_line_that_explains_nothing_it_is_told_what_is_known(
    text: str, fits: str, tmp_path: Path
) -> None:
    given = {"SUFFIX": ("some", "other"), "RESULT": (lambda n: n + 1001, lambda n: n + 2002)}
    found = flows(tmp_path, f"n = 3\ngiven = iter([SUFFIX])\n{text}\n", **given)
    node = found.nodes[-1]

    assert suspect(node, found.traits(node)).fits == fits


def test_what_is_found_in_a_folder_is_told_where_it_is_gone_through(tmp_path: Path) -> None:
    text = """
    import os
    with os.scandir() as held:
        a = sum(1 for _ in held)
    names = os.listdir()
    b = 3
    """
    found = flows(tmp_path, textwrap.dedent(text))
    found.left = [Place(str(tmp_path / "program.py"), line, "") for line in (3, 5)]
    nodes = {each.statement.line: each for each in found.nodes}
    sources = {line: origin_of(each, found.traits(each)).source for line, each in nodes.items()}
    assert {line for line, source in sources.items() if source is Source.LEFT} == {3, 4, 5}
    listed = origin_of(nodes[5], found.traits(nodes[5]), "listings")
    assert listed.source is Source.LISTING


@pytest.mark.parametrize(
    ("made", "fits"),
    [
        ("random.Random(5)", FROM_A_THREAD),
        ("numpy.random.default_rng(5)", FROM_A_THREAD),
        ("Random()", TOGETHER),  # of the program's own, whatever its name
    ],
)
def test_what_threads_draw_from_one_generator_is_told(made: str, fits: str, tmp_path: Path) -> None:
    text = f"""
    import random, threading
    import numpy
    class Random:
        drawn = 0
        def random(self):
            self.drawn += 1
            return self.drawn
    held, got = {made}, {{}}
    def take(name):
        got[name] = held.random()
    threads = [threading.Thread(target=take, args=(each,)) for each in "abc"]
    for thread in ORDER(threads):
        thread.start()
        thread.join()
    a = [got[each] for each in "abc"]
    """
    found = flows(tmp_path, textwrap.dedent(text), ORDER=(list, lambda each: each[::-1]))

    node = next(each for each in found.nodes if each.statement.line == 11)
    told = suspect(node, found.traits(node))
    assert told.fits == fits
    assert ("draws in a thread" in told.message) == (fits == FROM_A_THREAD)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = me", Origin(Source.NOT_SHOWN, "a = me")),
        ("a = me.ident % 7", Origin(Source.PROCESS, "me.ident", is_sure=False)),
        ("a = ask().pid", Origin(Source.PROCESS, "ask().pid")),
        ("a = ask().name", Origin(Source.NOT_SHOWN, "a = ask().name")),
        ("a = ask()", Origin(Source.NOT_SHOWN, "a = ask()")),
        ("a = os.getpid()", Origin(Source.PROCESS, "os.getpid()", 3)),
    ],
)
def test_a_process_is_no_number_and_its_number_is_told_where_it_is_read(
    text: str, told: Origin, tmp_path: Path
) -> None:
    head = "import os\nfrom multiprocessing import current_process as ask; me = ask()\n"
    found = flows(tmp_path, head + text)
    node = next(each for each in found.nodes if each.statement.line == 3)
    for seen in (Traits(), Traits(gave=ASKED)):  # what is made of it may ask the system as well
        found_there = origin_of(node, seen)
        is_other = seen.gave and told.source is Source.NOT_SHOWN
        assert found_there.source is Source.ENTROPY if is_other else found_there == told
    assert varies(node.statement) == (told.source is Source.PROCESS and told.is_sure)


@pytest.mark.parametrize(
    ("seed", "told"), [("None", Source.ENTROPY), ("int(os.urandom(4).hex(), 16)", Source.NOT_SHOWN)]
)
def test_what_is_seeded_otherwise_is_no_generator_without_a_seed(
    seed: str, told: Source, tmp_path: Path
) -> None:
    text = f"import os, numpy as np\nseed = {seed}\na = np.random.default_rng(seed)\n"
    found = flows(tmp_path, text)
    node = next(each for each in found.nodes if each.statement.line == 3)
    assert origin_of(node, Traits()).source is told


def test_a_block_is_told_by_its_head(tmp_path: Path) -> None:
    text = "for each in sorted({3, 1}):\n    if each:\n        a = each\n"
    found = flows(tmp_path, text)

    told = {each.statement.line: each.statement.text for each in found.nodes}
    assert told == {1: "for each in sorted({3, 1}):", 2: "if each:", 3: "a = each"}


def known(
    cause: Cause = Cause.BATCH_CONTENT, generators: tuple[str, ...] = (), **told: Any
) -> Known:
    why = "It holds something else. Every recorded generator agrees; more."
    cause = Cause.GENERATOR if generators else cause
    difference = Difference(0, 3, "training", None, None, cause, why, generators=generators)
    given = {"operator": None, "circumstance": "", "suspects": (), "shown": None, **told}
    return Known(difference, **given)


LINE = Link("train.py", 3, "a = time.time()")


def shown(source: Source, *, is_whole: bool = True) -> Shown:
    return Shown(source, "time.time()", (LINE,), is_whole)


def kernel(row: str | None) -> Culprit:
    return Culprit(Operator("aten.index_put_.default", row=row), Cause.KERNEL, "")


def drawing() -> Culprit:
    return Culprit(Operator("aten.uniform_.default"), Cause.GENERATOR, "")


SEEDED = shown(Source.NOT_SHOWN)._replace(
    slice=(LINE, Link("train.py", 4, "torch.manual_seed(40 + a)"))
)
CONFIDENCES = {
    "shown, and each step of it": (known(shown=shown(Source.CLOCK)), "CLOCK", "certain"),
    "shown, with a gap": (known(shown=shown(Source.CLOCK, is_whole=False)), "CLOCK", "likely"),
    "another circumstance": (
        known(shown=shown(Source.OBJECT_ADDRESS), circumstance="hashes"),
        "OBJECT_ADDRESS",
        "likely",
    ),
    "a line that tells nothing": (known(shown=shown(Source.NOT_SHOWN)), "NOT_SHOWN", "possible"),
    "a line, and a circumstance": (
        known(shown=shown(Source.NOT_SHOWN), circumstance="memory"),
        "UNWRITTEN_MEMORY",
        "likely",
    ),
    "a line, and the linter on the way": (
        known(
            shown=shown(Source.NOT_SHOWN),
            suspects=(
                Suspect("", "gave something else", "other.py", 9),
                Suspect("DET205", "as_completed()", "train.py", 3),
            ),
        ),
        "THREAD_ORDER",
        "possible",
    ),
    "a line, and the linter on what made the thing it uses": (
        known(
            shown=shown(Source.NOT_SHOWN),
            suspects=(Suspect("DET205", "in_order=False", "/train.py", 2),),
            makers=(("/train.py", range(1, 3)),),
        ),
        "THREAD_ORDER",
        "likely",
    ),
    "a line, and the linter on another one": (
        known(
            shown=shown(Source.NOT_SHOWN),
            suspects=(Suspect("DET205", "in_order=False", "/train.py", 7),),
            makers=(("/train.py", range(1, 3)),),
        ),
        "NOT_SHOWN",
        "possible",
    ),
    "a line, and the linter on what the circumstance makes differ": (
        known(
            shown=shown(Source.NOT_SHOWN),
            circumstance="hashes",
            suspects=(Suspect("DET204", "a set", "/train.py", 2),),
        ),
        "STRING_HASH",
        "likely",
    ),
    "a line, and a generator of the process": (
        known(shown=shown(Source.NOT_SHOWN), generators=("numpy",)),
        "GENERATOR",
        "possible",
    ),
    "a line, and a generator that was seeded by something else": (
        known(shown=shown(Source.NOT_SHOWN), generators=("made at train.py:3",)),
        "NOT_SHOWN",
        "possible",
    ),
    "a line, and what is seeded with a number that it makes": (
        known(shown=SEEDED, generators=("torch.cpu",), operator=drawing()),
        "NOT_SHOWN",
        "possible",
    ),
    "a line, and what is seeded by itself": (
        known(shown=shown(Source.NOT_SHOWN), generators=("torch.cpu",), operator=drawing()),
        "GENERATOR",
        "certain",
    ),
    "a known operator": (known(operator=kernel("index_put")), "KERNEL", "certain"),
    "an operator": (known(operator=kernel(None)), "KERNEL", "likely"),
    "a circumstance": (known(circumstance="listings"), "LISTING", "likely"),
    "the linter alone": (
        known(suspects=(Suspect("DET203", "os.listdir", "train.py", 3),)),
        "LISTING",
        "possible",
    ),
    "the linter alone, of a set": (
        known(suspects=(Suspect("DET204", "a set", "train.py", 3),)),
        "STRING_HASH",
        "possible",
    ),
    "the linter alone, of a set, where hashes agree": (
        known(suspects=(Suspect("DET204", "a set", "train.py", 3),), circumstance="none"),
        "OBJECT_ADDRESS",
        "possible",
    ),
    "the linter alone, where listings agree": (
        known(suspects=(Suspect("DET203", "a list", "train.py", 3),), circumstance="none"),
        "NOT_SHOWN",
        "possible",
    ),
    "the text alone": (
        known(suspects=(Suspect("", "id() is", "train.py", 3, "addresses of objects"),)),
        "OBJECT_ADDRESS",
        "possible",
    ),
    "nothing": (known(circumstance="none"), "NOT_SHOWN", "possible"),
}


@pytest.mark.parametrize("name", CONFIDENCES)
def test_how_sure_a_cause_is(name: str) -> None:
    given, source, confidence = CONFIDENCES[name]
    found = explanation(given)

    assert (found.source.name, found.confidence.value) == (source, confidence)
    assert not (found.excluded and found.confidence is Confidence.CERTAIN)


def test_what_the_linter_says_of_another_line_is_told_before_the_first_of_the_slice() -> None:
    given = CONFIDENCES["a line, and the linter on what the circumstance makes differ"][0]
    links = explanation(given).slice
    assert [(each.line, each.follows) for each in links[:2]] == [(2, True), (LINE.line, False)]


@pytest.mark.parametrize(("cause", "is_tested"), [(None, False), (Cause.OUTSIDE, True)])
def test_kernels_are_excluded_only_where_they_were_looked_at(
    cause: Cause | None, *, is_tested: bool
) -> None:
    operator = Culprit(Operator("aten.add.Tensor"), cause, "") if cause else None
    found = explanation(known(shown=shown(Source.NOT_SHOWN), operator=operator))

    assert any(each.startswith("kernels") for each in found.excluded) is is_tested


def test_a_cause_in_words_and_in_json() -> None:
    found = Explanation(Source.CLOCK, Confidence.CERTAIN, "time.time()", (LINE,))
    told = as_json(Comparison(None, ("run 1", "run 2"), explanation=found))["cause"]

    assert found.words == "a clock: time.time() (certain)"
    assert (told["source"], told["confidence"]) == ("CLOCK", "certain")
    link = {"file": "train.py", "line": 3, "text": "a = time.time()", "follows": True}
    assert told["slice"] == [link]


def test_a_long_slice_is_shortened() -> None:
    links = [Link("/a/train.py", line, "x = y") for line in range(9)]
    told = list(report._slice(links))

    assert told[:2] == ["train.py:0  x = y", "train.py:1  x = y"]
    assert (len(told), told[3], told[-1]) == (7, "…", "train.py:8  x = y")


@pytest.mark.parametrize(("length", "at"), [(3, 1), (6, 1), (9, 1), (9, 6)])
def test_a_gap_in_a_slice_is_shown(length: int, at: int) -> None:
    links = [Link("/a/train.py", line, "x = y") for line in range(length)]
    links[at] = links[at]._replace(follows=False)
    told = list(report._slice(links))

    assert told[at : at + 2] == ["…", f"train.py:{at}  x = y"] if at < 3 else told[3] == "…"
    assert told.count("…") == (2 if length > 6 and at < 3 else 1)


def test_what_a_call_reads() -> None:
    called = ("time.time", "datetime.datetime.now", "os.getpid", "id", "self.id", "append")
    found = [source_of(each) for each in called]
    measured = {source_of(each) for each in ("psutil.cpu_stats", "process.cpu_percent")}

    assert found == [Source.CLOCK] * 2 + [Source.PROCESS, Source.OBJECT_ADDRESS, None, None]
    assert measured == {Source.LOAD}


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("with open('/proc/self/statm') as file:", Source.LOAD),
        ("name = f\"{host}/{os.readlink('/proc/self')}\"", Source.PROCESS),
        ("a = open('/dev/urandom', 'rb').read(4)", Source.ENTROPY),
        ("a = open('/proceedings/a.txt').read()", Source.NOT_SHOWN),
        ("a = np.divide(b, c, where=c > 0)", Source.UNWRITTEN_MEMORY),
        ("a = np.divide(b, c, out=d, where=c > 0)", Source.NOT_SHOWN),
        ("a = np.mean(b, where=c)", Source.NOT_SHOWN),
        ("a = resource.getrusage(0).ru_maxrss", Source.LOAD),
        ("a = os.sysconf('SC_AVPHYS_PAGES') // 1024", Source.LOAD),
        ("item = self.queue.get(timeout=self.patience)", Source.READINESS),
        ("thread.join(0.5)", Source.READINESS),
        ("a = ready.get(timeout=None)", Source.NOT_SHOWN),
        ("a, b, c = select.select(d, [], [])", Source.THREAD_ORDER),
        ("a, b, c = select.select(d, [], [], None)", Source.THREAD_ORDER),
        ("a, b, c = select.select(d, [], [], self.patience)", Source.READINESS),
        ("a = selector.select(0)", Source.READINESS),
        ("a = selector.select(timeout=1)", Source.READINESS),
        ("a = poller.poll(10)", Source.READINESS),
        ("a = x.select(0, 1)", Source.NOT_SHOWN),
        ("a = table.select('b')", Source.NOT_SHOWN),
        ("a = multiprocessing.connection.wait(ends, 0)", Source.READINESS),
        ("a = pending.result(timeout=self.patience)", Source.READINESS),
        ("a = pending.result(self.patience)", Source.READINESS),
        ("a = pending.result()", Source.NOT_SHOWN),
        ("a = items.get(True, limit)", Source.READINESS),
        ("a = items.get(block=False)", Source.READINESS),
        ("a = items.get(True)", Source.NOT_SHOWN),
        ("a = table.get(key, limit)", Source.NOT_SHOWN),
        ("a = separator.join(names)", Source.NOT_SHOWN),
        ("random.seed()", Source.ENTROPY),
        ("a = self.generator.seed() % 100", Source.ENTROPY),
        ("a = zlib.crc32(f'{socket.gethostname()}-{os.getpid()}'.encode())", Source.PROCESS),
        ("a = time.strftime('%H')", Source.CLOCK),
        ("a = await finished", Source.READINESS),
        ("async with gate:", Source.READINESS),
        ("a = requests.get(url, timeout=3)", Source.PROGRAM),
        ("a = ', '.join(names)", Source.NOT_SHOWN),
        ("a = f'{name}@{path.stat().st_mtime_ns}'", Source.CLOCK),
        ("a = max(paths, key=os.path.getmtime)", Source.CLOCK),
        ("a = path.stat().st_size", Source.NOT_SHOWN),
        ("work = Parallel(2, return_as='generator_unordered')", Source.THREAD_ORDER),
        ("work = Parallel(2, return_as='generator')", Source.NOT_SHOWN),
        ("work = dist.all_reduce(a, async_op=True)", Source.READINESS),
        ("work = dist.all_reduce(a, async_op=False)", Source.NOT_SHOWN),
        ("n = gc.collect()", Source.COLLECTION),
    ],
)
def test_what_the_system_tells_and_what_waits(line: str, source: Source) -> None:
    text = f"{line}\n    pass\n" if line.endswith(":") else line
    statement = statements(text)[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)

    assert origin_of(node, Traits()).source is source


# What a person who reads the page alone expects of each of its words.
ON_THE_PAGE = {
    "as_completed": ("for job in as_completed(jobs):", 0, Source.THREAD_ORDER),
    "imap_unordered": ("for a in pool.imap_unordered(f, b):", 0, Source.THREAD_ORDER),
    "generator_unordered": (
        "a = Parallel(2, return_as='generator_unordered')",
        0,
        Source.THREAD_ORDER,
    ),
    "connection.wait": ("for a in connection.wait(ends):", 0, Source.THREAD_ORDER),
    "select.select": ("a, b, c = select.select(d, [], [])", 0, Source.THREAD_ORDER),
    "`select`": ("a, b, c = select.select(d, [], [], 0)", 0, Source.READINESS),
    "in_order=False": ("a = DataLoader(b, in_order=False)", 0, Source.THREAD_ORDER),
    "a queue that several fill": ("a = ready.get()", HANDED, Source.THREAD_ORDER),
    "done()": ("if job.done():", 0, Source.READINESS),
    "is_alive()": ("if thread.is_alive():", 0, Source.READINESS),
    "is_set()": ("if ready.is_set():", 0, Source.READINESS),
    "qsize()": ("a = ready.qsize()", HANDED, Source.READINESS),
    "`get`": ("a = ready.get(timeout=1)", HANDED, Source.READINESS),
    "`join`": ("thread.join(timeout=1)", 0, Source.READINESS),
    "`result`": ("a = job.result(timeout=1)", 0, Source.READINESS),
    "await": ("a = await job", 0, Source.READINESS),
    "async_op=True": ("dist.all_reduce(a, async_op=True)", 0, Source.READINESS),
    "count together": ("a = count.value", SHARED, Source.READINESS),
    "what one thread alone writes": ("a[at] = b", ALONE, Source.READINESS),
}


@pytest.mark.parametrize("word", ON_THE_PAGE)
def test_the_page_says_which_is_an_order_and_which_is_asked_at_some_moment(word: str) -> None:
    line, read, source = ON_THE_PAGE[word]
    statement = statements(f"{line}\n    pass\n" if line.endswith(":") else line)[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    role = "main:writer" if read == ALONE else "main"
    node = Node(None, None, statement, Calling(call, call, role, None), 0)
    page = Path(__file__).parents[2] / "docs" / "verify-answer.md"
    head = "| `THREAD_ORDER` | `READINESS` |\n"
    table = page.read_text().partition(head)[2].partition("\n\n")[0]
    cells = [row.split("|")[1 + (source is Source.READINESS)] for row in table.splitlines()]

    assert origin_of(node, Traits(read)).source is source
    assert any(word in each for each in cells)


def test_the_name_of_the_machine_is_told_last() -> None:
    statement = statements("a = f'{socket.gethostname()}-{os.getpid()}'")[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)

    assert origin_of(node, Traits()).what == "os.getpid()"
    assert suspect(node, Traits()).message.endswith(": os.getpid()")


def test_what_a_library_asks_the_system_for_comes_after_an_order_of_completion() -> None:
    statement = statements("work = Parallel(2, return_as='generator_unordered')")[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)

    assert origin_of(node, Traits(gave=ASKED)).source is Source.THREAD_ORDER


def test_a_draw_from_an_equal_state_is_no_unseeded_generator(tmp_path: Path) -> None:
    text = """\
import random
random.seed(0)
a = [random.random() for _ in range(SIZE)]
"""
    found = flows(tmp_path, text, SIZE=(3, 4))
    (drawn,) = (each for each in found.tainted if each.statement.line == 3)

    assert origin_of(drawn, found.traits(drawn)).source is Source.NOT_SHOWN


def test_threads_that_write_in_place_are_told(tmp_path: Path) -> None:
    text = """\
import threading, torch
table = torch.ones(2)
def work(n):
    table.mul_(n).add_(1)
threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3)]
for thread in ORDER(threads):
    thread.start()
    thread.join()
a = table + 0
"""
    found = flows(tmp_path, text, ORDER=(list, lambda each: each[::-1]))
    written = next(each for each in found.tainted if each.statement.line == 4)

    assert origin_of(written, found.traits(written)).source is Source.THREAD_ORDER


WRITERS = """\
import threading, time
held = [0] * 200
def work(first):
    for at in range(first, 200, 2):
        held[at] = at * 1000 + 999
        {pause}
threads = [threading.Thread(target=work, args=(first,)) for first in {firsts}]
for thread in threads:
    thread.start()
time.sleep(PAUSE)
{meanwhile}
a = list(held)
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize(
    ("firsts", "meanwhile", "source"),
    [
        ("(0,)", "", Source.READINESS),
        ("(0, 1)", "", Source.THREAD_ORDER),
        ("(0,)", "held[1] = 3", Source.THREAD_ORDER),
    ],
)
def test_what_one_thread_alone_writes_hangs_on_how_far_it_has_come(
    firsts: str, meanwhile: str, source: Source, tmp_path: Path
) -> None:
    text = WRITERS.format(firsts=firsts, meanwhile=meanwhile, pause="time.sleep(0.001)")
    found = flows(tmp_path, text, PAUSE=(0.01, 0.1))
    written = [each for each in found.nodes if each.statement.line == 5]
    assert {origin_of(each, found.traits(each)).source for each in written} == {source}


@pytest.mark.parametrize(("count", "source"), [(1, Source.READINESS), (2, Source.THREAD_ORDER)])
def test_one_thread_that_hands_over_comes_before_none(
    count: int, source: Source, tmp_path: Path
) -> None:
    text = f"""import os, queue, threading
found = queue.Queue()
def work(number):
    found.put(os.urandom(4))
threads = [threading.Thread(target=work, args=(each,)) for each in range({count})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    seen = flows(tmp_path, text)
    put = next(each for each in seen.nodes if each.statement.line == 4)
    beside = _beside_others(put, seen.traits(put))
    assert [(each.source, each.is_sure) for each in beside] == [(source, count > 1)]


@pytest.mark.parametrize(("count", "source"), [(1, Source.READINESS), (2, Source.THREAD_ORDER)])
def test_what_one_thread_alone_writes_to_a_pipe_is_asked_for(
    count: int, source: Source, tmp_path: Path
) -> None:
    text = f"""
    import os, random, select, threading
    reading, writing = os.pipe()
    go, done = threading.Event(), threading.Event()
    def slow():
        go.wait()
        return b"1234"
    def work():
        os.write(writing, slow())
        done.set()
    threads = [threading.Thread(target=work) for _ in range({count})]
    for thread in threads:
        thread.start()
    drawn = random.random()
    BEGINS(go, done)
    ready, _, _ = select.select([reading], [], [], 0)
    a = len(ready)
    go.set()
    for thread in threads:
        thread.join()
    os.close(reading), os.close(writing)
    """
    begins = (lambda *_: None, lambda go, done: (go.set(), done.wait()))
    found = flows(tmp_path, textwrap.dedent(text), BEGINS=begins)
    assert statement_runs.origins(found, 17) == {16}
    asked, wrote = (next(e for e in found.nodes if e.statement.line == line) for line in (16, 9))
    assert origin_of(asked, found.traits(asked)).source is Source.READINESS
    assert origin_of(wrote, found.traits(wrote)).source is source
    assert suspect(wrote, found.traits(wrote)).fits != FROM_A_THREAD


@pytest.mark.parametrize(
    "shared",
    [
        "multiprocessing.Value('i', 3)",
        "torch.distributed.PrefixStore('a', torch.distributed.HashStore())",
    ],
)
def test_what_other_processes_write_as_well(shared: str, tmp_path: Path) -> None:
    text = f"import multiprocessing, torch.distributed\na = {shared}\nb = str(a)[:3]\n"
    found = flows(tmp_path, text)
    asked = found.nodes[-1]

    assert origin_of(asked, found.traits(asked)).source is Source.READINESS


def test_what_others_put_into_a_queue(tmp_path: Path) -> None:
    text = """\
    import queue
    ready = queue.Queue()
    for each in ORDER:
        ready.put(each)
    a = ready.get()
    """
    found = flows(tmp_path, textwrap.dedent(text), ORDER=([2000, 3000], [3000, 2000]))
    taken = next(each for each in found.nodes if each.statement.line == 5)

    assert origin_of(taken, found.traits(taken)).source is Source.THREAD_ORDER


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("a = 3 if ready.empty() else ready.get()", Source.READINESS),
        ("a = ready.get()", Source.THREAD_ORDER),
    ],
)
def test_whether_anything_is_there_decides_before_who_put_it_there(
    line: str, source: Source, tmp_path: Path
) -> None:
    text = f"import queue\nready = queue.Queue()\nready.put(ORDER)\n{line}\n"
    found = flows(tmp_path, text, ORDER=(2000, 3000))
    taken = found.nodes[-1]
    assert origin_of(taken, found.traits(taken)).source is source


@pytest.mark.parametrize(
    ("item", "source"), [("object()", Source.OBJECT_ADDRESS), ("'some'", Source.STRING_HASH)]
)
def test_a_set_that_an_object_of_the_programs_goes_through(
    item: str, source: Source, tmp_path: Path
) -> None:
    text = f"""\
    class Members:
        def __init__(self):
            self.held = {{{item}}}
        def __iter__(self):
            return iter(self.held)
    members = Members()
    a = [OFFSET for each in members]
    """
    found = flows(tmp_path, textwrap.dedent(text), OFFSET=(2000, 3000))
    node = found.nodes[-1]
    assert origin_of(node, found.traits(node)).source is source


@pytest.mark.parametrize(
    ("circumstance", "source"), [("hashes", Source.STRING_HASH), ("", Source.OBJECT_ADDRESS)]
)
def test_a_line_is_told_by_the_circumstance_that_makes_the_difference(
    circumstance: str, source: Source, tmp_path: Path
) -> None:
    text = "a = [(x, y) for x, y in {(name, object()) for name in names}]\n"
    found = flows(tmp_path, text, names=(["abcde", "fghij"], ["fghij", "klmno"]))
    node = found.nodes[-1]
    traits = found.traits(node)
    told = suspect(node, traits, circumstance)
    assert told.fits == origin_of(node, traits, circumstance).source.value == source.value


OTHERS = {
    "an attribute id": "a = Sample(time.time_ns() % 99999)\na.id = a.number\nb = a.id + 1000",
    "a text in braces": (
        "c = 3\nd = int(os.urandom(2).hex(), 16)\na = f'{c}' + str(len(os.urandom(3000 + d)))"
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_looks_like_an_address_or_a_set(name: str, tmp_path: Path) -> None:
    found = flows(tmp_path, f"{PREPARED}{OTHERS[name]}\n")

    told = {origin_of(each, found.traits(each)).source for each in found.nodes}
    assert told.isdisjoint({Source.OBJECT_ADDRESS, Source.STRING_HASH})


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("a = '/'.join(str(each) for each in samples)", True),
        ("a = json.dumps(samples, default=repr)", True),
        ("a = str(numbers(samples))", True),  # what that gives is not known
        ("a = len(samples) * str(name)", False),
        ("a = [str(each.number) for each in samples]", False),
        ("a = repr(tuple(name)) + name", False),
    ],
)
def test_texts_of_what_has_one_of_its_own(line: str, is_told: bool, tmp_path: Path) -> None:
    found = flows(tmp_path, f"import json\n{PREPARED}name = 'left'\n{line}\n")
    last = max(found.nodes, key=lambda each: each.statement.line)

    assert (origin_of(last, found.traits(last)).source is Source.OBJECT_ADDRESS) == is_told


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("a = samples[hash(name) % len(samples)]", Source.STRING_HASH),
        ("a = names[hash(sample) % len(names)]", Source.OBJECT_ADDRESS),
        ("a = [name, *set(samples)]", Source.OBJECT_ADDRESS),
        ("a = [sample, *kept]", Source.STRING_HASH),
        ("a = list(pairs - {(int, 1)})", Source.OBJECT_ADDRESS),
        ("a = list(set(names) - kept)", Source.STRING_HASH),
        ("a = [len, *kept]", Source.STRING_HASH),
        ("for a in {Sample, dict}:\n    pass", Source.OBJECT_ADDRESS),
        ("for a in {'x', 'y'}:\n    pass", Source.STRING_HASH),
        ("a = [each for each in kept ^ set(names) if type.mro(int)]", Source.STRING_HASH),
        ("a = np.random.get_state()", Source.GENERATOR),
        ("a = random.getstate()[1]", Source.GENERATOR),
    ],
)
def test_what_is_hashed_counts_and_not_what_stands_beside_it(
    line: str, source: Source, tmp_path: Path
) -> None:
    made = "name, sample = 'left', samples[0]\nnames = ['a', 'b']\nkept = set(names)\n"
    made += "pairs = {(each, 2) for each in (int, str, Sample)}\n"
    found = flows(tmp_path, f"{PREPARED}{made}{line}\n")
    last = found.nodes[-1]

    assert origin_of(last, found.traits(last)).source is source


def test_what_a_call_gave_counts_however_often_it_was_made(tmp_path: Path) -> None:
    text = """\
class Node:
    def __init__(self, at, *below):
        self.at, self.below = at, below

def within(node, seen):
    for each in node.below:
        seen.add(each)
        within(each, seen)
    return seen

top = Node(0)
for at in range(1, 40):
    top = Node(at, top)
order = sorted([each.at for each in within(top, set())], key=KEY.__mul__)
"""
    found = flows(tmp_path, text, KEY=(1, -1))
    (node,) = (each for each in found.nodes if each.statement.line == 14)

    assert origin_of(node, found.traits(node)).source is Source.OBJECT_ADDRESS


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = join(\n    name,\n    str(time.time()),\n)", 3),
        ("a = (\n    first\n    .seeded(np.random.default_rng())\n)", 3),
        ("a = [\n    each\n    for each in os.listdir(folder)\n]", 3),
        ("a = [\n    each.name\n    for each in names\n]", 3),
        ("a = pair(\n    first,\n    second.result(timeout=limit),\n)", 3),
        ("a = [\n    first,\n    second,\n]", 1),
    ],
)
def test_the_line_within_a_statement_is_told(text: str, line: int) -> None:
    statement = statements(text)[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)

    assert line_of(node, Traits(SETS | STRINGS)) == line


@pytest.mark.parametrize(
    "text",
    [
        "from time import perf_counter as tick\na = tick()",
        "import time as t\na = t.time()",
        "from time import time\na = time()",
    ],
)
def test_what_is_imported_by_another_name_is_known(text: str) -> None:
    statement = statements(text)[2]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)

    assert origin_of(node, Traits()).source is Source.CLOCK


def test_a_line_that_hashes_objects_is_not_said_to_hash_strings() -> None:
    statement = statements("a = hash(self) % 5")[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)
    traits = Traits(OBJECTS, 0, tuple(OBJECTS for _ in statement.reads))

    assert suspect(node, traits).fits == Source.OBJECT_ADDRESS.value


class _Keyed:
    def __hash__(self) -> int:
        return id(self)


class _Named(_Keyed):
    name = "a"

    def __hash__(self) -> int:
        return hash(self.name)


@pytest.mark.parametrize(
    ("hashed", "circumstance", "source"),
    [
        (torch.nn.Parameter(torch.ones(2)), "", Source.OBJECT_ADDRESS),
        (torch.nn.Parameter(torch.ones(2)), "hashes", Source.OBJECT_ADDRESS),
        (_Keyed(), "hashes", Source.OBJECT_ADDRESS),
        ([object(), "a"], "hashes", Source.STRING_HASH),
        ([object(), "a"], "none", Source.OBJECT_ADDRESS),
        ("a", "hashes", Source.STRING_HASH),
    ],
)
def test_another_hash_seed_moves_objects_as_well(
    hashed: object, circumstance: str, source: Source
) -> None:
    statement = statements("parts[hash(given) % 3].append(given)")[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)
    bits = traits_of([hashed])
    traits = Traits(bits, 0, tuple(bits for _ in statement.reads))

    assert origin_of(node, traits, circumstance).source is source


@pytest.mark.parametrize(
    ("text", "query", "source"),
    [
        (
            "a = base.all(query)",
            "select n from t order by random() limit 2",
            "ENTROPY",
        ),
        ("a = base.all(query)", "select n from t order by n limit 2", "NOT_SHOWN"),
        ("a = base.all(query)", "order a random() walk", "NOT_SHOWN"),
        ("a = read_sql('SELECT * FROM t ORDER BY RAND()', base)", "", "ENTROPY"),
    ],
)
def test_what_a_database_draws_is_told_by_its_query(text: str, query: str, source: str) -> None:
    statement = statements(text)[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)

    assert origin_of(node, Traits(traits_of([query]))).source is Source[source]


def test_a_value_that_processes_share_is_known_by_what_it_is_read_of() -> None:
    served = multiprocessing.Value("l", 0)
    found = value_of(("served", "value"), {"served": served}, {})
    statement = statements("a = served.value / 5")[1]
    call = Call("train.py", "f", 1, (), 1, 0, (), 0)
    node = Node(None, None, statement, Calling(call, call, "main", None), 0)
    origin = origin_of(node, Traits(traits_of([found])))

    assert origin.source is Source.READINESS
    assert value_of(("served", "value"), {"served": object()}, {}) is MISSING


def test_a_hash_of_a_name_is_no_address() -> None:
    assert not traits_of([_Named()]) & OBJECTS
    assert traits_of([_Keyed()]) & OBJECTS


def test_what_an_optimizer_is_given_is_followed(tmp_path: Path) -> None:
    text = """\
    import os, torch
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 2)
    def groups():
        found = [{"params": [], "lr": float.fromhex(os.urandom(4).hex())}]
        found[0]["params"] += layer.parameters()
        return found
    optimizer = torch.optim.SGD(groups(), lr=1.0)
    """
    found = flows(tmp_path, textwrap.dedent(text))
    made = next(each for each in found.nodes if each.statement.text.startswith("optimizer"))
    (origin,) = found.behind(made)

    assert "os.urandom" in origin.statement.text
    assert not slice_of(found, origin, made).gaps


def test_a_seed_of_one_generator_is_no_source_of_another(tmp_path: Path) -> None:
    text = """\
    import random, torch
    a = list(range(2000, 2100))
    torch.manual_seed(0)
    random.shuffle(a)
    b = a[0]
    """
    found = flows(tmp_path, textwrap.dedent(text))

    assert {each.line for each in (n.statement for n in found.origins)} == {4}
    (origin,) = {each for each in found.origins if each.statement.line == 4}
    assert origin_of(origin, found.traits(origin)).source is Source.GENERATOR
