"""What the text of a program speaks for: read, never executed."""

from __future__ import annotations

import ast
import os
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from guard.verification import passages, races
from guard.verification.circumstances import ADDRESSES, HASHES, LISTINGS, MEMORY
from guard.verification.file_names import listed_by_name, named_anew, repeated
from guard.verification.flows import Flow, is_drawn
from guard.verification.own_seeds import own_seeds
from guard.verification.passages import calls
from guard.verification.readiness import has_others
from guard.verification.time_limits import time_limits
from guard.verification.unsaved import changes_gradients, saved_names, unsaved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from guard.verification.passages import Line
    from guard.verification.unsaved import Kept

_SETS = {"set", "frozenset"}
_OF_SETS = {"union", "intersection", "difference", "symmetric_difference"}
_LISTED = {"listdir", "scandir", "iterdir", "glob", "iglob", "rglob", "walk"}
_UNWRITTEN = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided"}
_TENSORS = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}


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
    def allocates(self) -> bool:
        """Whether it has memory that nothing has written."""
        return any(True for tree in self._all for _ in unwritten(tree))

    @cached_property
    def threads(self) -> races.Threads:
        """Its threads and processes, which can come first or last."""
        return races.Threads(self._all)

    @cached_property
    def flows(self) -> dict[str, Flow]:
        """Of each file, where values go that are others in each run."""
        others = bool(self.threads) or any(has_others(tree) for tree in self._all)
        return {path: Flow(tree, others=others) for path, tree in self.trees.items()}

    @cached_property
    def shares(self) -> bool:
        """Whether its threads add to what they share, or hand over what they have made."""
        ways = (races.added_up, races.handed_over)
        return any(True for tree in self._all for way in ways for _ in way(tree, self.threads))

    @cached_property
    def draws_in_threads(self) -> bool:
        """Whether its threads draw from torch's generator of the whole process."""
        drawn = (passages.draws(tree, self.threads.threaded, ("torch.cpu",)) for tree in self._all)
        return any(True for each in drawn for _ in each)

    @cached_property
    def names(self) -> dict[str, list[Line]]:
        """Of each file, what names files anew in each run, if the program lists files."""
        if not listed_by_name(self._all):
            return {}
        often = repeated(self._all)
        return {path: list(named_anew(tree, often)) for path, tree in self.trees.items()}

    @cached_property
    def kept(self) -> dict[str, list[Kept]]:
        """Of each file, what it keeps from step to step and is not saved, if the program saves."""
        saved = saved_names(self._all)
        if saved is None:
            return {}
        return {path: unsaved(tree, saved) for path, tree in self.trees.items()}

    @cached_property
    def changes_gradients(self) -> bool:
        """Whether it changes gradients in place, as clipping does."""
        return changes_gradients(self._all)

    def speaks_for(self, circumstance: str) -> bool:
        """Whether there is something on which the circumstance acts."""
        if circumstance == HASHES.name:
            return any(_hashes(tree) for tree in self._all)
        if circumstance == ADDRESSES.name:
            return any(_hashes(tree) or _asks_address(tree) for tree in self._all)
        if circumstance == LISTINGS.name:
            return any(True for tree in self._all for _ in listed(tree))
        return self.allocates if circumstance == MEMORY.name else True

    @cached_property
    def timed(self) -> str:
        """What depends on who or what is first; "" where nothing does."""
        if self.threads:
            return "threads or processes of its own"
        if any(True for flow in self.flows.values() for _ in flow.into_conditions()):
            return "a condition on the clock or on another value of the process"
        if any(True for tree in self._all for _ in time_limits(tree)):
            return "a limit in seconds"
        if any(self.names.values()):
            return "files that it lists and whose names are others in each run"
        return ""

    @cached_property
    def measured(self) -> str:
        """What is chosen by a clock, or by the load of the machine; "" where nothing is."""
        for path, flow in self.flows.items():
            for use, _ in flow.into_choices(passages.SETTERS["thread"]):
                at = f"{os.path.basename(path)}:{use.line}"
                return f"a choice by the clock or another value of the process ({at})"
        return ""

    @cached_property
    def luck(self) -> str:
        """What two runs can agree in by luck, as it has few outcomes; "" where nothing is."""
        if self.timed:
            return self.timed
        if self.measured:
            return self.measured
        drawn = (is_drawn(call, name) for tree in self._all for call, name in calls(tree))
        if any(drawn) or any(True for tree in self._all for _ in own_seeds(tree)):
            return "a draw from a generator without a seed"
        if any(True for tree in self._all for _ in races.indexed(tree, backward=True)):
            return "indexing by tensors, of which kernels may add or write in no fixed order"
        return ""


def _hashes(tree: ast.AST) -> bool:
    """Whether it has a set, or asks for a hash."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and is_set(node):
            return True
        if isinstance(node, ast.BinOp) and _is_keys(node.left) and _is_keys(node.right):
            return True
    names = {name.rpartition(".")[2] for _, name in calls(tree)}
    return not names.isdisjoint(("hash", *_OF_SETS))


def _asks_address(tree: ast.AST) -> bool:
    names = (each.id for each in ast.walk(tree) if isinstance(each, ast.Name))
    return any(each in ("id", "WeakSet", "WeakKeyDictionary") for each in names)


def _is_keys(node: ast.expr) -> bool:
    """Whether it is ``d.keys()``, of which operators make sets."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".keys", ".items"))


def is_set(node: ast.expr) -> bool:
    """Whether an expression is a set, as it stands there."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SETS


def listed(tree: ast.AST) -> Iterator[Line]:
    """Listings of folders that are not sorted at once."""
    in_order = {
        id(each)
        for call, name in calls(tree)
        if name == "sorted"
        for argument in call.args
        for each in ast.walk(argument)
    }
    for call, name in calls(tree):
        if name.rpartition(".")[2] in _LISTED and id(call) not in in_order:
            yield 0, call.lineno, f"{name}() lists in no fixed order"


def unwritten(tree: ast.AST) -> Iterator[Line]:
    """What gives memory that nothing has written."""
    for call, name in calls(tree):
        sizes = call.args and not isinstance(call.args[0], (ast.List, ast.Tuple))
        if name.rpartition(".")[2] in _UNWRITTEN or (name in _TENSORS and sizes):
            yield 0, call.lineno, f"{name}() gives memory that nothing has written"
