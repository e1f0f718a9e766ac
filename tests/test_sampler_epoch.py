"""What DET206 says, and that it is true of torch's sampler."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from torch.utils.data import DataLoader, DistributedSampler

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

CODE = """
    from torch.utils.data import DataLoader, DistributedSampler

    loader = DataLoader(data, sampler=DistributedSampler(data))
    for epoch in range(10):
        for batch in loader:
            step(batch)
"""


def test_the_message_says_what_is_missing(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings(textwrap.dedent(CODE), "DET206")
    assert found.message == (
        "nothing calls set_epoch on this DistributedSampler: "
        "it shuffles to the same order in every epoch"
    )


@pytest.mark.parametrize(
    "line",
    [
        "import lightning as L",
        "from accelerate import Accelerator",
        "from ignite.engine import Engine",
        "from elsewhere import set_epoch_everywhere",
    ],
)
def test_it_is_silent_where_other_code_may_tell_the_epoch(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(line + textwrap.dedent(CODE), "DET206") == []


def test_every_epoch_has_the_same_order_until_the_sampler_is_told() -> None:
    sampler = DistributedSampler(range(64), num_replicas=2, rank=0)  # type: ignore[arg-type]
    loader = DataLoader(range(64), sampler=sampler)  # type: ignore[arg-type, var-annotated]
    first, second = ([int(each) for each in loader] for _ in range(2))
    assert first == second
    assert first != sorted(first)
    sampler.set_epoch(1)
    assert [int(each) for each in loader] != first
