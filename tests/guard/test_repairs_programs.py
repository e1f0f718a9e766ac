"""Programs that train with replacements: the same bits twice, the losses of a plain run, and
nothing that preflight finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from repair_cases import NO_SCATTER, NO_VISION
from repair_models import KEYS, PROGRAMS, Edges, Regions, trained

import guard
from guard.repairs import accounts
from guard.repairs.installation import installed
from guard.repairs.table import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

REGIONS = pytest.param(Regions, marks=pytest.mark.skipif(bool(NO_VISION), reason=NO_VISION))
EDGES = pytest.param(Edges, marks=pytest.mark.skipif(bool(NO_SCATTER), reason=NO_SCATTER))
by_program = pytest.mark.parametrize("program", [*PROGRAMS, REGIONS])
pytestmark = [
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:guard leaves"),  # of an old torch
    # torchvision compiles its deterministic roi_align on a GPU, and the compiler looks.
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
]


@pytest.mark.parametrize("program", [*PROGRAMS, REGIONS, EDGES])
def test_it_trains_to_the_same_bits_and_a_plain_runs_losses(
    program: Callable[[], nn.Module],
) -> None:
    _, plain = trained(program)
    accounts.forget()
    with guard.deterministic(), installed(REPAIRS, keys=KEYS):
        first, second = trained(program), trained(program)
    assert accounts.accounts()
    assert first == second
    assert first[1] == pytest.approx(plain, rel=1e-5)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@by_program
def test_it_trains_to_the_same_bits_on_a_gpu(program: Callable[[], nn.Module]) -> None:
    _, plain = trained(program, "cuda")
    accounts.forget()
    with guard.deterministic(repair=True):
        first, second = trained(program, "cuda"), trained(program, "cuda")
    assert accounts.accounts()
    assert first == second
    assert first[1] == pytest.approx(plain, rel=1e-4)


@by_program
def test_preflight_finds_nothing_that_refuses(program: Callable[[], nn.Module]) -> None:
    image = torch.randn(2, 3, 16, 20)
    plain = guard.preflight(program(), image)
    if not plain.complete:
        pytest.skip("this torch lacks what a whole preflight takes")
    assert plain.found
    report = guard.preflight(program(), image, repair=True)
    assert [each.operator for each in report.found] == []
    assert any(each.verdict == "repaired" for each in report.findings)
