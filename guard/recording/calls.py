"""The modules whose forward runs, and what each of them gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import torch

from guard.digests.tensors import seen
from guard.observe.modes import guarded
from guard.observe.places import calling, own

if TYPE_CHECKING:
    from types import FrameType

    from guard.digests.tensors import Digest, Form
    from guard.observe.places import Place
    from guard.recording.naming import Known
    from guard.recording.recorder import Recorder, Sink
    from guard.trace.model import Phase

    Module = torch.nn.Module

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_LARGE = 1 << 14  # bytes: less is sooner read again than remembered
_functions = torch._C._len_torch_function_stack  # noqa: SLF001 - modes, such as a default device


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
    """Of one thread.

    places  the lines that called the modules whose forward runs, the outermost first
    known   modules that have been called
    """

    def __init__(self, recorder: Recorder) -> None:
        self.places: list[Place | None] = []
        self.sink: Sink = recorder.sink
        self._recorder = recorder
        self.known = recorder.names.known
        self._operators = recorder.operators
        self._in_detail = recorder.options.values or recorder.operators is not None
        self._last: _Result | None = None

    @guarded
    def enter(self, frame: FrameType, args: Any, kwargs: Any) -> Known:  # noqa: ANN401
        """A module is called, with itself as the first argument."""
        places, recorder = self.places, self._recorder
        line = calling(frame)
        place = line or (places[-1] if places else own())
        known = recorder.names.of(args[0], outermost=not places)
        if not places and not recorder.backwards:
            recorder.begin(args[0], known, place, args[1:], kwargs)
        if self._operators is not None:
            self._operators.enter(known.name)
        elif places:
            known.code, known.instruction, known.place = frame.f_code, frame.f_lasti, line
        places.append(place)
        return known

    def leave(self, known: Known, result: Any) -> None:  # noqa: ANN401
        """Its forward has ended."""
        recorder = self._recorder
        if self._in_detail or recorder.backwards or type(result) not in _PLAIN or _functions():
            self._leave(known, result)
            return
        try:
            place, last = self.places.pop(), self._last
            if last is not None and known.passes and last.is_of(result):
                digest, form = last.digest, last.form
            else:
                digest, form = seen(result, known.form)
                known.form = form
                self._last = self._result(result, digest, form) if form.size > _LARGE else None
            row, events = known.row, recorder.target
            if row[1] is not form.detail or row[2] is not place:
                row = known.row = (known.output, form.detail, place, "forward", ())
            events.rows.append(row)
            events.digests.append(digest)
        except Exception as error:  # noqa: BLE001 - as guarded does, without another call
            self.sink.fail(error)

    @guarded
    def _leave(self, known: Known, result: Any) -> None:  # noqa: ANN401
        place = self.places.pop()
        self._last = None
        if self._operators is not None:
            self._operators.leave(known.name)
        phase: Phase = "backward" if self._recorder.backwards else "forward"
        self._recorder.add(known.output, result, place, phase)

    def _result(self, result: torch.Tensor, digest: Digest, form: Form) -> _Result | None:
        if not self.places or result.is_inference():  # which has no version
            return None
        return _Result(ref(result), result._version, digest, form)  # noqa: SLF001

    def drop(self, depth: int) -> None:
        """A forward was left by an exception."""
        del self.places[depth:]
