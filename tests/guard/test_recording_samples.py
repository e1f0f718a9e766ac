"""Samples of a batch, whatever their order; and what two runs tell by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

import guard  # noqa: E402
from guard.diff import Cause, compare, examine  # noqa: E402
from guard.digests.structures import SIZE, of_samples  # noqa: E402
from guard.trace import open_run  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from guard.diff import Difference


def number(value: object) -> int:
    found = of_samples(value)
    assert found is not None
    assert len(found) == SIZE
    return int.from_bytes(found, "little")


SHAPES = [(6,), (6, 3), (6, 5, 7), (6, 200), (6, 3, 16, 16)]
KINDS = [torch.float32, torch.int64, torch.uint8, torch.bool, torch.float16]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_order_does_not_count_and_all_else_does(
    shape: tuple[int, ...],
    kind: Any,  # noqa: ANN401 - a torch.dtype
) -> None:
    x = (torch.arange(torch.Size(shape).numel()).reshape(shape) * 7919 % 251).to(kind)
    turned = torch.tensor([3, 0, 5, 1, 2, 4])
    assert number(x) == number(x[turned]) == number(torch.stack([x, x], -1)[..., 0])
    assert number([x, turned]) == number([x[turned], turned[turned]])
    assert number([x, turned]) != number([x, turned[turned]])
    other = x.clone()
    other[0] = 1 - other[0].to(torch.uint8) if kind is torch.bool else other[0] + 1
    assert number(x) != number(other)
    if kind is not torch.bool:
        assert number(x) != number(x[:5])
        assert number(x) != number(x.float().double())


def test_sums_of_batches_add_up() -> None:
    data = {"x": torch.randn(12, 300), "y": torch.arange(12), "name": [str(n) for n in range(12)]}

    def batch(chosen: list[int]) -> dict[str, Any]:
        names = [data["name"][each] for each in chosen]
        return {"x": data["x"][chosen], "y": data["y"][chosen], "name": names}

    orders = (
        [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11]],
        [[9, 11, 0, 2, 7], [1, 3, 4, 5, 6], [10, 8]],
    )
    sums = [sum(number(batch(chosen)) for chosen in order) % (1 << 64) for order in orders]
    assert sums[0] == sums[1]
    short = [sum(number(batch(each)) & 0xFFFFFFFF for each in order) for order in orders]
    assert (short[0] - short[1]) % (1 << 32) == 0


@pytest.mark.parametrize(
    "value",
    [
        3,
        [],
        torch.tensor(1.0),
        torch.empty(0, 3),
        {"x": torch.ones(2), "of": object()},
        (torch.ones(2), torch.ones(3)),
        torch.ones(2, device="meta"),
        torch.ones(2, 2).to_sparse(),
    ],
)
def test_what_has_no_samples(value: object) -> None:
    assert of_samples(value) is None


def test_samples_inside_a_transformation(tmp_path: Path) -> None:
    with guard.record(tmp_path):
        torch.func.vmap(torch.nn.Linear(3, 2))(torch.ones(4, 3))
    (trace,) = open_run(tmp_path)
    assert trace.end is not None
    assert trace.end.status == "finished"
    assert [each.name for each in trace.step(0).events if each.kind == "output"] == ["Linear"]


def test_samples_without_elements() -> None:
    assert number(torch.zeros(4, 0)) == number(torch.zeros(4, 0))


def epochs(
    folder: Path,
    orders: list[list[int]],
    *,
    noise: float = 0.0,
    loads: bool = True,
    size: int = 5,
) -> None:
    """A run over 12 samples, in batches of one size, in the orders of its epochs."""
    torch.manual_seed(0)
    data = torch.randn(12, 4)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with guard.record(folder, overwrite=True):
        for order in orders:
            held = [data[each] + noise for each in order]
            plain = [torch.stack(held[at : at + size]) for at in range(0, len(held), size)]
            for x in torch.utils.data.DataLoader(held, size) if loads else plain:
                model(x).pow(2).mean().backward()
                optimizer.step()
                optimizer.zero_grad()


def difference(folder: Path, **second: Any) -> Difference:
    forward = list(range(12))
    epochs(folder / "a", [forward, forward])
    given = {"orders": [forward, forward], **second}
    if not given.get("loads", True):
        epochs(folder / "a", [forward, forward], loads=False)
    epochs(folder / "b", **given)
    found = compare(open_run(folder / "a"), open_run(folder / "b"))
    assert found is not None
    return found


@pytest.mark.parametrize("loads", [True, False])
def test_samples_in_other_batches_are_an_order_at_the_end_of_the_epoch(
    tmp_path: Path, loads: bool
) -> None:
    mixed = [(5 * each + 2) % 12 for each in range(12)]
    found = difference(tmp_path, orders=[list(range(12)), mixed], loads=loads)
    assert (found.step, found.cause) == (3, Cause.BATCH_ORDER)
    told = "the 3 batches from there on, taken together, hold the same samples in another order"
    assert told in found.why


def test_samples_in_batches_of_another_size_have_no_other_order(tmp_path: Path) -> None:
    found = difference(tmp_path, size=4)
    assert (found.step, found.cause) == (0, Cause.BATCH_ORDER)
    told = (
        "the 3 batches from there on, taken together, hold the same samples in batches of another"
    )
    assert f"{told} size. Every recorded generator agrees. It is float32[5, 4] in" in found.why


def test_samples_in_another_order_within_the_batch(tmp_path: Path) -> None:
    turned = [4, 3, 2, 1, 0, *range(5, 12)]
    found = difference(tmp_path, orders=[turned, list(range(12))])
    assert (found.step, found.cause) == (0, Cause.BATCH_ORDER)
    assert "it holds the same samples in another order" in found.why


def test_other_samples(tmp_path: Path) -> None:
    found = difference(tmp_path, noise=1e-3)
    assert found.cause is Cause.BATCH_CONTENT
    assert "The 6 batches from there on do not hold the same samples" in found.why


def test_the_order_of_samples_alone_decides_nothing(tmp_path: Path) -> None:
    epochs(tmp_path / "a", [list(range(12))])
    (trace,) = open_run(tmp_path / "a")
    batch = next(each for each in trace.step(0).events if each.kind == "batch")
    assert len(batch.inputs) == trace.header.digest_size
    assert examine([trace], [trace]).difference is None
