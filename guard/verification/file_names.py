"""Names of files that are others in each run: lines of a program that is read, never executed.

Sorting files by their names fixes no order where the names are drawn: those of temporary files
that are kept, a UUID, the number of a process.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.names import imported, last_name, named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from guard.verification.passages import Line

_LISTED = {"listdir", "scandir", "iterdir", "glob", "iglob", "rglob", "walk"}
_TEMPORARY = {"mkstemp", "NamedTemporaryFile", "mktemp"}
_DRAWN = {
    *("uuid.uuid1", "uuid.uuid4", "os.getpid", "os.urandom", "secrets.token_hex"),
    *("secrets.token_urlsafe", "threading.get_ident"),
}
_MOVES = {"replace", "rename", "renames", "move", "link", "copy", "copy2", "copyfile"}
_MODULES = {"os", "shutil"}
# What writes to a path that it is given first, or that it is a method of.
_WRITES = {
    *("open", "save", "savez", "savez_compressed", "savetxt", "imwrite", "fdopen", "to_csv"),
    *("to_parquet", "to_json", "to_pickle", "tofile"),
}
_OF_PATHS = {"write_text", "write_bytes", "touch", "open"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_REPEATS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp)
_DEEP = 4  # names, one made from the other


def listed_by_name(trees: Collection[ast.Module]) -> bool:
    """Whether a program lists files, in whatever order."""
    return any(last_name(call.func) in _LISTED for tree in trees for call in _calls(tree))


def named_anew(tree: ast.Module, repeated: Collection[str]) -> Iterator[Line]:
    """What gives several files names that are others in each run.

    repeated  names of the functions of the program that run more than once
    """
    drawn = {
        call: name
        for call, name in named(tree, imported(tree))
        if name in _DRAWN or name.rpartition(".")[2] in _TEMPORARY
    }
    for scope, nodes in _scopes(tree) if drawn else ():
        inside = nodes if scope in repeated else _in_loops(nodes)
        for call in inside:
            if isinstance(call, ast.Call) and call in drawn:
                rank = _kept(call, nodes)
                if rank is not None:
                    text = "gives a file a name that is another one in each run"
                    yield rank, call.lineno, f"{drawn[call]}() {text}"


def repeated(trees: Collection[ast.Module]) -> set[str]:
    """Functions that are called in loops or handed to others, and what they call, by name."""
    calling: dict[str, set[str]] = {}
    found: set[str] = set()
    for tree in trees:
        for scope, nodes in _scopes(tree):
            calls = [each for each in nodes if isinstance(each, ast.Call)]
            calling.setdefault(scope, set()).update(last_name(each.func) for each in calls)
            inside = (each for each in _in_loops(nodes) if isinstance(each, ast.Call))
            found.update(last_name(each.func) for each in inside)
            found.update(last_name(given) for each in calls for given in each.args)
    found &= set(calling) - {""}
    while more := {name for each in found for name in calling[each]} & set(calling) - found - {""}:
        found |= more
    return found


def _kept(call: ast.Call, nodes: list[ast.AST]) -> int | None:
    """How likely a file keeps the name: 0 if it is moved to one made of it, None if to another."""
    held = _held(call, nodes)
    rank = None
    for node in nodes:
        if not isinstance(node, ast.Call) or node is call:
            continue
        if _is_move(node):
            if _has(node.args[-1], call, held):
                return 0
            if any(_has(each, call, held) for each in (node.func, *node.args[:-1])):
                return None
        elif any(_has(each, call, held) for each in _paths(node)):
            rank = 1
    return rank


def _paths(node: ast.Call) -> list[ast.expr]:
    """What a call writes to."""
    method, holder = last_name(node.func), getattr(node.func, "value", None)
    if method == "save" and holder is not None and last_name(holder) == "torch":
        return node.args[1:2]
    found = node.args[:1] if method in _WRITES else []
    return [*found, *([holder] if method in _OF_PATHS and holder is not None else [])]


def _is_move(node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _MOVES or not node.args:
        return False
    return last_name(node.func.value) in _MODULES or len(node.args) == 1  # and not of strings


def _held(call: ast.Call, nodes: list[ast.AST]) -> set[str]:
    """Names that hold what a call gives, or what is made of it."""
    held: set[str] = set()
    for _ in range(_DEEP):
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            elif isinstance(node, ast.withitem) and node.optional_vars:
                targets = [node.optional_vars]
            else:
                continue
            value = node.context_expr if isinstance(node, ast.withitem) else node.value
            if value is not None and _has(value, call, held):
                stored = (each for target in targets for each in ast.walk(target))
                held.update(each.id for each in stored if isinstance(each, ast.Name))
    return held


def _has(node: ast.AST, call: ast.Call, held: set[str]) -> bool:
    return any(
        each is call or (isinstance(each, ast.Name) and each.id in held) for each in ast.walk(node)
    )


def _scopes(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Functions by name with all that is in them; and what stands in none, by ""."""
    functions = [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)]
    inner = {id(each) for function in functions for each in ast.walk(function)}
    for function in functions:
        yield function.name, list(ast.walk(function))
    yield "", [each for each in ast.walk(tree) if id(each) not in inner]


def _in_loops(nodes: list[ast.AST]) -> list[ast.AST]:
    loops = (each for each in nodes if isinstance(each, _REPEATS))
    found = {id(each): each for loop in loops for each in ast.walk(loop)}
    return list(found.values())


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.Call))
