"""The seed in force: as a stage, for each rank, and in each worker."""

from __future__ import annotations

import os
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.dependencies import found_at, import_torch, loaded, process_group
from guard.errors import GuardError, SettingsError
from guard.settings import LARGEST_SEED, checked_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from guard.settings import Settings


# Launchers that number their processes: torchrun, Slurm, Open MPI.
_RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")

# The seed in force in this process, and that of the worker in which it was set.
_active: tuple[int, int | None] | None = None


def rank() -> int:
    """This process's rank: of ``torch.distributed``, else of its launcher, else 0.

    Raises SettingsError where a launcher's variable is not a number.
    """
    if (connected := process_group()) is not None:
        return int(connected.get_rank())
    for name in _RANK_VARIABLES:
        text = os.environ.get(name)
        if text is not None:
            if not text.isdecimal():
                raise SettingsError(f"{name} is the number of a process, not {text!r}")
            return int(text)
    return 0


def active_seed() -> int:
    """The seed in force here: guard's, with the rank if asked for; in a worker, the worker's.

    A ``DataLoader`` worker's seed is torch's own: other workers and other epochs have
    others. Raises GuardError where guard is off.
    """
    seed = current_seed()
    if seed is None:
        raise GuardError(
            "guard is off, so there is no seed to derive from: call guard.enable(seed=0) first, "
            "or pass a seed of your own"
        )
    return seed


def current_seed() -> int | None:
    """As ``active_seed``, and None where guard is off."""
    worker = _worker_seed()
    if _active is not None and _active[1] == worker:
        return _active[0]
    return worker  # a worker inherits its parent's seed, and has one of its own


def _worker_seed() -> int | None:
    module: Any = loaded("torch.utils.data._utils.worker")
    info = module.get_worker_info() if module else None
    return None if info is None else int(info.seed)


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Seed every generator, and put back the state that each had."""
    from guard.setup.rng_states import kept

    global _active  # noqa: PLW0603 - it is about the process
    outer = _active
    offset = rank() if settings.rank_offset else 0
    seed = (settings.seed + offset) % (LARGEST_SEED + 1)
    with kept():
        try:
            seed_everything(seed)
            _active = seed, _worker_seed()
            yield
        finally:
            _active = outer


def seed_worker(worker_id: int) -> None:
    """Seed a ``DataLoader`` worker: pass it as ``worker_init_fn``.

    Seeds ``random``, NumPy's global generator and torch from ``torch.initial_seed()``,
    which differs between workers and from epoch to epoch, and repeats in a run that
    starts from the same seed. torch 1.9 and newer do the same by default, so this states
    the intent and serves older releases. Beyond that it reaches the copies that a forked
    worker has of generators made by name, with ``guard.generator``.

    Other generator objects that the dataset holds are not reached, and are the same in
    each worker: ask for them inside ``__getitem__``, as ``guard.generator("name")``, which
    is the worker's own there.

    Raises MissingDependencyError without torch.
    """
    del worker_id  # torch has already mixed it into the worker's seed
    torch = import_torch("guard.seed_worker")
    seed = torch.initial_seed()
    torch.manual_seed(seed)
    seed_random(seed % (LARGEST_SEED + 1))
    seed_numpy(seed % (LARGEST_SEED + 1))
    from guard.setup.streams import restart

    restart()


_KINDS = ("cuda", "xpu", "mtia", "mps")
_GENERATOR = ("get_rng_state", "set_rng_state")


def _modules(torch: Any) -> dict[str, Any]:  # noqa: ANN401 - the module
    """The module of torch for each kind of device, a custom backend's too, that has generators."""
    kinds = (*_KINDS, torch._C._get_privateuse1_backend_name())  # noqa: SLF001 - no other way
    found = {kind: getattr(torch, kind, None) for kind in kinds}
    return {
        kind: module
        for kind, module in found.items()
        if all(hasattr(module, name) for name in _GENERATOR)
    }


def _count(module: Any) -> int:  # noqa: ANN401 - a module, or a backend's object for one
    if hasattr(module, "device_count"):
        return int(module.device_count())
    return int(loaded("torch.backends.mps").is_available())  # type: ignore[union-attr]  # torch 2.2


def _started(module: Any) -> bool:  # noqa: ANN401
    if hasattr(module, "is_initialized"):
        return bool(module.is_initialized())
    return _count(module) > 0  # MPS, which has nothing to start


def _device(torch: Any, name: str) -> tuple[Any, ...]:  # noqa: ANN401
    """The argument that says which device; MPS has one, and no such argument in torch 2.2."""
    return () if name.startswith("mps") else (torch.device(name),)


def read(torch: Any) -> dict[str, Any]:  # noqa: ANN401
    """The state of each started device's generator; starts none."""
    return {
        name: module.get_rng_state(*_device(torch, name))
        for kind, module in _modules(torch).items()
        if _started(module)
        for name in (f"{kind}:{index}" for index in range(_count(module)))
    }


def write(torch: Any, states: dict[str, Any]) -> None:  # noqa: ANN401
    """Put back what ``read`` gave."""
    modules = _modules(torch)
    for name, state in states.items():
        module = modules[torch.device(name).type]
        # A state that is set before the start would be overwritten by the seed queued for it.
        if not _started(module):
            module.init()
        module.set_rng_state(state.cpu(), *_device(torch, name))


def check(torch: Any, names: Iterable[str], place: str) -> None:  # noqa: ANN401
    """Raise GuardError for a device that is not here; ``place`` is where the state has it."""
    modules = _modules(torch)
    for name in names:
        kind, _, index = name.partition(":")
        if kind == "cpu":
            continue
        count = _count(modules[kind]) if kind in modules else 0
        if int(index or 0) >= count:
            raise GuardError(
                f"this state holds a generator of {name}, and this process sees "
                f"{count or 'no'} {kind} device{'' if count == 1 else 's'}: resume on the devices "
                f'that it was saved on, or leave it out: del state["{place}"]["{name}"]'
            )


def queued(torch: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401
    """The seeds that devices which have not started will take when they do."""
    return {
        kind: dict(vars(module._lazy_seed_tracker))  # noqa: SLF001 - torch's own memory of them
        for kind, module in _modules(torch).items()
        if hasattr(module, "_lazy_seed_tracker") and not _started(module)
    }


def requeue(torch: Any, found: dict[str, dict[str, Any]]) -> None:  # noqa: ANN401
    """Put back what ``queued`` gave; a device that has started since takes those seeds now."""
    modules = _modules(torch)
    for kind, calls in found.items():
        vars(modules[kind]._lazy_seed_tracker).update(calls)  # noqa: SLF001
        if not _started(modules[kind]):
            continue
        pending = [each[0] for each in calls["call_order"] if each]
        for call in pending or [modules[kind].seed_all]:  # unseeded, it would have begun anywhere
            call()


def cupy_generators() -> dict[int, Any]:
    """CuPy's generators by device, as far as it has made them; CuPy's own dictionary."""
    # Asking CuPy for the current one would make it, and start CUDA.
    found: dict[int, Any] = getattr(loaded("cupy.random._generator"), "_random_states", {})
    return found


def take_cupy() -> tuple[dict[int, Any], str | None]:
    """Take CuPy's generators out, so that it makes new ones; for ``return_cupy``."""
    generators = cupy_generators()
    found = dict(generators)
    generators.clear()
    return found, os.environ.get("CUPY_SEED")


def return_cupy(taken: tuple[dict[int, Any], str | None]) -> None:
    """Give CuPy back its own generators: their state cannot be read."""
    found, seed = taken
    generators = cupy_generators()
    generators.clear()
    generators.update(found)
    if seed is None:
        os.environ.pop("CUPY_SEED", None)
    else:
        os.environ["CUPY_SEED"] = seed


def import_numpy() -> Any:  # noqa: ANN401 - the module
    """NumPy, or None where it is not installed. torch imports it anyway (torch 2.13)."""
    try:
        import numpy as np
    except ModuleNotFoundError:
        return None
    return np


class Seeder(NamedTuple):
    """Something that a run draws from, and how guard seeds it."""

    name: str  # as its documentation calls it
    why: str  # what draws from it, and what of it is out of reach
    cost: str  # what it costs
    since: str  # the release that has it, where it is not an old one; probed for, not looked up
    # seeds it; False where the program has not imported the library, or it lacks this
    seed: Callable[[int], bool]


def seed_random(seed: int) -> bool:
    random.seed(seed)
    return True


def seed_numpy(seed: int) -> bool:
    numpy = import_numpy()
    if numpy is None:
        return False
    numpy.random.seed(seed)
    return True


def _seed_torch(seed: int) -> bool:
    import_torch("guard.enable(seed=...)").manual_seed(seed)
    return True


def _seed_cupy(seed: int) -> bool:
    # Read when a device's generator is made: also where CuPy is imported later on.
    os.environ["CUPY_SEED"] = str(seed)
    cupy: Any = loaded("cupy")
    if cupy is None:
        return False
    for device, generator in cupy_generators().items():
        with cupy.cuda.Device(device):
            generator.seed(seed)
    return True


def _seed_keras(seed: int) -> bool:
    seed_keras = found_at(loaded("keras"), "utils.set_random_seed")
    if seed_keras is None:
        return False
    seed_keras(seed)
    return True


def _seed_tensorflow(seed: int) -> bool:
    tensorflow: Any = loaded("tensorflow")
    enable = found_at(tensorflow, "config.experimental.enable_op_determinism")
    if enable is None:
        return False
    tensorflow.random.set_seed(seed)
    enable()
    return True


SEEDERS: tuple[Seeder, ...] = (
    # Before the others: it seeds random, NumPy and torch as well, and in its own way.
    Seeder(
        "keras.utils.set_random_seed",
        "initialisers and dropout of Keras, once imported; stays after a block",
        "none",
        "",
        _seed_keras,
    ),
    Seeder(
        "tensorflow.random.set_seed, enable_op_determinism",
        "TensorFlow, once imported; both stay after a block",
        "TensorFlow's operators take their deterministic kernels",
        "2.8",
        _seed_tensorflow,
    ),
    Seeder(
        "random.seed",
        "shuffles and augmentations in plain Python; not random.Random() and SystemRandom",
        "none",
        "",
        seed_random,
    ),
    Seeder(
        "numpy.random.seed",
        "NumPy's global generator, which scikit-learn and SciPy use too; not default_rng()",
        "none",
        "",
        seed_numpy,
    ),
    Seeder(
        "torch.manual_seed",
        "torch on the CPU and on every device: CUDA, XPU, MPS, MTIA and custom backends such as "
        "NPU; queued where a device has not started; not generators of one's own",
        "none",
        "",
        _seed_torch,
    ),
    Seeder(
        "cupy.random.seed, CUPY_SEED",
        "CuPy on every device, also if imported later; not cupy.random.default_rng()",
        "none",
        "8",
        _seed_cupy,
    ),
)


def seed_everything(seed: int) -> tuple[str, ...]:
    """Seed every generator that a run draws from; the names of those that were seeded.

    Imports torch, and NumPy where it is installed. TensorFlow and Keras count once the
    program has imported them: import them first. Starts no device.

    Raises SettingsError for a seed that is not an integer from 0 to 2**32 - 1,
    MissingDependencyError without torch.
    """
    number = checked_seed(seed)
    return tuple(seeder.name for seeder in SEEDERS if seeder.seed(number))
