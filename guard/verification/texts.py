"""What the text of a program speaks for: read, never executed."""

from __future__ import annotations

import ast
import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from guard.diff import Source
from guard.statements.sources import LISTING
from guard.verification.checkpoints import changes_gradients, saved_names, unsaved
from guard.verification.circumstances import ADDRESSES, HASHES, LISTINGS, MEMORY
from guard.verification.mentions import Mentions, has_others, last_name
from guard.verification.threads import Line, Threads, calls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from guard.verification.checkpoints import Kept

_SETS = {"set", "frozenset"}
_OF_SETS = {"union", "intersection", "difference", "symmetric_difference"}
_TENSORS = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}
# What gives indices, among which one can occur twice; a mask has none twice.
_INDICES = {
    *("long", "int", "arange", "randint", "randperm", "argsort", "argmax", "argmin", "tensor"),
    *("topk", "searchsorted", "bucketize", "multinomial", "floor", "round", "clamp", "as_tensor"),
}
_WRITERS = {"index_put", "index_put_", "index_copy", "index_copy_", "put_", "max_unpool2d"}
_DEEP = 3  # names, one made from the other
_LONGEST = 40  # characters of an expression that are shown
# Words of an item of the environment, and what sets it from within a program.
_SETTERS = {
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


class Text:
    """The program's own files, read once; those that cannot be read are left out."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(files)
        self.trees: dict[str, ast.Module] = {}
        for path in self.files:
            with suppress(OSError, SyntaxError, ValueError), open(path, "rb") as file:
                self.trees[path] = ast.parse(file.read())

    @property
    def _all(self) -> Collection[ast.Module]:
        return self.trees.values()

    @cached_property
    def threads(self) -> Threads:
        """Its threads and processes, which can come first or last."""
        return Threads(self._all)

    @cached_property
    def mentions(self) -> dict[str, Mentions]:
        """Of each file, calls that give another value in each run."""
        others = bool(self.threads) or any(has_others(tree) for tree in self._all)
        return {path: Mentions(tree, others=others) for path, tree in self.trees.items()}

    @cached_property
    def kept(self) -> dict[str, list[Kept]]:
        """Of each file, what it keeps from step to step and is not saved, if the program saves."""
        saved = saved_names(self._all)
        if saved is None:
            return {}
        return {path: unsaved(tree, saved) for path, tree in self.trees.items()}

    @cached_property
    def allocates(self) -> bool:
        """Whether it has memory that nothing has written."""
        return any(True for path in self.trees for _ in self.unwritten(path))

    @cached_property
    def shares(self) -> bool:
        """Whether its threads add to what they share, or hand over what they have made."""
        ways = (self.threads.added_up, self.threads.handed_over)
        return any(True for tree in self._all for way in ways for _ in way(tree))

    @cached_property
    def draws_in_threads(self) -> bool:
        """Whether its threads draw from torch's generator of the whole process."""
        return any(True for tree in self._all for _ in self.threads.draws(tree, ("torch.cpu",)))

    @cached_property
    def changes_gradients(self) -> bool:
        """Whether it changes gradients in place, as clipping does."""
        return changes_gradients(self._all)

    @cached_property
    def lists(self) -> bool:
        """Whether it lists files, in whatever order."""
        return any(last_name(call.func) in LISTING for tree in self._all for call, _ in calls(tree))

    def unwritten(self, path: str) -> Iterator[Line]:
        """What gives memory that nothing has written, in a file."""
        for each in self.mentions[path].of({Source.UNWRITTEN_MEMORY}):
            yield Line(0, each.line, each.what)
        for call, name in calls(self.trees[path]):
            if (
                name in _TENSORS
                and call.args
                and not isinstance(call.args[0], (ast.List, ast.Tuple))
            ):
                yield Line(0, call.lineno, f"{name}() gives memory that nothing has written")

    def speaks_for(self, circumstance: str) -> bool:
        """Whether there is something on which the circumstance acts."""
        if circumstance == HASHES.name:
            return any(True for tree in self._all for _ in hashed(tree))
        if circumstance == ADDRESSES.name:
            return any(_asks_address(tree) or any(True for _ in hashed(tree)) for tree in self._all)
        if circumstance == LISTINGS.name:
            return any(True for tree in self._all for _ in listed(tree))
        return self.allocates if circumstance == MEMORY.name else True

    @cached_property
    def timed(self) -> str:
        """What depends on who or what is first; "" where nothing does."""
        found = self.mentions.values()
        if self.threads:
            return "threads or processes of its own"
        if any(True for each in found for _ in each.deciding()):
            return "a condition on the clock or on another value of the process"
        if any(True for each in found for _ in each.limits()):
            return "a limit in seconds"
        if self.lists and any(True for each in found for _ in each.files()):
            return "files that it lists and whose names are others in each run"
        return ""

    @cached_property
    def measured(self) -> str:
        """What is chosen by a clock, or by the load of the machine; "" where nothing is."""
        for path, found in self.mentions.items():
            for line in found.choosing(_SETTERS["thread"]):
                at = f"{os.path.basename(path)}:{line}"
                return f"a choice by the clock or another value of the process ({at})"
        return ""

    @cached_property
    def luck(self) -> str:
        """What two runs can agree in by luck, as it has few outcomes; "" where nothing is."""
        if self.timed or self.measured:
            return self.timed or self.measured
        drawn = {Source.ENTROPY, Source.PROCESS, Source.DRAWN_NAME}
        if any(True for each in self.mentions.values() for _ in each.of(drawn)):
            return "a draw from a generator without a seed"
        if any(_asks_address(tree) for tree in self._all):
            return "addresses of objects"
        if any(_is_indexed(tree) for tree in self._all):
            return "indexing by tensors, of which kernels may add or write in no fixed order"
        return ""


def hashed(tree: ast.AST) -> Iterator[Line]:
    """Sets, and what asks for hashes."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        called = node.func if isinstance(node, ast.Call) else None
        name = called.id if isinstance(called, ast.Name) else ""
        is_set = isinstance(node, (ast.Set, ast.SetComp)) or name in _SETS
        is_set = is_set or (isinstance(node, ast.BinOp) and _is_keys(node.left, node.right))
        if is_set or (called is not None and last_name(called) in _OF_SETS):
            text = ast.unparse(node)
            shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
            yield Line(0, node.lineno, f"{shown} has no fixed order")
        elif name == "hash":
            yield Line(0, node.lineno, "hash() gives another value in each process for strings")


def listed(tree: ast.AST) -> Iterator[Line]:
    """Listings of folders that are not sorted at once."""
    ordered = (arg for call, name in calls(tree) if name == "sorted" for arg in call.args)
    in_order = {id(each) for argument in ordered for each in ast.walk(argument)}
    for call, name in calls(tree):
        if last_name(call.func) in LISTING and id(call) not in in_order:
            yield Line(0, call.lineno, f"{name}() lists in no fixed order")


def setters(tree: ast.AST, items: Iterable[str]) -> Iterator[Line]:
    """What sets an item of the environment; a value that is computed before one that is written
    there, which is the same in each run."""
    words = {
        each
        for item in items
        for part, names in _SETTERS.items()
        if part in item.lower()
        for each in (*names, item.rpartition(": ")[2])
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, values = last_name(node.func), node.args
            if name in ("setdefault", "putenv") and node.args:  # of os.environ
                name, values = _word(node.args[0]), node.args[1:]
        elif isinstance(node, ast.Assign):
            name, values = _word(node.targets[0]), [node.value]
        else:
            continue
        if name in words:
            fixed = all(isinstance(each, ast.Constant) for each in values)
            yield Line(1 if fixed else 0, node.lineno, f"{name} is set here")


def _word(node: ast.expr) -> str:
    """What stands in the brackets, or after the dot."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else ""


def _asks_address(tree: ast.AST) -> bool:
    names = (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
    return any(each in ("id", "WeakSet", "WeakKeyDictionary") for each in names)


def _is_keys(*nodes: ast.expr) -> bool:
    """Whether each is ``d.keys()``, of which operators make sets."""
    return all(isinstance(n, ast.Call) and last_name(n.func) in ("keys", "items") for n in nodes)


def _is_indexed(tree: ast.AST) -> bool:
    """Whether something is read or written by tensors of indices."""
    made: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                made.setdefault(last_name(target), []).append(node.value)
    for call, name in calls(tree):
        if name.endswith("register_buffer") and len(call.args) > 1:
            made.setdefault(_word(call.args[0]), []).append(call.args[1])
    return any(
        _is_of_tensors(node.slice, made)
        if isinstance(node, ast.Subscript)
        else isinstance(node, ast.Call) and last_name(node.func) in _WRITERS
        for node in ast.walk(tree)
    )


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
