"""Thousands of statements are traced in the time of some, not of their square."""

from __future__ import annotations

import textwrap
import time
from typing import TYPE_CHECKING, cast

from statement_runs import flows, origins

from guard.recording import tracer

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from guard.observe.statements import Statement


def test_thousands_of_draws_from_a_state_that_differs(tmp_path: Path) -> None:
    text = """\
    import random
    random.seed(SEED)
    for _ in range(2500):
        a = random.random()
    """
    begun = time.process_time()
    found = flows(tmp_path, textwrap.dedent(text), SEED=(1, 2))
    took = time.process_time() - begun

    assert origins(found, 4)
    assert took < 5  # 0.6 s; 12 s when each draw looked at all before it


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
