"""Whether `guard` is ours: many projects have a package or a module of that name."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_OURS = os.path.join(os.path.dirname(__file__), "..", "..", "guard")


def others_guard(config: pytest.Config | None = None) -> str:
    """What else is called so here, as a message says it; "" if nothing is.

    Nothing is imported for it. With a configuration, a marker of that name counts, too.
    """
    for path in (_imported(), *_beside()):
        if path and not _is_ours(path):
            return f"`guard` is {path} here"
    if config is not None and any(map(_is_marker, config.getini("markers"))):
        return "the marker `guard` is this project's own"
    return ""


def _imported() -> str:
    """The folder or file that `import guard` gives."""
    try:
        spec = find_spec("guard")
    except ValueError:  # imported already, and by no import system
        return str(getattr(sys.modules["guard"], "__file__", None) or "")
    if spec is None:
        return ""
    return next(iter(spec.submodule_search_locations or ()), spec.origin or "")


def _beside() -> list[str]:
    """What tests that pytest starts by itself may put on the path later."""
    places = [os.path.join(folder, "guard") for folder in (os.getcwd(), os.path.abspath("src"))]
    packages = [each for each in places if os.path.exists(os.path.join(each, "__init__.py"))]
    return packages + [f"{each}.py" for each in places if os.path.exists(f"{each}.py")]


def _is_ours(path: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(_OURS)


def _is_marker(line: str) -> bool:
    return line.partition(":")[0].partition("(")[0].strip() == "guard"
