"""A comparison of statements that fails leaves the verdict as it was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

from guard.diff import Cause
from guard.verification import statements
from guard.verification.operators import Bisection

if TYPE_CHECKING:
    from collections.abc import Callable


def _raising(error: Exception) -> Callable[..., Any]:
    def raises(*_: object) -> Any:  # noqa: ANN401
        raise error

    return raises


def test_what_fails_is_told_in_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    difference: Any = SimpleNamespace(rank=0, step=3, lane="", cause=Cause.OUTSIDE)
    process = SimpleNamespace(look=lambda: None, traces=[1], traces_folder="")
    watched = SimpleNamespace(processes=(process, process))
    monkeypatch.setattr(statements, "rerun", lambda *_: watched)
    monkeypatch.setattr(statements, "replace", lambda each, **_: each)
    seen = SimpleNamespace(difference=difference)
    monkeypatch.setattr(statements, "examine", lambda *_: seen)
    monkeypatch.setattr(statements, "compare", _raising(RecursionError("too deep")))
    text = SimpleNamespace(called=lambda *_: [])
    session: Any = SimpleNamespace(plan=SimpleNamespace(ranks=1), text=text)

    found = statements.entry(session, difference, 1, Bisection(), 8)

    assert not found.lines
    assert found.note == (
        "what differs was not traced to a line: comparing statement by statement failed with "
        "RecursionError('too deep')"
    )


@pytest.mark.parametrize(("budget", "others"), [(8, [1, 3, 5]), (4, [1, 3]), (3, [1])])
def test_a_difference_that_does_not_come_again_is_looked_for_in_further_runs(
    budget: int, others: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    process, asked = SimpleNamespace(look=lambda: None, traces=[1]), []

    def rerun(_: object, runs: tuple[int, int], __: object) -> SimpleNamespace:
        asked.append(runs[1])
        return SimpleNamespace(processes=(process, process))

    monkeypatch.setattr(statements, "rerun", rerun)
    monkeypatch.setattr(statements, "examine", lambda *_: SimpleNamespace(difference=None))
    difference: Any = SimpleNamespace(step=3, lane="", cause=Cause.OUTSIDE)
    session: Any = SimpleNamespace()

    found = statements.entry(session, difference, 1, Bisection(), budget)

    assert asked == others
    assert found.runs == 2 * len(others)
    assert "did not come again" in found.note
