"""When enough steps are done: then the process ends."""

from __future__ import annotations

import functools
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from guard.observe import places
from guard.observe.patching import replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.rehearsal.recorder import Recorder

    Optimizer = torch.optim.Optimizer


def install(stack: ExitStack, recorder: Recorder, enough: Callable[[int], bool]) -> None:
    """Call the recorder's end when all optimizers have done their steps.

    With several, as in a GAN, those that never step would be waited for in vain: one that begins
    a step more than was asked for ends it as well. Where there is none, because the program
    updates by hand, a step ends where a line begins its next backward.
    """
    known: weakref.WeakSet[Any] = weakref.WeakSet()
    steps: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    original = torch.optim.Optimizer.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401
        original(self, *args, **options)
        known.add(self)

    def before(optimizer: Optimizer, *_: object) -> None:
        if enough(steps.get(optimizer, 0)):
            recorder.finish()

    def after(optimizer: Optimizer, *_: object) -> None:
        steps[optimizer] = steps.get(optimizer, 0) + 1
        recorder.steps = max(recorder.steps, steps[optimizer])
        if all(enough(steps.get(each, 0)) for each in known):
            recorder.finish()

    begun: Counter[places.Place | None] = Counter()

    def starts() -> None:
        trail = places.here()
        place = None if trail is None else trail.place
        if not known and begun[place] and enough(begun[place]):
            recorder.steps = begun[place]
            recorder.notes.append(
                "no optimizer of torch was made: a step was taken to end where the same line, "
                f"{place}, began its next backward"
            )
            recorder.finish()
        begun[place] += 1

    recorder.starts = starts
    replace(stack, torch.optim.Optimizer, "__init__", init)
    stack.callback(register_optimizer_step_pre_hook(before).remove)
    stack.callback(register_optimizer_step_post_hook(after).remove)
