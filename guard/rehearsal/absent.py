"""Stand-ins for libraries of GPU kernels that are not installed here: shapes, and no kernels.

Only where the program's own code imports one that Python does not find: a library that asks for
another one takes the way that it has without it. What is not known of a library gives what it is
given, and the report says so.

torchvision's package for CUDA does not load beside a torch for the CPU, and then ``import
torchvision`` fails. It has shapes and gradients of its operators in Python, and needs their
signatures alone.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import inspect
import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from guard.inventory.libraries import LIBRARIES
from guard.inventory.reports import OK
from guard.observe import places
from guard.observe.modes import tensors_in
from guard.observe.patching import when_imported
from guard.rehearsal.findings import DETERMINISTIC, SILENT, SWITCH, UNKNOWN, Verdict
from guard.rehearsal.verdicts import Judgement, LibraryRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import ExitStack

    from guard.rehearsal.recorder import Recorder

    Shape = Callable[..., Sequence[int]]
    Judge = Callable[[str], tuple[str, Judgement]]  # of a direction: an operator, and its verdict

_EXTENSION = "torchvision.extension"
_NOTE = (
    "torchvision's own operators cannot be loaded beside this torch: they were followed by the "
    "shapes that torchvision gives them"
)
_BINS = "SymInt pooled_height, SymInt pooled_width"
_SIZE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_STEPS = "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w"
_GROUPS = "SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
_OF = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
_SCALED = f"float spatial_scale, {_BINS}"
_QUANTIZED = "float input_scale, int input_zero_point, float rois_scale, int rois_zero_point"
_SIGNATURES = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align(Tensor input, Tensor rois, {_SCALED}, int sampling_ratio, bool aligned) -> Tensor",
    (
        f"_roi_align_backward(Tensor grad, Tensor rois, {_SCALED}, {_SIZE}, int sampling_ratio, "
        "bool aligned) -> Tensor"
    ),
    (
        f"qroi_align(Tensor input, Tensor rois, {_QUANTIZED}, {_SCALED}, int sampling_ratio, "
        "bool aligned) -> Tensor"
    ),
    f"roi_pool(Tensor input, Tensor rois, {_SCALED}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_SCALED}, {_SIZE}) -> Tensor",
    f"ps_roi_align(Tensor input, Tensor rois, {_SCALED}, int sampling_ratio) -> (Tensor, Tensor)",
    (
        f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_SCALED}, "
        f"int sampling_ratio, {_SIZE}) -> Tensor"
    ),
    f"ps_roi_pool(Tensor input, Tensor rois, {_SCALED}) -> (Tensor, Tensor)",
    (
        "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, "
        f"{_SCALED}, {_SIZE}) -> Tensor"
    ),
    f"deform_conv2d({_OF}, {_STEPS}, {_GROUPS}) -> Tensor",
    (
        f"_deform_conv2d_backward(Tensor grad, {_OF}, {_STEPS}, {_GROUPS}) -> "
        "(Tensor, Tensor, Tensor, Tensor, Tensor)"
    ),
)
_kept: list[torch.library.Library] = []


def install_vision(stack: ExitStack, recorder: Recorder) -> None:
    """Declare its operators when it is imported and has none, until the stack is closed."""
    stack.callback(when_imported(_EXTENSION, lambda: _declare(recorder)))


def _declare(recorder: Recorder) -> None:

    extension: Any = sys.modules[_EXTENSION]
    if extension._has_ops():  # noqa: SLF001 - what torchvision itself asks
        return
    make: Any = torch.library.Library  # which has no types
    library = make("torchvision", "FRAGMENT")
    for each in _SIGNATURES:
        if not hasattr(torch.ops.torchvision, each.partition("(")[0]):
            library.define(each)
    library.define("_cuda_version() -> int")
    library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")
    extension._has_ops = lambda: True  # noqa: SLF001
    recorder.notes.append(_NOTE)
    _kept.append(library)  # what it declares goes with it


_MODULES = (
    "flash_attn", "flash_attn_interface", "apex", "transformer_engine", "xformers", "deepspeed",
    "triton", "mamba_ssm", "causal_conv1d", "bitsandbytes", "torch_scatter", "torchvision.ops",
)  # fmt: skip
_ROWS = {row.module: row for row in LIBRARIES}
_OPTIMIZERS = ("Adam", "SGD", "LAMB", "Lamb", "LARS", "Lion", "NovoGrad", "Adagrad", "RMSprop")


def install(stack: ExitStack, recorder: Recorder) -> None:
    """Answer for what is not installed, until the stack is closed."""
    finder = _Finder(recorder)
    sys.meta_path.append(finder)
    stack.callback(sys.meta_path.remove, finder)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        parent = sys.modules.get(name.rpartition(".")[0])
        if not _is_stood_in(name):
            return None
        asking = places.caller((__file__, "<frozen")).f_code.co_filename
        if not isinstance(parent, _Module) and not places.is_own(asking):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if "." not in spec.name:
            self._recorder.notes.append(
                f"{spec.name} is not installed here: a stand-in gives what has its shapes"
            )
        return _Module(spec.name, self._recorder)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def _is_stood_in(name: str) -> bool:
    return any(
        f"{each}.".startswith(f"{name}.") or name.startswith(f"{each}.") for each in _MODULES
    )


class _Module(ModuleType):
    """A module of a library that is not there."""

    def __init__(self, name: str, recorder: Recorder) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__version__ = "999.0"  # a new one: programs ask for the least that they need
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the library has there
        path = f"{self.__name__}.{name}"
        if name.startswith("__") or not any(path.startswith(each) for each in _MODULES):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = _made(path, self._recorder)
        setattr(self, name, found)
        return found


def _made(path: str, recorder: Recorder) -> Any:  # noqa: ANN401
    """What stands for a library's function or class."""
    library, name = path.partition(".")[0], path.rpartition(".")[2]
    if library == "triton" and name in _TRITON:
        return _TRITON[name](recorder)
    if library == "apex" and name in _APEX:
        return _APEX[name]
    if name in _SHAPES:
        return _Kernel(path, recorder, _SHAPES[name])
    if name[:1].isupper() and any(each in name for each in _OPTIMIZERS):
        return _optimizer(path, recorder)
    if name in _LAYERS:
        return _layer(path, recorder, _LAYERS[name])
    return _Unknown(path, recorder)


# Kernels


class _Kernel:
    """A function whose result has a shape that follows from what it is given."""

    def __init__(self, path: str, recorder: Recorder, shape: Shape) -> None:
        self.__name__ = path.rpartition(".")[2]
        self._path, self._recorder, self._shape = path, recorder, shape

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        tensors = list(tensors_in((*args, *options.values())))
        shape = self._shape(*args, **options)
        judge = judged(self._path, settled=bool(options.get("deterministic")))
        return _run(judge, self._recorder, tensors, shape)


def _run(
    judge: Judge, recorder: Recorder, tensors: list[torch.Tensor], shape: Sequence[int]
) -> torch.Tensor:
    recorder.count(*judge("forward"))
    apply: Any = _Step.apply
    result: torch.Tensor = apply(judge, recorder, tuple(shape), *tensors)
    recorder.mark()
    return result


class _Step(torch.autograd.Function):
    """A result of a shape, and gradients for all that it was made of."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        judge: Judge,
        recorder: Recorder,
        shape: tuple[int, ...],
        *tensors: torch.Tensor,
    ) -> torch.Tensor:
        ctx.about = judge, recorder
        ctx.save_for_backward(*tensors)
        return tensors[0].new_zeros(shape)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:  # noqa: ANN401
        del gradients
        judge, recorder = ctx.about
        recorder.count(*judge("backward"))
        return (None,) * 3 + tuple(
            torch.zeros_like(each) if each.is_floating_point() else None
            for each in ctx.saved_tensors
        )


def _operator(path: str) -> str:
    return f"{path.partition('.')[0]}::{path.rpartition('.')[2]}"


def judged(path: str, *, settled: bool = False) -> Judge:
    """What the table of libraries says of a kernel, with guard on."""
    library = path.partition(".")[0]
    known = _ROWS.get(library)
    row = LibraryRow(path, known.meaning if known is not None else "")
    verdict: Verdict = UNKNOWN
    if known is not None and (known.verdict == OK or known.variable):
        verdict = SWITCH  # it asks torch, or reads a variable that guard sets
    elif library == "torch_scatter" and not path.endswith("segment_csr"):
        verdict = SILENT

    def judge(direction: str) -> tuple[str, Judgement]:
        if library.startswith("flash_attn"):
            repeats = settled or direction == "forward"
            found = Judgement(DETERMINISTIC) if repeats else Judgement(SILENT, row)
            return _operator(path), found
        return _operator(path), Judgement(verdict, row)

    return judge


def _as_query(q: torch.Tensor, k: Any = None, v: Any = None, *_: Any, **__: Any) -> Sequence[int]:  # noqa: ANN401
    last = v.shape[-1] if isinstance(v, torch.Tensor) and v.dim() == q.dim() else q.shape[-1]
    del k
    return (*q.shape[:-1], last)


def _as_packed(qkv: torch.Tensor, *_: Any, **__: Any) -> Sequence[int]:
    return (*qkv.shape[:-3], *qkv.shape[-2:])


def _as_first(x: torch.Tensor, *_: Any, **__: Any) -> Sequence[int]:
    return x.shape


def _as_regions(
    x: torch.Tensor,
    boxes: Sequence[torch.Tensor] | torch.Tensor,
    output_size: int | Sequence[int] = 7,
    *_: Any,
    **__: Any,
) -> Sequence[int]:
    count = boxes.shape[0] if isinstance(boxes, torch.Tensor) else sum(map(len, boxes))
    size = (output_size, output_size) if isinstance(output_size, int) else output_size
    return (count, x.shape[1], *size)


def _as_scattered(
    src: torch.Tensor,
    index: torch.Tensor,
    dim: int = -1,
    out: torch.Tensor | None = None,
    dim_size: int | None = None,
    *_: Any,
    **__: Any,
) -> Sequence[int]:
    from guard.rehearsal import values

    shape = list(src.shape if out is None else out.shape)
    if out is None:
        known = values.of(index)
        largest = int(known.max()) + 1 if known is not None and known.numel() else shape[dim]
        shape[dim] = largest if dim_size is None else dim_size
    return shape


_SHAPES: dict[str, Shape] = {
    "flash_attn_func": _as_query,
    "flash_attn_varlen_func": _as_query,
    "flash_attn_kvpacked_func": lambda q, *_, **__: q.shape,
    "flash_attn_with_kvcache": lambda q, *_, **__: q.shape,
    "flash_attn_qkvpacked_func": _as_packed,
    "flash_attn_varlen_qkvpacked_func": _as_packed,
    "memory_efficient_attention": _as_query,
    "selective_scan_fn": _as_first,
    "causal_conv1d_fn": _as_first,
    "roi_align": _as_regions,
    "roi_pool": _as_regions,
    "nms": lambda boxes, *_, **__: (max(1, boxes.shape[0] // 2),),
    "scatter": _as_scattered,
    **dict.fromkeys(
        ("scatter_add", "scatter_sum", "scatter_mean", "scatter_mul", "scatter_softmax"),
        _as_scattered,
    ),
}


# Layers and optimizers


def _linear(width: int, out: int, *_: Any, **options: Any) -> torch.nn.Module:
    return torch.nn.Linear(width, out, bias=bool(options.get("bias", True)))


def _norm(shape: Any, *_: Any, **options: Any) -> torch.nn.Module:  # noqa: ANN401
    return torch.nn.LayerNorm(shape, eps=options.get("eps", 1e-5))


def _norm_linear(width: int, out: int, *_: Any, **__: Any) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, out))


def _norm_mlp(width: int, inner: int, *_: Any, **__: Any) -> torch.nn.Module:
    nn = torch.nn
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width)
    )


_LAYERS: dict[str, Callable[..., torch.nn.Module]] = {
    "Linear": _linear,
    "Linear8bitLt": _linear,
    "Linear4bit": _linear,
    "LayerNormLinear": _norm_linear,
    "LayerNormMLP": _norm_mlp,
    **dict.fromkeys(
        ("LayerNorm", "RMSNorm", "FusedLayerNorm", "FusedRMSNorm", "MixedFusedLayerNorm"), _norm
    ),
    "Mamba": lambda d_model, *_, **__: torch.nn.Linear(d_model, d_model),
    "Mamba2": lambda d_model, *_, **__: torch.nn.Linear(d_model, d_model),
}


def _layer(path: str, recorder: Recorder, make: Callable[..., torch.nn.Module]) -> type:
    """A layer of torch's own in the place of a library's."""

    class Layer(torch.nn.Module):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__()
            self.inner = make(*args, **options)

        def forward(self, x: torch.Tensor, *_: Any, **__: Any) -> Any:  # noqa: ANN401
            result = self.inner(x)
            return _run(judged(path), recorder, [result], result.shape)

    Layer.__name__ = Layer.__qualname__ = path.rpartition(".")[2]
    return Layer


def _optimizer(path: str, recorder: Recorder) -> type:
    class Optimizer(torch.optim.AdamW):
        def __init__(self, params: Any, lr: Any = 1e-3, *_: Any, **__: Any) -> None:  # noqa: ANN401
            super().__init__(params, lr=1e-3 if lr is None else lr)

        def step(self, closure: Any = None) -> Any:  # noqa: ANN401
            recorder.count(*judged(path)("forward"))
            return super().step(closure)

    Optimizer.__name__ = Optimizer.__qualname__ = path.rpartition(".")[2]
    return Optimizer


# What is no kernel


class _Unknown:
    """Something of a library of which nobody knows more than its name."""

    def __init__(self, path: str, recorder: Recorder) -> None:
        self.__name__ = path.rpartition(".")[2]
        self._path, self._recorder = path, recorder

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name.startswith("__"):
            raise AttributeError(name)
        return _made(f"{self._path}.{name}", self._recorder)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        del bases
        return (torch.nn.Module,)

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if len(args) == 1 and not options and inspect.isroutine(args[0]):
            return args[0]  # a decorator
        tensors = list(tensors_in((*args, *options.values())))
        if not tensors:
            return self
        self._recorder.guessed(f"{self._path} is not installed, and taken to give its first input")
        unknown = _operator(self._path), Judgement(UNKNOWN)
        return _run(lambda _: unknown, self._recorder, tensors, tensors[0].shape)


class _Launched:
    """A kernel of Triton: ``kernel[grid](...)`` runs, and counts as writing to all it is given."""

    def __init__(self, function: Any, recorder: Recorder) -> None:  # noqa: ANN401
        self.__name__ = getattr(function, "__name__", "kernel")
        self._recorder = recorder

    def __getitem__(self, grid: object) -> Callable[..., None]:
        return self._launch

    def _launch(self, *args: Any, **named: Any) -> None:
        self._recorder.unwritten.fill((*args, *named.values()))
        self._recorder.count(f"triton::{self.__name__}", Judgement(UNKNOWN))


def _jit(recorder: Recorder) -> Callable[..., Any]:
    def jit(function: Any = None, **_: Any) -> Any:  # noqa: ANN401
        if function is None:
            return lambda each: _Launched(each, recorder)
        return _Launched(function, recorder)

    return jit


def _passing(_: Recorder) -> Callable[..., Any]:
    return lambda *_, **__: lambda kernel: kernel


_TRITON: dict[str, Callable[[Recorder], Any]] = {
    "jit": _jit,
    "autotune": _passing,
    "heuristics": _passing,
    "cdiv": lambda _: lambda a, b: -(-a // b),
    "next_power_of_2": lambda _: lambda n: 1 << max(0, n - 1).bit_length(),
}


def _initialize(models: Any, optimizers: Any = None, *_: Any, **__: Any) -> Any:  # noqa: ANN401
    return models if optimizers is None else (models, optimizers)


@contextmanager
def _scale_loss(loss: Any, *_: Any, **__: Any) -> Iterator[Any]:  # noqa: ANN401
    yield loss


_APEX: dict[str, Callable[..., Any]] = {"initialize": _initialize, "scale_loss": _scale_loss}
