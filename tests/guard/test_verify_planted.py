"""``guard verify`` names the planted cause, and finds nothing in programs that are steady."""

from __future__ import annotations

import pytest
from planted_programs import FOLDER, Planted, fingerprint, programs, verify

from guard.diff import Source

QUICK = ("folder_of_shards", "split_without_state")
QUICK_STEADY = ("gan",)
PLANTED = programs(FOLDER / "planted")
STEADY = programs(FOLDER / "steady")


def _chosen(found: list[Planted], quick: tuple[str, ...]) -> list[object]:
    return [
        pytest.param(each, id=each.name, marks=() if each.name in quick else pytest.mark.slow)
        for each in found
    ]


@pytest.mark.parametrize("program", _chosen(PLANTED, QUICK))
def test_the_planted_line_is_named(program: Planted) -> None:
    answer = verify(program)

    assert answer.status == 1, (answer.why, answer.error)
    assert answer.is_cause, (answer.cause, answer.source, answer.why)
    assert answer.is_line, answer.named


@pytest.mark.parametrize("program", _chosen(STEADY, QUICK_STEADY))
def test_a_steady_program_is_identical(program: Planted) -> None:
    answer = verify(program)

    assert answer.status == 0, (answer.why, answer.named, answer.error)


@pytest.mark.slow
@pytest.mark.parametrize("program", [pytest.param(each, id=each.name) for each in PLANTED])
def test_a_planted_program_differs_by_itself(program: Planted) -> None:
    if program.lost:
        pytest.skip("differs only when it is resumed")
    first = fingerprint(program)

    assert any(fingerprint(program) != first for _ in range(7))


@pytest.mark.slow
@pytest.mark.parametrize("program", [pytest.param(each, id=each.name) for each in STEADY])
def test_a_steady_program_is_the_same_every_time(program: Planted) -> None:
    assert len({fingerprint(program) for _ in range(3)}) == 1


def test_every_planted_program_is_marked() -> None:
    known = {each.name.lower() for each in Source} | {
        "batch_order",
        "batch_content",
        "control_flow",
        "environment",
        "generator",
        "hyperparameter",
        "initialisation",
        "kernel",
        "state",
        "unwritten_memory",
    }

    assert all(program.lines and program.causes <= known for program in PLANTED)
    assert not any(program.lines for program in STEADY)
