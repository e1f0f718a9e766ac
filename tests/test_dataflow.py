"""What the value-flow engine knows of values, asked through small functions."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint import configuration
from detlint.dataflow.unit import Unit
from detlint.engine import Engine
from detlint.models import randomness
from detlint.rules import every_rule
from detlint.settings import Settings
from detlint.sources.source import Source
from detlint.syntax.parsing import UnparsedError

if TYPE_CHECKING:
    from detlint.dataflow import lattice


def unit_of(code: str, *, whole: bool = False) -> Unit:
    return Unit(Source("a.py", textwrap.dedent(code).strip("\n") + "\n"), whole=whole)


def returned(code: str, name: str = "f", *, whole: bool = False) -> str:
    """The types of what a function returns, as a person would write them."""
    unit = unit_of(code, whole=whole)
    function = unit.defined(name)
    assert function is not None
    return spoken(unit.values.types(function.returns[-1].args[0]))


def spoken(types: lattice.Types) -> str:
    return " | ".join(sorted(map(_spoken, types))) or "nothing"


def _spoken(one: lattice.Type) -> str:
    held = f"[{', '.join(spoken(each) for each in one.holds)}]" if one.holds else ""
    return f"{one.name}{one.of}{held}"


@pytest.mark.parametrize(
    ("body", "types"),
    [
        pytest.param("return set(x.split())", "set[str]", id="a method that only text has"),
        pytest.param("a, b = set(), {1}\nreturn b", "set[int]", id="a tuple is unpacked"),
        pytest.param("a, b = b, a = x, 'y'\nreturn b", "?", id="targets in a chain"),
        pytest.param(
            "s = set()\nfor line in open(x):\n    s.add(line.strip())\nreturn s",
            "set[str]",
            id="what a loop adds",
        ),
        pytest.param(
            "s = {1}\nif x:\n    s = {'a'}\nreturn s",
            "set[int] | set[str]",
            id="branches are joined",
        ),
        pytest.param("d = {'b': [1.5]}\nreturn d['b']", "list[float]", id="an entry of a dict"),
        pytest.param(
            "d = {'a': set(), 'b': {}}\nfor l in open(x):\n    d['a'].add(l)\nreturn d['a']",
            "set[str]",
            id="what is added to an entry of a dict",
        ),
        pytest.param("return {**x, 'a': 1}", "dict[? | str, ? | int]", id="a dict is unpacked"),
        pytest.param("return sorted(map(int, x))", "list[int]", id="a function that is handed on"),
        pytest.param("return [k for k, v in {'a': 1}.items()]", "list[str]", id="items"),
        pytest.param("return (lambda: 'a')()", "str", id="a lambda"),
        pytest.param("def g():\n    return {2}\nreturn g()", "set[int]", id="a nested function"),
        pytest.param("return 'a' if x else None", "none | str", id="a choice"),
        pytest.param(
            "try:\n    y = 1\nexcept OSError:\n    y = 'a'\nreturn y",
            "int | str",
            id="an exception",
        ),
        pytest.param("with open(x) as f:\n    return [l for l in f]", "list[str]", id="with"),
        pytest.param(
            "return {n: 1 for n in x} | {'a': 2}", "dict[?, int] | dict[str, int]", id="|"
        ),
        pytest.param("import os\nreturn os.listdir(x)[0]", "str", id="a listing"),
        pytest.param(
            "match x:\n    case 1:\n        y = 1\n    case _:\n        y = 'a'\nreturn y",
            "int | str",
            id="match",
        ),
    ],
)
def test_types_follow_from_how_a_value_is_made(body: str, types: str) -> None:
    code = "def f(x):\n" + textwrap.indent(body, "    ")
    assert returned(code) == types


@pytest.mark.parametrize("whole", [False, True])
def test_fields_and_methods_of_a_class_and_its_bases_are_known(*, whole: bool) -> None:
    code = """
        from typing import Dict, Set

        class Base:
            kinds: Dict[str, int] = {}

            def __init__(self, names: Set[str]):
                self.names = names

        class Words(Base):
            def all(self):
                return self.names, self.kinds, self.one()

            def one(self) -> float:
                return 1
    """
    unit = unit_of(code, whole=whole)
    method = unit.defined("all", "Words")
    assert method is not None
    types = unit.values.types(method.returns[0].args[0])
    assert spoken(types) == "tuple[set[str], dict[str, int], float]"


def test_what_an_import_means_is_joined_over_its_branches() -> None:
    unit = unit_of(
        """
        try:
            import tomllib as toml
        except ImportError:
            import tomli as toml

        def f(x):
            return toml.loads(x)
        """
    )
    function = unit.defined("f")
    assert function is not None
    call = function.returns[0].args[0]
    assert unit.values.called(call) == ["tomllib.loads", "tomli.loads"]


def test_a_part_that_does_not_parse_is_told() -> None:
    unit = unit_of("def f(:\n    return set(x)\n")
    with pytest.raises(UnparsedError):
        unit.at(5)


def test_a_loop_that_ends_nowhere_and_a_function_that_calls_itself_end() -> None:
    code = """
        def f(x):
            while True:
                x = g(x)
                if x:
                    return x

        def g(x):
            return f(g(x)) or [x]
    """
    assert "list" in returned(code)


def test_a_function_of_many_statements_is_read_up_to_its_budget() -> None:
    body = "".join(f"    x{i} = a + {i}\n" for i in range(35_000))
    unit = unit_of(f"def f(a):\n{body}    return set(a)\n")
    function = unit.defined("f")
    assert function is not None
    assert not function.returns


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_places_are_those_of_the_file(ending: str) -> None:
    code = "é = 1\n\nclass A:\n    def f(self):\n        return 'é', set(x)\n"
    code = code.replace("\n", ending)
    unit = Unit(Source("a.py", code))
    function = unit.defined("f", "A")
    assert function is not None
    made = function.returns[0].args[0].args[1]
    start, end = unit.span(made.node)
    assert code[start:end] == "set(x)"


def test_imports_are_seen_wherever_they_stand() -> None:
    unit = unit_of('''
        """A docstring."""

        import math
        try:
            import torch.nn as nn
        except ImportError:
            nn = None
    ''')
    assert unit.imported == {"math": ["math"], "nn": ["torch.nn"]}


@pytest.mark.parametrize(
    ("says", "found"),
    [("sorts", 0), ("keeps", 1), ("ignores", 0), ("reads", 1)],
)
@pytest.mark.parametrize("imported", ["from mylib import ordered", "from .mylib import ordered"])
def test_a_project_says_what_its_functions_do_with_an_order(
    says: str, found: int, imported: str
) -> None:
    code = f"{imported}\n\ndef f(names: list[str]):\n    return ordered(set(names))[0]\n"
    settings = Settings(models=(("mylib.ordered", says),))
    rules = [rule for rule in every_rule() if rule.code == "DET204"]
    engine = Engine(rules, settings, known=["DET204"])
    assert len(engine.lint(Source("a.py", code))) == found


@pytest.mark.parametrize(
    ("says", "found"),
    [("seeds numpy", 0), ("seeds all", 0), ("seeds torch", 1), ("sorts", 1)],
)
@pytest.mark.parametrize(
    "boot",
    [
        "from mylib import boot\n\nboot()",
        "import mylib\n\nmylib.boot(3)",
        "from .mylib import boot as start\n\ndef main():\n    start()\n\nmain()",
    ],
)
def test_a_project_says_which_of_its_functions_seed(says: str, found: int, boot: str) -> None:
    code = f"from sklearn.cluster import KMeans\n{boot}\n\nmodel = KMeans(3)\n"
    settings = Settings(models=(("mylib.boot", says),))
    rules = [rule for rule in every_rule() if rule.code == "DET104"]
    engine = Engine(rules, settings, known=["DET104"])
    assert len(engine.lint(Source("a.py", code))) == found


def test_settings_and_models_name_the_same_libraries() -> None:
    legal = {each for each in configuration._DOES if each.startswith("seeds ")}
    assert legal == set(randomness.SAID)


@pytest.mark.parametrize("first", ["read", "fill"])
def test_what_a_method_adds_to_a_field_is_known_whoever_asks_first(first: str) -> None:
    code = """
        class Timers:
            def __init__(self):
                self.names = set()

            def read(self):
                return self.names

            def fill(self):
                self.names.add("wait")
                return self.names
    """
    unit = unit_of(code)
    functions = {name: unit.defined(name, "Timers") for name in ("read", "fill")}
    told = {}
    for name in (first, *functions):
        function = functions[name]
        assert function is not None
        told[name] = spoken(unit.values.types(function.returns[0].args[0]))
    # What it is before anything is added is one of the two, if that was looked at.
    assert set(told.values()) <= {"set[str]", "set[nothing] | set[str]"}


def test_imports_below_the_first_line_are_known() -> None:
    unit = Unit(Source("example.py", "import ast\nimport os\nfrom pathlib import Path\n"))
    assert unit.imported == {"ast": ["ast"], "os": ["os"], "Path": ["pathlib.Path"]}


def test_a_parameter_has_a_place() -> None:
    unit = Unit(Source("example.py", "def f(names: set[str]):\n    return list(names)\n"))
    function = unit.defined("f")
    assert function is not None
    start, end = unit.span(function.params["names"].node)
    assert unit.text[start:end] == "names: set[str]"
