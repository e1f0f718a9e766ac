"""Hash seeds that make small sets of strings differ: computed here, and as Python really has it."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING

import pytest
from programs import python, write

from detlint.dataflow.orders.string_sets import string_sets
from guard.verification import hash_seeds
from guard.verification.hash_seeds import COMMON, FIRST, HashSeeds, best, orders
from guard.verification.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

STRINGS = [
    "",
    "a",
    "train",
    "abcdefgh",
    "abcdefghi" * 3,
    "\xe9",
    "\u017c\xf3\u0142w",
    "\U0001f600 x",
]
NAMES = ("red", "green", "blue", "black", "white", "pink", "gray", "cyan")

pytestmark = pytest.mark.skipif(
    not hash_seeds.is_known(), reason="this Python hashes strings in a way of its own"
)


@pytest.mark.parametrize("seed", [0, 1, 71, 4294967295])
def test_hashes_are_those_of_python(tmp_path: Path, seed: int) -> None:
    code = "import ast, sys; print([hash(each) for each in ast.literal_eval(sys.argv[1])])"
    done = python("-c", code, ascii(STRINGS), cwd=tmp_path, environ={"PYTHONHASHSEED": str(seed)})
    assert ast.literal_eval(done.stdout) == hash_seeds.hashes(STRINGS, seed), done.stderr


@pytest.mark.parametrize("seed", [1, 5])
@pytest.mark.parametrize("count", range(2, 9))
def test_orders_are_those_of_python(tmp_path: Path, count: int, seed: int) -> None:
    names = NAMES[:count]
    held = "{" + ", ".join(map(repr, names)) + "}"
    code = f"found = {held}; print([[*set({names})], [*found], [each for each in {held}]])"
    done = python("-c", code, cwd=tmp_path, environ={"PYTHONHASHSEED": str(seed)})
    filled, *written = map(tuple, ast.literal_eval(done.stdout))
    assert filled == orders(names, seed)[0]
    assert set(written) <= set(orders(names, seed))


TEXT = """
    NAMES: tuple = ("red", "green", "blue")
    COLOURS = NAMES
    a = {"x", "y", "x", 3}
    b = set(NAMES)
    c = frozenset("abc")
    d = {f"part{i}.bin" for i in range(3)}
    e = set(name for name in ["u", "v"])
    f = set("left right".split())
    g = {"only"} | set(range(4)) | set(COLOURS) | set(read())
    h = [1, "left", "up"]
    i = {"lr": 0.1, "decay": 0, **given}
    i = set([each for each in i])
    """


def test_small_sets_are_read_from_the_text(tmp_path: Path) -> None:
    files = [str(write(tmp_path / "a.py", TEXT)), str(tmp_path / "none.py")]
    found = string_sets(Text(files).trees.values())
    assert set(found.sets) == {
        ("x", "y"),
        ("red", "green", "blue"),
        ("a", "b", "c"),
        ("part0.bin", "part1.bin", "part2.bin"),
        ("u", "v"),
        ("left", "right"),
        ("0", "1", "2", "3"),
        ("lr", "decay"),
    }
    assert set(found.others) == {("left", "up")}


@pytest.mark.parametrize("count", range(2, 9))
def test_a_set_of_the_program_has_another_order_and_no_string_its_place(
    tmp_path: Path, count: int
) -> None:
    script = write(tmp_path / "train.py", f"print([*set({NAMES[:count]})])")
    seeds = HashSeeds(Text([str(script)]))
    assert seeds.of(0) == FIRST
    assert len({seeds.of(run) for run in range(4)}) == 4
    for run in range(1, 4):
        pairs = zip(orders(NAMES[:count], FIRST), orders(NAMES[:count], seeds.of(run)), strict=True)
        assert all(a != b for pair in pairs for a, b in zip(*pair, strict=True))


def test_ten_sets_all_have_another_order() -> None:
    sets = [tuple(f"{name}{number}" for name in NAMES[:3]) for number in range(10)]
    seed = best(range(2, 402), [sets, COMMON])
    for strings in sets:
        assert not set(orders(strings, FIRST)) & set(orders(strings, seed))


BY_INDEX = """
    import torch

    NAMES = [{names}]
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    place = list(set(NAMES)).index("{name}")
    for step in range(2):
        loss = net(torch.full((2, 4), float(place))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


@pytest.mark.parametrize("name", ["red", "white"])
def test_two_runs_never_agree_by_the_luck_of_a_place(tmp_path: Path, name: str) -> None:
    pytest.importorskip("torch")
    names = ", ".join(map(repr, NAMES[:5]))
    write(tmp_path / "train.py", BY_INDEX.format(names=names, name=name))
    done = python("-m", "guard", "verify", "--json", "train.py", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert found["verify"]["circumstance"] == "hashes"
    assert found["difference"]["step"] == 0
