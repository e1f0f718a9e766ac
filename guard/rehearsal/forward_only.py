"""Where torch lacks what a rehearsal needs: the forward on the CPU, and the nodes of its graph."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from guard.observe.modes import Mode, Run, tensors_in
from guard.rehearsal import verdicts
from guard.rehearsal.findings import DETERMINISTIC, Finding, Report
from guard.rehearsal.recorder import Recorder, finding, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch._ops import OpOverload


class _Traced(Mode):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def ran(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Its result, counted."""
        run = Run(func, args, kwargs, list(tensors_in(args)))
        self._recorder.count(run.name, verdicts.judge(run))
        return func(*args, **kwargs)


def traced(model: Callable[..., Any], inputs: tuple[Any, ...], missing: Sequence[str]) -> Report:
    """What the forward runs, and what the nodes of its graph are known for."""
    recorder = Recorder()
    with torch.enable_grad(), _buffers_as_found(model), _Traced(recorder):
        result = model(*inputs)
    names = list(_nodes(result))
    backward = [
        finding(name, name, "backward", verdicts.judge_node(name), where(None))._replace(
            times=names.count(name)
        )
        for name in dict.fromkeys(names)
        if verdicts.judge_node(name).verdict != DETERMINISTIC
    ]
    forward: list[Finding] = list(recorder.findings())
    limit = (
        f"torch {torch.__version__} lacks {', '.join(missing)}, so that the step ran on the CPU "
        "with its own memory, forward alone; the backward is told by the nodes of the graph, "
        "without lines"
    )
    return Report(
        findings=(*backward, *forward),
        limits=(limit,),
        operators=recorder.operators,
        torch=torch.__version__,
        complete=False,
    )


@contextmanager
def _buffers_as_found(model: Callable[..., Any]) -> Iterator[None]:
    buffers = list(model.buffers()) if isinstance(model, torch.nn.Module) else []
    before = [each.clone() for each in buffers]
    try:
        yield
    finally:
        with torch.no_grad():
            for each, found in zip(buffers, before, strict=True):
                each.copy_(found)


def _nodes(result: Any) -> Iterator[str]:  # noqa: ANN401 - what a model gives
    from guard.rehearsal.library import tensors_of

    pending = [each.grad_fn for each in tensors_of(result)]
    seen = set()
    while pending:
        node: Any = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            yield node.name()
            pending.extend(below for below, _ in node.next_functions)
