"""What another thread writes to a closure's variable while a frame is looked at is kept."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from statement_runs import run

from guard.recording import tracer

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PROGRAM = """\
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
    program.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")

    held = run(program, tmp_path / "run", WRITERS=writers)

    assert held["found"] == 2  # after the first statement, and before the second
