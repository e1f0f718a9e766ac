"""Memory that nothing has written yet: who reads it reads what was there before."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch._ops import OpOverload

    from guard.observe import places
    from guard.observe.modes import Run

_EMPTY = {
    "aten::empty.memory_format", "aten::empty_strided", "aten::empty_like", "aten::new_empty",
    "aten::new_empty_strided", "aten::empty_permuted", "aten::empty_quantized",
}  # fmt: skip
# They overwrite all, or look at shapes alone.
_FILLS = (
    "zero_", "fill_", "copy_", "normal_", "uniform_", "random_", "exponential_", "geometric_",
    "log_normal_", "cauchy_", "bernoulli_", "set_", "resize_", "resize_as_", "eye_",
)  # fmt: skip
_SHAPES = ("_like", "new_", "detach", "record_stream", "is_pinned", "expand_as", "view_as", "_pin")


class Unwritten:
    """Follows memory from ``torch.empty`` to the first operator that writes to it.

    A write to a part counts as one to the whole.
    """

    def __init__(self) -> None:
        self.reads: Counter[places.Trail | None] = Counter()
        self._storages: weakref.WeakValueDictionary[int, _Owner] = weakref.WeakValueDictionary()

    def follow(self, run: Run, result: Any, here: Callable[[], places.Trail | None]) -> None:  # noqa: ANN401
        """An operator has run: note what it read and wrote."""
        name = run.name
        if name in _EMPTY:
            if isinstance(result, torch.Tensor) and result.numel():
                self._begin(result)
            return
        if not self._storages:
            return
        written = run.written
        fills = name.partition(".")[0].endswith(_FILLS)
        for each in run.tensors:
            key = _key(each)
            if key not in self._storages:
                continue
            is_written = any(each is other for other in written)
            if (not is_written or not (fills or "out" in name)) and _reads(run.func, name):
                if not (is_written and _places_elements(name)):
                    self.reads[here()] += 1
                self._storages.pop(key, None)
            elif is_written:
                self._storages.pop(key, None)

    def fill(self, values: Iterable[Any]) -> None:
        """What is no operator may have written to these."""
        for each in values:
            if isinstance(each, torch.Tensor):
                self._storages.pop(_key(each), None)

    def _begin(self, tensor: torch.Tensor) -> None:
        owner = _Owner()
        storage = tensor.untyped_storage()
        # It goes when the last tensor of the memory goes.
        tensor._guard_owner = owner  # type: ignore[attr-defined]  # noqa: SLF001
        self._storages[storage._cdata] = owner  # noqa: SLF001


class _Owner:
    """Lives as long as the tensor that was made empty."""


def _key(tensor: torch.Tensor) -> int:
    if tensor.layout is not torch.strided:
        return 0
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001


def _reads(func: OpOverload, name: str) -> bool:
    """Whether an operator reads what it is given: a view does not."""
    if any(each in name for each in _SHAPES):
        return False
    return not any(
        result.alias_info is not None and not result.alias_info.is_write
        for result in func._schema.returns  # noqa: SLF001
    )


def _places_elements(name: str) -> bool:
    """Whether it writes some elements and keeps the others: memory is filled that way."""
    return any(each in name for each in ("index", "scatter", "put", "slice", "masked_fill", "tri"))
