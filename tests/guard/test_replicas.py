"""Replicas: ranks that leave the others are named, on every rank, with the tensor."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from programs import python

import guard
from guard.commands.run import _replicas_watched, main
from guard.replicas.check import Entry, first_departure, named

torch: Any = pytest.importorskip("torch")

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = Path(__file__).with_name("replicas_program.py")
NO_PROCESSES = pytest.mark.skipif(
    sys.platform != "linux", reason="torchrun and gloo are tested on Linux"
)


def entry(name: str, digest: str = "aa", detail: str = "float32[2]") -> Entry:
    return Entry(name, detail, digest)


@pytest.mark.parametrize(
    ("digests", "ranks"),
    [
        (("aa", "aa", "bb"), (2,)),
        (("bb", "aa", "aa"), (0,)),
        (("aa", "bb"), (1,)),
        (("bb", "aa", "aa", "bb"), (1, 2)),
        (("cc", "bb", "aa"), (1, 2)),
    ],
)
def test_the_majority_stays_and_of_equal_halves_that_with_the_lowest_rank(
    digests: tuple[str, ...], ranks: tuple[int, ...]
) -> None:
    listings = {rank: [entry("a"), entry("b", each)] for rank, each in enumerate(digests)}
    departure = first_departure(listings)
    assert departure is not None
    assert (departure.name, departure.ranks, departure.others) == ("b", ranks, 0)


@pytest.mark.parametrize(
    ("listings", "told"),
    [
        (
            {0: [entry("a")], 1: [entry("a", "bb")], 2: [entry("a")]},
            ["first tensor:  a, float32[2]", "rank 1:        bb", "ranks 0, 2:    aa"],
        ),
        (
            {0: [entry("a", detail="float32[3]")], 4: [entry("a")]},
            [
                "first tensor:  a",
                "rank 4:        float32[2], aa",
                "rank 0:        float32[3], aa",
            ],
        ),
        (
            {0: [entry("a"), entry("b"), entry("c")], 1: [entry("a")]},
            [
                "first tensor:  b, float32[2]",
                "rank 1:        has no such tensor",
                "rank 0:        aa",
                "and:           1 tensor differs further on",
            ],
        ),
        (
            {0: [entry("a"), entry("b")], 1: [entry("b"), entry("a")]},
            [
                "first tensor:  the same ones, in another order",
                "rank 1:        b, aa",
                "rank 0:        a, aa",
            ],
        ),
    ],
    ids=["values", "shapes", "missing", "order"],
)
def test_what_is_told_of_a_departure(listings: Mapping[int, list[Entry]], told: list[str]) -> None:
    assert [line.strip() for line in str(first_departure(listings)).splitlines()] == told


def test_no_departure_among_the_same() -> None:
    assert first_departure({rank: [entry("a"), entry("b")] for rank in range(3)}) is None


def test_many_ranks_are_not_all_listed() -> None:
    assert named([3]) == "rank 3"
    assert named(range(20)) == "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"


def test_one_process_has_nothing_to_compare() -> None:
    model = torch.nn.Linear(2, 2)
    assert not guard.check_replicas(model, batch=torch.ones(2))
    optimizer = torch.optim.SGD(model.parameters())
    with guard.watch_replicas(every=1):
        model(torch.ones(2)).sum().backward()
        optimizer.step()


def hooks() -> int:
    from torch.nn.modules import module
    from torch.optim import optimizer

    found = (
        optimizer._global_optimizer_pre_hooks,
        optimizer._global_optimizer_post_hooks,
        module._global_forward_pre_hooks,
    )
    return sum(map(len, found))


def test_hooks_are_taken_away_again() -> None:
    before = hooks()
    with guard.watch_replicas():
        assert hooks() == before + 3
    assert hooks() == before
    with _replicas_watched(None):
        assert hooks() == before
    with _replicas_watched(5):
        assert hooks() == before + 3


@pytest.mark.parametrize("every", [0, -1])
def test_every_is_a_count(every: int) -> None:
    with pytest.raises(ValueError, match=f"every is 1 or more, not {every}"):
        guard.check_replicas(torch.nn.Linear(1, 1), every=every)
    with pytest.raises(ValueError, match="every is 1 or more"), guard.watch_replicas(every=every):
        pass


def test_run_takes_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--replicas", "0", "train.py"])
    assert "'0' is not a whole number from 1 on" in capsys.readouterr().err


class OptimizedModule(torch.nn.Module):  # type: ignore[misc]
    """What torch.compile puts around a model, without the compiler."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        super().__init__()
        self._orig_mod = model


def test_what_is_compared_of_a_model() -> None:
    from guard.replicas.check import tensors_of, unwrapped

    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    model._ddp_params_and_buffers_to_ignore = ["0.bias"]
    compiled = OptimizedModule(model)
    assert unwrapped(torch.nn.DataParallel(compiled)) is model
    names = [name for name, _ in tensors_of(compiled, buffers=True)]
    assert names == [
        *("0.weight", "1.weight", "1.bias"),
        *("1.running_mean", "1.running_var", "1.num_batches_tracked"),
    ]


@pytest.mark.parametrize(
    ("attribute", "told"),
    [("ds_tensor", "DeepSpeed ZeRO-3"), ("_fsdp_flattened", "FullyShardedDataParallel")],
)
def test_shards_are_no_replicas(attribute: str, told: str) -> None:
    from guard.replicas.check import refuse_shards

    weight = torch.nn.Parameter(torch.ones(1))
    setattr(weight, attribute, True)
    with pytest.raises(guard.GuardError, match=rf"w is a shard: each rank .* \({told}\)"):
        refuse_shards([("w", weight)])


def test_where_a_group_takes_tensors() -> None:
    from guard.replicas.check import _device

    cpu, meta = torch.device("cpu"), torch.device("meta")
    assert _device("cpu:gloo,cuda:gloo", torch.device("cuda:1")) == cpu
    assert _device("cpu:gloo,cuda:nccl", torch.device("cuda:1")) == cpu
    assert _device("cuda:nccl", torch.device("cuda:1")) == torch.device("cuda:1")
    assert _device("meta:fake", meta) == meta


def test_names_of_tensors_that_only_an_optimizer_told_of() -> None:
    from guard.replicas.watch import name_of

    model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(1, 1)))
    assert name_of(model[0][0].bias) == "0.0.bias"
    assert name_of(torch.nn.Parameter(torch.ones(1))) == ""


@pytest.mark.parametrize(
    "error",
    [guard.ReplicasDifferError("text", (1, 2), "a.weight"), guard.SameBatchError("text", (0, 1))],
)
def test_errors_cross_processes(error: guard.GuardError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was pickled here
    assert (type(again), str(again), vars(again)) == (type(error), "text", vars(error))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each of three ranks made of each case, in one start of torchrun."""
    folder = tmp_path_factory.mktemp("replicas")
    done = python(
        *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"),
        *(PROGRAM, "out"),
        cwd=folder,
        environ={"PYTHONPATH": str(Path(guard.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"out.{rank}").read_text()) for rank in range(3)]


EXPECTED = {
    "before": "torchrun started 3 ranks, which are not connected yet",
    "that_agree": [True, False, True],
    "made_with_other_seeds": "ReplicasDifferError: rank 1 holds another model than rank 0\n"
    "  first tensor:  0.weight, float32[3, 4]\n",
    "one_of_which_leaves": "ReplicasDifferError: rank 2 holds another model than ranks 0, 1\n"
    "  first tensor:  2.weight, float32[2, 3]\n",
    "with_a_tensor_more": "ReplicasDifferError: rank 1 holds another model than ranks 0, 2\n"
    "  first tensor:  3.weight, float32[1, 2]\n",
    "of_other_shapes": "ReplicasDifferError: rank 0 holds another model than ranks 1, 2\n"
    "  first tensor:  weight\n  rank 0:        float32[4, 4], ",
    "given_the_same": "SameBatchError: ranks 0, 2 were given the same batch, bit for bit; found at "
    "call 1\n  batch:         {x: float32[5, 4], y: [1 int]}\n",
    "with_statistics_of_their_own": "ReplicasDifferError: rank 1 holds another model than rank 0\n"
    "  first tensor:  1.running_mean, float32[3]\n",
    "under_ddp": True,
    "not_at_the_same_call": "GuardError: the ranks are not at the same moment: rank 0 at call 3, "
    "rank 1 at call 2, rank 2 at call 2",
    "watched_without_their_model": "ReplicasDifferError: rank 1 holds another model than ranks "
    "0, 2\n  first tensor:  body.2.weight, float32[2, 3]\n",
    "watched_with_a_frozen_part": "ReplicasDifferError: rank 0 holds another model than ranks "
    "1, 2\n  first tensor:  body.2.weight, float32[2, 3]\n",
    "watched_and_given_the_same": "SameBatchError: ranks 0, 1, 2 were given the same batch, bit "
    "for bit; found at step 5 of SGD\n  batch:         ((), {x: float32[5, 4]})\n",
    "watched_with_closures": "SameBatchError: ranks 0, 1, 2 were given the same batch, bit for "
    "bit; found at step 3 of SGD\n",
    "watched_and_fine": ["trained", "trained"],
    "of_shards": "GuardError: weight is a shard: each rank holds another part of it (DTensor, S(0)",
}
BEFORE = {
    "made_with_other_seeds": "they have never agreed; this is call 1",
    "one_of_which_leaves": "all agreed at call 2; this is call 3",
    "watched_without_their_model": "all agreed at step 3 of SGD; this is step 5 of SGD",
    "watched_with_a_frozen_part": "they have never agreed; this is step 1 of SGD",
}


@NO_PROCESSES
@pytest.mark.parametrize("case", EXPECTED)
def test_every_rank_says_the_same(case: str, outcomes: list[dict[str, Any]]) -> None:
    told = [each[case] for each in outcomes]
    expected = EXPECTED[case]
    if isinstance(expected, str):
        assert told[0].startswith(expected)
        assert f"  before:        {BEFORE.get(case, '')}" in told[0] or case not in BEFORE
    else:
        assert told[0] == expected
    assert told == told[:1] * 3


@NO_PROCESSES
def test_a_group_is_compared_by_itself(outcomes: list[dict[str, Any]]) -> None:
    alone, *told = (each["a_group_of_two"] for each in outcomes)
    assert alone is False
    assert told[0] == told[1]
    assert told[0].startswith("ReplicasDifferError: rank 2 holds another model than rank 1\n")
