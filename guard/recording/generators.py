"""The states of the generators, wherever they may have moved, and the batches that DataLoaders give
of them."""

from __future__ import annotations

import os
import random
import threading
import weakref
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import dataloader

from guard.dependencies import loaded
from guard.digests import generators
from guard.digests.hashing import hashed
from guard.digests.structures import fingerprint
from guard.digests.tensors import seen
from guard.observe import places
from guard.observe.patching import around
from guard.recording.events import source
from guard.setup import streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack

    from guard.digests.tensors import Digest
    from guard.observe.places import Place
    from guard.recording.session import Session

    Function = Callable[..., Any]


_OF_A_LINE = 8  # objects: a line that makes one for each sample would cost too much
_FOLLOWED = ("cpu", "cuda")  # devices whose generators are objects with a state to read

# The states at the first recording of this process. Where nobody seeds a generator and nobody
# draws from it, each process has another state of it, which makes no difference.
_born: dict[str, Any] = {}


def _reference(generator: torch.Generator) -> Callable[[], torch.Generator | None]:
    """Does not keep it alive, where torch allows that: since 2.12 or 2.13."""
    try:
        return weakref.ref(generator)
    except TypeError:
        return lambda: generator


class Generators:
    """Which state each generator had when it was looked at last: only changes are recorded."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._numpy: bytes | None = None
        self._python: tuple[bytes, float | None] | None = None
        self._torch: bytes | None = None
        self._objects: dict[str, Callable[[], torch.Generator | None]] = {}
        self._made: Counter[str] = Counter()  # by line
        if not _born:
            if loaded("numpy") is not None:  # it loads this part late, with a state by chance
                import_module("numpy.random")
            self.look(lambda *_: None, None, all_of_them=True)
            _born.update(self._last)
        self._last.update(_born)

    def register(self, name: str, generator: Any) -> None:  # noqa: ANN401
        """Follow a generator object of the program's, by its last name alone."""
        if isinstance(generator, torch.Generator):
            for other, reference in list(self._objects.items()):
                if other != name and reference() in (None, generator):
                    del self._objects[other]
            self._objects[name] = _reference(generator)

    def made(self, generator: Any, place: Place | None) -> None:  # noqa: ANN401
        """The program has made one, at a line: follow it, where it is of the user's own files.

        By the line and how many were made there before, and not by which are still there: when
        an object goes may differ between runs.
        """
        if place is None or places.is_installed(place.filename):
            return
        line = f"{os.path.basename(place.filename)}:{place.line}"
        self._made[line] += 1
        number = self._made[line]
        if number <= _OF_A_LINE and generator.device.type in _FOLLOWED:
            self.register(f"made at {line}" + (f" ({number})" if number > 1 else ""), generator)

    def look(
        self, add: Callable[..., None], place: Place | None, *, all_of_them: bool = False
    ) -> None:
        """Record those that have moved. Reading Python's and NumPy's takes longest, so that they
        are looked at where a batch was drawn and where a step ends."""
        for name, digest in self._changed(all_of_them=all_of_them):
            add(source("generator", name), "", place, digest)

    def _changed(self, *, all_of_them: bool) -> Iterator[tuple[str, Digest]]:
        if all_of_them:
            yield from self._pythons()
            yield from self._numpys()
        for name, generator in self._torchs():
            digest, _ = seen(generator.get_state())
            if self._last.get(name) != digest:
                self._last[name] = digest
                yield name, digest

    def _pythons(self) -> Iterator[tuple[str, Digest]]:
        quick = _quick_python()
        if quick is not None and quick == self._python:
            return
        self._python = quick
        state = random.getstate()
        if self._last.get("python") != state:
            self._last["python"] = state
            yield "python", fingerprint(state).digest

    def _numpys(self) -> Iterator[tuple[str, Digest]]:
        numpy: Any = loaded("numpy.random")
        if numpy is None:
            return
        quick = _quick(generators.of_numpy(numpy))
        if quick is not None and quick == self._numpy:
            return  # but for a second normal number that is kept back, which shows at the next
        self._numpy = quick
        digest = fingerprint(numpy.get_state(legacy=False)).digest
        if self._last.get("numpy") != digest:
            self._last["numpy"] = digest
            yield "numpy", digest

    def _torchs(self) -> Iterator[tuple[str, torch.Generator]]:
        quick = _quick(generators.of_torch())
        if quick is None or quick != self._torch:
            self._torch = quick
            yield "torch.cpu", torch.default_generator
        cuda: Any = torch.cuda  # whose function has no types
        started = bool(cuda.is_initialized())
        captures = started and torch.cuda.is_current_stream_capturing()
        if started and not captures:
            for index, each in enumerate(torch.cuda.default_generators):
                yield f"torch.cuda:{index}", each
        for name, reference in self._objects.items():
            generator = reference()
            if generator is not None and not (captures and generator.device.type == "cuda"):
                yield name, generator
        for device, named in streams.named().items():
            for name, each in named.items():
                yield f"guard.generator({name!r}, {device!r})", each


def _quick_python() -> tuple[bytes, float | None] | None:
    found = generators.of_python()
    return None if found is None else (hashed(found[0], 0), found[1])


def _quick(held: Any) -> bytes | None:  # noqa: ANN401 - a buffer
    return None if held is None else hashed(held, 0)


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each batch, until the stack is closed."""
    iterator: Any = dataloader._BaseDataLoaderIter  # noqa: SLF001 - of all loaders, in all releases

    @around(stack, iterator, "__init__")
    def _(begin: Function, self: Any, loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        recorder = session.recorder
        if recorder is not None and threading.get_ident() == recorder.thread:
            name = recorder.names.label(loader.dataset)
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
        by = "workers" if self._num_workers else ""
        recorder.batch(recorder.names.label(self._dataset), batch, by)
        return batch
