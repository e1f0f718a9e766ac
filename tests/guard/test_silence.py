"""Operators that differ without a word, on fake CUDA tensors: nothing is computed, and guard
sees the same arguments as with real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import guard  # noqa: E402
from detlint.operations import OPERATIONS  # noqa: E402
from guard.refusals import watcher  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def fake() -> Iterator[None]:
    with FakeTensorMode():
        yield


DIFFERS: dict[str, Callable[[], object]] = {
    "cumprod": lambda: torch.cumprod(torch.empty(8, device="cuda"), 0),
    "cumprod, the method": lambda: torch.empty(8, device="cuda").cumprod(dim=-1),
    "logcumsumexp of a row": lambda: torch.logcumsumexp(torch.empty(1, 8, device="cuda"), 1),
}
AGREES: dict[str, Callable[[], object]] = {
    "on the CPU": lambda: torch.cumprod(torch.empty(8), 0),
    "of integers": lambda: torch.cumprod(torch.empty(8, device="cuda", dtype=torch.int64), 0),
    "along rows": lambda: torch.cumprod(torch.empty(2, 8, device="cuda"), 1),
}


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("call", DIFFERS.values(), ids=DIFFERS)
def test_a_silent_operator_is_refused_in_strict_mode(call: Callable[[], object]) -> None:
    with guard.deterministic():
        with pytest.raises(guard.NondeterministicOperationError) as raised:
            call()
        assert "differs from run to run on CUDA" in str(raised.value)
        assert "test_silence.py, line " in str(raised.value)


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("call", AGREES.values(), ids=AGREES)
def test_what_agrees_runs(call: Callable[[], object]) -> None:
    with guard.deterministic():
        call()


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("options", [{"strict": False}, {"allow": ["cumprod"]}], ids=str)
def test_it_runs_where_it_is_wanted(options: dict[str, object]) -> None:
    with guard.deterministic(**options):
        DIFFERS["cumprod"]()


@pytest.mark.usefixtures("fake")
def test_a_survey_lists_it() -> None:
    with guard.survey() as found:
        DIFFERS["cumprod"]()
    assert [each.name for each in found] == ["torch.cumprod"]


def test_windows_that_overlap_are_told_from_those_that_do_not() -> None:
    (row,) = (each for each in OPERATIONS if each.name.endswith("adaptive_max_pool3d"))
    with FakeTensorMode():
        volume = torch.empty(1, 1, 6, 6, 6, device="cuda")
        assert watcher.differs(row, (volume, 4), {})
        assert watcher.differs(row, (volume,), {"output_size": (6, 6, 5)})
        assert not watcher.differs(row, (volume, 3), {})
        assert not watcher.differs(row, (volume, (None, 2, 6)), {})


@pytest.mark.parametrize(
    ("release", "rest", "channels", "differs"),
    [
        ("2.12.1", (0, 0, True), 3, True),
        ("2.12.1", (0, 0, False), 3, False),
        ("2.12.1", (1, 0, True), 3, False),
        ("2.12.1", (0, 1, True), 3, False),
        ("2.12.1", (0, 0, True), 1025, False),
        ("2.13.0", (0, 0, True), 3, False),
    ],
)
def test_what_goes_to_cudnns_grid_sampler_is_told_apart(
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    rest: tuple[object, ...],
    channels: int,
    *,
    differs: bool,
) -> None:
    monkeypatch.setattr(torch, "__version__", release)
    (row,) = (each for each in OPERATIONS if each.name.endswith("by cuDNN"))
    with FakeTensorMode():
        images = torch.empty(2, channels, 6, 6, device="cuda")
        places = torch.empty(2, 4, 4, 2, device="cuda")
    assert watcher.differs(row, (images, places, *rest), {}) is differs
    assert not watcher.differs(row, (images.cpu(), places.cpu(), *rest), {})


def test_every_test_belongs_to_a_silent_row() -> None:
    assert watcher._TESTS.keys() <= {row.name for row in OPERATIONS if row.silent}


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_backward_of_cudnns_grid_sampler_is_refused_by_torch_or_guard() -> None:
    images = torch.rand(2, 3, 6, 6, device="cuda", requires_grad=True)
    places = torch.rand(2, 4, 4, 2, device="cuda")
    with guard.deterministic():
        sampled = torch.nn.functional.grid_sample(images, places, align_corners=True)
        with pytest.raises(guard.NondeterministicOperationError, match="grid_sample"):
            sampled.sum().backward()


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_the_backward_of_overlapping_windows_is_refused() -> None:
    volume = torch.rand(1, 1, 6, 6, 6, device="cuda", requires_grad=True)
    with guard.deterministic():
        pooled = torch.nn.functional.adaptive_max_pool3d(volume, 4)
        with pytest.raises(guard.NondeterministicOperationError, match="adaptive_max_pool3d"):
            pooled.sum().backward()
