"""Generators: which of them have been seeded, as far as that can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.dependencies import loaded
from guard.inventory.reports import DIFFERS, NOT_APPLICABLE, OK, UNKNOWN, Entry
from guard.randomness.seeding import current_seed
from guard.settings import LARGEST_SEED

if TYPE_CHECKING:
    from guard.inventory.situation import Situation


def entries(situation: Situation) -> list[Entry]:
    """Each kind of generator."""
    seed = current_seed() if situation.is_active else None
    return [_random(seed), _numpy(seed), *_torch(situation, seed), _own()]


def _random(seed: int | None) -> Entry:
    if seed is not None:
        return Entry("random", seed, OK, "seeded by guard")
    meaning = "Python does not tell whether it was seeded; guard.enable seeds it"
    return Entry("random", None, UNKNOWN, meaning)


def _numpy(seed: int | None) -> Entry:
    numpy: Any = loaded("numpy.random")
    if numpy is None:
        return Entry("numpy.random", None, NOT_APPLICABLE, "not imported; then it begins anywhere")
    if seed is not None:
        return Entry("numpy.random", seed, OK, "seeded by guard")
    # NumPy forgets the entropy that it began with as soon as numpy.random.seed is called.
    bits = getattr(numpy.mtrand._rand, "_bit_generator", None)  # noqa: SLF001 - no other way
    if getattr(bits, "_seed_seq", None) is not None:
        meaning = "begins anywhere: numpy.random.seed was never called; guard.enable does"
        return Entry("numpy.random", None, DIFFERS, meaning)
    meaning = "numpy.random.seed was called, NumPy does not tell with what; guard.enable calls it"
    return Entry("numpy.random", None, UNKNOWN, meaning)


def _torch(situation: Situation, seed: int | None) -> list[Entry]:
    torch = situation.torch
    if torch is None:
        return []
    found = [_judged("torch cpu", torch.initial_seed(), seed)]
    if torch.cuda.is_initialized():
        generators = enumerate(torch.cuda.default_generators)
        return found + [
            _judged(f"torch cuda:{index}", each.initial_seed(), seed) for index, each in generators
        ]
    meaning = "CUDA has not started, and will take the seed that torch.manual_seed was given"
    if not situation.has_gpu:
        meaning = "matters with a GPU only"
    return [*found, Entry("torch cuda", None, NOT_APPLICABLE, meaning)]


def _judged(name: str, current: int, seed: int | None) -> Entry:
    if current == seed:
        return Entry(name, current, OK, "seeded by guard")
    if _is_worker():
        meaning = "of a DataLoader worker: it comes from the loader's generator"
        return Entry(name, current, UNKNOWN, meaning)
    if current > LARGEST_SEED:
        meaning = (
            "this seed looks like one that torch took from the system, as it does where nobody "
            "seeds it; guard.enable does"
        )
        return Entry(name, current, DIFFERS, meaning)
    since = ", after guard" if seed is not None else ""
    meaning = f"seeded by the program{since}: the same in each run if it is a constant there"
    return Entry(name, current, OK, meaning)


def _is_worker() -> bool:
    module: Any = loaded("torch.utils.data._utils.worker")
    return module is not None and module.get_worker_info() is not None


def _own() -> Entry:
    meaning = (
        "numpy.random.default_rng(), random.Random() and torch.Generator() objects are not seen "
        "from here: `detlint` finds those in your source that have no seed"
    )
    return Entry("own objects", None, UNKNOWN, meaning)
