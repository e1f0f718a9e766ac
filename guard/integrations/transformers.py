"""A callback for Hugging Face's Trainer: ``Trainer(..., callbacks=[GuardCallback()])``.

For transformers 4.41 and newer.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import sys
import warnings
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch
from guard.errors import MissingDependencyError, SettingsError
from guard.observe import places
from guard.settings import load
from guard.setup import activation
from guard.setup.rng_states import restore, rng_state

if TYPE_CHECKING:
    from typing import TypeAlias

    from guard.settings import Settings

    Arguments: TypeAlias = Any  # TrainingArguments
    State: TypeAlias = Any  # TrainerState
    Control: TypeAlias = Any  # TrainerControl

_CONTRARY = {
    "full_determinism": "sets CUDA_LAUNCH_BLOCKING=1, with which CUDA waits for each kernel, and "
    "leaves all that it sets on after the training: leave it out, GuardCallback does the rest",
    "auto_find_batch_size": "chooses the batch size by the memory that is free, and so another "
    "one in each run: give per_device_train_batch_size",
    "save_only_model": "leaves the optimizer out of checkpoints, so that no run can go on from "
    "them as the interrupted one would have",
    "ignore_data_skip": "begins the data of the epoch anew, so that this run does not go on as "
    "the interrupted one would have",
}
_ON_RESUMING = ("ignore_data_skip",)


def _callback_classes() -> tuple[Any, Any]:
    try:
        module = import_module("transformers.trainer_callback")
    except ModuleNotFoundError as error:
        if error.name not in ("transformers", "transformers.trainer_callback"):
            raise
        message = 'guard.transformers needs transformers: pip install "transformers[torch]"'
        raise MissingDependencyError(message, name="transformers") from None
    return module.TrainerCallback, module.ExportableState


_Callback: Any
_Exportable: Any
_Callback, _Exportable = _callback_classes()
_training: tuple[State, Settings | None] | None = None  # for which a callback has switched guard on


class GuardCallback(_Callback, _Exportable):  # type: ignore[misc]  # known when it runs
    """Guard from the beginning of a training to its end.

    Takes what ``guard.enable`` takes; ``seed`` is ``TrainingArguments.seed`` where it is not
    given. The model is made before, and the order of the data follows from
    ``TrainingArguments.data_seed`` and ``seed``. To have the model's weights under guard, call
    ``guard.enable`` at the entrypoint: the callback leaves a guard that is on as it is, and
    takes care of checkpoints only. Where ranks communicate by NCCL, this has to come before
    ``TrainingArguments`` are made, which connects them.

    transformers tells callbacks of no exception. After one, guard stays on until another
    training with a GuardCallback ends; ``guard.disable()`` puts back what it found at once.

    Checkpoints hold the generators, which transformers keeps itself as far as it knows them:
    those by name (``guard.generator``) are added, and devices that it leaves out. A run that
    is resumed goes on as the interrupted one would have. accelerate fetches a batch ahead, so
    within an epoch that is exact only if the data set draws nothing in the main process.

    Raises SettingsError for a setting that is not legal, and when the training begins, for
    another one than ``guard.enable`` was given.
    """

    def __init__(self, seed: int | None = None, **options: Any) -> None:
        load(seed=seed, **options)  # to be told here, and not when the training begins
        self._given = options if seed is None else {"seed": seed, **options}
        self._gathered: list[str] = []  # the ranks' states, for the checkpoint to come
        self.saved: list[str] = []  # those of the checkpoint that is resumed

    def on_train_begin(self, args: Arguments, state: State, control: Control, **_: Any) -> None:  # noqa: ARG002
        """Switch guard on; in a resumed run, keep the states until its first epoch begins."""
        _warn(args, state)
        self._begin(args.seed, state)
        # Where the checkpoint has none, saving the next one would fail (transformers 5.23).
        mine = state.stateful_callbacks.setdefault(type(self).__name__, {"attributes": {}})
        if state.global_step:
            self.saved = mine["attributes"].get("saved", [])
            self._check_count(args.world_size)

    def _begin(self, seed: int, state: State) -> None:
        global _training  # noqa: PLW0603 - guard is about the process, too
        if _training is not None and not _is_under_way(_training[0]):  # an error ended it
            _put_back()
        outer = activation.active()
        if outer is None:
            activation.enable(**{"seed": seed, **self._given})
            _training = state, activation.active()
        elif load(**{**dataclasses.asdict(outer), **self._given}) != outer:
            raise SettingsError(
                f"guard is on already, with {outer}, and GuardCallback asks for {self._given}: "
                "give the settings to guard.enable, and none to the callback"
            )

    def _check_count(self, ranks: int) -> None:
        if len(self.saved) == ranks:
            return
        held = f"of {len(self.saved)} ranks, and there are {ranks}" if self.saved else "of none"
        self.saved = []
        _tell(
            f"the checkpoint holds the generators {held}: those by name begin anew, and the run "
            "may not go on as the interrupted one would have"
        )

    def on_epoch_begin(self, args: Arguments, state: State, control: Control, **_: Any) -> None:  # noqa: ARG002
        """Go on from a checkpoint; transformers restores what it has kept later in the epoch."""
        if self.saved:
            restore(_decoded(self.saved[args.process_index]))
            self.saved = []

    def on_train_end(self, args: Arguments, state: State, control: Control, **_: Any) -> None:  # noqa: ARG002
        """Put back what was found."""
        if _training is not None and state is _training[0]:
            _put_back()

    def on_step_end(self, args: Arguments, state: State, control: Control, **_: Any) -> None:  # noqa: ARG002
        """Collect the states of all ranks, if a checkpoint follows: one rank alone writes it."""
        if control.should_save and args.world_size > 1:
            states: list[Any] = [None] * args.world_size
            distributed = import_torch("guard.transformers").distributed
            distributed.all_gather_object(states, _encoded(rng_state()))
            self._gathered = states

    on_epoch_end = on_evaluate = on_step_end

    def state(self) -> dict[str, Any]:
        """What transformers writes into a checkpoint's ``trainer_state.json``."""
        is_training = activation.active() is not None
        saved = self._gathered or ([_encoded(rng_state())] if is_training else [])
        self._gathered = []
        return {"args": self._given, "attributes": {"saved": saved}}


def _put_back() -> None:
    """Switch guard off, unless the program has done so and perhaps switched it on itself."""
    global _training  # noqa: PLW0603
    if _training is not None and activation.active() is _training[1]:
        activation.disable()
    _training = None


def _is_under_way(state: State) -> bool:
    """Whether the trainer whose state it is waits for the training that begins now."""
    frames = places.outward(sys._getframe())  # noqa: SLF001 - the documented way to a frame
    return any(getattr(frame.f_locals.get("self"), "state", None) is state for frame in frames)


def _encoded(state: dict[str, Any]) -> str:
    """A state as text, for JSON."""
    file = io.BytesIO()
    import_torch("guard.transformers").save(state, file)
    return base64.b85encode(zlib.compress(file.getvalue())).decode()


def _decoded(text: str) -> dict[str, Any]:
    file = io.BytesIO(zlib.decompress(base64.b85decode(text)))
    state: dict[str, Any] = import_torch("guard.transformers").load(file, weights_only=True)
    return state


def _warn(args: Arguments, state: State) -> None:
    for name, text in _CONTRARY.items():
        if getattr(args, name, False) and (state.global_step or name not in _ON_RESUMING):
            _tell(f"{name}=True {text}")


def _tell(text: str) -> None:
    warnings.warn(text, stacklevel=4)
