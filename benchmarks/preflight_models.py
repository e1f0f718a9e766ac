"""What preflight says of every model of torchvision, beside what a real step on the CPU runs.

    python benchmarks/preflight_models.py [--work FOLDER] [names ...]

torchvision's wheels load their own operators from a build for CUDA, so they are installed without
dependencies in a folder of their own, and those operators are declared, without kernels. A model
is rehearsed once, under ``repair=True``, which tells what it has replaced and what is left; beside
it, where it is small enough, one real forward and backward on the CPU tell which operators and
nodes it has. Those that stand in the table of operators, whatever their condition, are compared
with what preflight found. Writes benchmarks/PREFLIGHT_MODELS.md; with names, their rows of it;
with ``--rehearse-only`` no real step is run, and the column of it stays as it was.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import guard
from detlint.operations import OPERATIONS
from guard.observe.patching import replace
from guard.rehearsal.findings import FOUND, REPAIRED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.rehearsal.findings import Report

    Losses = dict[str, torch.Tensor]

HERE = Path(__file__).parent
PINNED = ["torchvision==0.28.0", "pillow==12.0.0"]
LARGEST = 120_000_000  # parameters of a model that is also run for real
# What torchvision implements in C++ and registers shapes and backwards for.
_BINS = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_STEPS = (
    "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
    "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
_CONVOLVED = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
_READ = f"(Tensor input, Tensor rois, {_BINS}"
_GIVEN = "(Tensor grad, Tensor rois"
OPERATORS = (
    "_cuda_version() -> int",
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    (
        "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float "
        f"rois_scale, int rois_zero_point, {_BINS}, int sampling_ratio, bool aligned) -> Tensor"
    ),
    f"roi_align{_READ}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool{_READ}) -> (Tensor, Tensor)",
    f"ps_roi_align{_READ}, int sampling_ratio) -> (Tensor, Tensor)",
    f"ps_roi_pool{_READ}) -> (Tensor, Tensor)",
    f"deform_conv2d({_CONVOLVED}, {_STEPS}) -> Tensor",
    f"_roi_align_backward{_GIVEN}, {_BINS}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_pool_backward{_GIVEN}, Tensor argmax, {_BINS}, {_SIZES}) -> Tensor",
    (
        f"_ps_roi_align_backward{_GIVEN}, Tensor channel_mapping, {_BINS}, int sampling_ratio, "
        f"{_SIZES}) -> Tensor"
    ),
    f"_ps_roi_pool_backward{_GIVEN}, Tensor channel_mapping, {_BINS}, {_SIZES}) -> Tensor",
    (
        f"_deform_conv2d_backward(Tensor grad, {_CONVOLVED}, {_STEPS}) -> "
        "(Tensor, Tensor, Tensor, Tensor, Tensor)"
    ),
)
# Wanted sizes that differ from 2 images of 224 by 224.
SHAPES = {
    "inception": (2, 3, 299, 299),
    "quantized_inception": (2, 3, 299, 299),
    "vit_h": (2, 3, 224, 224),
    "mc3": (2, 3, 8, 112, 112),
    "r3d": (2, 3, 8, 112, 112),
    "r2plus1d": (2, 3, 8, 112, 112),
    "s3d": (2, 3, 16, 224, 224),
    "mvit": (2, 3, 16, 224, 224),
    "swin3d": (2, 3, 16, 224, 224),
}
LEFT = "left under `repair=True`"
DETECTORS = ("fasterrcnn", "maskrcnn", "keypointrcnn", "retinanet", "fcos", "ssd")


def install(work: Path) -> None:
    """Put the pinned wheels there, and declare the operators whose kernels do not load."""
    if not (work / "torchvision").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        subprocess.run([*pip, "--target", str(work), *PINNED], check=True)
    sys.path.insert(0, str(work))
    library = torch.library.Library("torchvision", "DEF")
    for schema in OPERATORS:
        library.define(schema)
    library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")
    globals()["library"] = library  # it declares as long as it lives
    with ExitStack() as stack:
        replace(stack, torch.ops, "load_library", lambda _: None)
        import torchvision  # noqa: F401 - it registers shapes and backwards as it is imported


def build(name: str) -> tuple[torch.nn.Module, Callable[[torch.nn.Module], Any]]:
    """A model without weights, and what it gives in training."""
    import torchvision

    options: dict[str, Any] = {"weights": None}
    if name.startswith(DETECTORS) or "deeplab" in name or "fcn" in name or "lraspp" in name:
        options["weights_backbone"] = None
    if name.startswith(("googlenet", "inception", "quantized_goog", "quantized_incep")):
        options["init_weights"] = False
    torch.manual_seed(0)
    model = torchvision.models.get_model(name, **options).train()
    if name.startswith(DETECTORS):
        return model, detect
    if name.startswith("raft"):
        images = torch.rand(2, 3, 128, 128)
        return model, lambda model: model(*[images.to(device_of(model))] * 2)
    shape = next((size for start, size in SHAPES.items() if name.startswith(start)), None)
    images = torch.rand(shape or (2, 3, 224, 224))
    return model, lambda model: model(images.to(device_of(model)))


def device_of(model: torch.nn.Module) -> torch.device:
    """Where its parameters lie."""
    return next(model.parameters()).device


def detect(model: torch.nn.Module) -> Losses:
    """The losses of a detector on two images with two objects each."""
    device = device_of(model)
    boxes = torch.tensor([[10.0, 10, 60, 60], [30, 30, 90, 100]])
    target = {
        "boxes": boxes,
        "labels": torch.tensor([1, 1]),
        "masks": torch.ones(2, 128, 128, dtype=torch.uint8),
        "keypoints": torch.ones(2, 17, 3) * 40,
    }
    target = {name: value.to(device) for name, value in target.items()}
    return model([torch.rand(3, 128, 128, device=device)] * 2, [dict(target) for _ in range(2)])


def tensors(value: object) -> Iterator[torch.Tensor]:
    """All tensors of what a model gives that have a gradient."""
    if isinstance(value, torch.Tensor):
        if value.requires_grad:
            yield value
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors(each)
    elif hasattr(value, "logits"):
        yield from tensors(value.logits)


def rehearsed(model: torch.nn.Module, forward: Callable[[torch.nn.Module], Any]) -> Report:
    """What preflight says of a step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(model: torch.nn.Module) -> None:
        # detlint: ignore[DET304] nothing is computed: it is a rehearsal
        sum(each.float().sum() for each in tensors(forward(model))).backward()
        optimizer.step()

    return guard.preflight(step, model, repair=True)


class Names(TorchDispatchMode):
    """The operators that run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def __torch_dispatch__(  # noqa: ANN204 - as torch calls it
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ):
        self.seen.add(func.name())
        return func(*args, **(kwargs or {}))


def real(model: torch.nn.Module, forward: Callable[[torch.nn.Module], Any]) -> set[str]:
    """Rows of the table whose operators or nodes a real forward has, whatever their condition."""
    with Names() as names:
        loss = sum(each.float().sum() for each in tensors(forward(model)))
    nodes, left = set(), [loss.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            left += [each for each, _ in node.next_functions]
    called = {type(each).__name__ for each in nodes}
    return {
        row.name
        for row in OPERATIONS
        if "cuda" in row.devices
        and not row.name.startswith("torch.sparse")  # by name it is torch.mm
        and (called.intersection(row.nodes) or names.seen.intersection(row.overloads))
    }


def row_of(name: str, *, beside: str = "") -> str:
    """One line of the table; ``beside`` is what a real step has told before, which is not run."""
    started = time.perf_counter()
    try:
        model, forward = build(name)
        size = sum(each.numel() for each in model.parameters())
        report = rehearsed(model, forward)
    except Exception as error:  # noqa: BLE001 - that one breaks is a result
        return f"| {name} | | **{type(error).__name__}: {str(error).splitlines()[0][:90]}** | | | |"
    seconds = time.perf_counter() - started
    told = [
        {each.name or each.operator for each in report.findings if each.verdict in verdicts}
        for verdicts in ((*FOUND, REPAIRED), FOUND)
    ]
    found, left = (", ".join(f"`{each}`" for each in sorted(names)) or "nothing" for names in told)
    if not report.complete:
        found += f" (stopped: {'; '.join(report.limits)[:120]})"
    if not beside:
        beside = compared(model, forward, told[0]) if size <= LARGEST else "not run"
    return f"| {name} | {size / 1e6:.0f} | {seconds:.1f} | {found} | {left} | {beside} |"


def compared(
    model: torch.nn.Module, forward: Callable[[torch.nn.Module], Any], known: set[str]
) -> str:
    """How a real step differs from what was found."""
    try:
        possible = real(model, forward)
    except Exception as error:  # noqa: BLE001 - an operator without a kernel
        return f"not to be run here: {type(error).__name__}"
    rows = known & {each.name for each in OPERATIONS}
    only = [f"only there: `{each}`" for each in sorted(possible - rows)]
    only += [f"not there: `{each}`" for each in sorted(rows - possible)]
    return "; ".join(only) or "the same"


def cells(line: str) -> list[str]:
    """What stands in a row of the table."""
    return [each.strip() for each in line.strip("| ").split("|")]


def main() -> int:
    """Go through the models, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "torchvision")
    parser.add_argument("--rehearse-only", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    install(options.work)
    warnings.simplefilter("ignore")
    import torchvision

    names = options.names or torchvision.models.list_models()
    head = [
        "# What preflight says of torchvision's models",
        "",
        "Written by `python benchmarks/preflight_models.py`; not edited by hand.",
        "",
        f"- {time.strftime('%Y-%m-%d')}, torch {torch.__version__}, {', '.join(PINNED)}, no GPU",
        "- beside it: rows of the table that a real forward on the CPU has by the names of its",
        "  operators and nodes, whatever their condition; beside a GPU: ON_GPU.md",
        "",
        f"| model | million parameters | seconds | found | {LEFT} | beside a real step |",
        "|---|--:|--:|---|---|---|",
    ]
    page = HERE / "PREFLIGHT_MODELS.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    before = {cells(line)[0]: cells(line)[-1] for line in lines if line.startswith("| ")}
    print(*head, sep="\n", flush=True)
    rows = []
    for name in names:
        rows.append(row_of(name, beside=before.get(name, "") if options.rehearse_only else ""))
        print(rows[-1], flush=True)
    known = {cells(line)[0]: line for line in (*lines, *rows)}  # the others stay as they were
    every = torchvision.models.list_models()
    text = [*head, *(known[each] for each in every if each in known)]
    page.write_text("\n".join(text) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
