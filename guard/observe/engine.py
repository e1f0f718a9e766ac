"""Autograd's engine, which every backward passes, with something around it."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch, in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from detlint.operations import Operation

# A public function may finish with a mean or a view over the node that counts.
_DEPTH = 12


class _Engine:
    def __init__(self, engine: Any, run: Callable[..., Any]) -> None:  # noqa: ANN401
        self._engine = engine
        self._run = run

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._engine, name)

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as torch has it
        __tracebackhide__ = True
        return self._run(self._engine.run_backward, *args, **kwargs)


@contextmanager
def around(run: Callable[..., Any]) -> Iterator[None]:
    """Have ``run(backward, *args, **kwargs)`` called for each backward, until the end."""
    variable: Any = import_torch("guard").autograd.Variable
    found = variable._execution_engine  # noqa: SLF001 - its one place in all releases
    variable._execution_engine = _Engine(found, run)  # noqa: SLF001
    try:
        yield
    finally:
        variable._execution_engine = found  # noqa: SLF001


def made_by(result: Any, row: Operation) -> Any:  # noqa: ANN401 - torch has no type for a node
    """The node that a call of a row's function put into the graph, on one of the row's
    devices; else None."""
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        node = getattr(tensor, "grad_fn", None)
        if node is None or tensor.device.type not in row.devices:
            continue
        for found, name in _walk(node, _DEPTH):
            if name in row.nodes:
                return found
    return None


def untagged(outputs: Any, rows: Collection[Operation]) -> Iterator[tuple[Any, Operation]]:  # noqa: ANN401
    """Nodes of the rows in the graph below some outputs that no watched call has tagged."""
    wanted = {name: row for row in rows if in_force(row) for name in row.nodes}
    # What differs silently is told as such.
    wanted |= {name: row for row in rows if row.silent and in_force(row) for name in row.nodes}
    for output in outputs:
        start = getattr(output, "grad_fn", None)
        for node, name in _walk(start, None) if start is not None else ():
            if name in wanted and "guard" not in node.metadata:
                node.metadata["guard"] = None
                yield node, wanted[name]


def _walk(start: Any, limit: int | None) -> Iterator[tuple[Any, str]]:  # noqa: ANN401
    seen: set[Any] = set()
    pending = [start]
    while pending and (limit is None or len(seen) < limit):
        node = pending.pop(0) if limit else pending.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node, node.name()
        pending.extend(below for below, _ in node.next_functions if below is not None)


def tell_script_compiler(function: Any, replacement: Any) -> None:  # noqa: ANN401
    """Let ``torch.jit.script`` take a replacement for the built-in function that it calls."""
    builtins: Any = import_module("torch.jit._builtins")
    operator = builtins._find_builtin(function)  # noqa: SLF001
    if operator is not None:
        builtins._register_builtin(replacement, operator)  # noqa: SLF001
