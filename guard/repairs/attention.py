"""flash-attn's functions, as if all of them were called with ``deterministic=True``.

Their kernels do not pass the dispatcher in every release, and have a deterministic backward of
their own. Whatever calls them comes to a few autograd functions, which keep the argument for their
backward: it is set there. FlashAttention 2, 3 and 4 are alike in it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch

from guard.observe import places
from guard.repairs import accounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from guard.repairs.table import Repair

    Function = Callable[..., Any]
    Refusal = Callable[[Repair, Exception], RuntimeError]


def there(modules: Iterable[str]) -> list[str]:
    """Those of the modules that the program has imported."""
    return [name for name in modules if name in sys.modules]


def unfit(modules: Iterable[str]) -> str:
    """Why a release cannot be asked for a deterministic backward; "" if it can."""
    for name in there(modules):
        if not list(_functions(name)):
            return f"the functions of this {name} take no argument deterministic"
    return ""


def asked(repair: Repair, refusal: Refusal) -> list[Callable[[], None]]:
    """Ask for it in all functions that are there, and give what undoes it."""
    return [
        _ask(function, repair, refusal)
        for name in there(repair.modules)
        for function in _functions(name)
    ]


def _functions(name: str) -> Iterator[Any]:
    for each in vars(sys.modules[name]).values():
        own = isinstance(each, type) and issubclass(each, torch.autograd.Function)
        if own and each.__module__ == name and "deterministic" in _parameters(each):
            yield each


def _parameters(function: Any) -> Iterable[str]:  # noqa: ANN401
    return inspect.signature(function.forward).parameters


def _ask(function: Any, repair: Repair, refusal: Refusal) -> Callable[[], None]:  # noqa: ANN401
    before = {name: vars(function)[name] for name in ("forward", "backward")}
    function.forward = staticmethod(_placed(function.forward))
    function.backward = staticmethod(_deterministic(function.backward, repair, refusal))

    def undo() -> None:
        for name, own in before.items():
            setattr(function, name, own)

    return undo


def _placed(own: Function) -> Function:
    """Keeps the line that calls it, for the account of its backward."""

    @functools.wraps(own)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        trail = places.here(outside=own.__code__.co_filename)
        ctx.guard_place = trail.place if trail is not None else None
        return own(ctx, *args, **kwargs)

    return forward


def _deterministic(own: Function, repair: Repair, refusal: Refusal) -> Function:
    @functools.wraps(own)
    def backward(ctx: Any, *grads: Any) -> Any:  # noqa: ANN401
        begun = perf_counter()
        try:
            _switch_on(ctx)
            return own(ctx, *grads)
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as error:
            raise refusal(repair, error) from error
        finally:
            place = getattr(ctx, "guard_place", None)
            accounts.note(repair.operation, perf_counter() - begun, place)

    return backward


def _switch_on(ctx: Any) -> None:  # noqa: ANN401
    if not hasattr(ctx, "deterministic"):
        raise AttributeError("the function does not keep its argument deterministic")
    ctx.deterministic = True
