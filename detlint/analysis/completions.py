"""Calls that give results in the order in which they finish."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.conditions import call_word
from detlint.analysis.loaders import is_loader
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_AS_COMPLETED = re.compile(
    r"concurrent\.futures(?:\._base|\.thread|\.process)?\.as_completed|asyncio(?:\.tasks)?\.as_completed"
    r"|(?:dask\.)?distributed\.as_completed|tqdm\.(?:asyncio|auto)\.\w+\.as_completed"
)
_WAIT = re.compile(r"(?:concurrent\.futures|asyncio)(?:\._base|\.tasks)?\.wait")
# No method of another meaning has these names.
_METHODS = ("imap_unordered", "map_unordered")
_JOBLIB = ("joblib.Parallel", "joblib.parallel.Parallel", "sklearn.utils.parallel.Parallel")
_NODES = re.compile(r"torchdata\.nodes(?:\.\w+)?\.(?:ParallelMapper|Mapper)")

_FINISHED = "gives results in the order in which they finish"


class Completion(NamedTuple):
    """Results whose order nobody fixed.

    name    as the message writes it
    says    what is true of their order
    advice  what keeps it
    values  the expressions that hold the results, to be followed
    names   the variables that hold them, with the statement that assigns them
    whole   whether the object itself has lost its order, whatever becomes of it
    """

    name: str
    says: str
    advice: str
    values: tuple[cst.CSTNode, ...] = ()
    names: tuple[tuple[cst.Name, cst.CSTNode], ...] = ()
    whole: bool = False


class Completions:
    """Recognizes them in one module."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def of(self, call: cst.Call) -> Completion | None:
        """What a call gives, if it is one of them."""
        name = self._module.called(call)
        if name is None:
            return self._of_method(call)
        shown = _short(name)
        if _AS_COMPLETED.fullmatch(name):
            gathers = name.startswith(("asyncio.", "tqdm."))
            other = "await asyncio.gather(…)" if gathers else "read the futures as submitted"
            advice = f"{other}, or put each result at its index"
            return Completion(f"{shown}()", _FINISHED, advice, (call,))
        if _WAIT.fullmatch(name):
            return self._of_wait(call, shown)
        if name in _JOBLIB:
            return self._of_joblib(call)
        if (is_loader(name) or _NODES.fullmatch(name)) and self._is_out_of_order(call):
            shown = f"{name.rpartition('.')[2]}(in_order=False)"
            says = "gives batches in the order in which its workers finish them"
            return Completion(shown, says, "leave in_order=True, the default", whole=True)
        return None

    def _of_method(self, call: cst.Call) -> Completion | None:
        word = call_word(call)
        if not isinstance(call.func, cst.Attribute) or word not in _METHODS:
            return None
        owner = call.func.value
        if isinstance(owner, cst.Name) and owner.value in ("self", "cls"):
            return None
        advice = f"use {word.removesuffix('_unordered')}(), which keeps the order"
        return Completion(f"{word}()", _FINISHED, advice, (call,))

    def _is_out_of_order(self, call: cst.Call) -> bool:
        """One worker keeps the order, and so does a loader without workers."""
        if self._module.literal(self._module.argument(call, "in_order")) is not False:
            return False
        workers = self._module.argument(call, "num_workers")
        if workers is None:
            return self._module.has_unpacking(call)
        count = self._module.literal(workers)
        return not isinstance(count, int) or count > 1

    def _of_joblib(self, call: cst.Call) -> Completion | None:
        way = self._module.argument(call, "return_as")
        if self._module.literal(way) != "generator_unordered":
            return None
        if self._module.literal(self._module.argument(call, "n_jobs", 0)) == 1:
            return None
        runs = tuple(self._calls_of(call))
        name, advice = "Parallel(return_as='generator_unordered')", "return_as='generator'"
        return Completion(name, _FINISHED, f"use {advice}", runs, whole=not runs)

    def _calls_of(self, made: cst.Call) -> Iterator[cst.Call]:
        """``Parallel(…)(jobs)``, or ``parallel(jobs)`` of the local that holds it."""
        parent = self._module.parent(made)
        if isinstance(parent, cst.Call) and parent.func is made:
            yield parent
            return
        around = self._module.enclosing_function(made) or self._module.tree.module
        for each in self._module.tree.descendants(around):
            if isinstance(each, cst.Call) and isinstance(each.func, cst.Name):
                value = self._module.names.value_of(each.func)
                if value is made or self._is_opened(each.func, made):
                    yield each

    def _is_opened(self, name: cst.Name, made: cst.Call) -> bool:
        """``with Parallel(…) as parallel:``."""
        bindings = self._module.names.visible(name)
        return len(bindings) == 1 and bindings[0].kind == "with" and bindings[0].node is made

    # wait() gives a pair of sets

    def _of_wait(self, call: cst.Call, shown: str) -> Completion | None:
        when = self._module.argument(call, "return_when", 2)
        named = self._module.qualified_name(when) or str(self._module.literal(when))
        values, names = self._done(call)
        if not values and not names:
            return None
        if named.endswith("FIRST_COMPLETED"):
            says = "returns what happens to have finished first"
            name = f"{shown}(return_when=FIRST_COMPLETED)"
        else:
            says, name = "returns sets, in which futures stand by their addresses", f"{shown}()"
        advice = "go through the futures in the order in which they were made"
        return Completion(name, says, advice, values, names)

    def _done(
        self, call: cst.Call
    ) -> tuple[tuple[cst.CSTNode, ...], tuple[tuple[cst.Name, cst.CSTNode], ...]]:
        """What holds the first of the two sets: ``done, _ = wait(…)``, ``wait(…).done``."""
        node: cst.CSTNode = call
        parent = self._module.parent(node)
        if isinstance(parent, cst.Await):
            node, parent = parent, self._module.parent(parent)
        if isinstance(parent, cst.Attribute) and parent.attr.value == "done":
            return (parent,), ()
        if isinstance(parent, cst.Subscript):
            index = parent.slice[0].slice
            first = isinstance(index, cst.Index) and self._module.literal(index.value) == 0
            return ((parent,) if first else ()), ()
        if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
            target = parent.targets[0].target
            if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
                first_name = target.elements[0].value
                if isinstance(first_name, cst.Name):
                    return (), ((first_name, parent),)
        return (), ()


def _short(name: str) -> str:
    """``asyncio.wait``, ``as_completed``: enough to know the function by."""
    last = name.rpartition(".")[2]
    return f"asyncio.{last}" if name.startswith(("asyncio.", "tqdm.")) else last
