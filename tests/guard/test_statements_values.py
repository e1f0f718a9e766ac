"""What a statement reads and binds, and how values are told apart."""

from __future__ import annotations

import random
import uuid
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from guard.statements.locations import MISSING, value_of
from guard.statements.pairs import differ
from guard.statements.syntax import statements
from guard.statements.values import Digests

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


class Point:
    """A class of the program's own."""

    def __init__(self, x: int) -> None:
        self.x = x

    @property
    def y(self) -> int:
        """Not to be asked."""
        raise AssertionError


class Slotted:
    """One that holds what it has in slots, and cannot be referred to weakly."""

    __slots__ = ("label", "x")

    def __init__(self, x: int) -> None:
        self.x = x


EQUAL: list[tuple[Any, Any]] = [
    ({"a", "b", "c"}, {"c", "b", "a"}),
    ([1, "b", 2.5], [1, "b", 2.5]),
    (Point(3), Point(3)),
    (random.Random(3), random.Random(3)),
    (deque([1]), deque([1])),
    (range(3), range(3)),
    (Slotted(3), Slotted(3)),
    ({Point(n) for n in range(500)}, {Point(n) for n in range(500)}),
    (Path("a/b"), Path("a/b")),
    (f"data/{uuid.uuid4().hex}.npy", f"data/{uuid.uuid4().hex}.npy"),
]
UNEQUAL: list[tuple[Any, Any]] = [
    ([1, 2], [2, 1]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a"}, {"b"}),
    (1, 1.0),
    ("abcd", "abce"),
    (Point(3), Point(4)),
    (random.Random(3), random.Random(4)),
    (range(3), range(4)),
    (Slotted(3), Slotted(4)),
    ([Slotted(3), Slotted(4)], [Slotted(4), Slotted(3)]),
    ([str(n) for n in range(500)], [str(n) for n in range(499, -1, -1)]),
]


@pytest.mark.parametrize("pair", EQUAL, ids=lambda pair: type(pair[0]).__name__)
def test_values_that_agree(pair: tuple[Any, Any]) -> None:
    assert Digests().of(pair[0]) == Digests().of(pair[1])


@pytest.mark.parametrize("pair", UNEQUAL, ids=lambda pair: type(pair[0]).__name__)
def test_values_that_differ(pair: tuple[Any, Any]) -> None:
    assert differ(Digests().of(pair[0]), Digests().of(pair[1]))


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
    assert value_of(("q",), held, {"q": 1}) == 1
