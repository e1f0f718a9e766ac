"""Which paths lead to a read of memory that nothing has written."""

from __future__ import annotations

import textwrap

import pytest

from detlint.dataflow.memory.initialisation import Initialisation
from detlint.dataflow.unit import Unit
from detlint.models.memory import TORCH
from detlint.sources.source import Source

# ``x = new()`` allocates, ``read(x)`` reads, ``x.size`` asks, ``write(x)`` may write.
WORDS = {"new()": "torch.empty(n)", "read(": "print(", "unreal()": "fake_mode()"}


def reads_of(body: str) -> list[str]:
    """``line of the allocation → line of the read``, both counted in the body."""
    for word, code in WORDS.items():
        body = body.replace(word, code)
    function = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    text = f"import torch\ndef function(a, b, n, rows):\n{function}\n"
    memory = Initialisation(Unit(Source("example.py", text)), TORCH)
    reads = map(memory.read, memory.allocations([text.index("function")]))
    return [
        f"{each.allocation.node.lineno - 2} → {each.name.lineno - 2}"
        for each in reads
        if each is not None and each.name is not None
    ]


FOUND = {
    "a read right after the allocation": ("x = new()\nread(x)", ["1 → 2"]),
    "asking for the size changes nothing": ("x = new()\na = x.size\nread(x)", ["1 → 3"]),
    "only the first of two reads": ("x = new()\nread(x)\nread(x)", ["1 → 2"]),
    "a read on one side of an if": (
        "x = new()\nif a:\n    read(x)\nelse:\n    write(x)",
        ["1 → 3"],
    ),
    "a read after an if that does something else": (
        "x = new()\nif a:\n    b()\nread(x)",
        ["1 → 4"],
    ),
    "a read after both sides allocate": (
        "if a:\n    x = new()\nelse:\n    x = new()\nread(x)",
        ["2 → 5", "4 → 5"],
    ),
    "a read after the side that writes has returned": (
        "x = new()\nif a:\n    write(x)\n    return\nread(x)",
        ["1 → 5"],
    ),
    "a read in an elif": ("x = new()\nif a:\n    b()\nelif b:\n    read(x)", ["1 → 5"]),
    "a read in the first round of a loop": (
        "x = new()\nfor row in rows:\n    read(x)\n    write(x)",
        ["1 → 3"],
    ),
    "a read in a branch of a loop that never writes": (
        "x = new()\nfor row in rows:\n    if row:\n        read(x)",
        ["1 → 4"],
    ),
    "an allocation of each round": ("for row in rows:\n    x = new()\n    read(x)", ["2 → 3"]),
    "a read after a loop that does something else": (
        "x = new()\nwhile a:\n    a = b()\nread(x)",
        ["1 → 4"],
    ),
    "a read after an endless loop that is left": (
        "x = new()\nwhile True:\n    if a():\n        break\nread(x)",
        ["1 → 5"],
    ),
    "a read in the else of a loop": (
        "x = new()\nfor row in rows:\n    b()\nelse:\n    read(x)",
        ["1 → 5"],
    ),
    "a read in a try": ("x = new()\ntry:\n    read(x)\nexcept Exception:\n    pass", ["1 → 3"]),
    "a read in a handler where the body leaves it alone": (
        "x = new()\ntry:\n    b()\nexcept Exception:\n    read(x)",
        ["1 → 5"],
    ),
    "a read in finally where nothing writes": (
        "x = new()\ntry:\n    b()\nfinally:\n    read(x)",
        ["1 → 5"],
    ),
    "a read inside a with": ("with a:\n    x = new()\n    read(x)", ["2 → 3"]),
    "a read after a with": ("with a:\n    x = new()\nread(x)", ["2 → 3"]),
    "a read in a case": (
        "x = new()\nmatch a:\n    case 1:\n        read(x)\n    case _:\n        write(x)",
        ["1 → 4"],
    ),
    "a read in a conditional expression": ("x = new()\nb = read(x) if a else 0", ["1 → 2"]),
    "a read in a comprehension": ("x = new()\nb = [read(x) for row in rows]", ["1 → 2"]),
    "a read in a return": ("x = new()\nreturn read(x)", ["1 → 2"]),
    "a value that replaces the name": ("x = new()\nx = read(x)", ["1 → 2"]),
    "a value that is stored in it": ("x = new()\nx[1] = read(x)", ["1 → 2"]),
    "statements on one line": ("x = new(); read(x)", ["1 → 1"]),
    "another name for it": ("x = new()\ny = x\nread(x)", ["1 → 3"]),
    "a read by another name": ("x = new()\ny = x\nread(y)", ["1 → 3"]),
    "a read of a view": ("x = new()\ny = x.view(2, -1)\nread(y)", ["1 → 3"]),
    "a field of an object": ("x = new()\na.x = x\nread(x)", ["1 → 3"]),
    "an entry of a dict": ('x = {"a": new(), "b": a}\nread(x["a"])', ["1 → 2"]),
    "a part of a tuple": ("x = (a, new())\nread(x[1])", ["1 → 2"]),
    "a name that is bound on one side only": ("if a:\n    x = new()\nread(x)", ["2 → 3"]),
    "an allocation of the last round": ("for row in rows:\n    x = new()\nread(x)", ["2 → 3"]),
    "arithmetic in place": ("x = new()\nx.mul_(2)\nread(x)", ["1 → 3"]),
    "a body on the line of its if": ("x = new()\nif a: read(x)", ["1 → 2"]),
}


@pytest.mark.parametrize(("body", "expected"), FOUND.values(), ids=FOUND)
def test_is_found(body: str, expected: list[str]) -> None:
    assert reads_of(body) == expected


SILENT = {
    "a write before the read": "x = new()\nwrite(x)\nread(x)",
    "another value for the name": "x = new()\nx = a\nread(x)",
    "a write on one side": "x = new()\nif a:\n    write(x)\nread(x)",
    "a side that asks for the size": "x = new()\nif x.size:\n    b()\nelse:\n    read(x)",
    "a write in an elif": "x = new()\nif a:\n    b()\nelif b:\n    write(x)\nread(x)",
    "a write in a loop before": "x = new()\nfor row in rows:\n    write(x)\nread(x)",
    "a write in the condition of a loop": "x = new()\nwhile write(x):\n    b()\nread(x)",
    "a conditional read in a loop that writes later": (
        "x = new()\nfor row in rows:\n    if a:\n        read(x)\n    write(x)"
    ),
    "a conditional expression in a loop that writes later": (
        "x = new()\nfor row in rows:\n    b = read(x) if a else 0\n    write(x)"
    ),
    "an inner loop that may not run in the first round": (
        "x = new()\nfor row in rows:\n    for item in row:\n        read(x)\n    write(x)"
    ),
    "a read after the first round has left": (
        "x = new()\nfor row in rows:\n    if a:\n        write(x)\n        continue\n    read(x)"
    ),
    "a write before the break": (
        "x = new()\nwhile True:\n    if a():\n        write(x)\n        break\nread(x)"
    ),
    "a handler after a body that writes": (
        "x = new()\ntry:\n    write(x)\nexcept Exception:\n    read(x)"
    ),
    "finally after a handler that writes": (
        "x = new()\ntry:\n    b()\nexcept Exception:\n    write(x)\nfinally:\n    read(x)"
    ),
    "a write in finally": "x = new()\ntry:\n    b()\nfinally:\n    write(x)\nread(x)",
    "a failure that a with hides": (
        "x = new()\nwith contextlib.suppress(ValueError):\n    write(x)\nread(x)"
    ),
    "a block in which nothing is computed": "with unreal():\n    x = new()\n    read(x)",
    "an expected failure": "x = new()\nwith self.assertRaisesRegex(E, b):\n    write(x)\nread(x)",
    "a case that writes": "x = new()\nmatch a:\n    case 1:\n        write(x)\nread(x)",
    "a case that binds the name": "x = new()\nmatch a:\n    case x:\n        read(x)",
    "a nested function that shares the name": (
        "def fill():\n    write(x)\nx = new()\nfill()\nread(x)"
    ),
    "a lambda that shares the name": "fill = lambda: write(x)\nx = new()\nfill()\nread(x)",
    "a nonlocal name": "nonlocal x\nx = new()\na()\nread(x)",
    "a default that keeps it": "x = new()\ndef late(y=x):\n    write(y)\nlate()\nread(x)",
    "a loop variable of the name": "x = new()\nfor x in rows:\n    read(x)",
    "a comprehension variable of the name": "x = new()\nb = [read(x) for x in rows]",
    "a deleted name": "x = new()\ndel x\nread(x)",
    "code after a return": "x = new()\nreturn x\nread(x)",
    "another name that is written": "x = new()\ny = x\nwrite(y)\nread(x)",
    "an entry of a dict that is written": 'x = {"a": new()}\nx["a"][:] = 1\nread(x["a"])',
    "an entry of a dict that is replaced": 'x = {"a": new()}\nx["a"] = a\nread(x["a"])',
    "a dict that is handed on": 'x = {"a": new()}\nwrite(x)\nread(x["a"])',
    "a field that a method may write": "x = new()\na.x = x\na.fill()\nread(x)",
    "a case of a phi": "x = new() if a else b\nread(x)",
    "code after a raise": "x = new()\nraise ValueError\nread(x)",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_is_silent(body: str) -> None:
    assert reads_of(body) == []


HELPERS = {
    "a helper that reads": ("def helper(x):\n    return x + 1", "x", ["2"]),
    "a helper that reads, by keyword": ("def helper(a=1, x=2):\n    return x + 1", "x=x", ["2"]),
    "a helper that asks for the shape": ("def helper(x):\n    return x.shape", "x", ["3"]),
    "a helper that fills": ("def helper(x):\n    x.fill_(1)\n    return x + 1", "x", []),
    "a helper that may fill": ("def helper(x):\n    if x.a: other(x)\n    return x", "x", []),
    "a helper that reads on one path": ("def helper(x):\n    if a:\n        x + 1", "x", []),
    "a helper that keeps it": ("def helper(x):\n    kept.append(x)", "x", []),
    "a function out of sight": ("", "x", []),
}


@pytest.mark.parametrize(("helper", "given", "rows"), HELPERS.values(), ids=HELPERS)
def test_a_function_of_the_file_is_looked_into(helper: str, given: str, rows: list[str]) -> None:
    head = f"import torch\n{helper}\n"
    body = f"x = torch.empty(n)\n    y = helper({given})\n    return y, x * 2\n"
    text = f"{head}def function(n):\n    {body}"
    memory = Initialisation(Unit(Source("example.py", text)), TORCH)
    reads = [memory.read(each) for each in memory.allocations([text.index("function")])]
    first = text[: text.index("def function")].count("\n")
    found = [str(each.name.lineno - first - 1) for each in reads if each and each.name]
    assert found == rows


RETURNED = """
import torch

class Pool:
    def take(self, n):
        return torch.empty(n)

    def use(self, n):
        x = self.take(n)
        {}
        return x + 1
"""


@pytest.mark.parametrize(("then", "row"), [("pass", 11), ("x.zero_()", None), ("other(x)", None)])
def test_what_a_method_returns_is_followed_to_its_callers(then: str, row: int | None) -> None:
    text = RETURNED.format(then)
    memory = Initialisation(Unit(Source("example.py", text)), TORCH)
    (allocation,) = memory.allocations([text.index("empty")])
    found = memory.read(allocation)
    assert (found.name.lineno if found and found.name else None) == row
