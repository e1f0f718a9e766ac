"""The modules whose forward runs, what each of them gives, and what each backward leaves.

``torch.nn.Module.__call__`` is replaced, and no global hook is registered: those take modules off
their short path, make torch.compile warn, and fire again within compiled code.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import torch

from guard.digests.hashing import hashed
from guard.digests.structures import fingerprint, summary_of
from guard.digests.tensors import likeness, number_of, seen, unlike
from guard.observe import engine, places
from guard.observe.modes import guarded, is_traced
from guard.observe.patching import replace
from guard.observe.places import calling, own
from guard.recording.events import source

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack
    from types import FrameType

    from guard.digests.tensors import Digest, Form
    from guard.observe.places import Place
    from guard.recording.events import Source
    from guard.recording.naming import Known, Site
    from guard.recording.recorder import Recorder
    from guard.recording.session import Session, Sink
    from guard.trace.model import Phase

    Module = torch.nn.Module


_OUTSIDE: Any = (None, None)  # what the outermost module is called within
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_LARGE = 1 << 14  # bytes: less is sooner read again than remembered
# What torch's own __call__ names: it calls one of the two, and does nothing else.
_ONLY_CHOOSES = ("_compiled_call_impl", "_call_impl")
_functions = torch._C._len_torch_function_stack  # noqa: SLF001 - modes, such as a default device


def install(stack: ExitStack, session: Session) -> None:
    """Tell the session's recorder of each call and each backward, until the stack is closed."""
    _follow_backwards(stack, session)
    original: Any = torch.nn.Module.__call__
    # torch 2.2 has none; there, compiled code breaks off at each module.
    is_compiling = getattr(torch.compiler, "is_dynamo_compiling", bool)
    thread, frame = threading.get_ident, sys._getframe  # noqa: SLF001
    is_short = getattr(getattr(original, "__code__", None), "co_names", ()) == _ONLY_CHOOSES
    recorder: Any = session.recorder
    known_of, plain_of = recorder.names.known.get, recorder.plain.get

    # Some 100 times a step: the commonest case stands here in one piece.
    @functools.wraps(original)
    def call(module: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        if is_compiling():  # a compiler traces the call itself
            return original(module, *args, **kwargs)
        calls = plain_of(thread())
        if calls is None:
            here = session.recorder
            if here is None or not here.follows(thread()):
                return original(module, *args, **kwargs)
            return here.calls.run(original, frame(1), module, args, kwargs)
        known, around = known_of(id(module)), calls.within
        if (
            known is None
            or known.around is not around
            or (
                (code := known.code) is not None
                and (code is not (at := frame(1)).f_code or known.instruction != at.f_lasti)
            )
        ):
            return calls.run(original, frame(1), module, args, kwargs)
        # Where it is traced, its result is not like the last one's.
        within = calls.within = known.within
        try:
            if kwargs or not is_short or module._compiled_call_impl is not None:  # noqa: SLF001
                result = original(module, *args, **kwargs)
            else:
                result = module._call_impl(*args)  # noqa: SLF001 - as the original does then
        finally:
            calls.within = around
        if (
            known.is_like(result)
            and known.within is within
            and recorder.calls is calls
            and not _functions()
            and (address := result.data_ptr())
        ):
            events, form = recorder.target, known.form
            events.rows.append(known.row)
            events.digests.append(hashed(form.at(address), form.seed))
        else:
            calls.leave(known, result, within)
        return result

    replace(stack, torch.nn.Module, "__call__", call)


class _Result(NamedTuple):
    """What a module gave: a container gives what its last part gave, unless hooks give another one,
    or write to it."""

    tensor: ref[torch.Tensor]
    version: int
    digest: Digest
    form: Form

    def is_of(self, result: torch.Tensor) -> bool:
        """Whether it is the same, as it was."""
        return self.tensor() is result and self.version == result._version  # noqa: SLF001


class Calls:
    """Of one thread."""

    def __init__(self, recorder: Recorder) -> None:
        self.within: Site = _OUTSIDE  # of the module whose forward runs
        self.sink: Sink = recorder.sink
        self._recorder = recorder
        self._operators = recorder.operators
        self._in_detail = recorder.options.values or recorder.operators is not None
        self._libraries: set[Source] = set()  # outputs of modules whose forward is a library's
        self._last: _Result | None = None

    def run(self, original: Any, frame: FrameType, module: Module, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """A call of a module, whatever is known of it."""
        __tracebackhide__ = True
        if is_traced():
            return original(module, *args, **kwargs)
        around = self.within
        known = self.enter(frame, module, args, kwargs)
        within = self.within
        try:
            result = original(module, *args, **kwargs)
        finally:
            self.within = around
        if known is not None:
            self.leave(known, result, within)
        return result

    @guarded
    def enter(self, frame: FrameType, module: Module, args: Any, kwargs: Any) -> Known:  # noqa: ANN401
        """A module is called."""
        recorder, around, line = self._recorder, self.within, calling(frame)
        is_outermost = around is _OUTSIDE
        place = line or (own() if is_outermost else around[1])
        known = recorder.names.of(module, outermost=is_outermost)
        if is_outermost and not recorder.backwards:
            recorder.begin(module, known, place, args, kwargs)
        if known.is_of_library:
            self._libraries.add(known.output)
        known.around = None
        if self._operators is not None:
            self._operators.enter(known.name)
        elif not is_outermost:
            known.around = around
            # What a library's forward calls, no line of the program's own calls.
            is_fixed = line is None and around[0] in self._libraries
            known.code = None if is_fixed else frame.f_code
            known.instruction = frame.f_lasti
        if known.within[1] is not place:
            known.within = known.output, place
            known.row = known.output, known.row[1], place, "forward", ()
        self.within = known.within
        return known

    @guarded
    def leave(self, known: Known, result: Any, within: Site) -> None:  # noqa: ANN401
        """Its forward has ended."""
        recorder = self._recorder
        # Meanwhile the recorder may have begun to follow another thread, which trains.
        if recorder.calls is not self or is_traced():
            return
        if self._in_detail or recorder.backwards or type(result) not in _PLAIN:
            self._leave(known, result, within[1])
            return
        last = self._last
        if last is not None and known.passes and last.is_of(result):
            digest, form = last.digest, last.form
            known.meet(form)
        else:
            digest, form = seen(result, known.form)
            self._remember(known, result, digest, form)
        row = known.row
        if known.within is not within or row[1] is not form.detail:
            row = known.output, form.detail, within[1], "forward", ()
            if known.within is within:  # else another line has called it meanwhile
                known.row = row
        recorder.target.rows.append(row)
        recorder.target.digests.append(digest)

    def _leave(self, known: Known, result: Any, place: Place | None) -> None:  # noqa: ANN401
        self._last = None
        if self._operators is not None:
            self._operators.leave(known.name)
        phase: Phase = "backward" if self._recorder.backwards else "forward"
        self._recorder.add(known.output, result, place, phase)

    def _remember(self, known: Known, result: torch.Tensor, digest: Digest, form: Form) -> None:
        """For who passes it on, if to read it again takes longer; else for the next time, once it
        has come again."""
        self._last = None
        is_small = form.size <= _LARGE and type(digest) is bytes  # and so in memory
        if known.meet(form):
            pass
        elif is_small and not known.is_like(result):
            if not form.is_like(result):  # shared, and so at hand in the processor's cache
                form.is_like = likeness([result]) or unlike
            known.is_like = form.is_like
        is_outermost = self.within is _OUTSIDE
        if not is_small and not is_outermost and not result.is_inference():  # which has no version
            self._last = _Result(ref(result), result._version, digest, form)  # noqa: SLF001


_ACCUMULATES = 5  # its place among the arguments of run_backward after the outputs, if by place


def _follow_backwards(stack: ExitStack, session: Session) -> None:

    def run(backward: Callable[..., Any], outputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        __tracebackhide__ = True
        recorder = session.training
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
        self.sink: Sink = recorder.sink
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
