"""torch's switches, environment variables and generators: guard's own tables, and what else
decides numbers where it is set.

Which generators have been seeded is told as far as that can be seen.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from guard.dependencies import found_at, loaded
from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, Entry, Level
from guard.settings import LARGEST_SEED
from guard.setup.flags import ABSENT, FLAGS, Flag, State
from guard.setup.seeding import current_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.inventory.reports import Level
    from guard.inventory.situation import Situation
    from guard.settings import Settings
    from guard.setup.environment import Verdict

_LEVELS: dict[str, Level] = {
    "set by guard": OK,
    "set by user": OK,
    "missing": MAY_DIFFER,
    "too late": MAY_DIFFER,
    "invalid": DIFFERS,
    "not applicable": NOT_APPLICABLE,
}
_READ_BY_CUDA = {
    "CUBLAS_WORKSPACE_CONFIG"
}  # matter always, says the table, and are read by CUDA only

_SPLITS = "decides how NCCL splits sums: keep it the same"
_KERNELS = "decides which kernels the CPU takes: keep it the same"
_TIMED = ("1", "kernels are chosen by timing them, so that another run can take others: unset it")
# Shown where they are set; a pair is a value with which runs may differ, and why.
_OTHERS: dict[str, str | tuple[str, str]] = {
    "OMP_NUM_THREADS": "decides the number of threads, where the program does not",
    "MKL_NUM_THREADS": "decides the number of threads of MKL, where the program does not",
    "OMP_DYNAMIC": ("true", "the number of threads changes with the load: set it to false"),
    "MKL_DYNAMIC": ("true", "MKL may take fewer threads than it has: set it to false"),
    "MKL_CBWR": "MKL keeps to one kind of kernel, so that different CPUs agree more often",
    "ATEN_CPU_CAPABILITY": _KERNELS,
    "ONEDNN_MAX_CPU_ISA": _KERNELS,
    "DNNL_MAX_CPU_ISA": _KERNELS,
    "ONEDNN_DEFAULT_FPMATH_MODE": _KERNELS,
    "DNNL_DEFAULT_FPMATH_MODE": _KERNELS,
    "NVIDIA_TF32_OVERRIDE": "0 turns TF32 off in NVIDIA's libraries, whatever torch asks for",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1 turns TF32 on in matrix products",
    "TORCH_BLAS_PREFER_CUBLASLT": "decides which library multiplies matrices: keep it the same",
    "CUBLASLT_WORKSPACE_SIZE": "decides which kernels cuBLASLt can take: keep it the same",
    "PYTORCH_TUNABLEOP_ENABLED": _TIMED,
    "TORCHINDUCTOR_MAX_AUTOTUNE": _TIMED,
    "NCCL_PROTO": _SPLITS,
    "NCCL_MIN_NCHANNELS": _SPLITS,
    "NCCL_MAX_NCHANNELS": _SPLITS,
    "NCCL_NTHREADS": _SPLITS,
    "NCCL_COLLNET_ENABLE": _SPLITS,
}


def of_variables(situation: Situation) -> list[Entry]:
    """Each variable of the table, and the others that are set."""
    others = [_other(name, value) for name in _OTHERS if (value := os.environ.get(name))]
    return [_variable(each, situation) for each in situation.variables] + others


def _variable(verdict: Verdict, situation: Situation) -> Entry:
    name, value = verdict.name, verdict.value
    if name in _READ_BY_CUDA and not situation.has_gpu and verdict.state != "invalid":
        return Entry(name, value, NOT_APPLICABLE, "matters with a GPU only", decides=True)
    level = _LEVELS[verdict.state]
    if name == "PYTHONHASHSEED" and verdict.state == "too late":
        level = DIFFERS
    decides = level != NOT_APPLICABLE
    origin = f"{verdict.state}: " if verdict.state.startswith("set by") else ""
    return Entry(name, value, level, f"{origin}{verdict.meaning}", decides)


def _other(name: str, value: str) -> Entry:
    told = _OTHERS[name]
    if isinstance(told, str):
        return Entry(name, value, OK, told, decides=True)
    differing, meaning = told
    if value.lower() == differing:
        return Entry(name, value, MAY_DIFFER, meaning, decides=True)
    return Entry(name, value, OK, "set by user", decides=True)


_OF_GPUS = ("torch.backends.cuda.", "torch.backends.cudnn.")
_INDUCTOR = "torch._inductor.config.deterministic"
_LEFT = "left as it is: keep it the same"
_ATTENTION = ("flash", "mem_efficient", "math", "cudnn")
# Where torch 2.9 and newer keep what a float32 product may be rounded to.
_PRECISIONS = ("cuda.matmul", "cudnn.conv", "cudnn.rnn", "mkldnn.matmul", "mkldnn.conv")


def entries(situation: Situation) -> list[Entry]:
    """Each switch, once."""
    torch = situation.torch
    if torch is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch tells of newer names for some
        chosen = _chosen(situation.settings)
        return [_entry(flag, situation, asked=asked) for flag, asked in chosen] + _others(torch)


def _chosen(settings: Settings) -> list[tuple[Flag, bool]]:
    """The row of each name, and whether the settings ask for it; a name can have two rows."""
    asked = {flag.name: flag for flag in FLAGS if flag.when(settings)}
    every = {flag.name: flag for flag in FLAGS} | asked
    return [(flag, name in asked) for name, flag in every.items()]


def _entry(flag: Flag, situation: Situation, *, asked: bool) -> Entry:
    value = flag.read(situation.torch)
    if flag.name == _INDUCTOR and value is ABSENT:
        return _unloaded(flag)
    verdict, meaning = _judged(flag, value, situation, asked=asked)
    shown = None if value is ABSENT else _plain(value)
    return Entry(flag.name, shown, verdict, meaning, decides=True)


def _judged(
    flag: Flag,
    value: Any,  # noqa: ANN401 - whatever a flag holds
    situation: Situation,
    *,
    asked: bool,
) -> tuple[Level, str]:
    if value is ABSENT:
        return NOT_APPLICABLE, "this torch has no such switch"
    if flag.name.startswith(_OF_GPUS) and not situation.has_gpu:
        return NOT_APPLICABLE, "matters with a GPU only"
    if asked and flag.under and not _is_on(flag.under, situation.torch):
        level: Level = DIFFERS if situation.is_active else MAY_DIFFER
        return level, f"has no effect while {flag.under} is off; with it, {flag.why}"
    if not asked or State(flag, value).is_set:
        return OK, flag.why if asked else _LEFT
    wanted = _plain(flag.wanted)
    if situation.is_active:
        return DIFFERS, f"guard had set it to {wanted}, and something has set it back: {flag.why}"
    return MAY_DIFFER, f"guard.enable sets it to {wanted}: {flag.why}"


def _is_on(name: str, torch: Any) -> bool:  # noqa: ANN401 - the module
    """Whether a flag is on, be it with a warning only."""
    found = next(flag.read(torch) for flag in FLAGS if flag.name == name)
    return bool(found[0] if isinstance(found, tuple) else found)


def _unloaded(flag: Flag) -> Entry:
    """Inductor's switch before anything is compiled: what it will read when it is imported."""
    value = os.environ.get("TORCHINDUCTOR_DETERMINISTIC") == "1"
    meaning = (
        "torch.compile is not in use yet, and will read TORCHINDUCTOR_DETERMINISTIC (torch 2.10 "
        "and newer)"
    )
    return Entry(flag.name, value, OK if value else MAY_DIFFER, meaning, decides=True)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a flag holds
    """A flag's value as JSON can have it."""
    if isinstance(value, tuple) and isinstance(value[0], bool):  # use_deterministic_algorithms
        return "warn_only" if value == (True, True) else value[0]
    if isinstance(value, tuple):  # fp32_precision of several kinds of operator
        return ", ".join(map(str, value))
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _others(torch: Any) -> list[Entry]:  # noqa: ANN401 - the module
    found = {
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "float32_matmul_precision": _read(torch.get_float32_matmul_precision),
        "float32_products": _precisions(torch),
        "attention_kernels": _kernels(torch),
        "torch.backends.mkldnn.enabled": getattr(torch.backends.mkldnn, "enabled", None),
    }
    return [Entry(name, value, OK, _LEFT, decides=True) for name, value in found.items()]


def _read(read: Callable[[], str]) -> str:
    try:
        return read()
    except RuntimeError:  # its older and its newer names were both written to
        return "mixed"


def _precisions(torch: Any) -> str | None:  # noqa: ANN401
    found = ((path, found_at(torch.backends, f"{path}.fp32_precision")) for path in _PRECISIONS)
    return ", ".join(f"{path} {value}" for path, value in found if value is not None) or None


def _kernels(torch: Any) -> str:  # noqa: ANN401
    switches = {
        name: getattr(torch.backends.cuda, f"{name}_sdp_enabled", None) for name in _ATTENTION
    }
    return ", ".join(name for name, is_on in switches.items() if is_on is not None and is_on())


def of_generators(situation: Situation) -> list[Entry]:
    """Each kind of generator."""
    seed = current_seed() if situation.is_active else None
    return [_random(seed), _numpy(seed), *_torch(situation, seed), _own()]


def _random(seed: int | None) -> Entry:
    if seed is not None:
        return Entry("random", seed, OK, "seeded by guard")
    meaning = "Python does not tell whether it was seeded; guard.enable seeds it"
    return Entry("random", None, UNKNOWN, meaning)


def _numpy(seed: int | None) -> Entry:
    numpy: Any = loaded("numpy.random")
    if numpy is None:
        return Entry("numpy.random", None, NOT_APPLICABLE, "not imported; then it begins anywhere")
    if seed is not None:
        return Entry("numpy.random", seed, OK, "seeded by guard")
    # NumPy forgets the entropy that it began with as soon as numpy.random.seed is called.
    bits = getattr(numpy.mtrand._rand, "_bit_generator", None)  # noqa: SLF001 - no other way
    if getattr(bits, "_seed_seq", None) is not None:
        meaning = "begins anywhere: numpy.random.seed was never called; guard.enable does"
        return Entry("numpy.random", None, DIFFERS, meaning)
    meaning = "numpy.random.seed was called, NumPy does not tell with what; guard.enable calls it"
    return Entry("numpy.random", None, UNKNOWN, meaning)


def _torch(situation: Situation, seed: int | None) -> list[Entry]:
    torch = situation.torch
    if torch is None:
        return []
    found = [_judged_by("torch cpu", torch.initial_seed(), seed)]
    if torch.cuda.is_initialized():
        generators = enumerate(torch.cuda.default_generators)
        return found + [
            _judged_by(f"torch cuda:{index}", each.initial_seed(), seed)
            for index, each in generators
        ]
    meaning = "CUDA has not started, and will take the seed that torch.manual_seed was given"
    if not situation.has_gpu:
        meaning = "matters with a GPU only"
    return [*found, Entry("torch cuda", None, NOT_APPLICABLE, meaning)]


def _judged_by(name: str, current: int, seed: int | None) -> Entry:
    if current == seed:
        return Entry(name, current, OK, "seeded by guard")
    if _is_worker():
        meaning = "of a DataLoader worker: it comes from the loader's generator"
        return Entry(name, current, UNKNOWN, meaning)
    if current > LARGEST_SEED:
        meaning = (
            "this seed looks like one that torch took from the system, as it does where nobody "
            "seeds it; guard.enable does"
        )
        return Entry(name, current, DIFFERS, meaning)
    since = ", after guard" if seed is not None else ""
    meaning = f"seeded by the program{since}: the same in each run if it is a constant there"
    return Entry(name, current, OK, meaning)


def _is_worker() -> bool:
    module: Any = loaded("torch.utils.data._utils.worker")
    return module is not None and module.get_worker_info() is not None


def _own() -> Entry:
    meaning = (
        "numpy.random.default_rng(), random.Random() and torch.Generator() objects are not seen "
        "from here: `detlint` finds those in your source that have no seed"
    )
    return Entry("own objects", None, UNKNOWN, meaning)
