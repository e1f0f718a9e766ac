"""The code that the table of operators offers: it gives what torch's own operator gives, and
the same in each run."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import pytest
import torch
from operation_comparisons import COMPARISONS

from detlint.operations import OPERATIONS, Operation
from guard.dependencies import release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from operation_comparisons import Comparison

pytestmark = [
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor, torch.quantize_per_channel"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state"),
    # Two layers that share the weights of one, to compare with it.
    pytest.mark.filterwarnings("ignore:RNN module weights are not part of single contiguous"),
]


def codes(row: Operation) -> list[str]:
    return [each.code for each in row.alternatives if each.code]


def since(row: Operation, code: str) -> tuple[int, ...]:
    """The release of torch that an alternative asks for, "torch 2.13: …"."""
    text = next(each.text for each in row.alternatives if each.code == code)
    asked = re.match(r"torch (\d+)\.(\d+):", text)
    return tuple(map(int, asked.groups())) if asked else ()


by_code = pytest.mark.parametrize(
    ("code", "comparisons"),
    [
        pytest.param(
            code,
            comparisons,
            id=f"{row.name} {number}",
            marks=pytest.mark.skipif(
                release(torch.__version__) < since(row, code), reason="of a later torch"
            ),
        )
        for row in OPERATIONS
        for number, (code, comparisons) in enumerate(
            zip(codes(row), COMPARISONS[row.name], strict=True), start=1
        )
    ],
)


@pytest.fixture(autouse=True)
def _determinism_off_again() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(mode=False)


def defined(code: str) -> Callable[..., Any]:
    """What a piece of code defines for its user: the first function or class."""
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - to be pasted, so it has to run
    made = [each for each in ast.parse(code).body if hasattr(each, "name")]
    return names[made[0].name]


def run(
    call: Callable[..., Any], comparison: Comparison, device: str, *, deterministic: bool
) -> list[torch.Tensor]:
    """The result and the inputs' gradients."""
    torch.manual_seed(1)
    inputs = [torch.randn(shape).to(device).requires_grad_() for shape in comparison.shapes]
    torch.use_deterministic_algorithms(mode=deterministic)
    result = call(*inputs, device)
    result = result[0] if isinstance(result, tuple) else result
    if not result.requires_grad:
        return [result]
    torch.manual_seed(2)  # whatever was drawn within
    result.backward(torch.randn(result.shape).to(device))
    gradients = [torch.zeros_like(x) if x.grad is None else x.grad for x in inputs]
    return [result.detach(), *gradients]


def instead(code: str, comparison: Comparison, device: str) -> list[torch.Tensor]:
    function = defined(code)
    return run(
        lambda *given: comparison.instead(function, *given),
        comparison,
        device,
        deterministic=True,
    )


def check(code: str, comparison: Comparison, device: str) -> None:
    expected = run(comparison.native, comparison, device, deterministic=False)
    given = instead(code, comparison, device)
    for ours, theirs in zip(given, expected, strict=False):  # some of torch's have no gradient
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True)
    assert len(given) >= len(expected)


@by_code
def test_it_gives_what_torch_gives(code: str, comparisons: tuple[Comparison, ...]) -> None:
    assert len(comparisons) > 1
    for comparison in comparisons:
        check(code, comparison, "cpu")


@by_code
def test_it_can_be_pasted(code: str, comparisons: tuple[Comparison, ...]) -> None:
    del comparisons
    tree = ast.parse(code)
    assert all(len(line) <= 100 for line in code.splitlines())
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    assert all(isinstance(each, kinds) for each in tree.body)
    modules = {
        name.name.partition(".")[0]
        for each in tree.body
        if isinstance(each, ast.Import)
        for name in each.names
    }
    assert modules <= {"torch", "math", "itertools"}


def test_products_with_zeros_have_their_gradient() -> None:
    code = next(each for row in OPERATIONS for each in codes(row) if "def scatter_prod" in each)
    index = torch.tensor([1, 1, 0, 1])
    values = [torch.tensor([0.0, 2.0, 3.0, 4.0], requires_grad=True) for _ in range(2)]
    ours = defined(code)(torch.ones(2), 0, index, values[0])
    theirs = torch.ones(2).scatter_reduce(0, index, values[1], "prod")
    ours.sum().backward()
    theirs.sum().backward()
    assert torch.equal(ours, theirs)
    assert values[0].grad is not None
    assert values[0].grad.tolist() == [8.0, 0.0, 1.0, 0.0]
    assert torch.equal(values[0].grad, values[1].grad)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
@by_code
def test_it_gives_the_same_bits_in_20_runs_on_cuda(
    code: str, comparisons: tuple[Comparison, ...]
) -> None:
    for comparison in comparisons:
        first, *others = (instead(code, comparison, "cuda") for _ in range(20))
        for other in others:
            for ours, before in zip(other, first, strict=True):
                assert torch.equal(ours.nan_to_num(), before.nan_to_num())
