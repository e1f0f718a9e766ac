"""The addresses of this project: those of ``[project.urls]`` in pyproject.toml, and no others."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache

from detlint import __version__, configuration
from detlint.errors import SettingsError

# What stands there only once the package can be had by its name.
_INDEX = "Index"


def address(label: str) -> str:
    """The address under a label of the table, "" where none is set."""
    return _addresses().get(label, "")


def requirement(extra: str = "") -> str:
    """What pip is to be asked for: the name once it is published, else where the source lies."""
    name = f"detlint[{extra}]" if extra else "detlint"
    if address(_INDEX):
        return name
    return f"{name} @ git+{address('Repository') or '<address of its repository>'}"


def installation(extra: str = "") -> str:
    """What a person types to install it."""
    if address(_INDEX):
        return f'pip install "{requirement(extra)}"'
    where = f" of {address('Repository')}" if address("Repository") else ""
    return f'pip install "{f".[{extra}]" if extra else "."}" in a clone{where}'


def revision() -> str:
    """The release in the repository that this is, "" where there is none yet."""
    return f"v{__version__}" if address(_INDEX) else ""


@cache
def _addresses() -> dict[str, str]:
    package = os.path.dirname(os.path.abspath(__file__))
    with suppress(SettingsError, ImportError):  # tomli, where only the package itself is
        file = configuration.read(os.path.join(os.path.dirname(package), "pyproject.toml"))
        project = file.content.get("project", {})
        if project.get("name") == "detlint":  # a clone, which may be newer than what is installed
            found: dict[str, str] = project.get("urls", {})
            return found
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        lines = metadata("detlint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return {}
    return {label: url for label, _, url in (line.partition(", ") for line in lines)}
