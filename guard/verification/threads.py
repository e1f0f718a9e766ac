"""What threads of a program do in no fixed order, as its text has it: read, never executed.

What they put where others take it from, what they add to, and what they draw.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from guard.diff.sources import takes_any
from guard.verification.calls import calls, dotted, imported, last_name, stored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_GIVEN_TO_THREADS = ("Thread", "Timer", "submit", "run_in_executor", "apply_async")
_POOLS = ("ThreadPoolExecutor", "ThreadPool")
_PROCESSES = ("Process", "spawn", "start_new_thread")
_PUTS = ("put", "put_nowait", "append", "appendleft", "extend", "add", "send")
_TAKES = ("get", "get_nowait", "recv")
_QUEUES = ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue", "JoinableQueue")
_UNORDERED = ("as_completed", "imap_unordered")
# How a draw from a generator of the whole process begins, by the first letters of the name that a
# trace has for it.
_DRAWN_BY = {
    "pytho": ("random.",),
    "numpy": ("numpy.random.",),
    "torch": ("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial"),
}
_NO_DRAWS = (
    *("seed", "getstate", "setstate", "get_state", "set_state", "Random", "SystemRandom"),
    *("default_rng", "Generator", "RandomState", "SeedSequence", "PCG64"),
)


class Line(NamedTuple):
    """A line of a file; the lower the rank, the likelier."""

    rank: int
    line: int
    what: str


class Threads:
    """Functions of a program that run in threads or processes of its own, by name.

    threaded  in threads
    handing   in processes as well
    queues    whether it makes queues
    others    whether it takes what is ready first in another way
    """

    def __init__(self, trees: Collection[ast.AST]) -> None:
        self.threaded = _handed(trees)
        self.handing = _handed(trees, _PROCESSES)
        named = [(call, name.rpartition(".")[2]) for tree in trees for call, name in calls(tree)]
        self.queues = any(name in _QUEUES for _, name in named)
        self.others = any(name in _UNORDERED or _is_off(call, "in_order") for call, name in named)
        self.others |= any(takes_any(each, name) for tree in trees for each, name in calls(tree))

    def __bool__(self) -> bool:
        """Whether something can come first or last."""
        return bool(self.threaded or self.queues or self.others)

    def handed_over(self, tree: ast.AST) -> Iterator[Line]:
        """Where threads hand over what they have made, in the order in which they come to it; then
        where it is taken."""
        for function in _functions(tree, self.handing):
            own = _own(function)
            for call, name in calls(function):
                holder, _, method = name.rpartition(".")
                if method in _PUTS and holder and holder not in own:
                    yield Line(
                        0, call.lineno, f"{name}() in a thread: whichever comes first is first"
                    )
        for call, name in calls(tree) if self.queues and self.handing else ():
            if name.rpartition(".")[2] in _TAKES and not call.args:
                yield Line(1, call.lineno, f"{name}() gives what a thread has put there first")

    def added_up(self, tree: ast.AST) -> Iterator[Line]:
        """Where threads add to what they share: sums are rounded by their order."""
        for function in _functions(tree, self.threaded):
            own = _own(function)
            for node in ast.walk(function):
                target = _grown(node)
                if target and target not in own:
                    what = f"{target} grows in threads, in the order they come to it"
                    yield Line(0, getattr(node, "lineno", 0), what)

    def draws(self, tree: ast.AST, generators: Iterable[str] = ()) -> Iterator[Line]:
        """Draws of threads from a generator of the whole process.

        generators  names of those that it can be, as a trace has them; none where it can be any
        """
        held = list(generators)
        groups = [_DRAWN_BY.get(each[:5], ()) for each in held] if held else _DRAWN_BY.values()
        wanted = tuple(start for group in groups for start in group)
        names = imported(tree)
        for function in _functions(tree, self.threaded) if wanted else ():
            for call, name in calls(function):
                full = dotted(call, names)
                own = any(each.arg == "generator" for each in call.keywords)
                if full.startswith(wanted) and not own and last_name(call.func) not in _NO_DRAWS:
                    what = "draws from the generator of the whole process, in a thread"
                    yield Line(0, call.lineno, f"{name}() {what}")


def _is_off(call: ast.Call, name: str) -> bool:
    given = [each.value for each in call.keywords if each.arg == name]
    return any(isinstance(each, ast.Constant) and not each.value for each in given)


def _handed(trees: Collection[ast.AST], others: tuple[str, ...] = ()) -> set[str]:
    """Names of functions that are handed to threads, ``Class.run`` for classes that are one.

    others  names of what else they are handed to, such as processes
    """
    found: set[str] = set()
    takers = [*_GIVEN_TO_THREADS, *others]
    if any(name.endswith(_POOLS) for tree in trees for _, name in calls(tree)):
        takers.append("map")  # data sets have one as well
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = (ast.unparse(each) for each in node.bases)
                if any(each.endswith(("Thread", "Timer", *others)) for each in bases):
                    found.add(f"{node.name}.run")
        for call, name in calls(tree):
            if name != "map" and name.rpartition(".")[2] in takers:
                given = [*call.args, *(each.value for each in call.keywords)]
                found |= {last_name(each) for each in given} - {""}
    return found


def _functions(tree: ast.AST, names: Collection[str]) -> Iterator[ast.FunctionDef]:
    """Those of a file with these names; ``Class.run`` is the one of that class alone."""
    for node in ast.walk(tree):
        inside = node.name if isinstance(node, ast.ClassDef) else ""
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef) and (
                each.name in names or f"{inside}.{each.name}" in names
            ):
                yield each


def _grown(node: ast.AST) -> str:
    """What an assignment adds to: "self.total"."""
    target = ""
    if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(
        stored(node)[0], (ast.Name, ast.Attribute)
    ):
        target = ast.unparse(stored(node)[0])
    if isinstance(node, ast.Assign):
        read = (ast.unparse(each) for each in ast.walk(node.value) if isinstance(each, ast.expr))
        return target if isinstance(node.value, ast.BinOp) and target in read else ""
    return target


def _own(function: ast.FunctionDef) -> set[str]:
    """The names of a function's own."""
    nodes = list(ast.walk(function))
    shared = {
        name
        for node in nodes
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    own = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in own} - shared
