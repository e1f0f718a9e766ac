"""Whether the order in which the cells of a notebook ran decides what it leaves behind.

It does where a cell ran before one above it, they have something to do with each other, and what
they make is written, or trains something, or may do so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.outputs import calls_training, keeps
from detlint.dataflow.lowering import BUDGET
from detlint.dataflow.slices import closure
from detlint.dataflow.unit import Unit, asked
from detlint.models import names, randomness
from detlint.models.cells import GIVEN, SHOWING, is_plain, only_drives

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Op
    from detlint.notebooks.notebook import Notebook

_NAMED = ("free", "global")
_CHANGING = ("augment", "change", "store_attr", "store_item")
_MADE = frozenset(
    (
        *("attr", "boolean", "call", "change", "choice", "compare", "comprehension", "declared"),
        *("dict", "enter", "entry", "item", "iter", "list", "not", "phi", "range", "set", "slice"),
        *("star", "store_item", "tuple", "unary", "unpack"),
    )
)


def resting(notebook: Notebook) -> Collection[int] | None:
    """The numbers of the cells that what it leaves behind rests on, as far as these share
    something; None where that is not seen, as where a cell does not parse."""
    if notebook.broken:
        return None

    def found(unit: Unit) -> Collection[int] | None:
        return () if unit.roles.doubt_all(("showing",)) else _Cells(notebook, unit).part()

    with closing(Unit(notebook)) as opened:
        return asked(opened, found, failed=None)


class _Cells:
    """The cells of a notebook by their numbers, and what flows between them."""

    def __init__(self, notebook: Notebook, unit: Unit) -> None:
        self._notebook = notebook
        self._unit = unit
        self._starts = [start for _, start, _ in notebook.cells]
        self._plain: dict[Op, bool] = {}

    def part(self) -> Collection[int] | None:
        """The cells that what is left behind rests on. Raises UnparsedError."""
        ops = self._seen
        if ops is None:
            return None
        text, makers, readers = self._unit.text, defaultdict(set), defaultdict(set)
        for here, maker in self._shared:
            makers[here].add(maker)
            readers[maker].add(here)
        left = {self._cell(each) for each in ops if not self._only_shows(each)}
        for number, (_, start, end) in enumerate(self._notebook.cells, start=1):
            if keeps(text[start:end], figures=False):
                left.add(number)
            if calls_training(text[start:end]):  # what it gives is a result, also if it is shown
                left.update(closure([number], readers.__getitem__))
        left = {*closure(sorted(left), makers.__getitem__)}
        return {x.number for at, (x, *_) in enumerate(self._notebook.cells, 1) if at in left}

    def _only_shows(self, op: Op) -> bool:
        """Whether an operation leaves what other cells have as it is, and draws and trains
        nothing: ``np.savetxt(path, model.weight.numpy())``."""
        if op.code in _CHANGING and op.args:
            return self._is_plain(op) or not self._is_of_another(op.args[0], op)
        if op.code != "call" or self._is_plain(op):
            return True
        called = self._unit.values.called(op)
        if any(map(randomness.draws, called)) or names.trains(word_of(op)):
            return False
        told = bool(called) or not op.is_dropped or word_of(op) in SHOWING
        return op.args[0].code == "attr" and told

    @cached_property
    def _seen(self) -> list[Op] | None:
        """All operations; None where a function may have been cut, or `%run train.py` binds names
        of its own."""
        drives = all(only_drives(each.name) for each in self._notebook.magics)
        ops = list(self._ops()) if drives else None
        return ops if ops is None or len(ops) <= BUDGET else None

    def _ops(self) -> Iterator[Op]:
        for function in self._unit.functions_at(each.start for each in self._unit.pieces):
            for each in function.everything():
                yield from each.ops

    def _at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def _cell(self, op: Op) -> int:
        row = op.row or getattr(op.function.node, "lineno", 1)
        return self._at(self._unit.source.line_starts[row - 1])

    @cached_property
    def _shared(self) -> set[tuple[int, int]]:
        """Each cell, and each other one that made what it reads."""
        found = set()
        for op in self._seen or ():
            here = self._cell(op)
            # Names that nothing here binds yet, such as `len`, are one operation for all cells.
            makers = {self._cell(x) for x in op.args if x.code not in ("import", *_NAMED)}
            if op.code in _NAMED:
                makers |= self._makers(str(op.name))
            found |= {(here, each) for each in makers if each != here}
        return found

    def _makers(self, name: str) -> set[int]:
        """The cells that bind a name, but for imports."""
        bound = self._unit.module.bindings.get(name, ())
        pieces = (each for each in self._unit.pieces if name in (each.name, each.owner))
        return {self._cell(each) for each in bound if each.code != "import"} | {
            self._at(each.start) for each in pieces if each.kind
        }

    def _is_of_another(self, value: Op, op: Op) -> bool:
        """Whether another cell made a value, unless that is of a library: ``sys.path``."""
        first = value
        while first.code in ("change", "store_item"):
            first = first.args[0]
        if any(map(is_plain, self._unit.values.qualified(first))):
            return False
        made = self._makers(str(value.name)) if value.code in _NAMED else {self._cell(value)}
        return bool(made - {self._cell(op)})

    def _is_plain(self, value: Op) -> bool:
        """Whether a value comes of nothing that computes, nor do its methods."""
        if value not in self._plain:
            self._plain[value] = True  # of loops
            self._plain[value] = self._seems_plain(value)
        return self._plain[value]

    def _seems_plain(self, value: Op) -> bool:
        if value.code in ("const", "format", "text"):
            return True
        if value.code == "call":
            return self._calls_plainly(value)
        if value.code in ("global", "import"):
            bound = self._unit.module.bindings.get(str(value.name), ())
            named = self._unit.values.qualified(value)
            return any(map(is_plain, named)) or bool(bound and all(map(self._is_plain, bound)))
        return value.code in _MADE and all(map(self._is_plain, value.args))

    def _calls_plainly(self, call: Op) -> bool:
        function, word = call.args[0], word_of(call)
        if names.writes(word) or word == "dump":
            return word == "savefig"
        called = self._unit.values.called(call)
        if "builtins.open" in called or word == "open":
            return _reads(call)
        if called:
            return all(each.startswith(".") or is_plain(each) for each in called)
        if function.code == "attr":
            return self._is_plain(function.args[0])
        return function.code == "global" and word in GIVEN


def _reads(call: Op) -> bool:
    """Whether a file, or a picture, is opened for reading."""
    mode = call.given("mode", 1)
    said = "r" if mode is None else mode.constant
    return isinstance(said, str) and said.startswith("r")
