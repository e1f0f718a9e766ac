"""What a GPU computes by other kernels than the CPU: attention, recurrent layers, the CTC loss.

``scaled_dot_product_attention`` takes its kernel by torch's own rules, followed here as torch 2.13
has them for dense inputs with determinism on, where cuDNN's kernel is left out.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

from detlint.operations import OPERATIONS
from guard.errors import SettingsError
from guard.observe.patching import around, replace
from guard.rehearsal import values
from guard.rehearsal.findings import (
    DETERMINISTIC,
    GPUS,
    SILENT,
    SWITCH,
    Attention,
    OtherSource,
    Verdict,
    where,
)
from guard.rehearsal.verdicts import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import ExitStack

    from guard.observe import places
    from guard.rehearsal.recorder import Recorder

    Function = Callable[..., Any]


SOURCE = (
    "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/transformers/cuda/"
    "sdp_utils.cpp"
)
_LARGEST_HEAD = 256
_HALF = (torch.float16, torch.bfloat16)
_VERDICTS: dict[str, Verdict] = {"flash": SWITCH, "efficient": SWITCH, "math": DETERMINISTIC}
_NAMES = ("lstm", "gru", "rnn_tanh", "rnn_relu")
_OVERLOAD = "aten::_cudnn_rnn"


class Call(NamedTuple):
    """What decides: the shapes and types of a call, and the compute capability of the GPU."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    dtype: torch.dtype
    has_mask: bool
    dropout: float
    is_causal: bool
    grouped: bool
    capability: tuple[int, int]

    @property
    def trains(self) -> bool:
        tensors = (self.query, self.key, self.value)
        return torch.is_grad_enabled() and any(each.requires_grad for each in tensors)

    @property
    def heads(self) -> tuple[int, int, int]:
        return self.query.shape[-1], self.key.shape[-1], self.value.shape[-1]


def check(gpu: str) -> None:
    """Raise SettingsError for a GPU that is not known."""
    if gpu.lower() not in GPUS:
        raise SettingsError(f"gpu: {gpu!r} is not known; legal: {', '.join(sorted(GPUS))}")


def choose(call: Call) -> tuple[str, str]:
    """The backend that torch takes with determinism on, and why not one before it."""
    why: list[str] = []
    switches: Any = torch.backends.cuda
    for name, enabled, rules in (
        ("flash", switches.flash_sdp_enabled(), _against_flash),
        ("efficient", switches.mem_efficient_sdp_enabled(), _against_efficient),
    ):
        against = None if enabled else "it is switched off"
        against = against or next(rules(call), None)
        if against is None:
            return name, "; ".join(why)
        why.append(f"not {name}: {against}")
    return "math", "; ".join(why)


def _against_both(call: Call) -> Iterator[str]:
    if any(each.dim() != 4 for each in (call.query, call.key, call.value)):
        yield "the inputs have not four dimensions"
    if not call.query.shape[-2] or not call.key.shape[-2]:
        yield "a sequence is empty"
    same = call.query.shape[1] == call.key.shape[1] == call.value.shape[1]
    if not same and not call.grouped:
        yield "the numbers of heads differ"


def _against_flash(call: Call) -> Iterator[str]:
    yield from _against_both(call)
    query, key, value = call.heads
    if call.has_mask:
        yield "there is a mask"
    if query != key or query != value or query > _LARGEST_HEAD:
        yield f"heads have to be of one size up to {_LARGEST_HEAD}, and are {call.heads}"
    if not (8, 0) <= call.capability <= (12, 1):
        yield "the GPU is older than Ampere"
    is_small = (8, 6) <= call.capability <= (8, 9) or (12, 0) <= call.capability <= (12, 1)
    fits = query <= 192 or (not call.dropout and query > 224)
    if call.trains and is_small and not fits:
        yield f"heads of size {query} cannot be trained on this GPU"
    if call.is_causal and call.query.shape[-2] != call.key.shape[-2]:
        yield "it is causal, and queries and keys are not equally many"
    if call.dtype not in _HALF:
        yield f"it takes half precision alone, not {_short(call.dtype)}"
    if any(each.stride(-1) != 1 and each.shape[-1] != 1 for each in call[:3]):
        yield "the last dimension is not contiguous"


def _against_efficient(call: Call) -> Iterator[str]:
    yield from _against_both(call)
    query, key, value = call.heads
    alignment = _alignment(call)
    if query != key or query % alignment or value % alignment:
        yield f"heads have to be of multiples of {alignment}, and are {call.heads}"
    halves = _HALF if call.capability >= (8, 0) else _HALF[:1]
    allowed = (*halves, torch.float32)
    if call.dtype not in allowed:
        yield f"it does not take {_short(call.dtype)} on this GPU"
    if any(each.stride(-1) != 1 for each in call[:3]):
        yield "the last dimension is not contiguous"


def _alignment(call: Call) -> int:
    is_half = call.dtype in _HALF
    plain = 4 if call.capability >= (8, 0) else 1
    if call.capability >= (8, 0) or (call.capability >= (7, 0) and is_half):
        return max(plain, 128 // (16 if is_half else 32))
    return plain


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def install(stack: ExitStack, recorder: Recorder, gpu: str) -> None:
    """Note which kernel each call would take; the call itself is composed of others here."""
    chosen: Counter[tuple[str, str, places.Trail | None]] = Counter()

    @around(stack, torch.nn.functional, "scaled_dot_product_attention")
    def _(original: Function, query: torch.Tensor, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if query.device.type == "cuda":
            call = _call(gpu, query, *args, **options)
            backend, why = choose(call)
            chosen[backend, why, recorder.here()] += 1
        return original(query, *args, **options)

    recorder.attention_of = lambda: _entries(chosen, gpu, recorder.models)


def _call(  # noqa: PLR0913, PLR0917 - torch's own signature
    gpu: str,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Call:
    del scale
    return Call(
        query=query,
        key=key,
        value=value,
        dtype=_cast(query),
        has_mask=attn_mask is not None,
        dropout=dropout_p,
        is_causal=is_causal,
        grouped=enable_gqa,
        capability=capability(gpu),
    )


def _cast(tensor: torch.Tensor) -> torch.dtype:
    """The type in which autocast hands a tensor on."""
    if torch.is_autocast_enabled("cuda") and tensor.is_floating_point():
        return torch.get_autocast_dtype("cuda")
    return tensor.dtype


def _entries(
    chosen: Counter[tuple[str, str, places.Trail | None]], gpu: str, models: Iterable[Any]
) -> Iterator[Attention]:
    counted: Counter[tuple[Any, ...]] = Counter()
    for (backend, why, trail), count in chosen.items():
        counted[backend, why, where(trail, models)] += count
    for (backend, why, place), count in counted.items():
        yield Attention(backend, gpu, _VERDICTS[backend], why, SOURCE, count, place)


def install_ctc(stack: ExitStack) -> None:
    """Have it turn lengths into numbers where these are known."""

    @around(stack, torch, "ctc_loss")
    def _(
        original: Function,
        log_probs: torch.Tensor,
        targets: torch.Tensor,
        input_lengths: Any,  # noqa: ANN401 - a tensor, or numbers
        target_lengths: Any,  # noqa: ANN401
        *rest: Any,
        **options: Any,
    ) -> Any:  # noqa: ANN401
        lengths = _numbers(input_lengths), _numbers(target_lengths)
        if None in lengths:
            lengths = input_lengths, target_lengths
        return original(log_probs, targets, *lengths, *rest, **options)


def _numbers(lengths: Any) -> Any:  # noqa: ANN401
    if not isinstance(lengths, torch.Tensor):
        return lengths
    known = values.of(lengths) if isinstance(lengths, FakeTensor) else lengths
    if known is None:
        return None
    with unset_fake_temporarily():
        return known.tolist()


def install_recurrence(stack: ExitStack, recorder: Recorder) -> None:
    """Count calls that cuDNN would compute with dropout between the layers."""
    row = next(each for each in OPERATIONS if _OVERLOAD in each.overloads)
    # Asked by recurrent layers that move their weights together for cuDNN.
    replace(stack, torch.backends.cudnn, "is_acceptable", lambda _: False)

    def run(original: Function, *args: Any) -> Any:  # noqa: ANN401 - as torch's
        # input, state, weights, biases, layers, dropout, train, …; packed, sizes come second
        start = 4 if isinstance(args[3], bool) else 5
        layers, dropout, train = args[start : start + 3]
        if args[0].device.type == "cuda" and train and dropout > 0 and layers > 1:
            recorder.count(_OVERLOAD, Judgement(SILENT, row))
        with _without_cudnn():
            return original(*args)

    for name in _NAMES:
        around(stack, torch._VF, name)(run)  # noqa: SLF001


@contextmanager
def _without_cudnn() -> Iterator[None]:
    """A build for CUDA would ask the driver about the GPU, and give cuDNN's kernel no shape."""
    backend: Any = torch._C  # noqa: SLF001
    before = backend._get_cudnn_enabled()  # noqa: SLF001
    backend._set_cudnn_enabled(False)  # noqa: SLF001
    try:
        yield
    finally:
        backend._set_cudnn_enabled(before)  # noqa: SLF001


_AMPERE = (8, 0)


def sources(gpu: str) -> Iterator[OtherSource]:
    """What is set so, now."""
    if torch.backends.cudnn.benchmark:
        yield OtherSource(
            "benchmark",
            "torch.backends.cudnn.benchmark is on: cuDNN times its kernels and takes the fastest, "
            "which need not be the same in each run",
            "set it to False, or call guard.enable after it was set",
        )
    if capability(gpu) < _AMPERE:
        return
    if torch.get_float32_matmul_precision() != "highest":
        yield OtherSource(
            "TF32",
            "products of float32 matrices are rounded to TF32: a run repeats on this GPU, and "
            "gives other numbers on a GPU or CPU without it",
            'torch.set_float32_matmul_precision("highest"), as guard.enable sets it',
            counts=False,
        )


def capability(gpu: str) -> tuple[int, int]:
    """The compute capability of a GPU."""
    return GPUS[gpu.lower()]
