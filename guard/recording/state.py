"""Parameters, buffers and the optimizers' state: in full at first, now and then, and at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.digests.structures import fingerprint, summary_of
from guard.digests.tensors import seen
from guard.recording.events import source
from guard.recording.naming import ByIdentity, unwrapped_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.observe.places import Place
    from guard.recording.events import Events
    from guard.recording.recorder import Recorder
    from guard.trace import Kind

    Module = torch.nn.Module
    Optimizer = torch.optim.Optimizer


class States:
    """When the state of what was recorded last."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._models: ByIdentity[int] = ByIdentity()
        self._optimizers: ByIdentity[int] = ByIdentity()
        self._count = -1
        self._next = 0

    def before(self, events: Events) -> None:
        """A model is about to be called: parameters and buffers, where they are due."""
        names = self._recorder.names
        count = names.count
        if count == self._count and self._recorder.sink.number < self._next:
            return
        self._count = count
        for model, prefix in names.models():
            is_new = self._models.get(model) is None
            if self._is_due(self._models, model):
                self._model(events, model, prefix, is_new=is_new)
        self._next = min(self._models.values(), default=0) + self._recorder.options.state_every

    def after(self, events: Events, optimizer: Optimizer, name: str) -> None:
        """An optimizer has done a step: its state, where it is due."""
        if self._is_due(self._optimizers, optimizer):
            self._optimizer(events, optimizer, name)

    def all_of_it(self, events: Events) -> None:
        """At the end."""
        for model, prefix in self._recorder.names.models():
            self._model(events, model, prefix)
        for optimizer in self._optimizers.owners():
            self._optimizer(events, optimizer, self._recorder.names.of_optimizer(optimizer))

    def _is_due(self, last: ByIdentity[int], owner: Any) -> bool:  # noqa: ANN401
        number = self._recorder.sink.number
        found = last.get(owner)
        if found is not None and number < found + self._recorder.options.state_every:
            return False
        last.set(owner, number)
        return True

    def _model(self, events: Events, model: Module, prefix: str, *, is_new: bool = False) -> None:
        """A new one's parameters hold what they were made with, and so where they were made."""
        origins = self._recorder.origins
        for path, each in model.named_parameters():
            place = origins.of(each) if is_new else None
            self._add(events, "parameter", prefix + unwrapped_path(model, path), each, place)
        for path, buffer in model.named_buffers():
            self._add(events, "buffer", prefix + unwrapped_path(model, path), buffer)

    def _optimizer(self, events: Events, optimizer: Optimizer, name: str) -> None:
        for number, (parameter, held) in enumerate(_in_order(optimizer)):
            known = self._recorder.names.of_parameter(parameter)
            of = known[1] if known else str(number)
            for key, value in held.items():
                self._add(events, "optimizer", f"{name}.{key}.{of}", value)

    def _add(
        self,
        events: Events,
        kind: Kind,
        name: str,
        value: Any,  # noqa: ANN401
        place: Place | None = None,
    ) -> None:
        if isinstance(value, torch.Tensor) and type(value) in (torch.Tensor, torch.nn.Parameter):
            digest, form = seen(value)
            detail = form.detail
        else:
            digest, detail = fingerprint(value)
        summary = summary_of(value) if self._recorder.options.values else None
        events.add(source(kind, name), detail, place, digest, None, summary)


def _in_order(optimizer: Optimizer) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Parameters with their states, in the order of the groups."""
    for group in optimizer.param_groups:
        for each in group["params"]:
            if each in optimizer.state:
                state = optimizer.state[each]
                yield each, state if isinstance(state, dict) else {"state": state}
