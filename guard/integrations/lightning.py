"""A callback for Lightning: ``Trainer(callbacks=[guard.lightning.GuardCallback(seed=0)])``.

Serves ``lightning`` and ``pytorch_lightning``: the one that is imported, both if both are, and
``lightning`` if neither is.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
import warnings
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch
from guard.errors import MissingDependencyError
from guard.settings import load
from guard.setup.activation import active, deterministic
from guard.setup.rng_states import restore, rng_state

if TYPE_CHECKING:
    from typing import TypeAlias

    from guard.settings import Settings

    State: TypeAlias = dict[str, Any]
    Trainer: TypeAlias = Any  # of either library
    Module: TypeAlias = Any

_LIBRARIES = ("lightning.pytorch", "pytorch_lightning")
_KEY = "guard"  # in a checkpoint
# What makes a run depend on the clock, or on the memory that is free.
_MEASURING = {
    "Timer": "Timer, or Trainer(max_time=...), ends the training by the clock, and so after "
    "another number of steps in each run: use max_steps or max_epochs",
    "BatchSizeFinder": "BatchSizeFinder chooses the batch size by the memory that is free, and so "
    "another one in each run: give the batch size that it found",
}


def _callback_class() -> Any:  # noqa: ANN401 - a class of either library, or of both
    names = [name for name in _LIBRARIES if sys.modules.get(name)] or [_installed()]
    bases = tuple(importlib.import_module(name).Callback for name in names)
    return bases[0] if len(bases) == 1 else type("Callback", bases, {})


def _installed() -> str:
    for name in _LIBRARIES:
        if find_spec(name.partition(".")[0]) is not None:
            return name
    message = "guard.lightning needs Lightning: pip install lightning"
    raise MissingDependencyError(message, name="lightning")


_Callback: Any = _callback_class()


class GuardCallback(_Callback):  # type: ignore[misc]  # the class is known when it runs
    """Guard for as long as ``fit``, ``validate``, ``test`` or ``predict`` runs.

    Takes what ``guard.deterministic`` takes; what is not given is as ``guard.enable`` has it,
    where guard is on. Each call of the trainer's begins from the seed, and what guard found is
    put back at its end, also on an exception. The model is made before: call ``guard.enable``
    at the entrypoint, so that its weights are drawn from a seed as well, and, where ranks
    communicate by NCCL, so that NCCL's variables are set before the trainer connects them.

    Checkpoints hold the generators of every rank, and a run that is resumed goes on as the
    interrupted one would have. That is exact for a checkpoint of the end of an epoch. Within
    an epoch Lightning begins the data anew (its own warning says so), so that only what the
    model draws is as before.

    Raises SettingsError for a setting that is not legal.
    """

    def __init__(self, seed: int | None = None, **options: Any) -> None:
        super().__init__()
        load(seed=seed, **options)  # to be told here, and not when the training begins
        self._given = options if seed is None else {"seed": seed, **options}
        self._block = ExitStack()
        self._is_open = False
        self._saved: list[State] | None = None  # what a checkpoint held, by rank
        self._ended: State | None = None  # how the last fit ended, for checkpoints made after it

    def setup(self, trainer: Trainer, pl_module: Module, stage: str) -> None:  # noqa: ARG002
        """Switch guard on."""
        self._close(trainer)
        _warn(trainer)
        outer: Settings | None = active()
        inherited = {} if outer is None else dataclasses.asdict(outer)
        self._block.enter_context(deterministic(**{**inherited, **self._given}))
        self._is_open = True

    def teardown(self, trainer: Trainer, pl_module: Module, stage: str) -> None:  # noqa: ARG002
        """Put back what was found."""
        self._close(trainer)

    def on_exception(self, trainer: Trainer, pl_module: Module, exception: BaseException) -> None:  # noqa: ARG002
        """Put back what was found; an error that nobody has explained gets a note (Python 3.11)."""
        _note(exception)
        self._close(trainer)

    def _close(self, trainer: Trainer) -> None:
        if self._is_open and trainer.state.fn == "fit":
            self._ended = rng_state()
        self._saved, self._is_open = None, False
        self._block.close()

    def on_save_checkpoint(self, trainer: Trainer, pl_module: Module, checkpoint: State) -> None:  # noqa: ARG002
        """Add the state of the generators of every rank."""
        state = rng_state() if self._is_open or self._ended is None else self._ended
        checkpoint[_KEY] = _of_all_ranks(trainer, state)

    def on_load_checkpoint(self, trainer: Trainer, pl_module: Module, checkpoint: State) -> None:  # noqa: ARG002
        """Keep the states until the training reaches the place where they were saved."""
        self._saved = checkpoint.get(_KEY)
        found = len(self._saved or ())
        if trainer.state.fn != "fit" or found == trainer.world_size:
            return
        self._saved = None
        held = f"of {found} ranks, and there are {trainer.world_size}" if found else "of none"
        warnings.warn(
            f"the checkpoint holds the generators {held}: this run begins from the seed, and will "
            "not go on as the interrupted one would have",
            stacklevel=2,
        )

    def on_train_epoch_start(self, trainer: Trainer, *_: object) -> None:
        """Go on from a checkpoint of the end of an epoch."""
        if self._restored(trainer) and not _begins_data(trainer):
            iter(trainer.fit_loop._data_fetcher)  # noqa: SLF001 - it was begun before

    def on_train_batch_start(self, trainer: Trainer, *_: object) -> None:
        """Go on from a checkpoint within an epoch."""
        self._restored(trainer)

    def _restored(self, trainer: Trainer) -> bool:
        if self._saved is None:
            return False
        restore(self._saved[trainer.global_rank])
        self._saved = None
        return True


def _of_all_ranks(trainer: Trainer, state: State) -> list[State]:
    if trainer.world_size == 1:
        return [state]
    states: list[Any] = [None] * trainer.world_size
    import_torch("guard.lightning").distributed.all_gather_object(states, state)
    return states


def _begins_data(trainer: Trainer) -> bool:
    """Whether the trainer is about to call ``iter`` on the training data itself.

    That draws from the generators. A resumed run has done so before its first epoch, from
    Lightning 2.6 on only then (``_TrainingEpochLoop.on_run_start``).
    """
    loop = trainer.fit_loop
    is_resuming = getattr(loop, "is_resuming", False)
    return trainer.current_epoch > 0 and not is_resuming and not loop.epoch_loop.restarting


def _warn(trainer: Trainer) -> None:
    torch: Any = import_torch("guard.lightning")
    if torch.backends.cudnn.benchmark:
        _tell(
            "cuDNN is set to choose its kernels by timing them, by Trainer(benchmark=True) or by "
            "the program: guard turns that off until the trainer is done. Leave it out"
        )
    if torch.is_deterministic_algorithms_warn_only_enabled():
        _tell(
            'torch is set to warn only, by Trainer(deterministic="warn") or by the program: under '
            "guard operators refuse. Leave it out, and let single operators through by allow=[...]"
        )
    for callback in trainer.callbacks:
        for kind in type(callback).__mro__:
            if kind.__name__ in _MEASURING and "lightning" in kind.__module__:
                _tell(_MEASURING[kind.__name__])


def _tell(text: str) -> None:
    warnings.warn(text, stacklevel=4)


def _note(error: BaseException) -> None:
    from guard.refusals.translation import explained_error

    ours = explained_error(error)
    if ours is not None and hasattr(error, "add_note"):
        error.add_note(str(ours))
