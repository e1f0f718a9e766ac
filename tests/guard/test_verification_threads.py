"""What threads change of what they share: found by running, and named where runs agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from programs import python, write

from guard.verification import plan
from guard.verification.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

NUMBERED = """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial
    from multiprocessing.pool import ThreadPool

    import torch

    PLACES = [(street, house % 7) for house in range(60) for street in "abc"]

    class Register:
        def __init__(self):
            self.known = dict()
            self.lock = threading.Lock()

        def number(self, place):
            with self.lock:
                return self.known.setdefault(place, len(self.known))

        def numbers(self, places):
            return [self.number(each) for each in places]

    def look_up(register, part):
        return register.numbers(PLACES[part::4])

    def main():
        torch.manual_seed(0)
        register = Register()
        # before
        with {pool}(4) as pool:
            rows = [row for some in pool.map(partial(look_up, register), range(4)) for row in some]
        model = torch.nn.Embedding(len(register.known), 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in torch.tensor(rows).split(60):
            loss = model(x).sum(1).sigmoid().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    if __name__ == "__main__":
        main()
    """
NOTE = "possibly threads or processes come to what they share in another order (train.py:"


@pytest.mark.parametrize("pool", ["ThreadPoolExecutor", "ThreadPool"])
def test_a_number_that_the_first_thread_gets_is_found(pool: str, tmp_path: Path) -> None:
    path = write(tmp_path / "train.py", NUMBERED.format(pool=pool))
    done = python("-m", "guard", "verify", "--json", "train.py", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["cause"]["source"]) == (1, "THREAD_ORDER"), done.stdout
    (first, *_) = found["suspects"]
    assert "setdefault" in path.read_text().splitlines()[first["line"] - 1]


def test_what_came_out_the_same_by_luck_is_noted_as_not_judged(tmp_path: Path) -> None:
    write(tmp_path / "train.py", NUMBERED.format(pool="ThreadPoolExecutor"))
    options = ("--json", "--runs", "2", "--same", "timing")  # which has it agree
    done = python("-m", "guard", "verify", *options, "train.py", cwd=tmp_path)
    notes = json.loads(done.stdout)["verify"]["notes"]
    assert done.returncode == 0, done.stdout
    assert any(each.startswith(f"{NOTE}17, `self.known.setdefault()`)") for each in notes)


def test_numbers_that_are_given_before_are_the_same_without_a_note(tmp_path: Path) -> None:
    text = NUMBERED.format(pool="ThreadPoolExecutor").replace(
        "# before",
        "register.known.update((each, number) for number, each in enumerate(PLACES[:21]))",
    )
    write(tmp_path / "train.py", text.replace("setdefault(place, len(self.known))", "get(place)"))
    done = python("-m", "guard", "verify", "--json", "--runs", "2", "train.py", cwd=tmp_path)
    notes = json.loads(done.stdout)["verify"]["notes"]
    assert done.returncode == 0, done.stdout
    assert not any(each.startswith(NOTE) for each in notes)


TASKS = """
    import sys
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing.pool import Pool, ThreadPool
    from guard.verification.plan import vary

    came = []  # in threads

    def work(number):
        came.append(number)
        return number

    if __name__ == "__main__":
        vary()
        with {kind}({workers}) as pool:
            for _ in range(4):  # on a busy machine, one time may be in order
                assert [*pool.map(work, range(8))] == [*range(8)]
        print(came != [*range(8)] * 4, sys.flags.safe_path)
    """


@pytest.mark.parametrize("run", [0, 1, 2])
@pytest.mark.parametrize(
    ("kind", "workers"),
    [("ThreadPoolExecutor", 4), ("ThreadPool", 4), ("ProcessPoolExecutor", 2), ("Pool", 2)],
)
def test_tasks_of_pools_begin_in_another_order(
    kind: str, workers: int, run: int, tmp_path: Path
) -> None:
    script = write(tmp_path / "tasks.py", TASKS.format(kind=kind, workers=workers))
    done = python(script, cwd=tmp_path, environ=plan.variables_of({"timing": run}, {}))
    assert done.stderr == ""
    if run:
        assert done.stdout == "True False\n"


SHARING = {
    "a_sum_of_a_class": """
class Mean:
    def add(self, rows):
        part = 0.0
        part += rows.sum()
        self.total += part
def main(parts):
    mean = Mean()
    with ThreadPoolExecutor() as pool:
        pool.map(mean.add, parts)
""",
    "what_a_function_puts_that_is_called": """
def keep(kept, row):
    kept.append(row)
def read(kept, name):
    keep(kept, name)
def main(names, kept):
    for name in names:
        threading.Thread(target=read, args=(kept, name)).start()
""",
    "the_field_of_a_class_of_threads": """
class Reader(threading.Thread):
    def __init__(self, found):
        self.found = found
        self.own = []
    def run(self):
        self.own.append(1)
        self.found.append(2)
""",
    "what_is_set_anew": """
last = None
def read(name):
    global last
    last = load(name)
def main(pool, names):
    ThreadPoolExecutor()
    jobs = [pool.submit(read, name) for name in names]
""",
    "a_tensor_in_place": """
def main(parts):
    total = torch.zeros(3)
    def add(part):
        total.add_(part)
    ThreadPoolExecutor().map(add, parts)
""",
    "a_number_of_several_processes": """
def work(part, total):
    total.value += len(part)
def main(parts):
    total = multiprocessing.Value("l", 0, lock=False)
    for part in parts:
        multiprocessing.Process(target=work, args=(part, total)).start()
""",
}
ALONE = {
    "one_thread_that_puts": """
def produce(ready, rows):
    for row in rows:
        ready.put(row)
def main(ready, rows):
    threading.Thread(target=produce, args=(ready, rows)).start()
""",
    "a_pool_of_one": """
def main(parts, kept):
    def work(part):
        kept.append(part)
    ThreadPoolExecutor(max_workers=1).map(work, parts)
""",
    "what_each_is_given": """
def work(row):
    row.total += row.sum
    row.names.append(1)
def main(rows):
    for row in rows:
        threading.Thread(target=work, args=(row,)).start()
""",
    "each_at_its_place": """
def main(parts):
    found = {}
    def work(number):
        found[number] = load(number)
    ThreadPoolExecutor().map(work, parts)
""",
    "what_counts_and_what_is_the_same": """
class Work:
    def do(self, row):
        self.count += 1
        self.began = True
def main(work, rows):
    ThreadPoolExecutor().map(work.do, rows)
""",
    "what_a_thread_has_alone": """
own = threading.local()
def work(row):
    own.draw = torch.Generator()
    model = Model()
    model.total += row
    nn.init.zeros_(model.weight)
ThreadPoolExecutor().map(work, rows)
""",
}
LINES = [
    "self.total += part",
    "kept.append(row)",
    "self.found.append(2)",
    "last = load(name)",
    "total.add_(part)",
    "total.value += len(part)",
]


@pytest.mark.parametrize(
    ("text", "line"), list(zip(SHARING.values(), LINES, strict=True)), ids=SHARING
)
def test_what_threads_change_of_what_they_share(text: str, line: str, tmp_path: Path) -> None:
    assert _changes(tmp_path, text) == [line]


@pytest.mark.parametrize("text", list(ALONE.values()), ids=ALONE)
def test_what_a_thread_changes_alone_or_in_any_order_is_none(text: str, tmp_path: Path) -> None:
    assert _changes(tmp_path, text) == []


def _changes(folder: Path, text: str) -> list[str]:
    modules = "import multiprocessing\nimport threading\nimport torch\nfrom torch import nn\n"
    path = write(
        folder / "train.py", f"{modules}from concurrent.futures import ThreadPoolExecutor\n{text}"
    )
    lines = path.read_text().splitlines()
    return [lines[line - 1].strip() for _, line, _ in Text([str(path)]).shared_changes]
