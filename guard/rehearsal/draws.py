"""Random numbers that nobody has seeded: torch's, Python's, NumPy's and the system's.

Of those that no operator draws, only what the program or a library of its calls is looked at, and
not what Python's own modules draw for themselves, such as names of temporary files.
"""

from __future__ import annotations

import math
import numbers
import os
import random
import secrets
import time
import uuid
from collections import Counter
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import torch

from guard.observe import patching, places
from guard.observe.patching import around, kind_of, replace
from guard.rehearsal.findings import OtherSource, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import ExitStack

    from typing_extensions import Self

    from guard.observe.modes import Run

    Function = Callable[..., Any]

_Real: Any = torch.Generator
# A new one has a constant seed, until ``seed`` asks the system. Operators are handed another
# object for the same generator, so that it is known by its address.
_by_the_system: set[int] = set()


class FakeGenerator(_Real, metaclass=kind_of(_Real)):  # type: ignore[misc, metaclass]
    """A generator of the CPU that says it is where it was asked to be."""

    def __new__(cls, device: Any = "cpu") -> Self:  # noqa: ANN401
        made: Self = super().__new__(cls, "cpu")
        made._guard_device = torch.device(device)
        return made

    @property
    def device(self) -> torch.device:
        found: torch.device = self._guard_device
        return found

    def seed(self) -> int:
        drawn: int = super().seed()
        _by_the_system.add(self._cdata)
        return drawn

    def manual_seed(self, seed: int) -> Self:
        _by_the_system.discard(self._cdata)
        super().manual_seed(seed)
        return self


def _draws(run: Run) -> bool:
    """Whether a call draws at all: dropout that is off, or drops nothing, does not."""
    if "dropout" not in run.name:
        return True
    given = run.named()
    return bool(given.get("p", 1)) and given.get("train", True) is not False


_OWN = (
    *(os.path.abspath(each) for each in (__file__, patching.__file__, random.__file__)),
    *("<frozen", "<__array"),
)
_NO_DRAWS = {
    *("seed", "getstate", "setstate", "get_state", "set_state", "default_rng", "test"),
    *("get_bit_generator", "set_bit_generator"),
}
_SECRETS = ("choice", "randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe")
_CLOCKS = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns")
_SCALES = (1, 1_000, 1_000_000, 1_000_000_000)
_WRAPS = (2**32, 2**31, 2**32 - 1, 2**31 - 1)  # what programs cut a seed to
_SMALL = 1000  # a number that is written can be as small by chance
_ADVICE = {
    "torch": "call guard.enable(seed=0), or torch.manual_seed(0), before it",
    "random": "call guard.enable(seed=0), or random.seed(0), before it",
    "numpy.random": "call guard.enable(seed=0), or numpy.random.seed(0), before it",
    "numpy": "give it a seed: numpy.random.default_rng(0)",
    "object": "give it a seed: random.Random(0)",
    "system": "draw from a generator that has a seed: random.Random(0)",
    "seed": "give it a number that is written down",
}


class Draws:
    """What was drawn from a generator that nobody seeded, and from where."""

    def __init__(self, *, seeded: bool) -> None:
        # whether the global generators are taken to be: of torch, which seeds them with what the
        # system gives, of ``random`` and of ``numpy.random``
        self.seeded = dict.fromkeys(("torch", "random", "numpy.random"), seeded)
        self._drawn: Counter[tuple[str, str, places.Trail | None]] = Counter()
        self._given: dict[int, str] = {}
        self._is_drawing = False
        self._passing: Counter[tuple[str, places.Trail | None]] = Counter()

    def install(self, stack: ExitStack) -> None:
        """Watch what no operator draws, until the stack is closed."""
        self._watch_python(stack)
        self._watch_numpy(stack)
        self._watch_torch(stack)
        self._watch_system(stack)

    def follow(self, run: Run, here: Callable[[], places.Trail | None]) -> None:
        """An operator runs: note what it draws from."""
        if not run.draws:
            return
        generator, what = run.kwargs.get("generator"), ""
        if isinstance(generator, _Real):
            by_the_system = generator._cdata in _by_the_system  # noqa: SLF001
            what = "a generator that was seeded by the system" if by_the_system else ""
        elif not self.seeded["torch"] and _draws(run):
            what = "torch's own generator, which nobody has seeded"
        if what:
            self._drawn["torch", f"random numbers are drawn from {what}", here()] += 1

    def sources(self) -> Iterator[OtherSource]:
        """What was found, by operators first."""
        found = sorted(self._drawn.items(), key=lambda drawn: drawn[0][0] != "torch")
        for (kind, what, trail), count in found:
            name = "seed" if kind == "seed" else "unseeded draw"
            yield OtherSource(name, what, _ADVICE[kind], where(trail), times=count)

    def unjudged(self) -> Iterator[str]:
        """Draws from the system of which nobody knows whether the training sees them."""
        for what, trail in self._passing:
            place = "line not known" if trail is None else trail.place.short
            yield f"what becomes of {what}() ({place})"

    # Python

    def _watch_python(self, stack: ExitStack) -> None:
        self._watch_global(stack, random, random.__all__, "setstate")

        @around(stack, random.Random, "seed")
        def _(original: Function, generator: random.Random, a: Any = None, *args: Any) -> None:  # noqa: ANN401
            original(generator, a, *args)
            if a is not None:
                self._check_seed(a, "random.Random")
            elif type(generator) is random.Random:
                self._draw("object", "random.Random() is given no seed")

        for name in ("random", "getrandbits"):
            self._watch_entropy(stack, random.SystemRandom, name, "random.SystemRandom")

    def _watch_global(
        self,
        stack: ExitStack,
        module: Any,  # noqa: ANN401
        names: Iterable[str],
        setting: str,
    ) -> None:
        """The functions of a module that draw from its generator, and those that seed it and
        (``setting``) put it into a state."""
        kind = module.__name__

        def draw(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            if not self.seeded[kind]:
                self._draw(kind, f"random numbers are drawn from {kind}, which nobody has seeded")
            return original(*args, **options)

        def seed(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            given = [*args, *options.values()]
            self.seeded[kind] = bool(given and given[0] is not None)
            for each in given[:1]:
                self._check_seed(each, f"{kind}.seed")
            return original(*args, **options)

        def set_state(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            self.seeded[kind] = True
            return original(*args, **options)

        for name in names:
            found = getattr(module, name)
            is_function = callable(found) and not isinstance(found, type)
            if is_function and not name.startswith("_") and name not in _NO_DRAWS:
                around(stack, module, name)(draw)
        around(stack, module, setting)(set_state)
        around(stack, module, "seed")(seed)

    # NumPy

    def _watch_numpy(self, stack: ExitStack) -> None:
        try:
            numpy: Any = import_module("numpy.random")
        except ImportError:
            return
        self._watch_global(stack, numpy, list(vars(numpy)), "set_state")
        self._watch_seed(stack, numpy, "default_rng", "numpy.random.default_rng")
        self._watch_objects(stack, numpy)

    def _watch_objects(self, stack: ExitStack, numpy: Any) -> None:  # noqa: ANN401
        """All that NumPy makes without a seed asks one function for a number of the system's."""
        source = numpy.bit_generator
        if not hasattr(source, "randbits"):
            return
        original = source.randbits

        def randbits(count: int) -> int:
            # NumPy's own module makes one for the state of another, in a copy or from a file.
            if places.caller(_OWN).f_globals.get("__name__") != "numpy.random._pickle":
                self._draw("numpy", "a generator of NumPy is given no seed")
            return int(original(count))

        replace(stack, source, "randbits", randbits)
        twister: Any = numpy.mtrand._MT19937  # noqa: SLF001 - what RandomState makes first, without a seed

        class MT19937(twister, metaclass=kind_of(twister)):  # type: ignore[misc, metaclass]
            """Made without a seed, and given one at once if there is one."""

            def _legacy_seeding(generator, seed: Any) -> None:  # noqa: ANN401, N805
                if seed is not None:
                    self._forget("numpy", "a generator of NumPy is given no seed")
                super()._legacy_seeding(seed)

            def __reduce__(generator) -> tuple[Any, ...]:  # noqa: N805
                make, made, *state = super().__reduce__()
                kinds = (twister if each is MT19937 else each for each in made)
                return (make, tuple(kinds), *state)

        replace(stack, numpy.mtrand, "_MT19937", MT19937)

    # torch, and what others give as a seed

    def _watch_torch(self, stack: ExitStack) -> None:
        self._watch_seed(stack, torch, "manual_seed", "torch.manual_seed")
        replace(stack, torch.random, "manual_seed", torch.manual_seed)
        for name in ("manual_seed", "manual_seed_all"):
            self._watch_seed(stack, torch.cuda, name, f"torch.cuda.{name}")

    def _watch_seed(self, stack: ExitStack, module: Any, name: str, shown: str) -> None:  # noqa: ANN401
        @around(stack, module, name)
        def _(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            for each in (*args, *options.values())[:1]:
                self._check_seed(each, shown)
            return original(*args, **options)

    def _check_seed(self, seed: Any, name: str) -> None:  # noqa: ANN401
        """Whether a seed is a number that the clock or the system gave before."""
        is_number = isinstance(seed, numbers.Real) and math.isfinite(seed)
        source = self._given.get(int(seed)) if is_number else None
        if source is not None:
            self._draw("seed", f"the seed that {name} gets comes from {source}()")

    # The system

    def _watch_system(self, stack: ExitStack) -> None:
        self._watch_entropy(stack, os, "urandom", "os")
        for name in _SECRETS:
            self._watch_entropy(stack, secrets, name, "secrets")
        for owner, names in ((uuid, ("uuid1", "uuid4")), (time, _CLOCKS), (os, ("getpid",))):
            for name in names:
                self._watch_passing(stack, owner, name)

    def _watch_entropy(self, stack: ExitStack, owner: Any, name: str, of: str) -> None:  # noqa: ANN401
        @around(stack, owner, name)
        def _(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            if self._is_drawing or not _is_of_program():
                return original(*args, **options)
            self._is_drawing = True  # one of these may be made of another
            try:
                value = original(*args, **options)
            finally:
                self._is_drawing = False
            self._draw("system", f"{of}.{name}() draws from the system and has no seed")
            self._remember(value, f"{of}.{name}")
            return value

    def _watch_passing(self, stack: ExitStack, owner: Any, name: str) -> None:  # noqa: ANN401
        """What is mostly no part of a training: the time of day, a name for a run."""
        shown = f"{owner.__name__}.{name}"

        @around(stack, owner, name)
        def _(original: Function, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            value = original(*args, **options)
            if _is_of_program():
                self._remember(getattr(value, "int", value), shown)
                if owner is uuid:
                    self._passing[shown, places.here()] += 1
            return value

    def _remember(self, value: Any, source: str) -> None:  # noqa: ANN401
        for each in _numbers(value):
            for number in (each, *(each % wrap for wrap in _WRAPS)):
                if number > _SMALL:
                    self._given[number] = source

    def _draw(self, kind: str, what: str) -> None:
        if not _is_aside():
            self._drawn[kind, what, places.here()] += 1

    def _forget(self, kind: str, what: str) -> None:
        key = kind, what, places.here()
        self._drawn[key] -= 1
        if self._drawn[key] <= 0:
            del self._drawn[key]


def _numbers(value: Any) -> Iterator[int]:  # noqa: ANN401
    """The seeds that programs make of a value."""
    if isinstance(value, bytes):
        for part in (value, value[:4], value[:8]):
            yield int.from_bytes(part, "big")
            yield int.from_bytes(part, "little")
    elif isinstance(value, float):
        yield from (int(value * scale) for scale in _SCALES)
    elif isinstance(value, int):
        yield from (value, *(value // scale for scale in _SCALES[1:]))


def _is_of_program() -> bool:
    """Whether the program's own code calls, and not a library."""
    return places.is_own(places.caller(_OWN).f_code.co_filename)


def _is_aside() -> bool:
    """Whether one of Python's own modules calls, for itself, or a library that is imported."""
    caller = places.caller(_OWN)
    name = caller.f_code.co_filename
    if places.is_own(name):
        return False
    if not places.is_of_package(name):
        return places.is_installed(name)
    names = (each.f_code.co_filename for each in places.outward(caller))
    libraries = takewhile(lambda each: not places.is_own(each), names)
    return any(each.startswith("<frozen importlib") for each in libraries)
