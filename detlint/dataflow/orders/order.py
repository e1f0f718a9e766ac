"""Where an order that differs from run to run reaches a result.

Followed forwards, from a value that has such an order, through what takes it over, to what shows
it. What sorts, counts or looks things up ends the way.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import bound, spoken, word_of
from detlint.dataflow.loops.effects import Effects, is_column
from detlint.dataflow.loops.rows import Names
from detlint.dataflow.orders import expected
from detlint.dataflow.orders.given_orders import GivenOrders
from detlint.dataflow.orders.handed_orders import HandedOrders
from detlint.dataflow.orders.imported_orders import ImportedOrders
from detlint.dataflow.orders.keys import ties
from detlint.dataflow.orders.messages import Messages
from detlint.dataflow.orders.tables import Tables
from detlint.dataflow.orders.use import PLAIN, Flow, Use, first_of, surest
from detlint.dataflow.path_conditions import Paths, passed
from detlint.dataflow.references import References
from detlint.dataflow.slices import alternatives, behind, closure, states_before
from detlint.journal import ended
from detlint.models import containers, files, frames, names
from detlint.models.loading import FRAME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import TypeAlias

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

    # A value on the way, and the calls by which its function was entered, to which that returns.
    _Judge: TypeAlias = Callable[[Op, Op, Flow], Iterator[Use]]
    _Step: TypeAlias = tuple[Op, Flow, tuple[Op, ...]]

_MOST = 10_000  # operations on the way of one order, each a few frames deep
_MOST_BEHIND = 100  # operations behind a place
_RANKED = "ranked by most_common(), which leaves equals as they come"
_HANDED_ON = (
    *("assigned", "collected", "cut", "indexed", "joined", "passed", "returned", "sliced"),
    *("stored", "unpacked"),
)
_MAKING = frozenset(("OrderedDict", "dict", "list"))
_ORDERED = ("array", "deque", "dict", "iterator", "list", "set", "tuple", "?")
_COPYING = frozenset(f"builtins.{each}" for each in ("list", "reversed", "sorted", "tuple"))


class Orders:
    """Follows orders in one file, and from there into others, where these are open.

    distinct   no two elements are equal, as in a set
    finishing  elements are results as they come: to print each is to show progress, and which of
               them failed is for people to read
    leaves     what is followed is handed to other files, of which none is open
    """

    def __init__(
        self,
        values: Values,
        *,
        distinct: bool = False,
        finishing: bool = False,
        others: OtherFiles | None = None,
        depth: int = 0,
    ) -> None:
        self.values = values
        self.unit = values.unit
        self.distinct = distinct
        self.finishing = finishing
        self.effects = Effects(self)
        self.references = References(values)
        self.messages = Messages(self, finishing=finishing)
        self.given = GivenOrders(self)
        self.handed = HandedOrders(self, others)
        self._judge = cache(self._find_judge)
        self._is_shown = cache(self.messages.is_shown)  # all that led to a use ask
        self._is_aside = cache(
            lambda op: self.messages.is_drawn(op) or expected.finds_code(self.values, op)
        )
        self.tables = Tables(values, others)
        self.imported = ImportedOrders(self, others, depth) if others is not None else None
        self._others = others
        self.leaves = False
        self._seen: dict[_Step, int] = {}  # with how many were seen before
        self._earliest = math.inf  # of those that were met again
        self._harmless: set[_Step] = set()
        self._told: dict[_Step, Use] = {}  # the first use that was found from each
        self.root: Op | None = None
        self._by_root = False  # whether what the root is kept something from being a use
        self._ended = False  # the search, by its budget
        self.goes_back = False  # to the call from which a function was entered
        self._entered: dict[tuple[Op, Flow, str], Use | None] = {}  # functions, by what they get
        self._paths: dict[Op, tuple[Function | None, Paths]] = {}  # by what calls pass
        self.calls: list[Op] = []  # from which the function that is looked at was entered

    def opened(self, unit: Unit, depth: int) -> Orders:
        """The same of another file, ``depth`` files away from the first."""
        return Orders(
            unit.across,
            distinct=self.distinct,
            finishing=self.finishing,
            others=self._others,
            depth=depth,
        )

    def uses(self, value: Op, flow: Flow = PLAIN) -> Iterator[Use]:
        """The places where the order of a value shows."""
        self._begin(value)
        yield from self._whole_search(self.follow(value, flow))

    def uses_at(self, value: Op, use: Op) -> Iterator[Use]:
        """The places where it shows what one operation takes of a value, in its order."""
        self._begin(value)
        method = use.code == "call" and value in use.args[0].args
        judged = self._method(use, use.args[0], PLAIN) if method else self.at(use, value, PLAIN)
        for found in self._whole_search(judged):
            if not (found.how == "returned" and self._is_for_looking_up(value)):
                yield found

    def uses_of_rounds(self, region: Region, elements: set[Op]) -> Iterator[Use]:
        """The places where it shows in which order the rounds of a loop take some elements."""
        self._begin()
        yield from self.effects.of_rounds(region, elements)

    def _begin(self, root: Op | None = None) -> None:
        self._seen, self.calls, self.root = {}, [], root
        self._by_root, self._earliest, self._ended = False, math.inf, False
        self.leaves = self.goes_back = False

    def _whole_search(self, uses: Iterator[Use]) -> Iterator[Use]:
        """What it went through is not searched again where it ends without finding a use."""
        found = False
        for use in uses:
            found = True
            yield use
        if not (found or self._by_root or self._ended or self.leaves):
            self._harmless.update(self._seen)

    def first(self, value: Op, flow: Flow) -> Use | None:
        """The first use of a value on the way, in a search of its own."""
        start, before = len(self._seen), self._earliest
        self._earliest = math.inf
        found = first_of(self.follow(value, flow))
        alone = found is None and self._earliest >= start and not self._by_root
        if alone and not (self.calls or self._ended or self.leaves):
            self._harmless.update(list(self._seen)[start:])
        self._earliest = min(before, self._earliest)
        return found

    def follow(self, value: Op, flow: Flow) -> Iterator[Use]:
        """The uses of a value on the way."""
        key = value, flow, tuple(self.calls)
        if key in self._seen:
            self._earliest = min(self._earliest, self._seen[key])
            return
        if key in self._harmless or self._ended:
            return
        if not self.calls and key in self._told:
            yield self._told[key]  # many orders come together in one value
            return
        if len(self._seen) > _MOST:
            self._ended = True
            ended(f"function {value.function.name}", f"{_MOST:,} operations behind an order")
            yield Use(value, "followed no further", assumed=True)
            return
        self._seen[key] = len(self._seen)
        quiet = self._is_for_looking_up(value)
        for each in filter(self._may_run, dict.fromkeys(value.uses)):
            for use in self.at(each, value, flow):
                if (quiet and use.how.startswith(_HANDED_ON)) or self._is_shown(use.op):
                    continue
                found = use._replace(assumed=use.assumed or self._is_aside(use.op))
                if not self.calls:
                    self._told.setdefault(key, found)
                yield found

    def is_on_way(self, value: Op, flow: Flow) -> bool:
        """Whether a value is followed already, by the calls that led here or the first of them."""
        ways = ((value, flow, tuple(self.calls[:x])) for x in range(len(self.calls) + 1))
        first = min(self._seen.get(each, math.inf) for each in ways)
        self._earliest = min(self._earliest, first)
        return first < math.inf

    def enter(self, function: Function, call: Op, parameter: Op, flow: Flow) -> Use | None:
        """The surest use of what a function gets from a call. It is searched once for all calls
        after which the same runs, unless it shows what led there, or how it goes on."""
        key, step = (parameter, flow, _passed(function, call)), (parameter, flow, (call,))
        alone = not self.calls and step not in self._seen
        if alone and key in self._entered:
            self._seen[step] = len(self._seen)
            return self._entered[key]
        start, before, by_root, leaves = len(self._seen), self._earliest, self._by_root, self.leaves
        self._earliest, self._by_root, self.leaves = math.inf, False, False
        self.goes_back &= not alone
        self.calls.append(call)
        found = surest(self.follow(parameter, flow))
        self.calls.pop()
        rests = self._earliest < start or self._by_root or self.leaves or self.goes_back
        if alone and not (rests or self._ended):
            self._entered[key] = found
        self._earliest = min(before, self._earliest)
        self._by_root, self.leaves = self._by_root or by_root, self.leaves or leaves
        return found

    def _may_run(self, use: Op) -> bool:
        """Whether something runs by what the call passes from which its function was entered."""
        call = self.calls[-1] if self.calls else None
        if call is None or call.unpacks or call.function is use.function:
            return True
        if call not in self._paths:
            function = self.values.callee(call) or self.values.builder(call)
            given = partial(passed, bound(function, call) if function is not None else {})
            self._paths[call] = function, Paths(function or use.function, given)
        function, paths = self._paths[call]
        return use.function is not function or paths.may_run(use)

    def _is_for_looking_up(self, value: Op) -> bool:
        """Whether what a variable holds is for people to read, or to look up among."""
        return any(map(self._is_quiet, value.function.names_of(value)))

    def _is_quiet(self, name: str) -> bool:
        word = name.rpartition(".")[2]
        return names.says_little(word) or (self.finishing and names.notes_failure(word))

    def at(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        """What one operation does with the order of a value that it takes."""
        judge = self._judge(use.code)
        if judge is not None:
            yield from judge(use, value, flow)

    def _find_judge(self, code: str) -> _Judge | None:
        own: _Judge | None = getattr(self, f"_in_{code}", None)
        return own or getattr(self.handed, f"in_{code}", None)

    # What hands an order on

    def _in_phi(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if not any(self.sorts(each, value) for each in use.args):
            yield from self.follow(use, flow)

    def sorts(self, op: Op, value: Op) -> bool:
        """Whether one operation sorts a value, so that it is meant to be so where that matters."""
        while op.code in ("slice", "item", "declared") and op.args:
            op = op.args[0]
        if op.code in ("attr", "change"):
            key = op.args[1].given("key") if op.code == "change" else None
            own = op.name == "sort" and op.args[0] is value
            return own and (key is None or ties(self.values, key, value) is not True)
        stored = op.args[1:] if op.code == "store_item" and op.args[0] is value else ()
        if stored and (stored[0].code, stored[0].args) == ("range", []):
            return self.sorts(stored[1], value)  # `names[:] = sorted(names)`
        if "builtins.sorted" not in self.values.called(op) or op.args[1:2] != [value]:
            return False
        key = op.given("key")
        return key is None or ties(self.values, key, value) is not True

    def _in_free(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        yield from self.follow(use, flow)

    _in_declared = _in_await = _in_enter = _in_unary = _in_boolean = _in_free

    def _in_choice(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if value in use.args[1:]:
            yield from self.follow(use, flow)

    def _in_star(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        for outer in use.uses:
            if outer.code == "dict" or (outer.code == "call" and use.name == "**"):
                yield from self.follow(outer, flow._replace(keyed=True))
            elif outer.code != "set":
                keyed = flow.keyed and bool(flow.grouped)
                yield from self.follow(outer, flow._replace(keyed=keyed))

    def _in_format(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if flow.text or not self.distinct:
            yield from self.follow(use, flow._replace(text=True))

    def _in_text(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        yield from self.follow(use, flow._replace(text=True))

    def _in_binary(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        keys, types = flow.keyed and not flow.grouped, self.values.types
        if self.values.is_set(use) or (keys and use.name != "BitOr"):
            return
        if use.name in ("Add", "Mult", "Mod") or keys or lattice.may_be(types(value), "array"):
            yield from self.follow(use, flow)

    def _in_augment(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        keys = flow.keyed and not flow.grouped
        if not self.values.is_set(use) and not (keys and use.args[0] is not value):
            yield from self.follow(use, flow._replace(filled=flow.filled or use.args[1] is value))

    # Containers

    def _in_list(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        for each in use.uses if use.code == "tuple" else ():
            if _is_by_label(each):
                yield from self._in_columns(each, value, flow)
        if flow.keyed:
            yield from self.follow(use, flow.held)
        elif (flow.columns or flow.table) and all(map(self._joins_tables, use.uses)):
            for each in use.uses:
                yield from self.follow(each, flow)
        elif not flow.is_deep:
            for place in (x for x, each in enumerate(use.args) if each is value):
                yield from self.follow(use, flow.listed(place if use.code == "tuple" else None))
        else:
            yield from self.escape(use, "stored", flow)

    _in_tuple = _in_list

    def _joins_tables(self, call: Op) -> bool:
        return not {"pandas.concat", "polars.concat"}.isdisjoint(self.values.called(call))

    def _in_entry(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[1] is value:
            frames = [call for made in use.uses for call in made.uses]
            if frames and all("pandas.DataFrame" in self.values.called(x) for x in frames):
                for each in frames:
                    yield from self.follow(each, flow)
                return
            key = use.args[0].text
            if names.says_little(key) or key in containers.MEMBERSHIP:
                return
            if flow.keyed:
                for made in use.uses:
                    yield from self.follow(made, flow.held)
            else:
                yield from self._kept_by(key, self.escape(use, "stored", flow))

    def _kept_by(self, key: str, uses: Iterator[Use]) -> Iterator[Use]:
        """What holds an order by a key: only a file or a report shows it where all that the file
        looks up by that key is made a set, counted or told."""
        for use in uses:
            reads = list(self.references.reads_of_key(key)) if key else []
            harmless = bool(reads) and not any(self.first(each, PLAIN) for each in reads)
            yield use._replace(assumed=use.assumed or harmless)

    def _in_change(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.name == "sort":
            if flow.rows:
                yield from self.follow(use, flow)
            else:
                yield from self.given.sorted(use.args[1], value, use, flow)
        elif use.name != "clear":
            yield from self.follow(use, flow)

    def _in_store_item(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        container, key, held = use.args
        if value is container:
            if not self.sorts(use, value):
                yield from self.follow(use, flow)
        elif value is held and not (flow.table and self._goes_with(key, value)):
            word = key.text
            if key.code == "range":
                yield from self.follow(use, flow._replace(filled=True))
            elif self._is_column_of(container, held):
                yield from self.follow(use, flow)
            elif not (
                names.says_little(word)
                or self.effects.sorts_parts(use, use.place)
                or self.effects.is_unread(container)
            ):
                inside = self._is_own(container) and not flow.is_deep
                if flow.keyed or inside:
                    yield from self.follow(use, flow.held)
                if inside:
                    return
                how = f"assigned to {spoken(container)}[…]"
                yield from self._kept_by(word, self.escape(use, how, flow))

    def _is_column_of(self, table: Op, column: Op) -> bool:
        """``frame["size"] = frame["size"].round(2)``: what is worked out of the rows of a table."""
        if not self._is_frame(table):
            return False
        states = set(
            closure([table], lambda op: (*states_before(op), *alternatives(op)), _MOST_BEHIND)
        )
        return any(each in states for each in behind(column, most=_MOST_BEHIND))

    def _goes_with(self, key: Op, column: Op) -> bool:
        """``image[table["x"]] = table["y"]``: a place for each row of one table."""
        tables = set(column.args[:1])
        return any(each in tables for each in closure([key], lambda op: op.args, _MOST_BEHIND))

    def _is_own(self, container: Op) -> bool:
        """Whether a function makes a dict or list for itself, so that all that reads it is seen."""
        made = self.effects.made(container)
        empty = made.code == "call" and len(made.args) == 1 and word_of(made) in _MAKING
        return made.code in ("comprehension", "dict", "list") or empty

    def _in_delete(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is value:
            yield from self.follow(use, flow)

    # What goes through it

    def _in_iter(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if flow.grouped:
            yield from self._in_groups(use, value, flow)
        elif use.name == "comprehension":
            yield from self._in_clause(use, flow)
        else:
            yield from self.effects.of_loop(use, flow)

    def _in_groups(self, head: Op, groups: Op, flow: Flow) -> Iterator[Use]:
        """``for group in groups``, ``in groups.values()``, ``for key, group in groups.items()``."""
        inner = flow.inner
        if flow.rows or lattice.are(self.values.types(groups), "list"):
            yield from self.follow(head, inner)
        while not _COPYING.isdisjoint(self.values.called(groups)) and groups.args[1:]:
            groups = groups.args[1]
        if word_of(groups) == "values":
            yield from self.follow(head, inner)
        for each in head.uses:
            if word_of(groups) == "items" and each.code == "unpack" and each.name[0] == 1:
                yield from self.follow(each, inner)

    def _in_clause(self, head: Op, flow: Flow) -> Iterator[Use]:
        """``… for x in value``."""
        draw = self.effects.draw_in(head.region)
        if draw is not None:
            yield Use(draw, "paired with random numbers")
            return
        numbered = flow.numbered and self.effects.counts(head)
        for made in head.uses:
            if made.code == "comprehension" and head in made.args[1:]:
                yield from self._made(made, head, flow, numbered=numbered)

    def _made(self, made: Op, head: Op, flow: Flow, *, numbered: bool) -> Iterator[Use]:
        if self.effects.has_one_at_most(made, head) or not depends(made, head):
            return
        if made.name == "set":
            if numbered:
                yield Use(made, "numbered")
        elif made.name == "dict":
            if numbered and not self.given.only_compared(made):
                yield Use(made, "numbered")
            else:
                yield from self.follow(made, Flow(keyed=True))
        else:
            number = made.args[0]
            if "builtins.float" in number.called and number.args[1:]:
                number = number.args[1]
            whole = flow.whole and number is head
            named = not numbered and self.name_files([head], made.args[0])
            after = list(self.follow(made, Flow(text=flow.text, whole=whole, named=named)))
            if numbered and not after:
                yield Use(made, "numbered")
            yield from after

    def _in_comprehension(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        heads = [each for each in use.args if each.code == "iter"]
        if value in heads or use.name == "set":
            return
        if flow.keyed:
            yield from self.follow(use, flow.held)
        elif use.name != "dict" and not flow.is_deep:
            yield from self.follow(use, flow.listed())
        else:
            yield from self.escape(use, "collected", flow)

    def name_files(self, elements: Collection[Op], *rows: Op) -> bool:
        """Whether rows that are made of files of a listing name these, beside what else they
        hold."""
        if self.distinct or self.finishing:
            return False
        names = Names(self.values, elements)
        return bool(rows) and all(map(names.are_in, rows))

    def joins_lists(self, call: Op) -> bool:
        """``sum(lists, [])``, ``chain.from_iterable(lists)``; ``next(lists)``, which is one."""
        called = self.values.called(call)
        return bool({"itertools.chain.from_iterable", "builtins.next"} & set(called)) or (
            "builtins.sum" in called and len(call.args) == 3 and call.args[2].code == "list"
        )

    def _in_unpack(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        index, count, _, starred = use.name
        if flow.rows:
            if self._may_list(use):
                yield from self.follow(use, flow) if starred else self._in_part(use, index, flow)
        elif self._is_of_root_call(value) and self.is_product(value):
            if self._may_list(use):
                yield from self.follow(use, flow)  # any of what a function gives at once
        elif count > 1 and not flow.keyed and index == 0 and not self.is_product(value):
            yield Use(use, "unpacked")

    def _is_of_root_call(self, value: Op) -> bool:
        """Whether a value is what a call gives that is the root, or a part of that."""
        while value.code == "unpack":
            value = value.args[0]
        return value is self.root and value.code == "call"

    def _in_part(self, use: Op, place: object, flow: Flow) -> Iterator[Use]:
        """What stands at a place of a container that holds it."""
        if flow.may_be_at(place):
            yield from self.follow(use, flow.inner)

    def _may_list(self, part: Op) -> bool:
        """Whether a part of what is unpacked may have an order of its own."""
        types = self.values.types(part)
        return lattice.may_be(types, *_ORDERED) or lattice.may_be_of(types, FRAME)

    def is_product(self, value: Op) -> bool:
        """Whether a value is a tuple, whose parts have names, and not elements in an order."""
        return lattice.are(self.values.types(value), "tuple")

    def _in_item(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is value and flow.grouped:
            yield from self._in_part(use, use.args[1].constant, flow)
            return
        if use.args[0] is value and flow.columns and not is_column(use):
            return  # by its name
        if flow.table and lattice.may_be(self.values.types(use.args[1]), "list", "str"):
            yield from self.follow(use, flow)
            return
        if use.args[0] is not value and not flow.keyed and use.args[1] is value:
            yield from self._in_columns(use, value, flow)
        if use.args[0] is not value or flow.keyed:
            return
        if is_column(use) or self._is_part_of_frame(use):
            yield from self.follow(use, flow)
            return
        if self._is_asked(use.args[1]) or self.given.is_found(use.args[1], value):
            return
        loop = self.effects.counting_loop(use.args[1], value)
        if loop is not None:
            yield from self.effects.of_index_loop(loop, value, flow)
        elif not (
            self.effects.goes_along(use.args[1], value)
            or self.holds_one(value, use)
            or self.effects.is_dead(use)
        ):
            yield Use(use, "indexed", assumed=_is_displayed(use) or self.seems_one(use))

    def _is_part_of_frame(self, use: Op) -> bool:
        """``frame[frame["size"] > 4]``, ``frame[["size"]]``: rows or columns, in their order."""
        key = use.args[1]
        masks = key.code in ("binary", "boolean", "compare", "unary")
        types = self.values.types(key)
        named = lattice.are(types | lattice.elements(types), "str", "list")
        return (masks or named) and self._is_frame(use.args[0])

    def _in_columns(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        """``frame[names]``, ``frame.loc[names]``: columns or rows in the order of a list, unless
        that gets them back."""
        given_back = (each for each in value.uses if each.code == "store_item")
        is_list = lattice.are(self.values.types(value), "list")
        if not is_list or any(given_back) or "builtins.tuple" in self.values.called(value):
            return
        for each in use.uses:
            if each.code == "attr" and each.name == "values" and each.uses:
                yield Use(each, "read into an array")
        rows = _is_by_label(use) and value in (use.args[1], *use.args[1].args[:1])
        for found in self.follow(use, flow._replace(columns=not rows, table=rows)):
            asked = found.how.startswith("asked for")
            if not asked or found.how.startswith("asked for .to_"):
                yield found

    def _is_asked(self, key: Op) -> bool:
        """``names[int(input()) - 1]``: somebody picks among what is shown."""
        made = closure([key], lambda op: op.args if op.code in ("call", "binary") else ())
        return any("builtins.input" in self.values.called(each) for each in made)

    def _in_slice(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.uses and all(each.code in ("not", "test") for each in use.uses):
            return  # whether there are any
        if not any(use.name) or flow.text or flow.keyed or flow.rows:
            yield from self.follow(use, flow)
        else:
            yield Use(use, "sliced", assumed=_is_displayed(use) or _is_part(use))

    def _in_compare(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        operators: tuple[str, ...] = use.name
        if any(each in ("In", "NotIn", "Is", "IsNot") for each in operators) or flow.keyed:
            return
        other = next((each for each in use.args if each is not value), None)
        if other is not None and not self.has_one_order(other) and not flow.text:
            yield from self.escape(use, "compared", flow)

    def has_one_order(self, op: Op) -> bool:
        if op.code in ("list", "tuple"):
            return len(op.args) <= 1
        types = self.values.types(op)
        return lattice.are(types, "set", "int", "str") or types == lattice.NONE

    # Where it leaves

    def escape(self, op: Op, how: str, flow: Flow) -> Iterator[Use]:
        """A use out of sight, which looks a dict up by its keys."""
        if flow.text or not flow.keyed:
            yield Use(op, how)

    # Calls

    def _in_call(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is value or self.messages.is_log(use):
            return
        noted = self.messages.notes(use)
        for name, given in use.arguments():
            if given is value:
                for each in self.given.argument(use, name, value, flow):
                    yield each._replace(assumed=each.assumed or noted)
                return

    def holds_one(self, value: Op, use: Op) -> bool:
        """Whether a value that one element is taken of holds no other, or is not to."""
        if self.effects.is_counted_one(value, use):
            return True
        root = self.root
        if self.distinct or self.finishing or root is None:
            return False
        if expected.asks_kind(self.values, use):
            return True
        one = word_of(root) != "rglob" and expected.seeks_one(self.values, root)
        self._by_root |= one
        return one

    def seems_one(self, use: Op) -> bool:
        """Whether code that takes the first of a listing seems to expect no other."""
        root = self.root
        if self.distinct or self.finishing or root is None:
            return False
        one = expected.seeks_one(self.values, root) or (
            _takes_end(use) and expected.expects_one(self.values, root)
        )
        self._by_root |= one
        return one

    # Methods

    def _in_attr(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        calls, table = use.calls, flow.table and not (flow.text or flow.grouped)
        for call in calls:
            yield from (self._of_table if table else self._method)(call, use, flow)
        if table:
            return
        array = str(use.name) in containers.OF_ARRAYS or use.name == "values"
        if not calls and use.uses and array:
            yield Use(use, "read into an array")
        elif use.name in frames.BY_PLACE and not flow.text:
            yield from (Use(each, "indexed") for each in use.uses if each.code in ("item", "slice"))

    def _method(self, call: Op, attribute: Op, flow: Flow) -> Iterator[Use]:
        word = str(attribute.name)
        if flow.text:
            yield from self.follow(call, flow)
            return
        if flow.grouped and word in ("get", "pop", "setdefault"):
            yield from self.follow(call, flow.inner)
            return
        if flow.columns and word in containers.BY_COLUMN:
            return
        if self._ends(word, call, attribute.args[0]):
            return
        if flow.keyed and word not in ("copy", "items", "keys", "popitem", "values"):
            ranked = self.follow(call, PLAIN) if word == "most_common" else ()
            yield from (use._replace(how=_RANKED) for use in ranked)
            return
        if word in ("copy", "keys", "values", "items", "tolist"):
            keyed = flow.keyed and (word == "copy" or bool(flow.grouped))
            yield from self.follow(call, flow._replace(keyed=keyed))
        elif word in frames.ROW_BY_ROW or (
            word == "transpose" and self._is_frame(attribute.args[0])
        ):
            yield from self.follow(call, flow)
        elif word in containers.OF_ARRAYS:
            yield Use(attribute, "read into an array")
        elif word != "pop":
            in_rows = flow.named and word in files.OF_TABLES
            written = self.tables.written(call, attribute) if in_rows else None
            named = flow.columns and word in files.OF_TABLES
            aside = named or self.given.is_measured(attribute.args[0])
            yield written or Use(attribute, f"asked for .{word}", assumed=aside)
        else:
            yield from self._popped(call, attribute)

    def _of_table(self, call: Op, attribute: Op, flow: Flow) -> Iterator[Use]:
        word, owner = str(attribute.name), attribute.args[0]
        if word in frames.KEEPING or word_of(owner) in frames.GROUPING:
            yield from self.follow(call, flow)
        elif word in frames.LISTING:
            yield from self.follow(call, PLAIN)
        elif word not in frames.FREE:
            yield Use(attribute, f"asked for .{word}")

    def _popped(self, call: Op, attribute: Op) -> Iterator[Use]:
        loop = self.effects.worklist(call)
        if loop is not None:
            if not self.effects.is_refilled(call, loop):
                yield from self.effects.of_rounds(loop, {call})
        elif not self.holds_one(attribute.args[0], call):
            yield Use(attribute, "asked for .pop()", assumed=self.seems_one(call))

    def _is_frame(self, value: Op) -> bool:
        """Whether a value is a table of pandas, which may be sorted by its index later."""
        return lattice.may_be_of(self.values.types(value), FRAME)

    def _ends(self, word: str, call: Op, value: Op) -> bool:
        """Whether a method sorts, looks up or counts."""
        if word in containers.UNORDERED or word in containers.OF_SETS or names.sorts(word):
            return True
        if word == "index":
            return self.given.finds_only(call, value)
        return word in containers.EXTREMES and len(call.args) == 1


def _is_part(use: Op) -> bool:
    """``[names[i : i + n] for i in range(0, len(names), n)]``: all of it, in parts."""
    head = use.args[1] if len(use.args) > 1 else None
    over = head.args[0] if head is not None and head.code == "iter" else None
    return over is not None and over.code == "call" and word_of(over) == "range"


def _is_displayed(value: Op) -> bool:
    """Whether a statement is nothing but a value, which a notebook shows below its cell."""
    return bool(value.uses) and value.is_dropped


def depends(made: Op, head: Op) -> bool:
    """Whether what a comprehension collects is made of its element."""
    collected = made.args[: 2 if made.name == "dict" else 1]
    parts = closure(collected, lambda op: op.args if op.within(head.region) else ())
    return any(each is head or each.code in ("function", "await") for each in parts)


def _is_by_label(use: Op) -> bool:
    """``frame.loc[…]``"""
    return use.code == "item" and use.args[0].code == "attr" and use.args[0].name == "loc"


def _takes_end(use: Op) -> bool:
    """``x[0]``, ``x[-1]``, ``next(x)``."""
    if use.code != "item":
        return True
    key = use.args[1]
    value = key.args[0].name if key.code == "unary" else key.literal
    return value in (0, 1) and (value == 0 or key.code == "unary")


def _passed(function: Function, call: Op) -> str:
    """What decides which of a function's operations run: the constants that a call passes; "" where
    all may."""
    if call.unpacks or call.function is function:
        return ""
    given = bound(function, call)
    return repr([passed(given, each) for each in function.params.values()])
