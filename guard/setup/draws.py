"""The stage for comparing runs: without dropout, or with random tensors drawn on the CPU.

Imported when guard is switched on, as it imports torch.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from guard.dependencies import found_at
from guard.errors import GuardError
from guard.observe import engine
from guard.observe.modes import Mode, Run, draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch._ops import OpOverload

    from guard.settings import Settings

_HOST = torch.device("cpu")
_KERNELS = ("flash", "mem_efficient", "cudnn")  # of attention, on CUDA

_modes: list[WithoutDropout | DrawnOnCpu] = []  # of the blocks that are open


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Enter what the settings ask for; by default nothing, which costs nothing.

    The modes of blocks around this one rest meanwhile: the innermost settings hold.
    """
    with ExitStack() as stack:
        for outer in _modes:
            stack.callback(setattr, outer, "on", outer.on)
            outer.on = False
        if not settings.dropout:
            _keep(stack.enter_context(without_dropout()), stack)
        if settings.rng == "cpu":
            if settings.dropout:
                stack.enter_context(unfused_attention())
            _keep(stack.enter_context(DrawnOnCpu()), stack)
        yield


def _keep(mode: WithoutDropout | DrawnOnCpu, stack: ExitStack) -> None:
    _modes.append(mode)
    stack.callback(_modes.remove, mode)


# Without dropout


class Function(NamedTuple):
    """A function of torch that drops out, and the argument that keeps it from doing so."""

    path: str  # below torch
    argument: str  # its name
    position: int  # where it stands when it is not named
    value: Any  # what it is under ``dropout=False``


# Only these draw for dropout; modules come down to them (torch 2.13, compared by a test).
FUNCTIONS: tuple[Function, ...] = (
    *(
        Function(f"nn.functional.{name}", "training", 2, False)
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")
    ),
    Function("nn.functional.alpha_dropout", "training", 2, False),
    Function("nn.functional.feature_alpha_dropout", "training", 2, False),
    Function("nn.functional.scaled_dot_product_attention", "dropout_p", 4, 0.0),
    Function("nn.functional.multi_head_attention_forward", "dropout_p", 10, 0.0),
    *(
        Function(name + suffix, "train", 2, False)
        for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
        for suffix in ("", "_")
    ),
    Function("native_dropout", "train", 2, False),
    # With packed sequences one argument more comes before it.
    *(Function(name, "dropout", 5, 0.0) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")),
)


@contextmanager
def without_dropout() -> Iterator[WithoutDropout]:
    """Take dropout out of everything that this thread calls, and out of what is recomputed.

    Not out of TorchScript, of other threads' calls, of masks that a program draws itself
    (stochastic depth), or of kernels that are not torch's (flash-attn, xformers). Compiled
    code is compiled anew (torch 2.13; 2.2 goes on with what it compiled before).
    """
    mode = WithoutDropout()

    def run(backward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        # `backward` is a function that a mode sees, and a mode does not see what happens in
        # one: a checkpoint, which calls its part of the model once more.
        with mode:
            return backward(*args, **kwargs)

    with engine.around(run), mode:
        yield mode


class WithoutDropout(TorchFunctionMode):
    """Calls the functions of the table so that they pass their input through."""

    def __init__(self) -> None:
        super().__init__()
        self.on = True
        found = ((found_at(torch, function.path), function) for function in FUNCTIONS)
        self._functions = {call: function for call, function in found if call is not None}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function gives
        del types
        function = self._functions.get(func)
        if function is None or not self.on:
            return func(*args, **(kwargs or {}))
        return func(*_without(function, args), **_named(function, args, kwargs or {}))


def _position(function: Function, args: tuple[Any, ...]) -> int:
    # The packed form has a number of layers where the other one has the probability,
    # and the probability where that one has the flag for training.
    packed = function.argument == "dropout" and len(args) > 6 and not isinstance(args[6], bool)
    return function.position + packed


def _without(function: Function, args: tuple[Any, ...]) -> tuple[Any, ...]:
    position = _position(function, args)
    if len(args) <= position:
        return args
    return (*args[:position], function.value, *args[position + 1 :])


def _named(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if len(args) > _position(function, args):
        return kwargs
    return {**kwargs, function.argument: function.value}


# Drawn on the CPU


class DrawnOnCpu(Mode):
    """Runs the operators that draw random numbers on the CPU, where their result is elsewhere.

    Those are the overloads that torch tags ``nondeterministic_seeded``. A kernel that draws
    for its own dropout cannot be replaced and raises GuardError.
    """

    def __init__(self) -> None:
        super().__init__()
        self.on = True
        self.twins = Twins()

    def ran(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Its result, drawn on the CPU where it draws."""
        device = _device(args, kwargs) if self.on and draws(func) else _HOST
        if device.type in ("cpu", "meta"):
            return func(*args, **kwargs)
        run = Run(func, args, kwargs)
        if _is_composite(func):  # torch hands these over whole in inference mode
            with self:
                return func.decompose(*args, **kwargs)
        drops = _drops(run.named())
        if drops is None:
            return self._draw(run, device)
        if drops:
            raise GuardError(_refusal(func, device))
        return func(*args, **kwargs)

    def _draw(self, run: Run, device: torch.device) -> Any:  # noqa: ANN401
        copies = [(each, _copy(each)) for each in run.written]

        def moved(value: Any) -> Any:  # noqa: ANN401
            for each, copy in copies:
                if value is each:
                    return copy
            return self._moved(value)

        named = {name: moved(each) for name, each in run.kwargs.items()}
        result = run.func(*map(moved, run.args), **named)
        for each, copy in copies:
            if each.shape != copy.shape:  # an `out` is resized
                each.resize_(copy.shape)
            each.copy_(copy)
        return _returned(result, copies, device)

    def _moved(self, value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, torch.Tensor):
            return value.to(_HOST)
        if isinstance(value, torch.Generator) and value.device != _HOST:
            return self.twins.of(value)
        return _HOST if isinstance(value, torch.device) else value


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor on the CPU with the same strides: the order of draws depends on them."""
    copy = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_HOST)
    return copy.copy_(tensor)


def _returned(result: Any, copies: list[Any], device: torch.device) -> Any:  # noqa: ANN401
    if isinstance(result, (tuple, list)):
        return type(result)(_returned(each, copies, device) for each in result)
    for each, copy in copies:
        if result is copy:
            return each
    return result.to(device) if isinstance(result, torch.Tensor) else result


class Twins:
    """For each generator on a device, one on the CPU that starts from the same seed."""

    def __init__(self) -> None:
        self._known: dict[torch.Generator, tuple[torch.Tensor, torch.Generator]] = {}

    def of(self, generator: torch.Generator) -> torch.Generator:
        """Its twin: where it was, or at its start if the generator has been seeded since.

        A generator that had drawn before, or whose state was set, starts from its seed too.
        """
        known = self._known.get(generator)
        if known is None or not torch.equal(known[0], generator.get_state()):
            twin = torch.Generator().manual_seed(generator.initial_seed())
        else:
            twin = known[1]
        # A draw moves it, so that seeding it once more with the same number shows.
        torch.empty(1, device=generator.device).uniform_(generator=generator)
        self._known[generator] = generator.get_state(), twin
        return twin


@cache
def _is_composite(func: OpOverload) -> bool:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001
    return bool(has_kernel(str(func._schema).partition("(")[0], "CompositeImplicitAutograd"))  # noqa: SLF001


def _device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device:
    """Where the result will be; the CPU if nothing says so."""
    if kwargs.get("device") is not None:
        return torch.device(kwargs["device"])
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor) and value.device != _HOST:
            return value.device
    return _HOST


def _drops(given: dict[str, Any]) -> bool | None:
    """Whether a kernel draws for dropout of its own, by its arguments; None if it has none."""
    if given.keys().isdisjoint(("dropout", "dropout_p")):
        return None
    probability = given.get("dropout", given.get("dropout_p", 0.0))
    return bool(probability) and bool(given.get("train", True))


def _refusal(func: OpOverload, device: torch.device) -> str:
    return (
        f'rng="cpu" draws on the CPU, and {func} draws for its dropout inside its kernel on '
        f"{device}: switch cuDNN off for recurrent layers (cudnn=False), call "
        "torch.nn.functional.scaled_dot_product_attention for attention, or take dropout out "
        "(dropout=False)"
    )


@contextmanager
def unfused_attention() -> Iterator[None]:
    """Let attention take torch's own operators: a fused kernel draws its dropout itself."""
    cuda = torch.backends.cuda
    with ExitStack() as stack:
        for kernel in _KERNELS:
            if hasattr(cuda, f"{kernel}_sdp_enabled"):  # cuDNN's since torch 2.5
                switch = getattr(cuda, f"enable_{kernel}_sdp")
                stack.callback(switch, getattr(cuda, f"{kernel}_sdp_enabled")())
                switch(False)
        yield
