"""Counting, selecting and sorting, and running sums and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.repairs.axes import accumulated_in, quotient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    Original = Callable[..., Any]


# Releases whose kthvalue refuses, on CUDA, sort.
HAS_KTHVALUE = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 10)
_PIECE = 2**22  # numbers at a time, each of which takes several times its own memory
_PIECES = {"cpu": 2**15}
_ROW = 2**10  # numbers of a scan that one thread block does, one after the other


def bincount(self: Tensor, weights: Tensor | None, minlength: int, *, original: Original) -> Tensor:
    """aten::bincount; plain counts are deterministic."""
    if weights is None or not self.numel():
        counts: Tensor = original(self, None, minlength)  # with weights it refuses, also nothing
        return counts
    if self.shape != weights.shape:
        raise ValueError(f"weights have the shape {list(weights.shape)}, not {list(self.shape)}")
    least, most = (int(each) for each in self.aminmax())
    if least < 0:
        raise ValueError("bincount takes no negative numbers")
    size = max(minlength, most + 1)
    dtype = torch.float32 if weights.dtype == torch.float32 else torch.float64
    total = torch.zeros(size, dtype=dtype, device=self.device)
    return total.index_put_((self.long(),), weights.to(dtype), accumulate=True)


def histc(self: Tensor, bins: int, min: float, max: float) -> Tensor:
    """aten::histc: number the bins, as torch's kernel does, and count the numbers."""
    values = self.reshape(-1)
    values = values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
    low, high = float(min), float(max)
    if low == high and values.numel():
        low, high = (float(each) for each in values.aminmax())
    if low == high:
        low, high = low - 1, high + 1
    if not torch.tensor([low, high]).isfinite().all():
        raise ValueError(f"the range of [{low}, {high}] is not finite")
    counts = torch.zeros(bins + 1, dtype=torch.int64, device=self.device)
    piece = _PIECES.get(self.device.type, _PIECE)
    for begin in range(0, len(values), piece):
        part = values[begin : begin + piece]
        number = quotient((part - low) * bins, high - low).long().clamp_(max=bins - 1)
        inside = (part >= low) & (part <= high)
        counts += torch.bincount(number.masked_fill_(~inside, bins), minlength=bins + 1)
    return counts[:bins].to(self.dtype)


def median(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """aten::median.dim: the middle one, or nan if there is any; of equal ones the first."""
    values = self if self.dim() else self.reshape(1)
    size = values.shape[dim]
    if not size:
        raise IndexError(f"expected reduction dim {dim} to have non-zero size")
    middle = _middle(values, (size - 1) // 2, dim)
    hit = values == middle
    if values.is_floating_point():
        is_nan = values.isnan()
        has_nan = is_nan.any(dim, keepdim=True)
        middle = middle.masked_fill(has_nan, float("nan"))
        hit = hit.logical_or_(is_nan)  # what is equal, where none is nan: the middle is none, then
        hit = torch.where(has_nan, is_nan, hit)
    index = hit.view(torch.uint8).argmax(dim, keepdim=True)
    if not self.dim():
        return middle.reshape(()), index.reshape(())
    return (middle, index) if keepdim else (middle.squeeze(dim), index.squeeze(dim))


def _middle(values: Tensor, place: int, dim: int) -> Tensor:
    """The value at a place of the sorted ones, with its dimension.

    Some rows at a time: kthvalue and a sort take several times the memory of what they are given.
    """
    rows = values.movedim(dim, -1)
    shape = rows.shape[:-1]
    rows = rows.reshape(-1, rows.shape[-1])
    count = max(_PIECES.get(values.device.type, _PIECE) // rows.shape[1], 1)
    found = values.new_empty(len(rows))
    for begin in range(0, len(rows), count):
        part = rows[begin : begin + count]
        if HAS_KTHVALUE:
            found[begin : begin + count] = part.kthvalue(place + 1, 1)[0]
        else:
            found[begin : begin + count] = part.sort(dim=1)[0][:, place]
    return found.view(*shape, 1).movedim(-1, dim)


def nanmedian(self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """aten::nanmedian.dim: the middle of those that are numbers."""
    if not self.isnan().any():
        return median(self, dim, keepdim)
    values, indices = _sorted(self, dim)
    count = values.shape[dim] - values.isnan().sum(dim, keepdim=True)
    place = ((count - 1) // 2).clamp(min=0)
    return _taken(self, values, indices, place, dim, keepdim=keepdim)


def kthvalue(self: Tensor, k: int, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    """aten::kthvalue, until torch 2.10."""
    values, indices = _sorted(self, dim)
    if not 1 <= k <= values.shape[dim]:
        raise IndexError(f"k is from 1 to {values.shape[dim]}, not {k}")
    place = torch.full_like(indices.narrow(dim, 0, 1), k - 1)
    return _taken(self, values, indices, place, dim, keepdim=keepdim)


def topk(
    self: Tensor,
    k: int,
    dim: int,
    largest: bool,
    sorted: bool,
    *,
    original: Original | None = None,
) -> tuple[Tensor, Tensor]:
    """aten::topk: of equal values the first.

    The values of torch's own kernel are the same each time, and tell which elements are meant.
    """
    if not self.dim():
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    if not 0 <= k <= self.shape[dim]:
        raise IndexError(f"k is from 0 to {self.shape[dim]}, not {k}")
    if original is None or not k or not self.numel():
        values, indices = self.sort(dim=dim, descending=largest, stable=True)
        return values.narrow(dim, 0, k).clone(), indices.narrow(dim, 0, k).clone()
    last = original(self, k, dim, largest, True)[0].narrow(dim, k - 1, 1)
    chosen = _chosen(self.movedim(dim, -1), last.movedim(dim, -1), k, largest=largest)
    indices = chosen.nonzero()[:, -1].view(*chosen.shape[:-1], k).movedim(-1, dim)
    values, order = self.gather(dim, indices).sort(dim=dim, descending=largest, stable=True)
    return values.contiguous(), indices.gather(dim, order).contiguous()


def _chosen(self: Tensor, last: Tensor, k: int, *, largest: bool) -> Tensor:
    """Which elements of the last dimension are the first k: nan is larger than any number."""
    floating = self.is_floating_point()
    kept = (self < last).logical_not_() if largest else self <= last
    if floating and (nowhere := last.isnan()).any():
        kept = torch.where(nowhere, self.isnan() if largest else True, kept)
    if int(kept.count_nonzero()) == kept.shape[:-1].numel() * k:
        return kept
    equal = self == last
    if floating:
        equal = equal.logical_or_(self.isnan() & last.isnan())
    missing = k - (kept & ~equal).sum(-1, keepdim=True)
    rank = equal.cumsum(-1, dtype=torch.int32)
    return kept.logical_and_(~equal | (rank <= missing))


def _sorted(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    values, indices = (self if self.dim() else self.reshape(1)).sort(dim=dim, stable=True)
    if not values.shape[dim]:
        raise IndexError(f"expected reduction dim {dim} to have non-zero size")
    return values, indices


def _taken(
    self: Tensor, values: Tensor, indices: Tensor, place: Tensor, dim: int, *, keepdim: bool
) -> tuple[Tensor, Tensor]:
    found = values.gather(dim, place), indices.gather(dim, place)
    if not self.dim():
        return found[0].reshape(()), found[1].reshape(())
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


def cumprod(self: Tensor, dim: int, *, dtype: torch.dtype | None, original: Original) -> Tensor:
    """aten::cumprod: several rows take the place of one, which goes to the scan that differs."""
    if not _is_one_row(self, dim):
        result: Tensor = original(self, dim, dtype=dtype)
        return result
    numbers = self if dtype is None else self.to(dtype)
    return _in_rows(numbers.reshape(-1), original, torch.mul, 1).reshape(self.shape)


def logcumsumexp(self: Tensor, dim: int, *, original: Original) -> Tensor:
    """aten::_logcumsumexp, as ``cumprod``."""
    if not _is_one_row(self, dim):
        result: Tensor = original(self, dim)
        return result
    never = float("-inf")
    return _in_rows(self.reshape(-1), original, torch.logaddexp, never).reshape(self.shape)


def _in_rows(numbers: Tensor, scan: Original, combine: Original, neutral: float) -> Tensor:
    """A scan of each row of so many, then of what the rows come to, which the next ones get."""
    if len(numbers) <= _ROW or numbers.is_complex():  # complex numbers have no logaddexp
        rows: Tensor = scan(numbers.expand(2, -1), 1)
        return rows[0].clone()
    missing = -len(numbers) % _ROW
    filled = torch.nn.functional.pad(numbers, (0, missing), value=neutral)
    rows = scan(filled.view(-1, _ROW), 1)
    before = _in_rows(rows[:, -1].contiguous(), scan, combine, neutral)[:-1]
    rows[1:] = combine(rows[1:], before[:, None])
    return rows.view(-1)[: len(numbers)].clone()


def _is_one_row(self: Tensor, dim: int) -> bool:
    floating = self.is_floating_point() or self.is_complex()
    return bool(floating and self.dim() and self.numel() and self.numel() == self.shape[dim])


def cumsum(self: Tensor, dim: int, *, dtype: torch.dtype | None) -> Tensor:
    """aten::cumsum, until torch 2.6: partial sums of twice as many elements in each step."""
    result = self.to(dtype) if dtype is not None else self
    if dtype is None and not self.is_floating_point() and not self.is_complex():
        result = self.to(torch.int64)
    kept = result.dtype
    half = kept in (torch.float16, torch.bfloat16)
    result = result.to(torch.float32 if half else kept, copy=True)
    if not result.dim():
        return result.to(kept)
    size, step = result.shape[dim], 1
    while step < size:
        head = result.narrow(dim, 0, step)
        tail = result.narrow(dim, step, size - step) + result.narrow(dim, 0, size - step)
        result = torch.cat([head, tail], dim)
        step *= 2
    return result.to(kept)


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
