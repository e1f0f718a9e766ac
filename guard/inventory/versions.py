"""Versions of installed packages, looked up one by one: to list all takes a second in some."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from guard.dependencies import loaded


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
