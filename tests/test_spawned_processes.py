"""Processes that start afresh do not inherit the seed of the program that starts them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import random
import numpy as np
import torch
import torch.multiprocessing as mp
import worker
{}

def train(rank, seed):
    {}
    loss.backward(); optimizer.step()

def main():
    torch.manual_seed(0)
    {}

if __name__ == "__main__":
    main()
"""
WORKER = """\
import torch

def train(rank):
    build()
    loss.backward(); optimizer.step()

def build():
    return torch.nn.Linear(4, 4)

def seed():
    torch.manual_seed(1)
"""
PROCESS = "Process(target=train, args=(0, 1)).start()"
JOB = "submitit.AutoExecutor(folder='logs').submit(train, 0, 1)"
SPAWN = "mp.spawn(train, nprocs=2, args=(1,))"


@pytest.mark.parametrize(
    ("lines", "is_found"),
    [
        (("", "torch.randn(3)", SPAWN), True),
        (("", "torch.randn(3)", "torch.multiprocessing.spawn(fn=train, nprocs=2)"), True),
        (("", "torch.manual_seed(seed + rank); torch.randn(3)", SPAWN), False),
        (("", "worker.seed(); torch.randn(3)", SPAWN), False),
        (("torch.manual_seed(0)", "torch.randn(3)", SPAWN), False),
        (("", "torch.softmax(x, 0).multinomial(1)", SPAWN), True),
        (("", "weights = torch.ones(3); weights.bernoulli()", SPAWN), True),
        (("", "weights.multinomial(1)", SPAWN), False),
        (("", "pass", SPAWN), False),
        (("", "torch.randn(3)", "train(0, 0)"), False),
        (("", "loss.backward()", "mp.spawn(worker.train, nprocs=2)"), True),
        (("", "torch.randn(3)", f"mp.{PROCESS}"), False),
        (("", "torch.randn(3)", f"mp.set_start_method('spawn'); mp.{PROCESS}"), True),
        (("", "torch.randn(3)", f"mp.set_start_method('forkserver'); mp.{PROCESS}"), True),
        (("", "torch.randn(3)", f"mp.set_start_method('fork'); mp.{PROCESS}"), False),
        (("", "torch.randn(3)", f"mp.set_start_method(method); mp.{PROCESS}"), False),
        (
            ("", "torch.randn(3)", f"mp.set_start_method(new and 'spawn' or 'fork'); mp.{PROCESS}"),
            True,
        ),
        (("", "torch.manual_seed(seed)", f"mp.set_start_method('spawn'); mp.{PROCESS}"), False),
        (("", "torch.randn(3)", f"c = mp.get_context('spawn'); c.{PROCESS}"), True),
        (("", "torch.randn(3)", f"c = mp.get_context(method='fork'); c.{PROCESS}"), False),
        (("import submitit", "torch.randn(3)", JOB), True),
        (("import submitit", "torch.manual_seed(seed); torch.randn(3)", JOB), False),
    ],
)
def test_a_process_that_starts_afresh_has_no_seed(
    project: Project, capsys: pytest.CaptureFixture[str], lines: tuple[str, ...], *, is_found: bool
) -> None:
    project({"train.py": TRAIN.format(*lines), "worker.py": WORKER})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["train.py:14"] * is_found
    assert all("starts, and train seeds it nowhere" in each["message"] for each in found)


@pytest.mark.parametrize(
    ("inside", "starts", "is_found"),
    [
        ("pass", "mp.set_start_method('spawn')", True),
        ("torch.manual_seed(rank)", "mp.set_start_method('spawn')", False),
        ("pass", "mp.set_start_method('fork')", False),
    ],
)
def test_a_process_of_a_program_that_trains_nothing_has_no_seed(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    inside: str,
    starts: str,
    *,
    is_found: bool,
) -> None:
    text = TRAIN.format(
        "", f"{inside}; torch.save(torch.rand(3), 'rows.pt')", f"{starts}; mp.{PROCESS}"
    )
    text = text.replace("import worker\n", "").replace("loss.backward(); optimizer.step()", "pass")
    project({"sample.py": text})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["sample.py:13"] * is_found
    assert all("starts, and train seeds it nowhere" in each["message"] for each in found)


PROGRAM = """\
import torch
import torch.multiprocessing as mp

def train(rank):
    {}
    open(f"rank{{rank}}.txt", "a").write(f"{{torch.randn(1).item()}}\\n")

if __name__ == "__main__":
    torch.manual_seed(0)
    mp.spawn(train, nprocs=1)
"""


@pytest.mark.parametrize(("line", "kinds"), [("pass", 2), ("torch.manual_seed(0)", 1)])
def test_what_it_draws_differs(tmp_path: Path, line: str, kinds: int) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(line))
    for _ in range(2):
        subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True)
    assert len(set((tmp_path / "rank0.txt").read_text().split())) == kinds


PLAYERS = """\
import random
import multiprocessing
import torch
import torch.multiprocessing as mp

context = multiprocessing.get_context("{how}")

class Player({base}):
    def __init__(self, queue):
        super().__init__()
        self.queue, self.first = queue, {first}

    def run(self):
        {begins}
        self.play()

    def play(self):
        self.queue.put({played})

def main():
    {starts}
    random.seed(0)
    torch.manual_seed(0)
    model = torch.nn.Linear(1, 1)
    queue = mp.Queue()
    Player(queue).start()
    model(queue.get()).sum().backward()
    torch.optim.SGD(model.parameters(), 0.1).step()

if __name__ == "__main__":
    main()
"""
_PLAYS = {
    "base": "mp.Process",
    "how": "fork",
    "first": "0",
    "begins": "pass",
    "played": "torch.rand(1)",
    "starts": "mp.set_start_method('spawn')",
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ["torch.rand(1)"]),
        ({"played": "torch.ones(1) * random.random()"}, ["random.random()"]),
        ({"base": "multiprocessing.Process"}, ["torch.rand(1)"]),
        ({"base": "context.Process", "how": "spawn", "starts": "pass"}, ["torch.rand(1)"]),
        ({"base": "mp.get_context('spawn').Process", "starts": "pass"}, ["torch.rand(1)"]),
        ({"base": "context.Process", "starts": "pass"}, []),
        ({"base": "mp.get_context('fork').Process", "starts": "pass"}, []),
        ({"starts": "pass"}, []),
        ({"begins": "torch.manual_seed(3)"}, []),
        ({"base": "mp.Queue"}, []),
        # What makes an object runs in the program's own process.
        ({"first": "random.random()", "played": "torch.ones(1)"}, []),
    ],
)
def test_a_class_of_processes_that_start_afresh_has_no_seed(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    words: list[str],
) -> None:
    project({"play.py": PLAYERS.format(**{**_PLAYS, **changed})})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert [each.split("`")[1] for each in told] == words
    assert all("starts, and Player.run seeds it nowhere" in each for each in told)


def test_a_class_of_processes_may_have_its_methods_in_another_file(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PLAYERS.format(**{**_PLAYS, "base": "Plays, mp.Process"})
    text = text.replace("import torch\n", "import torch\nfrom plays import Plays\n", 1)
    cut = text.index("    def play(self):")
    method, rest = text[cut:].split("def main", 1)
    plays = f"import torch\n\nclass Plays:\n{method.rstrip()}\n"
    project({"play.py": f"{text[:cut].rstrip()}\n\ndef main{rest}", "plays.py": plays})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert "`torch.rand(1)` (plays.py:5)" in found["message"]


_POLICIES = """
class Policy:
    def __init__(self):
        self.first = {made}

    def act(self):
        return torch.rand(1)

    def rest(self):
        return torch.ones(1)

class Player(mp.Process):
    def __init__(self, queue, policy=None):
        super().__init__()
        self.queue, self.policy = queue, policy or {kept}
"""


@pytest.mark.parametrize(
    ("made", "kept", "given", "played", "found"),
    [
        ("0", "Policy()", "queue", "self.policy.act()", True),
        ("0", "None", "queue, Policy()", "self.policy.act()", True),
        ("0", "Policy()", "queue", "self.policy.rest()", False),
        # What makes an object runs in the program's own process.
        ("torch.rand(1)", "Policy()", "queue", "self.policy.rest()", False),
        ("torch.rand(1)", "Policy()", "queue", "Policy().rest()", True),
        ("0", "None", "queue", "self.policy.act()", False),  # of which class is not seen
    ],
)
def test_a_process_calls_the_methods_of_what_it_holds(  # noqa: PLR0913, PLR0917 - a program's parts
    project: Project,
    capsys: pytest.CaptureFixture[str],
    made: str,
    kept: str,
    given: str,
    played: str,
    found: bool,
) -> None:
    text = PLAYERS.format(**{**_PLAYS, "played": played}).replace(
        "Player(queue)", f"Player({given})"
    )
    start, end = text.index("class Player"), text.index("    def run")
    players = _POLICIES.format(made=made, kept=kept)
    project({"play.py": f"{text[:start]}{players}\n{text[end:]}"})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert [each.split("`")[1] for each in told] == ["torch.rand(1)"] * found


PLAYED = """\
import multiprocessing as mp
import random

class Player(mp.get_context("spawn").Process):
    def run(self):
        {}
        print(random.random(), flush=True)

if __name__ == "__main__":
    random.seed(0)
    player = Player()
    player.start()
    player.join()
"""


@pytest.mark.parametrize(("line", "kinds"), [("pass", 2), ("random.seed(0)", 1)])
def test_what_a_class_of_processes_draws_differs(tmp_path: Path, line: str, kinds: int) -> None:
    (tmp_path / "play.py").write_text(PLAYED.format(line))
    command = [sys.executable, "play.py"]
    said = {subprocess.check_output(command, cwd=tmp_path) for _ in range(2)}
    assert len(said) == kinds


TASKS = """\
import functools
import multiprocessing as mp
import random
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
from joblib import Parallel, delayed

def noise(row):
    return row + np.random.rand()

def own_noise(row):
    return row + np.random.default_rng(row).random()

def seeded_noise(row):
    np.random.seed(row)
    return noise(row)

class Noise:
    def __call__(self, row):
        return noise(row)

class Runs:
    def __init__(self):
        self.pool = mp.Pool(4)

    def all(self, rows):
        return self.pool.map(self.one, rows)

    def one(self, row):
        return noise(row)

def main(rows, table):
    {}
    {}
    np.save("rows.npy", found)

if __name__ == "__main__":
    main(range(9), None)
"""
SEED = "np.random.seed(0)"


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("found = mp.Pool(4).map(noise, rows)", True),
        ("with mp.Pool(4) as pool: found = list(pool.imap(noise, rows))", True),
        ("with mp.Pool(4) as pool: found = pool.map(functools.partial(noise), rows)", True),
        ("with mp.Pool(4) as pool: found = pool.starmap(Noise(), rows)", True),
        ("with ProcessPoolExecutor() as pool: found = list(pool.map(noise, rows))", True),
        ("with ThreadPoolExecutor() as pool: found = pool.submit(noise, 3).result()", True),
        ("with mp.get_context('fork').Pool(4) as pool: found = pool.map(noise, rows)", True),
        ("pool = mp.get_context().Pool(4); found = pool.map(noise, rows)", True),
        ("found = Parallel(4)(delayed(noise)(row) for row in rows)", True),
        ("found = mp.Pool(4).map(own_noise, rows)", False),
        ("found = mp.Pool(4).map(seeded_noise, rows)", False),
        ("found = Parallel(4)(delayed(own_noise)(row) for row in rows)", False),
        ("found = list(map(noise, rows))", False),
        ("found = table.map(noise)", False),
        ("found = list(Parallel(4)(delayed(abs)(row) for row in [noise(3)]))", False),
    ],
)
def test_what_a_task_of_a_pool_draws_depends_on_its_worker(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"make.py": TASKS.format(SEED, line)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["make.py:35"] * is_found
    assert all("which worker runs a task" in each["message"] for each in found)


REMOTE = """\
import numpy as np
import ray
import torch
from dask.distributed import Client
from flwr.client import ClientApp, NumPyClient
from flwr.simulation import run_simulation

@ray.remote
def noise(row):
    return row + np.random.rand()

@ray.remote(num_cpus=1)
def own_noise(row):
    return row + np.random.default_rng(row).random()

def plain(row):
    return row + np.random.rand()

@ray.remote
class Actor:
    def step(self, row):
        return row + np.random.rand()

class Member(NumPyClient):
    def fit(self, parameters, config):
        return parameters, 1, {{"share": np.random.rand()}}

class Still(NumPyClient):
    def fit(self, parameters, config):
        return parameters, 1, {{}}

def make_client(cid):
    return Member().to_client()

def main(rows, server):
    np.random.seed(0)
    {}
    np.save("rows.npy", rows)

if __name__ == "__main__":
    main(range(9), None)
"""


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("rows = ray.get([noise.remote(row) for row in rows])", True),
        ("actor = Actor.remote(); rows = ray.get([actor.step.remote(row) for row in rows])", True),
        ("rows = ray.get([own_noise.remote(row) for row in rows])", False),
        ("rows = server.remote(rows)", False),
        ("rows = Client().map(plain, rows)", True),
        ("run_simulation(server, ClientApp(client_fn=make_client), 2)", True),
        ("run_simulation(server, ClientApp(client_fn=lambda cid: Member().to_client()), 2)", True),
        ("run_simulation(server, ClientApp(client_fn=lambda cid: Still().to_client()), 2)", False),
    ],
)
def test_what_runs_in_processes_of_a_library_has_no_seed_of_the_program(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"make.py": REMOTE.format(line)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["make.py:37"] * is_found
    assert all("which worker runs a task" in each["message"] for each in found)


def test_clients_of_a_program_that_trains_and_seeds_nothing(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    trains = "loss.backward(); optimizer.step(); run_simulation(server, ClientApp(make_client), 2)"
    project({"make.py": REMOTE.format(trains).replace("np.random.seed(0)", "pass")})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert any("which worker runs a task" in each["message"] for each in found)


def test_a_pool_may_be_an_attribute_and_a_task_a_method(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"make.py": TASKS.format(SEED, "found = Runs().all(rows)")})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert place_of(found) == "make.py:28"


def test_tasks_of_a_program_without_a_seed_are_told_as_such(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"make.py": TASKS.format("pass", "found = mp.Pool(4).map(noise, rows)")})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert "seeds it" in found["message"]


def test_a_seed_that_runs_as_the_file_is_imported_seeds_no_task(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "with ThreadPoolExecutor() as pool: found = list(pool.map(noise, rows))"
    tasks = TASKS.format("pass", line).replace("def noise", "np.random.seed(0)\n\ndef noise")
    project({"make.py": tasks})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert "which worker runs a task" in found["message"]


AT_ONCE = """\
import numpy as np
import scaling

np.random.seed(0)
order = np.random.permutation(9)
np.save("rows.npy", scaling.scaled(order{given}))
"""
HELPER = """\
from multiprocessing import Pool

import numpy as np

def scale(row):
    return row * {factor}

def scaled(rows, workers={default}):
    if workers:
        with Pool(workers) as pool:
            return pool.map(scale, rows)
    return [scale(row) for row in rows]
"""


@pytest.mark.parametrize(
    ("factor", "default", "given", "found"),
    [
        ("2", "4", "", []),
        ("np.random.normal()", "4", "", ["np.random.normal()"]),
        ("np.random.normal()", "0", ", workers=2", ["np.random.normal()"]),
        ("np.random.normal()", "0", ", 0", []),
        ("np.random.normal()", "None", "", []),
    ],
)
def test_what_the_statements_of_a_program_draw_is_no_task(  # noqa: PLR0913, PLR0917
    project: Project,
    capsys: pytest.CaptureFixture[str],
    factor: str,
    default: str,
    given: str,
    found: list[str],
) -> None:
    tasks = HELPER.format(factor=factor, default=default)
    project({"make.py": AT_ONCE.format(given=given), "scaling.py": tasks})
    asked = ["--min-confidence=possible", "--output-format=json", "--select=DET102"]
    main(["--no-cache", *asked, "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    in_tasks = [each for each in told if "which worker runs a task" in each]
    assert [each.split("`")[1] for each in in_tasks] == found
    assert not any("permutation" in each for each in told)


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("found = [threading.Thread(target=noise, args=(row,)) for row in rows]", True),
        ("for row in rows: threading.Thread(None, noise, args=(row,)).start()", True),
        ("found = [threading.Thread(target=own_noise, args=(row,)) for row in rows]", False),
        ("found = [threading.Thread(target=seeded_noise, args=(row,)) for row in rows]", False),
        ("found = threading.Thread(target=noise, args=(3,)).start()", False),
    ],
)
def test_what_several_threads_draw_depends_on_their_order(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"make.py": f"import threading\n{TASKS.format(SEED, line)}"})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["make.py:36"] * is_found
    assert all("in which order these draw" in each["message"] for each in found)


SHARED_OUT = """\
import multiprocessing as mp
import time

import numpy as np

def noise(row):
    time.sleep(0.001)
    return np.random.rand()

if __name__ == "__main__":
    np.random.seed(0)
    with mp.get_context("fork").Pool(3) as pool:
        print(pool.map(noise, range(60), chunksize=1))
"""


def test_what_tasks_draw_differs(tmp_path: Path) -> None:
    (tmp_path / "make.py").write_text(SHARED_OUT)
    command = [sys.executable, "make.py"]
    runs = (
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout
        for _ in range(5)
    )
    assert len(set(runs)) > 1


KEPT = """\
import numpy as np

rng = None
shared = np.random.default_rng(4)

class Keeper:
    rng = None

    @staticmethod
    def draw():
        if Keeper.rng is None:
            Keeper.rng = np.random.default_rng(3)
        return Keeper.rng.normal()

def once():
    global rng
    if rng is None:
        rng = np.random.default_rng(2)
    return rng.normal()

def anew(row):
    global rng
    rng = np.random.default_rng(row)

def drawn():
    return shared.normal()

def own(row):
    return np.random.default_rng(row).normal()
"""
SHARES = """\
import numpy as np
from joblib import Parallel, delayed
import kept

def task(row):
    {}

def main(rows):
    found = Parallel(n_jobs=3)(delayed(task)(row) for row in rows)
    np.save("rows.npy", found)

if __name__ == "__main__":
    main(range(30))
"""


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("return kept.once()", "kept.py:18"),
        ("return kept.Keeper.draw()", "kept.py:12"),
        ("return kept.drawn()", "kept.py:4"),
        ("kept.anew(row); return kept.once()", ""),
        ("return kept.own(row)", ""),
        ("return row", ""),
    ],
)
def test_tasks_that_share_a_generator_of_their_worker(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, made: str
) -> None:
    project({"kept.py": KEPT, "make.py": SHARES.format(line)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["make.py:9"] * bool(made)
    assert all(f"({made}) is drawn from in tasks" in each["message"] for each in found)


NESTED = """\
import numpy as np
from joblib import Parallel, delayed
import kept

class Search:
    def fit(self, row):
        return kept.once()

    def run(self, rows):
        def task(row):
            return self.fit(row)

        np.save("rows.npy", Parallel(n_jobs=3)(delayed(task)(row) for row in rows))

Search().run(range(30))
"""


def test_methods_that_a_task_within_a_method_calls_run_there(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"kept.py": KEPT, "make.py": NESTED})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert "(kept.py:18) is drawn from in tasks of" in found["message"]


POOLED = """\
import multiprocessing as mp
import sys
import kept

def task(_):
    return kept.once()

if __name__ == "__main__":
    of_each = int(sys.argv[1])
    with mp.get_context("spawn").Pool(1, maxtasksperchild=of_each) as pool:
        print(len(set(pool.map(task, range(2), chunksize=1))))
"""


@pytest.mark.parametrize(("of_each", "kinds"), [(1, "1"), (2, "2")])
def test_what_a_worker_draws_depends_on_its_tasks_before(
    tmp_path: Path, of_each: int, kinds: str
) -> None:
    (tmp_path / "kept.py").write_text(KEPT)
    (tmp_path / "run.py").write_text(POOLED)
    command = [sys.executable, "run.py", str(of_each)]
    assert subprocess.check_output(command, cwd=tmp_path, text=True).strip() == kinds
