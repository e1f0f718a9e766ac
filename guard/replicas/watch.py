"""Replicas that are compared every K steps, without a line in the loop."""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from guard.observe.modes import follow_steps
from guard.replicas import check as of_ranks
from guard.replicas.check import (
    History,
    Holding,
    Moment,
    compare,
    digest_of,
    near,
    refuse_shards,
    tensors_of,
    unwrapped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.replicas.check import Named

    Optimizer = torch.optim.Optimizer

# torch says so of a hook for all modules and a compiled one: here the first call is all there is.
_HOOKED_TWICE = r"Using `torch\.compile\(module\)` when there are global hooks on modules"


@contextmanager
def watch_replicas(
    model: torch.nn.Module | None = None,
    *,
    every: int = 100,
    group: Any = None,  # noqa: ANN401 - as for check_replicas
    buffers: bool = False,
    data: bool = True,
) -> Iterator[None]:
    """Inside, ranks are compared before the first step of each optimizer, and every K-th after.

    model    compares all of its parameters, frozen ones too, at the steps of optimizers that hold
             some of them; None: what each optimizer holds
    data     compares what the first module call of such a step was given, too: no two ranks may
             be given the same

    The rest, and what is raised (out of ``optimizer.step()``), is as for ``check_replicas``.
    """
    if every < 1:
        raise ValueError(f"every is 1 or more, not {every}")
    watch = _Watch(model, every, group, buffers, data)
    with ExitStack() as stack:
        follow_steps(stack, watch.before, watch.after)
        stack.callback(watch.deafen)
        if data:
            stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", message=_HOOKED_TWICE)
            watch.listen()
        yield


@dataclass(eq=False)
class _Watch:
    _model: torch.nn.Module | None
    _every: int
    _group: Any
    _buffers: bool
    _data: bool

    def __post_init__(self) -> None:
        self._histories: weakref.WeakKeyDictionary[Optimizer, History] = weakref.WeakKeyDictionary()
        self._running: weakref.ref[Optimizer] | None = None
        self._hook: Any = None
        self._batch: tuple[bytes, str] | None = None

    def before(self, optimizer: Optimizer, *_: object) -> None:
        """An optimizer that another one runs, as ZeroRedundancyOptimizer does, is its affair."""
        outer = self._running() if self._running is not None else None
        if outer is not None and outer is not optimizer:
            return
        self._running = weakref.ref(optimizer)
        tensors = self._held(optimizer)
        if not tensors:
            return
        history = self._histories.setdefault(optimizer, History())
        history.calls += 1
        if (history.calls - 1) % self._every == 0:
            self._compare(optimizer, tensors, history)

    def after(self, optimizer: Optimizer, *_: object) -> None:
        """The step is done; for the next one that is looked at, the batch is wanted."""
        if self._running is None or self._running() is not optimizer:
            return
        self._running = None
        if any(not each.calls % self._every for each in self._histories.values()):
            self.listen()

    def _compare(self, optimizer: Optimizer, tensors: list[Named], history: History) -> None:
        batch, self._batch = self._batch, None  # with a closure, it comes now, for the next look
        ranks = of_ranks.of_group(self._group, near(tensors))
        if ranks is None:
            return
        if self._group is None:
            refuse_shards(tensors)
        moment = Moment(history.calls, f"step {history.calls} of {type(optimizer).__name__}")
        holding = Holding(tensors, batch, name_of if self._model is None else None)
        compare(ranks, holding, history, moment)

    def _held(self, optimizer: Optimizer) -> list[Named]:
        own = [each for group in optimizer.param_groups for each in group["params"]]
        if self._model is None:
            return [(f"parameter {number}", each) for number, each in enumerate(own)]
        tensors = tensors_of(self._model, buffers=self._buffers)
        mine = {id(each) for each in own}
        return tensors if any(id(each) in mine for _, each in tensors) else []

    def listen(self) -> None:
        """Take the next batch that a module is given."""
        if self._data and self._hook is None:
            self._hook = register_module_forward_pre_hook(self._given)

    def deafen(self) -> None:
        """Take no more: each call of a module pays for it."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _given(self, module: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
        if torch.compiler.is_compiling() or not torch.is_grad_enabled():
            return
        if self._model is not None and unwrapped(module) is not unwrapped(self._model):
            return
        given = arguments, _keywords()
        if _has_tensor(given):
            self.deafen()
            self._batch = digest_of(given)


def _keywords() -> dict[str, Any]:
    """Those that the module was called with: hooks for all modules are not told."""
    frame = sys._getframe(2)  # noqa: SLF001 - the documented way to a frame
    variables = frame.f_locals
    found = variables.get("kwargs")
    if sys.version_info < (3, 13):
        variables.clear()  # a copy, which would live as long as the frame
    return found if isinstance(found, dict) else {}


def _has_tensor(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_tensor, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensor, value))
    return isinstance(value, torch.Tensor) and value.numel() > 0


def name_of(tensor: torch.Tensor) -> str:
    """In the outermost model that holds it; "" where none does.

    It looks at every object of the process: that is for an error's text.
    """
    named = (each.named_parameters() for each in _modules())
    found = (name for held in named for name, each in held if each is tensor)
    return max(found, key=lambda name: (name.count("."), len(name)), default="")


def _modules() -> list[torch.nn.Module]:
    """Models as they are without what wraps them; by type, as some objects lie about theirs."""
    return [
        each
        for each in gc.get_objects()
        if issubclass(type(each), torch.nn.Module) and unwrapped(each) is each
    ]
