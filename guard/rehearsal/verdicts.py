"""What becomes of an operator on CUDA: looked up in the table by its name and its node, as far as
its arguments decide."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch

from detlint.operations import OPERATIONS, Operation
from detlint.operations.extensions import VISION
from detlint.operations.rows import plain_name
from detlint.operations.switched import SWITCHED, Switched
from guard.dependencies import in_force
from guard.errors import SettingsError
from guard.refusals.allowance import allowed
from guard.refusals.translation import explain_operation, render
from guard.rehearsal.findings import (
    DETERMINISTIC,
    RAISES,
    REPAIRED,
    SILENT,
    SWITCH,
    UNKNOWN,
    Verdict,
)
from guard.repairs import in_force as repairs_in_force
from guard.repairs.table import wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from guard.observe.modes import Run

    Arguments = dict[str, Any]
    Condition = Callable[[Arguments], bool]


# torch's own; every other is a library's, of which the table knows nothing.
_KNOWN = {"aten", "prims", "prim", "profiler", "inductor", "c10d", "c10d_functional"}
# Of torchvision: what its table leaves out, because it has no atomics.
_ORDERED = {
    f"torchvision::{name}"
    for name in ("nms", "roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d")
}
_Row = TypeVar("_Row", Operation, Switched)
COMPILED = "torch.cumsum under torch.compile"
_assumed: frozenset[str] = frozenset()  # operations that would be repaired in the run
_MAXIMUM, _NO_REDUCTION = 2, 0


class LibraryRow(NamedTuple):
    """What the report says of a library's kernel, in the place of a row of torch's operators."""

    name: str
    reason: str


class Judgement(NamedTuple):
    """A verdict, and the row of a table that it stands in."""

    verdict: Verdict
    row: Operation | Switched | LibraryRow | None = None


def judge(run: Run, node: str = "", *, compiled: bool = False) -> Judgement:
    """What an operator does on CUDA with determinism on, called by a node of that name or by the
    forward."""
    name = plain_name(run.name)
    if run.func.namespace not in _KNOWN and name not in _refused() and name not in _ORDERED:
        return Judgement(UNKNOWN)
    rows, switched = _refused().get(name, ()), _switched().get(name, ())
    if not rows and not switched:
        return Judgement(DETERMINISTIC)
    given = run.named()
    found = [row for row in rows if holds(row, given) and (compiled or row.name != COMPILED)]
    if found:
        row = next((each for each in found if node in each.nodes), found[0])
        return _refused_or_repaired(row)
    for each in switched:
        if is_switched(each.name, given):
            return Judgement(SWITCH, each)
    return Judgement(DETERMINISTIC)


def judge_node(name: str) -> Judgement:
    """What a node's backward does on CUDA, where it is known by its name alone."""
    for row in OPERATIONS:
        if name in row.nodes and "cuda" in row.devices and in_force(row):
            return _refused_or_repaired(row)
    return Judgement(DETERMINISTIC)


def _refused_or_repaired(row: Operation) -> Judgement:
    if row.name in _assumed or row.name in repairs_in_force():
        return Judgement(REPAIRED, row)
    return Judgement(SILENT if row.silent else RAISES, row)


@contextmanager
def repairing(repair: bool | tuple[str, ...]) -> Iterator[None]:
    """Judge as in a run under ``guard.enable(repair=…)``, also of a program that has none."""
    global _assumed  # noqa: PLW0603
    before = _assumed
    _assumed = frozenset(each.operation for each in wanted(repair))
    try:
        yield
    finally:
        _assumed = before


@cache
def _refused() -> dict[str, list[Operation]]:
    return _by_overload((*OPERATIONS, *VISION))


@cache
def _switched() -> dict[str, list[Switched]]:
    return _by_overload(SWITCHED)


def _by_overload(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for row in rows:
        if "cuda" in row.devices and in_force(row):
            for overload in row.overloads:
                found.setdefault(overload, []).append(row)
    return found


def holds(row: Operation, given: Arguments) -> bool:
    """Whether a row's condition holds for a call of one of its overloads."""
    test = _TESTS.get(row.name)
    return test is None or test(given)


def is_switched(name: str, given: Arguments) -> bool:
    """Whether a call is one of those that the switch makes deterministic."""
    test = _SWITCHED.get(name)
    return test is None or test(given)


def _overlaps(given: Arguments) -> bool:
    inner, outer = given["grad_output"].shape[-3:], given["self"].shape[-3:]
    return any(size % bins for size, bins in zip(outer, inner, strict=True))


def _is_floating(given: Arguments) -> bool:
    tensor: torch.Tensor = given["self"]
    return tensor.is_floating_point() or tensor.is_complex()


def _is_sparse(given: Arguments) -> bool:
    layouts = [str(each.layout) for each in given.values() if hasattr(each, "layout")]
    return any(layout != "torch.strided" for layout in layouts)


def _scans(given: Arguments) -> bool:
    tensor = given["self"]
    return bool(
        tensor.is_floating_point() and tensor.dim() and tensor.numel() == tensor.size(given["dim"])
    )


def _drops_between_layers(given: Arguments) -> bool:
    return bool(given["train"] and given["dropout"] > 0 and given["num_layers"] > 1)


_TESTS: dict[str, Condition] = {
    "torch.nn.functional.adaptive_max_pool3d": _overlaps,
    "torch.nn.functional.nll_loss": lambda given: given["reduction"] != _NO_REDUCTION,
    'torch.nn.functional.embedding_bag(mode="max")': lambda given: given["mode"] == _MAXIMUM,
    'torch.Tensor.scatter_(reduce="multiply")': lambda given: given["reduce"] == "multiply",
    'torch.Tensor.scatter_reduce(reduce="prod")': lambda given: given["reduce"] == "prod",
    "torch.Tensor.resize_": lambda given: given["self"].is_quantized,
    # With determinism on, torch takes index_put instead, before its own kernel is reached.
    "torch.Tensor.scatter_": lambda _: False,
    "torch.bincount": lambda given: given["weights"] is not None,
    "torch.histc": lambda given: given["self"].is_floating_point(),
    "torch.cumprod": _scans,
    "torch.logcumsumexp": _scans,
    "torch.cumsum": _is_floating,
    "torch.cumsum under torch.compile": _is_floating,
    "torch.sparse.mm": _is_sparse,
    "torch.nn.LSTM": _drops_between_layers,
}

_SWITCHED: dict[str, Condition] = {
    'torch.scatter_reduce(reduce="sum")': lambda given: given["reduce"] in ("sum", "mean"),
    "torch.index_put": lambda given: not given["accumulate"],  # with it, CUDA sorts in any case
    "torch.cumsum": _is_floating,
}


_NOTHING = "nothing is known against it; what holds for others follows"
_COUNTED = "preflight counts it as deterministic"


def explanation(name: str) -> str:
    """What is known of an operator, under any of its names. Raises SettingsError for none."""
    switched = [each for each in SWITCHED if name in _names(each)]
    try:
        rows = sorted(allowed([name], setting="repair"), key=lambda row: row.name)
    except SettingsError as error:
        if not switched and _is_of_torch(name):
            return f"torch {torch.__version__}: nothing is known against {name}; {_COUNTED}\n"
        if not switched:
            text = str(error).partition("; ")
            raise SettingsError(
                f"explain: no operator of the tables is called {name!r}{text[1]}{text[2]}"
            ) from None
        rows = []
    every: list[Operation | Switched] = [*switched, *rows]
    here = [each for each in every if in_force(each)]
    here.sort(key=lambda row: row.name == COMPILED)  # what holds without a compiler comes first
    others = [each for each in every if each not in here]
    told = [_shown(each) for each in here] or [_NOTHING]
    parts = [f"torch {torch.__version__}: {each}" for each in told]
    parts += [f"Not of this torch ({_releases(each)}):\n{_shown(each)}" for each in others]
    return "\n\n".join(parts) + "\n"


def _is_of_torch(name: str) -> bool:
    short = name.removeprefix("torch.").removeprefix("nn.functional.").removeprefix("aten::")
    owners = (torch, torch.nn.functional, torch.Tensor, torch.ops.aten)
    return any(callable(getattr(each, short, None)) for each in owners)


def _shown(row: Operation | Switched) -> str:
    if isinstance(row, Switched):
        return _set_back(row)
    return f"{render(explain_operation(row), None)}\n  source:      {row.source}"


def _releases(row: Operation | Switched) -> str:
    since = f"{row.since} and newer" if row.since else ""
    until = f"before {row.until}" if row.until else ""
    return ", ".join(each for each in (since, until) if each)


def _names(row: Switched) -> Iterator[str]:
    for overload in row.overloads:
        yield from (overload, overload.partition("::")[2])
    for form in (row.name, *(form for usage in row.usages for form in usage.forms)):
        yield from (form, form.rpartition(".")[2])


def _set_back(row: Switched) -> str:
    what = f"The backward of {row.name}" if row.direction == "backward" else row.name
    return (
        f"{what} is deterministic under torch.use_deterministic_algorithms(True).\n"
        f"  why:         by default it {row.reason}"
    )
