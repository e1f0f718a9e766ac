"""Taking dropout out of a program, to compare its runs. Imports torch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from guard.observe import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Function(NamedTuple):
    """A function of torch that drops out, and the argument that keeps it from doing so.

    path      below torch
    argument  its name
    position  where it stands when it is not named
    value     what it is under ``dropout=False``
    """

    path: str
    argument: str
    position: int
    value: Any


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


def _found(path: str) -> Any:  # noqa: ANN401 - a function, or None where this torch has none
    place: Any = torch
    for part in path.split("."):
        place = getattr(place, part, None)
    return place


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
        found = ((_found(function.path), function) for function in FUNCTIONS)
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
