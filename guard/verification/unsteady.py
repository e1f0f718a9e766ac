"""Draws of a program that come as often as something else lets them: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.flows import CLOCKS, last_two
from guard.verification.global_draws import global_draws
from guard.verification.names import last_name
from guard.verification.readiness import asks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.verification.passages import Line

_DRAWS = "draws from the generator of the whole process"
_PAUSES = ("sleep", "wait")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def unsteady_draws(tree: ast.AST, generators: Iterable[str] = ()) -> Iterator[Line]:
    """Draws from a generator of the whole process that come as often as something else lets them.

    In what is done or repeated where a lock is free or another thread is done by then, there or
    in a function called there; in what is done after an error; then in what says how long to wait.

    generators  names of those that it can be, as a trace has them; none where it can be any
    """
    drawn = global_draws(tree, generators)
    if not drawn:
        return
    own = {node.name: node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)}
    told: set[ast.Call] = set()
    for rank, parts, why in _unsteady(tree):
        called = {last_name(each.func) for each in _calls(parts)}
        for each in _calls([*parts, *(own[name] for name in own if name in called)]):
            if each in drawn and each not in told:
                told.add(each)
                yield rank, each.lineno, f"{ast.unparse(each.func)}() {_DRAWS}, {why}"


def _unsteady(tree: ast.AST) -> Iterator[tuple[int, list[ast.AST], str]]:
    """Parts of a program that are done as often as something else lets them, and why."""
    for node, around in _surrounded(tree, tree):
        if what := _decides(node):
            is_clock = last_two(what.removesuffix("()")) in CLOCKS
            why = f"as often as line {getattr(node, 'lineno', 0)} lets it, by {what}"
            yield 0, _parts(node), why
            if not isinstance(around, ast.Module) and _leaves(node):
                yield int(is_clock), [around], why
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            yield 1, [node], "after an error: as often as there is one"
        elif isinstance(node, ast.Call) and last_name(node.func) in _PAUSES:
            yield 2, [node], "to say how long to wait, as often as it waits"


def _surrounded(node: ast.AST, around: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """All nodes, with the innermost loop around them, or function where there is none."""
    for each in ast.iter_child_nodes(node):
        yield each, around
        yield from _surrounded(each, each if isinstance(each, (*_LOOPS, *_FUNCTIONS)) else around)


def _parts(node: ast.AST) -> list[ast.AST]:
    """What is done or not, as a condition has it."""
    if isinstance(node, (ast.If, ast.While)):
        return [*node.body, *node.orelse]
    return [node]


def _leaves(node: ast.AST) -> bool:
    """Whether what comes after is not done then."""
    ends = (ast.Break, ast.Continue, ast.Return, ast.Raise)
    if isinstance(node, ast.ExceptHandler):
        return True
    return isinstance(node, ast.If) and any(isinstance(each, ends) for each in ast.walk(node))


def _decides(node: ast.AST) -> str:
    """What a condition asks for that can be another answer in each run; "" where it is none."""
    if isinstance(node, ast.ExceptHandler):
        return asks(node)
    if not isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return ""
    for each in ast.walk(node.test):
        if found := asks(each):
            return found
        if isinstance(each, ast.Call) and last_two(ast.unparse(each.func)) in CLOCKS:
            return f"{ast.unparse(each.func)}()"
    return ""


def _calls(parts: Iterable[ast.AST]) -> Iterator[ast.Call]:
    for part in parts:
        yield from (each for each in ast.walk(part) if isinstance(each, ast.Call))
