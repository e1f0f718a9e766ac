"""Seeds for the generators that a run draws from: one row each."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.dependencies import import_torch, loaded
from guard.randomness.devices import cupy_generators
from guard.settings import checked_seed

if TYPE_CHECKING:
    from collections.abc import Callable


def import_numpy() -> Any:  # noqa: ANN401 - the module
    """NumPy, or None where it is not installed. torch imports it anyway (torch 2.13)."""
    try:
        import numpy as np
    except ModuleNotFoundError:
        return None
    return np


class Seeder(NamedTuple):
    """Something that a run draws from, and how guard seeds it.

    name    as its documentation calls it
    why     what draws from it, and what of it is out of reach
    cost    what it costs
    since   the release that has it, where it is not an old one; probed for, not looked up
    seed    seeds it; False where the program has not imported the library, or it lacks this
    """

    name: str
    why: str
    cost: str
    since: str
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
    seed_keras = _attribute(loaded("keras"), "utils", "set_random_seed")
    if seed_keras is None:
        return False
    seed_keras(seed)
    return True


def _seed_tensorflow(seed: int) -> bool:
    tensorflow: Any = loaded("tensorflow")
    enable = _attribute(tensorflow, "config", "experimental", "enable_op_determinism")
    if enable is None:
        return False
    tensorflow.random.set_seed(seed)
    enable()
    return True


def _attribute(module: Any, *path: str) -> Any:  # noqa: ANN401 - a function, or None
    for name in path:
        module = getattr(module, name, None)
    return module


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
