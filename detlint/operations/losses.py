"""Losses and embeddings."""

from __future__ import annotations

from detlint.operations.rows import (
    NATIVE,
    Alternative,
    Argument,
    Operation,
    Usage,
    one_of,
    spelled,
    usage,
)

_CTC_BY_CUDNN = '''
import torch
import torch.nn.functional as F

def ctc_loss(log_probs, targets, target_lengths, reduction="mean", zero_infinity=False):
    """For float32 log_probs (T, N, C) all of whose steps count, targets (N, S) of which none is
    empty or longer than T, and blank 0.

    Targets are concatenated, as int32, on the CPU: that is what sends them to cuDNN.
    """
    lengths = target_lengths.tolist()
    rows = [row[:length] for row, length in zip(targets.cpu(), lengths)]
    steps = [log_probs.shape[0]] * len(rows)
    flat = torch.cat(rows).int()
    return F.ctc_loss(
        log_probs, flat, steps, lengths, reduction=reduction, zero_infinity=zero_infinity
    )
'''

_CTC = '''
import torch

def ctc_loss(
    log_probs, targets, input_lengths, target_lengths,
    blank=0, reduction="mean", zero_infinity=False,
):
    """For log_probs (T, N, C) of float32 or float64, and targets (N, S)."""
    device = log_probs.device
    input_lengths, target_lengths = input_lengths.to(device), target_lengths.to(device)
    labels = targets.new_full((len(targets), 2 * targets.shape[1] + 1), blank)
    labels[:, 1::2] = targets
    emitted = log_probs.gather(2, labels.expand(len(log_probs), -1, -1))
    never = torch.finfo(log_probs.dtype).min / 8  # finite, or the gradient would be nan
    # A step may pass over a blank between two labels, unless they are the same.
    may_skip = (labels != blank) & (labels != labels.roll(2, 1))
    may_skip[:, :2] = False
    reached = torch.full_like(emitted[0], never)
    reached = torch.cat([emitted[0, :, :2], reached[:, 2:]], 1)
    for step in range(1, len(log_probs)):
        by_one = torch.nn.functional.pad(reached, (1, -1), value=never)
        by_two = torch.nn.functional.pad(reached, (2, -2), value=never)
        ways = torch.stack([reached, by_one, by_two.where(may_skip, never)])
        further = (ways.logsumexp(0) + emitted[step]).clamp(min=never)
        reached = further.where(step < input_lengths[:, None], reached)
    end = 2 * target_lengths[:, None]
    last, before = reached.gather(1, end), reached.gather(1, (end - 1).clamp(min=0))
    ways = torch.stack([last, before.where(end > 0, never)])
    loss = -ways.logsumexp(0).squeeze(1)
    impossible = 0.0 if zero_infinity else float("inf")
    loss = loss.where(loss < -never / 2, impossible)
    if reduction == "mean":
        return (loss / target_lengths.clamp(min=1)).mean()
    return loss.sum() if reduction == "sum" else loss
'''

_FLAT_CROSS_ENTROPY = '''
import torch.nn.functional as F

def cross_entropy(input, target, **options):
    """For class indices; nll_loss in place of cross_entropy works the same way."""
    loss = F.cross_entropy(input.movedim(1, -1).flatten(0, -2), target.flatten(), **options)
    return loss.view_as(target) if options.get("reduction") == "none" else loss
'''

_UNREDUCED_CROSS_ENTROPY = '''
import torch.nn.functional as F

def cross_entropy(input, target, ignore_index=-100):
    """The mean over all places that count, for classes without weights."""
    loss = F.cross_entropy(input, target, ignore_index=ignore_index, reduction="none")
    return loss.sum() / (target != ignore_index).sum()
'''

_EMBEDDING_BAG = '''
import torch
import torch.nn.functional as F

def embedding_bag_max(input, weight, offsets=None):
    """torch.nn.functional.embedding_bag(input, weight, offsets, mode="max")."""
    if offsets is None:
        return F.embedding(input, weight).max(1).values
    lengths = torch.diff(offsets, append=offsets.new_tensor([len(input)]))[:, None]
    place = torch.arange(int(lengths.max()), device=input.device)
    place = offsets[:, None] + place.where(place < lengths, 0)  # fills up with a bag's first
    rows = F.embedding(input[place.clamp(max=len(input) - 1)], weight)
    return rows.max(1).values.where(lengths > 0, 0)
'''


def _reduced(position: int) -> tuple[Argument, Argument]:
    """One number is made of the losses of all places, as by default."""
    return (
        one_of("reduction", position, "mean", "sum", default="mean"),
        one_of("reduce", position - 1, None, True, default=None),
    )


_OF_PLACES = (
    Argument("input", 0, "dimensions", (3,)),
    Argument("target", 1, "perhaps whole", default=None),  # no shares of each class
)

LOSSES = (
    Operation(
        name="torch.nn.functional.ctc_loss",
        alerts=("ctc_loss_backward_gpu",),
        overloads=spelled("aten::_ctc_loss_backward{,.Tensor}"),
        nodes=spelled("CtcLossBackward{0,1}"),
        api=spelled("torch.nn.CTCLoss torch.{nn.functional.,}ctc_loss"),
        calls=("torch.ctc_loss",),
        condition="torch's own kernel: cuDNN's is deterministic, and is taken for concatenated "
        "int32 targets on the CPU, blank 0, float32, inputs of full length, and targets no "
        "longer than these and shorter than 256",
        reason="A label that occurs several times in a target gets the sum of its gradients, "
        "added with atomics in no fixed order.",
        alternatives=(
            Alternative("bring the targets into the form that cuDNN takes", _CTC_BY_CUDNN),
            Alternative("sum over the alignments with torch's operators, step by step", _CTC),
        ),
        source=NATIVE + "cuda/LossCTC.cu",
        usages=(Usage(),),
    ),
    Operation(
        name="torch.nn.functional.nll_loss",
        alerts=("nll_loss2d_forward_out_cuda_template",),
        overloads=("aten::nll_loss2d_forward",),
        api=spelled(
            "torch.nn.{CrossEntropyLoss,NLLLoss,NLLLoss2d} "
            "torch.nn.functional.{cross_entropy,nll_loss}"
        ),
        calls=spelled("torch._C._nn.{cross_entropy_loss,nll_loss_nd,nll_loss2d}"),
        condition="an input of three dimensions or more, class indices, reduction mean or sum",
        direction="forward",
        reason="The losses of all places are added up with atomics, in no fixed order.",
        alternatives=(
            Alternative(
                "flatten to (places, classes): that kernel is deterministic", _FLAT_CROSS_ENTROPY
            ),
            Alternative(
                'reduction="none", and the mean apart: without the copy', _UNREDUCED_CROSS_ENTROPY
            ),
        ),
        source=NATIVE + "cuda/NLLLoss2d.cu",
        usages=(
            usage(
                "torch.nn.functional.{cross_entropy,nll_loss}",
                *_OF_PLACES,
                *_reduced(6),
            ),
            usage(
                "torch.nn.{CrossEntropyLoss,NLLLoss}",
                *_reduced(4),
                called=_OF_PLACES,
            ),
            usage("torch.nn.NLLLoss2d", *_reduced(4)),
        ),
    ),
    Operation(
        name='torch.nn.functional.embedding_bag(mode="max")',
        alerts=("embedding_bag_backward_cuda_max",),
        overloads=spelled("aten::_embedding_bag_{dense_,}backward"),
        nodes=("EmbeddingBagBackward0",),
        api=spelled(
            'torch.nn.EmbeddingBag(mode="max") torch.nn.functional.embedding_bag(mode="max") '
            "torch.embedding_bag"
        ),
        calls=("torch.embedding_bag",),
        condition='mode="max"',
        reason="Bags share rows of the weight, and the backward adds their gradients with "
        "atomics, in no fixed order.",
        alternatives=(
            Alternative(
                "embedding, whose backward is deterministic if enabled, and max over the bag",
                _EMBEDDING_BAG,
            ),
        ),
        source=NATIVE + "cuda/EmbeddingBag.cu",
        usages=(
            usage("torch.nn.EmbeddingBag", one_of("mode", 5, "max")),
            usage("torch.nn.functional.embedding_bag", one_of("mode", 6, "max")),
            usage("torch.embedding_bag", one_of("mode", 4, 2)),
        ),
    ),
)
