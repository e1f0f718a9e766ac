"""Seeing what the program makes, and the lines that do: where a value that differs came from.

Lines are looked for when something is made, and when a scheduler steps; never in a training step.
"""

from __future__ import annotations

import gc
import sys
import threading
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.optim import lr_scheduler

from guard.observe import modes, places
from guard.observe.modes import is_traced
from guard.observe.patching import around, replace
from guard.recording.naming import ByIdentity, Collection

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.observe.places import Place
    from guard.recording.session import Session

_Optimizer = torch.optim.Optimizer
_SCHEDULERS = (lr_scheduler.LRScheduler, lr_scheduler.ReduceLROnPlateau)


class Origins:
    """The lines that made parameters and optimizers, and the schedulers of optimizers."""

    def __init__(self) -> None:
        self._lines: ByIdentity[Place] = ByIdentity()
        self._schedules: ByIdentity[tuple[Place | None, list[Any]]] = ByIdentity()

    def of(self, made: Any) -> Place | None:  # noqa: ANN401
        """The line that made a parameter or an optimizer."""
        return self._lines.get(made)

    def of_schedule(self, optimizer: Any) -> Place | None:  # noqa: ANN401
        """The line of the user's own files that called the step of an optimizer's scheduler last,
        or made it where a library calls it; None if other rates have been set since."""
        place, rates = self._schedules.get(optimizer) or (None, [])
        return place if rates == _rates(optimizer) else None

    def made(self, thing: Any, kind: type) -> None:  # noqa: ANN401
        """Something is made now; within another one of the kind, that one's line is meant."""
        place = places.making(kind)
        if place is not None and self._lines.get(thing) is None:
            self._lines.set(thing, place)

    def scheduled(self, optimizer: Any) -> None:  # noqa: ANN401
        """A scheduler of an optimizer has been made now."""
        if isinstance(optimizer, _Optimizer):
            place = places.making(lr_scheduler.LRScheduler)
            self._schedules.set(optimizer, (place, _rates(optimizer)))

    def stepped(self, optimizer: Any, place: Place | None) -> None:  # noqa: ANN401
        """A scheduler has done a step, which a line has called."""
        if isinstance(optimizer, _Optimizer):
            before, _ = self._schedules.get(optimizer) or (None, [])
            is_own = place is not None and not places.is_installed(place.filename)
            self._schedules.set(optimizer, (place if is_own else before, _rates(optimizer)))


def _rates(optimizer: Any) -> list[Any]:  # noqa: ANN401
    """Those that are numbers: to compare one on a device would wait for it."""
    found = (group.get("lr") for group in optimizer.param_groups)
    return [None if isinstance(each, torch.Tensor) else each for each in found]


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of what is made, until the stack is closed."""

    def registered(module: Any, name: str, parameter: Any) -> None:  # noqa: ANN401
        del module, name
        if session.recorder is not None and parameter is not None and not is_traced():
            session.recorder.origins.made(parameter, torch.nn.Module)

    def optimizer(made: Any) -> None:  # noqa: ANN401
        if session.recorder is not None:
            session.recorder.optimizers.exist = True
            session.recorder.origins.made(made, _Optimizer)

    seen: set[type] = set()

    def scheduler(init: Callable[..., None], made: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        init(made, *args, **kwargs)
        if session.recorder is not None:
            _see_steps(stack, session, type(made), seen)
            session.recorder.origins.scheduled(getattr(made, "optimizer", None))

    gc.callbacks.append(Collection.turn)
    stack.callback(gc.callbacks.remove, Collection.turn)
    stack.callback(register_module_parameter_registration_hook(registered).remove)
    modes.follow_making(stack, optimizer)
    for each in vars(lr_scheduler).values():  # some do not call the __init__ of the others
        if isinstance(each, type) and issubclass(each, _SCHEDULERS):
            _see_steps(stack, session, each, seen)
    for each in _SCHEDULERS:
        around(stack, each, "__init__")(scheduler)
    _see_generators(stack, session)


def _see_steps(stack: ExitStack, session: Session, kind: type, seen: set[type]) -> None:
    """See the steps of a class of schedulers: some classes have one of their own."""

    def stepped(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = original(self, *args, **kwargs)
        if session.recorder is not None:
            place = places.calling(sys._getframe(2))  # noqa: SLF001 - the documented way
            session.recorder.origins.stepped(getattr(self, "optimizer", None), place)
        return result

    for each in kind.__mro__:
        if "step" in vars(each) and each not in seen:
            seen.add(each)
            around(stack, each, "step")(stepped)


def _see_generators(stack: ExitStack, session: Session) -> None:
    """Follow the generators that the program's own files make: those that libraries make are
    seeded from others. Calling ``torch.Generator`` gives what it always does: a class that was
    made in C takes no other ``__init__``."""
    original: Any = torch.Generator

    kind: Any = type(original)  # another one in each release

    class Calling(kind):  # type: ignore[misc]
        def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            if self is not Generator:  # the program's own class
                return super().__call__(*args, **kwargs)
            made = original(*args, **kwargs)
            recorder = session.recorder
            if recorder is not None and threading.get_ident() == recorder.thread:
                place = places.calling(sys._getframe(1))  # noqa: SLF001 - the documented way
                recorder.generators.made(made, place)
            return made

        def __instancecheck__(self, value: Any) -> bool:  # noqa: ANN401
            if self is Generator:
                return isinstance(value, original)
            return bool(super().__instancecheck__(value))

        def __subclasscheck__(self, value: Any) -> bool:  # noqa: ANN401
            if self is Generator:
                return issubclass(value, original)
            return bool(super().__subclasscheck__(value))

    named = {"__module__": "torch", "__qualname__": "Generator", "__doc__": original.__doc__}
    Generator = Calling("Generator", (original,), named)  # noqa: N806 - a class
    replace(stack, torch, "Generator", Generator)
