"""The machine, this Python and the build of torch: what the CPU's numbers depend on."""

from __future__ import annotations

import os
import platform
import re
import sys
from typing import TYPE_CHECKING, Any

from guard.dependencies import process_group
from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, Entry
from guard.inventory.situation import version_of
from guard.setup.hash_seed import hash_seed
from guard.setup.variables import several_ranks

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
