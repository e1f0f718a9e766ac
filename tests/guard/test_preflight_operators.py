"""``guard.preflight`` beside the table of operators: each row is found, and named as such."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from operation_samples import BELOW, FORMS, IMAGE

import guard
from detlint.operations import OPERATIONS, Operation
from guard.dependencies import in_force
from guard.refusals import watcher
from guard.rehearsal import gate

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.skipif(bool(gate.missing()), reason="this torch lacks what a rehearsal needs"),
    pytest.mark.filterwarnings("ignore:.*deprecated"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:Sparse"),
]

COMPILED = "torch.cumsum under torch.compile"
ON_CUDA = [row for row in OPERATIONS if "cuda" in row.devices]
CALLS = [
    pytest.param(row, call, id=f"{row.name}: {name}")
    for row in ON_CUDA
    if in_force(row) and not any("cudnn" in each for each in row.overloads[:1])
    for name, call in (enumerate(BELOW[row.name]) if row.name in BELOW else FORMS[row.name].items())
]
ON_GPU = [
    pytest.param(call, id=f"{row.name}: {name}")
    for row in ON_CUDA
    if row.name != COMPILED
    for name, call in (*FORMS[row.name].items(), *enumerate(BELOW.get(row.name, ())))
]
# Whether these differ does not show in the arguments of a call.
UNSEEN = {row.name for row in OPERATIONS if row.silent and not watcher.sees(row)}


def backward(result: Any) -> None:  # noqa: ANN401 - what an operator gives
    given = [result] if isinstance(result, torch.Tensor) else list(result)
    grown = [each.sum() for each in given if each.requires_grad]
    if grown:
        torch.stack(grown).sum().backward()


@pytest.mark.parametrize(("row", "call"), CALLS)
def test_every_form_of_every_row_is_found(row: Operation, call: Callable[[str], object]) -> None:
    def step() -> None:
        if row.name == COMPILED:
            torch.compile(call)("cuda")
        else:
            backward(call("cuda"))

    report = guard.preflight(step)
    named = [each for each in report.found if each.name == row.name]
    assert named, report
    assert {each.verdict for each in named} == {"silent" if row.silent else "raises"}
    assert all(each.where is not None for each in named)
    if row.direction == "backward":
        assert {each.direction for each in named} == {"backward"}
    assert not report.is_clean


def test_what_cudnn_computes_is_followed_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    enabled = []
    original = torch._VF.lstm  # type: ignore[attr-defined]

    def lstm(*args: Any) -> Any:  # noqa: ANN401
        enabled.append(torch._C._get_cudnn_enabled())
        return original(*args)

    monkeypatch.setattr(torch._VF, "lstm", lstm)
    layer = torch.nn.LSTM(3, 4)

    def step(x: torch.Tensor) -> None:
        images, places = IMAGE("cuda"), torch.randn(2, 4, 4, 2, device="cuda")
        sampled = torch.ops.aten.cudnn_grid_sampler(images, places)
        (sampled.sum() + layer(x)[0].sum()).backward()
        assert images.grad is not None
        assert images.grad.shape == images.shape

    report = guard.preflight(step, torch.randn(5, 2, 3))
    assert report.complete
    assert {each.node for each in report.found} == {"CudnnGridSamplerBackward0"}
    assert enabled == [False]
    assert torch._C._get_cudnn_enabled()


def surveyed(step: Callable[[], object]) -> set[str]:
    with guard.survey() as found:
        step()
    return {each.operation.name if each.operation else each.name for each in found}


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("call", ON_GPU)
def test_a_gpu_does_what_is_predicted(call: Callable[[str], object]) -> None:
    def step() -> None:
        backward(call("cuda"))

    predicted = {each.name for each in guard.preflight(step).found} - UNSEEN
    assert surveyed(step) == predicted
    with guard.deterministic():
        if predicted:
            with pytest.raises(guard.NondeterministicOperationError):
                step()
        else:
            step()
    left = {each.name for each in guard.preflight(step, repair=True).found}
    with guard.deterministic(repair=True):
        if not left - UNSEEN:
            step()
