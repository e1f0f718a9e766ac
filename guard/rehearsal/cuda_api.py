"""``torch.cuda`` for a GPU that is not there: it says yes, and does nothing."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses import fake_tensor

from guard.observe.patching import replace
from guard.rehearsal.draws import FakeGenerator
from guard.rehearsal.kernels import capability

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from typing_extensions import Self

_MEMORY = 80 * 1024**3
_NOTHING = (
    "synchronize", "empty_cache", "ipc_collect", "init", "_lazy_init", "set_stream", "_sleep",
    "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_accumulated_memory_stats", "set_per_process_memory_fraction", "set_sync_debug_mode",
    "caching_allocator_enable", "set_rng_state_all",
)  # fmt: skip
_NOTHING_ANYWHERE = (  # of torch.accelerator
    "set_device_index", "set_device_idx", "synchronize", "empty_cache", "set_stream",
    "reset_peak_memory_stats",
)  # fmt: skip
_ZERO = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
    "memory_cached", "max_memory_cached", "utilization", "memory_usage", "temperature",
    "power_draw", "clock_rate", "current_blas_handle", "get_sync_debug_mode",
)  # fmt: skip


_STREAMS = ("Stream", "ExternalStream", "Event", "current_stream", "default_stream")


class _Stream:
    """Neither a stream nor an event: whatever is asked of it is done already."""

    device = torch.device("cuda", 0)
    cuda_stream = 0
    priority = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def elapsed_time(self, _: _Stream) -> float:
        return 1.0

    def record_event(self, event: Any = None) -> Any:  # noqa: ANN401
        return event or _Stream()

    def record(self, *_: Any) -> None:
        pass

    wait = wait_event = wait_stream = synchronize = record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Context(nullcontext[None]):
    """``torch.cuda.device`` and its like: a context that takes anything."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


def install(stack: ExitStack, gpu: str, devices: int = 1) -> None:
    """Have CUDA available, with one GPU or several of a kind."""
    current = [0]

    def set_device(device: Any) -> None:  # noqa: ANN401 - an index, or a device
        index = device if isinstance(device, int) else torch.device(device).index
        current[0] = max(0, index or 0)

    about, is_ampere = _properties(gpu), capability(gpu) >= (8, 0)
    cuda: dict[str, Any] = {
        **dict.fromkeys(_NOTHING, _constant(None)),
        **dict.fromkeys(_ZERO, _constant(0)),
        **dict.fromkeys(("is_available", "is_initialized"), _constant(True)),
        "device_count": _constant(devices),
        "current_device": lambda: current[0],
        "set_device": set_device,
        **dict.fromkeys(("_exchange_device", "_maybe_exchange_device"), _constant(0)),
        **dict.fromkeys(("is_bf16_supported", "is_tf32_supported"), _constant(is_ampere)),
        "is_current_stream_capturing": _constant(False),
        "get_device_name": _constant(about.name),
        "get_device_capability": _constant(capability(gpu)),
        "get_device_properties": _constant(about),
        "get_arch_list": _constant([f"sm_{about.major}{about.minor}"]),
        "can_device_access_peer": _constant(True),
        "mem_get_info": _constant((_MEMORY, _MEMORY)),
        "memory_stats": lambda *_: _Zeros(),
        "memory_summary": _constant(""),
        "memory_snapshot": lambda *_: [],
        "get_rng_state": lambda *_: torch.zeros(16, dtype=torch.uint8),
        "get_rng_state_all": lambda: [torch.zeros(16, dtype=torch.uint8)],
        "set_rng_state": _constant(None),
        "initial_seed": _constant(0),
        **dict.fromkeys(_STREAMS, _Stream),
        **dict.fromkeys(("stream", "device", "device_of"), _Context),
        "default_generators": (FakeGenerator("cuda"),) * devices,
    }
    for name, value in cuda.items():
        _replace_if_there(stack, torch.cuda, name, value)
    _install_others(stack, current, devices)


def _install_others(stack: ExitStack, current: list[int], devices: int) -> None:
    replace(stack, torch, "Generator", FakeGenerator)
    _replace_if_there(stack, fake_tensor, "init_gpu_context", _constant(None))
    _replace_if_there(stack, torch.backends.cuda, "is_built", _constant(True))
    # Of which kind a mesh of devices is, where a program does not say.
    _replace_if_there(stack, torch._C, "_get_accelerator", lambda: torch.device("cuda"))  # noqa: SLF001
    accelerator: Any = getattr(torch, "accelerator", None)
    for name, value in {
        **dict.fromkeys(_NOTHING_ANYWHERE, _constant(None)),
        **dict.fromkeys(_ZERO[:4], _constant(0)),
        "is_available": _constant(True),
        "current_accelerator": lambda *_, **__: torch.device("cuda"),
        "device_count": _constant(devices),
        **dict.fromkeys(("current_device_index", "current_device_idx"), lambda: current[0]),
        "current_stream": _Stream,
        "device_index": _Context,
    }.items():
        _replace_if_there(stack, accelerator, name, value)


def _replace_if_there(stack: ExitStack, owner: Any, name: str, value: Any) -> None:  # noqa: ANN401
    if owner is not None and hasattr(owner, name):
        replace(stack, owner, name, value)


def _constant(value: Any) -> Callable[..., Any]:  # noqa: ANN401
    return lambda *_, **__: value


class _Zeros(dict[str, int]):
    def __missing__(self, _: str) -> int:
        return 0


def _properties(gpu: str) -> SimpleNamespace:
    major, minor = capability(gpu)
    return SimpleNamespace(
        name=f"NVIDIA {gpu.upper()}",
        major=major,
        minor=minor,
        total_memory=_MEMORY,
        multi_processor_count=132,
        warp_size=32,
        is_integrated=0,
        is_multi_gpu_board=0,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block_optin=232448,
        gcnArchName="",
        uuid="GPU-preflight",
        L2_cache_size=50 * 1024**2,
    )
