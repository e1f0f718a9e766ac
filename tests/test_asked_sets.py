"""Sets that are only asked, of which DET204 finds nothing, and words at which it looks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from detlint.rules.set_order import SetOrder
from detlint.testing import check_clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

IN_FUNCTION = "def f(a, b):\n"
TOKENS = re.compile(r"\b(?:frozen)?set\(|\b[sS]et\[|in \{|= \{|\(\{")


def concerned(text: str) -> list[bool]:
    return [SetOrder.concerns(text, match.start()) for match in TOKENS.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('if "eta" in set(inspect.signature(x.step).parameters): x()\n', id="in"),
        pytest.param("x = a not in set(b)\n", id="not in"),
        pytest.param('assert x == {"a", "b"}\n', id="compared with"),
        pytest.param("assert set(x) == {1}\n", id="both compared"),
        pytest.param("if set(a) - set(b) <= c: pass\n", id="differences compared"),
        pytest.param("if not set(a).issubset(b): pass\n", id="is a subset"),
        pytest.param("n = len({len(row) for row in sample})\n", id="counted"),
        pytest.param("n = len(set(a) & set(b))\n", id="common ones counted"),
        pytest.param("n = sorted(set(x))\n", id="sorted"),
        pytest.param("x.set(a)\n", id="a method of that name"),
        pytest.param(
            f"{IN_FUNCTION}    s: set[int] = set()\n    if a in s and len(s) < 3: s.add(a)\n",
            id="collected",
        ),
        pytest.param(
            f"{IN_FUNCTION}    s = {{x.y for x in a}}\n    if 1 in s and s == b: pass\n",
            id="made to ask",
        ),
        pytest.param(
            f"{IN_FUNCTION}    s = set()\n    while s: s.remove(1)\n", id="asked if empty"
        ),
        pytest.param("x = {k[len(a) :]: v for k, v in b.items()}\n", id="a dict by slices"),
        pytest.param("x = {(a, 1): 2}\n", id="a dict by tuples"),
    ],
)
def test_of_what_is_only_asked_nothing_is_found(text: str) -> None:
    assert TOKENS.search(text), "no token"
    check_clean(SetOrder, text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('if "eta" in set(inspect.signature(x.step).parameters.keys()):\n', id="in"),
        pytest.param("x = a not in set(b)\n", id="not in"),
        pytest.param("x = a in {b, c}\n", id="in one that is written out"),
        pytest.param("x.set(a)\n", id="a method of that name"),
        pytest.param("x = {k[len(a) :]: v for k, v in b.items()}\n", id="a dict by slices"),
        pytest.param("x = {(a, 1): 2}\n", id="a dict by tuples"),
    ],
)
def test_what_the_text_shows_to_be_asked_is_not_parsed(text: str) -> None:
    told = concerned(text)
    assert told, "no token"
    assert not any(told)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("for x in set(y):\n", id="loop"),
        pytest.param("z = [x for x in set(y)]\n", id="comprehension"),
        pytest.param("x = a in set(y).pop()\n", id="one of them"),
        pytest.param("x == {a, b}.pop()\n", id="one is compared"),
        pytest.param("n = sorted(set(x), key=f)\n", id="sorted by a key"),
        pytest.param("n = max(set(x), key=f)\n", id="greatest by a key"),
        pytest.param("n = list(set(x))\n", id="list"),
        pytest.param("d = set(a) - set(b)\n", id="difference kept"),
        pytest.param("c = set(a).union(d)\n", id="union kept"),
        pytest.param("b.update(set(a))\n", id="added to what may keep an order"),
        pytest.param(f"{IN_FUNCTION}    s = set()\n    for x in s: pass\n", id="gone through"),
        pytest.param(f"{IN_FUNCTION}    s = set()\n    return s\n", id="returned"),
        pytest.param(f"{IN_FUNCTION}    s = set()\n    while s: s.pop()\n", id="taken from"),
        pytest.param(f"{IN_FUNCTION}    s = {{a.x}}\n    c = s - b\n", id="goes into another"),
        pytest.param(f"{IN_FUNCTION}    g(\n        s=set()\n    )\n", id="argument"),
        pytest.param("class A:\n    s = set()\n    def f(self): self.s.add(1)\n", id="of a class"),
        pytest.param("s = set()\n", id="of the module"),
        pytest.param("if a:\n    s = set()\n", id="of the module, below a test"),
        pytest.param("x = {a[0], b}\n", id="items"),
    ],
)
def test_what_may_show_its_order_is(text: str) -> None:
    told = concerned(text)
    assert told, "no token"
    assert all(told)


PAIRS = """
import itertools


def f(splits):
    keys = {"train", "valid", "test"}
    kept = []
    for a, b in itertools.combinations(keys, 2):
        common = set(splits[a]) & set(splits[b])
        BODY
    return kept
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if common:\n            raise ValueError(f'{a} and {b} have {common}')", "POSSIBLE"),
        ("assert not common\n        if common:\n            raise ValueError(a)", "POSSIBLE"),
        ("kept.append(common)\n        if not kept:\n            raise ValueError(a)", "LIKELY"),
        ("note(a, b)\n        if common:\n            raise ValueError(a)", "LIKELY"),
        ("if common:\n            return a", "LIKELY"),
        ("kept = common", "LIKELY"),
    ],
)
def test_pairs_of_a_set_that_are_only_looked_at_to_raise_are_possible(
    findings: Callable[..., list[Finding]], body: str, found: str
) -> None:
    (told,) = findings(PAIRS.replace("BODY", body), "DET204")
    assert told.confidence.name == found


EDGES = """
import random
import numpy as np


def edges(rng, n, start=0):
    BODY
    found = list(kept)
    rng.shuffle(found)
    return found
"""


@pytest.mark.parametrize(
    ("start", "body", "found"),
    [
        ("rng, n", "kept = {(x, n - 1) for x in range(n)}", False),
        ("rng, n", "path = list(range(n))\n    kept = set(zip(path, path[1:]))", False),
        ("rng, n", "kept = {(x, n) for x in rows}", True),
        ("rng, n", "if y:\n        range(n)\n    kept = {(n, x) for x in range(9)}", True),
        (
            "rng, n",
            "if n == start:\n        return list({*n})\n    kept = {(n, x) for x in range(n)}",
            True,
        ),
        (
            "rng: random.Random",
            "n = rng.randint(3, 9)\n    kept = {(x, n) for x in range(9)}",
            False,
        ),
        (
            "rng: random.Random",
            "rows = list(range(9))\n    kept = {(x, rng.choice(rows)) for x in rows}",
            False,
        ),
        (
            "rng: random.Random",
            "rows = ['a', 'b']\n    kept = {(x, rng.choice(rows)) for x in rows}",
            True,
        ),
        ("rng", "n = rng.randint(3, 9)\n    kept = {(x, n) for x in range(9)}", True),
    ],
)
def test_pairs_of_whole_numbers_have_the_same_order_in_each_run(
    findings: Callable[..., list[Finding]], start: str, body: str, found: bool
) -> None:
    text = EDGES.replace("rng, n, start=0", f"{start}, start=0").replace("BODY", body)
    assert bool(findings(text, "DET204")) is found
