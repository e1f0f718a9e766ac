"""What the text of a program speaks for: read, never executed.

What is saved and loaded, and what acts on a circumstance; all else is asked of the linter.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.dataflow.arguments.environment import changes_environment
from detlint.dataflow.definitions import Definitions
from detlint.dataflow.orders.threads import Threads
from detlint.dataflow.randomness.clocks import timed_conditions
from detlint.dataflow.unit import Unit
from detlint.sources.source import Source as Program
from guard.diff import Source
from guard.diff.sources import LISTING, leaves_out, of_arguments, source_of
from guard.observe.statements import imported, in_full
from guard.program import text_of
from guard.verification.plan import ADDRESSES, HASHES, LISTINGS, MEMORY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from detlint.dataflow.randomness.clocks import Timed

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
_OF_SETS = {
    *("set", "frozenset", "hash", "union", "intersection", "difference", "symmetric_difference"),
}
_TENSORS = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}
_TIMED = {Source.CLOCK, Source.LOAD, Source.READINESS, Source.THREAD_ORDER}
_TF32 = ("set_float32_matmul_precision", "allow_tf32", "fp32_precision")
# Words of an item of the environment, and what sets it from within a program.
_SETTERS = {
    "thread": (
        *("set_num_threads", "set_num_interop_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
        *("OPENBLAS_NUM_THREADS", "threadpool_limits"),
    ),
    "dtype": ("set_default_dtype", "set_default_tensor_type"),
    "device": ("set_default_device", "set_device", "CUDA_VISIBLE_DEVICES"),
    "matmul": _TF32,
    "tf32": _TF32,
    "deterministic": ("use_deterministic_algorithms", "deterministic"),
    "benchmark": ("benchmark",),
    "mkldnn": ("mkldnn",),
    "denormal": ("set_flush_denormal",),
}


class Line(NamedTuple):
    """A line of a file, and why it is told; the lower the rank, the likelier."""

    rank: int
    file: str
    line: int
    what: str
    fits: str = ""


class Text:
    """The program's own files, read once, the one that is started first."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(files)

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """By file, those that can be read."""
        found: dict[str, ast.Module] = {}
        for path in self.files:
            with suppress(OSError, SyntaxError, ValueError), open(path, "rb") as file:
                found[path] = ast.parse(file.read())
        return found

    @property
    def _all(self) -> Collection[ast.Module]:
        return self.trees.values()

    @cached_property
    def _units(self) -> dict[str, Unit]:
        """By file, what the linter makes of it."""
        return {path: Unit(Program(path, text_of(path))) for path in self.trees}

    @cached_property
    def threads(self) -> Threads:
        """Its threads and processes, which can come first or last."""
        return Threads([*self._units.values()])

    @property
    def changes_environment(self) -> bool:
        """Whether it changes the environment of its process."""
        return any(map(changes_environment, self._units.values()))

    @cached_property
    def definitions(self) -> Definitions:
        """Where what it holds is made, changed, set and read."""
        return Definitions([*self._units.values()])

    @cached_property
    def allocates(self) -> bool:
        """Whether it has memory that nothing has written."""
        given = (call.args[0] for call, name in self._calls if name in _TENSORS and call.args)
        sized = any(not isinstance(each, (ast.List, ast.Tuple)) for each in given)
        is_part = any(leaves_out(*each) for each in self._calls)
        return sized or is_part or Source.UNWRITTEN_MEMORY in self._sources

    @cached_property
    def _calls(self) -> list[tuple[ast.Call, str]]:
        return [each for tree in self._all for each in calls(tree)]

    @cached_property
    def _sources(self) -> set[Source | None]:
        """What is called, of what gives something else in each run."""
        named = ((tree, imported(tree)) for tree in self._all)
        return {source_of(dotted(call, names)) for tree, names in named for call, _ in calls(tree)}

    @cached_property
    def shares(self) -> bool:
        """Whether its threads add to what they share, or hand over what they have made."""
        return any(True for _ in (*self.threads.added_up(), *self.threads.handed_over()))

    @cached_property
    def draws_in_threads(self) -> bool:
        """Whether its threads draw from torch's generator of the whole process."""
        return any(library == "torch" for _, library in self.threads.draws())

    def speaks_for(self, circumstance: str) -> bool:
        """Whether there is something on which the circumstance acts."""
        if circumstance == MEMORY.name:
            return self.allocates
        test = _ACTS_ON.get(circumstance)
        return test is None or any(map(test, self._all))

    @cached_property
    def timed(self) -> bool:
        """Whether something may depend on who or what is first."""
        if self.threads or not _TIMED.isdisjoint(self._sources):
            return True
        waits = any(of_arguments(call) for call, _ in self._calls)
        return waits or any(self.timed_conditions.values())

    @cached_property
    def timed_conditions(self) -> dict[str, list[Timed]]:
        """Of each file, what the clock decides there."""
        return {path: timed_conditions(path, text_of(path)) for path in self.trees}


def _hashes(tree: ast.AST) -> bool:
    """Whether it has sets, or asks for hashes; ``a.keys() & b.keys()`` makes one."""
    return (
        any(_all(tree, ast.Set, ast.SetComp))
        or any(_is_keys(each.left) and _is_keys(each.right) for each in _all(tree, ast.BinOp))
        or any(last_name(each.func) in _OF_SETS for each in _all(tree, ast.Call))
    )


def _is_keys(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in ("keys", "items")


def _asks_address(tree: ast.AST) -> bool:
    asked = ("id", "repr", "WeakSet", "WeakKeyDictionary")
    return any(each.id in asked for each in _all(tree, ast.Name)) or _hashes(tree)


def _lists(tree: ast.AST) -> bool:
    """Whether it lists folders, and does not sort what it gets at once."""
    ordered = (arg for call, name in calls(tree) if name == "sorted" for arg in call.args)
    in_order = {each for argument in ordered for each in ast.walk(argument)}
    return any(last_name(call.func) in LISTING and call not in in_order for call, _ in calls(tree))


_ACTS_ON = {HASHES.name: _hashes, ADDRESSES.name: _asks_address, LISTINGS.name: _lists}


# Calls and names


def _all(tree: ast.AST, *kinds: type[ast.AST]) -> Iterator[Any]:
    return (each for each in ast.walk(tree) if isinstance(each, kinds))


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls by name, as the text has it."""
    for node in _all(tree, ast.Call):
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node, ast.unparse(node.func)


def dotted(call: ast.Call, names: dict[str, str]) -> str:
    """What is called, with what is imported in the place of the first name."""
    return in_full(ast.unparse(call.func), names)


def last_name(node: ast.AST) -> str:
    """The last word of a dotted name: ``save`` of ``torch.save``; "" for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


# Checkpoints


def states(path: str, tree: ast.AST, lost: Iterable[str]) -> Iterator[Line]:
    """What saves and loads a state of a kind that was lost; else what saves a checkpoint, for what
    is not in it cannot be loaded; then what loads it."""
    kinds = tuple(lost)
    holders = tuple(word for kind in kinds for word in _HOLDERS.get(kind, ()))
    pairs = (pair for d in _all(tree, ast.Dict) for pair in zip(d.keys, d.values, strict=True))
    in_part = {value for key, value in pairs if key is None}
    for call, name in calls(tree):
        holder, _, method = name.rpartition(".")
        is_rng = "generator" in kinds and method.startswith(_RNG)
        if is_rng or any(word in holder.lower() for word in holders):
            if method == "state_dict" or (is_rng and "get" in method):
                changed = call in in_part
                more = ", and something is put in the place of a part of it" if changed else ""
                yield Line(0 if changed else 1, path, call.lineno, f"{name}() is saved here{more}")
            elif method == "load_state_dict" or is_rng:
                yield Line(2, path, call.lineno, f"{name}() puts it back here")
        elif name in ("torch.save", "torch.load", "pickle.dump", "pickle.load"):
            rank, does = (5, "read") if name.endswith("load") else (3, "written")
            yield Line(rank, path, call.lineno, f"{name}(): the checkpoint is {does} here")


# The environment


def setters(path: str, tree: ast.AST, items: Iterable[str]) -> Iterator[Line]:
    """What sets an item of the environment; a value that is computed before one that is written
    there, which is the same in each run."""
    words = {
        each
        for item in items
        for part, names in _SETTERS.items()
        if part in item.lower()
        for each in (*names, item.rpartition(": ")[2])
    }
    for node in _all(tree, ast.Call, ast.Assign):
        if isinstance(node, ast.Assign):
            name, values = _word(node.targets[0]), [node.value]
        else:
            name, values = last_name(node.func), node.args
            if name in ("setdefault", "putenv") and node.args:  # of os.environ
                name, values = _word(node.args[0]), node.args[1:]
        if name in words:
            fixed = all(isinstance(each, ast.Constant) for each in values)
            yield Line(1 if fixed else 0, path, node.lineno, f"{name} is set here")


def _word(node: ast.expr) -> str:
    """What stands in the brackets, or after the dot."""
    if isinstance(node, ast.Subscript):
        node = node.slice
    if isinstance(node, ast.Constant):
        return str(node.value)
    return node.attr if isinstance(node, ast.Attribute) else ""
