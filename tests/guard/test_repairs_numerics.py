"""Replacements give what torch's own kernels give: on the CPU, in the CPU's dispatch key."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import torch
from operation_samples import BELOW
from repair_cases import CASES, Case
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from guard.repairs import accounts, regions, sampling, selection
from guard.repairs.installation import installed, unfit
from guard.repairs.scattering import _numbers as numbered
from guard.repairs.table import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.repairs.table import Repair

pytestmark = [
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state"),
]

by_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{case.kernel}-{number}") for number, case in enumerate(CASES)]
)
# Roundings of the dtype, a few, beyond twice torch's own error against float64.
TOLERANCES = {torch.float32: 1e-6, torch.bfloat16: 8e-3, torch.float16: 1e-3}


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    accounts.forget()
    yield
    torch.use_deterministic_algorithms(mode=False)


def inputs(case: Case, dtype: torch.dtype, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in case.shapes]
    return [each.to(dtype).requires_grad_() for each in drawn]


def run(case: Case, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """What a call gives, and the gradients of its inputs for fixed random ones of its results."""
    given = case.call(*tensors)
    results = list(given) if isinstance(given, tuple) else [given]
    outputs = [each for each in results if each.requires_grad]
    generator = torch.Generator().manual_seed(1)
    grads = [
        torch.randn(each.shape, generator=generator, dtype=torch.float64).to(each)
        for each in outputs
    ]
    found = torch.autograd.grad(outputs, tensors, grads, allow_unused=True) if outputs else []
    return [each.detach() for each in (*results, *found) if each is not None]


def fitting(*operations: str) -> tuple[Repair, ...]:
    """The rows of operations, where this torch can have their replacements."""
    rows = tuple(each for each in REPAIRS if each.operation in operations)
    if reason := next(filter(None, map(unfit, rows)), ""):
        pytest.skip(reason)
    return rows


def ran(case: Case) -> bool:
    return any(each.operation == case.operation for each in accounts.accounts())


def repaired(case: Case, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    rows = fitting(case.operation)
    with installed(rows, keys=("CPU",)):
        torch.use_deterministic_algorithms(mode=True)
        result = run(case, tensors)
        torch.use_deterministic_algorithms(mode=False)  # detlint: ignore[DET303] as it was
    assert ran(case), "the replacement was not reached"
    return result


def strides(tensors: list[torch.Tensor]) -> list[list[int]]:
    """Those that say where an element lies."""
    return [
        [step for size, step in zip(each.shape, each.stride(), strict=True) if size > 1]
        for each in tensors
        if each.numel()
    ]


@by_case
def test_in_float64_results_are_torchs_to_rounding(case: Case) -> None:
    tensors = inputs(case, torch.float64)
    found, own = repaired(case, tensors), run(case, tensors)
    torch.testing.assert_close(found, own, rtol=1e-11, atol=1e-11, equal_nan=True)
    # What inductor compiles around it counts on torch's.
    assert strides(found) == strides(own)


def error(found: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest difference, where both are finite."""
    usable = found.isfinite() & exact.isfinite()
    assert torch.equal(found.isfinite(), exact.isfinite())
    return float((found.double() - exact)[usable].abs().max()) if usable.any() else 0.0


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("kernel", dict.fromkeys(case.kernel for case in CASES))
def test_results_are_as_near_to_those_of_float64_as_torchs(kernel: str, dtype: torch.dtype) -> None:
    for case in (each for each in CASES if each.kernel == kernel):
        tensors = inputs(case, dtype)
        try:
            own = run(case, tensors)
        except (RuntimeError, NotImplementedError):
            continue  # torch's has no kernel for this dtype
        found = repaired(case, tensors)
        exact = run(case, [each.detach().double().requires_grad_() for each in tensors])
        for ours, torchs, right in zip(found, own, exact, strict=True):
            assert (ours.dtype, ours.shape) == (torchs.dtype, torchs.shape)
            if ours.is_floating_point():
                scale = (
                    max(1.0, float(right.nan_to_num(0, 0, 0).abs().max())) if right.numel() else 1
                )
                assert error(ours, right) <= 2 * error(torchs, right) + TOLERANCES[dtype] * scale


@by_case
def test_strides_do_not_matter(case: Case) -> None:
    plain = inputs(case, torch.float64)
    turned = []
    for each in plain:
        strided = each.detach().repeat_interleave(2, -1)[..., ::2] if each.dim() else each.detach()
        if strided.dim() == 4 and "3d" not in case.kernel:
            strided = strided.contiguous(memory_format=torch.channels_last)
        turned.append(strided.requires_grad_())
    found = repaired(case, turned)
    torch.testing.assert_close(found, repaired(case, plain), rtol=1e-12, atol=1e-12, equal_nan=True)
    assert strides(found) == strides(run(case, turned))


@cache
def differentiable() -> dict[str, Case]:
    """Of each operator the first call that has a gradient."""
    found: dict[str, Case] = {}
    for case in CASES:
        given = case.call(*inputs(case, torch.float64))
        results = given if isinstance(given, tuple) else (given,)
        if results[0].requires_grad and results[0].numel() and case.kernel not in found:
            found[case.kernel] = case
    return found


def checked(check: Callable[..., bool], case: Case) -> bool:
    """Whether torch's checks of gradients pass, as they do not where there are kinks."""

    def call(*given: torch.Tensor) -> torch.Tensor:
        result: Any = case.call(*given)
        return result[0] if isinstance(result, tuple) else result

    try:
        return bool(check(call, inputs(case, torch.float64), fast_mode=True, raise_exception=False))
    except (NotImplementedError, RuntimeError):
        return False


@pytest.mark.parametrize(
    "check", [torch.autograd.gradcheck, torch.autograd.gradgradcheck], ids=["first", "second"]
)
@pytest.mark.parametrize("kernel", dict.fromkeys(case.kernel for case in CASES))
def test_derivatives_are_those_of_the_forward_wherever_torchs_are(
    kernel: str, check: Callable[..., bool]
) -> None:
    case = differentiable().get(kernel)
    if case is None:
        pytest.skip("it has no gradient")
    if not checked(check, case):
        pytest.skip("torch's own do not pass")
    rows = fitting(case.operation)
    with installed(rows, keys=("CPU",)):
        assert checked(check, case)


def poisoned(case: Case, value: float) -> list[torch.Tensor]:
    """Gradients where one number of the result's gradient is nan or infinite."""
    tensors = inputs(case, torch.float64)
    given = case.call(*tensors)
    result = given[0] if isinstance(given, tuple) else given
    grad = torch.ones_like(result)
    grad.view(-1)[result.numel() // 2] = value
    found = torch.autograd.grad(result, tensors, grad, allow_unused=True)
    return [each for each in found if each is not None]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("kernel", dict.fromkeys(case.kernel for case in CASES))
def test_what_is_no_number_spreads_no_further_than_torchs(kernel: str, value: float) -> None:
    case = differentiable().get(kernel)
    if case is None:
        pytest.skip("it has no gradient")
    rows = fitting(case.operation)
    own = poisoned(case, value)
    with installed(rows, keys=("CPU",)):
        found = poisoned(case, value)
    for ours, torchs in zip(found, own, strict=True):
        assert not (torchs.isfinite() & ~ours.isfinite()).any()
        # grid_sample on the CPU multiplies points outside by 0; CUDA's leaves them out, as ours.
        assert ours.isfinite().all() == torchs.isfinite().all() or "grid" in kernel


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int64])
@pytest.mark.parametrize("largest", [False, True])
def test_topk_takes_of_equal_values_the_first(largest: bool, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(4, (7, 5, 40), generator=generator).to(dtype)
    if dtype.is_floating_point:
        x[0, 0, 3::5] = float("nan")
        x[1, 0] = float("nan")
        x[2, 1, 5] = float("inf")
    rows = fitting("torch.topk")
    for dim, k in [(-1, 6), (0, 3), (1, 5), (2, 40)]:
        own = x.topk(k, dim, largest)[0]
        stable = x.sort(dim=dim, descending=largest, stable=True)[1].narrow(dim, 0, k)
        with installed(rows, keys=("CPU",)):
            values, indices = x.topk(k, dim, largest)
        torch.testing.assert_close(values, own, rtol=0, atol=0, equal_nan=True)
        assert torch.equal(indices, stable)


def test_counts_of_nothing_have_no_weights_to_refuse() -> None:
    def plain(numbers: torch.Tensor, weights: torch.Tensor | None, minlength: int) -> torch.Tensor:
        assert weights is None
        return torch.bincount(numbers, minlength=minlength)

    nothing = torch.tensor([], dtype=torch.int64)
    found = selection.bincount(nothing, nothing.float(), 3, original=plain)
    assert torch.equal(found, torch.bincount(nothing, nothing.float(), 3))


class Reciprocals(TorchFunctionMode):
    """Divides by a number of Python's as torch does on a GPU: by its reciprocal."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        divides = func in {torch.div, torch.Tensor.div, torch.Tensor.__truediv__}
        if divides and not isinstance(args[1], torch.Tensor) and args[0].is_floating_point():
            by = torch.tensor(args[1], dtype=args[0].dtype)
            return args[0] * (1 / by)
        return func(*args, **(kwargs or {}))


def test_what_is_floored_is_divided_as_in_c() -> None:
    whole = torch.arange(1, 65, dtype=torch.float32)
    with Reciprocals():
        assert not torch.equal((whole / 41).floor(), (whole // 41))
    for size in range(1, 65):
        calls = [
            lambda: selection.histc(whole, size, 0, size),  # noqa: B023
            lambda: sampling._reflected(whole * size, size + 1, align=True),  # noqa: B023
            lambda: regions._window(0 * whole, whole, size, 64),  # noqa: B023
            lambda: regions._sampled(0 * whole, whole, size, 64, 0),  # noqa: B023
        ]
        for call in calls:
            plain = call()
            with Reciprocals():
                torch.testing.assert_close(call(), plain, rtol=0, atol=0)
        own = torch.histc(whole, size, 0, size)
        assert torch.equal(selection.histc(whole, size, 0, size), own)


@pytest.mark.parametrize("size", [1, 4, 5, 16, 17, 70])
def test_scans_of_rows_are_those_of_one(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_ROW", 4)
    x = torch.randn(size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[size // 3] = float("-inf")
    rows = fitting("torch.cumprod", "torch.logcumsumexp")
    calls = [
        lambda: x.cumprod(0),
        lambda: x.logcumsumexp(0),
        lambda: x.cumprod(0, dtype=torch.float32),
    ]
    own = [call() for call in calls]
    with installed(rows, keys=("CPU",)):
        found = [call() for call in calls]
    torch.testing.assert_close(found, own, equal_nan=True)


def test_median_takes_of_equal_values_the_first() -> None:
    x = torch.randint(4, (7, 5, 41), generator=torch.Generator().manual_seed(0)).float()
    rows = fitting("torch.median")
    for dim in range(3):
        own = x.median(dim)[0]
        with installed(rows, keys=("CPU",)):
            values, indices = x.median(dim)
        assert torch.equal(values, own)
        first = (x == values.unsqueeze(dim)).int().argmax(dim)
        assert torch.equal(indices, first)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_whole_numbers_are_multiplied_exactly(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    index = torch.randint(5, (60, 3), generator=generator)
    source = torch.randint(1, 4, (60, 3), generator=generator).to(dtype)
    start = torch.ones(5, 3, dtype=dtype)
    rows = fitting('torch.Tensor.scatter_reduce(reduce="prod")', "torch.Tensor.index_reduce_")
    own = (
        start.scatter_reduce(0, index, source, "prod"),
        start.index_reduce(0, index[:, 0], source, "prod"),
        start.index_reduce(0, index[:, 0], source, "mean"),
    )
    with installed(rows, keys=("CPU",)):
        found = (
            start.scatter_reduce(0, index, source, "prod"),
            start.index_reduce(0, index[:, 0], source, "prod"),
            start.index_reduce(0, index[:, 0], source, "mean"),
        )
    for ours, torchs in zip(found, own, strict=True):
        assert torch.equal(ours, torchs)


def test_places_beyond_two_billion_are_numbered_in_64_bits() -> None:
    index = torch.zeros(1, 1, dtype=torch.int64)
    assert numbered(torch.empty(2, 10, device="meta"), 0, index).dtype == torch.int32
    assert numbered(torch.empty(2**16, 2**16, device="meta"), 0, index).dtype == torch.int64
    last = torch.full((1, 1), 2**16 - 1)
    assert numbered(torch.empty(2**16, 2**16, device="meta"), 0, last).tolist() == [2**32 - 2**16]


ON_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


class Moved(TorchFunctionMode):
    """Moves what a case brings to a device, wherever it is used."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        def moved(value: object) -> object:
            away = isinstance(value, torch.Tensor) and value.device.type != self._device
            return value.to(self._device) if away else value  # type: ignore[attr-defined]

        args, kwargs = tree_map(moved, (args, kwargs or {}))
        return func(*args, **kwargs)


def reaching(case: Case, device: str) -> Case:
    """As it reaches the replaced kernel on a GPU.

    With the switch on, Python composes the forward of some of others. And torch's own gradient
    of a number that is chosen from one fails there: its ``scatter_`` of a scalar.
    """
    if device == "cpu":
        return case
    call = case.call
    if case.shapes == ((),) and case.operation == "torch.median":
        return case._replace(call=lambda x: call(x.detach()))
    if case.operation not in BELOW:
        return case

    def forward(*given: torch.Tensor) -> object:
        torch.use_deterministic_algorithms(mode=False)  # detlint: ignore[DET303] as above
        result = call(*given)
        torch.use_deterministic_algorithms(mode=True)
        return result

    return case._replace(call=forward)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=[pytest.mark.cuda, ON_GPU])])
@pytest.mark.parametrize("kernel", dict.fromkeys(case.kernel for case in CASES))
def test_runs_on_a_device_give_the_same_bits(kernel: str, device: str) -> None:
    for case in (reaching(each, device) for each in CASES if each.kernel == kernel):
        rows = fitting(case.operation)
        tensors = [
            each.detach().to(device).requires_grad_() for each in inputs(case, torch.float32)
        ]
        torch.use_deterministic_algorithms(mode=True)
        with installed(rows, keys=(device.upper(),)), Moved(device):
            first, *others = [run(case, tensors) for _ in range(3)]
        assert ran(case)
        torch.use_deterministic_algorithms(mode=False)  # detlint: ignore[DET303] as it was
        for other in others:
            torch.testing.assert_close(first, other, rtol=0, atol=0, equal_nan=True)
        own = run(case, inputs(case, torch.float32))
        torch.testing.assert_close(
            [each.cpu() for each in first], own, rtol=1e-4, atol=1e-4, equal_nan=True
        )
