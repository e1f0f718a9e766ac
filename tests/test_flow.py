"""Which paths lead to a read of what nothing has written, in a library of three functions."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from detlint.analysis.flow import Flow, State
from detlint.analysis.uses import Event
from detlint.module import Module
from detlint.narrowing import whole
from detlint.source import Source


class Toy:
    """``x = new()`` allocates, ``read(x)`` reads, ``x.size`` asks, all else may write."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def allocated(self, statement: cst.CSTNode, state: State) -> State:  # noqa: ARG002
        if not isinstance(statement, cst.Assign) or not isinstance(statement.value, cst.Call):
            return {}
        target, function = statement.targets[0].target, statement.value.func
        made = isinstance(function, cst.Name) and function.value == "new"
        return {target.value: frozenset((statement.value,))} if made else {}  # type: ignore[union-attr]

    def event(self, name: cst.Name) -> Event:
        parent = self._module.parent(name)
        if isinstance(parent, cst.Attribute):
            return Event.PROPERTY
        call = self._module.parent(parent) if isinstance(parent, cst.Arg) else None
        reads = isinstance(call, cst.Call) and self._module.tree.text(call.func) == "read"
        return Event.READ if reads else Event.GONE

    def muted(self, block: cst.With) -> bool:
        return "unreal" in self._module.tree.text(block.items[0].item)


def reads_of(body: str) -> list[str]:
    """``line of the allocation → line of the read``, both counted in the body."""
    text = "def function(a, b, rows):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")
    source = Source("example.py", text + "\n")
    module = Module(source, whole(source.text))
    function = module.tree.module.body[0]
    assert isinstance(function, cst.FunctionDef)
    rows = [
        tuple(source.location(module.tree.span(node)[0])[0] - 1 for node in pair)
        for pair in Flow(module, Toy(module), function).reads.items()
    ]
    return [f"{made} → {read}" for made, read in sorted(rows)]


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
    "a body on the line of its if": ("x = new()\nif a: read(x)", ["1 → 2"]),
}


@pytest.mark.parametrize(("body", "expected"), FOUND.values(), ids=FOUND)
def test_is_found(body: str, expected: list[str]) -> None:
    assert reads_of(body) == expected


SILENT = {
    "a write before the read": "x = new()\nwrite(x)\nread(x)",
    "another name for it": "x = new()\ny = x\nread(x)",
    "another value for the name": "x = new()\nx = a\nread(x)",
    "a write on one side": "x = new()\nif a:\n    write(x)\nread(x)",
    "an allocation on one side": "if a:\n    x = new()\nread(x)",
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
    "an allocation of the last round, if there was one": (
        "for row in rows:\n    x = new()\nread(x)"
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
    "code after a raise": "x = new()\nraise ValueError\nread(x)",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_is_silent(body: str) -> None:
    assert reads_of(body) == []
