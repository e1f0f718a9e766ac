"""Seeing the optimizers' steps: the gradients they read, their hyperparameters, their state,
and the parameters that they change."""

from __future__ import annotations

import functools
import threading
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import torch

from guard.digests.device_sums import Beside, joined
from guard.digests.hashing import hashed
from guard.digests.structures import fingerprint, summary_of
from guard.digests.tensors import form_of, likeness, number_of, seen, unlike
from guard.observe import places
from guard.observe.modes import follow_steps, guarded, is_traced, past_modes
from guard.observe.patching import around
from guard.recording.events import source
from guard.recording.naming import ByIdentity

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from guard.digests.tensors import Digest
    from guard.observe.places import Place
    from guard.recording.events import Events, Row, Source
    from guard.recording.naming import Names
    from guard.recording.recorder import Recorder
    from guard.recording.session import Session, Sink

    Optimizer = torch.optim.Optimizer
    from collections.abc import Callable

NOT_HYPER = ("params", "param_names")  # keys of a group
_gradient = attrgetter("grad")
_address = torch.Tensor.data_ptr


class Optimizers:
    """What is known of the program's optimizers."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.sink: Sink = recorder.sink
        self.exist = False  # whether there are any, so that a step of one ends a step
        self.steps = 0  # how many steps they have begun
        self._plans: ByIdentity[Plan] = ByIdentity()
        self._running: list[Any] = []  # some call others within their step

    @guarded
    def before(self, optimizer: Optimizer, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """A step begins; other arguments for it, if it is given a closure to call."""
        self.exist = True
        self.steps += 1
        if optimizer in self._running:
            self._running.clear()  # an exception left the last one
        self._running.append(optimizer)
        if len(self._running) > 1:
            return None
        self.recorder.train()
        plan = self._plan(optimizer)
        self._hyperparameters(optimizer, plan)
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        if not callable(closure):
            self._gradients(plan)
            return None
        seen = self._seen(optimizer, closure)
        if "closure" in kwargs:
            return args, {**kwargs, "closure": seen}
        return (args[0], seen, *args[2:]), kwargs

    def _seen(self, optimizer: Optimizer, closure: Any) -> Any:  # noqa: ANN401
        """The closure, after which the optimizer reads the gradients."""

        @functools.wraps(closure)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            result = closure(*args, **kwargs)
            self.read(optimizer)
            return result

        return call

    @guarded
    def read(self, optimizer: Optimizer) -> None:
        """The gradients are read now."""
        self.recorder.train()
        self._gradients(self._plan(optimizer))

    @guarded
    def after(self, optimizer: Optimizer) -> None:
        """A step has ended."""
        if optimizer in self._running:
            del self._running[self._running.index(optimizer) :]
        if self._running:
            return
        recorder = self.recorder
        recorder.train()
        name = recorder.names.label(optimizer)
        recorder.states.after(recorder.target, optimizer, name)
        recorder.target.add(source("parameter", name), "", None, self._left(optimizer))
        recorder.end_step()

    def _left(self, optimizer: Optimizer) -> Digest:
        """Over all the parameters as the step has left them: what no later forward may show."""
        digests = self._plan(optimizer).left()
        try:
            return hashed(b"".join(digests), 0)  # type: ignore[arg-type]
        except TypeError:  # some are on a device
            return joined(digests, 0)

    @guarded
    def scaled(self, optimizer: Optimizer, scaler: Any, steps: int) -> None:  # noqa: ANN401
        """A GradScaler has let an optimizer step, or has not: then this ends the step."""
        if self.steps == steps and scaler.is_enabled():
            self.exist = True
            self.recorder.train()
            plan = self._plan(optimizer)
            self._hyperparameters(optimizer, plan)
            self._gradients(plan)
            self.recorder.end_step()

    @guarded
    def scale(self, scaler: Any) -> None:  # noqa: ANN401
        """The scale under which a step is tried."""
        scale = getattr(scaler, "_scale", None)  # a disabled one has none; get_scale() would wait
        if isinstance(scale, torch.Tensor):
            digest, form = seen(scale)
            of = source("hyperparameter", "GradScaler.scale")
            self.recorder.train()
            self.recorder.target.add(of, form.detail, None, digest, number_of(scale))

    def _plan(self, optimizer: Optimizer) -> Plan:
        key = key_of(optimizer, self.recorder.names)
        found = self._plans.get(optimizer)
        if found is None or found.key != key:
            old, found = found, Plan(list(parameters_of(optimizer, self.recorder.names)), key)
            if old is not None:
                found.keep(old)
            self._plans.set(optimizer, found)
        return found

    def _gradients(self, plan: Plan) -> None:
        events, place = self.recorder.target, self.recorder.backward_place
        if not self.recorder.options.values:
            plan.add_gradients(events, place)
            return
        for of, gradient in zip(*plan.gradients(), strict=True):
            found = fingerprint(gradient)
            events.add(of, found.detail, place, found.digest, None, summary_of(gradient))

    def _hyperparameters(self, optimizer: Optimizer, plan: Plan) -> None:
        values = [
            comparable(value)
            for group in optimizer.param_groups
            for name, value in group.items()
            if name not in NOT_HYPER
        ]
        name = self.recorder.names.label(optimizer)
        if values != plan.values:
            plan.values = values
            plan.place = self._setting(optimizer, plan)
            self._changed(dict(flat(name, optimizer.param_groups)), plan)
        self.recorder.target.add(source("hyperparameter", name), "", plan.place, plan.digest)

    def _setting(self, optimizer: Optimizer, plan: Plan) -> Place | None:
        """The line that gave it its hyperparameters, as near as is known: that made the optimizer,
        or called its scheduler; of one that the program sets by hand, its step."""
        origins = self.recorder.origins
        scheduled = origins.of_schedule(optimizer)
        if not plan.digests and not _is_scheduled(optimizer):
            scheduled = origins.of(optimizer)
        return scheduled or places.own()

    def _changed(self, found: dict[str, Any], plan: Plan) -> None:
        digests = {name: fingerprint(value).digest for name, value in found.items()}
        for name, value in found.items():
            digest = digests[name]
            if digest != plan.digests.get(name):
                number, of = number_in(value), source("hyperparameter", name)
                self.recorder.target.add(of, "", plan.place, digest, number)
        plan.digests = digests
        plan.digest = joined(list(digests.values()), 0)


def _is_scheduled(optimizer: Optimizer) -> bool:
    """Whether a scheduler has given it another rate than it was made with."""
    rates = [(each.get("lr"), each.get("initial_lr")) for each in optimizer.param_groups]
    return any(type(lr) is type(first) is float and lr != first for lr, first in rates)


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each optimizer and its steps, until the stack is closed."""
    is_compiling = getattr(torch.compiler, "is_compiling", bool)

    def current() -> Optimizers | None:
        recorder = None if is_compiling() or is_traced() else session.training
        if recorder is None:
            return None
        if threading.get_ident() != recorder.thread:
            recorder.follow_this_thread()
        return recorder.optimizers

    def before(optimizer: Optimizer, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        found = current()
        return None if found is None else found.before(optimizer, args, kwargs)

    def after(optimizer: Optimizer, *_: object) -> None:
        found = current()
        if found is not None:
            found.after(optimizer)

    follow_steps(stack, before, after)

    @around(stack, getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler), "step")  # since 2.3
    def _(original: Any, self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        found = current()
        if found is None:
            return original(self, optimizer, *args, **kwargs)
        steps = found.steps
        found.scale(self)
        result = original(self, optimizer, *args, **kwargs)
        found.scaled(optimizer, self, steps)
        return result


def comparable(value: Any) -> Any:  # noqa: ANN401
    """What tells whether a hyperparameter has changed."""
    return fingerprint(value).digest if isinstance(value, torch.Tensor) else value


def flat(optimizer: str, groups: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Hyperparameters one by one: "AdamW.lr", "AdamW[1].betas[0]"."""
    for index, group in enumerate(groups):
        prefix = f"{optimizer}[{index}]" if index else optimizer
        for name, value in group.items():
            if name in NOT_HYPER:
                continue
            if isinstance(value, (tuple, list)):
                for number, each in enumerate(value):
                    yield f"{prefix}.{name}[{number}]", each
            else:
                yield f"{prefix}.{name}", value


def number_in(value: Any) -> Any:  # noqa: ANN401
    """The number that one holds, as ``number_of`` gives it; or None."""
    if isinstance(value, torch.Tensor):
        return number_of(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, (int, float)) else None


class Plan:
    """An optimizer's parameters in about the order in which backward reaches them."""

    def __init__(self, parameters: list[tuple[Any, Source]], key: tuple[int, ...]) -> None:
        self.key = key
        self.values: list[Any] = []  # of its hyperparameters
        self.digests: dict[str, Digest] = {}
        self.digest: Digest = b""  # over them
        self.place: Place | None = None  # that set them
        self._parameters = [each for each, _ in parameters]
        self._sources = [of for _, of in parameters]
        self._left, self._read = Columns(), Columns()
        self._rows: list[Row] = []  # of the gradients' events
        self._made_of: tuple[Any, ...] = ()

    def keep(self, old: Plan) -> None:
        """What was known of the hyperparameters."""
        self.values, self.digests, self.digest = old.values, old.digests, old.digest
        self.place = old.place

    def left(self) -> list[Digest]:
        """The fingerprints of all the parameters."""
        return self._left.read(self._parameters)

    def gradients(self) -> tuple[list[Source], list[Any]]:
        """Those that are there."""
        found: list[Any] = list(map(_gradient, self._parameters))
        present = [each is not None for each in found]
        return list(compress(self._sources, present)), list(compress(found, present))

    def add_gradients(self, events: Events, place: Place | None) -> None:
        """Append an event for each of them."""
        sources = self._sources
        digests = self._read.read_again(list(map(_gradient, self._parameters)))
        if digests is None:
            sources, gradients = self.gradients()
            digests = self._read.read(gradients)
        events.digests += digests
        made_of = sources, self._read.details, place
        if made_of != self._made_of:
            both = zip(sources, self._read.details, strict=True)
            self._rows = [(of, detail, place, "", ()) for of, detail in both]
            self._made_of = made_of
        events.rows += self._rows


def key_of(optimizer: Optimizer, names: Names) -> tuple[int, ...]:
    """Another one where an optimizer may have other parameters, or these other names."""
    groups = optimizer.param_groups
    firsts = (id(each["params"][0]) if each["params"] else 0 for each in groups)
    return (names.count, *(len(each["params"]) for each in groups), *firsts)


def parameters_of(optimizer: Optimizer, names: Names) -> Iterator[tuple[Any, Source]]:
    """Those of an optimizer, the last of the model first, with the sources of their gradients."""
    names.refresh()
    known = []
    for index, group in enumerate(optimizer.param_groups):
        for number, each in enumerate(group["params"]):
            unnamed = f"{names.label(optimizer)}.param_groups[{index}][{number}]"
            known.append((*(names.of_parameter(each) or ((-1, 0), unnamed)), each))
    known.sort(key=lambda found: found[0], reverse=True)
    for _, name, each in known:
        yield each, source("gradient", name)


class Columns:
    """Tensors that are read together, again and again: column by column, which takes half the
    time of one tensor after the other; on a device, some kernels for all of them.
    """

    def __init__(self) -> None:
        self.details: list[str] = []  # what they were: "float32[2, 3]"
        self._are_like: Callable[..., bool] = unlike
        self._seeds: list[int] = []
        self._at: list[Any] = []
        self._addresses: list[int] = []
        self._contents: list[Any] = []
        self._beside: Beside | None = None

    def read(self, tensors: list[Any]) -> list[Digest]:
        """The fingerprints of tensors, in their order."""
        found = self.read_again(tensors)
        return self._read_singly(tensors) if found is None else found

    def read_again(self, tensors: list[Any]) -> list[Digest] | None:
        """The same, if they are what was read last, but for their numbers; some may be None."""
        if len(tensors) != len(self._seeds) or not self._are_like(*tensors):
            return None
        if self._beside is not None:
            return past_modes(self._beside.read, tensors)
        if 0 in (addresses := list(map(_address, tensors))):
            return None
        if addresses != self._addresses:
            self._contents = [at(address) for at, address in zip(self._at, addresses, strict=True)]
            self._addresses = addresses
        return list(map(hashed, self._contents, self._seeds))

    def _read_singly(self, tensors: list[Any]) -> list[Digest]:
        found = [fingerprint(each) for each in tensors]
        self.details = [each.detail for each in found]
        self._addresses = []
        forms = list(map(form_of, tensors))
        self._at = [each.at for each in forms]
        self._seeds = [each.seed for each in forms]
        are_like = likeness(tensors)
        self._are_like = are_like or likeness(tensors, summed=True) or unlike
        is_beside = are_like is None and self._are_like is not unlike
        self._beside = past_modes(Beside, tensors, self._seeds) if is_beside else None
        return [each.digest for each in found]
