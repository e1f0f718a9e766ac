"""When an operator of the table refuses or differs, as far as its arguments decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from detlint.operations import Operation

    Arguments = dict[str, Any]
    Condition = Callable[[Arguments], bool]

_MAXIMUM, _NO_REDUCTION = 2, 0


def holds(row: Operation, given: Arguments) -> bool:
    """Whether a row's condition holds for a call of one of its overloads."""
    test = _TESTS.get(row.name)
    return test is None or test(given)


def switched(name: str, given: Arguments) -> bool:
    """Whether a call is one of those that the switch makes deterministic."""
    test = _SWITCHED.get(name)
    return test is None or test(given)


def _overlaps(given: Arguments) -> bool:
    inner, outer = given["grad_output"].shape[-3:], given["self"].shape[-3:]
    return any(size % bins for size, bins in zip(outer, inner, strict=True))


def _is_floating(given: Arguments) -> bool:
    tensor: torch.Tensor = given["self"]
    return tensor.is_floating_point() or tensor.is_complex()


def _is_sparse(given: Arguments) -> bool:
    layouts = [str(each.layout) for each in given.values() if hasattr(each, "layout")]
    return any(layout != "torch.strided" for layout in layouts)


def _scans(given: Arguments) -> bool:
    tensor = given["self"]
    return bool(
        tensor.is_floating_point() and tensor.dim() and tensor.numel() == tensor.size(given["dim"])
    )


def _drops_between_layers(given: Arguments) -> bool:
    return bool(given["train"] and given["dropout"] > 0 and given["num_layers"] > 1)


_TESTS: dict[str, Condition] = {
    "torch.nn.functional.adaptive_max_pool3d": _overlaps,
    "torch.nn.functional.nll_loss": lambda given: given["reduction"] != _NO_REDUCTION,
    'torch.nn.functional.embedding_bag(mode="max")': lambda given: given["mode"] == _MAXIMUM,
    'torch.Tensor.scatter_(reduce="multiply")': lambda given: given["reduce"] == "multiply",
    'torch.Tensor.scatter_reduce(reduce="prod")': lambda given: given["reduce"] == "prod",
    "torch.Tensor.resize_": lambda given: given["self"].is_quantized,
    # With determinism on, torch takes index_put instead, before its own kernel is reached.
    "torch.Tensor.scatter_": lambda _: False,
    "torch.bincount": lambda given: given["weights"] is not None,
    "torch.histc": lambda given: given["self"].is_floating_point(),
    "torch.cumprod": _scans,
    "torch.logcumsumexp": _scans,
    "torch.cumsum": _is_floating,
    "torch.cumsum under torch.compile": _is_floating,
    "torch.sparse.mm": _is_sparse,
    "torch.nn.LSTM": _drops_between_layers,
}

_SWITCHED: dict[str, Condition] = {
    'torch.scatter_reduce(reduce="sum")': lambda given: given["reduce"] in ("sum", "mean"),
    "torch.index_put": lambda given: not given["accumulate"],  # with it, CUDA sorts in any case
    "torch.cumsum": _is_floating,
}
