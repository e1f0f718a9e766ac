"""The cause that a line shows: what a condition sets tells more than what shows it first."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from statement_runs import flows

from guard.diff import Cause, Difference
from guard.diff.slices import find
from guard.verification.statements import cause_of, decided

if TYPE_CHECKING:
    from pathlib import Path

    from guard.verification.statements import Decided

_HEAD = """\
import os, types
held = types.SimpleNamespace(weight=1.0, when=0)
groups = [{"lr": 1.0}, {"lr": 1.0}]
weight, last = 2.0, 0
def lower(by):
    for group in groups:
        group["lr"] *= by
def noted(value):
    return value
a = os.urandom(4)
if a[0] > LIMIT:
"""
_TAIL = "b = groups[0]['lr'], weight, held.weight\n"

CASES = {
    "a rate": ("groups[0]['lr'] = 0.5", Cause.HYPERPARAMETER),
    "rates, in a loop": (
        "for group in groups:\n    if group['lr']:\n        group['lr'] = 0.5",
        Cause.HYPERPARAMETER,
    ),
    "rates, in a function": ("lower(0.5)", Cause.HYPERPARAMETER),
    "a rate that has a name": ("rate = 0.5\ngroups[0]['lr'] = rate", Cause.HYPERPARAMETER),
    "a rate, and when": ("groups[0]['lr'], last = 0.5, 3", Cause.HYPERPARAMETER),
    "a rate, and when, in an object": (
        "groups[0]['lr'] = 0.5\nheld.when = 3",
        Cause.HYPERPARAMETER,
    ),
    "a rate and an attribute that is read later": (
        "groups[0]['lr'] = 0.5\nheld.weight = 3",
        Cause.OUTSIDE,
    ),
    "a rate and what is read later": ("groups[0]['lr'] = weight = 0.5", Cause.OUTSIDE),
    "a rate and more": ("groups[0]['lr'] = 0.5\nprint()", Cause.CONTROL_FLOW),
    "an item of another name": ("groups[0]['momentum'] = 0.5\nweight = 1", Cause.OUTSIDE),
    "a value": ("weight = 0.5", Cause.OUTSIDE),
    "a computation": ("weight = noted(0.5)", Cause.CONTROL_FLOW),
}


def shown(tmp_path: Path, body: str, cause: Cause) -> Decided | None:
    text = _HEAD + textwrap.indent(body, "    ") + "\n" + _TAIL
    found = flows(tmp_path, text, LIMIT=(-1, 255))
    (origin,) = found.tainted[-1].origins
    return cause_of(found, origin, cause, {"lr", "weight_decay"})


@pytest.mark.parametrize("name", CASES)
def test_what_looked_like_a_kernel_is_told_by_what_a_condition_sets(
    name: str, tmp_path: Path
) -> None:
    body, cause = CASES[name]
    found = shown(tmp_path, body, Cause.KERNEL)

    assert found is not None
    assert found.cause is cause
    assert (found.setting is not None) == (cause is Cause.HYPERPARAMETER)


@pytest.mark.parametrize("known", [Cause.CONTROL_FLOW, Cause.OUTSIDE])
@pytest.mark.parametrize("name", CASES)
def test_what_is_known_is_a_hyperparameter_where_nothing_else_is_set(
    name: str, known: Cause, tmp_path: Path
) -> None:
    body, cause = CASES[name]
    found = shown(tmp_path, body, known)

    assert (found and found.cause) == (cause if cause is Cause.HYPERPARAMETER else None)


def test_what_is_known_by_its_event_stays_what_it_is(tmp_path: Path) -> None:
    assert shown(tmp_path, "groups[0]['lr'] = 0.5", Cause.BATCH_CONTENT) is None


def test_what_a_thread_adds_up_stays_a_kernel(tmp_path: Path) -> None:
    text = """\
    import os
    import threading
    total = []
    def work():
        total.append(os.urandom(4))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    b = list(total)
    """
    found = flows(tmp_path, textwrap.dedent(text))
    difference = Difference(0, 3, "training", None, None, Cause.KERNEL, "")
    (origin,) = find(found, difference).origins

    assert cause_of(found, origin, Cause.KERNEL, {"lr"}) is None


def test_the_verdict_says_what_is_set(tmp_path: Path) -> None:
    difference = Difference(0, 3, "training", None, None, Cause.KERNEL, "The loss differs.")
    found = decided(difference, shown(tmp_path, "lower(0.5)", Cause.KERNEL))

    assert found.cause is Cause.HYPERPARAMETER
    assert found.why == (
        "The loss differs. In one run alone a hyperparameter is set before: `group['lr'] *= by`."
    )
