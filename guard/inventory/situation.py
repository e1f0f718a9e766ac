"""What all sections of the report ask first."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

from guard.dependencies import import_torch, loaded
from guard.errors import MissingDependencyError, SettingsError
from guard.settings import Settings, load
from guard.setup import activation, environment

_LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
_VERSION_BYTES, _NAME_BYTES = 80, 96  # as nvml.h has them


class Situation(NamedTuple):
    """Where the report is made."""

    torch: Any  # the module, or None
    trouble: str  # why there is none
    settings: Settings  # guard's, or those that guard.enable would take
    complaint: str  # why it would take none
    is_active: bool  # whether guard is on
    driver: Driver | None  # NVIDIA's, with its GPUs, or None
    variables: tuple[environment.Verdict, ...]  # how each environment variable stands

    @property
    def has_gpu(self) -> bool:
        """Whether this torch has kernels for a GPU, and there is one. CUDA is not started."""
        if self.torch is None:
            return False
        if getattr(self.torch.version, "hip", None):
            return bool(self.torch.cuda.device_count())
        return bool(self.torch.version.cuda and self.driver and self.driver.visible)

    def state(self, variable: str) -> str:
        """How an environment variable of guard's table stands; "" for one that is not in it."""
        return next((each.state for each in self.variables if each.name == variable), "")


def look() -> Situation:
    """The situation now."""
    torch, trouble = _torch()
    active = activation.active()
    settings, complaint = (active, "") if active is not None else _settings()
    return Situation(
        torch,
        trouble,
        settings,
        complaint,
        active is not None,
        driver(),
        environment.verdicts(),
    )


def _torch() -> tuple[Any, str]:
    try:
        return import_torch("all that guard does"), ""
    except MissingDependencyError as error:
        return None, str(error)
    except (ImportError, OSError) as error:  # one that lacks a library of CUDA, for instance
        return None, f"torch is installed, and cannot be imported: {error}"


def _settings() -> tuple[Settings, str]:
    try:
        return load(), ""
    except SettingsError as error:
        return Settings(), str(error)


def version_of(module: str, *distributions: str) -> str | None:
    """The version of the package, imported or only installed; None where it is neither."""
    recorded = (_recorded(name) for name in distributions)
    version = next((each for each in recorded if each is not None), None)
    if version is not None:
        return version
    # From a source folder on the path, or from a package manager that leaves no metadata.
    found: Any = loaded(module)
    return None if found is None else str(getattr(found, "__version__", "unknown"))


def _recorded(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


class Driver(NamedTuple):
    """The driver."""

    version: str  # of it: "550.54.15"
    # the name of each GPU of the machine, with " (MIG)" for one that is split up
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
