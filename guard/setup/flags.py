"""torch's own switches: one row each, and a stage that sets them and puts them back."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.dependencies import found_at, import_torch, loaded
from guard.observe.patching import replace
from guard.setup.activation import active
from guard.setup.environment import given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from guard.settings import Settings

ABSENT = object()  # what a flag reads where this torch, or this machine, has none
_ALGORITHMS = "torch.use_deterministic_algorithms"
_READ_BY_INDUCTOR = "TORCHINDUCTOR_DETERMINISTIC"
_BEFORE = "before 2.2, the oldest that guard supports"


class Flag(NamedTuple):
    """A switch of torch."""

    name: str  # as the documentation calls it
    wanted: Any  # its value under guard
    why: str  # what it does for a run
    cost: str  # what it costs
    since: str  # the torch release that has it; probed for, not looked up
    when: Callable[[Settings], bool]  # whether the settings ask for it
    read: Callable[[ModuleType], Any]  # its value now, or ABSENT
    write: Callable[[ModuleType, Any], None]  # sets it
    otherwise: Any = ABSENT  # another value that means the same
    under: str = ""  # the flag without which it has no effect, or ""


class State(NamedTuple):
    """How a flag stands: its value now and the one that guard would give it."""

    flag: Flag
    value: Any

    @property
    def is_set(self) -> bool:
        """Whether the flag has the wanted value, or there is nothing to set."""
        return self.value is ABSENT or self.value in (self.flag.wanted, self.flag.otherwise)


def _always(_: Settings) -> bool:
    return True


def _read_algorithms(torch: ModuleType) -> tuple[bool, bool]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def _write_algorithms(torch: ModuleType, value: tuple[bool, bool]) -> None:
    # torch.use_deterministic_algorithms imports inductor's configuration first, for a second.
    torch._C._set_deterministic_algorithms(value[0], warn_only=value[1])  # noqa: SLF001


@contextmanager
def switched(*, on: bool, warn_only: bool = False) -> Iterator[None]:
    """Torch's switch for deterministic algorithms set so, and put back at the end."""
    torch = import_torch("guard")
    found = _read_algorithms(torch)
    _write_algorithms(torch, (on, warn_only))
    try:
        yield
    finally:
        _write_algorithms(torch, found)


@contextmanager
def held() -> Iterator[None]:
    """Torch's switch on and warning only, whatever the program sets meanwhile; then as found."""
    torch = import_torch("guard")
    with switched(on=True, warn_only=True), ExitStack() as stack:
        stack.callback(_restore_inductor, _read_inductor(torch))
        # The first two call the third, and import inductor's configuration before, for a second.
        for owner, name in (
            (torch, "use_deterministic_algorithms"),
            (torch, "set_deterministic_debug_mode"),
            (torch._C, "_set_deterministic_algorithms"),  # noqa: SLF001 - what all others call
        ):
            replace(stack, owner, name, lambda *_, **__: None)
        yield


def _restore_inductor(found: Any) -> None:  # noqa: ANN401 - whatever a flag holds
    if found is ABSENT:  # what it reads when it is imported
        found = os.environ.get(_READ_BY_INDUCTOR) == "1"
    if _read_inductor(import_torch("guard")) not in (ABSENT, found):
        _write_inductor(import_torch("guard"), found)


def _attribute(path: str, name: str) -> tuple[Callable[..., Any], Callable[..., None]]:
    """Reader and writer of an attribute of a submodule of torch, which may not be there."""

    def read(torch: ModuleType) -> Any:  # noqa: ANN401
        return getattr(found_at(torch, path), name, ABSENT)

    def write(torch: ModuleType, value: Any) -> None:  # noqa: ANN401
        setattr(found_at(torch, path), name, value)

    return read, write


def _tensor_float(path: str, *parts: str) -> tuple[Callable[..., Any], Callable[..., None]]:
    """Reader and writer of ``allow_tf32``, or of ``fp32_precision`` of its parts, each its own
    since torch 2.9: once a program has set those, reading the older switch is an error."""
    read_old, write_old = _attribute(path, "allow_tf32")
    newer = [_attribute(part, "fp32_precision") for part in parts]

    def read(torch: ModuleType) -> Any:  # noqa: ANN401
        try:
            return read_old(torch)
        except RuntimeError:
            return tuple(read_new(torch) for read_new, _ in newer)

    def write(torch: ModuleType, value: Any) -> None:  # noqa: ANN401
        now = read(torch)
        if isinstance(now, bool) and isinstance(value, bool):
            write_old(torch, value)
            return
        values = value if isinstance(value, tuple) else ("ieee",) * len(newer)
        for (_, write_new), each in zip(newer, values, strict=True):
            write_new(torch, each)

    return read, write


def _read_inductor(_: ModuleType) -> Any:  # noqa: ANN401
    return getattr(loaded("torch._inductor.config"), "deterministic", ABSENT)


def _write_inductor(_: ModuleType, value: bool) -> None:
    setattr(loaded("torch._inductor.config"), "deterministic", value)  # noqa: B010 - no such stub


def _reduced(settings: Settings) -> bool:
    return not settings.reduced_precision


FLAGS: tuple[Flag, ...] = (
    Flag(
        _ALGORITHMS,
        (True, False),
        "operators take their deterministic kernel, and those that have none refuse; not "
        "warn_only, which leaves the backward of fused attention free",
        "depends on the operators: scatter, index_add and the like sort first",
        _BEFORE,
        _always,
        _read_algorithms,
        _write_algorithms,
    ),
    Flag(
        "torch.utils.deterministic.fill_uninitialized_memory",
        True,
        "torch.empty and its kin give NaN or the largest integer instead of what lay there",
        "each allocation is written once more: most of the price of determinism in some runs; "
        "fill=False saves it once a run has been verified",
        "2.2, the oldest that guard supports",
        lambda settings: settings.fill,
        *_attribute("utils.deterministic", "fill_uninitialized_memory"),
        under=_ALGORITHMS,
    ),
    Flag(
        "torch.utils.deterministic.fill_uninitialized_memory",
        False,
        "leaves torch.empty as it is: faster, and what reads it unwritten differs from run to run",
        "none",
        "2.2, the oldest that guard supports",
        lambda settings: not settings.fill,
        *_attribute("utils.deterministic", "fill_uninitialized_memory"),
    ),
    Flag(
        "torch.backends.cudnn.deterministic",
        True,
        "convolutions take deterministic kernels, whoever asks",
        "some kernels are slower",
        _BEFORE,
        _always,
        *_attribute("backends.cudnn", "deterministic"),
    ),
    Flag(
        "torch.backends.cudnn.benchmark",
        False,
        "cuDNN does not choose kernels by timing them",
        "the fastest kernel is not looked for",
        _BEFORE,
        _always,
        *_attribute("backends.cudnn", "benchmark"),
    ),
    Flag(
        "torch._inductor.config.deterministic",
        True,
        "compiled code does not choose kernels by timing them",
        "no autotuning that could change results",
        "2.10",
        _always,
        _read_inductor,
        _write_inductor,
    ),
    Flag(
        "torch.backends.cudnn.enabled",
        False,
        "recurrent layers with dropout and other kernels of cuDNN are avoided",
        "convolutions and recurrent layers are much slower",
        _BEFORE,
        lambda settings: not settings.cudnn,
        *_attribute("backends.cudnn", "enabled"),
    ),
    Flag(
        "torch.backends.cuda.matmul.allow_tf32",
        False,
        "matrix products round as float32 does on every GPU",
        "up to several times slower on GPUs with TF32",
        _BEFORE,
        _reduced,
        *_tensor_float("backends.cuda.matmul", "backends.cuda.matmul"),
        otherwise=("ieee",),
    ),
    Flag(
        "torch.backends.cudnn.allow_tf32",
        False,
        "convolutions round as float32 does on every GPU",
        "up to several times slower on GPUs with TF32",
        _BEFORE,
        _reduced,
        *_tensor_float("backends.cudnn", "backends.cudnn.conv", "backends.cudnn.rnn"),
        otherwise=("ieee", "ieee"),
    ),
    *(
        Flag(
            f"torch.backends.cuda.matmul.{name}",
            False,
            f"sums inside {kind} products are kept in float32",
            "slower on some shapes",
            _BEFORE,
            _reduced,
            *_attribute("backends.cuda.matmul", name),
        )
        for name, kind in (
            ("allow_fp16_reduced_precision_reduction", "float16"),
            ("allow_bf16_reduced_precision_reduction", "bfloat16"),
        )
    ),
)


def states(settings: Settings) -> tuple[State, ...]:
    """Every flag that the settings ask for, as it stands now."""
    torch = import_torch("guard")
    return tuple(State(flag, flag.read(torch)) for flag in FLAGS if flag.when(settings))


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Set every flag, and put back what was there."""
    torch = import_torch("guard")
    inductor = _read_inductor(torch)
    found = [state for state in states(settings) if state.value is not ABSENT]
    try:
        for state in found:
            if not state.is_set:
                state.flag.write(torch, state.flag.wanted)
        yield
    finally:
        for state in reversed(found):
            if state.flag.read(torch) not in (state.value, ABSENT):
                state.flag.write(torch, state.value)
        # Imported meanwhile, it has read guard's variable.
        if inductor is ABSENT and active() is None:
            _restore_inductor(given(_READ_BY_INDUCTOR) == "1")
