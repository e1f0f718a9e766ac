"""What the engine knows of a file before it looks at any function."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any, TypeVar

import pytest

from detlint.callgraph.other_files import OtherFiles
from detlint.dataflow import unit as units
from detlint.dataflow.arguments.options import values_set
from detlint.dataflow.facts.reading import read_facts
from detlint.dataflow.ir import Function, Op
from detlint.dataflow.path_conditions import Paths
from detlint.dataflow.unit import Left, Unit, Units
from detlint.engine import Engine
from detlint.finding import Confidence
from detlint.index.index import Index
from detlint.rules.set_order import SetOrder
from detlint.settings import Settings
from detlint.sources.cache import Cache
from detlint.sources.source import Source

T = TypeVar("T")

IMPORTS = """
import asyncio
import concurrent.futures
from os import path as p

try:
    import numpy as np
except ImportError:
    np = None
"""


def test_each_import_says_what_its_name_stands_for() -> None:
    assert Unit(Source("example.py", IMPORTS)).imported == {
        "asyncio": ["asyncio"],
        "concurrent": ["concurrent"],
        "p": ["os.path"],
        "np": ["numpy"],
    }


def test_an_import_that_runs_in_any_case_takes_the_place_of_those_before() -> None:
    code = "from a import Loader\nfrom b import Loader\ntry:\n    from c import Loader\n"
    code += "except ImportError:\n    pass\nfrom a import *\nfrom b import *\n"
    assert Unit(Source("example.py", code)).imported == {
        "Loader": ["b.Loader", "c.Loader"],
        "*": ["a.*", "b.*"],
    }


def test_functions_that_say_an_option_within_another_word_are_not_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    lower = units.lower

    def noted(name: str, *rest: Any) -> Function:
        parsed.append(name)
        return lower(name, *rest)

    monkeypatch.setattr(units, "lower", noted)
    apart = "def apart(f):\n    return f.max_rows_of(no_max_rows=1)\n"
    added = "def add(p):\n    p.add_argument('--max-rows', default=3)\n"
    written = "def write(args):\n    args.max_rows = 4\n"
    unit = Unit(Source("example.py", apart + added + written))
    assert set(values_set(unit, "max_rows")) == {(4, ...), (6, 4)}
    assert sorted(parsed) == ["add", "write"]


def test_a_statement_is_read_with_all_its_clauses() -> None:
    code = """
if a:
    x = 1
elif b:
    y = 2
else:
    z = 3
for i in a:
    u = i
else:
    v = 4
"""
    assert set(Unit(Source("example.py", code)).module.bindings) == {"i", "u", "v", "x", "y", "z"}


CLASS = """
class Loader:
    def fill(self):
        {}

    def read(self):
        return self.rows
"""


@pytest.mark.parametrize(
    "line",
    [
        "self.rows = []",
        "total = self.rows = []",
        "self.rows: list = []",
        "self.rows += [1]",
        "self.rows **= 2",
        "self.rows[0] = 1",
        "if x: self.rows[0] = 1",
        "self.rows.append(1)",
        "y = self.rows.pop()",
        "self.size, self.rows = 1, []",
        "(self.size, self.rows) = 1, []",
        "self.rows, *self.rest = x",
        "x[0], self.rows = 1, []",
        "for self.rows in x: pass",
        "with x as self.rows: pass",
        "[\n            self.size,\n            self.rows\n        ] = x",
    ],
)
def test_a_method_that_may_assign_to_an_attribute_is_asked_what(line: str) -> None:
    assert list(Unit(Source("example.py", CLASS.format(line))).stored("Loader", "rows"))


@pytest.mark.parametrize(
    "line",
    [
        "return self.rows",
        "return len(self.rows)",
        "return f(1, self.rows, 2)",
        "if self.rows: pass",
        "x = self.rows[0]",
        "x = self.rows == 1",
        "return self.rows.shape",
        "other.rows = []",
        "self.rows_ = []",
    ],
)
def test_one_that_only_reads_it_is_not_parsed(line: str, lowered: list[str]) -> None:
    unit = Unit(Source("example.py", CLASS.format(line)))
    assert not list(unit.stored("Loader", "rows"))
    assert "fill" not in lowered


def test_a_function_is_not_parsed_to_know_what_its_name_means(lowered: list[str]) -> None:
    unit = Unit(Source("example.py", "def a():\n    b()\n\n\ndef b():\n    pass\n"))
    function = unit.defined("a")
    assert function is not None
    assert [unit.values.called(call) for call in function.coded("call")] == [[".b"]]
    assert lowered == ["a"]


SET = """{}import json

def names(rows):
    return json.dumps(list({{row.name for row in rows}}))
"""


@pytest.mark.parametrize("bar", [Confidence.LIKELY, Confidence.POSSIBLE])
def test_what_a_file_is_for_is_asked_before_its_functions(
    bar: Confidence, lowered: list[str]
) -> None:
    engine = Engine([SetOrder], Settings(min_confidence=bar), known=["DET204"])
    found = engine.lint(Source("example.py", SET.format("import pytest\n")))
    assert (len(found), lowered) == ((1, ["names"]) if bar is Confidence.POSSIBLE else (0, []))


def test_operations_do_not_hold_each_other_when_a_file_is_done() -> None:
    engine = Engine([SetOrder], Settings(), known=["DET204"])
    gc.collect()
    gc.disable()
    try:
        known = set(map(id, made_of(Op)))  # by other tests
        assert engine.lint(Source("example.py", SET.format("")))
        left = [each for each in made_of(Op) if id(each) not in known]
        assert left
        assert not [each for each in left if each.args or each.uses]
    finally:
        gc.enable()


def test_what_decides_whether_calls_run_is_let_go_of_when_facts_are_read() -> None:
    text = "import torch\n\ndef f(flag=False):\n    if flag:\n        torch.manual_seed(0)\n"
    unit, place = Unit(Source("a.py", text)), text.index("manual_seed")
    gc.collect()
    gc.disable()
    try:
        known = set(map(id, gc.get_objects()))
        ((seed,),) = filter(None, read_facts(unit, "seeds", [[place]]))
        left = made_of(Paths)
        assert seed.needs
        assert not [each for each in left if id(each) not in known]
    finally:
        gc.enable()


def made_of(kind: type[T]) -> list[T]:
    """The objects of a class. Asked for theirs, some of torch's warn."""
    return [each for each in gc.get_objects() if type(each) is kind]


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that were lowered."""
    names: list[str] = []
    lower = units.lower

    def noted(name: str, *given: object) -> object:
        names.append(name.rpartition(".")[2])
        return lower(name, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(units, "lower", noted)
    return names


def test_all_that_is_asked_of_a_file_lowers_a_function_once(
    lowered: list[str], tmp_path: Path
) -> None:
    text = "import torch\n\ndef f(seed):\n    torch.manual_seed(seed)\n    g(seed)\n"
    path = str(tmp_path / "a.py")
    Path(path).write_text(text)
    index = Index(Cache.disabled())
    others = OtherFiles(index, os.path.dirname)
    assert index.facts(path, "seeds")
    assert index.uses(path, "g", default=False)
    assert index.receivers(path, "manual_seed")
    assert others.unit(path).defined("f")
    assert lowered == ["f"]


@pytest.mark.parametrize("whole", [False, True])
def test_statements_that_share_a_line_are_read_each(*, whole: bool) -> None:
    unit = Unit(Source("a.py", "a, n = f(1); b = [n, 1]\nprint(b)\n"), whole=whole)
    stored = [op.name for op in unit.module.ops if op.code == "store_global"]
    assert stored == ["a", "n", "b"]


def test_files_stay_open_while_there_is_room_for_their_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = Units(lambda path: Unit(Source(path, "def f():\n    return 1\n")))
    found = {each: opened.of(each) for each in "abcd"}
    assert all(opened.of(each) is unit for each, unit in found.items())
    for each in found:
        assert opened.of(each).defined("f")
    assert opened.held("d") is found["d"]
    monkeypatch.setattr("detlint.dataflow.unit._ROOM", 2 * found["a"].weight)
    assert opened.of("e") not in found.values()
    assert opened.of("c") is found["c"]
    assert opened.of("d") is found["d"]
    assert opened.of("a") is not found["a"]


def test_all_files_are_closed_where_those_that_stay_open_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = Units(lambda path: Unit(Source(path, "def f():\n    return 1\n")))
    held, alone = opened.held("a"), opened.of("b")
    assert held.defined("f")
    assert alone.defined("f")
    monkeypatch.setattr("detlint.dataflow.unit._ROOM", held.weight)
    assert not opened.make_room(0)
    assert opened.held("a") is held
    assert opened.make_room(3_000)
    assert not vars(held)
    assert not vars(alone)
    assert opened.held("a").defined("f")


def test_a_file_is_taken_apart_as_it_is_left_unless_there_is_room_for_it() -> None:
    left = Left()
    first, second, third = (Unit(Source(f"{name}.py", "x = 1\n" * 9)) for name in "abc")
    with left.leaving(first):
        assert first.bound_names == {"x"}
    assert not vars(first)
    left.room = second.weight
    with left.leaving(second):
        pass
    assert second.bound_names == {"x"}
    with left.leaving(third):
        pass
    assert not vars(second)
    assert third.bound_names == {"x"}
