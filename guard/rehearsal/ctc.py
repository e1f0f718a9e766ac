"""``torch.ctc_loss``, which turns lengths into numbers for real tensors and not for fake ones."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from guard.observe.patching import replace
from guard.rehearsal import values

if TYPE_CHECKING:
    from contextlib import ExitStack


def install(stack: ExitStack) -> None:
    """Have it turn lengths into numbers where these are known."""
    original = torch.ctc_loss

    @functools.wraps(original)
    def ctc_loss(
        log_probs: torch.Tensor,
        targets: torch.Tensor,
        input_lengths: Any,  # noqa: ANN401 - a tensor, or numbers
        target_lengths: Any,  # noqa: ANN401
        *rest: Any,
        **options: Any,
    ) -> torch.Tensor:
        lengths = _numbers(input_lengths), _numbers(target_lengths)
        if None in lengths:
            lengths = input_lengths, target_lengths
        # detlint: ignore[DET501] it is the program's own call
        return original(log_probs, targets, *lengths, *rest, **options)

    replace(stack, torch, "ctc_loss", ctc_loss)


def _numbers(lengths: Any) -> Any:  # noqa: ANN401
    if not isinstance(lengths, torch.Tensor):
        return lengths
    known = values.of(lengths) if isinstance(lengths, FakeTensor) else lengths
    if known is None:
        return None
    with unset_fake_temporarily():
        return known.tolist()
