"""The state of every generator: to save with a checkpoint, and to put back."""

from __future__ import annotations

import random
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch
from guard.errors import GuardError
from guard.setup import seeding, streams
from guard.setup.seeding import current_seed, import_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION = 1
_PARTS = ("seed", "random", "numpy", "torch", "devices", "streams")


def rng_state() -> dict[str, Any]:
    """The state of every generator, to be saved with a checkpoint::

        torch.save({"model": model.state_dict(), "rng": guard.rng_state()}, path)
        guard.restore(torch.load(path)["rng"])

    Covers ``random``, NumPy's global generator, torch on the CPU and on every device that
    has started, and the generators that ``guard.generator`` made by name; changes none.
    Made of dictionaries, tuples, numbers, strings and tensors of bytes, so that
    ``torch.load`` reads it with ``weights_only=True``. Not covered: generator objects of
    one's own, DataLoader workers (they start anew from the loader's generator), and
    libraries that let nobody read theirs: TensorFlow's, and CuPy's, of which it warns.

    Raises MissingDependencyError without torch.
    """
    torch = import_torch("guard.rng_state")
    if seeding.cupy_generators():
        warnings.warn(
            "guard.rng_state does not hold CuPy's generators, which CuPy lets nobody read: to "
            "resume exactly, call cupy.random.seed(step) wherever a checkpoint is saved, and "
            "again where it is loaded",
            UserWarning,
            stacklevel=2,
        )
    state = _read(torch)
    state["streams"] = {
        device: {name: each.get_state() for name, each in named.items()}
        for device, named in streams.named().items()
    }
    return state


def _read(torch: Any) -> dict[str, Any]:  # noqa: ANN401 - the module
    return {
        "version": _VERSION,
        "seed": current_seed(),
        "random": random.getstate(),
        "numpy": _read_numpy(),
        "torch": torch.get_rng_state(),
        "devices": seeding.read(torch),
        "streams": {},
    }


def _read_numpy() -> Any:  # noqa: ANN401 - what NumPy holds, if it is installed
    numpy = import_numpy()
    return None if numpy is None else _plain(numpy.random.get_state(legacy=False))


def _plain(value: Any) -> Any:  # noqa: ANN401 - what NumPy holds
    """A state without arrays, which torch.load refuses with weights_only=True."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return tuple(value.tolist()) if hasattr(value, "tolist") else value


def restore(state: dict[str, Any]) -> None:
    """Put back what ``guard.rng_state`` gave, in this process or in another.

    Iterating a ``DataLoader`` draws from its generator. So restore what was saved between
    two epochs before the next one begins, and what was saved within an epoch after
    ``batches = iter(loader)``. A device that had started when the state was saved is
    started.

    Raises GuardError, and changes nothing, for what is no such state, or is one of another
    seed than guard's, of a device that is not here, or of another bit generator of NumPy;
    MissingDependencyError without torch.
    """
    torch = import_torch("guard.restore")
    _check(torch, state)
    _write(torch, state)
    streams.restart()  # those that were not made yet begin anew
    for device, named in state["streams"].items():
        for name, each in named.items():
            streams.generator(name, device).set_state(each.cpu())


def _write(torch: Any, state: dict[str, Any]) -> None:  # noqa: ANN401
    random.setstate(state["random"])
    if state["numpy"] is not None:
        numpy = import_numpy()
        current = numpy.random.get_state(legacy=False)
        numpy.random.set_state(_like(state["numpy"], current, numpy))
    torch.set_rng_state(state["torch"].cpu())  # map_location may have moved it
    seeding.write(torch, state["devices"])


def _like(saved: Any, current: Any, numpy: Any) -> Any:  # noqa: ANN401 - what NumPy holds
    """A saved state with arrays again, where the generator has them now."""
    if isinstance(current, dict):
        return {name: _like(saved[name], current[name], numpy) for name in current}
    return numpy.array(saved, current.dtype) if isinstance(saved, tuple) else saved


def _check(torch: Any, state: Any) -> None:  # noqa: ANN401 - the module; whatever was loaded
    if not isinstance(state, dict) or "version" not in state:
        raise GuardError(f"guard.restore takes what guard.rng_state gave, not {_shown(state)}")
    if state["version"] != _VERSION:
        raise GuardError(
            f"this state has version {state['version']!r}, and this guard reads version "
            f"{_VERSION}: restore it with the release of guard that saved it"
        )
    lacking = [name for name in _PARTS if name not in state]
    if lacking:
        raise GuardError(f"this state lacks {lacking[0]!r}: guard.restore takes it as it was saved")
    _check_seed(state)
    _check_numpy(state["numpy"])
    seeding.check(torch, state["devices"], "devices")
    seeding.check(torch, state["streams"], "streams")


def _shown(state: object) -> str:
    if isinstance(state, dict):
        return f"a dictionary of {', '.join(map(repr, list(state)[:5])) or 'nothing'}"
    return f"an object of type {type(state).__name__}"


def _check_seed(state: dict[str, Any]) -> None:
    saved, current = state["seed"], current_seed()
    if current is None and state["streams"]:
        names = sorted({name for named in state["streams"].values() for name in named})
        raise GuardError(
            f"this state holds generators by name ({', '.join(names)}), which come from guard's "
            f"seed, and guard is off: call guard.enable(seed={saved}) before guard.restore"
        )
    if None not in (saved, current) and saved != current:
        raise GuardError(
            f"this state was saved under the seed {saved}, and guard's is {current} here, so that "
            "generators made by name from now on would be others: enable guard with the seed of "
            "the run that is resumed; with rank_offset, each rank saves and restores its own state"
        )


def _check_numpy(saved: dict[str, Any] | None) -> None:
    if saved is None:
        return
    numpy = import_numpy()
    if numpy is None:
        raise GuardError(
            "this state holds NumPy's generator, and NumPy is not installed: pip install numpy"
        )
    kind, current = saved["bit_generator"], numpy.random.get_state(legacy=False)["bit_generator"]
    if kind != current:
        raise GuardError(
            f"this state is of NumPy's {kind}, and its global generator is {current} here: call "
            f"numpy.random.set_bit_generator(numpy.random.{kind}()) first, as the run that saved "
            "it did"
        )


@contextmanager
def kept() -> Iterator[None]:
    """Put every generator back at the end, also what no state can hold; none by name meanwhile."""
    torch = import_torch("guard")
    state, queued, cupy = _read(torch), seeding.queued(torch), seeding.take_cupy()
    named = streams.exchange({})
    held = [(each, each.get_state()) for each in named.values()]
    try:
        yield
    finally:
        if not sys.is_finalizing():  # where the end of the program drops what is still enabled
            streams.exchange(named)
            for each, its_state in held:
                each.set_state(its_state)
            _write(torch, state)
            seeding.requeue(torch, queued)
            seeding.return_cupy(cupy)
