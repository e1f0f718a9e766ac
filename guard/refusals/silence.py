"""Operators that differ from run to run without a word: whether a call is one of those.

As far as the arguments tell, at no cost to speak of. What they cannot tell: whether values
are equal (``topk``), and which algorithm a library chooses (sparse products, cuDNN's
recurrent layers with dropout).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch, in_force

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.operations import Operation


def sees(row: Operation) -> bool:
    """Whether the arguments of a call tell if it differs."""
    return row.name in _TESTS


def differs(row: Operation, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """Whether a call of a silent row's function gives other bits in another run."""
    test = _TESTS.get(row.name)
    tensor = args[0] if args else kwargs.get("input", kwargs.get("self"))
    if test is None or tensor is None or tensor.device.type not in row.devices:
        return False
    if row.until and not in_force(row):
        return False
    return test(tensor, args, kwargs)


def _scans_in_one_piece(tensor: Any, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """All elements along one dimension go to a scan that hands partial results on as blocks
    finish."""
    dimension = args[1] if len(args) > 1 else kwargs.get("dim", 0)
    if not tensor.is_floating_point() or not isinstance(dimension, int) or not tensor.dim():
        return False
    return bool(tensor.numel() == tensor.size(dimension))


def _overlaps(tensor: Any, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """Windows of unequal size overlap, and add to the same place."""
    size = args[1] if len(args) > 1 else kwargs["output_size"]
    sizes = [size] * 3 if isinstance(size, int) else size
    lengths = zip(tensor.shape[-3:], sizes, strict=True)
    return any(wanted is not None and length % wanted for length, wanted in lengths)


def _goes_to_cudnn(tensor: Any, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """``torch.grid_sampler`` as aten/src/ATen/native/GridSampler.cpp sends it there."""
    torch = import_torch("guard")
    mode, padding, corners = (
        args[place] if len(args) > place else kwargs.get(name, default)
        for place, name, default in (
            (2, "interpolation_mode", _BILINEAR),
            (3, "padding_mode", _ZEROS),
            (4, "align_corners", True),  # of cudnn_grid_sampler, which takes none of them
        )
    )
    return bool(
        torch.backends.cudnn.enabled
        and (mode, padding) == (_BILINEAR, _ZEROS)
        and corners
        and tensor.dim() == 4
        and tensor.size(1) <= _MOST_CHANNELS
        and tensor.dtype in (torch.float16, torch.float32, torch.float64)
    )


_BILINEAR, _ZEROS, _MOST_CHANNELS = 0, 0, 1024
_TESTS: dict[str, Callable[..., bool]] = {
    "torch.nn.functional.adaptive_max_pool3d": _overlaps,
    "torch.nn.functional.grid_sample by cuDNN": _goes_to_cudnn,
    "torch.cumprod": _scans_in_one_piece,
    "torch.logcumsumexp": _scans_in_one_piece,
}
