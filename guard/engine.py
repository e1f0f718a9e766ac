"""Autograd's engine, which every backward passes, with something around it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from guard.dependencies import import_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
