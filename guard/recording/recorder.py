"""What happens in a program, sorted into steps."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import torch

from guard.digests.structures import fingerprint, of_samples, summary_of
from guard.digests.tensors import seen
from guard.observe import places
from guard.observe.modes import guarded
from guard.recording.calls import Calls
from guard.recording.constructions import Origins
from guard.recording.events import Events, Schemas, source
from guard.recording.generators import Generators
from guard.recording.naming import ByIdentity, Names, unwrapped_path
from guard.recording.optimizers import Optimizers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.observe.places import Place
    from guard.recording.events import Source
    from guard.recording.naming import Known
    from guard.recording.operators import Operators
    from guard.recording.session import Options, Sink
    from guard.trace import Kind, StepKind
    from guard.trace.model import Phase

    Module = torch.nn.Module
    Optimizer = torch.optim.Optimizer


_MOST_WAITING = 1000  # batches that nothing has used: a loop over the data alone
_MOST_EVENTS = 50_000  # of forwards without a backward, before they are written as they are
_FORWARDS = 16  # the same, for a program that has never called backward


class Recorder:
    """Follows one process: one thread of it, and the backwards that it starts.

    plain  the calls of the thread, by its number, while no loader works and no backward runs

    A step collects what happens up to the end of an optimizer's ``step``. A forward without
    gradients is a step of its own, which ends when the next thing begins.
    """

    def __init__(
        self,
        sink: Sink,
        options: Options,
        operators: Operators | None = None,
        origins: Origins | None = None,
    ) -> None:
        self.sink = sink
        self.options = options
        self.names = Names(by_variables=options.held is not None)
        self.origins = origins or Origins()
        self.states = States(self)
        self.generators = Generators()
        self.operators = operators
        self.optimizers = Optimizers(self)
        self.backward_place: Place | None = None
        self.thread = threading.get_ident()
        self.backwards = 0  # that run now: checkpoints start some within others
        self.has_trained = False
        self.ends_by_itself = False  # no optimizer of torch's is there to end a step
        self.muted = 0  # a loader works: what its transforms do is in its batch
        self.calls = Calls(self)
        self.plain: dict[int, Calls] = {self.thread: self.calls}
        self._schemas = Schemas()
        self.training = Events()
        self.evaluation: Events | None = None
        self.target = self.training
        self._waiting: list[tuple[Any, ...]] = []
        self._batches = 0  # that wait
        self._loads = False  # a loader has given batches, whose samples are known
        self._forwards = 0  # in the step, of models
        self.has_pending_backward = False

    def follow_this_thread(self) -> None:
        """The program may train in another thread than the one that began to record."""
        if self.thread != threading.get_ident():
            self.thread = threading.get_ident()
            self.calls = Calls(self)
            self.turn()

    def turn(self, *, muted: int = 0, backwards: int = 0) -> None:
        """A loader, or a backward, begins to work or has ended."""
        self.muted += muted
        self.backwards += backwards
        self.plain.clear()
        if not self.muted and not self.backwards:
            self.plain[self.thread] = self.calls

    def follows(self, thread: int) -> bool:
        """Whether what modules do in a thread is recorded now. What a backward calls may run in
        one of autograd's own: not in one of the program's, which goes on beside it."""
        if self.muted:
            return False
        return thread == self.thread or (bool(self.backwards) and not _is_started(thread))

    def evaluated(self) -> None:
        """Write the evaluation that has been collected, if there is one."""
        if not self.muted and not self.backwards:
            self._evaluated()

    @guarded
    def _evaluated(self) -> None:
        self.close_evaluation()

    def begin(self, module: Module, known: Known, place: Place | None, *given: Any) -> None:
        """A forward begins that no other module called."""
        grad = torch.is_grad_enabled()
        if not known.learns:  # a loss, a metric: it belongs to what came before
            self.target = self.training if grad or self.evaluation is None else self.evaluation
            if len(self.target) > _MOST_EVENTS:
                self._write_unfinished()
            return
        self.close_evaluation()
        # A target network is asked without gradients within a step; before the first of all steps,
        # one does not see that. A resumed run and the one beside it count it alike.
        goes_on = self.has_trained or self.options.first_step > 0 or self.options.held is not None
        if grad or (module.training and goes_on):
            self._continue_training()
            if self.options.held is not None:
                self.sink.training_begins()
        else:
            self.target = self.evaluation = Events()
        self._take_waiting()
        self.generators.look(self.target.add, place)
        self.states.before(self.target)
        args, kwargs = given
        single = args[0] if len(args) == 1 else args
        self._given(known.entered, (args, kwargs) if kwargs else single, place)
        self._forwards += 1

    def _given(self, of: Source, value: Any, place: Place | None) -> None:  # noqa: ANN401
        """Something is given to a model."""
        found = fingerprint(value)
        summary = summary_of(value) if self.options.values else None
        samples = None if self._loads else of_samples(value)
        self.target.add(of, found.detail, place, found.digest, None, summary, "", samples)

    def _continue_training(self) -> None:
        if self.ends_by_itself and self.has_pending_backward:
            self.end_step()
        elif len(self.training) > _MOST_EVENTS or (
            not self.has_trained and self._forwards >= _FORWARDS
        ):
            self._write_unfinished()
        self.target = self.training

    def _write_unfinished(self) -> None:
        """Write what no backward may ever follow."""
        self.close_evaluation()
        self._write("evaluation", self._renew())

    def add(self, of: Source, value: Any, place: Place | None, phase: Phase = "") -> None:  # noqa: ANN401
        digest, detail = fingerprint(value)
        summary = summary_of(value) if self.options.values else None
        self.target.add(of, detail, place, digest, None, summary, phase)

    # Batches

    @guarded
    def batch(self, name: str, value: Any, phase: Phase) -> None:  # noqa: ANN401
        """A loader gave a batch."""
        self.close_evaluation()
        place = places.own()
        found = fingerprint(value)
        summary = summary_of(value) if self.options.values else None
        of = source("batch", name)
        self._loads = True
        self._wait(of, found.detail, place, found.digest, None, summary, phase, of_samples(value))
        self.generators.look(self._wait, place, all_of_them=True)
        self._batches += 1
        if self._batches > _MOST_WAITING:
            self.target = self.evaluation = Events()
            self._take_waiting()
            self.close_evaluation()

    def _wait(self, *row: Any) -> None:
        self._waiting.append(row)

    def operator(self, *row: Any) -> None:
        """An operator has run. Before the first forward, it is not known of which kind the step
        will be."""
        if self.target is self.training and not len(self.training):
            self._waiting.append(row)
        else:
            self.target.add(*row)

    def _take_waiting(self) -> None:
        for row in self._waiting:
            self.target.add(*row)
        self._waiting.clear()
        self._batches = 0

    # Steps

    def train(self) -> None:
        """What comes now belongs to a training step."""
        self.close_evaluation()
        self.target = self.training
        self._take_waiting()

    def backward_ended(self) -> None:
        """A backward has run to its end."""
        self.has_trained = True
        self.has_pending_backward = True

    def end_step(self) -> None:
        """A training step is done."""
        self.target = self.training
        self.generators.look(self.target.add, None, all_of_them=True)
        self._write("training", self._renew())

    def close_evaluation(self) -> None:
        """Write the evaluation that has been collected."""
        if self.evaluation is None:
            return
        found, self.evaluation = self.evaluation, None
        self.target = self.training
        self.generators.look(found.add, None)
        self._write("evaluation", found)
        self._forwards = 0

    def _renew(self) -> Events:
        """Begin another training step; what the last one holds."""
        found, self.training = self.training, Events()
        self.target = self.training
        self._forwards = 0
        self.has_pending_backward = False
        return found

    def _write(self, kind: StepKind, events: Events) -> None:
        if self.operators is not None:
            self.operators.step_ends(self.sink.number)
        self.sink.write(kind, events, self._schemas.of(events))
        if self.operators is not None and self.sink.recorder is self:
            self.operators.step_begins(self.sink.number)

    @guarded
    def leave(self) -> None:
        """Write what has begun."""
        self.close_evaluation()
        self.target = self.training
        self._take_waiting()
        if len(self.training):
            kind: StepKind = "training" if self.has_pending_backward else "evaluation"
            self._write(kind, self._renew())

    @guarded
    def finish(self) -> None:
        """Write what has begun, and then the state of everything."""
        self.leave()
        self.generators.look(self.target.add, None, all_of_them=True)
        self.states.all_of_it(self.target)
        if len(self.target):
            self._write("end", self._renew())


def _is_started(number: int) -> bool:
    """Whether a running thread, by its number, is one that Python has started."""
    found = (each for each in threading.enumerate() if each.ident == number)
    return not all(isinstance(each, threading._DummyThread) for each in found)  # noqa: SLF001


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
        for optimizer, _ in self._optimizers.pairs():
            self._optimizer(events, optimizer, self._recorder.names.label(optimizer))

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
