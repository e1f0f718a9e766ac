"""DET204 set-order."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.orders.given_sets import GivenSets, leaving
from detlint.dataflow.orders.imported_orders import rests_on_others, says_so
from detlint.dataflow.orders.sets import Sets
from detlint.dataflow.orders.use import RETURNED, only_returned, shown_at
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from detlint.callgraph.other_files import OtherFiles
    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Function
    from detlint.dataflow.orders.sets import Reading
    from detlint.finding import Edit, Finding

_LONGEST = 50
# A dict, by its first key, or a set of what is written out as a number: most braces are dicts.
_NO_SET = re.compile(
    r"""(?:in\ |=\ |return\ |\(|\[\*)\{\s*(?:\} | \*\* | (?:\#.*\n\s*)*
      (?:[rbfu]{0,2}(?:"[^"\\\n]*" | '[^'\\\n]*')
        | \([^()\n]*\) | [\w.]+(?:(?:\([^()\n]*\) | \[[^][\n]*\])[\w.]*)*)\s*:(?!=)
      | -?\d[\w.]*\s*[,}:])""",
    re.VERBOSE,
)
_NEAR = 200
# What stands between the word and `in {`: targets, or more. Else it asks for membership.
_LOOP = re.compile(r"\bfor\s[\w\s,.*()\[\]]*\Z")
# By which a message says that it is not seen what a set holds.
_SEEM = (" gives what may be ", " gives what seem to be ")


class SetOrder(Rule):
    """Why runs differ: Python salts the hashes of strings and bytes anew in each process. Most
    other objects are hashed by their address. A set is kept by hash, so its order differs in each
    run. Classes then get other numbers, and a shuffle of `list(set(names))` ends differently
    whatever its seed.

    Reported:
    - a set whose order reaches a result: looped over, made a list, joined, enumerated, taken from
      by `pop()`
    - the same of what set operations give, on sets and on the keys of a dict
    - a set that a function, a class or a variable gives other files, at the set: the message names
      the place where its order shows

    Lowers the confidence:
    - nothing tells what the elements are: *likely* where they are numbered, drawn or picked by
      their order, else *possible*. What seems to be numbers is *possible*
    - strings where a script or an image sets `PYTHONHASHSEED`; code that belongs to what asks a
      model for answers, in a file that trains none.
      What is kept by a key that the file only counts, or makes a set of; columns of a saved table.
      Code that no program runs which has its file, and sets of it that only tests use in their
      order. Words of a text of which a vectorizer of scikit-learn only counts each

    Not reported:
    - sets of numbers, whose hashes do not change
    - the order provably does not matter: sorted, counted, tested for membership, combined with
      other sets
    - loops in which the order has no effect, what is only printed, and what nothing reads. Lists
      under a name for looking up, such as `stop_words`. What a function returns, where no caller
      needs its order

    What to do: Sort the set where it is read: `sorted(names)`. Classes and most other objects do
    not compare with each other, and need a key: `sorted(kinds, key=lambda kind: kind.__name__)`.

    Fix safety: safe. There is one only where the elements are known to compare: strings, bytes,
    numbers, paths, and tuples of these.
    """

    code = "DET204"
    summary = "the order of a set differs from run to run"
    triggers = (
        *("set(", "defaultdict(set", "WeakSet(", "frozenset(", "set[", "frozenset[", "Set["),
        *("FrozenSet[", "in {", "= {", "return {", "({", "[*{", ".keys() -", ".keys() &"),
        *(".keys() |", ".keys() ^"),
    )
    source = "https://docs.python.org/3/reference/datamodel.html#object.__hash__"
    shown = "CPU"
    crosses_files = True
    lowered_where_dead = True
    lowered_by = (*Rule.lowered_by, "test", "inference")
    examples = (
        Example(
            bad="""
                def number_classes(rows):
                    names = list({row["name"].strip() for row in rows})  # DET204
                    return {name: index for index, name in enumerate(names)}
            """,
            fixed="""
                def number_classes(rows):
                    names = sorted({row["name"].strip() for row in rows})
                    return {name: index for index, name in enumerate(names)}
            """,
        ),
        Example(
            bad="""
                import random

                def split(paths: list[str], seed):
                    unique = list(set(paths))  # DET204
                    random.Random(seed).shuffle(unique)
                    return unique[:100], unique[100:]
            """,
            fixed="""
                import random

                def split(paths: list[str], seed):
                    unique = sorted(set(paths))
                    random.Random(seed).shuffle(unique)
                    return unique[:100], unique[100:]
            """,
        ),
        Example(
            bad="""
                def common(left: set[str], right: set[str]):
                    return max(left & right, key=len)  # DET204
            """,
            fixed="""
                def common(left: set[str], right: set[str]):
                    return max(sorted(left & right), key=len)
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Whether the token may begin a set that something reads in its order."""
        before = text[max(offset - len("len("), 0) : offset]
        method = text.startswith("set(", offset) and before.endswith((".", "def "))
        if method or before == "len(" or _NO_SET.match(text, offset) is not None:
            return False
        word = offset if text.startswith("in {", offset) else offset - len("in ")
        return not text.startswith("in ", word) or _is_loop(text, word)

    @cached_property
    def _sets(self) -> Sets:
        return Sets(self.unit, self.others)

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        """What it is passed to may be of another file, and so may what its elements are of."""
        return says_so(finding) or any(each in finding.message for each in _SEEM)

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:
        """Not of objects, which are hashed by their address."""
        return "strings" in finding.message and program.keeps_hashes()

    def examine(self, offsets: Sequence[int]) -> None:
        if self.others is not None:
            self._examine_again(self.others)
            return
        near = self._sets.near(offsets)
        told = self._examine_own(near)
        left: dict[tuple[int, int], tuple[ast.AST, list[str]]] = {}
        for node in self._sets.left:
            left[self.unit.span(node)] = node, []
        for node, part in leaving(self._sets, near):
            _, parts = left.setdefault(self.unit.span(node), (node, []))
            parts += [part] if part not in ("", *parts) else []
        for place, (node, parts) in left.items():
            if place not in told:
                self.leave(node, parts)

    def _examine_own(
        self, functions: Iterable[Function], rows: Collection[int] = ()
    ) -> set[tuple[int, int]]:
        """The sets that are read in some functions, in some rows, and where."""
        told: set[tuple[int, int]] = set()
        for reading in (x for each in functions for x in self._sets.of_function(each, rows)):
            place = self.unit.span(reading.node)
            may_rise = self.others is None and (reading.guessed or rests_on_others([reading.use]))
            if place not in told and (may_rise or self.wants(_confidence(reading))):
                told.add(place)
                self._tell(reading)
        return told

    def _examine_again(self, others: OtherFiles) -> None:
        starts, given = self.unit.source.line_starts, GivenSets(self.unit, others)
        rows: dict[int, int] = {}
        for finding in self.asked:
            offset = starts[finding.row - 1] + finding.column - 1
            parts = finding.given_by
            if parts:
                self._tell_surest(offset, finding, list(given.read(parts)))
            else:
                rows[offset] = finding.row
        if rows:
            self._examine_own(self.unit.functions_at(rows), set(rows.values()))

    def _tell_surest(self, offset: int, finding: Finding, readings: Sequence[Reading]) -> None:
        """Of what other files do with a set that this one gives them, what is surest."""

        def sureness(reading: Reading) -> Confidence:
            return self.lowered(reading.node, _confidence(reading), reading.unit)

        reading = max(readings, key=sureness, default=None)
        if reading is None or not self.wants(sureness(reading)):
            return
        node = next(
            op.node
            for function in self.unit.functions_at([offset])
            for each in function.everything()
            for op in each.ops
            if self._is_at(op.node, finding)
        )
        self.report(
            node,
            f"{self._told(node, reading)} in an order that differs from run to run,"
            f" and at {reading.unit.path}:{reading.node.lineno} it is {reading.use.how}",
            advice=f"there, {_advice(reading)}",
            confidence=sureness(reading),
            way=[(node, "given to other files here")],
            there=reading.way_on(),
            unit=reading.unit,
        )

    def _is_at(self, node: ast.AST, finding: Finding) -> bool:
        place = [self.unit.source.location(each) for each in self.unit.span(node)]
        return place == [finding[1:3], finding[3:5]]

    def _tell(self, reading: Reading) -> None:
        self.report(
            reading.node,
            f"{self._told(reading.node, reading)} in an order that differs from run to run,"
            f" and {shown_at(self.unit, reading.node, reading.use)}",
            advice=_advice(reading),
            edits=self._fix(reading) if reading.sorts else (),
            confidence=_confidence(reading),
            way=reading.way(),
        )

    def _told(self, node: ast.AST, reading: Reading) -> str:
        text = " ".join(self.unit.text_of(node).split())
        shown = f"the set `{text}`" if len(text) <= _LONGEST else "the set"
        if reading.several:
            shown = f"each set of `{text}`" if len(text) <= _LONGEST else "each set"
        if reading.unknown:
            return f"{shown} gives what may be strings or objects"
        kind = reading.kind
        return f"{shown} gives its {kind}" if kind else f"{shown} gives what seem to be strings"

    def _fix(self, reading: Reading) -> tuple[Edit, ...]:
        call, node = reading.by.node, reading.node
        if isinstance(call, ast.Call) and reading.by.code == "call":
            if getattr(call.func, "value", None) is node:
                return ()  # x.pop()
            if self.unit.values.callee(reading.by) is not None:
                return ()  # which may ask more of it than its elements
            if isinstance(call.func, ast.Name) and call.func.id == "list":
                return (self.unit.replace(call.func, "sorted"),)
        return (self.unit.insert_before(node, "sorted("), self.unit.insert_after(node, ")"))


def _is_loop(text: str, offset: int) -> bool:
    """Whether an ``in`` at an offset is that of a loop, or takes what it looks in from a set."""
    loops = _LOOP.search(text[max(offset - _NEAR, 0) : offset]) is not None
    return loops or ".pop(" in text[offset : text.find("\n", offset)]


def _advice(reading: Reading) -> str:
    if reading.several:
        return "sort each, or what is made of all"
    advice = f"sort it: {'sorted(…, key=…)' if reading.lacks_order else 'sorted(…)'}"
    return f"{advice}{RETURNED}" if only_returned([reading.use]) else advice


def _confidence(reading: Reading) -> Confidence:
    if reading.assumed:
        return Confidence.POSSIBLE
    sure = reading.kind and reading.use.tells and not reading.use.rests_on_ties  # may be none
    return Confidence.CERTAIN if sure else Confidence.LIKELY
