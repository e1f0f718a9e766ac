"""What DET205 says of an order, what its fix makes of it, and what it takes for granted."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

import pytest
from torch.utils.data import DataLoader, Dataset

from detlint.fixes.applying import fix
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.engine import Engine
    from detlint.finding import Finding

HEADER = (
    "import asyncio\n"
    "from concurrent.futures import FIRST_COMPLETED, as_completed, wait\n"
    "from multiprocessing import Process, Queue\n"
    "from joblib import Parallel\n"
    "from torch.utils.data import DataLoader\n"
)
FINISHED = "gives results in the order in which they finish, and here it is"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(
            "rows = list(as_completed(fs))[0]\n",
            f"as_completed() {FINISHED} indexed",
            id="futures",
        ),
        pytest.param(
            "rows = ''.join(pool.imap_unordered(f, x))\nprint(rows)\n",
            f"imap_unordered() {FINISHED} joined, as line 7 shows: `print(rows)`",
            id="a pool",
        ),
        pytest.param(
            "def f(fs):\n    return asyncio.as_completed(fs)\n",
            f"asyncio.as_completed() {FINISHED} returned",
            id="asyncio",
        ),
        pytest.param(
            "def f(fs):\n    done = wait(fs, return_when=FIRST_COMPLETED)[0]\n"
            "    return [each.result() for each in done]\n",
            "wait(return_when=FIRST_COMPLETED) returns what happens to have finished first, and "
            "here it is returned, as line 8 shows: `return [each.result() for each in done]`",
            id="the first of several",
        ),
        pytest.param(
            "def f(fs):\n    return [x.result() for x in wait(fs).done]\n",
            "wait() returns sets, in which futures stand by their addresses, "
            "and here it is returned",
            id="all of several",
        ),
        pytest.param(
            "loader = DataLoader(d, num_workers=n, in_order=False)\n",
            "DataLoader(in_order=False) gives batches in the order in which its workers finish "
            "them",
            id="a loader",
        ),
        pytest.param(
            "def f(x):\n    return list(Parallel(2, return_as='generator_unordered')(x))\n",
            f"Parallel(return_as='generator_unordered') {FINISHED} returned",
            id="joblib",
        ),
        pytest.param(
            "def f(parts):\n    q = Queue()\n    for p in parts:\n"
            "        Process(target=run, args=(p, q)).start()\n"
            "    return [q.get() for _ in parts]\n",
            "several workers fill this queue, so that results leave it in the order in which they "
            "finish, and here it is returned, as line 10 shows: `return [q.get() for _ in parts]`",
            id="a queue",
        ),
    ],
)
def test_the_message_says_what_has_no_order_and_how_it_is_used(
    code: str, message: str, findings: Callable[..., list[Finding]]
) -> None:
    assert [each.message for each in findings(HEADER + code, "DET205")] == [message]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "fs = [e.submit(f, x) for x in xs]\nprint([f.result() for f in as_completed(fs)])",
            "fs = [e.submit(f, x) for x in xs]\nprint([f.result() for f in fs])",
            id="futures in a list",
        ),
        pytest.param(
            "fs = {e.submit(f, x): x for x in xs}\nprint([f.result() for f in as_completed(fs)])",
            "fs = {e.submit(f, x): x for x in xs}\nprint([f.result() for f in fs])",
            id="futures as keys",
        ),
        pytest.param(
            "fs = {e.submit(f, x) for x in xs}\nprint([f.result() for f in as_completed(fs)])",
            "fs = {e.submit(f, x) for x in xs}\nprint([f.result() for f in as_completed(fs)])",
            id="futures in a set have no order to go back to",
        ),
        pytest.param(
            "fs = [e.submit(f, x) for x in xs]\nprint([f.result() for f in as_completed(fs, 9)])",
            "fs = [e.submit(f, x) for x in xs]\nprint([f.result() for f in as_completed(fs, 9)])",
            id="a time limit is kept",
        ),
        pytest.param(
            "print(list(pool.imap_unordered(f, xs, chunksize=4)))",
            "print(list(pool.imap(f, xs, chunksize=4)))",
            id="a pool",
        ),
        pytest.param(
            "print(list(Parallel(2, return_as='generator_unordered')(xs)))",
            'print(list(Parallel(2, return_as="generator")(xs)))',
            id="joblib",
        ),
    ],
)
def test_the_fix_takes_the_order_of_submission(
    before: str, after: str, engine: Callable[..., Engine]
) -> None:
    source = Source("example.py", HEADER + before + "\n")
    lint = engine("DET205").lint
    assert fix(source, lint, unsafe=False).source.text == source.text
    assert fix(source, lint, unsafe=True).source.text == HEADER + after + "\n"


def test_wait_gives_sets_whose_order_is_not_that_of_the_futures() -> None:
    futures: list[Future[int]] = [Future() for _ in range(500)]
    for number, future in enumerate(futures):
        future.set_result(number)
    done = wait(futures).done
    assert isinstance(done, set)
    assert [each.result() for each in done] != list(range(500))

    async def tasks() -> object:
        return (await asyncio.wait([asyncio.create_task(asyncio.sleep(0))]))[0]

    assert isinstance(asyncio.run(tasks()), set)


class Slowing(Dataset[int]):
    """Its first samples take longest."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        time.sleep(0.3 if index == 0 else 0.0)
        return index


@pytest.mark.parametrize(("workers", "keeps"), [(1, True), (2, False)])
def test_one_worker_keeps_the_order_and_two_do_not(workers: int, keeps: bool) -> None:
    loader = DataLoader(Slowing(), batch_size=None, num_workers=workers, in_order=False)
    assert ([int(each) for each in loader] == list(range(8))) is keeps


_TASKS = """
from multiprocessing import Process, Queue

class Task:
    def __init__(self, rows, results):
        self.rows, self.results = rows, results

    def run(self):
        self.results.put(work(self.rows))

def gather(parts):
    results = Queue()
    {starts}
    return [results.get() for _ in parts]
"""


@pytest.mark.parametrize(
    ("starts", "found"),
    [
        ("ps = [Process(target=Task(p, results).run) for p in parts]", 1),
        ("for p in parts:\n        task = Task(p, results)\n        Process(target=task.run)", 1),
        ("Process(target=Task(parts, results).run)", 0),  # one alone
        ("ps = [Task(p, results).run() for p in parts]", 0),  # in the program's own process
        ("ps = [Process(target=Task(p, Queue()).run) for p in parts]", 0),
    ],
)
def test_workers_may_be_methods_of_objects_that_hold_the_queue(
    findings: Callable[..., list[Finding]], starts: str, found: int
) -> None:
    assert len(findings(_TASKS.format(starts=starts), "DET205")) == found


RECEIVER = """
class Loader:
    def __init__(self, items):
        self.held, self.turn = {}, 0
        self.tasks, self.done = Queue(), Queue()
        for _ in range(4):
            Process(target=work, args=(self.tasks, self.done)).start()

    def take(self):
        return self.done.get()

    def following(self):
        while True:
            place, result = self.take()
            if %s:
                self.held[place] = result
                continue
            self.turn += 1
            return result
"""


@pytest.mark.parametrize(("test", "told"), [("place != self.turn", 0), ("result is None", 1)])
def test_results_that_wait_for_their_turn(
    test: str, told: int, findings: Callable[..., list[Finding]]
) -> None:
    work = "def work(tasks, done):\n    while True:\n        done.put(tasks.get())\n"
    assert len(findings(HEADER + work + RECEIVER % test, "DET205")) == told


def test_a_place_that_is_to_be_filled_in_hides_nothing(
    findings: Callable[..., list[Finding]],
) -> None:
    text = HEADER + (
        "ROOT = ''\nif ROOT == '':\n    raise ValueError('set ROOT')\n"
        "def written(futures):\n    with open(ROOT + '/train.txt', 'w') as file:\n"
        "        for future in as_completed(futures):\n"
        "            print(future.result(), file=file)\nwritten(asked())\n"
    )
    assert [str(each.confidence) for each in findings(text, "DET205")] == ["likely"]
