"""Seeing each operator that torch runs, without disturbing the program."""

from __future__ import annotations

import functools
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._python_dispatch import TorchDispatchMode

from guard.observe.patching import around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch._ops import OpOverload


_functions = torch._C._len_torch_function_stack  # noqa: SLF001 - modes, such as a default device
modes = torch._C._len_torch_dispatch_stack  # noqa: SLF001 - no other way
state = torch._C._get_tracing_state  # noqa: SLF001 - of torch.jit.trace
_mode = torch._C._get_dispatch_mode  # noqa: SLF001
_keys = torch._C._TorchDispatchModeKey  # noqa: SLF001
_transforms = torch._C._functorch.peek_interpreter_stack  # noqa: SLF001 - of torch.func
_DispatchMode: Any = TorchDispatchMode
Result = TypeVar("Result")
_NODES = 4  # that one operator makes, at most: one in place makes one for the copy it keeps, too


class Mode(_DispatchMode):  # type: ignore[misc]  # torch gives it no types
    """Hands each operator to ``ran``, which runs it and gives its result."""

    def ran(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """The result of an operator."""
        raise NotImplementedError

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the operator gives
        del types
        return self.ran(func, args, kwargs or {})


@contextmanager
def plainly() -> Iterator[None]:
    """Past autograd, the program's modes and the transformations of ``torch.func``."""
    from torch.utils._python_dispatch import _disable_current_modes

    with ExitStack() as stack:
        if _transforms() is not None:
            # torch 2.2 has none: a recording stops there where functions are transformed.
            from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

            stack.enter_context(temporarily_clear_interpreter_stack())
        stack.enter_context(torch._C.DisableTorchFunctionSubclass())  # noqa: SLF001
        stack.enter_context(_disable_current_modes())
        stack.enter_context(torch.no_grad())
        yield


def past_modes(work: Callable[..., Result], *given: Any) -> Result:
    """What a function gives ``plainly``, at a tenth of the price where no more is in its way than
    autograd: that is, plain tensors and none of the program's modes."""
    if modes() or _transforms() is not None:
        with plainly():
            return work(*given)
    learns = torch.is_grad_enabled()
    torch._C._set_grad_enabled(False)  # noqa: SLF001 - as torch.no_grad does
    try:
        return work(*given)
    finally:
        torch._C._set_grad_enabled(learns)  # noqa: SLF001


def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    """Past the program's modes; an error of ours ends the recording, and not the program."""

    @functools.wraps(method)
    def call(self: Any, *args: Any) -> Any:  # noqa: ANN401 - what has a sink
        try:
            if _functions():
                with torch._C.DisableTorchFunction():  # noqa: SLF001
                    return method(self, *args)
            return method(self, *args)
        except Exception as error:  # noqa: BLE001 - the one place for all that is recorded
            self.sink.fail(error)
            return None

    return call


def is_traced() -> bool:
    """Whether the tensors at hand may hold nothing."""
    if state() is not None:
        return True
    if not modes():
        return False
    return any(_mode(each) is not None for each in (_keys.FAKE, _keys.PROXY, _keys.FUNCTIONAL))


class Nodes(Generic[Result]):
    """Where the nodes of autograd's graph were made, as their backward has no line of its own."""

    def __init__(self) -> None:
        self._made: dict[int, Result] = {}
        self._last = -1

    def note(self, here: Callable[[], Result]) -> None:
        """Where the program is now, for the nodes that it has made since the last time."""
        made = torch._C._autograd._get_sequence_nr() - 1  # noqa: SLF001
        if made != self._last and torch.is_grad_enabled():
            at = here()
            for each in range(max(self._last + 1, made - _NODES), made + 1):
                self._made[each] = at
            self._last = made

    def of(self, node: Any) -> Result | None:  # noqa: ANN401
        """Where a node was made."""
        return self._made.get(node._sequence_nr())  # noqa: SLF001


@dataclass(frozen=True)
class Run:
    """An operator and what it was called with."""

    func: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @cached_property
    def tensors(self) -> list[torch.Tensor]:
        """Those among the arguments, also within lists."""
        return list(tensors_in((*self.args, *self.kwargs.values())))

    @property
    def name(self) -> str:
        return name_of(self.func)

    @property
    def draws(self) -> bool:
        """Whether it takes random numbers from a generator."""
        return draws(self.func)

    @property
    def is_mutable(self) -> bool:
        return bool(self.func._schema.is_mutable)  # noqa: SLF001

    @property
    def written(self) -> list[torch.Tensor]:
        """The tensors among the arguments that the operator writes to."""
        if not self.is_mutable:
            return []
        found = []
        for position, argument in enumerate(self.func._schema.arguments):  # noqa: SLF001
            if argument.alias_info is not None and argument.alias_info.is_write:
                given = self.args[position : position + 1] or (self.kwargs.get(argument.name),)
                found += list(tensors_in(given))
        return found

    def named(self) -> dict[str, Any]:
        """The arguments by their names; those that are left out have their defaults."""
        given: dict[str, Any] = {}
        for position, argument in enumerate(self.func._schema.arguments):  # noqa: SLF001
            if position < len(self.args):
                given[argument.name] = self.args[position]
            else:
                given[argument.name] = self.kwargs.get(argument.name, argument.default_value)
        return given


@functools.cache
def draws(func: OpOverload) -> bool:
    """Whether an operator draws random numbers, by torch's own tag."""
    # It carries the tag and draws nothing: it chooses a kernel by the device.
    if func is torch.ops.aten._fused_sdp_choice.default:  # noqa: SLF001 - its name
        return False
    return torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())


def name_of(func: OpOverload) -> str:
    """An operator's name: "aten::median.dim"."""
    return str(func.name())  # type: ignore[no-untyped-call]  # torch's


def tensors_in(value: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - a tuple, or a list
    """The tensors in a sequence, and in sequences within it."""
    for each in value:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, (tuple, list)):
            yield from tensors_in(each)


def follow_steps(
    stack: ExitStack, before: Callable[..., Any], after: Callable[..., None] | None = None
) -> None:
    """Have functions called around each step of every optimizer, until the stack is closed.

    before  with the optimizer and its arguments; it may give others, as torch's own hooks may
    after   with the optimizer
    """
    stack.callback(register_optimizer_step_pre_hook(before).remove)
    if after is not None:
        stack.callback(register_optimizer_step_post_hook(after).remove)


def follow_making(stack: ExitStack, made: Callable[[Any], None]) -> None:
    """Have a function called with each optimizer that is made, before it is filled."""

    @around(stack, torch.optim.Optimizer, "__init__")
    def _(init: Callable[..., None], optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        made(optimizer)
        init(optimizer, *args, **kwargs)
