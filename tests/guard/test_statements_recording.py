"""Recording a program's statements changes nothing that it computes, in any of its processes."""

from __future__ import annotations

import signal
import sys
import textwrap
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

import pytest
from counting import calls
from programs import python, write
from statement_runs import flows, origins, run

from guard.recording import tracer

if TYPE_CHECKING:
    from pathlib import Path

    from guard.observe.statements import Statement


pytest.importorskip("torch")

from guard.diff import examine
from guard.observe.clocks import Clocks
from guard.trace import open_run
from guard.trace.statements import recording

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = """
    import random, threading
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __len__(self):
            return 12
        def __getitem__(self, index):
            noise = torch.randn(4) + float(np.random.rand()) + random.random()
            return noise * index

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("centre", torch.zeros(4))
            self.head = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
        def forward(self, rows):
            self.centre = self.centre * 0.9 + rows.mean(0) * 0.1
            return self.head(rows - self.centre)

    def beat(found):
        found.append(sum(range(1000)))

    def main():
        torch.manual_seed(0), np.random.seed(0), random.seed(0)
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        found = []
        for batch in DataLoader(Data(), batch_size=4, num_workers=2, shuffle=True):
            thread = threading.Thread(target=beat, args=(found,))
            thread.start()
            loss = sum(part.sum() for part in [model(batch)])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            thread.join()

    if __name__ == "__main__":
        main()
    """


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked")
def test_what_is_computed_is_the_same_with_statements_recorded(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", TRAINING)
    for name, options in (("plain", ()), ("lines", ("--lines", "2"))):
        out = ("-m", "guard", "record", "--out", name, *options, script)
        done = python(*out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    runs = [open_run(str(tmp_path / name)) for name in ("plain", "lines")]
    assert examine(*runs).difference is None
    found = recording(str(tmp_path / "lines"))
    assert not found.notes
    assert sorted(found.ends[""])[:3] == [0, 1, 2]
    roles = [each.role for each in found.threads]
    assert roles[0] == "main"
    assert roles.count("main:beat") == 3
    workers = {each.role: each for each in found.threads if each.role.startswith("Process-")}
    assert len(workers) == 2
    drawn = [call.name for each in workers.values() for call in each.calls]
    assert drawn.count("Data.__getitem__") == 12


TIMED = """\
import time
from time import monotonic_ns
made, until = 0, time.perf_counter() + 0.02
while time.perf_counter() < until:
    made += 1
before = monotonic_ns()
waited = list(range(300_000))
took = monotonic_ns() - before
"""


def test_clocks_leave_out_what_looking_takes(tmp_path: Path) -> None:
    original = time.perf_counter
    (tmp_path / "program.py").write_text(TIMED, encoding="utf-8")
    for at in range(30):  # some may wait for a processor
        held = run(tmp_path / "program.py", tmp_path / str(at))
        if held["made"] > 1000:  # 300 where each round counts what it takes to look at it
            break

    assert held["made"] > 1000
    assert held["took"] > 1_000_000
    assert time.perf_counter is original


@pytest.mark.parametrize("name", ["time", "monotonic", "perf_counter", "perf_counter_ns"])
def test_clocks_go_on_and_never_back(name: str) -> None:
    clocks = Clocks()
    with ExitStack() as stack:
        clocks.follow(stack)
        clock = getattr(time, name)
        told = [clock()]
        for _ in range(3):
            clocks.left_out += 5_000_000_000
            told.append(clock())
        # A program divides by what passed, which is never nothing.
        assert all(told[n] < told[n + 1] for n in range(3))
    assert getattr(time, name)() > told[-1]


SHARED = """\
    def f():
        x = 0
        def put(value):
            nonlocal x
            x = value
        WRITERS.append(put)
        return x + abs(0)
    found = f()
    """


def test_a_write_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writers: list[Any] = []
    look, count = tracer.look, iter(range(1, 100))
    written = []

    def writing() -> tuple[int, ...]:
        if writers:  # while a trace function runs, after it has read the frame's variables
            written.append(next(count))
            writers[0](written[-1])
        return look()

    monkeypatch.setattr(tracer, "look", writing)
    monkeypatch.setattr(tracer.Tracer, "is_shared", property(lambda _: True))
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(SHARED), encoding="utf-8")

    held = run(program, tmp_path / "run", WRITERS=writers)

    assert held["found"] == 2  # after the first statement, and before the second


def test_draws_from_a_state_that_differs_take_time_in_proportion(tmp_path: Path) -> None:
    text = """\
    import random
    random.seed(SEED)
    for _ in range({}):
        a = random.random()
    """

    def compare(draws: int) -> None:
        folder = tmp_path / str(draws)
        folder.mkdir()
        assert origins(flows(folder, textwrap.dedent(text.format(draws)), SEED=(1, 2)), 4)

    few, many = calls(lambda: compare(300)), calls(lambda: compare(1200))
    assert many < 5 * few, f"{few} calls for 300 draws, {many} for 1200"


def test_the_last_steps_are_looked_at_for_a_while_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(tracer, "monotonic", lambda: now)
    last = False
    looking = tracer.Looking(lambda _: last)
    looking.begin()
    often, slow, other = (cast("Statement", object()) for _ in range(3))
    assert all(looking.is_wanted(often) for _ in range(3000))
    assert not looking.is_wanted(often)
    looking.took(slow, 10.0)
    assert not looking.is_wanted(slow)
    assert looking.is_wanted(other)
    now = 200.0
    assert not looking.is_wanted(other)
    last = True
    assert all(map(looking.is_wanted, (often, slow, other)))
    now = 300.0
    assert not any(map(looking.is_wanted, (often, slow)))
    assert looking.is_wanted(other)  # it runs rarely, so that it costs little to the end


SIGNALLED = """\
import signal
came = []
def ring(number, frame):
    came.append(number)
before = signal.signal(signal.SIGALRM, ring)
is_own = signal.getsignal(signal.SIGALRM) is ring
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
while len(came) < {count}:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
after = signal.signal(signal.SIGALRM, signal.SIG_DFL)
was_own = after is ring
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such signals")
def test_what_handles_a_signal_is_seen_whenever_that_comes(tmp_path: Path) -> None:
    program, before = tmp_path / "program.py", signal.getsignal(signal.SIGALRM)
    program.write_text(SIGNALLED.format(count=5), encoding="utf-8")
    held = run(program, tmp_path / "run")
    signal.signal(signal.SIGALRM, before)
    threads = {each.role: each for each in recording(str(tmp_path / "run" / "trace")).threads}

    assert (held["is_own"], held["was_own"]) == (True, True)
    assert len(threads["main:ring() on a signal"].calls) == len(held["came"]) >= 5
    assert not any(each.name == "ring" for each in threads["main"].calls)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such signals")
def test_what_a_handler_raises_comes_to_the_program(tmp_path: Path) -> None:
    program, before = tmp_path / "program.py", signal.getsignal(signal.SIGALRM)
    text = """\
    import signal
    def late(number, frame):
        raise TimeoutError
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    done = 0
    try:
        while True:
            done += 1
    except TimeoutError:
        caught = done
    """
    program.write_text(textwrap.dedent(text), encoding="utf-8")
    held = run(program, tmp_path / "run")
    signal.signal(signal.SIGALRM, before)

    assert held["caught"] == held["done"]
