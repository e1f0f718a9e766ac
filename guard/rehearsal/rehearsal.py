"""A rehearsal: the fake device, the backward in Python, and the recorder, put together."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd.graph import GradientEdge

from guard.observe import engine
from guard.observe.patching import replace
from guard.rehearsal import backward, cuda_api, kernels, swapping
from guard.rehearsal.backward import Backward
from guard.rehearsal.fake_cuda import fake_device
from guard.rehearsal.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.rehearsal.fake_cuda import FakeCuda

_running: list[int] = []  # of the backward passes that run, one within another


@contextmanager
def rehearsing(
    gpu: str, devices: int = 1, *, seeded: bool = True
) -> Iterator[tuple[Recorder, FakeCuda]]:
    """Record what runs on a CUDA device that is none, until the end."""
    recorder = Recorder(seeded=seeded)
    with ExitStack() as stack:
        # What lies on the CPU is real, and filling it would take the memory that nobody needs.
        memory: Any = torch.utils.deterministic
        stack.callback(
            setattr, memory, "fill_uninitialized_memory", memory.fill_uninitialized_memory
        )
        memory.fill_uninitialized_memory = False  # detlint: ignore[DET305] as above
        stack.enter_context(backward.remembered())
        stack.enter_context(engine.around(_backward(recorder)))
        replace(stack, torch._C, "_current_graph_task_id", _task(torch._C._current_graph_task_id))  # noqa: SLF001
        replace(stack, torch, "compile", _eager(recorder))
        kernels.install(stack, recorder, gpu)
        kernels.install_recurrence(stack, recorder)
        kernels.install_ctc(stack)
        cuda_api.install(stack, gpu, devices)
        swapping.install(stack)
        recorder.host.install(stack)
        mode = stack.enter_context(fake_device(recorder))
        yield recorder, mode


def _backward(recorder: Recorder) -> Callable[..., Any]:
    def run(original: Callable[..., Any], outputs: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if not any(_is_fake(each) for each in outputs):
            return original(outputs, *args, **options)
        if not _running:
            recorder.starts()
            recorder.backwards += 1
        gradients, create_graph, inputs, accumulate = _asked_for(*args, **options)
        found = recorder.node, recorder.creates_graph
        recorder.creates_graph = create_graph
        _running.append(len(_running) + 1)
        try:
            return Backward(
                outputs,
                inputs,
                create_graph=create_graph,
                accumulate=accumulate,
                observe=recorder.enter,
            ).run(gradients)
        finally:
            _running.pop()
            recorder.node, recorder.creates_graph = found

    return run


def _asked_for(
    gradients: Any,  # noqa: ANN401
    keep_graph: bool,
    create_graph: bool,
    inputs: Any = (),  # noqa: ANN401
    *_: bool,
    **options: bool,
) -> tuple[Any, bool, Any, bool]:
    """What the engine is called with, but for what has no part here."""
    del keep_graph
    return gradients, create_graph, inputs, options.get("accumulate_grad", False)


def _is_fake(output: torch.Tensor | GradientEdge) -> bool:
    if isinstance(output, GradientEdge):
        return True
    return isinstance(output, FakeTensor)


def _task(original: Callable[[], int]) -> Callable[[], int]:
    """Checkpoints ask which backward runs, to compute again once for it."""
    return lambda: _running[-1] if _running else original()


def _eager(recorder: Recorder) -> Callable[..., Any]:
    def compile_(model: Any = None, **options: Any) -> Any:  # noqa: ANN401
        recorder.compiled = True
        return model if model is not None else lambda each: compile_(each, **options)

    return compile_
