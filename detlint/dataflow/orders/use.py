"""An order on its way, and where it shows: plain data."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit


# What shows an order for certain, whatever the elements are; also in a function further on.
_TELLING = re.compile(
    r"(?:.* and )?"
    r"(numbered|indexed|cut to|sorted by|searched by"
    r"|passed to (?:shuffle|sample|cho|permut|train_test_split|random_split)).*"
)

_LONGEST = 60
_NESTED = 3  # lists in lists
# What the advice of a finding ends with that callers may make pointless.
RETURNED = ", here or where it is returned to"
SORTED = "sorted by a key, which leaves equals as they come"
# What is said of rows that others may look up by what they name.
OF_ROWS = "written in rows, of which each names its file"


class Use(NamedTuple):
    """A place where an order shows; ``how`` is a participle: "looped over".

    assumed  what happens there is not seen, and only seems to show the order
    there    what shows it in another file, which ``how`` tells the place of
    """

    op: Op
    how: str
    assumed: bool = False
    there: Op | None = None

    @property
    def tells(self) -> bool:
        """Whether it shows the order whatever the elements are."""
        return _TELLING.fullmatch(self.how) is not None

    @property
    def step(self) -> tuple[ast.AST, str]:
        """The last one of the way, as reports take it."""
        return self.op.node, f"here its order shows: {self.how}"

    @property
    def is_of_rows(self) -> bool:
        """Whether it is the order of rows that each name their file, which others may look up."""
        return OF_ROWS in self.how

    @property
    def rests_on_ties(self) -> bool:
        """Whether it only shows where elements are equal by a key."""
        return "sorted by" in self.how or "searched by" in self.how

    def said(self, how: str) -> Use:
        """The same, with other words for what happens, unless it is one of rows; that elements are
        sorted is still said."""
        if self.is_of_rows:
            return self
        return self._replace(how=f"{how} and {SORTED}" if SORTED in self.how else how)

    def further(self, how: str) -> str:
        """What hands the order on to this use, and what this one does with it, if that tells."""
        found = _TELLING.fullmatch(self.how)
        return f"{how} and {self.how[found.start(1) :]}" if found is not None else how

    def seen_from(self, op: Op, how: str) -> Use:
        """The same as the file has it that hands the order on, by one of its operations."""
        there = self.there or self.op
        told = self.how if self.there else f"{self.how} at {place_of(there)}"
        return Use(op, f"{how} and {told}", self.assumed, there)


def shown_at(unit: Unit, node: ast.AST, use: Use) -> str:
    """``here it is looped over``: what is done with what a node gives; with the line that shows its
    order, where that is another one of the same file."""
    shown = use.op.node
    here = range(getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) + 1)
    row = getattr(shown, "lineno", None)
    if use.there is not None or use.op.function.unit is not unit or row is None or row in here:
        return f"here it is {use.how}"
    text = unit.text_of(shown).partition("\n")[0].strip().replace("`", "'")
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    where = unit.source.spoken_place(unit.span(shown)[0])
    return f"here it is {use.how}, as {where} shows: `{text}`"


def place_of(op: Op) -> str:
    """Where an operation stands, as messages about other files say it: ``make.py:6``."""
    return f"{op.function.unit.path}:{getattr(op.node, 'lineno', 1)}"


class Flow(NamedTuple):
    """What is followed.

    keyed     a dict that was filled in the order
    filled    what took the elements over one by one
    text      a text that holds them
    numbered  it gives the elements' places, too
    grouped   the containers that hold lists or dicts in the order, outermost first: at which place
              that stands which holds them, None for any
    columns   a table whose columns have it
    rows      the containers that hold it are sequences, which have no keys
    whole     its elements are whole numbers, which add up to the same in any order
    named     each of its elements is a row that names the file that it is of
    table     a table of polars, or one of its columns, whose rows have it
    """

    keyed: bool = False
    filled: bool = False
    text: bool = False
    numbered: bool = False
    grouped: tuple[int | None, ...] = ()
    columns: bool = False
    rows: bool = False
    table: bool = False
    whole: bool = False
    named: bool = False

    @property
    def inner(self) -> Flow:
        """Of what a container holds."""
        return self._replace(grouped=self.grouped[1:], rows=self.rows and len(self.grouped) > 1)

    @property
    def held(self) -> Flow:
        """Of a container that holds it."""
        return self._replace(grouped=(None, *self.grouped))

    @property
    def is_deep(self) -> bool:
        """Whether it is followed into no further container."""
        return len(self.grouped) >= _NESTED

    def listed(self, place: int | None = None) -> Flow:
        """Of a list or a tuple that holds it, at a place or at any."""
        rows = self.rows or not (self.keyed or self.grouped)
        return self._replace(grouped=(place, *self.grouped), rows=rows)

    def paired(self, place: int) -> Flow:
        """Of rows that each have at a place one of what a container holds."""
        return self._replace(grouped=(None, place, *self.grouped[1:]), rows=True)

    def may_be_at(self, place: object) -> bool:
        """Whether what stands at a place of the outermost container may hold it."""
        known = isinstance(place, int) and place >= 0 and self.grouped[0] is not None
        return not known or self.grouped[0] == place


PLAIN = Flow()


def surest(uses: Iterable[Use]) -> Use | None:
    """The first use that is seen, else the first that is assumed."""
    assumed = None
    for use in uses:
        if not use.assumed:
            return use
        assumed = assumed or use
    return assumed


def first_of(uses: Iterable[Use]) -> Use | None:
    """The first use, and one of rows that name their files only where there is no other."""
    of_rows = None
    for use in uses:
        if not use.is_of_rows:
            return use
        of_rows = of_rows or use
    return of_rows


def only_returned(uses: Collection[Use]) -> bool:
    """Whether an order is seen only by whoever calls the function around, which is at the top."""
    functions = {use.op.function for use in uses}
    function = functions.pop() if len(functions) == 1 else None
    node = function.node if function is not None else None
    if function is None or not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    top = function.outer is None and not function.class_name
    return top and all(use.op.code == "return" or use.how == "returned" for use in uses)
