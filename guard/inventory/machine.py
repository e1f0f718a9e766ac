"""The machine: what the CPU's numbers depend on, and how many processes share the work."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from guard.dependencies import loaded
from guard.presence import several_ranks
from guard.reports import MAY_DIFFER, NOT_APPLICABLE, OK, Entry

if TYPE_CHECKING:
    from guard.inventory.situation import Situation

_BEGINNING = 4096  # bytes: /proc/cpuinfo repeats itself for each core


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
    distributed: Any = loaded("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_world_size())
    text = os.environ.get("WORLD_SIZE", "")  # of torchrun
    return int(text) if text.isdecimal() else 1
