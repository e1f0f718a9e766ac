"""What a program's text saves and loads, and what it keeps and does not save: read, never executed.

Python values beside the model and the optimizer: a history of norms, the best loss so far, a
count. A program that is resumed begins with them anew.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from guard.verification.calls import calls, last_name
from guard.verification.threads import Line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_SAVES = {"save", "dump", "save_checkpoint", "save_state", "save_state_dict", "dumps"}
_SAVERS = {"torch", "pickle", "joblib", "json", "dcp", "accelerator", "fabric", "trainer"}
_STATES = {
    *("state_dict", "get_state", "__getstate__", "__reduce__", "on_save_checkpoint"),
    *("get_extra_state", "save", "save_checkpoint"),
}
_EMPTY = {"list", "dict", "set", "deque", "defaultdict", "Counter", "float", "int"}
_GROWS = {"append", "appendleft", "extend", "add", "update", "insert", "pop", "popleft", "clear"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_CLIPS = ("clip_grad_norm", "clip_grad_value", "clip_gradients", "clip_grads_with_norm")
_DEEP = 3  # dictionaries, one in the other
_IN_PLACE = {"mul_", "div_", "add_", "sub_", "copy_", "clamp_", "zero_", "fill_", "clip_"}
# What receives ``state_dict()`` of a state that was lost, and the functions that read or set it.
_HOLDERS = {
    "optimizer": ("opt",),
    "hyperparameter": ("sched", "scaler"),
    "parameter": ("model", "net", "module"),
    "buffer": ("model", "net", "module"),
    "batch": ("sampler", "loader", "data"),
    "generator": ("rng", "generator"),
}
_RNG = ("get_rng_state", "set_rng_state", "getstate", "setstate", "get_state", "set_state")


class Kept(NamedTuple):
    """A value that changes as the program runs.

    line   where it changes
    begun  where it is made
    """

    name: str
    line: int
    begun: int


def states(tree: ast.AST, lost: Iterable[str]) -> Iterator[Line]:
    """What saves and loads a state of a kind that was lost; else what saves a checkpoint, for what
    is not in it cannot be loaded; then what loads it."""
    kinds = tuple(lost)
    holders = tuple(word for kind in kinds for word in _HOLDERS.get(kind, ()))
    in_part = {
        id(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is None
    }
    for call, name in calls(tree):
        holder, _, method = name.rpartition(".")
        is_rng = "generator" in kinds and method.startswith(_RNG)
        if is_rng or any(word in holder.lower() for word in holders):
            if method == "state_dict" or (is_rng and "get" in method):
                changed = id(call) in in_part
                more = ", and something is put in the place of a part of it" if changed else ""
                yield Line(0 if changed else 1, call.lineno, f"{name}() is saved here{more}")
            elif method == "load_state_dict" or is_rng:
                yield Line(2, call.lineno, f"{name}() puts it back here")
        elif name in ("torch.save", "torch.load", "pickle.dump", "pickle.load"):
            rank, does = (5, "read") if name.endswith("load") else (3, "written")
            yield Line(rank, call.lineno, f"{name}(): the checkpoint is {does} here")


def unsaved(tree: ast.Module, saved: Collection[str]) -> list[Kept]:
    """What a file keeps and none of what is saved has the name of; attributes first.

    saved  names that stand where the program saves
    """
    found = [*_attributes(tree, saved), *_variables(tree, saved)]
    return list({(each.name, each.begun): each for each in reversed(found)}.values())[::-1]


def saved_names(trees: Collection[ast.Module]) -> set[str] | None:
    """Names of what a program saves: in the calls that save, and in what these are given.

    None where it saves nothing by itself, but for what a library does.
    """
    found: set[str] = set()
    saves = False
    own = {each.name for tree in trees for each in _functions(tree)}
    for tree in trees:
        for function in (tree, *_functions(tree)):
            given = [each for each in _calls(function) if _is_save(each, own)]
            saves = saves or bool(given)
            names = {name for each in given for name in _names([*each.args, *_values(each)])}
            for _ in range(_DEEP):
                names |= {name for value in _stored(function, names) for name in _names([value])}
            found |= names
        for function in _functions(tree):
            if function.name in _STATES - {"save", "save_checkpoint"}:
                found |= set(_names([function]))
    return found if saves else None


def changes_gradients(trees: Collection[ast.Module]) -> bool:
    """Whether a program changes gradients in place, between backward and the optimizer's step."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                method = name.rpartition(".")[2]
                if method.startswith(_CLIPS) or (method in _IN_PLACE and ".grad." in name):
                    return True
            elif isinstance(node, (ast.Assign, ast.AugAssign)):
                for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if last_name(each) == "grad":
                        return True
    return False


def _attributes(tree: ast.Module, saved: Collection[str]) -> Iterator[Kept]:
    """Attributes that a class makes of Python values, changes and reads in other methods."""
    for owner in ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        made = _made(owner)
        for method in owner.body:
            if not isinstance(method, _FUNCTIONS) or method.name == "__init__":
                continue
            for name, line in _changes(method):
                key = name.removeprefix("self.")
                held = key in saved or _instances(tree, owner.name) & set(saved)
                if name.startswith("self.") and key in made and not held:
                    yield Kept(name, line, made[key])


def _made(owner: ast.ClassDef) -> dict[str, int]:
    found: dict[str, int] = {}
    for method in owner.body:
        if isinstance(method, _FUNCTIONS) and method.name == "__init__":
            for target, value in _assigned(method):
                if isinstance(target, ast.Attribute) and _is_plain(value):
                    found[target.attr] = target.lineno
    return found


def _variables(tree: ast.Module, saved: Collection[str]) -> Iterator[Kept]:
    """Variables that a loop changes, and that are made before it and read in it."""
    for function in (tree, *_functions(tree)):
        before = {
            target.id: target.lineno
            for target, value in _assigned(function)
            if isinstance(target, ast.Name) and _is_plain(value)
        }
        for loop in (each for each in ast.walk(function) if isinstance(each, _LOOPS)):
            for name, line in _changes(loop):
                begun = before.get(name, line)
                if begun < loop.lineno and name not in saved and _decides(loop, name):
                    yield Kept(name, line, begun)


def _decides(loop: ast.AST, name: str) -> bool:
    """Whether what a loop changes is read there by a condition, or goes into something else."""
    for node in ast.walk(loop):
        read = node.test if isinstance(node, (ast.If, ast.While, ast.IfExp)) else None
        if isinstance(node, (ast.Assign, ast.AugAssign)) and not any(
            _dotted(each) == name
            for each in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ):
            read = node.value
        if read is not None and any(_dotted(each) == name for each in ast.walk(read)):
            return True
    return False


def _changes(part: ast.AST) -> Iterator[tuple[str, int]]:
    """Names and attributes that grow or are stored anew."""
    for node in ast.walk(part):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = _dotted(node.func.value)
            if node.func.attr in _GROWS and name:
                yield name, node.lineno
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
                parts = each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each]
                for target in parts:
                    inner = target.value if isinstance(target, ast.Subscript) else target
                    if name := _dotted(inner):
                        yield name, node.lineno


def _is_plain(value: ast.expr) -> bool:
    """Whether it is a number, a text, None or an empty collection."""
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    if isinstance(value, ast.Call):
        return last_name(value.func) in _EMPTY
    if isinstance(value, ast.Attribute):
        return value.attr == "inf"
    return isinstance(value, (ast.Constant, ast.List, ast.Dict, ast.Set))


def _instances(tree: ast.AST, owner: str) -> set[str]:
    """Names that hold what a class makes."""
    return {
        last_name(target)
        for target, value in _assigned(tree)
        if isinstance(value, ast.Call) and last_name(value.func) == owner
    }


def _assigned(part: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(part):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(target.elts, node.value.elts, strict=False)
                else:
                    yield target, node.value


def _stored(part: ast.AST, names: Collection[str]) -> Iterator[ast.expr]:
    """Dictionaries that are stored under names, and what is put into them."""
    for target, value in _assigned(part):
        if isinstance(target, ast.Subscript):
            if last_name(target.value) in names:
                yield value
        elif last_name(target) in names and _is_dict(value):
            yield value


def _is_dict(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict) or (
        isinstance(value, ast.Call) and last_name(value.func) == "dict"
    )


def _is_save(call: ast.Call, own: Collection[str]) -> bool:
    """Whether a call saves; functions of the program's own are looked at themselves."""
    name = last_name(call.func)
    if not isinstance(call.func, ast.Attribute):
        return name in _SAVES and name not in own
    return name in _SAVES and (last_name(call.func.value) in _SAVERS or name not in {"save", *own})


def _names(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Names of what is held whole: of ``clip.norms`` norms, of ``model.state_dict()`` none."""
    for part in parts:
        inner: Iterable[ast.AST] = ast.iter_child_nodes(part)
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            holder = part.func.value
            inner = [*([] if isinstance(holder, ast.Name) else [holder]), *part.args]
            inner += _values(part)
        elif isinstance(part, ast.Attribute):
            yield part.attr
            inner = [] if isinstance(part.value, ast.Name) else [part.value]
            if part.attr == "__dict__" and isinstance(part.value, ast.Name):
                yield part.value.id
        yield from _names(inner)


def _values(call: ast.Call) -> list[ast.expr]:
    return [each.value for each in call.keywords]


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)]


def _calls(part: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(part) if isinstance(each, ast.Call))


def _dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
