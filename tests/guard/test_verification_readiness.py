"""What a program asks of its threads, and draws as often as these let it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.comparison import Cause, Difference
from guard.verification.possibilities import Asked, advised, with_possibilities
from guard.verification.readiness import asks
from guard.verification.texts import Text
from guard.verification.unsteady import unsteady_draws

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("job.done()", True),
        ("lock.acquire(blocking=False)", True),
        ("lock.acquire(False)", True),
        ("lock.acquire()", False),
        ("queue.get(timeout=1)", False),
        ("settings.get('x')", False),
        ("queue.empty()", True),
        ("torch.empty(3)", False),
        ("done()", False),
        ("self.stop.wait(0.1)", True),
    ],
)
def test_what_asks_whether_another_is_done(text: str, *, found: bool) -> None:
    assert bool(asks(ast.parse(text, mode="eval").body)) is found


def test_errors_of_what_is_late_ask_as_well() -> None:
    for kind, found in (("queue.Empty", True), ("(OSError, TimeoutError)", True), ("OSError", 0)):
        handler = ast.parse(f"try: f()\nexcept {kind}: pass").body[0].handlers[0]  # type: ignore[attr-defined]
        assert bool(asks(handler)) is bool(found)


TRIES = """\
from random import uniform
def append(self, row):
    for attempt in range(6):
        if self.lock.acquire(blocking=False):
            return self.rows.append(row)
        time.sleep(uniform(0, 1))
"""
CALLED = """\
import numpy as np
def refill(rows):
    return np.random.permutation(rows)
def step(job, rows):
    if job.done():
        rows = refill(rows)
    return rows, np.random.rand()
"""
FAILED = """\
import random
def load(path):
    try:
        return read(path)
    except OSError:
        return read(random.choice(mirrors))
def steady():
    return random.random()
"""
OWN = """\
import random
draws = random.Random(1)
def load(job):
    while not job.done():
        time.sleep(draws.random())
"""


@pytest.mark.parametrize(
    ("text", "generators", "lines"),
    [
        (TRIES, ("python",), [6]),
        (TRIES, (), [6]),
        (TRIES, ("numpy",), []),
        (CALLED, ("numpy",), [3]),
        (FAILED, ("python",), [6]),
        (OWN, ("python",), []),
    ],
)
def test_draws_that_come_as_often_as_something_lets_them(
    text: str, generators: tuple[str, ...], lines: list[int]
) -> None:
    assert [line for _, line, _ in unsteady_draws(ast.parse(text), generators)] == lines


def test_they_are_named_in_a_module_beside_the_program(tmp_path: Path) -> None:
    paths = [write(tmp_path / "train.py", "import helper\n"), write(tmp_path / "helper.py", TRIES)]
    difference = Difference(
        0, 0, "training", None, None, Cause.GENERATOR, "", generators=("python",)
    )
    asked = Asked(difference, "none", Text(map(str, paths)))
    (found,) = with_possibilities((), asked)
    assert (found.file, found.line) == (str(paths[1]), 6)
    assert "how often it is asked" in advised(difference, "none", [found])


TEACHER = """\
from concurrent.futures import ThreadPoolExecutor
class Teacher:
    def observe(self, step):
        if self.job is not None and self.job.done():
            self.ready = True
        self.job = self.pool.submit(average, step)
"""
LATE = """\
import queue, threading
def take(ready):
    while True:
        try:
            return ready.get(timeout=0.1)
        except queue.Empty:
            break
"""
RETURNED = """\
import threading
class Helper:
    def over(self):
        return self.stop.is_set()
threading.Thread(target=Helper().over)
"""
ALONE = "while not game.done():\n    game.play()\n"


@pytest.mark.parametrize(
    ("text", "lines"), [(TEACHER, [4]), (LATE, [6]), (RETURNED, [4]), (ALONE, [])]
)
def test_conditions_on_what_others_have_done(text: str, lines: list[int], tmp_path: Path) -> None:
    paths = [write(tmp_path / "train.py", "import helper\n"), write(tmp_path / "helper.py", text)]
    difference = Difference(0, 3, "training", None, None, Cause.CONTROL_FLOW, "", advice="Look.")
    found = with_possibilities((), Asked(difference, "timing", Text(map(str, paths))))
    assert [(each.file, each.line) for each in found] == [(str(paths[1]), each) for each in lines]
    assert ("Wait for it" in advised(difference, "timing", found)) is bool(lines)
