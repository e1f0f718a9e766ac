"""Lines of a program's text that set, save or draw what differs: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.global_draws import global_draws

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    Line = tuple[int, int, str]  # the lower the rank, the likelier; the line; what it does

# Words of an item of the environment, and what sets it from within a program.
SETTERS = {
    "thread": (
        *("set_num_threads", "set_num_interop_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
        *("OPENBLAS_NUM_THREADS", "threadpool_limits"),
    ),
    "dtype": ("set_default_dtype", "set_default_tensor_type"),
    "device": ("set_default_device", "set_device", "CUDA_VISIBLE_DEVICES"),
    "matmul": ("set_float32_matmul_precision", "allow_tf32", "fp32_precision"),
    "tf32": ("set_float32_matmul_precision", "allow_tf32", "fp32_precision"),
    "deterministic": ("use_deterministic_algorithms", "deterministic"),
    "benchmark": ("benchmark",),
    "mkldnn": ("mkldnn",),
    "denormal": ("set_flush_denormal",),
}
# What receives ``state_dict()`` of a state that was lost, and the functions that read or set it.
_STATES = {
    "optimizer": ("opt",),
    "hyperparameter": ("sched", "scaler"),
    "parameter": ("model", "net", "module"),
    "buffer": ("model", "net", "module"),
    "batch": ("sampler", "loader", "data"),
    "generator": ("rng", "generator"),
}
_RNG = ("get_rng_state", "set_rng_state", "getstate", "setstate", "get_state", "set_state")
_GIVEN_TO_THREADS = ("Thread", "Timer", "submit", "run_in_executor", "apply_async")
_POOLS = ("ThreadPoolExecutor", "ThreadPool")


def setters(tree: ast.AST, items: Iterable[str]) -> Iterator[Line]:
    """What sets an item of the environment; a value that is computed before one that is written
    there, which is the same in each run."""
    words = {
        each
        for item in items
        for part, names in SETTERS.items()
        if part in item.lower()
        for each in (*names, item.rpartition(": ")[2])
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, values = ast.unparse(node.func).rpartition(".")[2], node.args
            if name in ("setdefault", "putenv") and node.args:  # of os.environ
                name, values = _constant(node.args[0]), node.args[1:]
        elif isinstance(node, ast.Assign):
            name, values = _last_part(node.targets[0]), [node.value]
        else:
            continue
        if name in words:
            fixed = all(isinstance(each, ast.Constant) for each in values)
            yield 1 if fixed else 0, node.lineno, f"{name} is set here"


def states(tree: ast.AST, lost: Iterable[str]) -> Iterator[Line]:
    """What saves and loads a state of a kind that was lost; else what saves a checkpoint, for what
    is not in it cannot be loaded; then what loads it."""
    kinds = tuple(lost)
    holders = tuple(word for kind in kinds for word in _STATES.get(kind, ()))
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
                yield 0 if changed else 1, call.lineno, f"{name}() is saved here{more}"
            elif method == "load_state_dict" or is_rng:
                yield 2, call.lineno, f"{name}() puts it back here"
        elif name in ("torch.save", "torch.load", "pickle.dump", "pickle.load"):
            rank, does = (5, "read") if name.endswith("load") else (3, "written")
            yield rank, call.lineno, f"{name}(): the checkpoint is {does} here"


def threads_functions(trees: Iterable[ast.AST], others: tuple[str, ...] = ()) -> set[str]:
    """Names of functions that are handed to threads, ``Class.run`` for classes that are one.

    others  names of what else they are handed to, such as processes
    """
    found: set[str] = set()
    trees = list(trees)
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
            method = name.rpartition(".")[2]
            if name == "map" or method not in takers:
                continue
            given = [*call.args, *(each.value for each in call.keywords)]
            named = [each for each in given if isinstance(each, (ast.Name, ast.Attribute))]
            found |= {ast.unparse(each).rpartition(".")[2] for each in named}
    return found


def functions(tree: ast.AST, names: Collection[str]) -> Iterator[ast.FunctionDef]:
    """Those of a file with these names; ``Class.run`` is the one of that class alone."""
    for node in ast.walk(tree):
        inside = node.name if isinstance(node, ast.ClassDef) else ""
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.FunctionDef) and (
                each.name in names or f"{inside}.{each.name}" in names
            ):
                yield each


def draws(tree: ast.AST, names: set[str], generators: Iterable[str] = ()) -> Iterator[Line]:
    """Draws from a generator of the whole process, in functions that run in threads.

    generators  names of those that it can be, as a trace has them; none where it can be any
    """
    drawn = global_draws(tree, generators)
    for function in functions(tree, names):
        for call, name in calls(function):
            if call in drawn:
                text = "draws from the generator of the whole process, in a thread"
                yield 0, call.lineno, f"{name}() {text}"


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls by name, as the text has it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node, ast.unparse(node.func)


def _constant(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _last_part(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript):
        return _constant(target.slice)
    return target.attr if isinstance(target, ast.Attribute) else ""
