"""What the text of a program says of threads, of indexing by tensors and of luck."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from programs import write

from detlint.dataflow.orders.shared_changes import added_up
from guard.diff import Cause, Change, Comparison, Difference, Source
from guard.diff.differences import Operator
from guard.observe.places import Place
from guard.verification import inquiry, runs, statements
from guard.verification.attribution import STARTED, Reruns, attribute
from guard.verification.inquiry import further, with_findings
from guard.verification.operators import Bisection, Culprit
from guard.verification.plan import Plan
from guard.verification.runs import Watched
from guard.verification.statements import Entry, entry
from guard.verification.texts import Text
from guard.verification.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from guard.verification.runs import Process
    from guard.verification.sessions import Session

QUEUE = """\
ready = queue.Queue()
def produce(rows):
    ready.put(rows)
threading.Thread(target=produce, args=(3,)).start()
batch = ready.get()
value = settings.get("a")
"""
LISTED = """\
class Reader(threading.Thread):
    def run(self):
        own = []
        own.append(1)
        self.found.append(own)
"""
SPAWNED = """\
def work(out):
    out.put_nowait(1)
Process(target=work, args=(q,)).start()
"""
OWN = """\
def work(rows):
    slots = [[], []]
    slots[0].append(rows)
    for each in rows:
        slots.append(each)
    names = rows.names
    names.append(1)
threading.Thread(target=work)
"""
UNTHREADED = """\
def produce(rows):
    ready.append(rows)
data.map(produce)
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [(QUEUE, [3, 5]), (LISTED, [5]), (SPAWNED, [2]), (OWN, [7]), (UNTHREADED, [])],
    ids=["queue", "list", "process", "of its own", "no thread"],
)
def test_what_threads_hand_over(text: str, lines: list[int], tmp_path: Path) -> None:
    threads = text_of(tmp_path, text).threads
    assert [each.place[1] for each in (*threads.handed_over(), *threads.taken())] == lines


SUMS = """\
class Loss:
    def add(self, rows):
        part = 0
        part += rows.sum()
        with self.lock:
            self.total = self.total + part
    def start(self):
        self.count += 1
        pool = ThreadPoolExecutor()
        pool.map(self.add, self.rows)
"""
GLOBAL = """\
def add(rows):
    global total
    total += rows
def slots(number, rows):
    results[number] = rows
for each in (add, slots): threading.Timer(1, add)
threading.Thread(target=slots)
"""


NESTED = """\
def main(rows):
    seen = own = 0
    def count(row):
        nonlocal seen
        own = 1
        own += row
        seen += row
    for row in rows:
        threading.Thread(target=count, args=(row,)).start()
"""
# In a method that is called as that of a container; how many there are is the same in the end.
CALLED = """\
class Sums:
    def add(self, part):
        self.count += len(part)
        self.total += part
def work(sums, rows):
    for part in rows:
        sums.add(part)
def main(rows):
    sums = Sums()
    for row in rows:
        threading.Thread(target=work, args=(sums, row)).start()
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (SUMS, [6]),
        (GLOBAL, [3]),
        (NESTED, [7]),
        (NESTED.replace("for row in rows", "if rows"), []),
        (CALLED, [4]),
    ],
    ids=["method", "global", "nested", "one thread", "called"],
)
def test_what_grows_in_threads(text: str, lines: list[int], tmp_path: Path) -> None:
    found = text_of(tmp_path, text)
    assert [each.place[1] for each in added_up(found.threads)] == lines
    assert found.shares is bool(lines)


def text_of(folder: Path, text: str) -> Text:
    return Text([str(write(folder / "train.py", text))])


@pytest.mark.parametrize(
    ("text", "timed"),
    [
        (QUEUE, True),
        ("DataLoader(data, num_workers=2, in_order=False)", True),
        ("for f in as_completed(futures): pass", True),
        ("for b in loader:\n    if time.time() > end: break", True),
        ("Trainer(max_time={'minutes': 3})", True),
        ("torch.set_num_threads(int(8 - os.getloadavg()[0]))", True),
        ("rng = np.random.default_rng()", False),
        ("DataLoader(data, num_workers=2)\ndata.map(tokenize)", False),
    ],
)
def test_what_may_depend_on_who_is_first(text: str, timed: bool, tmp_path: Path) -> None:
    assert text_of(tmp_path, text).timed is timed


@pytest.mark.parametrize(
    ("text", "spoken_for"),
    [
        ("for a in set(b): pass", {"hashes"}),
        ("seed = hash(name)", {"hashes"}),
        ("names = left.union(right)", {"hashes"}),
        ("done = threading.Event()\ndone.set()", set()),
        ("both = one.keys() & other.keys()", {"hashes"}),
        ("names = os.listdir(folder)", {"listings"}),
        ("names = sorted(os.listdir(folder))", set()),
        ("room = torch.empty(3)", {"memory"}),
        ("import time\nseed = int(time.time())", {"clock"}),
        ("from datetime import date\nseed = date.today().day", {"clock"}),
        ("import time\nspent = time.perf_counter() - begun", {"clock"}),
        ("import time\nshow(clock=time.perf_counter)\na = time.perf_counter()", set()),
        ("import time\nage = time.time() - path.stat().st_mtime", set()),
        ("import sched, time\nsched.scheduler(time.time, time.sleep)\na = time.time()", set()),
        ("x = 1", set()),
    ],
)
def test_what_a_circumstance_acts_on(text: str, spoken_for: set[str], tmp_path: Path) -> None:
    found = text_of(tmp_path, text)
    names = ("hashes", "memory", "listings", "clock")
    assert {name for name in names if found.speaks_for(name)} == spoken_for
    assert found.speaks_for("timing")


@pytest.mark.parametrize(
    ("text", "dated", "decides"),
    [
        ("import time\nif time.time() > 3: a = 1", True, True),
        ("import time\nif time.perf_counter() > 3:\n    a = 1\nelse:\n    a = 2", False, True),
        ("import time\nprint(time.perf_counter())", False, False),
    ],
)
def test_a_clock_tells_a_date_or_decides(
    text: str, dated: bool, decides: bool, tmp_path: Path
) -> None:
    found = text_of(tmp_path, text)
    assert (found.reads_clock, found.reads_date) == (True, dated)
    assert found.is_clock_decisive is decides


@dataclass
class Told(Reruns):
    """Reruns whose outcomes are told beforehand, by the circumstance that is tried."""

    outcomes: dict[str, list[bool]] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)

    def differs(self, name: str) -> bool:
        self.made += 1
        self.tried.append(name)
        left = self.outcomes.get(name, [False])
        return left.pop(0) if len(left) > 1 else left[0]


class _Planned:
    plan = Plan("train.py")


def told(outcomes: dict[str, list[bool]], cause: Cause, budget: int = 8) -> Told:
    difference = Difference(0, 0, "training", None, None, cause, "")
    session, first = cast("Session", _Planned()), cast("Process", None)
    return Told(session, difference, first, 1, budget, outcomes=outcomes)


SET, PLAIN, THREADS = "for a in set(b): pass", "x = 1", "threading.Thread(target=f)"


@pytest.mark.parametrize(
    ("text", "outcomes", "circumstance", "tried"),
    [
        (SET, {"hashes": [True]}, "hashes", ["none", "hashes", "addresses", "none"]),
        (
            SET,
            {"hashes": [True], "addresses": [True]},
            "addresses",
            ["none", "hashes", "addresses"],
        ),
        (SET, {"none": [True]}, "none", ["none"]),
        (
            SET,
            {"none": [False, True], "hashes": [True]},
            "none",
            ["none", "hashes", "addresses", "none"],
        ),
        (PLAIN, {"hashes": [True]}, "hashes", ["none", "hashes", "none", "hashes", "none"]),
        (PLAIN, {"hashes": [True, False]}, "", ["none", "hashes", "none", "hashes"]),
        (THREADS, {"hashes": [True]}, "", ["none", "timing"]),
        (THREADS, {"timing": [True]}, "timing", ["none", "timing", "none"]),
        (THREADS, {"none": [False, True], "timing": [True]}, "none", ["none", "timing", "none"]),
    ],
)
def test_a_circumstance_is_tried_again_before_it_is_named(
    text: str,
    outcomes: dict[str, list[bool]],
    circumstance: str,
    tried: Sequence[str],
    tmp_path: Path,
) -> None:
    reruns = told(outcomes, Cause.BATCH_ORDER)
    found = attribute(reruns, text_of(tmp_path, text))
    assert (found.circumstance, reruns.tried) == (circumstance, tried)
    assert found.runs == len(tried)
    assert bool(found.note(text_of(tmp_path, text))) == bool(circumstance or found.tried)


def test_what_the_statements_have_shown_takes_one_run(tmp_path: Path) -> None:
    reruns = told({"hashes": [True]}, Cause.BATCH_ORDER)
    found = attribute(reruns, text_of(tmp_path, SET), "hashes")
    assert (found.circumstance, reruns.tried) == ("hashes", ["hashes"])
    reruns = told({"listings": [True]}, Cause.BATCH_ORDER)
    attribute(reruns, text_of(tmp_path, "os.listdir()\nset(a)"), "hashes")
    assert reruns.tried == ["hashes", "none", "listings", "addresses", "none"]


@pytest.mark.parametrize(("load", "share"), [(0.0, 1.0), (6.0, 1.0), (12.0, 0.5), (90.0, 0.2)])
def test_seconds_are_those_of_a_machine_that_does_nothing_else(
    load: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs.os, "getloadavg", lambda: (load, load, load), raising=False)
    monkeypatch.setattr(runs.os, "cpu_count", lambda: 2)
    assert runs._share(2) == share


def test_what_was_tried_is_told_where_no_circumstance_makes_it(tmp_path: Path) -> None:
    text = text_of(tmp_path, THREADS)
    found = attribute(told({}, Cause.BATCH_ORDER), text)
    assert (
        found.note(text, Source.THREAD_ORDER)
        == found.note(text)
        == "the difference did not come again where nothing was varied, "
        "or one of these alone: timing"
    )
    assert not found.note(text, Source.LOAD)  # which is varied in no run
    found = attribute(told({"none": [True]}, Cause.BATCH_ORDER), text)
    anyway = "the clock and which thread comes first are others in each run anyway"
    assert found.note(text).endswith(anyway)
    started = text_of(tmp_path, "import subprocess\nsubprocess.run(['a'])")
    assert found.note(started).endswith(anyway + STARTED)


def test_a_circumstance_that_could_not_be_tried_again_is_not_named(tmp_path: Path) -> None:
    outcomes: dict[str, Any] = {"hashes": [True]}
    reruns = told(outcomes, Cause.BATCH_ORDER, budget=2)
    assert attribute(reruns, text_of(tmp_path, SET)).circumstance == ""


@pytest.mark.parametrize(
    ("text", "at_ease", "found", "expected"),
    [
        (THREADS, True, (True, 20.0), 1),
        (THREADS, True, (True, 59.0), 1),
        (PLAIN, True, (True, 19.0), 1),
        (PLAIN, True, (True, 21.0), 0),
        (THREADS, False, (True, 20.0), 0),
        (THREADS, True, (False, 20.0), 0),
        (THREADS, True, (True, 61.0), 0),
        (SUMS, True, (True, 19.0), 3),
        (SUMS, True, (True, 21.0), 1),
    ],
    ids=[
        "cheap",
        "threads",
        "cheap, no threads",
        "no threads",
        "runs are given",
        "in place",
        "long",
        "sums",
        "long sums",
    ],
)
def test_more_runs_are_made_where_two_agree_by_luck(
    text: str, at_ease: bool, found: tuple[bool, float], expected: int, tmp_path: Path
) -> None:
    isolated, seconds = found
    plan = Plan("train.py", at_ease=at_ease)
    session = cast("Session", SimpleNamespace(plan=plan, isolated=isolated))
    watched = Watched((), None, 1, (), seconds)
    assert further(session, watched, text_of(tmp_path, text)) == expected


def test_another_environment_is_told_of_runs_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def examined(_: object, second: SimpleNamespace, __: int) -> Comparison:
        return Comparison(None, ("run 1", "run"), changes=second.changes)

    monkeypatch.setattr(inquiry, "_examined", examined)
    seeds = Change("guard: hash_seed", "1", "2"), Change("torch: threads", "1", "3")
    runs = [
        SimpleNamespace(steps=1, look=lambda: None, changes=changes)
        for changes in ((), seeds[:1], seeds)
    ]
    watched = Watched(cast("Any", tuple(runs)), None, 1, (), 1.0)
    comparison, other = inquiry.compared(watched)
    assert comparison is not None
    assert (comparison.changes, other) == (seeds, 2)
    assert inquiry.compared(watched._replace(processes=cast("Any", (runs[0],)))) == (None, 1)


@pytest.mark.parametrize(("wait", "lines"), [("pass", [3]), ("work.wait()", [])])
def test_a_collective_that_nothing_waits_for(wait: str, lines: list[int], tmp_path: Path) -> None:
    text = text_of(
        tmp_path,
        "def f(parts):\n    for part in parts:\n"
        f"        work = dist.all_reduce(part, async_op=True)\n        {wait}\n",
    )

    assert [each.place[1] for each in text.threads.begun()] == lines
    assert text.timed


@pytest.mark.parametrize(
    ("cause", "circumstance", "wait", "source"),
    [
        (Cause.KERNEL, "timing", "pass", Source.READINESS),
        (Cause.OUTSIDE, "", "pass", Source.READINESS),
        (None, "none", "pass", Source.READINESS),
        (Cause.OUTSIDE, "memory", "pass", Source.UNWRITTEN_MEMORY),
        (Cause.GENERATOR, "", "pass", Source.GENERATOR),
        (Cause.KERNEL, "timing", "work.wait()", Source.KERNEL),
    ],
    ids=["kernel", "read", "no operator", "memory", "generator", "waited for"],
)
def test_what_a_collective_may_write_meanwhile_is_no_kernel(
    cause: Cause | None, circumstance: str, wait: str, source: Source, tmp_path: Path
) -> None:
    begun = "work = dist.all_reduce(part, async_op=True)"
    text = text_of(tmp_path, f"def f(part):\n    {begun}\n    {wait}\n    part.div_(2)")
    operator = Operator("aten.div_.Tensor", "forward", Place(text.files[0], 4, "f"), "", "")
    shown = None if cause is None else Culprit(operator, cause, "", allocates=True)
    told = told_of(text, Bisection(shown, 2), circumstance)
    assert told.explanation is not None
    assert told.explanation.source is source
    if source is Source.READINESS:
        assert (told.operators, told.suspects[0].line) == ((), 2)


def test_a_kernel_that_the_tables_know_comes_before_a_collective(tmp_path: Path) -> None:
    text = text_of(tmp_path, "def f(part):\n    dist.all_reduce(part, async_op=True)")
    operator = Operator("aten.index_put_", "forward", None, "", "", "torch.index_put")
    shown = Culprit(operator, Cause.KERNEL, "", allocates=True)
    assert told_of(text, Bisection(shown, 2), "timing").operators == (operator,)


def told_of(text: Text, bisection: Bisection, circumstance: str) -> Comparison:
    difference = Difference(0, 0, "training", None, None, Cause.KERNEL, "")
    compared = Comparison(difference, ("run 1", "run 2"))
    verdict = Verdict(compared, circumstance=circumstance, runs=2, isolation="copies")
    told = with_findings(verdict, text, difference, bisection).comparison
    assert told is not None
    return told


@pytest.mark.parametrize(("parts", "compared", "came"), [(3, 4, None), (1, 2, None), (9, 6, False)])
def test_each_run_with_statements_is_compared_with_the_first(
    parts: int, compared: int, came: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Difference(0, 0, "training", None, None, Cause.BATCH_CONTENT, "")
    numbers: list[int] = []

    def rerun(_: object, given: tuple[int, ...], _options: object) -> SimpleNamespace:
        numbers.extend(given)
        ran = [SimpleNamespace(look=lambda: None, traces=[number]) for number in given]
        return SimpleNamespace(processes=ran)

    monkeypatch.setattr(statements, "rerun", rerun)
    monkeypatch.setattr(statements, "_entry", lambda *_: Entry())
    parted = SimpleNamespace(difference=seen), SimpleNamespace(difference=None)
    monkeypatch.setattr(statements, "examine", lambda _, other: parted[other != [parts]])
    found = entry(cast("Session", None), seen, 1, Bisection(), 7)
    assert (found.runs, found.came_again) == (compared, came)
    assert numbers == [*range(compared)]
