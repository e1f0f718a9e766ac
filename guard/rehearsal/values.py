"""What small tensors on the fake device hold, as far as that is known, and operators that need it.

Lengths, masks and indices come from the CPU, and programs read them back to decide something:
they are computed along, on the CPU, from what came from there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils._pytree import tree_map

from guard.observe.modes import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch._ops import OpOverload

    from guard.observe.modes import Run

    StandIn = Callable[..., Any]
    Lengths = torch.Tensor | Sequence[int]


ATEN = torch.ops.aten
LIMIT = 4096  # elements: lengths, masks of a batch; beyond, nobody computes along
# A number that was computed is rarely equal to one that is written: ``if mask.sum() == 0``.
_EXACT = {ATEN.eq.Scalar: False, ATEN.ne.Scalar: True}
_LEANING = "_guard_leaning"
_LARGEST = 10_000_000  # elements that all hold the same, and take no memory
_ATTRIBUTE = "_guard_value"
_HOST = torch.device("cpu")
# A number that overflowed or is none: training is rehearsed as it goes well.
_IS_SOUND = {ATEN.isnan.default: False, ATEN.isinf.default: False}
_CHECKS_GRADIENTS = "aten::_amp_foreach_non_finite_check_and_unscale_"
_COMPARES = {ATEN.eq: True, ATEN.ne: False}


class Value:
    """What a tensor holds, shared by all views of it."""

    def __init__(self, tensor: torch.Tensor, cell: list[bool]) -> None:
        self.tensor = tensor
        self._cell = cell

    @property
    def is_known(self) -> bool:
        return self._cell[0]

    def forget(self) -> None:
        """From here on, nobody knows."""
        self._cell[0] = False

    def of_view(self, tensor: torch.Tensor) -> Value:
        return Value(tensor, self._cell)


def of(tensor: torch.Tensor) -> torch.Tensor | None:
    """What a tensor of the fake device holds, on the CPU; None if that is not known."""
    value: Value | None = getattr(tensor, _ATTRIBUTE, None)
    if value is None or not value.is_known or value.tensor.shape != tensor.shape:
        return None
    return value.tensor


def give(tensor: torch.Tensor, known: torch.Tensor) -> None:
    """Note what a tensor holds."""
    if known.numel() <= LIMIT:
        setattr(tensor, _ATTRIBUTE, Value(known, [True]))


def follow(run: Run, result: Any) -> None:  # noqa: ANN401
    """Compute along what an operator gives, if all that it takes is known."""
    if run.name.startswith(_CHECKS_GRADIENTS):
        return  # and finds no overflow, so that the step is done
    outputs = [each for each in _flat(result) if isinstance(each, torch.Tensor)]
    if outputs and outputs[0].numel() == 1 and run.func in _EXACT:
        setattr(outputs[0], _LEANING, _EXACT[run.func])
    sound = _sound(run.func, run.args)
    if sound is not None and outputs[0].numel() <= _LARGEST:
        known = torch.full((), sound).expand(outputs[0].shape)
        setattr(outputs[0], _ATTRIBUTE, Value(known, [True]))
        return
    is_large = any(each.numel() > LIMIT for each in outputs)
    if is_large and not run.is_mutable:
        return
    if is_large or not outputs or run.draws:
        _forget(run.written)
        return
    if not all(_is_real(each) or of(each) is not None for each in run.tensors):
        _forget(run.written)
        return
    try:
        known = run.func(*tree_map(_on_host, run.args), **tree_map(_on_host, run.kwargs))
    except Exception:  # noqa: BLE001 - whatever it is, the operator has run without values
        _forget(run.written)
        return
    for output, value in zip(outputs, _flat(known), strict=False):
        _share(output, value, run.tensors)


def _share(output: torch.Tensor, value: Any, given: Iterable[torch.Tensor]) -> None:  # noqa: ANN401
    if not isinstance(value, torch.Tensor) or _is_real(output) or value.layout != torch.strided:
        return
    storage = value.untyped_storage().data_ptr()
    for each in given:
        source: Value | None = getattr(each, _ATTRIBUTE, None)
        if source is not None and source.tensor.untyped_storage().data_ptr() == storage:
            setattr(output, _ATTRIBUTE, source.of_view(value))
            return
    give(output, value)


def _sound(func: OpOverload, args: tuple[Any, ...]) -> bool | None:
    """What a test for overflow gives: x != x, abs(x) == inf and their like."""
    if func in _IS_SOUND:
        return _IS_SOUND[func]
    equal = _COMPARES.get(func.overloadpacket)
    if equal is None or len(args) < 2:
        return None
    if args[0] is args[1] and args[0].is_floating_point():
        return equal
    if isinstance(args[1], float) and math.isinf(args[1]):
        return not equal
    return None


def _on_host(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        known = of(value)
        return value if known is None else known
    return _HOST if isinstance(value, torch.device) else value


def _is_real(tensor: torch.Tensor) -> bool:
    return not isinstance(tensor, FakeTensor)


def _forget(tensors: Iterable[torch.Tensor]) -> None:
    for each in tensors:
        value: Value | None = getattr(each, _ATTRIBUTE, None)
        if value is not None:
            value.forget()


def _flat(value: Any) -> list[Any]:  # noqa: ANN401
    return list(value) if isinstance(value, (tuple, list)) else [value]


_CTC_LONGEST = 256  # cuDNN takes shorter targets than that


def number(tensor: torch.Tensor) -> tuple[Any, bool]:
    """What ``item`` gives, and whether that is a guess."""
    known = of(tensor)
    if known is not None:
        return known.item(), False
    if tensor.is_complex():
        return complex(1), True
    if tensor.is_floating_point():
        return 1.0, True
    return (bool(getattr(tensor, _LEANING, True)) if tensor.dtype is torch.bool else 1), True


def count_of(mask: torch.Tensor) -> int:
    """How many elements are not zero: as many as are, if that is known, else half of them."""
    known = _read(torch.count_nonzero, mask)
    return max(1, mask.numel() // 2) if known is None else known


def _read(function: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor) -> int | None:
    """A number computed from what a tensor holds, if that is known."""
    known = of(tensor) if isinstance(tensor, FakeTensor) else tensor
    if known is None or not known.numel():
        return None
    with unset_fake_temporarily():
        return int(function(known))


def _nonzero(mask: torch.Tensor) -> torch.Tensor:
    return torch.empty((count_of(mask), mask.dim()), dtype=torch.long, device=mask.device)


def _bincount(
    tensor: torch.Tensor, weights: torch.Tensor | None = None, minlength: int = 0
) -> torch.Tensor:
    length = (_read(torch.max, tensor) or 0) + 1
    dtype = torch.long if weights is None else weights.dtype
    dtype = torch.double if dtype not in (torch.long, torch.float) else dtype
    return torch.empty((max(length, minlength),), dtype=dtype, device=tensor.device)


def _unique(tensor: torch.Tensor, dim: int | None = None) -> tuple[torch.Tensor, ...]:
    """Half as many, of all elements or along a dimension."""
    of_all, shape = tensor.shape, [tensor.numel()]
    if dim is not None:
        of_all, shape = tensor.shape[dim:][:1], list(tensor.shape)
    length = shape[dim or 0] = max(1, shape[dim or 0] // 2)
    numbers = (tensor.new_empty(each, dtype=torch.long) for each in (of_all, (length,)))
    return (tensor.new_empty(shape), *numbers)


def _repeat_interleave(repeats: torch.Tensor, *, output_size: int | None = None) -> torch.Tensor:
    total = _read(torch.sum, repeats) if output_size is None else output_size
    length = repeats.numel() if total is None else total
    return torch.empty((length,), dtype=torch.long, device=repeats.device)


def _packed(
    padded: torch.Tensor, lengths: torch.Tensor, batch_first: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers of sequences at each time lie on the CPU, where recurrent layers read them."""
    known = of(lengths) if isinstance(lengths, FakeTensor) else lengths
    time = padded.shape[1 if batch_first else 0]
    with unset_fake_temporarily():
        found = torch.full((padded.shape[0 if batch_first else 1],), time)
        found = found if known is None else known
        sizes = (torch.arange(int(found.max()))[:, None] < found).sum(1)
        total = int(sizes.sum())
    return padded.new_empty((total, *padded.shape[2:])), sizes


def _hspmm(sparse: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    """Rows that are not empty, as torch keeps them; here it may have any number."""
    indices = torch.empty((1, 1), dtype=torch.long, device=dense.device)
    rows = dense.new_empty((1, dense.shape[1]))
    shape = (sparse.shape[0], dense.shape[1])
    return torch.sparse_coo_tensor(indices, rows, shape, check_invariants=False)


def _ctc_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    lengths: Lengths,
    target_lengths: Lengths,
    *_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    del lengths
    longest = targets.shape[1] if targets.dim() == 2 else _longest(target_lengths)
    time, batch = log_probs.shape[:2]
    return log_probs.new_empty((batch,)), log_probs.new_empty((batch, time, 2 * longest + 1))


def _longest(lengths: Lengths) -> int:
    if isinstance(lengths, torch.Tensor):
        return _read(torch.max, lengths) or 1
    return max(lengths, default=1)


def _cudnn_ctc_loss(log_probs: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, ...]:
    return log_probs.new_empty((log_probs.shape[1],)), torch.empty_like(log_probs)


def _takes_cudnn_ctc(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
) -> bool:
    """Whether cuDNN's CTC loss is taken: aten/src/ATen/native/cudnn/LossCTC.cpp."""
    if blank != 0 or log_probs.dtype is not torch.float or log_probs.device.type != "cuda":
        return False
    if targets.dim() != 1 or targets.dtype is not torch.int or targets.device.type != "cpu":
        return False
    if isinstance(lengths, torch.Tensor) or isinstance(target_lengths, torch.Tensor):
        return False
    full = all(each == log_probs.shape[0] for each in lengths)
    pairs = zip(target_lengths, lengths, strict=True)
    return full and all(target < _CTC_LONGEST and target <= each for target, each in pairs)


def _grouped_product(
    first: torch.Tensor, second: torch.Tensor, offsets: torch.Tensor | None = None, *_: Any
) -> torch.Tensor:
    """Torch's own rule takes bfloat16 alone, its kernels other types as well."""
    rows, columns = first.shape[-2], second.shape[-1]
    if first.dim() == second.dim():
        groups = first.shape[0] if first.dim() == 3 or offsets is None else offsets.shape[0]
        return first.new_empty((groups, rows, columns))
    return first.new_empty((rows, columns))


def _suppressed(boxes: torch.Tensor, *_: Any) -> torch.Tensor:
    kept = max(1, boxes.shape[0] // 2) if boxes.shape[0] else 0
    return torch.empty((kept,), dtype=torch.long, device=boxes.device)


def _gru_cell(_: object, hidden_gates: torch.Tensor, state: torch.Tensor, *__: Any) -> Any:  # noqa: ANN401
    del hidden_gates
    return torch.empty_like(state), state.new_empty((state.shape[0], state.shape[1] * 5))


def _gru_cell_backward(
    gradient: torch.Tensor, workspace: torch.Tensor, has_bias: bool
) -> tuple[torch.Tensor | None, ...]:
    del workspace
    batch, size = gradient.shape
    gates = [gradient.new_empty((batch, 3 * size)) for _ in range(2)]
    bias = [gradient.new_empty((3 * size,)) if has_bias else None for _ in range(2)]
    return (*gates, torch.empty_like(gradient), *bias)


# By name, as not all releases have all of them.
_STAND_INS: dict[str, StandIn] = {
    "aten::nonzero": _nonzero,
    "aten::masked_select": lambda tensor, mask: tensor.new_empty((count_of(mask),)),
    "aten::bincount": _bincount,
    "aten::_unique": lambda tensor, *_, **__: _unique(tensor),
    "aten::_unique2": lambda tensor, *_, **__: _unique(tensor),
    "aten::unique_dim": lambda tensor, dim, *_, **__: _unique(tensor, dim),
    "aten::unique_consecutive": lambda tensor, _=False, __=False, dim=None: _unique(tensor, dim),
    "aten::repeat_interleave.Tensor": _repeat_interleave,
    "aten::_pack_padded_sequence": _packed,
    "aten::hspmm": _hspmm,
    **{
        f"aten::{name}{suffix}": each
        for suffix in ("", ".Tensor")
        for name, each in (
            ("_ctc_loss", _ctc_loss),
            ("_ctc_loss_backward", lambda _, log_probs, *__, **___: torch.empty_like(log_probs)),
            ("_cudnn_ctc_loss", _cudnn_ctc_loss),
            ("_use_cudnn_ctc_loss", _takes_cudnn_ctc),
            ("_use_miopen_ctc_loss", lambda *_: False),
        )
    },
    "aten::_grouped_mm": _grouped_product,
    "torchvision::nms": _suppressed,
    "aten::cudnn_grid_sampler": lambda images, grid: images.new_empty(
        (*images.shape[:2], *grid.shape[1:-1])
    ),
    "aten::cudnn_grid_sampler_backward": lambda *given: tuple(map(torch.empty_like, given[:2])),
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
}
# Their results have as many elements as some values say.
GUESSED = {
    "aten::nonzero", "aten::masked_select", "aten::_unique", "aten::_unique2", "aten::unique_dim",
    "aten::unique_consecutive", "aten::repeat_interleave.Tensor", "aten::bincount",
    "torchvision::nms",
}  # fmt: skip
_INDEXED = {
    ATEN.index.Tensor, ATEN._unsafe_index.Tensor, ATEN.index_put.default,  # noqa: SLF001
    ATEN.index_put_.default, ATEN._unsafe_index_put.default, ATEN._index_put_impl_.default,  # noqa: SLF001
}  # fmt: skip


def find(func: OpOverload) -> StandIn | None:
    """What gives an operator's result in its place."""
    return _STAND_INS.get(name_of(func))


def has_mask(func: OpOverload, args: tuple[Any, ...]) -> bool:
    """Whether an operator is indexed by a mask."""
    return func in _INDEXED and any(is_mask(each) for each in args[1])


def with_indices(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """An indexing operator's arguments, its masks replaced by indices."""
    indices: list[torch.Tensor | None] = []
    for each in args[1]:
        if is_mask(each):
            length = (count_of(each),)
            indices += [
                torch.empty(length, dtype=torch.long, device=each.device) for _ in range(each.dim())
            ]
        else:
            indices.append(each)
    return (args[0], indices, *args[2:])


def is_mask(value: Any) -> bool:  # noqa: ANN401
    """Whether an index says of each element whether it is meant."""
    return isinstance(value, torch.Tensor) and value.dtype in (torch.bool, torch.uint8)
