"""What expressions mean: imports, aliases, re-binding, shadowing, literals."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from detlint.module import Module
from detlint.names import UNKNOWN
from detlint.narrowing import whole
from detlint.source import Source


def module(text: str) -> Module:
    text = textwrap.dedent(text).lstrip("\n")
    return Module(Source("example.py", text), whole(text))


def last_argument(text: str) -> tuple[Module, cst.BaseExpression]:
    """The module, and the argument of its last call of ``probe``."""
    parsed = module(text)
    calls = [
        node
        for node in parsed.tree.nodes
        if isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "probe"
    ]
    return parsed, calls[-1].args[0].value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("import torch\nprobe(torch.empty)", "torch.empty", id="import"),
        pytest.param("import numpy as np\nprobe(np.random)", "numpy.random", id="import as"),
        pytest.param(
            "import numpy.random as npr\nprobe(npr.rand)",
            "numpy.random.rand",
            id="dotted import as",
        ),
        pytest.param("import os.path\nprobe(os.listdir)", "os.listdir", id="dotted import"),
        pytest.param(
            "from torch.backends import cudnn as c\nprobe(c.benchmark)",
            "torch.backends.cudnn.benchmark",
            id="from import as",
        ),
        pytest.param(
            "import torch\nc = torch.backends.cudnn\nprobe(c.benchmark)",
            "torch.backends.cudnn.benchmark",
            id="alias by assignment",
        ),
        pytest.param("from .random import rand\nprobe(rand)", ".random.rand", id="relative import"),
        pytest.param("from . import random\nprobe(random)", ".random", id="from the package"),
        pytest.param("probe(sorted)", "builtins.sorted", id="builtin"),
        pytest.param(
            "def sorted(x): ...\nprobe(sorted)", None, id="builtin shadowed by a function"
        ),
        pytest.param("def f(torch):\n    probe(torch.empty)", None, id="argument shadows import"),
        pytest.param(
            "import torch\ndef f():\n    torch = g()\n    probe(torch.empty)",
            None,
            id="local shadows import",
        ),
        pytest.param(
            "import torch\nclass A:\n    torch = 1\n    def f(self):\n        probe(torch.empty)",
            "torch.empty",
            id="class attribute does not shadow in a method",
        ),
        pytest.param(
            "import random\nrandom = make()\nprobe(random.random)", None, id="rebound import"
        ),
        pytest.param(
            "try:\n    import cupy as xp\nexcept ImportError:\n    xp = None\nprobe(xp.empty)",
            "cupy.empty",
            id="stand-in for a failed import",
        ),
        pytest.param(
            "if a:\n    import cupy as xp\nelse:\n    import numpy as xp\nprobe(xp.empty)",
            None,
            id="two meanings",
        ),
        pytest.param("import torch\nprobe(getattr(torch, 'empty'))", "torch.empty", id="getattr"),
        pytest.param("a = b\nb = a\nprobe(a)", None, id="names defined by each other"),
        pytest.param(
            "def f():\n    global np\n    import numpy as np\ndef g():\n    probe(np.empty)",
            "numpy.empty",
            id="global import in a function",
        ),
        pytest.param("probe([np for np in x])", None, id="comprehension"),
    ],
)
def test_names_are_followed_to_what_they_stand_for(text: str, name: str | None) -> None:
    parsed, argument = last_argument(text)
    assert parsed.qualified_name(argument) == name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("probe(True)", True, id="true"),
        pytest.param("probe(not True)", False, id="negation"),
        pytest.param("probe(-3)", -3, id="negative number"),
        pytest.param("probe('a' 'b')", "ab", id="concatenated string"),
        pytest.param("x = 5\nprobe(x)", 5, id="local bound once"),
        pytest.param("x = 5\nx = 6\nprobe(x)", UNKNOWN, id="local bound twice"),
        pytest.param("x = 5\nx += 1\nprobe(x)", UNKNOWN, id="local that grows"),
        pytest.param("a, b = 1, 2\nprobe(b)", 2, id="unpacked pairwise"),
        pytest.param("a, b = f()\nprobe(b)", UNKNOWN, id="unpacked from a call"),
        pytest.param("for x in y:\n    probe(x)", UNKNOWN, id="loop variable"),
        pytest.param("def f(x=True):\n    probe(x)", UNKNOWN, id="parameter with a default"),
        pytest.param("probe(cfg.bench)", UNKNOWN, id="attribute"),
        pytest.param("probe((2, 3))", (2, 3), id="tuple"),
        pytest.param("probe((2, n))", UNKNOWN, id="tuple with an unknown"),
        pytest.param("probe(f'{x}')", UNKNOWN, id="f-string"),
        pytest.param("if (x := 4):\n    probe(x)", 4, id="walrus"),
    ],
)
def test_literals_and_locals_bound_once_have_values(text: str, value: object) -> None:
    parsed, argument = last_argument(text)
    assert parsed.literal(argument) == value
    assert type(parsed.literal(argument)) is type(value)


@pytest.mark.parametrize(
    ("text", "maker"),
    [
        pytest.param(
            "import torch\ng = torch.Generator()\nprobe(g)", "torch.Generator", id="local"
        ),
        pytest.param(
            "from pathlib import Path\ndef f(p: Path):\n    probe(p)",
            "pathlib.Path",
            id="annotation",
        ),
        pytest.param("with open(x) as f:\n    probe(f)", "builtins.open", id="with"),
        pytest.param(
            "import torch\nclass A:\n    def __init__(self):\n        self.g = torch.Generator()\n"
            "    def f(self):\n        probe(self.g)",
            "torch.Generator",
            id="attribute of self",
        ),
        pytest.param("for x in y:\n    probe(x)", None, id="loop variable"),
    ],
)
def test_objects_are_known_by_what_made_them(text: str, maker: str | None) -> None:
    parsed, argument = last_argument(text)
    assert parsed.instance_of(argument) == maker
