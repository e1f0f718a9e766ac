"""A rehearsal: the fake device, the backward in Python, and the recorder, put together.

A backward pass runs node by node, without autograd's engine, which asks for a GPU's streams. The
order is the engine's: of the nodes that are ready, the one made last. So gradients add up in the
same order, and are the same to the last bit.
"""

from __future__ import annotations

import heapq
import itertools
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd.function import FunctionCtx
from torch.autograd.graph import GradientEdge, get_gradient_edge

from guard.observe import engine
from guard.observe.patching import around, replace
from guard.rehearsal import cuda_api, kernels, swapping
from guard.rehearsal.fake_cuda import fake_device
from guard.rehearsal.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from guard.rehearsal.fake_cuda import FakeCuda

    Node = Any  # torch has one type for it in the stubs and others at run time
    Gradients = dict[int, torch.Tensor]
    Values = tuple[torch.Tensor | None, ...]

_KEY = "guard.rehearsal"


class Backward:
    """One pass from some outputs, to all leaves or to the given inputs.

    ``observe`` is told each node before it runs.
    """

    def __init__(
        self,
        outputs: Sequence[torch.Tensor | GradientEdge],
        inputs: Sequence[torch.Tensor | GradientEdge],
        *,
        create_graph: bool,
        accumulate: bool,
        observe: Callable[[Node], None],
    ) -> None:
        self._roots = [_edge(each) for each in outputs]
        self._wanted = [_edge(each) for each in inputs]
        self._create_graph = create_graph
        self._accumulate = accumulate
        self._observe = observe
        self._buffers: dict[Node, Gradients] = {}
        self._captured: dict[tuple[Node, int], torch.Tensor] = {}
        self._waiting, order = _explore(node for node, _ in self._roots)
        self._useful = _leading_to({node for node, _ in self._wanted}, order)
        self._ready: list[tuple[int, int, Node]] = []
        self._tie = itertools.count()

    def run(self, gradients: Iterable[torch.Tensor | None]) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the inputs, None for those that no output depends on."""
        with torch.set_grad_enabled(self._create_graph):
            for (node, slot), gradient in zip(self._roots, gradients, strict=True):
                self._hand_to(node, slot, gradient)
            while self._ready:
                self._step(heapq.heappop(self._ready)[2])
        return tuple(self._captured.get(each) for each in self._wanted)

    def _hand_to(self, node: Node, slot: int, gradient: torch.Tensor | None) -> None:
        if gradient is not None:
            buffer = self._buffers.setdefault(node, {})
            gradient = _fitted(gradient, node._input_metadata[slot])  # noqa: SLF001
            buffer[slot] = gradient if slot not in buffer else buffer[slot] + gradient
        self._waiting[node] -= 1
        if not self._waiting[node]:
            heapq.heappush(self._ready, (-node._sequence_nr(), next(self._tie), node))  # noqa: SLF001

    def _step(self, node: Node) -> None:
        gradients = self._buffers.pop(node, {})
        for slot, hook in tensor_hooks(node):
            if slot in gradients:
                changed = hook(gradients[slot])
                gradients[slot] = gradients[slot] if changed is None else changed
        for wanted in self._wanted:
            if wanted[0] is node and wanted[1] in gradients:
                self._captured[wanted] = gradients[wanted[1]]
        results = self._call(node, gradients) if self._runs(node, gradients) else ()
        for (below, slot), result in itertools.zip_longest(node.next_functions, results):
            if below is not None:
                self._hand_to(below, slot, result)

    def _runs(self, node: Node, gradients: Gradients) -> bool:
        if not gradients or (self._wanted and node not in self._useful):
            return False
        if node.next_functions:
            return True
        is_input = any(each is node for each, _ in self._wanted)
        return self._accumulate and (is_input or not self._wanted)

    def _call(self, node: Node, gradients: Gradients) -> Sequence[torch.Tensor | None]:
        self._observe(node)
        given = tuple(gradients.get(slot) for slot in range(len(node._input_metadata)))  # noqa: SLF001
        given = before(node, given)
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            made: Any = node
            results = _of_tensors(node, _tuple(made.apply(*_materialized(node, given))))
        else:
            results = _tuple(node(*given))
        return after(node, results, given)


def _edge(output: torch.Tensor | GradientEdge) -> tuple[Node, int]:
    edge = output if isinstance(output, GradientEdge) else get_gradient_edge(output)
    return edge.node, edge.output_nr


def _explore(roots: Iterable[Node]) -> tuple[dict[Node, int], list[Node]]:
    """How many edges lead to each node, and the nodes, each before those that lead to it."""
    waiting: dict[Node, int] = {}
    order: list[Node] = []
    pending: list[tuple[Node, bool]] = []
    for root in roots:
        waiting[root] = waiting.get(root, 0) + 1
        pending.append((root, False))
    seen: set[Node] = set()
    while pending:
        node, is_done = pending.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            pending.append((node, True))
            for below, _ in node.next_functions:
                if below is not None:
                    waiting[below] = waiting.get(below, 0) + 1
                    pending.append((below, False))
    return waiting, order


def _leading_to(wanted: set[Node], order: Iterable[Node]) -> set[Node]:
    found = set(wanted)
    for node in order:
        if any(below in found for below, _ in node.next_functions):
            found.add(node)
    return found


def _fitted(gradient: torch.Tensor, metadata: Any) -> torch.Tensor:  # noqa: ANN401
    """As the engine hands it on: in the shape and the type of what it is the gradient of."""
    if gradient.layout is torch.strided and tuple(gradient.shape) != tuple(metadata.shape):
        gradient = gradient.sum_to_size(tuple(metadata.shape))
    return gradient if gradient.dtype == metadata.dtype else gradient.to(metadata.dtype)


def _materialized(node: Node, given: tuple[torch.Tensor | None, ...]) -> tuple[Any, ...]:
    if not getattr(node, "_guard_materialize", True):
        return given
    return tuple(
        torch.zeros(tuple(about.shape), dtype=about.dtype, device=about.device)
        if each is None
        else each
        for each, about in zip(given, node._input_metadata, strict=True)  # noqa: SLF001
    )


def _of_tensors(node: Node, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """One result for each edge: a function of one's own also returns one for what is no tensor."""
    needed = [each for each, needs in zip(results, node.needs_input_grad, strict=False) if needs]
    left = iter(needed)
    return tuple(None if below is None else next(left) for below, _ in node.next_functions)


def _tuple(results: Any) -> tuple[Any, ...]:  # noqa: ANN401 - what a backward returns
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


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
        gradients = _otherwise(hook(gradients), gradients)
    return gradients


def after(node: Node, results: Values, gradients: Values) -> Values:
    """What a node gives, after its own hooks have seen it."""
    for hook in _on(node.register_hook):
        results = _otherwise(hook(results, gradients), results)
    return results


def _on(register: Callable[[Callable[..., None]], Any]) -> list[Callable[..., Any]]:
    """The hooks that are registered: a handle to one more leads to all of them."""
    handle = register(_nothing)
    hooks = handle.hooks_dict_ref() or {}
    handle.remove()
    return list(hooks.values())


def _nothing(*_: object) -> None:
    """Stands among the hooks for a moment."""


def _otherwise(result: Any, otherwise: Values) -> Values:  # noqa: ANN401 - what a hook returns
    return otherwise if result is None else _tuple(result)


@contextmanager
def remembered() -> Iterator[None]:
    """Note hooks on tensors where a node can be asked for them, until the end."""
    with ExitStack() as stack:
        around(stack, torch.Tensor, "register_hook")(_register_hook)
        around(stack, torch.Tensor, "retain_grad")(_retain_grad)
        replace(stack, FunctionCtx, "set_materialize_grads", _set_materialize_grads)
        yield


def _register_hook(original: Callable[..., Any], self: torch.Tensor, hook: object) -> Any:  # noqa: ANN401
    handle = original(self, hook)
    node: Any = self.grad_fn
    if node is not None:
        known = node.metadata.setdefault(_KEY, [])
        entry = (self.output_nr, self._backward_hooks)
        if all(each[1] is not entry[1] for each in known):
            known.append(entry)
    return handle


def _retain_grad(original: Callable[..., Any], self: torch.Tensor) -> None:
    original(self)
    if self.grad_fn is not None:
        self.register_hook(  # type: ignore[no-untyped-call]  # torch's
            lambda gradient: setattr(self, "grad", gradient.detach())
        )


def _set_materialize_grads(self: Any, value: bool) -> None:  # noqa: ANN401
    self.materialize_grads = value
    self._guard_materialize = value  # torch lets nobody read its own


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
        stack.enter_context(remembered())
        stack.enter_context(engine.around(_in_python(recorder)))
        around(stack, torch._C, "_current_graph_task_id")(_task)  # noqa: SLF001
        replace(stack, torch, "compile", _eager(recorder))
        kernels.install(stack, recorder, gpu)
        kernels.install_recurrence(stack, recorder)
        kernels.install_ctc(stack)
        cuda_api.install(stack, gpu, devices)
        swapping.install(stack)
        recorder.draws.install(stack)
        mode = stack.enter_context(fake_device(recorder))
        yield recorder, mode


def _in_python(recorder: Recorder) -> Callable[..., Any]:
    def run(original: Callable[..., Any], outputs: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if not any(isinstance(each, (GradientEdge, FakeTensor)) for each in outputs):
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


def _task(original: Callable[[], int]) -> int:
    """Checkpoints ask which backward runs, to compute again once for it."""
    return _running[-1] if _running else original()


def _eager(recorder: Recorder) -> Callable[..., Any]:
    def compile_(model: Any = None, **options: Any) -> Any:  # noqa: ANN401
        recorder.compiled = True
        return model if model is not None else lambda each: compile_(each, **options)

    return compile_
