"""NVIDIA's driver and GPUs, asked through NVML: this starts no CUDA, and a fork survives it."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any, NamedTuple

_LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
_VERSION_BYTES, _NAME_BYTES = 80, 96  # as nvml.h has them


class Driver(NamedTuple):
    """The driver.

    version  of it: "550.54.15"
    gpus     the name of each GPU of the machine, with " (MIG)" for one that is split up
    """

    version: str
    gpus: tuple[str, ...]

    @property
    def visible(self) -> int:
        """How many GPUs CUDA_VISIBLE_DEVICES leaves: all if unset, up to the first that is none."""
        given = os.environ.get("CUDA_VISIBLE_DEVICES")
        if given is None:
            return len(self.gpus)
        count = 0
        for each in given.split(","):
            number = each.strip()
            if not number.startswith(("GPU-", "MIG-")) and not self._has(number):
                break
            count += 1
        return count

    def _has(self, number: str) -> bool:
        return number.isdecimal() and int(number) < len(self.gpus)


@cache
def driver() -> Driver | None:
    """The driver, or None where there is none, or none that answers."""
    try:
        import ctypes

        library = ctypes.CDLL(_LIBRARY)
        if library.nvmlInit_v2() != 0:
            return None
        try:
            version = ctypes.create_string_buffer(_VERSION_BYTES)
            library.nvmlSystemGetDriverVersion(version, ctypes.c_uint(_VERSION_BYTES))
            return Driver(version.value.decode(), _gpus(ctypes, library))
        finally:
            library.nvmlShutdown()
    except (ImportError, OSError, AttributeError):  # not there, or too old to have a function
        return None


def _gpus(ctypes: Any, library: Any) -> tuple[str, ...]:  # noqa: ANN401 - modules
    count = ctypes.c_uint()
    library.nvmlDeviceGetCount_v2(ctypes.byref(count))
    return tuple(_name(ctypes, library, index) for index in range(count.value))


def _name(ctypes: Any, library: Any, index: int) -> str:  # noqa: ANN401
    handle, name = ctypes.c_void_p(), ctypes.create_string_buffer(_NAME_BYTES)
    split, pending = ctypes.c_uint(), ctypes.c_uint()
    library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))
    library.nvmlDeviceGetName(handle, name, ctypes.c_uint(_NAME_BYTES))
    library.nvmlDeviceGetMigMode(handle, ctypes.byref(split), ctypes.byref(pending))
    return f"{name.value.decode()}{' (MIG)' if split.value else ''}"
