"""What a program asks of its threads, and draws as often as these let it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.diff import Cause, Difference
from guard.verification.mentions import asks
from guard.verification.possibilities import Asked, advised, with_possibilities
from guard.verification.texts import Text

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
