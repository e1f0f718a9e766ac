"""Lines of a program's text at which what comes first decides: read, never executed.

What threads put where others take it from, or add to what they share; and indexing by tensors,
where values that fall on one place are added or written in no fixed order.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.passages import calls, functions, threads_functions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
_WRITERS = ("index_put", "index_put_", "index_copy", "index_copy_", "put_", "max_unpool2d")


def is_threaded(trees: Collection[ast.AST]) -> bool:
    """Whether threads or processes of the program's own can come first or last."""
    if threads_functions(trees):
        return True
    return any(
        name.rpartition(".")[2] in (*_QUEUES, *_UNORDERED) or _is_off(call, "in_order")
        for tree in trees
        for call, name in calls(tree)
    )


def _is_off(call: ast.Call, name: str) -> bool:
    given = [each.value for each in call.keywords if each.arg == name]
    return any(isinstance(each, ast.Constant) and not each.value for each in given)


def handed_over(tree: ast.AST, trees: Iterable[ast.AST]) -> Iterator[Line]:
    """Where threads hand over what they have made, in the order in which they come to it; then
    where it is taken."""
    held = list(trees)
    queues = any(name.rpartition(".")[2] in _QUEUES for each in held for _, name in calls(each))
    names = threads_functions(held, _PROCESSES)
    for function in functions(tree, names):
        own = _own(function)
        for call, name in calls(function):
            holder, _, method = name.rpartition(".")
            if method in _PUTS and holder and holder not in own:
                yield 0, call.lineno, f"{name}() in a thread: whichever comes first is first"
    for call, name in calls(tree) if queues and names else ():
        if name.rpartition(".")[2] in _TAKES and not call.args:
            yield 1, call.lineno, f"{name}() gives what a thread has put there first"


def added_up(tree: ast.AST, trees: Iterable[ast.AST]) -> Iterator[Line]:
    """Where threads add to what they share: sums are rounded by their order."""
    for function in functions(tree, threads_functions(trees)):
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


def indexed(tree: ast.AST, *, backward: bool) -> Iterator[Line]:
    """Indexing by tensors: where it writes, and in a backward where it reads, since gradients of
    what is read twice are added up."""
    made = _made(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and _is_of_tensors(node.slice, made):
            if isinstance(node.ctx, ast.Store):
                text = "writes by index: where one occurs twice, either value may stay"
                yield int(backward), node.lineno, text
            elif backward and isinstance(node.ctx, ast.Load):
                text = "reads by index: the gradients of what is read twice are added in no order"
                yield 0, node.lineno, text
    for call, name in calls(tree):
        if name.rpartition(".")[2] in _WRITERS:
            text = f"{name}(): where an index occurs twice, either value may stay"
            yield int(backward), call.lineno, text


def _made(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What names, attributes and buffers are made from."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found.setdefault(_last(target), []).append(node.value)
    for call, name in calls(tree):
        given = call.args
        if name.endswith("register_buffer") and len(given) > 1:
            found.setdefault(ast.unparse(given[0]).strip("'"), []).append(given[1])
    return found


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


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
        parts, depth = made.get(_last(index), []), depth + 1
    elif isinstance(index, ast.Call) and isinstance(index.func, ast.Attribute):
        if index.func.attr in _INDICES:  # torch.arange(…), points.long()
            return True
        parts = [] if index.func.attr == "item" else [index.func.value]
    return any(_is_of_tensors(each, made, depth) for each in parts)
