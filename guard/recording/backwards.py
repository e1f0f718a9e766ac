"""Seeing every backward: what it is called on, and what it leaves."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

from guard.digests.structures import fingerprint, summary_of
from guard.digests.tensors import number_of, seen
from guard.observe import engine, places
from guard.observe.modes import guarded, is_traced
from guard.recording.events import source

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from guard.recording.recorder import Recorder
    from guard.recording.session import Session

_ACCUMULATES = 5  # its place among the arguments of run_backward after the outputs, if by place


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each backward, until the stack is closed."""

    def run(backward: Callable[..., Any], outputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        recorder = session.recorder
        if recorder is not None and not recorder.has_trained and not is_traced():
            recorder.follow_this_thread()
        if (
            recorder is None
            or recorder.backwards
            or threading.get_ident() != recorder.thread
            or is_traced()
        ):
            return backward(outputs, *args, **kwargs)
        accumulates = kwargs.get("accumulate_grad", len(args) > _ACCUMULATES and args[_ACCUMULATES])
        seen = _Backward(recorder)
        seen.begin(outputs, accumulates)
        recorder.turn(backwards=1)
        try:
            result = backward(outputs, *args, **kwargs)
        finally:
            recorder.turn(backwards=-1)
        seen.end(accumulates, result)
        return result

    stack.enter_context(engine.around(run))


class _Backward:
    """One backward, or one ``torch.autograd.grad``."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.sink: Session = recorder.sink
        self.leaves: list[torch.Tensor] = []

    @guarded
    def begin(self, outputs: Any, accumulates: bool) -> None:  # noqa: ANN401
        recorder = self.recorder
        alone = recorder.ends_by_itself = not recorder.optimizers.exist
        recorder.backward_place = places.own()
        if alone and recorder.has_pending_backward and accumulates:
            recorder.end_step()
        recorder.train()
        if not accumulates:
            return
        recorder.generators.look(recorder.target.add, recorder.backward_place)
        for each in outputs:
            if isinstance(each, torch.Tensor):
                self._loss(each)
        if alone:
            below = engine.nodes(outputs)
            self.leaves = [node.variable for node in below if hasattr(node, "variable")]

    def _loss(self, loss: torch.Tensor) -> None:
        digest, form = seen(loss)
        summary = summary_of(loss) if self.recorder.options.values else None
        value = number_of(loss) if loss.numel() == 1 else None
        place = self.recorder.backward_place
        self.recorder.target.add(LOSS, form.detail, place, digest, value, summary)

    @guarded
    def end(self, accumulates: bool, result: Any) -> None:  # noqa: ANN401
        recorder = self.recorder
        place = recorder.backward_place
        if accumulates:
            recorder.backward_ended()
        elif result is not None:
            found = fingerprint(result)
            recorder.target.add(GRAD, found.detail, place, found.digest)
        for number, each in enumerate(self.leaves):
            if each.grad is not None:
                named = recorder.names.of_parameter(each)
                name = named[1] if named else f"tensor {number}"
                found = fingerprint(each.grad)
                recorder.target.add(source("gradient", name), found.detail, place, found.digest)


LOSS = source("loss", "loss")
GRAD = source("gradient", "torch.autograd.grad")
