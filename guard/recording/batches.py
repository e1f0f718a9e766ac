"""Seeing what DataLoaders give, and the generators that they draw from."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from torch.utils.data import dataloader

from guard.observe.patching import around
from guard.recording.naming import ByIdentity

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.recording.session import Session

    Function = Callable[..., Any]


class _Loaders:
    """The names of loaders: the class of their data, with a number from the second data on."""

    def __init__(self) -> None:
        self._names: ByIdentity[str] = ByIdentity()
        self._counts: dict[str, int] = {}

    def name(self, dataset: Any) -> str:  # noqa: ANN401
        kind = type(dataset).__name__
        try:
            found = self._names.get(dataset)
            if found is None:
                self._counts[kind] = self._counts.get(kind, 0) + 1
                number = self._counts[kind]
                found = kind if number == 1 else f"{kind}#{number}"
                self._names.set(dataset, found)
        except TypeError:  # a list has no weak references
            return kind
        return found


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each batch, until the stack is closed."""
    iterator: Any = dataloader._BaseDataLoaderIter  # noqa: SLF001 - of all loaders, in all releases
    loaders = _Loaders()

    @around(stack, iterator, "__init__")
    def _(begin: Function, self: Any, loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        recorder = session.recorder
        if recorder is not None and threading.get_ident() == recorder.thread:
            name = loaders.name(loader.dataset)
            recorder.generators.register(f"{name}.generator", loader.generator)
            inner = getattr(loader.batch_sampler, "sampler", None)
            for each in (loader.sampler, inner):
                found = getattr(each, "generator", None)
                if found is not None and found is not loader.generator:
                    recorder.generators.register(f"{name}.sampler", found)
        begin(self, loader, *args, **kwargs)

    @around(stack, iterator, "__next__")
    def _(following: Function, self: Any) -> Any:  # noqa: ANN401
        recorder = session.recorder
        if recorder is None or threading.get_ident() != recorder.thread or recorder.muted:
            return following(self)
        recorder.turn(muted=1)
        try:
            batch = following(self)
        finally:
            recorder.turn(muted=-1)
        recorder.batch(loaders.name(self._dataset), batch)
        return batch
