"""Whether `guard` is ours: many projects have a package or a module of that name."""

from __future__ import annotations

import itertools
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    import pytest

_NAME = "guard"
_HOME = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
_INSTALLED = frozenset(("site-packages", "dist-packages"))


def others_guard(config: pytest.Config | None = None) -> str:
    """What else is called so here, as a message says it; "" if nothing is.

    Nothing is imported for it. With a configuration, what is installed over ours counts, too,
    and a marker of that name.
    """
    if config is not None and (clash := _clash()):
        return clash
    for path in (_imported(), *_beside()):
        if path and not _is_ours(path):
            return f"`guard` is {path} here"
    if config is not None and any(map(_is_marker, config.getini("markers"))):
        return "the marker `guard` is this project's own"
    return ""


def give_way() -> None:
    """Have ``import guard`` give a project that is installed in place its own, before which Python
    finds what lies in site-packages, such as ours."""
    if _in_place() is not None and _GivesWay not in sys.meta_path:
        sys.meta_path.insert(0, _GivesWay)


class _GivesWay:
    """Finds what would be imported if detlint were not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG004
        return _in_place() if name == _NAME else None


def _in_place() -> ModuleSpec | None:
    """What is found next where ours is found first, unless it lies in site-packages as well."""
    found = _found()
    if not found or not _is_ours(_place(found[0])):
        return None
    others = (each for each in found if not _is_ours(_place(each)))
    return next((each for each in others if _INSTALLED.isdisjoint(_parts(each))), None)


def _parts(spec: ModuleSpec) -> list[str]:
    return _place(spec).split(os.sep)


def _found() -> list[ModuleSpec]:
    """All that could be imported, in Python's order. Tools that install in place add folders to
    the path, or finders behind Python's own."""
    behind = itertools.dropwhile(lambda each: each is not PathFinder, sys.meta_path)
    found = itertools.chain(
        (PathFinder.find_spec(_NAME, [folder]) for folder in sys.path),
        (each.find_spec(_NAME, None) for each in behind if hasattr(each, "find_spec")),
    )
    return [each for each in found if each is not None and each.origin is not None]


@cache
def _clash() -> str:
    """Which package is installed over our `guard`, or ours over its; "" if none is."""
    for folder in sorted(os.listdir(_HOME)):
        name, _, rest = folder.partition("-")
        if name != "detlint" and rest.endswith(".dist-info") and _holds_guard(folder):
            return (
                f"`guard` of {name} and of detlint overwrite each other here (uninstall detlint, "
                f"install {name} again, and detlint in an environment of its own)"
            )
    return ""


def _holds_guard(folder: str) -> bool:
    with suppress(OSError), open(os.path.join(_HOME, folder, "RECORD"), "rb") as file:
        text = b"\n" + file.read()
        return b"\nguard/__init__.py," in text or b"\nguard.py," in text
    return False


def _imported() -> str:
    """The folder or file that `import guard` gives."""
    try:
        spec = find_spec(_NAME)
    except ValueError:  # imported already, and by no import system
        return str(getattr(sys.modules[_NAME], "__file__", None) or "")
    return _place(spec) if spec is not None else ""


def _place(spec: ModuleSpec) -> str:
    return next(iter(spec.submodule_search_locations or ()), spec.origin or "")


def _beside() -> list[str]:
    """What tests that pytest starts by itself may put on the path later."""
    places = [os.path.join(folder, _NAME) for folder in (os.getcwd(), os.path.abspath("src"))]
    packages = [each for each in places if os.path.exists(os.path.join(each, "__init__.py"))]
    return packages + [f"{each}.py" for each in places if os.path.exists(f"{each}.py")]


def _is_ours(path: str) -> bool:
    """Whether detlint lies beside it, this or another copy."""
    beside = os.path.join(os.path.dirname(os.path.realpath(path)), "detlint")
    return os.path.exists(os.path.join(beside, os.path.basename(os.path.dirname(__file__))))


def _is_marker(line: str) -> bool:
    return line.partition(":")[0].partition("(")[0].strip() == _NAME
