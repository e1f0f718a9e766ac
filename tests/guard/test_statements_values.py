"""What a statement reads and binds, and how values are told apart."""

from __future__ import annotations

import dataclasses
import enum
import random
import sys
import threading
import uuid
from collections import deque
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from guard.diff.statements import differ
from guard.digests.traits import MISSING, SETS, STRINGS, traits_of, value_of
from guard.digests.values import Digests
from guard.observe.statements import statements

PARTS = {
    "x = a + b": ((("a",), ("b",)), (("x",),), ()),
    "x += a": ((("a",), ("x",)), (("x",),), ()),
    "self.x = self.y.z": ((("self", "y", "z"),), (("self", "x"),), ()),
    "d[k] = v": ((("v",), ("d",), ("k",)), (("d",),), ()),
    "d['lr'] = v": ((("v",),), (("d", "[lr]"),), ()),
    "x.append(y)": ((("x",), ("y",)), (), (("x",), ("y",))),
    "x = [f(a) for a in b]": ((("f",), ("b",)), (("x",),), ()),
    "x = lambda a: a + b": ((("b",),), (("x",),), ()),
    "m.register_buffer('c', t)": ((("m",), ("t",)), (("m", "c"),), (("m",), ("t",))),
    "del x": ((), (("x",),), ()),
    "for a, b in c:\n    pass": ((("c",),), (("a",), ("b",)), ()),
    "with f(a) as b:\n    pass": ((("f",), ("a",)), (("b",),), (("a",),)),
    "if (n := a) > b:\n    pass": ((("a",), ("b",)), (("n",),), ()),
    "match a:\n    case [b]:\n        pass": ((("a",),), (), ()),
    "while a.done():\n    pass": ((("a",),), (), (("a",),)),
}


@pytest.mark.parametrize("text", PARTS)
def test_what_a_statement_reads_binds_and_touches(text: str) -> None:
    reads, writes, touches = PARTS[text]
    found = statements(text)[1]
    assert set(found.reads) == set(reads)
    assert set(found.writes) == set(writes)
    assert set(found.touches) == set(touches)


def test_lines_of_a_statement_are_its_own() -> None:
    found = statements("x = f(\n    1,\n)\nif x:\n    y = 2\nelse:\n    y = 3\n")
    assert found[1] is found[3]
    assert [found[line].kind for line in (4, 5, 7)] == ["If", "Assign", "Assign"]


def test_a_case_binds_names() -> None:
    text = "match a:\n  case [b, *c] if b > d:\n    x = 1\n  case {'k': e.f, **g}:\n    y = 1\n"
    found = statements(text + "  case P(x=h) | h:\n    z = 1\n")
    assert [found[line].kind for line in (1, 2, 3, 4, 5)] == [
        *("Match", "match_case", "Assign", "match_case", "Assign")
    ]
    assert set(found[2].writes) == {("b",), ("c",)}
    assert set(found[2].reads) == {("a",), ("b",), ("d",)}
    assert set(found[4].writes) == {("g",)}
    assert set(found[4].reads) == {("a",), ("e", "f")}
    assert set(found[6].writes) == {("h",)}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="not Python yet")
def test_a_try_with_groups_is_no_statement() -> None:
    found = statements("try:\n    x = 1\nexcept* ValueError:\n    y = 1\n")
    assert sorted(found) == [2, 4]


class Slots:
    """One without a dictionary."""

    __slots__ = ("x", "y")

    def __init__(self, x: int) -> None:
        self.x = x


class Point:
    """A class of the program's own."""

    def __init__(self, x: int) -> None:
        self.x = x

    @property
    def y(self) -> int:
        """Not to be asked."""
        raise AssertionError


def drawn(times: int) -> np.random.RandomState:
    """A generator that has been drawn from."""
    found = np.random.RandomState(0)
    found.rand(times)
    return found


EQUAL: list[tuple[Any, Any]] = [
    ({"a", "b", "c"}, {"c", "b", "a"}),
    ({(n, str(n)) for n in range(1000)}, {(n, str(n)) for n in range(999, -1, -1)}),
    ({(n, (n,)) for n in range(150)}, {(n, (n,)) for n in range(149, -1, -1)}),
    (set(range(0, 2**40, 2**26)), set(range(2**40 - 2**26, -1, -(2**26)))),
    ([1, "b", 2.5], [1, "b", 2.5]),
    (Point(3), Point(3)),
    (Slots(3), Slots(3)),
    (random.Random(3), random.Random(3)),
    (np.random.SeedSequence(3), np.random.SeedSequence(3)),
    (np.random.SeedSequence(3).spawn(2), np.random.SeedSequence(3).spawn(2)),
    (np.random.PCG64(3), np.random.PCG64(3)),
    (deque([1]), deque([1])),
    (slice(1, 5), slice(1, 5)),
    (Path("a/b"), Path("a/b")),
    (f"data/{uuid.uuid4().hex}.npy", f"data/{uuid.uuid4().hex}.npy"),
]
UNEQUAL: list[tuple[Any, Any]] = [
    ([1, 2], [2, 1]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a"}, {"b"}),
    ({(n, n) for n in range(100)}, {(n, n) for n in range(1, 101)}),
    (1, 1.0),
    ("abcd", "abce"),
    (Point(3), Point(4)),
    (Slots(3), Slots(4)),
    (slice(1, 5), slice(1, 6)),
    (range(0, 9, 2), range(0, 9, 3)),
    ({n: n for n in range(100)}, {n: n + (n == 90) for n in range(100)}),
    ({str(n): str(n) for n in range(100)}, {str(n): str(n + (n == 90)) for n in range(100)}),
    (random.Random(3), random.Random(4)),
    (np.random.SeedSequence(), np.random.SeedSequence()),  # detlint: ignore[DET101] so they differ
    (np.random.SeedSequence(3), np.random.SeedSequence(3).spawn(1)[0]),
    (np.random.MT19937(3), np.random.MT19937(4)),
    (10**5000, 10**5000 + 1),
    (drawn(1), drawn(2)),
    ([str(n) for n in range(500)], [str(n) for n in range(499, -1, -1)]),
]


class Worker(threading.Thread):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed


@pytest.mark.parametrize("pair", EQUAL, ids=lambda pair: type(pair[0]).__name__)
def test_values_that_agree(pair: tuple[Any, Any]) -> None:
    assert Digests().of(pair[0]) == Digests().of(pair[1])


@pytest.mark.parametrize("pair", UNEQUAL, ids=lambda pair: type(pair[0]).__name__)
def test_values_that_differ(pair: tuple[Any, Any]) -> None:
    assert differ(Digests().of(pair[0]), Digests().of(pair[1]))


def test_what_a_thread_notes_of_itself_is_no_part_of_it() -> None:
    ones = [Worker(3), Worker(3), Worker(4)]
    first, second, other = (Digests().of(each) for each in ones)
    ones[0].start()
    ones[0].join()
    assert first == second == Digests().of(ones[0])
    assert differ(first, other)


def test_other_objects_are_told_by_which_was_seen_first() -> None:
    ones, others = Digests(), Digests()
    first, second = [{iter, each} and SimpleNamespace() for each in range(2)], SimpleNamespace()
    assert [ones.identity(first[0]), ones.identity(first[1])] == [
        others.identity(second),
        others.identity(first[0]),
    ]


def test_a_path_is_followed_without_asking_the_object() -> None:
    held = {"p": Point(3), "d": {"lr": 2}, "t": (1, 2)}
    assert value_of(("p", "x"), held, {}) == 3
    assert value_of(("p", "y"), held, {}) is MISSING
    assert value_of(("d", "[lr]"), held, {}) == 2
    assert value_of(("t", "[1]"), held, {}) == 2
    assert value_of(("d", "[--1]"), held, {}) is MISSING
    assert value_of(("q",), held, {"q": 1}) == 1


def _refuses(*_: object) -> Any:  # noqa: ANN401
    raise AssertionError


def test_no_method_of_the_programs_is_called() -> None:
    names = ("__len__", "__iter__", "__getitem__", "__fspath__", "__eq__", "__bytes__", "__repr__")
    refusing: dict[str, Any] = dict.fromkeys(names, _refuses)
    refusing["__hash__"] = object.__hash__
    refusing["__class__"] = refusing["__dict__"] = property(_refuses)
    bases = ((list, [1]), (tuple, (1,)), (dict, {1: 2}), (set, {1}), (bytearray, b"abcd"))
    for base, content in bases:
        kind = type("Own", (base,), dict(refusing))
        assert Digests().of(kind(content)) == Digests().of(base(content))
    zone = type("Zone", (tzinfo,), dict(refusing))()
    assert Digests().of(datetime(2020, 1, 1, tzinfo=zone))
    seen = Digests()
    assert seen.of(type("Own", (), dict(refusing))())
    assert value_of(("p", "x"), {"p": type("Own", (), {**refusing, "x": 3})()}, {}) == 3


def _of_strings() -> list[object]:
    @dataclasses.dataclass(frozen=True)
    class Visit:
        patient: str

    @dataclasses.dataclass(frozen=True, slots=True)
    class Slotted:
        patient: str

    class Edge(NamedTuple):
        head: str

    colour = enum.Enum("colour", "RED")
    texts = enum.Enum("texts", {"RED": "red"}, type=str)
    today = date(2020, 1, 1)
    return [Visit("a"), Slotted("a"), Edge("a"), colour.RED, texts.RED, today, ("a", 1), Path("a")]


@pytest.mark.parametrize("value", _of_strings(), ids=lambda each: type(each).__name__)
def test_hashes_that_come_from_strings(value: object) -> None:
    assert traits_of([{value}]) == SETS | STRINGS


@pytest.mark.parametrize("value", [1, (1, 2), timedelta(1), 2.5])
def test_hashes_that_come_from_numbers(value: object) -> None:
    assert traits_of([{value}]) == SETS
