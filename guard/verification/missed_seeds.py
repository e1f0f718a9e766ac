"""Why nothing seeded a generator of the whole process: the calls of the program that would have,
and the condition at which the run went another way.

Which calls seed is read from the text; which statements ran was recorded.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import last_of
from guard.diff.sources import seeds_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.diff.statements import Node
    from guard.verification.texts import Text

_DEEP = 4  # functions, one called by the other, in the innermost of which it is seeded
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = {"body": "false", "orelse": "true"}  # what the test of another branch was


class _Site(NamedTuple):
    """A call; around it, from the outermost: functions, and conditions with what they are if the
    call is not reached."""

    path: str
    call: ast.Call
    around: tuple[tuple[ast.AST, str], ...]

    @property
    def functions(self) -> list[str]:
        """The names of the functions around it."""
        return [each.name for each, _ in self.around if isinstance(each, _FUNCTIONS)]


def missed(text: Text, nodes: Iterable[Node], states: Sequence[str]) -> str:
    """A sentence on a call that seeds, and that no run has come to; "" where one has, or none is
    there.

    nodes   the statements that ran
    states  names of the generators, as ``guard.digests.generators`` has them
    """
    ran = {(os.path.realpath(each.file), each.statement.line) for each in nodes}
    trees = text.trees.items() if states else ()
    sites = [site for path, tree in trees for site in _sites(path, tree)]
    for state in states:
        wanted = [site for site in sites if seeds_by_name(ast.unparse(site.call.func), state)]
        if not any((os.path.realpath(e.path), e.call.lineno) in ran for e in wanted):
            for _ in range(_DEEP):
                if told := next((told for e in wanted if (told := _turned(e, ran))), ""):
                    return told
                names = {name for e in wanted for name in e.functions}
                wanted = [site for site in sites if last_of(site.call.func) in names]
    return ""


def _turned(site: _Site, ran: set[tuple[str, int]]) -> str:
    """The innermost condition around a call that a run has come to."""
    path, shown = os.path.realpath(site.path), os.path.relpath(site.path)
    for each, otherwise in reversed(site.around):
        if isinstance(each, ast.If) and (path, each.lineno) in ran:
            call, test = ast.unparse(site.call), ast.unparse(each.test)
            where = f"`{call}` at {shown}:{site.call.lineno}"
            return f"{where} was not reached: `{test}` in line {each.lineno} was {otherwise}."
    return ""


def _sites(path: str, tree: ast.AST) -> Iterator[_Site]:
    pending: list[tuple[ast.AST, tuple[tuple[ast.AST, str], ...]]] = [(tree, ())]
    while pending:
        node, around = pending.pop()
        if isinstance(node, ast.Call):
            yield _Site(path, node, around)
        for name, held in ast.iter_fields(node):
            inner = around
            if isinstance(node, _FUNCTIONS) or (isinstance(node, ast.If) and name in _BRANCHES):
                inner = (*around, (node, _BRANCHES.get(name, "")))
            parts = held if isinstance(held, list) else [held]
            pending += [(each, inner) for each in parts if isinstance(each, ast.AST)]
