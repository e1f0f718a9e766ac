"""Fingerprints: other bytes, dtypes, shapes, orders and keys give others, and nothing else does."""

# ruff: noqa: ANN401 - torch hands anything on

from __future__ import annotations

import array
import dataclasses
import enum
import re
import timeit
from collections import OrderedDict, namedtuple
from itertools import combinations
from struct import unpack
from typing import Any

import numpy as np
import pytest
from programs import python

torch = pytest.importorskip("torch")

from guard.digests import device_sums  # noqa: E402
from guard.digests.device_sums import Pending, joined, known  # noqa: E402
from guard.digests.structures import fingerprint  # noqa: E402
from guard.digests.tensors import form_of, seen  # noqa: E402

VALUES = torch.tensor([[1.0, -2.0, 0.0], [3.5, 4.0, -0.5]])


def digest(value: object) -> bytes:
    found = fingerprint(value).digest
    assert isinstance(found, bytes)
    assert len(found) == 16
    return found


def all_differ(values: list[Any]) -> None:
    assert len({digest(each) for each in values}) == len(values)


DTYPES = [
    each
    for each in vars(torch).values()
    if isinstance(each, torch.dtype)
    and each not in (torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4)
]


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize("dtype", sorted(set(DTYPES), key=str), ids=str)
def test_every_dtype_is_read_as_it_lies(dtype: torch.dtype) -> None:
    if re.fullmatch(r"torch\.(u?int[1-7]|bits\w+)", str(dtype)):
        pytest.skip("torch has the name, and no storage for it yet")
    first = torch.zeros(16, dtype=torch.uint8).view(dtype)
    second = torch.zeros(16, dtype=torch.uint8)
    second[7] = 1
    assert digest(first) == digest(first.clone())
    assert digest(first) != digest(second.view(dtype))
    assert digest(first) != digest(torch.zeros(16, dtype=torch.uint8).view(dtype)[:-1])


def test_equal_bytes_of_other_dtypes_and_shapes_differ() -> None:
    zeros = [torch.zeros(4, dtype=each) for each in (torch.int32, torch.float32, torch.uint32)]
    all_differ([*zeros, torch.zeros(2, 2), torch.zeros(1, 4), torch.zeros(4, 1), torch.zeros(8)])
    all_differ([torch.zeros(0), torch.zeros(0, 3), torch.zeros(3, 0), torch.zeros(0).double()])


def test_signs_of_zero_and_bits_of_nan_count() -> None:
    nans = torch.tensor([0x7FC00000, 0x7FC00001], dtype=torch.int32).view(torch.float32)
    all_differ([torch.tensor(0.0), torch.tensor(-0.0), nans[0].clone(), nans[1].clone()])


def test_strides_do_not_count() -> None:
    image = torch.randn(2, 3, 4, 5)
    wide = torch.randn(4, 12)
    assert digest(image) == digest(image.to(memory_format=torch.channels_last))
    assert digest(VALUES) == digest(VALUES.t().contiguous().t())
    assert digest(wide[:, ::2]) == digest(wide[:, ::2].contiguous())
    assert digest(torch.ones(1).expand(5)) == digest(torch.ones(5))
    assert digest(wide[1:, 2:]) == digest(wide[1:, 2:].clone())


def test_order_counts() -> None:
    values = torch.arange(6.0)
    all_differ([values, values.flip(0), values[[1, 0, 2, 3, 4, 5]]])


def test_lazy_conjugation_and_negation_are_resolved() -> None:
    values = torch.tensor([1 + 2j, 3 - 4j])
    assert digest(values.conj()) == digest(values.conj().resolve_conj())
    assert digest(values.conj()) != digest(values)
    assert digest(values.conj().imag) == digest(values.conj().imag.resolve_neg())
    assert digest(values.conj().imag) != digest(values.imag)


def test_gradients_graphs_and_flags_are_left_alone() -> None:
    values = torch.randn(3, 4, requires_grad=True)
    result = (values * 2).t()
    version = result._version
    assert digest(result) == digest(result.detach().clone())
    assert (result._version, result.requires_grad) == (version, True)
    result.sum().backward()
    with torch.inference_mode():
        assert digest(values * 2) == digest((values * 2).clone())


@pytest.mark.filterwarnings("ignore:Sparse CS")
def test_sparse_tensors_by_what_they_hold() -> None:
    dense = torch.eye(3)
    kinds = [dense, dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()]
    all_differ(kinds)
    assert digest(dense.to_sparse()) == digest(dense.to_sparse().clone())
    assert digest(dense.to_sparse()) != digest((2 * dense).to_sparse())


@pytest.mark.filterwarnings("ignore:torch.quantize_per")
def test_quantized_tensors_by_numbers_and_scales() -> None:
    values = torch.randn(4, 3)
    first = torch.quantize_per_tensor(values, 0.1, 2, torch.qint8)
    other = torch._make_per_tensor_quantized_tensor(first.int_repr(), 0.2, 2)
    scales, zeros = torch.rand(4) + 0.1, torch.zeros(4, dtype=torch.long)
    channels = torch.quantize_per_channel(values, scales, zeros, 0, torch.qint8)
    all_differ([first, other, channels])
    assert digest(first) == digest(first.clone())


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_by_their_parts() -> None:
    parts = [torch.ones(2, 3), torch.ones(4, 3)]
    layouts: list[Any] = [{}, {"layout": torch.jagged}]
    for options in layouts:
        first = torch.nested.nested_tensor(parts, **options)
        other = torch.nested.nested_tensor([parts[0], 2 * parts[1]], **options)
        assert digest(first) == digest(torch.nested.nested_tensor(parts, **options))
        assert digest(first) != digest(other)


def test_tensors_without_data_by_what_is_known() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    all_differ([torch.zeros(2, device="meta"), torch.zeros(3, device="meta")])
    with FakeTensorMode():
        fake = torch.zeros(2, 3)
    assert digest(fake) == digest(fake)
    assert digest(torch.nn.parameter.UninitializedParameter()) == digest(
        torch.nn.parameter.UninitializedParameter()
    )
    gone = torch.ones(4)
    gone.untyped_storage().resize_(0)
    assert digest(gone) != digest(torch.ones(4))


class Marked(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *_: object) -> Any:
        raise AssertionError("the fingerprint of a tensor calls none of its functions")


def test_subclasses_by_their_data() -> None:
    marked = torch.ones(3).as_subclass(Marked)
    assert digest(marked) == digest(torch.ones(3))
    assert digest(torch.nn.Parameter(VALUES)) == digest(VALUES)


def test_shards_by_their_local_part() -> None:
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

        mesh = init_device_mesh("cpu", (1,))
        shard = distribute_tensor(VALUES, mesh, [Shard(0)])
        assert digest(shard) == digest(distribute_tensor(VALUES.clone(), mesh, [Shard(0)]))
        assert digest(shard) != digest(distribute_tensor(2 * VALUES, mesh, [Shard(0)]))
        assert digest(shard) != digest(distribute_tensor(VALUES, mesh, [Replicate()]))
    finally:
        distributed.destroy_process_group()


def test_tensors_inside_transformations() -> None:
    seen = []

    def look(x: torch.Tensor) -> torch.Tensor:
        seen.append(digest(x))
        return x.sum()

    torch.func.vmap(look)(VALUES)
    torch.func.grad(look)(VALUES)
    assert seen[1] == digest(VALUES)
    assert len(seen) == 2


def test_modes_of_the_program_see_nothing() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Refusing(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, *_: Any) -> Any:
            raise AssertionError(func)

    sparse, turned = torch.eye(2).to_sparse(), VALUES.t()
    expected = digest(sparse), digest(turned)
    with Refusing():
        assert (digest(sparse), digest(turned)) == expected


Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - as old programs have it


@dataclasses.dataclass
class Sample:
    image: Any
    label: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Plain:
    def __init__(self, value: object) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


ONE, TWO = torch.ones(2), torch.full((2,), 2.0)
DIFFERENT = [
    [ONE, TWO],
    [TWO, ONE],
    (ONE, TWO),
    [ONE, [TWO]],
    [[ONE], TWO],
    [],
    (),
    {},
    [[]],
    None,
    {"a": ONE, "b": TWO},
    {"b": TWO, "a": ONE},
    {"a": TWO, "b": ONE},
    {0: ONE, 1: TWO},
    Sample(ONE, 1),
    Sample(ONE, 2),
    Plain(ONE),
    Plain(TWO),
    Slotted(ONE),
    Slotted(1),
    "text",
    b"text",
    "text ",
    ["te", "xt"],
    1,
    1.0,
    True,
    "1",
    [1, 2],
    [1, "2"],
    [2, 1],
    0.0,
    -0.0,
    Colour.RED,
    Colour.BLUE,
    {1, 2},
    {1, 3},
    np.ones(2),
    np.ones(2, np.float32),
    np.ones((2, 1)),
    np.array(["a", "b"]),
    np.array(["a", None], dtype=object),
    np.float64(1),
    np.int64(1),
    array.array("i", [1, 2]),
    torch.float32,
    torch.device("cpu"),
    Plain,
    len,
    slice(1, 2),
]


def test_structures_that_differ_in_anything() -> None:
    for left, right in combinations(range(len(DIFFERENT)), 2):
        assert digest(DIFFERENT[left]) != digest(DIFFERENT[right]), (left, right)


def test_structures_made_anew_are_the_same() -> None:
    assert digest({"a": [ONE, "x"], "b": Plain(3)}) == digest({"a": [ONE + 0, "x"], "b": Plain(3)})
    assert digest({f"{number}" for number in range(50)}) == digest(
        {f"{number}" for number in reversed(range(50))}
    )
    assert digest(np.arange(6).reshape(2, 3).T) == digest(np.arange(6).reshape(2, 3).T.copy())
    assert digest(OrderedDict(a=1)) == digest({"a": 1})
    assert digest(Pair(ONE, TWO)) == digest((ONE, TWO))


def test_a_structure_within_itself_ends() -> None:
    around: list[Any] = [ONE]
    around.append(around)
    assert digest(around) != digest([ONE])


def test_details_say_what_it_is() -> None:
    assert fingerprint([ONE, {"y": 3}]).detail == "[float32[2], {y: int}]"
    assert fingerprint(np.ones(3)).detail == "numpy float64[3]"
    assert fingerprint(list(range(9))).detail == "[9 int]"
    assert len(fingerprint([torch.ones([1] * 9)] * 50).detail) < 200


def test_without_xxhash_there_is_another_hash(tmp_path: Any) -> None:
    program = """if 1:
        import sys
        sys.modules["xxhash"] = None
        import torch
        from guard.digests.hashing import HASH
        from guard.digests.structures import fingerprint
        values = [torch.ones(2), torch.ones(3), torch.zeros(2), "a", [1]]
        print(HASH, len({fingerprint(each).digest for each in values}), end="")
    """
    assert python("-c", program, cwd=tmp_path).stdout == "sha256 5"


# What a GPU works out by itself; the same operators run on the CPU here


def summed(tensor: torch.Tensor) -> bytes:
    with torch.no_grad():
        (found,) = known([device_sums.pending(tensor, 0)])
    return found


def test_sums_differ_where_bytes_do() -> None:
    values = torch.randn(64)
    others = [values]
    for index in (0, 13, 63):
        for other in (
            -values[index],
            torch.nextafter(values[index], torch.tensor(9.0)),
            torch.tensor(0.0),
            values[5],
        ):
            changed = values.clone()
            changed[index] = other
            others.append(changed)
    for left, right in ((0, 1), (3, 60)):
        swapped = values.clone()
        swapped[left], swapped[right] = values[right].clone(), values[left].clone()
        signs = values.clone()
        signs[[left, right]] *= -1
        others += [swapped, signs]
    assert len({summed(each) for each in others}) == len(others)


def test_sums_of_signs_alone_do_not_collide() -> None:
    """Two highest bits are the worst case of a sum; 1,225 pairs of them here."""
    values = torch.randn(200).double()
    seen = {summed(values)}
    pairs = list(combinations(range(0, 200, 4), 2))
    for left, right in pairs:
        changed = values.clone()
        changed[[left, right]] *= -1
        seen.add(summed(changed))
    assert len(seen) == len(pairs) + 1


def test_sums_of_one_word_do_not_collide() -> None:
    """A difference of one word shows for certain: keys are odd."""
    values = torch.zeros(300, dtype=torch.int32)
    seen = set()
    for place in range(0, 300, 3):
        for bit in range(32):
            changed = values.clone()
            changed[place] = 1 << bit if bit < 31 else -(1 << 31)
            seen.add(summed(changed))
    assert len(seen) == 100 * 32


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is laid, and what is read at a time, is a hundred words."""
    for name, words in (("LAID", 64), ("BLOCK", 4), ("LARGE", 48), ("COLUMNS", 8), ("STAGED", 40)):
        monkeypatch.setattr(device_sums, f"_{name}", words)
    monkeypatch.setattr(device_sums, "_BESIDE", 16)
    monkeypatch.setattr(device_sums, "_products", {})


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 99])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.complex128])
def test_sums_of_any_size(dtype: torch.dtype, count: int) -> None:
    whole = torch.arange(count + 1, dtype=torch.int64).to(dtype)
    values = whole[1:]  # whose start may be at no multiple of 4
    assert summed(values) == summed(values.clone()[:count])
    if count > 2:
        assert summed(values) != summed(values.flip(0))


@pytest.mark.usefixtures("small")
def test_what_is_laid_beside_others_has_the_sum_that_it_has_by_itself() -> None:
    shapes = [(3, 5), (7,), (), (0,), (2, 9), (4, 4), (60,), (130,), (1, 3)]
    tensors = [torch.randn(shape).to(dtype) for shape in shapes for dtype in DTYPES]
    alone = [summed(each) for each in tensors]
    beside = device_sums.Beside(tensors, [0] * len(tensors))
    for _ in range(3):
        assert known(beside.read(tensors)) == alone
        assert [summed(each) for each in tensors] == alone
    others = [each + 1 for each in tensors]
    assert known(beside.read(others)) == [summed(each) for each in others]


DTYPES = (torch.float32, torch.bfloat16, torch.float64, torch.uint8)


@pytest.mark.usefixtures("small")
def test_sums_are_read_together_and_in_any_order() -> None:
    tensors = [torch.randn(count) for count in (3, 90, 5, 60, 1, 40)]
    numbers = [torch.tensor(2.5), torch.tensor([-1], dtype=torch.int64)]
    alone = [summed(each) for each in tensors]
    pending = [device_sums.pending(each, 0) for each in tensors]
    first, second = map(device_sums.number, numbers)
    whole = joined([b"list", *pending], 0)
    assert isinstance(whole, Pending)
    found = known([second, whole, *reversed(pending), first])
    assert found[2:-1] == alone[::-1]
    assert [unpack("<d", each.bits) for each in (first, second)] == [(2.5,), (-1.0,)]
    assert found[1] == joined([b"list", *alone], 0)
    assert known([whole]) == found[1:2]


def test_sums_of_what_an_inference_made() -> None:
    with torch.inference_mode():
        device_sums._products.clear()
        inner = summed(torch.ones(5))
    assert inner == summed(torch.ones(5))


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_sums_as_the_cpu_does() -> None:
    for count in (7, 300_001, 3_000_001):
        values = torch.randn(count)
        assert summed(values) == summed(values.cuda())
    tensors = [torch.randn(5, 3), torch.randn(70_000), torch.randn(9).bfloat16(), torch.randn(2)]
    given = [each.cuda() for each in tensors]
    beside = device_sums.Beside(given, [0] * 4)
    assert known(beside.read(given)) == [summed(each) for each in tensors]
    found = fingerprint([values.cuda(), "a"]).digest
    assert isinstance(found, Pending)
    assert len(known([found])[0]) == 16


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_what_another_stream_has_made_is_summed_there() -> None:
    values = torch.randn(1000)
    with torch.cuda.stream(torch.cuda.Stream()):
        there = values.cuda() * 2
        beside = device_sums.Beside([there], [0])
        pending = [device_sums.pending(there, 0), *beside.read([there])]
    assert known(pending) == [summed(values * 2)] * 2
    torch.cuda.current_stream().synchronize()
    assert known(beside.read([there])) == [summed(values * 2)]


def test_it_is_quick() -> None:
    values, form = torch.ones(4), form_of(torch.ones(4))
    taken = min(timeit.repeat(lambda: seen(values, form), number=2000, repeat=5)) / 2000
    assert taken < 20e-6


def test_storages_are_told_apart_by_their_bytes() -> None:
    one, same, other = (
        fingerprint((each.untyped_storage(),))
        for each in (torch.ones(4), torch.ones(4), torch.zeros(4))
    )
    assert one == same
    assert one.digest != other.digest
    assert "16 bytes" in one.detail
