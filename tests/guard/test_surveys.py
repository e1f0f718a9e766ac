"""A survey runs on through every operator that would refuse, and lists them with places."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest

torch = pytest.importorskip("torch")

import guard  # noqa: E402
from guard.refusals.watch import Survey, _place  # noqa: E402

INDEX = torch.tensor([1])


class Pool(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, where = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
        return torch.nn.functional.max_unpool2d(y, where, 2)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stage = torch.nn.Sequential(Pool(), torch.nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.stage(x).flatten()
        return y.put(INDEX, torch.ones(1, requires_grad=True)).sum()


def test_all_operators_of_a_step_are_found_at_once() -> None:
    net = Net()
    with guard.survey() as found:
        for _ in range(3):
            net(torch.randn(1, 1, 4, 4, requires_grad=True)).backward()
    places = {(each.name, each.place.module if each.place else None): each for each in found}
    unpool = places["max_unpooling2d_forward_out", "stage.0"]
    assert unpool.times == 3
    assert unpool.place is not None
    assert "max_unpool2d(y, where, 2)" in unpool.place.code
    assert unpool.operation is not None
    put = places["put_", ""]
    assert put.place is not None
    assert put.times == 6  # forward, and the same line's backward
    assert len(found) == 2


def test_it_prints_places_counts_and_what_to_do() -> None:
    with guard.survey() as found:
        torch.zeros(4).put_(INDEX, torch.ones(1))
    first, place, code, instead = str(found).splitlines()
    assert first == (
        "guard.survey: 1 place runs an operator without a deterministic implementation"
    )
    assert place.startswith("  put_, once: ")
    assert "test_surveys.py, line " in place
    assert code.strip() == "torch.zeros(4).put_(INDEX, torch.ones(1))"
    assert instead.strip().startswith("instead: ")


def test_nothing_found_says_so() -> None:
    with guard.survey() as found:
        torch.ones(3) + 1
    assert len(found) == 0
    assert "every operator that ran has a deterministic implementation" in str(found)


@pytest.mark.parametrize("on", [True, False])
def test_it_leaves_things_as_they_were(*, on: bool) -> None:
    if on:
        guard.enable(seed=0)
    flags = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    show = warnings.showwarning
    with pytest.raises(KeyError), guard.survey():
        raise KeyError
    assert flags == (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    assert warnings.showwarning is show
    if on:
        with pytest.raises(guard.NondeterministicOperationError):
            torch.zeros(4).put_(INDEX, torch.ones(1))
    guard.disable()


def test_other_warnings_pass() -> None:
    with pytest.warns(UserWarning, match="mine"), guard.survey():
        warnings.warn("mine", UserWarning, stacklevel=1)


@pytest.mark.parametrize("name", ["use_deterministic_algorithms", "set_deterministic_debug_mode"])
def test_a_step_that_sets_the_switch_itself_is_surveyed_as_any_other(name: str) -> None:
    before = torch.get_deterministic_debug_mode()
    by_name = getattr(torch, name)
    with guard.survey() as found:
        by_name(True if name.startswith("use") else "error")
        torch.zeros(4).put_(INDEX, torch.ones(1))
        getattr(torch, name)(False if name.startswith("use") else "default")
        torch.zeros(4).put_(INDEX, torch.ones(1))
    assert [(each.name, each.times) for each in found] == [("put_", 1), ("put_", 1)]
    assert torch.get_deterministic_debug_mode() == before
    assert getattr(torch, name) is by_name


def test_what_a_step_sets_for_compiled_code_is_put_back() -> None:
    import torch._inductor.config as inductor

    before = inductor.deterministic
    by_name = torch.use_deterministic_algorithms
    with guard.survey():
        by_name(True)
    assert inductor.deterministic == before


def test_a_backward_that_refuses_in_anothers_name_has_its_own_and_its_place() -> None:
    found = Survey()
    _place(found, Counter({"put_": 1}), Counter({("torch.take", None): 1}))
    assert [(each.name, each.times) for each in found] == [("torch.take", 1)]
