"""The machine, this Python and the build of torch: what numbers depend on.

GPUs: the driver, the libraries, and whether CUDA has started. It is not started for this.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

from guard.dependencies import process_group
from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, Entry
from guard.inventory.situation import version_of
from guard.setup.variables import hash_seed, several_ranks

if TYPE_CHECKING:
    from guard.inventory.situation import Situation

_BEGINNING = 4096  # bytes: /proc/cpuinfo repeats itself for each core
# As torch.__config__.show() says it.
_LIBRARIES = {
    "mkl": r"Math Kernel Library Version (\S+)",
    "onednn": r"MKL-DNN v(\S+)",
    "openmp": r"OpenMP (\d+)",
}


def entries(situation: Situation) -> list[Entry]:
    """What there is besides GPUs."""
    system = f"{platform.system()} {platform.machine()}"
    return [
        Entry("system", system, OK, "compare runs on the same kind", decides=True),
        Entry("libc", _libc(), OK, "its exp and sin can round otherwise in others", decides=True),
        Entry("cpu", _processor(), OK, "MKL and oneDNN choose their kernels by it", decides=True),
        _ranks(situation),
    ]


def _libc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):  # not glibc
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = file.read(_BEGINNING).splitlines()
    except OSError:
        lines = []
    fields = (line.partition(":") for line in lines)
    names = (text.strip() for name, _, text in fields if name.strip() == "model name")
    return next(names, platform.machine())


def _ranks(situation: Situation) -> Entry:
    size = _world_size()
    if not several_ranks(os.environ):
        return Entry("ranks", size, NOT_APPLICABLE, "one process trains", decides=True)
    meaning = "sums over ranks are the same for the same number of ranks on the same topology"
    if situation.state("NCCL_ALGO") in ("set by guard", "set by user"):
        return Entry("ranks", size, OK, meaning, decides=True)
    meaning += ", if NCCL keeps to one algorithm: see NCCL_ALGO below"
    return Entry("ranks", size, MAY_DIFFER, meaning, decides=True)


def _world_size() -> int:
    if (connected := process_group()) is not None:
        return int(connected.get_world_size())
    text = os.environ.get("WORLD_SIZE", "")  # of torchrun
    return int(text) if text.isdecimal() else 1


def of_interpreter(_: Situation) -> list[Entry]:
    """What Python is."""
    name = platform.python_implementation()
    return [
        Entry("python", platform.python_version(), OK, f"{name}, from {sys.prefix}", decides=True),
        _hashing(),
        _asserts(),
        *_lock(),
    ]


def _hashing() -> Entry:
    seed = hash_seed()
    if seed is None:
        meaning = "a set of strings has another order in each run: see PYTHONHASHSEED below"
        return Entry("hash_seed", "random", DIFFERS, meaning, decides=True)
    meaning = "a set of strings has the same order in each run, if it is filled in the same order"
    return Entry("hash_seed", seed, OK, meaning, decides=True)


def _asserts() -> Entry:
    level = sys.flags.optimize
    meaning = f"{'-O' * bool(level) or 'no -O'}: asserts are {'left out' if level else 'run'}"
    return Entry("optimize", level, OK, meaning, decides=True)


def _lock() -> list[Entry]:
    """The lock that lets one thread run at a time; Python without it is there since 3.13."""
    is_held = getattr(sys, "_is_gil_enabled", None)
    if is_held is None or is_held():
        return []
    meaning = "threads run at once, and what they add up depends on which comes first"
    return [Entry("gil", False, MAY_DIFFER, meaning, decides=True)]


def of_torch(situation: Situation) -> list[Entry]:
    """What torch is, or how to get it."""
    torch = situation.torch
    numpy = version_of("numpy", "numpy")
    arrays = Entry("numpy", numpy, OK, "compare runs on the same release", decides=True)
    if torch is None:
        return [Entry("torch", None, UNKNOWN, situation.trouble, decides=True), arrays]
    meaning = "another release can round otherwise: compare runs on the same"
    return [
        Entry("torch", str(torch.__version__), OK, meaning, decides=True),
        Entry("commit", torch.version.git_version, OK, "the source it was built of", decides=True),
        *_capability(torch),
        *_libraries(torch),
        arrays,
    ]


def _capability(torch: Any) -> list[Entry]:  # noqa: ANN401 - the module
    threads = torch.get_num_threads()
    return [
        Entry(
            "capability",
            torch.backends.cpu.get_cpu_capability(),
            OK,
            "the instructions torch's own kernels use; ATEN_CPU_CAPABILITY lowers them, so that "
            "different CPUs agree more often",
            decides=True,
        ),
        Entry(
            "threads",
            threads,
            OK,
            "sums are split among them, so another number can round otherwise: "
            f"OMP_NUM_THREADS={threads} keeps it on machines with other cores",
            decides=True,
        ),
    ]


def _libraries(torch: Any) -> list[Entry]:  # noqa: ANN401
    config = torch.__config__.show()
    found = {name: re.search(pattern, config) for name, pattern in _LIBRARIES.items()}
    return [
        Entry(name, match[1], OK, "part of this torch", decides=True)
        if match
        else Entry(name, None, NOT_APPLICABLE, "this torch is built without it", decides=True)
        for name, match in found.items()
    ]


_SAME = "compare runs on the same release"
# Wheels that torch's own do not contain, and that can be replaced one by one.
_WHEELS = ("cublas", "cufft", "curand", "cusolver", "cusparse")


def of_gpus(situation: Situation) -> list[Entry]:
    """What there is for a GPU."""
    torch = situation.torch
    found = [_driver(situation), _devices(situation), _cuda(torch)]
    if torch is not None and (torch.version.cuda or getattr(torch.version, "hip", None)):
        found += [_cudnn(torch), _nccl(torch), *_wheels(torch), _started(torch)]
    return found + _others(torch)


def _driver(situation: Situation) -> Entry:
    if situation.driver is None:
        return Entry("driver", None, NOT_APPLICABLE, "no NVIDIA driver answers", decides=True)
    return Entry("driver", situation.driver.version, OK, _SAME, decides=True)


def _devices(situation: Situation) -> Entry:
    driver = situation.driver
    if driver is None or not driver.visible:
        hidden = driver is not None and driver.gpus
        meaning = "CUDA_VISIBLE_DEVICES hides them all" if hidden else "no NVIDIA GPU"
        return Entry("devices", None, NOT_APPLICABLE, meaning, decides=True)
    kinds = sorted(set(driver.gpus))
    value = f"{driver.visible} x {' or '.join(kinds)}"
    if len(kinds) > 1:
        meaning = (
            "GPUs of different kinds round differently, and which one a run gets is not seen from "
            "here: choose with CUDA_VISIBLE_DEVICES"
        )
        return Entry("devices", value, MAY_DIFFER, meaning, decides=True)
    meaning = "the same kind of GPU gives the same numbers, another kind other ones"
    return Entry("devices", value, OK, meaning, decides=True)


def _cuda(torch: Any) -> Entry:  # noqa: ANN401 - the module, or None
    if torch is None:
        return Entry("cuda", None, NOT_APPLICABLE, "there is no torch", decides=True)
    if torch.version.cuda:
        return Entry("cuda", torch.version.cuda, OK, _SAME, decides=True)
    if hip := getattr(torch.version, "hip", None):
        meaning = f"{_SAME}; guard's table of operators is of CUDA and the CPU"
        return Entry("cuda", f"rocm {hip}", UNKNOWN, meaning, decides=True)
    meaning = "this torch is built without CUDA: everything runs on the CPU"
    return Entry("cuda", None, NOT_APPLICABLE, meaning, decides=True)


def _cudnn(torch: Any) -> Entry:  # noqa: ANN401 - the module
    library = getattr(torch._C, "_cudnn", None)  # noqa: SLF001 - cudnn.version() starts CUDA
    if library is None:
        meaning = "this torch is built without cuDNN"
        return Entry("cudnn", None, NOT_APPLICABLE, meaning, decides=True)
    return Entry("cudnn", library.getVersionInt(), OK, _SAME, decides=True)


def _nccl(torch: Any) -> Entry:  # noqa: ANN401
    try:
        version = ".".join(map(str, torch.cuda.nccl.version()))
    except (AttributeError, RuntimeError, TypeError):
        meaning = "this torch is built without NCCL"
        return Entry("nccl", None, NOT_APPLICABLE, meaning, decides=True)
    return Entry("nccl", version, OK, "of runs with several ranks; " + _SAME, decides=True)


def _wheels(torch: Any) -> list[Entry]:  # noqa: ANN401
    major = (torch.version.cuda or "").partition(".")[0]
    found = {
        name: version_of(f"nvidia.{name}", f"nvidia-{name}-cu{major}", f"nvidia-{name}")
        for name in (_WHEELS if major else ())
    }
    return [Entry(name, each, OK, _SAME, decides=True) for name, each in found.items() if each]


def _started(torch: Any) -> Entry:  # noqa: ANN401
    if torch.cuda.is_initialized():
        return Entry("started", True, OK, "CUDA has started, and has read its variables")
    return Entry("started", False, OK, "CUDA has not started, so its variables can still be set")


def _others(torch: Any) -> list[Entry]:  # noqa: ANN401
    """Devices of other makers, whose kernels guard has no table of."""
    if torch is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of machines that lack a driver for them
        mps = torch.backends.mps.is_available()
        xpu = getattr(torch.version, "xpu", None)
    meaning = "guard seeds it and sets torch's flags; its kernels are not in guard's table"
    return [
        Entry(name, value, UNKNOWN, meaning, decides=True)
        for name, value in (("mps", mps), ("xpu", xpu))
        if value
    ]
