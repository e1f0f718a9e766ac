"""Replacements give what torch's own kernels give: on the CPU, in the CPU's dispatch key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from repair_cases import CASES, Case

from guard.repairs import accounts
from guard.repairs.installation import installed
from guard.repairs.table import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        torch.randn(each.shape, generator=generator, dtype=torch.float64).to(each.dtype)
        for each in outputs
    ]
    found = torch.autograd.grad(outputs, tensors, grads, allow_unused=True) if outputs else []
    return [each.detach() for each in (*results, *found) if each is not None]


def ran(case: Case) -> bool:
    return any(each.operation == case.operation for each in accounts.accounts())


def repaired(case: Case, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    rows = tuple(each for each in REPAIRS if each.operation == case.operation)
    with installed(rows, keys=("CPU",)):
        torch.use_deterministic_algorithms(mode=True)
        result = run(case, tensors)
        torch.use_deterministic_algorithms(mode=False)
    assert ran(case), "the replacement was not reached"
    return result


@by_case
def test_in_float64_results_are_torchs_to_rounding(case: Case) -> None:
    tensors = inputs(case, torch.float64)
    torch.testing.assert_close(
        repaired(case, tensors), run(case, tensors), rtol=1e-11, atol=1e-11, equal_nan=True
    )


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
    torch.testing.assert_close(
        repaired(case, turned), repaired(case, plain), rtol=1e-12, atol=1e-12, equal_nan=True
    )


SMOOTH = {
    case.kernel: case
    for case in reversed(CASES)
    if not case.kernel.startswith(
        ("grid", "_ctc", "put", "bincount", "histc", "scatter", "_embedding")
    )
}


@pytest.mark.parametrize("kernel", SMOOTH)
def test_gradients_and_gradients_of_these_are_derivatives(kernel: str) -> None:
    case = SMOOTH[kernel]
    rows = tuple(each for each in REPAIRS if each.operation == case.operation)

    def call(*given: torch.Tensor) -> torch.Tensor:
        result: Any = case.call(*given)
        return result[0] if isinstance(result, tuple) else result

    with installed(rows, keys=("CPU",)):
        assert torch.autograd.gradcheck(call, inputs(case, torch.float64), fast_mode=True)
        assert torch.autograd.gradgradcheck(call, inputs(case, torch.float64), fast_mode=True)
