"""What several threads of a program train is told task by task, in whatever order they come."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from guard.diff import Cause, compare  # noqa: E402
from guard.recording.recording import running  # noqa: E402
from guard.recording.session import Options  # noqa: E402
from guard.trace import Trace, open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

X = torch.linspace(-1, 1, 24).reshape(6, 4)


def fit(number: int, steps: int = 3, turn: threading.Event | None = None) -> float:
    """Train a model of its own, once it is its turn."""
    generator = torch.Generator().manual_seed(number)
    weights = torch.randn(1, 4, generator=generator)
    model = nn.Linear(4, 1)
    with torch.no_grad():
        model.weight.copy_(weights)
        model.bias.zero_()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for at in range(steps):
        if turn is not None and at:
            assert turn.wait(30)
        optimizer.zero_grad()
        loss = functional.mse_loss(model(X), X[:, :1])
        loss.backward()
        optimizer.step()
    return loss.item()


def recorded(folder: Path, program: Callable[[], object], **options: object) -> Trace:
    with running(folder, Options(**options), ["program.py"], overwrite=True):  # type: ignore[arg-type]
        program()
    (trace,) = open_run(folder)
    return trace


def lanes(trace: Trace) -> dict[str, int]:
    return {name: len(steps) for name, steps in trace.lanes.items() if name}


def by_threads(order: Sequence[int], numbers: Sequence[int] = (0, 1, 2)) -> None:
    """Three threads, of which one after the other goes on beyond its first step."""
    turns = [threading.Event() for _ in numbers]
    threads = [
        threading.Thread(target=fit, args=(number, 3, turn))
        for number, turn in zip(numbers, turns, strict=True)
    ]
    for each in threads:
        each.start()
    for at in order:
        turns[at].set()
        threads[at].join()


def test_threads_that_come_in_another_order_do_the_same(tmp_path: Path) -> None:
    first = recorded(tmp_path / "1", partial(by_threads, (0, 1, 2)))
    second = recorded(tmp_path / "2", partial(by_threads, (2, 0, 1)))
    assert lanes(first) == {"fit 1": 3, "fit 2": 3, "fit 3": 3}
    assert first.lanes != second.lanes
    assert {name: end.status for name, end in first.lane_ends.items() if name in first.lanes} == {
        "fit 1": "finished",
        "fit 2": "finished",
        "fit 3": "finished",
    }
    assert compare([first], [second]) is None


def test_a_task_that_computes_something_else_is_named(tmp_path: Path) -> None:
    first = recorded(tmp_path / "1", partial(by_threads, (0, 1, 2)))
    second = recorded(tmp_path / "2", partial(by_threads, (2, 0, 1), (0, 5, 2)))
    found = compare([first], [second])
    assert found is not None
    assert found.cause is not Cause.CONTROL_FLOW
    assert (found.lane, found.step) == ("fit 2", 0)


def test_a_task_that_ends_earlier_is_named(tmp_path: Path) -> None:
    def program(steps: int) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(fit, 1, steps).result()

    first, second = (recorded(tmp_path / str(each), partial(program, each)) for each in (3, 4))
    found = compare([first], [second])
    assert found is not None
    assert (found.cause, found.lane, found.step) == (Cause.LENGTH, "fit 1", 3)


def _submits(pool: ThreadPoolExecutor) -> list[float]:
    return [each.result() for each in [pool.submit(fit, number) for number in range(3)]]


def _is_done(pool: ThreadPoolExecutor) -> list[float]:
    tasks = [pool.submit(fit, 4), pool.submit(fit, 5)]
    return sorted(each.result() for each in as_completed(tasks))


@pytest.mark.parametrize(
    ("begin", "use", "names"),
    [
        (ThreadPoolExecutor, _submits, ["fit 1", "fit 2", "fit 3"]),
        (ThreadPoolExecutor, lambda pool: list(pool.map(fit, (1, 2))), ["fit 1", "fit 2"]),
        (ThreadPoolExecutor, _is_done, ["fit 1", "fit 2"]),
        (ThreadPool, lambda pool: pool.apply(fit, (1,)), ["fit 1"]),
        (ThreadPool, lambda pool: pool.map(fit, (1, 2)), ["fit 1, item 0", "fit 1, item 1"]),
        (
            ThreadPool,
            lambda pool: pool.starmap(fit, ((1, 2), (2, 2))),
            ["fit 1, item 0", "fit 1, item 1"],
        ),
        (
            ThreadPool,
            lambda pool: sorted(pool.imap_unordered(fit, range(2))),
            ["fit 1, item 0", "fit 1, item 1"],
        ),
    ],
)
def test_tasks_of_pools_are_named_by_how_they_were_handed_out(
    tmp_path: Path, begin: type, use: Callable[..., object], names: list[str]
) -> None:
    def program() -> None:
        with begin(2) as pool:
            given.append(use(pool))

    given: list[object] = []
    program()
    trace = recorded(tmp_path, program)
    assert sorted(lanes(trace)) == names
    assert given[0] == given[1]


def test_what_is_evaluated_comes_before_what_is_started_then(tmp_path: Path) -> None:
    model = nn.Linear(4, 1)

    def program() -> None:
        with torch.no_grad():
            model(X)
        thread = threading.Thread(target=fit, args=(1,))
        thread.start()
        thread.join()
        with torch.no_grad():
            model(X)

    trace = recorded(tmp_path, program)
    assert [*trace.lanes["fit 1"]] == [1, 2, 3]
    assert [*trace.lanes[""]] == [0, 4, 5]


def test_a_thread_that_outlives_the_program_is_no_difference(tmp_path: Path) -> None:
    done = threading.Event()

    def endless(steps: int) -> None:
        fit(1, steps)
        ready.set()
        done.wait(30)

    ready = threading.Event()

    def program(steps: int) -> None:
        threading.Thread(target=endless, args=(steps,), daemon=True).start()
        assert ready.wait(30)
        ready.clear()

    first, second = (recorded(tmp_path / str(each), partial(program, each)) for each in (2, 3))
    done.set()
    assert lanes(first) == {"endless 1": 2}
    assert lanes(second) == {"endless 1": 3}
    assert compare([first], [second]) is None


def test_a_step_of_a_task_is_the_last_that_is_recorded(tmp_path: Path) -> None:
    trace = recorded(tmp_path, partial(by_threads, (0, 1, 2)), until=1, operators=1, lane="fit 2")
    assert trace.end is not None
    assert trace.end.status == "stopped"
    steps = [trace.step(at) for at in trace.lanes["fit 2"]]
    assert [each.number for each in steps] == [0, 1]
    held = [{event.kind for event in each.events} for each in steps]
    assert ["operator" in each for each in held] == [False, True]


def test_a_run_that_is_to_be_resumed_tells_no_tasks(tmp_path: Path) -> None:
    trace = recorded(tmp_path, partial(by_threads, (0,), (0,)), held=1)
    assert lanes(trace) == {}
    assert sum(each.kind == "training" for each in trace.steps()) == 3


def test_a_task_that_fails_is_told(tmp_path: Path) -> None:
    def failing() -> None:
        fit(1)
        raise ValueError("no")

    def program() -> None:
        with ThreadPoolExecutor(1) as pool:
            assert isinstance(pool.submit(failing).exception(), ValueError)

    ended = recorded(tmp_path, program).lane_ends["failing 1"]
    assert (ended.status, ended.message) == ("raised", "ValueError")
