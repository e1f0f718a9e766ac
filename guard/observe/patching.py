"""Putting something of ours in the place of a function of torch's, and taking it away again."""

from __future__ import annotations

import functools
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def replace(stack: ExitStack, owner: Any, name: str, new: Any) -> None:  # noqa: ANN401
    """Set an attribute until the stack is closed; one that was inherited is taken away again."""
    own = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, new)
    undo = functools.partial(setattr, owner, name, before) if own else None
    stack.callback(undo or functools.partial(delattr, owner, name))


def around(stack: ExitStack, owner: Any, name: str) -> Callable[[Callable[..., Any]], Any]:  # noqa: ANN401
    """Until the stack is closed, have a function called in the place of an attribute, with that as
    its first argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401
            return function(original, *args, **options)

        replace(stack, owner, name, call)
        return call

    return decorate


def kind_of(original: Any) -> Any:  # noqa: ANN401 - a class of classes
    """A metaclass for what stands in the place of a class made in C: every instance of that is one
    of it, also those made before."""

    class Kind(type(original)):  # type: ignore[misc]  # known when it runs
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

    return Kind


class Scan:
    """What ``os.scandir`` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:  # noqa: ANN401 - an os.DirEntry, which has no public maker
        return next(self._entries)

    def __enter__(self) -> Any:  # noqa: ANN401 - Self, from Python 3.11 on
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give no more."""
        self._entries = iter(())


def send_along(stack: ExitStack, name: str, then: Callable[..., None], *given: object) -> None:
    """Have a function of a module's called in such processes, until the stack is closed.

    It is called before the program's main module is imported, and before torch gives a worker of
    a ``DataLoader`` its own seed.

    name  of the call among the data
    """
    from multiprocessing import spawn

    @around(stack, spawn, "get_preparation_data")
    def _(original: Callable[[str], dict[str, Any]], child: str) -> dict[str, Any]:
        data = original(child)
        return {**data, name: _Sent(then, given, data.get("sys_path", sys.path))}


class _Sent:
    """Pickled here, and in the child the call."""

    def __init__(
        self, then: Callable[..., None], given: tuple[object, ...], path: list[str]
    ) -> None:
        self.arguments = then, given, path

    def __reduce__(self) -> tuple[object, ...]:
        return _begin, self.arguments


def _begin(then: Callable[..., None], given: tuple[object, ...], path: list[str]) -> None:
    sys.path[:] = path  # as multiprocessing does next: packages are where the parent found them
    then(*given)


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
