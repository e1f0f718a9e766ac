"""What guard says of a GPU, beside what one does: models, replacements, costs.

    python benchmarks/on_gpu.py PART... --results FOLDER
    python benchmarks/on_gpu.py --page --results FOLDER

A part is one of ``models``, ``replacements``, ``silent``, ``layers``, ``steps`` and ``recording``.
Each writes its rows to a file of the folder, so that a part can be measured again by itself;
``--page`` puts all of them together in benchmarks/ON_GPU.md, which needs no GPU.

- models: what preflight predicts on fake tensors, what a survey sees on the GPU, what is refused
  first, and of three trainings how many end with other bits, plain and under ``repair=True``
- replacements: the operators of repair_programs.py, as repairs.py has them on the CPU
- silent: calls that the table says differ without a word, repeated
- layers: layers, losses and operators by themselves, repeated with nothing set, in two processes
- steps, recording: a training step under each setting over one with nothing set
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import multiprocessing
import os
import platform
import statistics
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from gpu_layers import REPEATS as LAYERED
from gpu_layers import rows as layered_rows
from gpu_models import NAMES, made
from guard_costs import compared, ratio
from guard_step import bare
from preflight_models import tensors
from recording import convolutions, layered
from recording import step_of as recorded_step
from repair_programs import PROGRAMS
from repairs import Call, bytes_of, caught, copied, in_float64, largest_error, row_of, switched
from torch.utils._pytree import tree_flatten, tree_map

import guard
from guard.refusals import silence
from guard.repairs import installation
from guard.repairs.table import REPAIRS
from guard.setup.seeding import seed_everything

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    Row = dict[str, Any]

HERE = Path(__file__).parent
KEYS = ("CUDA", "SparseCUDA", "SparseCsrCUDA")
WORKERS, TRAININGS, REPEATS = 6, 3, 10
# Steps before a round of recording. CPython specialises its code anew; in all, there are fewer
# than the 50 after which parameters and states are recorded again.
SETTLING = 25
ASLEEP = 20_000_000  # cycles for which the GPU waits, while what it is to do is queued


# Models


def train(model: Any, forward: Any, state: dict[str, torch.Tensor], steps: int = 2) -> str:  # noqa: ANN401
    """A digest of what a model holds after some steps from a state."""
    model.load_state_dict(state)
    seed_everything(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(forward(model)).backward()
        optimizer.step()
    found = hashlib.sha256()
    for each in model.state_dict().values():
        found.update(each.detach().float().cpu().numpy().tobytes())
    return found.hexdigest()


def loss_of(result: object) -> torch.Tensor:
    """The sum of what has a gradient."""
    return torch.stack([each.float().sum() for each in tensors(result)]).sum()


def model_row(library: str, name: str) -> Row:
    """What is predicted of a model, and what happens."""
    warnings.simplefilter("ignore")
    row: Row = {"library": library, "name": name}
    try:
        model, forward = made(library, name)
        row["parameters"] = sum(each.numel() for each in model.parameters())
        row |= predicted(model, forward)
        model.cuda()
        row |= seen(model, forward, {k: v.clone() for k, v in model.state_dict().items()})
    except Exception as error:  # noqa: BLE001 - that one breaks is a result
        row["error"] = f"{type(error).__name__}: {str(error)[:300]}"
    return row


def predicted(model: Any, forward: Any) -> Row:  # noqa: ANN401
    """Names of the operators that preflight finds, by verdict."""

    def step(model: Any) -> None:  # noqa: ANN401
        loss_of(forward(model)).backward()

    started = time.perf_counter()
    report = guard.preflight(step, model)
    return {
        "seconds": time.perf_counter() - started,
        "complete": report.complete,
        "limits": list(report.limits),
        "raises": names_of(report, "raises"),
        "silent": names_of(report, "silent"),
        "unknown": names_of(report, "unknown"),
        "left": sorted({each.name for each in guard.preflight(step, model, repair=True).found}),
    }


def names_of(report: Any, verdict: str) -> list[str]:  # noqa: ANN401
    """The operators with a verdict."""
    found = (each for each in report.findings if each.verdict == verdict)
    return sorted({each.name or each.operator for each in found})


def seen(model: Any, forward: Any, state: dict[str, torch.Tensor]) -> Row:  # noqa: ANN401
    """What the GPU does: under a survey, strictly, plainly, and with replacements."""
    with guard.survey() as found:
        train(model, forward, state, 1)
    surveyed = {each.operation.name if each.operation else each.name: each for each in found}
    row: Row = {
        "surveyed": sorted(surveyed),
        "placeless": sorted(name for name, each in surveyed.items() if each.place is None),
        "first": "",
    }
    try:
        with guard.deterministic(seed=0):
            train(model, forward, state, 1)
    except guard.NondeterministicOperationError as error:
        row["first"] = str(error).partition("\n")[0]
    row["plain"] = results(model, forward, state, nullcontext)
    row["repaired"] = results(
        model, forward, state, lambda: guard.deterministic(seed=0, repair=True)
    )
    return row


def results(
    model: Any,  # noqa: ANN401
    forward: Any,  # noqa: ANN401
    state: dict[str, torch.Tensor],
    context: Callable[[], AbstractContextManager[Any]],
) -> int | str:
    """How many different ones some trainings have, or what they end with."""
    try:
        with context():
            return len({train(model, forward, state) for _ in range(TRAININGS)})
    except Exception as error:  # noqa: BLE001 - as above
        return f"{type(error).__name__}: {str(error)[:300]}"


def models() -> Iterator[Row]:
    """All of them, several at a time."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=spawn) as pool:
        pending = [pool.submit(model_row, *each) for each in NAMES]
        for each in pending:
            yield each.result()


# Replacements


def replacements() -> Iterator[Row]:
    """Each operator, torch's own kernel and the replacement."""
    for package in ("torchvision", "torch_scatter"):
        with suppress(ImportError, OSError, RuntimeError):
            importlib.import_module(package)
    for program in PROGRAMS:
        row: Row = {"operation": program.operation, "title": program.title}
        if not installation.present(row_of(program)):
            continue
        try:
            row |= replaced(program)
        except Exception as error:  # noqa: BLE001 - as above
            row["error"] = f"{type(error).__name__}: {str(error)[:300]}"
        torch.cuda.empty_cache()
        yield row


def replaced(program: Any) -> Row:  # noqa: ANN401
    """Results, errors, times and memory of both."""
    rows = tuple(each for each in REPAIRS if each.operation == program.operation)
    with torch.device("cuda"):
        call = caught(program)
    row: Row = {}
    with torch.no_grad():
        exact = in_float64(call)
        size = max(bytes_of((call.args, call.kwargs, exact)), 1)
        with switched(on=False):
            expected = call.anew()
            row["own"] = figures(call, exact, size)
        with switched(on=True), installation.installed(rows, keys=KEYS):
            row["apart"] = largest_error(call.anew(), expected)
            row["ours"] = figures(call, exact, size)
    return row


def figures(call: Any, exact: Any, size: int) -> Row:  # noqa: ANN401
    """Of one kernel; what writes to its arguments is timed on others."""
    found = call.anew()
    digests = {digest(call.anew()) for _ in range(REPEATS)}
    call = Call(call.overload, *tree_map(copied, (call.args, call.kwargs)))
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = call()
    memory = (torch.cuda.max_memory_allocated() - before) / size
    del result
    for _ in range(3):
        call()
    return {
        "results": len(digests),
        "error": largest_error(found, exact),
        "memory": memory,
        "wall": wall(call),
        "gpu": on_gpu(call),
    }


def digest(result: Any) -> str:  # noqa: ANN401
    """Of all tensors of a result."""
    found = hashlib.sha256()
    for each in tree_flatten(result)[0]:
        if isinstance(each, torch.Tensor):
            dense = each.to_dense() if each.layout != torch.strided else each
            found.update(dense.detach().cpu().numpy().tobytes())
    return found.hexdigest()


def wall(call: Callable[[], object], times: int = 5) -> float:
    """Seconds of a call among others, to the end of the last; the fastest of some rounds."""
    return min(once(call, times) for _ in range(3))


def once(call: Callable[[], object], times: int) -> float:
    """Seconds of a call among others in one round."""
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(times):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begun) / times


def on_gpu(call: Callable[[], object], times: int = 5) -> float:
    """Seconds of the GPU for a call, which is queued before it begins."""

    def once() -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(ASLEEP)  # noqa: SLF001
        start.record()
        for _ in range(times):
            call()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / times / 1000

    return min(once() for _ in range(3))


# What torch lets pass


def silent() -> Iterator[Row]:
    """Calls that rows of the table call silent: how many results 30 runs have, with the switch."""
    torch.use_deterministic_algorithms(True)
    for name, call in SILENT.items():
        torch.manual_seed(0)
        row: Row = {"call": name}
        try:
            run = call()
            row["results"] = len({digest(run()) for _ in range(30)})
        except Exception as error:  # noqa: BLE001 - as above
            row["error"] = f"{type(error).__name__}: {str(error)[:300]}"
        yield row


def _graded(function: Callable[..., Any], *shapes: tuple[int, ...], **options: Any) -> Any:  # noqa: ANN401
    """Runs with the same inputs: the gradients of the first."""

    def made() -> Callable[[], Any]:
        inputs = [torch.rand(each, device="cuda").requires_grad_() for each in shapes]
        grad = torch.randn_like(function(*inputs, **options))

        def run() -> Any:  # noqa: ANN401
            return torch.autograd.grad(function(*inputs, **options), inputs[0], grad)

        return run

    return made


def _given(function: Callable[..., Any], *arguments: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Runs of a function with what was made once."""

    def made() -> Callable[[], Any]:
        values = [each() for each in arguments]
        return lambda: function(*values)

    return made


def _drawn(*shape: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.randn(shape, device="cuda")


def _sparse(layout: str) -> Callable[[], torch.Tensor]:
    def made() -> torch.Tensor:
        places = torch.randint(20_000, (2, 400_000), device="cuda")
        numbers = torch.rand(400_000, device="cuda")
        matrix = torch.sparse_coo_tensor(places, numbers, (20_000, 20_000))
        return matrix.coalesce() if layout == "coo" else matrix.coalesce().to_sparse_csr()

    return made


def _recurrent() -> Callable[[], Any]:
    layer = torch.nn.LSTM(256, 256, 3, dropout=0.5).cuda()
    batch = torch.randn(100, 64, 256, device="cuda")

    def run() -> Any:  # noqa: ANN401
        torch.manual_seed(1)
        layer.zero_grad()
        layer(batch)[0].square().sum().backward()
        return [each.grad.clone() for each in layer.parameters()]

    return run


SILENT: dict[str, Callable[[], Callable[[], Any]]] = {
    "topk of 64 rows of 100,000 numbers, 4 different ones": _given(
        lambda x: x.topk(50), lambda: torch.randint(4, (64, 100_000), device="cuda").float()
    ),
    "topk of 8,192 rows of 64 numbers, 4 different ones": _given(
        lambda x: x.topk(2), lambda: torch.randint(4, (8192, 64), device="cuda").float()
    ),
    "cumprod of 10,000,000 numbers near 1": _given(
        lambda x: x.cumprod(0), lambda: 1 + torch.randn(10_000_000, device="cuda") / 10_000
    ),
    "logcumsumexp of 10,000,000 numbers": _given(lambda x: x.logcumsumexp(0), _drawn(10_000_000)),
    "cumsum of 10,000,000 numbers": _given(lambda x: x.cumsum(0), _drawn(10_000_000)),
    "sparse.mm, coo, 400,000 of 20,000 x 20,000": _given(
        torch.sparse.mm, _sparse("coo"), _drawn(20_000, 64)
    ),
    "sparse.mm, csr, the same": _given(torch.sparse.mm, _sparse("csr"), _drawn(20_000, 64)),
    "three layers of LSTM with dropout, the gradients": _recurrent,
    "adaptive_max_pool3d, 16 x 28 x 28 to 9 x 15 x 15, the gradient": _graded(
        torch.nn.functional.adaptive_max_pool3d, (8, 64, 16, 28, 28), output_size=(9, 15, 15)
    ),
    "grid_sample by cuDNN, the gradient": _graded(
        lambda x, grid: torch.nn.functional.grid_sample(x, grid * 2 - 1, align_corners=True),
        (8, 64, 32, 32),
        (8, 96, 96, 2),
    ),
}


# Layers by themselves


def layers() -> Iterator[Row]:
    """Each with how many results its runs have, in one process and in another."""
    spawn = multiprocessing.get_context("spawn")
    found = []
    for _ in range(2):
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            found.append(pool.submit(layered_rows).result())
    for pair in zip(*found, strict=True):
        both = {kind: [each[kind] for each in pair] for kind in ("float32", "bfloat16")}
        yield {"layer": pair[0]["layer"], **both}


# Costs


def settings() -> dict[str, Callable[[], AbstractContextManager[Any]]]:
    """What a step runs under."""
    return {
        "nothing set": nullcontext,
        "torch's switch, fill off": lambda: bare(fill=False),
        "torch's switch": lambda: bare(fill=True),
        "guard, fill=False": lambda: guard.deterministic(seed=0, fill=False),
        "guard": lambda: guard.deterministic(seed=0),
        "guard, repair=True": lambda: guard.deterministic(seed=0, repair=True),
        "guard.survey()": guard.survey,
    }


def finished(step: Callable[[], None]) -> Callable[[], None]:
    """A step to its end on the GPU."""

    def run() -> None:
        step()
        torch.cuda.synchronize()

    return run


def resnet(batch: int) -> Callable[[], None]:
    """A step of ResNet-50 on images of 224 by 224."""
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet50(weights=None)
    return recorded_step(model, batch, 224, "cuda")


def stepping() -> dict[str, tuple[Callable[[], Callable[[], None]], int, int, int]]:
    """Steps by name: how they are made, rounds, steps of a round, steps before them."""
    return {
        "convolutions; batch 2 of 8x8": (
            lambda: recorded_step(convolutions(), 2, 8, "cuda"), 6, 40, 70,
        ),
        "100 modules; batch 32 of 32x32": (
            lambda: recorded_step(layered(), 32, 32, "cuda"), 6, 40, 70,
        ),
        "ResNet-50; batch 32 of 224x224": (lambda: resnet(32), 7, 10, 3),
    }  # fmt: skip


def refusal(step: Callable[[], None], context: Callable[[], Any]) -> str:
    """What torch says to a step under a setting; "" if it lets it pass."""
    try:
        with context():
            step()
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


def steps() -> Iterator[Row]:
    """A step with each setting over one with nothing set."""
    for name, (make, rounds, count, settling) in stepping().items():
        step = finished(make())
        refused = {name: said for name, each in settings().items() if (said := refusal(step, each))}
        usable = {name: each for name, each in settings().items() if name not in refused}
        times = compared(usable, step, rounds, count, settling)
        yield {
            "step": name,
            "milliseconds": statistics.median(times["nothing set"]) * 1000,
            "times": {each: ratio(times, each, "nothing set") for each in usable},
            "over the switch": {
                each: ratio(times, f"guard{each}", f"torch's switch{own}")
                for each, own in (("", ""), (", fill=False", ", fill off"))
                if f"guard{each}" in usable and f"torch's switch{own}" in usable
            },
            "refused": refused,
        }


def recording() -> Iterator[Row]:
    """A step with and without recording."""
    import torchvision

    made_by = {
        "convolutions; batch 2 of 8x8": (convolutions, 2, 8, 20),
        "convolutions; batch 32 of 32x32": (convolutions, 32, 32, 20),
        "100 modules; batch 32 of 32x32": (layered, 32, 32, 20),
        "ResNet-50; batch 32 of 224x224": (
            lambda: torchvision.models.resnet50(weights=None), 32, 224, 8,
        ),
    }  # fmt: skip
    for name, (make, batch, width, count) in made_by.items():
        torch.manual_seed(0)
        step = recorded_step(make(), batch, width, "cuda")
        times = recorded(step, count)
        plain = launched(step)
        with tempfile.TemporaryDirectory() as folder, guard.record(folder):
            for _ in range(4):
                step()
            within = launched(step)
        yield {"step": name, **times, "kernels": [plain, within]}


def recorded(step: Callable[[], None], count: int) -> Row:
    """The median of the ratios of rounds that follow each other."""
    plain, ratios = [], []
    for number in range(5):
        once(step, SETTLING)
        before = once(step, count)
        with tempfile.TemporaryDirectory() as folder, guard.record(folder):
            once(step, SETTLING)
            within = once(step, count)
        if number:
            plain.append(before)
            ratios.append(within / before)
    return {"milliseconds": statistics.median(plain) * 1000, "times": statistics.median(ratios)}


def launched(step: Callable[[], None], steps: int = 3) -> float:
    """The kernels that a step launches."""
    with torch.profiler.profile() as found:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    launches = ("cudaLaunchKernel", "cuLaunchKernel")  # and their extended forms
    events = [each for each in found.key_averages() if each.key.startswith(launches)]
    return sum(each.count for each in events) / steps


PARTS: dict[str, Callable[[], Iterable[Row]]] = {
    "models": models,
    "replacements": replacements,
    "silent": silent,
    "layers": layers,
    "steps": steps,
    "recording": recording,
}


def about() -> Row:
    """Where it was measured."""
    return {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
    }


# The page


def page(results: Path) -> Iterator[str]:
    """All parts that have been measured."""
    yield "# What guard says of a GPU, beside one"
    yield ""
    yield "Written by `python benchmarks/on_gpu.py`; not edited by hand."
    for part, render in (
        ("models", shown_models),
        ("replacements", shown_replacements),
        ("silent", shown_silent),
        ("layers", shown_layers),
        ("steps", shown_steps),
        ("recording", shown_recording),
    ):
        path = results / f"{part}.jsonl"
        if path.exists():
            where, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            yield ""
            yield from render(rows, "{gpu}, torch {torch}, cuDNN {cudnn}, {date}".format(**where))


def shown_models(rows: list[Row], where: str) -> Iterator[str]:
    """A line for each, and how many agree."""
    order = [name for _, name in NAMES]
    rows = sorted(rows, key=lambda row: order.index(row["name"]))
    judged = [row for row in rows if "surveyed" in row]
    yield "## Models"
    yield ""
    yield f"- {where}"
    yield "- predicted: what `guard.preflight` finds without a GPU, in one step of training"
    yield "- seen: what `guard.survey()` lists on the GPU; *refused*: how the same step ends"
    yield "  under `guard.deterministic()`"
    yield f"- runs: how many results {TRAININGS} trainings of two steps have, plain and with"
    yield "  `repair=True`; 1 means that all have the same bits"
    agree = sum(agrees(row) for row in judged)
    yield f"- of {len(judged)} models {agree} are seen as predicted"
    yield ""
    yield "| model | of | predicted | seen | refused | plain runs | repaired runs |"
    yield "|---|---|---|---|---|--:|--:|"
    for row in rows:
        if "surveyed" not in row:
            yield f"| {row['name']} | {row['library']} | **{cell(row['error'])}** | | | | |"
            continue
        found = [*row["raises"], *(f"{each} (silent)" for each in row["silent"]), *row["unknown"]]
        same = "as predicted" if agrees(row) else "**" + listed(row["surveyed"]) + "**"
        refused = "yes" if row["first"] else "no"
        yield (
            f"| {row['name']} | {row['library']} | {listed(found)} | {same} | {refused} | "
            f"{cell(row['plain'])} | {cell(row['repaired'])} |"
        )


def agrees(row: Row) -> bool:
    """Whether a survey sees what is predicted, but for what no call tells."""
    from detlint.operations import OPERATIONS

    hidden = {each.name for each in OPERATIONS if each.silent and not silence.sees(each)}
    found = ({*row["raises"], *row["silent"]}) - hidden
    visible = {each for each in found if not each.startswith("torchvision")}
    own = {each for each in row["surveyed"] if "roi" not in each and "deform" not in each}
    return visible == own and bool(row["first"]) == bool(found)


def listed(names: Iterable[str]) -> str:
    """In a cell."""
    return ", ".join(f"`{each}`" for each in names) or "nothing"


def cell(value: object) -> str:
    """Without what ends a cell."""
    return str(value).replace("|", "/").replace("\n", " ")[:200]


def shown_replacements(rows: list[Row], where: str) -> Iterator[str]:
    """A line for each shape."""
    yield "## Replacements"
    yield ""
    yield f"- {where}"
    yield f"- runs: how many results {REPEATS} calls with the same arguments have"
    yield "- error: the largest difference of a float32 result from float64, over the largest value"
    yield "- times: the replacement over torch's own kernel, of calls in a row, and of the GPU;"
    yield "  torch's own is the one that differs, without the switch"
    yield "- memory: the peak of what a call allocates, over the bytes of its inputs and results"
    yield "- apart: the largest difference of the two results, over the largest value; of equal"
    yield "  indices `put_` keeps one, and near the edges of bins a rounding decides"
    yield ""
    yield (
        "| operator | shapes of | own runs | runs | own error | error | apart | own µs | times "
        "| own µs of the GPU | times | own memory | memory |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        head = f"| `{row['operation']}` | {row['title']} |"
        if "error" in row:
            yield f"{head} **{cell(row['error'])}** | | | | | | | | | | |"
            continue
        own, ours = row["own"], row["ours"]
        yield (
            f"{head} {own['results']} | {ours['results']} | {own['error']:.0e} | "
            f"{ours['error']:.0e} | {row['apart']:.0e} | "
            f"{own['wall'] * 1e6:.0f} | {ours['wall'] / own['wall']:.1f} | "
            f"{own['gpu'] * 1e6:.0f} | {ours['gpu'] / own['gpu']:.1f} | "
            f"{own['memory']:.2f} | {ours['memory']:.2f} |"
        )


def shown_silent(rows: list[Row], where: str) -> Iterator[str]:
    """A line for each call."""
    yield "## What torch lets pass"
    yield ""
    yield f"- {where}"
    yield "- results: how many different ones 30 runs have, with torch's switch on; 1 shows no"
    yield "  more than that these inputs do not tell"
    yield ""
    yield "| call | results |"
    yield "|---|--:|"
    for row in rows:
        yield f"| {cell(row['call'])} | {cell(row.get('results', row.get('error')))} |"


def shown_layers(rows: list[Row], where: str) -> Iterator[str]:
    """A line for each layer."""
    yield "## Layers by themselves"
    yield ""
    yield f"- {where}"
    yield f"- how many different results {LAYERED} runs have, forward and backward, with nothing"
    yield "  set, in one process and in another; 1 shows no more than that these inputs do not tell"
    yield "- bfloat16: under autocast, or of inputs in it"
    yield ""
    yield "| layer | float32 | bfloat16 |"
    yield "|---|--:|--:|"
    for row in rows:
        cells = (counts(row[kind]) for kind in ("float32", "bfloat16"))
        yield f"| {cell(row['layer'])} | {' | '.join(cells)} |"


def counts(both: list[int | str]) -> str:
    """``30, 29``; or that it does not run in that type."""
    if any(isinstance(each, str) for each in both):
        return "does not run"
    return ", ".join(f"**{each}**" if each != 1 else "1" for each in both)


def shown_steps(rows: list[Row], where: str) -> Iterator[str]:
    """A table with a column for each step."""
    yield "## A step under guard"
    yield ""
    yield f"- {where}"
    yield "- times: over the same step with nothing set, by the clock, to its end on the GPU;"
    yield "  the median over rounds in which the settings take turns"
    yield ""
    yield "| setting | " + " | ".join(cell(row["step"]) for row in rows) + " |"
    yield "|---|" + "--:|" * len(rows)
    yield (
        "| nothing set, milliseconds | "
        + " | ".join(f"{row['milliseconds']:.2f}" for row in rows)
        + " |"
    )
    for setting in settings():
        cells = [
            f"{row['times'][setting]:.2f}" if setting in row["times"] else "refused" for row in rows
        ]
        yield f"| {setting} | " + " | ".join(cells) + " |"
    for each, shown in (("", ""), (", fill=False", ", fill off")):
        cells = [f"{row['over the switch'].get(each, float('nan')):.3f}" for row in rows]
        yield f"| guard{each} over torch's switch{shown} | " + " | ".join(cells) + " |"


def shown_recording(rows: list[Row], where: str) -> Iterator[str]:
    """A line for each step."""
    yield "## Recording"
    yield ""
    yield f"- {where}"
    yield "- a step with `guard.record` over the same step without, by the clock, and the kernels"
    yield "  that each of them launches"
    yield ""
    yield "| step | milliseconds | times | kernels | recorded |"
    yield "|---|--:|--:|--:|--:|"
    for row in rows:
        kernels = " | ".join(f"{each:.0f}" for each in row.get("kernels", ())) or " | "
        yield (
            f"| {cell(row['step'])} | {row['milliseconds']:.2f} | {row['times']:.2f} | {kernels} |"
        )


def main() -> int:
    """Measure parts, or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        with (options.results / f"{part}.jsonl").open("w", encoding="utf-8") as file:
            for row in chain([about()], PARTS[part]()):
                print(json.dumps(row), file=file, flush=True)
    if options.page:
        text = "\n".join(page(options.results)) + "\n"
        (HERE / "ON_GPU.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
