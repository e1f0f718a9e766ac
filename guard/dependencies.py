"""Packages that are not there until something needs them."""

from __future__ import annotations

import importlib
import re
import sys
from typing import TYPE_CHECKING, Any

from guard.errors import MissingDependencyError

if TYPE_CHECKING:
    from types import ModuleType

    from detlint.operations import Operation
    from detlint.operations.switched import Switched


def import_torch(purpose: str) -> ModuleType:
    """The module torch. Raises MissingDependencyError, which says how to install it.

    ``purpose`` is who needs it: ``"guard.enable"``.
    """
    if torch := sys.modules.get("torch"):
        return torch
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        from detlint.addresses import installation

        message = f"{purpose} needs torch: {installation('guard')}"
        raise MissingDependencyError(message, name="torch") from None


def loaded(name: str) -> ModuleType | None:
    """A module, if the program has imported it; guard itself never does on its account."""
    return sys.modules.get(name)


def found_at(owner: Any, path: str) -> Any:  # noqa: ANN401
    """What lies at a dotted path below something; None where a part of it is not there."""
    for part in path.split("."):
        owner = getattr(owner, part, None)
    return owner


def in_force(row: Operation | Switched) -> bool:
    """Whether a row of a table holds for the torch that is installed."""
    installed = release(import_torch("guard").__version__)
    begun = not row.since or installed >= release(row.since)
    return begun and not (row.until and installed >= release(row.until))


def process_group() -> Any:  # noqa: ANN401 - torch.distributed, or None
    """torch.distributed, where the program has connected its ranks; else None."""
    found: Any = loaded("torch.distributed")
    return found if found and found.is_available() and found.is_initialized() else None


def release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version: (2, 13) of "2.13.0+cpu"."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))
