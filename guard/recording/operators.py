"""The operators of one step: what entered each, and what came out."""

from __future__ import annotations

import sys
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.autograd.function import BackwardCFunction
from torch.utils import _python_dispatch

from guard.digests.structures import fingerprint, summary_of
from guard.observe import places
from guard.observe.modes import Mode, Nodes, guarded
from guard.recording.events import source

if TYPE_CHECKING:
    from types import CodeType

    from torch._ops import OpOverload

    from guard.observe.places import Place
    from guard.recording.recorder import Recorder
    from guard.recording.session import Sink
    from guard.trace.model import Phase

_CALLS = BackwardCFunction.apply.__code__  # what a backward of the program's is called by
_UNWRITTEN = bytes(16)
_ALLOCATING = ("empty", "new_empty", "resize_")


class _Made(NamedTuple):
    """Where a node of the graph was made."""

    place: Place | None
    module: str
    inside: bool  # the module that was asked for


class Operators:
    """When operators are recorded, and around which module."""

    def __init__(self, step: int, module: str) -> None:
        self.step = step  # the number of the step
        self.module = module  # "" for all that happens in the step
        self.modules: list[str] = []  # whose forward runs
        self._mode: _Mode | None = None

    def begin(self, recorder: Recorder, number: int) -> None:
        """The recording begins."""
        self.recorder = recorder
        self.step_begins(number)

    def step_begins(self, number: int) -> None:
        """Record from now on, if it is the step."""
        if number == self.step and self._mode is None:
            self._mode = _Mode(self.recorder, self)
            self._mode.__enter__()

    def step_ends(self, number: int) -> None:
        """Record no more, if it was the step."""
        if number == self.step:
            self.leave_all()

    def leave_all(self) -> None:
        """Record no more."""
        mode, self._mode = self._mode, None
        if mode is not None:
            mode.leave()

    def enter(self, name: str) -> None:
        """A module's forward begins."""
        self.modules.append(name)

    def leave(self, name: str) -> None:
        """It has ended; those within that an exception left have, too."""
        if name in self.modules:
            del self.modules[len(self.modules) - 1 - self.modules[::-1].index(name) :]

    @property
    def inside(self) -> bool:
        """Whether the module that was asked for runs."""
        return not self.module or self.module in self.modules


class _Mode(Mode):
    def __init__(self, recorder: Recorder, operators: Operators) -> None:
        super().__init__()
        self.recorder = recorder
        self.sink: Sink = recorder.sink
        self.operators = operators
        self.is_on = True
        self._nodes: Nodes[_Made] = Nodes()

    def leave(self) -> None:
        """Leave the stack of modes, if the program's own have left it."""
        self.is_on = False
        if _python_dispatch._get_current_dispatch_mode() is self:  # noqa: SLF001
            self.__exit__(None, None, None)

    def ran(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Its result, recorded with where it was called."""
        if not self.is_on:
            return func(*args, **kwargs)
        where = self.where()
        if where is None or not where.inside:
            return func(*args, **kwargs)
        name = str(func)
        unwritten = name.partition(".")[2].startswith(_ALLOCATING)
        inputs = b"" if unwritten else self.entering(args, kwargs)
        # the first number of Python's that it was given
        number = next((e for e in (*args, *kwargs.values()) if type(e) is float), None)
        result = func(*args, **kwargs)
        self.done(name, where, (inputs, number), result, unwritten)
        return result

    @guarded
    def where(self) -> _Made | None:
        """Where the operator was called; in a backward of torch's, where its node was made."""
        node = torch._C._current_autograd_node()  # noqa: SLF001
        self.backward = node is not None and not torch.is_grad_enabled()
        if self.backward:
            made = self._nodes.of(node) or _Made(None, "", not self.operators.module)
            written = isinstance(node, BackwardCFunction)  # in Python
            return made._replace(place=_line(_CALLS) or made.place) if written else made
        modules = self.operators.modules
        here = _Made(_line(), modules[-1] if modules else "", self.operators.inside)
        self._nodes.note(lambda: here)
        return here

    @guarded
    def entering(self, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """The digest of what enters: taken first, as an operator may write into it."""
        return fingerprint((args, kwargs) if kwargs else args).digest

    @guarded
    def done(self, name: str, where: _Made, given: Any, result: Any, unwritten: bool) -> None:  # noqa: ANN401
        """It has run."""
        inputs, number = given
        found = fingerprint(result)
        digest, detail, summary = found.digest, found.detail, None
        if unwritten:
            digest, detail = _UNWRITTEN, f"{detail} unwritten"
        elif self.recorder.options.values:
            summary = summary_of(result)
        phase: Phase = "backward" if self.backward else "forward"
        of = source("operator", name, where.module)
        add = self.recorder.operator
        add(of, detail, where.place, digest, number, summary, phase, inputs or None)


def _line(within: CodeType | None = None) -> Place | None:
    """The innermost line that is not torch's; of what a function has called, if one is given."""
    frames = places.outward(sys._getframe(2))  # noqa: SLF001 - the documented way to a frame
    inner = takewhile(lambda each: each.f_code is not within, frames)
    return next(filter(None, map(places.calling, inner)), None)
