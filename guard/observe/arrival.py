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
    """Finds one module as the others find it, and has its loader tell when it has run."""

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
        sys.meta_path.insert(0, self)  # some only ask whether it is there
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        loader: Any = spec.loader
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)  # it is as if it had never been there
            run(module)  # after an error the program may try again
            if self in sys.meta_path:
                self.leave()
                self._then()

        loader.exec_module = exec_module
        return spec
