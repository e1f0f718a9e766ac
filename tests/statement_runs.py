"""Small programs run under the tracer, in this process; and what flows where between two runs."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from guard.diff.slices import compare
from guard.recording.lanes import Lanes
from guard.recording.tracer import Tracer

if TYPE_CHECKING:
    from pathlib import Path

    from guard.diff.flows import Flows


def run(program: Path, folder: Path, **given: object) -> dict[str, Any]:
    """Run a file under the tracer; its globals."""
    folder.mkdir()
    (folder / "trace").mkdir()
    code = compile(program.read_text(encoding="utf-8"), str(program), "exec")
    lanes = Lanes(lambda: None, lambda *_: None)
    tracer = Tracer(str(folder / "trace"), 1 << 30, lambda: lanes.current)  # never the last
    held: dict[str, Any] = {"__name__": "__main__", "__file__": str(program), **given}
    with ExitStack() as stack:
        lanes.follow(stack)
        tracer.begin()
        try:
            exec(code, held)  # noqa: S102 - the program under test
        finally:
            tracer.end()
    return held


def flows(tmp_path: Path, text: str, **given: tuple[object, object]) -> Flows:
    """What flows where in two runs of a program, whose globals may be given another value each."""
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    for at in (0, 1):
        run(program, tmp_path / str(at), **{name: pair[at] for name, pair in given.items()})
    found, _ = compare(*(os.path.join(tmp_path, str(at), "trace") for at in (0, 1)))
    return found


def origins(flows: Flows, line: int) -> set[int]:
    """Lines of the origins of what a line gave, in its last run; none where it agreed."""
    tainted = [each for each in flows.tainted if each.statement.line == line]
    return {each.statement.line for each in tainted[-1].origins} if tainted else set()
