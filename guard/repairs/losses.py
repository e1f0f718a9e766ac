"""Losses: the backward of CTC, the forward of ``nll_loss`` in two dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from guard.repairs.axes import accumulated_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_NONE, _MEAN = 0, 1


def ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int] | Tensor,
    target_lengths: Sequence[int] | Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Tensor:
    """aten::_ctc_loss_backward: exp(log_probs) less the expected number of each class.

    The backward recursion, beta, is the forward one of the reversed sequence, and torch's kernel
    of that is deterministic. Where a class cannot occur, as log_probs is -inf, its gradient is 0.

    log_probs  [time, batch, classes]
    log_alpha  [batch, time, 2 * longest target + 1]
    """
    device, states = log_probs.device, log_alpha.shape[2]
    times = torch.as_tensor(input_lengths, device=device).long()
    labels = torch.as_tensor(target_lengths, device=device).long()
    padded = _padded(targets.to(device), labels, max((states - 1) // 2, 1))
    beta = _beta(log_probs, padded, times, labels, blank, states)
    symbols = torch.full((len(times), states), blank, dtype=torch.int64, device=device)
    symbols[:, 1::2] = padded[:, : (states - 1) // 2]
    expected = _expected(log_probs, log_alpha + beta, neg_log_likelihood, symbols)
    result = (log_probs.exp() - expected) * grad[None, :, None]
    impossible = neg_log_likelihood.isinf()
    result.masked_fill_(impossible[None, :, None], 0 if zero_infinity else float("nan"))
    past = torch.arange(len(log_probs), device=device)[:, None] >= times
    return result.masked_fill_(past[:, :, None], 0)


def _padded(targets: Tensor, labels: Tensor, longest: int) -> Tensor:
    """Targets as [batch, longest], 0 beyond their lengths."""
    number = torch.arange(longest, device=targets.device)
    used = number < labels[:, None]
    if targets.dim() == 1:
        place = (labels.cumsum(0) - labels)[:, None] + number
        source = targets
    else:
        width = targets.shape[1]
        place = torch.arange(len(labels), device=targets.device)[:, None] * width + number
        source = targets.reshape(-1)
    if not source.numel():
        return torch.zeros_like(used, dtype=torch.int64)
    return source[place.clamp(max=len(source) - 1)].long().masked_fill(~used, 0)


def _beta(
    log_probs: Tensor, padded: Tensor, times: Tensor, labels: Tensor, blank: int, states: int
) -> Tensor:
    """The log-probability of what is left, from each state at each time: [batch, time, states]."""
    device, length = log_probs.device, len(log_probs)
    time, batch = torch.arange(length, device=device), torch.arange(len(times), device=device)
    turned = times - 1 - time[:, None]  # [time, batch]
    order = torch.where(turned >= 0, turned, time[:, None])
    number = torch.arange(padded.shape[1], device=device)
    from_end = (labels[:, None] - 1 - number).clamp(min=0)
    alpha: Tensor
    _, alpha = torch.ops.aten._ctc_loss(  # noqa: SLF001
        log_probs[order, batch],
        padded.gather(1, from_end),
        times.tolist(),
        labels.tolist(),
        blank,
        False,
    )
    state = 2 * labels[:, None] - torch.arange(states, device=device)  # [batch, states]
    index = state.clamp(min=0)[:, None, :].expand(-1, length, -1)
    beta: Tensor = alpha.gather(1, turned.clamp(min=0).T[:, :, None].expand(-1, -1, alpha.shape[2]))
    beta = beta.gather(2, index)
    return beta.masked_fill_((state < 0)[:, None, :], float("-inf"))


def _expected(log_probs: Tensor, joint: Tensor, nll: Tensor, symbols: Tensor) -> Tensor:
    """How often each class is expected at each time: [time, batch, classes]."""
    length, batch, classes = log_probs.shape
    index = symbols[:, None, :].expand(-1, length, -1)
    reached = joint > float("-inf")
    joint = joint.add_(nll[:, None, None]).sub_(log_probs.transpose(0, 1).gather(2, index))
    share = joint.exp_().masked_fill_(~reached, 0)
    begins = torch.arange(batch, device=log_probs.device)[:, None] * classes
    total = share.new_zeros(batch * classes, length)
    rows = share[:, :, 1::2].transpose(1, 2).reshape(-1, length)
    total.index_put_(((begins + symbols[:, 1::2]).reshape(-1),), rows, accumulate=True)
    total[begins[:, 0] + symbols[:, 0]] += share[:, :, 0::2].sum(2)
    return total.view(batch, classes, length).permute(2, 0, 1)


def nll_loss2d_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """aten::nll_loss2d_forward: the loss, and the sum of the weights."""
    dtype = accumulated_in(self)
    kept = target != ignore_index
    classes = target.masked_fill(~kept, 0)
    picked = self.gather(1, classes[:, None]).squeeze(1).to(dtype)
    factor = torch.ones_like(picked) if weight is None else weight.to(dtype)[classes]
    losses = (-picked * factor).masked_fill_(~kept, 0)
    if reduction == _NONE:
        return losses.to(self.dtype), self.new_zeros(())
    total = factor.masked_fill_(~kept, 0).sum()
    loss = losses.sum() / total if reduction == _MEAN else losses.sum()
    return loss.to(self.dtype), total.to(self.dtype)
