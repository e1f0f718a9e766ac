"""Hooks on tensors and on nodes of the graph, which the engine runs and calling a node does not."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import FunctionCtx

from guard.observe.patching import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Node = Any
    Values = tuple[torch.Tensor | None, ...]

_KEY = "guard.rehearsal"


def tensor_hooks(node: Node) -> Iterator[tuple[int, Callable[[torch.Tensor], Any]]]:
    """Hooks on the tensors that a node made, or on the leaf that it is for."""
    leaf = getattr(node, "variable", None)
    if leaf is not None:
        yield from ((0, hook) for hook in list((leaf._backward_hooks or {}).values()))  # noqa: SLF001
        return
    for slot, hooks in list(node.metadata.get(_KEY, ())):
        yield from ((slot, hook) for hook in list(hooks.values()))


def before(node: Node, gradients: Values) -> Values:
    """What a node is given, after its own hooks have seen it."""
    for hook in _on(node.register_prehook):
        gradients = _or(hook(gradients), gradients)
    return gradients


def after(node: Node, results: Values, gradients: Values) -> Values:
    """What a node gives, after its own hooks have seen it."""
    for hook in _on(node.register_hook):
        results = _or(hook(results, gradients), results)
    return results


def _on(register: Callable[[Callable[..., None]], Any]) -> list[Callable[..., Any]]:
    """The hooks that are registered: a handle to one more leads to all of them."""
    handle = register(_nothing)
    hooks = handle.hooks_dict_ref() or {}
    handle.remove()
    return list(hooks.values())


def _nothing(*_: object) -> None:
    """Stands among the hooks for a moment."""


def _or(result: Any, otherwise: Values) -> Values:  # noqa: ANN401 - what a hook returns
    if result is None:
        return otherwise
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


@contextmanager
def remembered() -> Iterator[None]:
    """Note hooks on tensors where a node can be asked for them, until the end."""
    with ExitStack() as stack:
        replace(stack, torch.Tensor, "register_hook", _register_hook(torch.Tensor.register_hook))
        replace(stack, torch.Tensor, "retain_grad", _retain_grad(torch.Tensor.retain_grad))
        replace(stack, FunctionCtx, "set_materialize_grads", _set_materialize_grads)
        yield


def _register_hook(original: Callable[..., Any]) -> Callable[..., Any]:
    def register_hook(self: torch.Tensor, hook: Callable[..., Any]) -> Any:  # noqa: ANN401
        handle = original(self, hook)
        node: Any = self.grad_fn
        if node is not None:
            known = node.metadata.setdefault(_KEY, [])
            entry = (self.output_nr, self._backward_hooks)
            if all(each[1] is not entry[1] for each in known):
                known.append(entry)
        return handle

    return register_hook


def _retain_grad(original: Callable[..., Any]) -> Callable[..., Any]:
    def retain_grad(self: torch.Tensor) -> None:
        original(self)
        if self.grad_fn is not None:
            self.register_hook(  # type: ignore[no-untyped-call]  # torch's
                lambda gradient: setattr(self, "grad", gradient.detach())
            )

    return retain_grad


def _set_materialize_grads(self: Any, value: bool) -> None:  # noqa: ANN401
    self.materialize_grads = value
    self._guard_materialize = value  # torch lets nobody read its own
