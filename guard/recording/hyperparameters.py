"""An optimizer's hyperparameters: what they are called, and whether they have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.digests.structures import fingerprint
from guard.recording.backwards import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_HYPER = ("params", "param_names")  # keys of a group


def comparable(value: Any) -> Any:  # noqa: ANN401
    """What tells whether a hyperparameter has changed."""
    return fingerprint(value).digest if isinstance(value, torch.Tensor) else value


def flat(optimizer: str, groups: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Hyperparameters one by one: "AdamW.lr", "AdamW[1].betas[0]"."""
    for index, group in enumerate(groups):
        prefix = f"{optimizer}[{index}]" if index else optimizer
        for name, value in group.items():
            if name in NOT_HYPER:
                continue
            if isinstance(value, (tuple, list)):
                for number, each in enumerate(value):
                    yield f"{prefix}.{name}[{number}]", each
            else:
                yield f"{prefix}.{name}", value


def number_in(value: Any) -> Any:  # noqa: ANN401
    """The number that one holds, as ``number_of`` gives it; or None."""
    if isinstance(value, torch.Tensor):
        return number_of(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, (int, float)) else None
