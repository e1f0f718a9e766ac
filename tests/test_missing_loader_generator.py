"""What DET202 says, that its claim is true of torch, and that its fix runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch.utils.data import DataLoader, RandomSampler, random_split

import guard
from detlint.rules.missing_loader_generator import MissingLoaderGenerator

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

HEADER = "from torch.utils.data import DataLoader, SubsetRandomSampler, random_split\n"
DATA = list(range(100))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("DataLoader(data, shuffle=True)", "DataLoader(shuffle=True) has no generator: its order"),
        ("SubsetRandomSampler(data)", "SubsetRandomSampler() has no generator: its order"),
        ("random_split(data, [1, 1])", "random_split() has no generator: its split"),
    ],
)
def test_the_message_names_what_draws(
    code: str, message: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(HEADER + code + "\n", "DET202")
    assert found.message == f"{message} depends on how many numbers were drawn before"
    assert not found.safe


def test_it_is_off_by_default() -> None:
    assert not MissingLoaderGenerator.default


def test_a_file_with_another_guard_gets_no_fix(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings(HEADER + "DataLoader(d, shuffle=True)\nguard = None\n", "DET202")
    assert found.edits == ()


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(
            lambda **options: [int(each) for each in DataLoader(DATA, shuffle=True, **options)],
            id="DataLoader",
        ),
        pytest.param(lambda **options: list(RandomSampler(DATA, **options)), id="RandomSampler"),
        pytest.param(
            lambda **options: list(random_split(range(100), [50, 50], **options)[0].indices),
            id="random_split",
        ),
    ],
)
def test_a_draw_before_it_changes_the_order_unless_it_has_a_generator(
    order: Callable[..., list[int]],
) -> None:
    def drawn(draws: int, **options: torch.Generator) -> list[int]:
        torch.manual_seed(0)
        torch.rand(draws)
        return order(**options)

    with torch.random.fork_rng(devices=[]):
        assert drawn(0) == drawn(0)
        assert drawn(0) != drawn(1)
        own = [drawn(draws, generator=guard.generator(0)) for draws in (0, 1)]
    assert own[0] == own[1]
