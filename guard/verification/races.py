"""Lines of a program's text at which what comes first decides: read, never executed.

What threads put where others take it from, or add to what they share; and indexing by tensors,
where values that fall on one place are added or written in no fixed order.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.names import last_name
from guard.verification.passages import calls, functions, threads_functions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from guard.verification.passages import Line

_PROCESSES = ("Process", "spawn", "start_new_thread")
_PUTS = ("put", "put_nowait", "append", "appendleft", "extend", "add", "send")
_TAKES = ("get", "get_nowait", "recv")
_QUEUES = ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue", "JoinableQueue")
_UNORDERED = ("as_completed", "imap_unordered")
# What gives indices, among which one can occur twice; a mask has none twice.
_INDICES = {
    *("long", "int", "arange", "randint", "randperm", "argsort", "argmax", "argmin", "tensor"),
    *("topk", "searchsorted", "bucketize", "multinomial", "floor", "round", "clamp", "as_tensor"),
}
_DEEP = 3  # names, one made from the other
_MODULES = ("forward", "training_step")
_WRITERS = ("index_put", "index_put_", "index_copy", "index_copy_", "put_", "max_unpool2d")


class Threads:
    """Functions of a program that run in threads or processes of its own, by name.

    threaded  in threads
    handing   in processes as well
    queues    whether it makes queues
    others    whether it takes what is ready first in another way
    """

    def __init__(self, trees: Collection[ast.AST]) -> None:
        self.threaded = threads_functions(trees)
        self.handing = threads_functions(trees, _PROCESSES)
        named = [(call, name.rpartition(".")[2]) for tree in trees for call, name in calls(tree)]
        self.queues = any(name in _QUEUES for _, name in named)
        self.others = any(name in _UNORDERED or _is_off(call, "in_order") for call, name in named)

    def __bool__(self) -> bool:
        """Whether something can come first or last."""
        return bool(self.threaded or self.queues or self.others)


def _is_off(call: ast.Call, name: str) -> bool:
    given = [each.value for each in call.keywords if each.arg == name]
    return any(isinstance(each, ast.Constant) and not each.value for each in given)


def handed_over(tree: ast.AST, threads: Threads) -> Iterator[Line]:
    """Where threads hand over what they have made, in the order in which they come to it; then
    where it is taken."""
    for function in functions(tree, threads.handing):
        own = _own(function)
        for call, name in calls(function):
            holder, _, method = name.rpartition(".")
            if method in _PUTS and holder and holder not in own:
                yield 0, call.lineno, f"{name}() in a thread: whichever comes first is first"
    for call, name in calls(tree) if threads.queues and threads.handing else ():
        if name.rpartition(".")[2] in _TAKES and not call.args:
            yield 1, call.lineno, f"{name}() gives what a thread has put there first"


def added_up(tree: ast.AST, threads: Threads) -> Iterator[Line]:
    """Where threads add to what they share: sums are rounded by their order."""
    for function in functions(tree, threads.threaded):
        own = _own(function)
        for node in ast.walk(function):
            if isinstance(node, ast.stmt) and (target := _grown(node)) and target not in own:
                yield 0, node.lineno, f"{target} grows in threads, in the order they come to it"


def _grown(node: ast.stmt) -> str:
    """What an assignment adds to: "self.total"."""
    if isinstance(node, ast.AugAssign):
        return _stored(node.target)
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
        return ""
    target = _stored(node.targets[0])
    read = (ast.unparse(each) for each in ast.walk(node.value) if isinstance(each, ast.expr))
    return target if target and target in read else ""


def _stored(target: ast.expr) -> str:
    return ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""


def _own(function: ast.FunctionDef) -> set[str]:
    """The names of a function's own."""
    shared = {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored - shared


def indexed(tree: ast.AST, *, backward: bool, name: str = "") -> Iterator[Line]:
    """Indexing by tensors: where it writes, and in a backward where it reads, since gradients of
    what is read twice are added up.

    name  of the parameter whose gradient differs: what reads by index from it goes first, and
          what a module does before what other functions do
    """
    made = _made(tree)
    for node, in_module in _with_modules(tree):
        found = _told(node, made, backward=backward)
        if found:
            is_named = isinstance(node, ast.Subscript) and last_name(node.value) == name != ""
            rank = 0 if is_named else 1 if in_module else 2
            yield rank + found[0], node.lineno, found[1]


def _told(
    node: ast.expr, made: dict[str, list[ast.expr]], *, backward: bool
) -> tuple[int, str] | None:
    later = 2 * backward  # in a backward what writes does so less often
    if isinstance(node, ast.Subscript) and _is_of_tensors(node.slice, made):
        if isinstance(node.ctx, ast.Store):
            return later, "writes by index: where one occurs twice, either value may stay"
        if backward and isinstance(node.ctx, ast.Load):
            return 0, "reads by index: the gradients of what is read twice are added in no order"
    elif isinstance(node, ast.Call):
        method = ast.unparse(node.func).rpartition(".")[2]
        if method in _WRITERS:
            return later, f"{method}(): where an index occurs twice, either value may stay"
    return None


def _with_modules(tree: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """All expressions, with whether they stand in a class that has a ``forward``."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            if not names.isdisjoint(_MODULES):
                inside.update(id(each) for each in ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            yield node, id(node) in inside


def _made(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What names, attributes and buffers are made from."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found.setdefault(last_name(target), []).append(node.value)
    for call, name in calls(tree):
        given = call.args
        if name.endswith("register_buffer") and len(given) > 1:
            found.setdefault(ast.unparse(given[0]).strip("'"), []).append(given[1])
    return found


def _is_of_tensors(index: ast.expr, made: dict[str, list[ast.expr]], depth: int = 0) -> bool:
    """Whether an index is made of tensors of indices, as far as the text shows."""
    parts: list[ast.expr] = []
    if isinstance(index, (ast.Tuple, ast.List)):
        parts = index.elts
    elif isinstance(index, ast.BinOp):
        parts = [index.left, index.right]
    elif isinstance(index, ast.Subscript):
        parts = [index.value]
    elif isinstance(index, (ast.Name, ast.Attribute)) and depth < _DEEP:
        parts, depth = made.get(last_name(index), []), depth + 1
    elif isinstance(index, ast.Call) and isinstance(index.func, ast.Attribute):
        if index.func.attr in _INDICES:  # torch.arange(…), points.long()
            return True
        parts = [] if index.func.attr == "item" else [index.func.value]
    return any(_is_of_tensors(each, made, depth) for each in parts)
