"""What a rehearsal needs of torch that torch does not promise: asked for in one place.

Where something is missing, in a release to come or one long gone, ``guard.preflight`` traces the
forward alone, on the CPU, and reads the nodes that it leaves.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from guard.dependencies import found_at
from guard.observe import engine
from guard.observe.modes import Mode, Run
from guard.rehearsal import verdicts
from guard.rehearsal.findings import DETERMINISTIC, Finding, Report, where
from guard.rehearsal.recorder import Recorder, finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch._ops import OpOverload

_OF_NODES = ("_input_metadata", "_sequence_nr", "metadata")
# A module and an attribute that must be there, dotted where it lies below a class.
_NEEDED = (
    ("torch._subclasses.fake_tensor", "FakeTensor"),
    ("torch._subclasses.fake_tensor", "FakeTensorMode.avoid_device_init"),
    ("torch._subclasses.fake_tensor", "UnsupportedOperatorException"),
    ("torch._subclasses.fake_tensor", "unset_fake_temporarily"),
    ("torch._C", "_ensureCUDADeviceGuardSet"),
    ("torch._C", "_current_graph_task_id"),
    ("torch._C", "_swap_tensor_impl"),
    ("torch._C._autograd", "_get_sequence_nr"),
    ("torch.autograd.graph", "get_gradient_edge"),
    ("torch.autograd", "Variable._execution_engine"),
)
_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
_REGISTER = "_ZN3c104impl19registerDeviceGuardENS_10DeviceTypeEPKNS0_24DeviceGuardImplInterfaceE"


@cache
def missing() -> tuple[str, ...]:
    """The names that this torch lacks; () where a rehearsal can be whole."""
    return tuple(_missing())


def _missing() -> Iterator[str]:
    for module, path in _NEEDED:
        if not _has(module, path):
            yield f"{module}.{path}"
    node = torch.ones(1, requires_grad=True).neg().grad_fn
    lacking = (name for name in _OF_NODES if not hasattr(node, name))
    yield from (f"torch.autograd.graph.Node.{name}" for name in lacking)
    if torch.version.cuda is None and torch.version.hip is None and slots() is None:
        yield "c10::impl::device_guard_impl_registry"


def _has(module: str, path: str) -> bool:
    with suppress(ImportError):
        return found_at(import_module(module), path) is not None
    return False


@cache
def library() -> Any:  # noqa: ANN401 - a library as ctypes has it
    """Torch's core library, or None where it is not found by its name."""
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    for name in ("libc10.so", "libc10.dylib"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            found = ctypes.CDLL(path)
            return found if hasattr(found, _REGISTER) else None
    return None


@cache
def slots() -> Any:  # noqa: ANN401 - an array of ctypes
    """The guards of devices, one for each type, as torch's core looks them up."""
    found = library()
    return None if found is None else (ctypes.c_void_p * _kinds()).in_dll(found, _REGISTRY)


def _kinds() -> int:
    """So many types of devices that all which are used here are among them."""
    kinds: Any = torch._C._autograd.DeviceType  # noqa: SLF001
    return 1 + max(int(kinds.CUDA), int(kinds.Lazy))


def register(kind: int, guard: int) -> None:
    """Make a guard that of a type of devices."""
    function = getattr(library(), _REGISTER)
    function.argtypes, function.restype = (ctypes.c_int8, ctypes.c_void_p), None
    function(kind, guard)


class _Traced(Mode):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def ran(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Its result, counted."""
        run = Run(func, args, kwargs)
        self._recorder.count(run.name, verdicts.judge(run))
        return func(*args, **kwargs)


def traced(model: Callable[..., Any], inputs: tuple[Any, ...], missing: Sequence[str]) -> Report:
    """What the forward runs, and what the nodes of its graph are known for."""
    from guard.rehearsal.library import tensors_of

    recorder = Recorder()
    with torch.enable_grad(), _buffers_as_found(model), _Traced(recorder):
        result = model(*inputs)
    names = [node.name() for node in engine.nodes(tensors_of(result))]
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
