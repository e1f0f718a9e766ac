"""What replacements of operators cost: time and memory of each, beside torch's own kernel.

    python benchmarks/repairs.py [--rounds 5] [operation ...]

A case is a call with the shapes of a real model. The operator that is replaced is caught with its
arguments, in a forward and backward, and then called by itself: torch's own CPU kernel and the
replacement in turn, on one thread, in seconds of the processor. A ratio is that of the fastest
rounds. Memory is the peak of what a call allocates, its results included, over the bytes of its
inputs and results. Writes benchmarks/REPAIRS.md; with names, prints their rows.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from repair_programs import PROGRAMS, Program
from torch.autograd.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

import guard
from guard.repairs import accounts, installation
from guard.repairs.table import LEFT, REPAIRS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from repair_models import KEYS, STEPS, Edges, Regions, trained
from repair_models import PROGRAMS as MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from guard.repairs.table import Repair

HERE = Path(__file__).parent
TIME_BOUND, MEMORY_BOUND = 3.0, 2.0


class Call(NamedTuple):
    """An operator as it was called, or a function."""

    overload: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self) -> Any:  # noqa: ANN401
        return self.overload(*self.args, **self.kwargs)

    def anew(self) -> Any:  # noqa: ANN401
        """With copies, as some write to what they are given."""
        args, kwargs = tree_map(
            lambda each: each.clone() if isinstance(each, torch.Tensor) else each,
            (self.args, self.kwargs),
        )
        return self.overload(*args, **kwargs)


class Measured(NamedTuple):
    """Of torch's own kernel and of the replacement.

    own, ours             seconds
    own_memory, memory    the peak, over the bytes of inputs and results
    own_error, error      the largest difference from float64, over the largest value
    """

    own: float
    ours: float
    own_memory: float
    memory: float
    own_error: float
    error: float


class Catch(TorchDispatchMode):
    """Keeps the first call of an operator."""

    def __init__(self, kernel: str) -> None:
        super().__init__()
        self._overload = installation.overload_of(kernel)
        self.found: Call | None = None

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if func is self._overload and self.found is None:
            self.found = Call(func, *tree_map(copied, (args, kwargs or {})))
        return func(*args, **(kwargs or {}))


def copied(value: Any) -> Any:  # noqa: ANN401
    """Before the operator writes to it; strides, also those of an expanded one, stay."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return value
    if value.is_leaf and not value.requires_grad and 0 in value.stride():
        return value
    return value.detach().clone()


def caught(program: Program) -> Call:
    """The operator of the program that is replaced, with its arguments."""
    torch.manual_seed(0)
    if program.arguments is not None:
        return Call(program.call, program.arguments(), {})
    with Catch(program.kernel) as catch:
        result = program.call()
        result = result[0] if isinstance(result, tuple) else result
        if result.requires_grad:
            result.backward(torch.randn_like(result))
    if catch.found is None:
        raise LookupError(f"{program.title} does not call {program.kernel}")
    return catch.found


@contextmanager
def switched(*, on: bool) -> Iterator[None]:
    """The switch of torch, without filling what is not written."""
    torch.utils.deterministic.fill_uninitialized_memory = False  # detlint: ignore[DET305] times
    torch.use_deterministic_algorithms(mode=on)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(mode=False)


def timed(call: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def peak(call: Callable[[], Any]) -> int:
    """Bytes that a call has allocated at most at a time."""
    with profile(use_cpu=True, profile_memory=True) as found:  # type: ignore[no-untyped-call]
        result = call()
    events = [each for each in found.kineto_results.events() if each.name() == "[memory]"]
    now = most = 0
    for each in sorted(events, key=lambda each: int(each.start_ns())):
        now += each.nbytes()
        most = max(most, now)
    del result
    return most


def bytes_of(values: object) -> int:
    """Of all tensors, each storage once."""
    found = {}
    for each in tree_flatten(values)[0]:
        if isinstance(each, torch.Tensor):
            parts = [each] if each.layout == torch.strided else parts_of(each)
            found |= {part.data_ptr(): part.numel() * part.element_size() for part in parts}
    return sum(found.values())


def parts_of(sparse: Any) -> list[torch.Tensor]:  # noqa: ANN401
    if sparse.layout == torch.sparse_coo:
        return [sparse._indices(), sparse._values()]  # noqa: SLF001
    return [sparse.crow_indices(), sparse.col_indices(), sparse.values()]


def measured(program: Program, rounds: int) -> Measured:
    rows = tuple(each for each in REPAIRS if each.operation == program.operation)
    refused = any("CPU" in each.keys for each in rows)  # on the CPU, too: it is timed as it is
    call, own, ours = caught(program), [], []
    with torch.no_grad():
        exact = in_float64(call)
        with switched(on=not refused):
            expected = call.anew()
        # The maps along axes are kept, so the first call, which makes them, is not counted.
        with switched(on=True), installation.installed(rows, keys=KEYS):
            found = call.anew()
            memory = peak(call)
        with switched(on=not refused):
            own_memory = peak(call)
        for _ in range(rounds):
            with switched(on=not refused):
                own.append(timed(call))
            with switched(on=True), installation.installed(rows, keys=KEYS):
                ours.append(timed(call))
    size = max(bytes_of((call.args, call.kwargs, expected)), 1)
    return Measured(
        min(own),
        min(ours),
        own_memory / size,
        memory / size,
        largest_error(expected, exact),
        largest_error(found, exact),
    )


def in_float64(call: Call) -> Any:  # noqa: ANN401
    """What torch's own kernel gives for the same numbers."""
    widened = tree_map(
        lambda each: each.double() if isinstance(each, torch.Tensor) and is_number(each) else each,
        (call.args, call.kwargs),
    )
    return call.overload(*widened[0], **widened[1])


def is_number(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def largest_error(found: Any, exact: Any) -> float:  # noqa: ANN401
    """For numbers that are no indices, where they are finite."""
    pairs = zip(tree_flatten(found)[0], tree_flatten(exact)[0], strict=True)
    return max(
        (
            float((one.double() - two).abs().max() / two.abs().max().clamp(min=1e-30))
            for one, two in pairs
            if is_number(two) and two.numel()
        ),
        default=0.0,
    )


def row_of(program: Program) -> Repair:
    return next(each for each in REPAIRS if each.operation == program.operation)


def row(program: Program, result: Measured) -> str:
    slower, memory = result.ours / result.own, result.memory
    held = "" if slower <= TIME_BOUND and memory <= MEMORY_BOUND else "beyond"
    held = held if not row_of(program).until else f"only before torch {row_of(program).until}"
    return (
        f"| `{program.operation}` | {program.title} | {result.own_error:.0e} | "
        f"{result.error:.0e} | "
        f"{result.own * 1e3:.1f} | {slower:.2f} | {result.own_memory:.2f} | {memory:.2f} | {held} |"
    )


def heading() -> Iterator[str]:
    yield "# What replacements cost"
    yield ""
    yield "Written by `python benchmarks/repairs.py`; not edited by hand."
    yield ""
    yield f"- {dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}, torch {torch.__version__}"
    yield f"- Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield f"- {os.cpu_count()} cores, no GPU: both kernels are the CPU's; on one: ON_GPU.md"
    yield "- error: the largest difference of a float32 result from float64, over the largest value"
    yield f"- times: over torch's own kernel, on one thread; bound {TIME_BOUND:.0f}"
    yield "- memory: the peak of what a call allocates, over the bytes of its inputs and results;"
    yield f"  bound {MEMORY_BOUND:.0f}"


def operators(found: Iterable[tuple[Program, Measured]]) -> Iterator[str]:
    """A row for each of the table, with the worst of its shapes."""
    yield "## Operators"
    yield ""
    yield "The worst of what was measured. What stays as it is says why."
    yield ""
    yield "| operator | replaced by | own error | error | times | memory |"
    yield "|---|---|--:|--:|--:|--:|"
    measured_rows: dict[str, list[Measured]] = {}
    for program, result in found:
        measured_rows.setdefault(program.operation, []).append(result)
    for repair in REPAIRS:
        results = measured_rows.get(repair.operation, [])
        until = f" (before torch {repair.until})" if repair.until else ""
        worst = (
            ("not measured", "", "", "")
            if not results
            else (
                f"{max(each.own_error for each in results):.0e}",
                f"{max(each.error for each in results):.0e}",
                f"{max(each.ours / each.own for each in results):.2f}",
                f"{max(each.memory for each in results):.2f}",
            )
        )
        yield f"| `{repair.operation}` | {repair.how}{until} | {' | '.join(worst)} |"
    for operation, why in LEFT.items():
        yield f"| `{operation}` | not: {why} | | | | |"


def shapes(rows: Iterable[str]) -> Iterator[str]:
    yield "## Shapes"
    yield ""
    yield "| operator | shapes of | own error | error | own ms | times | own memory | memory | |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|---|"
    yield from rows


def programs() -> Iterator[str]:
    """Programs of tests/repair_models.py, trained plainly, and twice with replacements."""
    yield "## Programs"
    yield ""
    yield f"{STEPS} steps of training on the CPU, whose kernels are replaced."
    yield ""
    yield "| program | operators | calls | parameters of two runs | loss beside a plain run's |"
    yield "|---|--:|--:|---|--:|"
    extra = [(Regions, "torchvision"), (Edges, "torch_scatter")]
    for model in (*MODELS, *(each for each, package in extra if package in sys.modules)):
        _, plain = trained(model)
        accounts.forget()
        with guard.deterministic(), installation.installed(REPAIRS, keys=KEYS):
            first, second = trained(model), trained(model)
        ran = accounts.accounts()
        apart = max(abs(x - y) / abs(y) for x, y in zip(first[1], plain, strict=True))
        about = (model.__doc__ or "").partition("\n")[0].rstrip(".")
        yield (
            f"| {model.__name__}: {about} | {len({each.operation for each in ran})} | "
            f"{sum(each.calls for each in ran)} | "
            f"{'the same bits' if first == second else '**they differ**'} | {apart:.0e} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("operations", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for package in ("torchvision", "torch_scatter"):
        with suppress(ImportError, OSError, RuntimeError):
            importlib.import_module(package)
    rows, found = [], []
    for program in PROGRAMS:
        if not installation.present(row_of(program)):
            sys.stdout.write(f"{program.operation} is not there\n")
            continue
        names = (program.operation, program.kernel)
        if not options.operations or any(
            word in name for word in options.operations for name in names
        ):
            found.append((program, measured(program, options.rounds)))
            rows.append(row(*found[-1]))
            sys.stdout.write(rows[-1] + "\n")
            sys.stdout.flush()
    if not options.operations:
        parts = [heading(), operators(found), programs(), shapes(rows)]
        text = "\n\n".join("\n".join(each) for each in parts) + "\n"
        (HERE / "REPAIRS.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
