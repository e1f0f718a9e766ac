"""What the text of a program speaks for: read, never executed."""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from guard.diff import Source
from guard.diff.sources import LISTING, source_of
from guard.verification.calls import calls, dotted, imported, last_name
from guard.verification.checkpoints import changes_gradients, saved_names, unsaved
from guard.verification.circumstances import ADDRESSES, HASHES, LISTINGS, MEMORY
from guard.verification.threads import Line, Threads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from guard.verification.checkpoints import Kept

_OF_SETS = {
    "set",
    "frozenset",
    "hash",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
}
_TENSORS = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}
_TIMED = {Source.CLOCK, Source.LOAD, Source.READINESS}
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
    def kept(self) -> dict[str, list[Kept]]:
        """Of each file, what it keeps from step to step and is not saved, if the program saves."""
        saved = saved_names(self._all)
        if saved is None:
            return {}
        return {path: unsaved(tree, saved) for path, tree in self.trees.items()}

    @cached_property
    def allocates(self) -> bool:
        """Whether it has memory that nothing has written."""
        return any(
            name in _TENSORS and call.args and not isinstance(call.args[0], (ast.List, ast.Tuple))
            for tree in self._all
            for call, name in calls(tree)
        ) or any(source is Source.UNWRITTEN_MEMORY for source in self._sources)

    @cached_property
    def _sources(self) -> set[Source | None]:
        """What is called, of what gives something else in each run."""
        return {
            source_of(dotted(call, names))
            for tree in self._all
            for names in (imported(tree),)
            for call, _ in calls(tree)
        }

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

    def speaks_for(self, circumstance: str) -> bool:
        """Whether there is something on which the circumstance acts."""
        if circumstance == HASHES.name:
            return any(map(_hashes, self._all))
        if circumstance == ADDRESSES.name:
            return any(_asks_address(tree) or _hashes(tree) for tree in self._all)
        if circumstance == LISTINGS.name:
            return any(map(_lists, self._all))
        return self.allocates if circumstance == MEMORY.name else True

    @cached_property
    def timed(self) -> bool:
        """Whether something may depend on who or what is first."""
        limits = (
            each.arg for tree in self._all for call, _ in calls(tree) for each in call.keywords
        )
        return bool(self.threads) or not _TIMED.isdisjoint(self._sources) or "max_time" in limits


def _hashes(tree: ast.AST) -> bool:
    """Whether it has sets, or asks for hashes."""
    return any(
        isinstance(node, (ast.Set, ast.SetComp))
        or (isinstance(node, ast.BinOp) and _is_keys(node.left, node.right))
        or (isinstance(node, ast.Call) and last_name(node.func) in _OF_SETS)
        for node in ast.walk(tree)
    )


def _lists(tree: ast.AST) -> bool:
    """Whether it lists folders, and does not sort what it gets at once."""
    ordered = (arg for call, name in calls(tree) if name == "sorted" for arg in call.args)
    in_order = {id(each) for argument in ordered for each in ast.walk(argument)}
    return any(
        last_name(call.func) in LISTING and id(call) not in in_order for call, _ in calls(tree)
    )


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
