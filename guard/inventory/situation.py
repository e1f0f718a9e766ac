"""What all sections of the report ask first."""

from __future__ import annotations

from importlib import metadata
from typing import Any, NamedTuple

from guard import activation, environment, nvml
from guard.dependencies import import_torch, loaded
from guard.errors import MissingDependencyError, SettingsError
from guard.settings import Settings, load


class Situation(NamedTuple):
    """Where the report is made.

    torch      the module, or None
    trouble    why there is none
    settings   guard's, or those that guard.enable would take
    complaint  why it would take none
    is_active  whether guard is on
    driver     NVIDIA's, with its GPUs, or None
    variables  how each environment variable stands
    """

    torch: Any
    trouble: str
    settings: Settings
    complaint: str
    is_active: bool
    driver: nvml.Driver | None
    variables: tuple[environment.Verdict, ...]

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
        nvml.driver(),
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
