"""What a round of a loop computes of its own element, and what was there before."""

from __future__ import annotations

import ast
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import path_of, word_of
from detlint.dataflow.loops import groups
from detlint.dataflow.loops.rows import Names
from detlint.dataflow.orders.expected import equals, is_name_of
from detlint.dataflow.orders.use import Flow, Use
from detlint.dataflow.path_conditions import decided
from detlint.dataflow.slices import behind, closure
from detlint.grouping import grouped
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.orders.order import Orders

OF_BITS = frozenset(("BitOr", "BitAnd", "BitXor"))
SEEDING = frozenset(("random.seed", "numpy.random.seed", "torch.manual_seed"))
# What takes the next of something that was there before.
_TAKES = frozenset(["pop", "popleft", "popitem", "readline", "get_nowait"])
_HELD = frozenset(("attr", "augment", "change", "item", "store_item"))
_MADE = frozenset(["call", "comprehension", "dict", "list", "set"])
_STEMS = frozenset(("os.path.split", "os.path.splitext"))
_PARTS = frozenset(("partition", "rpartition", "rsplit", "split"))
_NUMBERS = frozenset(("builtins.float", "builtins.int"))
# What takes a part of a name.
_OF_NAMES = _PARTS | words(
    """basename findall fullmatch group groupdict groups lower lstrip match removeprefix
    removesuffix replace rstrip search splitext str strip"""
)
OF_PLACE = words(
    "binary boolean choice compare dict entry format item list not phi text tuple unary unpack"
)
_MEASURES = words("len max min sum")  # what tells how much a container holds so far
_ASKS = "is_set"  # of an event, as a handler of signals sets it
_TEXTS = frozenset(("binary", "const", "format", "text"))


class Round:
    """What is done for one element after the other: a round of a loop, or a call.

    elements  what the element is
    own       that, and all that is computed of it
    kept      parameters of a function that get what was there before
    calls     the functions that are looked at
    counters  the values that tell the round's number
    stops     whether a round may end the loop
    """

    def __init__(  # noqa: PLR0913 - what a round is, and what a call of it is told
        self,
        orders: Orders,
        region: Region,
        own: set[Op],
        flow: Flow,
        *,
        kept: set[Op] | None = None,
        calls: tuple[Function, ...] = (),
        index: Op | None = None,
    ) -> None:
        self.index = index
        self.orders = orders
        self.effects = orders.effects
        self.values = orders.values
        self.flow = flow
        self.region = region
        self.kept = kept
        self.calls = calls
        self.elements = own
        self.unheld: set[Op] = set()  # what is in no container
        self.ops = [op for op in region.ops() if not calls or not self._is_left_out(op)]
        self.head = min(own, key=attrgetter("place"), default=None)
        self.placed: set[Op] = set()  # parameters that get what a place chose
        self.own = self._derived()
        self.seeded = any(not SEEDING.isdisjoint(self.values.called(op)) for op in self.ops)
        self.counters = self._counting()
        self.stops = any(self.breaks(op) and not _is_asked_to(op) for op in self.ops)

    def _is_left_out(self, op: Op) -> bool:
        """Whether an argument that is not given, by its default, keeps code from running."""
        for region in op.region.around():
            test = region.head.args[0] if region.kind in ("if", "else") and region.head else None
            if test is not None and test.code == "param" and len(test.args) == 1:
                given = test in self.elements or test in (self.kept or ())
                default = test.args[0]
                left_out = default.code == "const" and bool(default.name) != (region.kind == "if")
                if left_out and not given:
                    return True
        return False

    def _derived(self) -> set[Op]:
        """What is computed of the element."""
        found = set(self.elements)
        before = 0
        while before != len(found):
            before = len(found)
            for op in self.ops:
                if self.is_joint(op) or self._is_number(op):
                    continue  # what held before the round
                taken = any(each in found for each in op.args) or self._goes_along(op)
                if taken or self._is_counted_by(op, found):
                    found.add(op)
                    if op.code in ("change", "store_attr", "store_item"):
                        found |= self._filled_by(op)
        return found

    def _filled_by(self, op: Op) -> set[Op]:
        """The object of the round's own that something is put into."""
        holder = op.args[0]
        while holder.code in ("attr", "change", "item", "store_item") and holder.args:
            holder = holder.args[0]
        own = holder.code in _MADE and holder.within(self.region)
        return {holder} if own else set()

    def _goes_along(self, op: Op) -> bool:
        """``sizes[i]``, where ``sizes`` holds something for each element."""
        numbered = op.code == "item" and self._is_number(op.args[1])
        return numbered and self.effects.goes_along(op.args[1], op.args[0])

    def _is_number(self, op: Op) -> bool:
        """Whether it is the number that ``enumerate`` gives."""
        first = op.code == "unpack" and op.name[0] == 0 and op.args[0] is self.head
        return first and self.flow.numbered

    def _is_counted_by(self, op: Op, own: set[Op]) -> bool:
        """``size += 1`` in a loop over what is of the element."""
        if op.code != "augment":
            return False
        inner = [x for x in op.region.around() if x.loops and x is not self.region]
        return any(x.head in own and x.head is not self.head for x in inner)

    def breaks(self, op: Op) -> bool:
        """Whether it ends the loop."""
        if op.code != "leave" or op.name != "break":
            return False
        loops = [region for region in op.region.around() if region.kind in ("for", "while")]
        return bool(loops) and loops[0] is self.region

    def _counting(self) -> set[Op]:
        """The values that tell a round's number."""
        found: set[Op] = {self.index} if self.index is not None else set()
        if self.flow.numbered:
            uses = (use for each in self.elements for use in each.uses)
            found |= {x for x in uses if x.code == "unpack" and x.name[0] == 0}
        for op in self.ops:
            if op.code == "augment" and op.args[1] not in self.own:
                # Also what a loop in the round counts on.
                before = list(closure(op.args[:1], self._joined_within))
                kept = before[0].code == "attr" and self.outlives(before[0])
                if kept or any(map(self.is_joint, before)):
                    found |= {op, *(each for each in before if each.code in ("attr", "phi"))}
            elif op.code == "call" and op not in self.elements and self._takes_next(op):
                found.add(op)
        return found

    @cached_property
    def _placed(self) -> set[Op]:
        """What is made of the place of a round among the others, and what tests of that choose."""
        starts = *self.counters, *self.placed, *self._tallies()
        return set(closure(starts, self._made_of_place))

    def _tallies(self) -> Iterator[Op]:
        """What tells, as the number does, how many rounds came before: ``len(done)``,
        ``max(index.values())``, ``count[label]``, ``self.count``."""
        filled: set[Op | str] = set()
        counting: set[Op] = set()
        for op in self.ops:
            if op.code in ("change", "store_item") and self.outlives(op.args[0]):
                filled.update((self.effects.made(op.args[0]), path_of(op.args[0]) or op))
                counts = op.code == "store_item" and op.args[2].code in ("augment", "binary")
                if counts and any(x.code == "const" for x in op.args[2].args):
                    counting.add(self.effects.made(op.args[0]))
        counted = [x for x in self.counters if x.code == "attr"]
        for op in self.ops:
            if op.code == "call":
                measures = bool(filled) and word_of(op) in _MEASURES
                held = map(self.effects.whole, op.args[1:]) if measures else ()
                told = any(self.effects.made(x) in filled or path_of(x) in filled for x in held)
            elif op.code == "item":
                told = bool(counting) and self.effects.made(op.args[0]) in counting
            else:
                told = op.code == "attr" and any(is_same(op, each) for each in counted)
            if told:
                yield op

    def _made_of_place(self, op: Op) -> Iterator[Op]:
        for use in op.uses:
            if not use.within(self.region) or is_shared_out(use) or self.is_lined_up(op, use):
                continue
            if use.code == "test":
                yield from self._chosen_by.get(use.node, ())
            elif use.code == "call" or (use.code in OF_PLACE and not self.is_joint(use)):
                yield use

    @cached_property
    def _chosen_by(self) -> dict[ast.AST, list[Op]]:
        """The values that branches give to variables, by what is tested."""
        return grouped(
            (op.node.test, op)
            for op in self.ops
            if op.code == "phi" and isinstance(op.node, ast.If)
        )

    def is_lined_up(self, number: Op, use: Op) -> bool:
        """``names[i]``, ``sizes[i]``: what belongs to the element."""
        return use.code == "item" and (
            use in self.elements or self.effects.goes_along(number, use.args[0])
        )

    def of_place(self, given: Iterable[Op]) -> set[Op]:
        """Those of some values that depend on the place of a round among the others."""
        return self._placed.intersection(given)

    def is_chosen(self, op: Op) -> bool:
        """Whether the place of a round among the others decides if something is done there."""
        tests = (each for each, _ in (decided(op) if self._placed else ()))
        return any(each in self._placed and not refuses(each) for each in tests)

    def _joined_within(self, op: Op) -> Sequence[Op]:
        return op.args if op.code == "phi" and not self.is_joint(op) else ()

    def _takes_next(self, call: Op) -> bool:
        """``next(numbers)``, ``rows.pop()``: it gives another value each time."""
        called = self.values.called(call)
        if "builtins.next" in called and len(call.args) > 1:
            return call.args[1] not in self.own and self.outlives(call.args[1])
        function = call.args[0]
        if function.code != "attr" or function.name not in _TAKES or called:
            return False
        if any(each in self.own for each in call.args):
            return False  # what has the element's key
        return function.args[0] not in self.own and self.outlives(function.args[0])

    def is_joint(self, op: Op) -> bool:
        """Whether a value is what the rounds before left in a variable."""
        return op in self.region.joints

    def handles_failure(self, op: Op) -> bool:
        """What is noted of an element that failed is for people to read."""
        return any(x.kind == "except" and x.within(self.region) for x in op.region.around())

    def is_unique_match(self, op: Op) -> bool:
        """``if name == wanted: return name``."""
        return any(self._names_element(own) for own, _ in self._asked_for(op))

    def is_for_one(self, op: Op) -> bool:
        """Whether it runs for elements alone that equal what no round changes."""
        return any(
            own in self.elements
            and not any(x.within(self.region) for x in behind(other) if x.code not in _TEXTS)
            for own, other in self._asked_for(op)
        )

    def seems_match(self, op: Op) -> bool:
        """``if int(STEP.search(name)[1]) == step: return name``: few names have the same number."""
        return any(self._is_number_in_name(own) for own, _ in self._asked_for(op))

    def _asked_for(self, op: Op) -> Iterator[tuple[Op, Op]]:
        """What of the element has to equal something else that it runs, with that."""
        for region in op.region.around():
            if region.kind == "if" and region.head is not None:
                for one, other in equals(self.values, region.head.args[0]):
                    if one in self.own and other not in self.own:
                        yield one, other

    def _is_number_in_name(self, op: Op) -> bool:
        if _NUMBERS.isdisjoint(self.values.called(op)):
            return False
        parts = list(closure(op.args[1:], self._own_parts))
        calls = (word_of(each) for each in parts if each.code == "call")
        return not self.elements.isdisjoint(parts) and all(each in _OF_NAMES for each in calls)

    def _names_element(self, op: Op) -> bool:
        return any(is_name_of(op, each) for each in self.elements)

    def outlives(self, owner: Op) -> bool:
        """Whether a container was there before the round."""
        return any(map(self.is_older, closure([owner], self._held_by)))

    def _held_by(self, op: Op) -> Sequence[Op]:
        """What a value is a part or a later state of."""
        if op.code == "phi":
            return op.args
        if op.code == "call" and op.args[0].code == "attr":
            # A method, and no library's function.
            return () if self.values.called(op) else op.args[0].args[:1]
        return op.args[:1] if op.code in _HELD else ()

    def is_older(self, op: Op) -> bool:
        """Whether a value was there before the round."""
        if op.code in ("global", "free", "import"):
            return True
        if self.kept is not None and op.code == "param":
            return op in self.kept
        return not op.within(self.region) or self.is_joint(op)

    def is_alone(self, key: Op) -> bool:
        """Whether a key is an element itself, or stands for one: ``index_of[future]``."""
        if key.code == "item":
            key = key.args[1]
        return key in self.elements

    def is_cut(self, place: Op) -> bool:
        """``name[:5]``, ``for each in names_of(path)``: a part of what tells the elements apart,
        so that several may have it; not ``(folder.name, name[:5])``, which tells them apart."""
        if place.code in ("text", "tuple") and any(map(self._is_whole, place.args)):
            return False
        of_tuples = self.orders.distinct and not self.flow.numbered  # in a set
        return any(
            (each.code in ("item", "iter", "slice") and not self._tells_apart(each))
            or (each.code == "unpack" and of_tuples)
            for each in closure([place], self._own_parts)
        )

    def _is_whole(self, part: Op) -> bool:
        """Whether a part of a key is the name of an element."""
        return self._names_element(part.args[0] if part.code == "format" else part)

    def _own_parts(self, op: Op) -> list[Op]:
        return [each for each in op.args if each in self.own]

    def _tells_apart(self, part: Op) -> bool:
        """``os.path.splitext(name)[0]``, ``name[:-4]``, ``name.split(".")[0]``: only an ending is
        gone. An element itself is whole."""
        if part in self.elements:
            return True
        if part.code == "slice":
            return bool(part.name == (False, True, False)) and part.args[1].code == "unary"
        whole = part.args[0]
        parted = whole.code == "call" and word_of(whole) in _PARTS and whole.args[1:]
        at_dot = bool(parted) and whole.args[1].name == "."
        return at_dot or not _STEMS.isdisjoint(self.values.called(whole))

    def tells_element(self, place: Op) -> bool:
        """Whether a place is made of more of the element than names of what lies in that folder."""
        return any(each in self.elements for each in closure([place], self._parts_of_place))

    def _parts_of_place(self, op: Op) -> list[Op]:
        if "os.listdir" in self.values.called(op):
            return []
        bare = op.code == "attr" and op.name in ("name", "stem") and op.args[0].code == "iter"
        return [] if bare and op.args[0] not in self.elements else self._own_parts(op)

    def may_meet_again(self, key: Op, value: Op) -> bool:
        """``for line in open(name): found[line] = name``: several elements may hold a key."""
        parts = list(closure([value], self._own_parts))
        inner = [
            each
            for each in closure([key], self._own_parts)
            if each.code == "iter" and each not in self.elements and each.within(self.region)
        ]
        return bool(inner) and not any(each in parts for each in inner)

    def tells_more(self, value: Op, key: Op) -> bool:
        """Whether a value is made of the element by more than what a key holds of it."""
        parts = closure([value], lambda op: () if is_same(op, key) else self._own_parts(op))
        return any(each in self.elements and not is_same(each, key) for each in parts)

    def is_shared(self, owner: Op) -> bool:
        """``files[split]``, where a file is for more than one element."""
        for holder, key in groups.holders_of(owner, self.own, self.unheld):
            if self.effects.made(holder) not in self.own:
                return not self.is_alone(key) and self.outlives(holder)
        return False

    def is_place(self, op: Op) -> bool:
        """Whether a value is a text, such as a path."""
        return lattice.may_be(self.values.types(op), "str", "path")

    def names_files(self, *rows: Op) -> bool:
        """Whether rows name the file of a listing that the round is of, and do not number it."""
        parts = closure(rows, lambda op: op.args if op.within(self.region) else ())
        return self.orders.name_files(self.elements, *rows) and self.counters.isdisjoint(parts)

    def is_name_of_file(self, values: Sequence[Op]) -> bool:
        """Whether a value is the path or the name of that."""
        plain = not (self.orders.distinct or self.orders.finishing)
        return plain and any(map(Names(self.values, self.elements).are, values))


class Judge:
    """Judges some of what the rounds of a loop leave behind, by what is done: ``on_<code>``."""

    def __init__(self, round_: Round) -> None:
        self._round = round_
        self._orders = round_.orders
        self._effects = round_.effects
        self._values = round_.values

    def _adds_in_any_order(self, value: Op) -> bool:
        """Whether an ``+=`` or the like, as ``counts[0] += 1``, gives the same in any order."""
        if value.name in OF_BITS:
            return not lattice.may_be(self._values.types(value.args[1]), "dict")
        adds = value.name in ("Add", "Sub", "Mult") and self._values.is_whole(value.args[1])
        return adds or self._values.is_set(value)


def looped(op: Op, *, assumed: bool = False) -> Iterator[Use]:
    """It shows there in which order the rounds come."""
    yield Use(op, "looped over", assumed)


def numbered(op: Op) -> Iterator[Use]:
    """The rounds are numbered there in the order in which they come."""
    yield Use(op, "numbered")


def is_shared_out(use: Op) -> bool:
    """``i % processes == rank``: all are worked on, by one process or another."""
    sides = [x for x in use.args if x.code != "binary" or x.name != "Mod"]
    return use.code == "compare" and len(sides) == 1 and sides[0].constant is ...


def refuses(condition: Op) -> bool:
    """Whether an error is raised where it holds, or where it does not."""
    tests = [each for each in condition.uses if each.code == "test"]
    return any(each.region.head in tests for each in condition.function.coded("raise"))


_SAME = words("attr binary call const format global import item slice text unary")


def is_same(one: Op, other: Op) -> bool:
    """Whether two expressions give equal values: ``os.listdir(d)``, twice."""
    if one is other:
        return True
    if one.code != other.code or one.code not in _SAME or one.name != other.name:
        return False
    return len(one.args) == len(other.args) and all(
        is_same(*each) for each in zip(one.args, other.args, strict=True)
    )


def _is_asked_to(leaving: Op) -> bool:
    """Whether a loop ends since somebody asks for it: ``if stop.is_set(): break``."""
    head = leaving.region.head
    tests = head.args if head is not None and leaving.region.kind == "if" else ()
    return any(word_of(each) == _ASKS and len(each.args) == 1 for each in tests)
