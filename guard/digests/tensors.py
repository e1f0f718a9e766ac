"""Fingerprints of tensors: equal for equal bytes, dtype and shape, and for nothing else.

16 bytes of XXH3, seeded with dtype and shape; sha256 where xxhash is not installed. What lies on
a GPU is summed there (``guard.digests.device_sums``) and read later. -0.0 and 0.0 differ, so do
NaNs with other bits; strides do not count, as the elements are taken in their order.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from typing import TYPE_CHECKING, Any

import torch

from guard.digests import device_sums
from guard.digests.device_sums import Pending, joined
from guard.digests.hashing import hashed
from guard.observe.modes import past_modes, plainly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Digest = bytes | Pending

SIZE = 16  # bytes of a fingerprint
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_FORMS_KEPT = 100_000
_SUMMED = ("cuda", "xpu")  # kinds of devices that sum integers; others are copied
# What torch.compile asks whether its code still fits; without it, all is read one by one.
_Guards: Any = getattr(torch._C._dynamo.guards, "TensorGuards", None)  # noqa: SLF001
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor  # noqa: SLF001
_QUANTIZED = frozenset((torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4))


def unlike(*_: object) -> bool:
    """It cannot be told at once whether a tensor can be read as another one was."""
    return False


class Form:
    """A dtype and a shape, met before."""

    __slots__ = (
        *("at", "detail", "dtype", "is_like", "is_single"),
        *("seed", "seed_of_parts", "shape", "size"),
    )

    def __init__(self, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.shape = shape
        self.detail = f"{str(dtype).removeprefix('torch.')}{list(shape)}"  # "float32[2, 3]"
        # of the hash
        self.seed = int.from_bytes(hashlib.sha256(self.detail.encode()).digest()[:8], "little")
        part = f"{dtype}{list(shape[1:])}"
        # of what lies along the first dimension, however long that is
        self.seed_of_parts = int.from_bytes(hashlib.sha256(part.encode()).digest()[:8], "little")
        count = 0 if -1 in shape else torch.Size(shape).numel()
        self.size = count * dtype.itemsize  # in bytes
        # Several elements that are negated when they are read lie apart: they are the imaginary
        # parts of complex numbers.
        self.is_single = count == 1  # whether it is one element
        # so many bytes, as a ctypes array at an address; None where the bytes are not all
        self.at: Any = None
        # whether a tensor can be read as the last one of this form was
        self.is_like: Callable[..., bool] = unlike
        if -1 in shape or dtype in _QUANTIZED or dtype.is_complex:  # whose conjugation counts
            return
        self.at = (ctypes.c_char * self.size).from_address


_forms: dict[tuple[torch.dtype, tuple[int, ...]], Form] = {}


def form_of(tensor: torch.Tensor) -> Form:
    """What is known of a tensor before its bytes are read; the same object for the same."""
    plain = type(tensor) in _PLAIN and not tensor.is_nested
    key = (tensor.dtype, tensor.shape if plain else _shape_of(tensor))
    found = _forms.get(key)
    if found is None:
        if len(_forms) > _FORMS_KEPT:
            _forms.clear()
        found = _forms[key] = Form(tensor.dtype, key[1])
    return found


def _shape_of(tensor: torch.Tensor) -> tuple[int, ...]:
    """With -1 for a size that is several, or a symbol."""
    if tensor.is_nested and tensor.layout == torch.strided:
        return (tensor.size(0), -1)
    return tuple(each if type(each) is int else -1 for each in tensor.shape)


def seen(tensor: torch.Tensor, form: Form | None = None) -> tuple[Digest, Form]:
    """The fingerprint, Pending where it is still on a device, and what is known of the form, given
    what it was the last time."""
    if type(tensor) in _PLAIN:
        try:
            if form is None or tensor.dtype is not form.dtype or tensor.shape != form.shape:
                form = form_of(tensor)
            address = _address(tensor, form)
            if address:
                return hashed(form.at(address), form.seed), form
            if is_summed(tensor, form):
                return past_modes(device_sums.pending, tensor, form.seed), form
        except RuntimeError:  # sparse, nested, or wrapped by a transformation
            pass
    with plainly():
        form = form_of(tensor)
        return _of_any(tensor, form.seed), form


def _address(tensor: torch.Tensor, form: Form) -> int:
    """Where its bytes lie in memory, as they are and one after the other; 0 where they do not."""
    if (
        form.at is None
        or not tensor.is_cpu
        or not tensor.is_contiguous()
        or (form.is_single and tensor.is_neg())
    ):
        return 0
    return tensor.data_ptr()


def is_summed(tensor: torch.Tensor, form: Form) -> bool:
    """Whether ``device_sums`` takes it as it is."""
    return (
        form.at is not None
        and tensor.device.type in _SUMMED
        and type(tensor) in _PLAIN
        and tensor.layout is torch.strided
        and not _is_wrapped(tensor)
        and not tensor.is_neg()
    )


def number_of(tensor: torch.Tensor) -> Any:  # noqa: ANN401
    """A tensor's one number; on a device, a Sum of its float64's bits, read later."""
    if tensor.is_meta or tensor.is_complex():
        return None
    if tensor.device.type not in _SUMMED:
        return float(tensor.detach())
    return past_modes(device_sums.number, tensor) if is_summed(tensor, form_of(tensor)) else None


def likeness(
    tensors: Sequence[torch.Tensor], *, summed: bool = False
) -> Callable[..., bool] | None:
    """What tells of other tensors, in one call of C, that their bytes can be read as those of
    these: in memory, of the same types, dtypes and shapes, in one piece; or summed on a device.
    It may say no where something else differs (whether they learn, autocast). None where these
    cannot be read so."""
    if _Guards is None or not tensors or any(type(each) not in _PLAIN for each in tensors):
        return None
    can_be_read = is_summed if summed else _address
    try:
        if not all(can_be_read(each, form_of(each)) for each in tensors):
            return None
        sizes = [list(each.shape) for each in tensors]
        strides = [list(each.stride()) for each in tensors]
    except RuntimeError:  # sparse, nested, or wrapped by a transformation
        return None
    made = _Guards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides)
    check: Callable[..., bool] = made.check
    return check


def _of_any(tensor: torch.Tensor, seed: int) -> Digest:
    """A tensor of any kind."""
    tensor = _unwrapped(tensor)
    if tensor.is_meta or (type(tensor) not in _PLAIN and isinstance(tensor, _fake())):
        return hashed(b"no data", seed)
    parts = _parts(tensor)
    if parts is not None:
        name = type(tensor).__qualname__.encode()
        digests = [_of_any(each, form_of(each).seed) for each in parts.tensors]
        return joined([name, parts.rest.encode(), *digests], seed)
    if type(tensor) not in _PLAIN:
        tensor = tensor.as_subclass(torch.Tensor)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.device.type in _SUMMED:
        return device_sums.pending(tensor, seed)
    return hashed(_bytes_of(tensor.cpu().contiguous()), seed)


def _bytes_of(tensor: torch.Tensor) -> Any:  # noqa: ANN401 - a buffer
    """The bytes of a contiguous tensor on the CPU; b"" where its storage has been given up."""
    address, size = tensor.data_ptr(), tensor.numel() * tensor.element_size()
    if not size or not address:
        return b""
    return _Held(size, tensor).buffer(address)


class _Held:
    """Keeps a copy alive as long as its bytes are read."""

    def __init__(self, size: int, tensor: torch.Tensor) -> None:
        self._array = ctypes.c_char * size
        self._tensor = tensor

    def buffer(self, address: int) -> Any:  # noqa: ANN401 - a ctypes array
        found = self._array.from_address(address)
        found._held = self._tensor  # type: ignore[attr-defined]  # noqa: SLF001 - ours
        return found


class _Parts:
    """The tensors that a tensor is made of, and what else decides its values."""

    def __init__(self, tensors: list[torch.Tensor], rest: str = "") -> None:
        self.tensors = tensors
        self.rest = rest


def _parts(tensor: torch.Tensor) -> _Parts | None:  # noqa: PLR0911 - a kind each
    if type(tensor) not in _PLAIN and hasattr(type(tensor), "__tensor_flatten__"):
        return _wrapped(tensor)
    if tensor.is_nested:
        sizes: Any = tensor._nested_tensor_size()  # noqa: SLF001
        return _Parts([sizes, *tensor.unbind()], "nested")
    if tensor.layout == torch.sparse_coo:
        return _Parts([tensor._indices(), tensor._values()], "sparse")  # noqa: SLF001 - also uncoalesced
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return _Parts([tensor.crow_indices(), tensor.col_indices(), tensor.values()], "rows")
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return _Parts([tensor.ccol_indices(), tensor.row_indices(), tensor.values()], "columns")
    if tensor.layout != torch.strided:  # oneDNN's
        return _Parts([tensor.to_dense()])
    return _quantized(tensor) if tensor.is_quantized else None


def _wrapped(tensor: Any) -> _Parts:  # noqa: ANN401 - of a subclass that says what it wraps
    """DTensor's local part, a jagged tensor's values and offsets."""
    names, _ = tensor.__tensor_flatten__()
    held = [getattr(tensor, name) for name in names]
    placements = getattr(tensor, "placements", "")
    # Since torch 2.13, a DTensor names its mesh as well, which is no tensor.
    parts = [each for each in held if isinstance(each, torch.Tensor)]
    return _Parts(parts, f"{names}{placements}")


def _quantized(tensor: torch.Tensor) -> _Parts:
    plain = tensor.int_repr()
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return _Parts([plain], f"{tensor.q_scale()!r} {tensor.q_zero_point()!r}")
    scales, zeros = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    return _Parts([plain, scales, zeros], str(tensor.q_per_channel_axis()))


def _unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """What a tensor under ``torch.func`` stands for, with all that it is mapped over."""
    while _is_wrapped(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)  # noqa: SLF001
    return tensor


@functools.cache
def _fake() -> Any:  # noqa: ANN401 - a class
    from torch._subclasses.fake_tensor import FakeTensor
    from torch._subclasses.functional_tensor import FunctionalTensor

    return FakeTensor, FunctionalTensor
