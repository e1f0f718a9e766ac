"""Autograd's engine, which every backward passes, with something around it."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch, in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

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
        if getattr(tensor, "grad_fn", None) is not None and tensor.device.type in row.devices:
            for node in islice(nodes([tensor]), _DEPTH):
                if node.name() in row.nodes:
                    return node
    return None


def untagged(outputs: Any, rows: Collection[Operation]) -> Iterator[tuple[Any, Operation]]:  # noqa: ANN401
    """Nodes of the rows in the graph below some outputs that no watched call has tagged."""
    wanted = {name: row for row in rows if in_force(row) for name in row.nodes}
    # What differs silently is told as such.
    wanted |= {name: row for row in rows if row.silent and in_force(row) for name in row.nodes}
    for node in nodes(outputs):
        name = node.name()
        if name in wanted and "guard" not in node.metadata:
            node.metadata["guard"] = None
            yield node, wanted[name]


def nodes(outputs: Iterable[Any]) -> Iterator[Any]:
    """The nodes of the graph below some outputs, nearest first."""
    starts = (getattr(each, "grad_fn", None) for each in outputs)
    pending = list(dict.fromkeys(each for each in starts if each is not None))
    seen = set(pending)
    for node in pending:
        yield node
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                pending.append(below)


def tell_script_compiler(function: Any, replacement: Any) -> None:  # noqa: ANN401
    """Let ``torch.jit.script`` take a replacement for the built-in function that it calls."""
    builtins: Any = import_module("torch.jit._builtins")
    operator = builtins._find_builtin(function)  # noqa: SLF001
    if operator is not None:
        builtins._register_builtin(replacement, operator)  # noqa: SLF001
