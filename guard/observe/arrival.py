"""Doing something as soon as the program has imported torch, and no sooner.

What torch reads when it is imported, such as OMP_NUM_THREADS, may be set by the program.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def when_imported(name: str, then: Callable[[], None]) -> Callable[[], None]:
    """Call ``then`` when a module has been imported: now, if it has been. What takes it back."""
    if name in sys.modules:
        then()
        return lambda: None
    finder = _Finder(name, then)
    sys.meta_path.insert(0, finder)
    return finder.leave


class _Finder:
    """Finds one module as the others find it, and puts a loader around its loader."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then

    def leave(self) -> None:
        """Look for it no more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As the import system asks."""
        del path, target
        if name != self._name:
            return None
        self.leave()
        spec = find_spec(name)
        if spec is None or not hasattr(spec.loader, "exec_module"):
            sys.meta_path.insert(0, self)  # it may be there later
            return spec
        around: Any = _Loader(spec.loader, self._then, self)
        spec.loader = around
        return spec


class _Loader:
    """Runs a module and what was to follow; then it is as if it had never been."""

    def __init__(self, loader: Any, then: Callable[[], None], finder: _Finder) -> None:  # noqa: ANN401
        self._loader = loader
        self._then = then
        self._finder = finder

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does it."""
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """As the loader does it, and then what was to follow."""
        spec = module.__spec__
        if spec is not None:
            spec.loader = module.__loader__ = self._loader
        try:
            self._loader.exec_module(module)
        except BaseException:
            sys.meta_path.insert(0, self._finder)  # the program may try again
            raise
        self._then()
