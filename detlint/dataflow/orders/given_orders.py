"""What a call does with an order that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import described, parameter_of, spoken, word_of
from detlint.dataflow.loops.effects import is_aligned, made_of
from detlint.dataflow.orders.imported_orders import may_be_of_project
from detlint.dataflow.orders.keys import leaves_ties_among, may_tie, takes_second, ties_by
from detlint.dataflow.orders.use import SORTED, Flow, Use
from detlint.dataflow.slices import closure
from detlint.models import containers, files, frames, names
from detlint.models.libraries import BAGS, DISTANCES
from detlint.models.loading import FRAME
from detlint.models.model import Order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.order import Orders

_DEEPEST = 4  # functions that hand the same order on
_SORTING = "argsort"
_ADDING = frozenset(["append", "appendleft", "insert", "setdefault"])


class GivenOrders:
    """What calls do: as a model says it, by the name of the function, or as its body shows."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._values = orders.values
        self._effects = orders.effects
        self._unit = orders.unit
        self._origins = orders.unit.origins

    def argument(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        """The uses of a value that a call is given by position (None) or under a keyword."""
        if keyword is not None and keyword not in ("*", "**") and names.says_little(keyword):
            return
        if flow.table and word_of(call) in ("join", "join_asof"):
            return
        if flow.table and lattice.may_be_of(self._values.types(value), frames.COLUMN_OF):
            if word_of(call) == "select":
                yield from self._orders.follow(call, flow)
            return
        flow = flow._replace(table=False)
        order = self._order_of(call)
        if order is not None:
            yield from self._modelled(call, keyword, value, flow, order)
        else:
            yield from self._by_name(call, keyword, value, flow)

    def _order_of(self, call: Op) -> Order | None:
        """What a model says of the order of what a call is given."""
        row = self._values.function_row(call)
        if row is not None and row.name == "builtins.print":
            return Order.READS
        if row is not None and row.unless and self._is_given(call, row.unless):
            return Order.READS
        if row is None or row.order is None:
            row = self._values.method_row(call)
        return row.order if row is not None else None

    def _by_name(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        word, method = word_of(call), call.args[0].code == "attr"
        updates = word == "update" and keyword is None
        if (word in containers.POSITIONS and self.finds_only(call, value)) or self._is_sort_key(
            call
        ):
            return
        if word in containers.ASSERTING and len(call.args) > 2:
            yield from self._asserted(call, value, flow)
        elif word == "join" and method:
            yield from self._joined(call, flow)
        elif word in containers.OF_SETS or names.removes(word) or updates:
            return
        elif word in ("extend", "extendleft") and method:
            yield from self._added(call, flow, flow._replace(filled=True))
        elif word in _ADDING and method:
            yield from self._added(call, flow, flow.held if flow.keyed else flow.listed())
        elif names.sorts(word):
            yield from self.sorted(call, value, call, flow)
        elif names.is_bar(word):
            yield from self._orders.follow(call, flow)
        else:
            yield from self._handed_on(call, keyword, value, flow)

    @staticmethod
    def _is_given(call: Op, unless: str) -> bool:
        keyword, _, text = unless.partition("=")
        given = call.given(keyword)
        return given is not None and given.name == text

    def _asserted(self, call: Op, value: Op, flow: Flow) -> Iterator[Use]:
        other = call.args[2] if call.args[1] is value else call.args[1]
        if not self._orders.has_one_order(other):
            yield from self._orders.escape(call, f"passed to {word_of(call)}()", flow)

    def _added(self, call: Op, flow: Flow, inside: Flow) -> Iterator[Use]:
        """What becomes of the list that gets it."""
        filled = next((each for each in call.uses if each.code == "change"), None)
        if filled is not None and not flow.is_deep:
            yield from self._orders.follow(filled, inside)
        if filled is None or flow.is_deep or self._effects.escapes(filled):
            how = f"added to {spoken(call.args[0]).rpartition('.')[0]}"
            yield from self._orders.escape(call, how, flow)

    def _joined(self, call: Op, flow: Flow) -> Iterator[Use]:
        for use in self._orders.follow(call, flow._replace(text=True)):
            yield use.said("joined")

    def _modelled(
        self, call: Op, keyword: str | None, value: Op, flow: Flow, order: Order
    ) -> Iterator[Use]:
        judge = getattr(self, f"_if_{order.value}", None)
        if flow.rows and self._orders.joins_lists(call):
            yield from self._orders.follow(call, flow.inner)
        elif judge is not None:
            yield from judge(call, keyword, value, flow)

    def _if_keeps(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        counts = "builtins.enumerate" in self._values.called(call)
        if counts and flow.grouped and not flow.is_deep:
            yield from self._orders.follow(call, flow.paired(1))
            return
        numbered = flow.numbered or counts
        if flow.keyed and lattice.may_be_of(self._values.types(call), FRAME):
            if call.given("columns") is None:
                yield from self._orders.follow(call, Flow(columns=True))
            return
        held = flow.keyed and (bool(flow.grouped) or word_of(call) in ("copy", "deepcopy"))
        kept = flow._replace(keyed=held)
        yield from self._orders.follow(call, kept._replace(numbered=numbered))

    def _if_keyed(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if keyword is None and flow.numbered and not self.only_compared(call):
            yield Use(call, "numbered")
        elif keyword is None:
            kept = flow if flow.grouped else flow._replace(keyed=True)
            yield from self._orders.follow(call, kept)
        else:
            yield from self._orders.escape(call, "stored", flow)

    def _if_sorts(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        pairs = value.code == "call" and word_of(value) in ("items", "values")
        if flow.rows or (flow.grouped and pairs):
            yield from self._orders.follow(call, flow)
        else:
            yield from self.sorted(call, value, call, flow)

    def sorted(self, call: Op, value: Op, after: Op, flow: Flow) -> Iterator[Use]:
        """What becomes of the order of a value that a call sorts, which then is another one."""
        tied = self._ranks_counts(call, value) or ties_by(self._values, call, value)
        if tied is not False:
            for use in self._orders.follow(after, flow):
                how = use.how if use.is_of_rows else SORTED
                yield use._replace(how=how, assumed=use.assumed or tied is None)

    def _ranks_counts(self, call: Op, value: Op) -> bool:
        """``sorted(counts.items(), key=lambda item: -item[1])``: many are as frequent."""
        items = value.code == "call" and value.args[0].code == "attr"
        if not items or value.args[0].name != "items" or not takes_second(self._values, call):
            return False
        return self._effects.counted(value.args[0].args[0])

    def _if_extreme(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        key = call.given("key")
        tied = ties_by(self._values, call, value)
        seems = key is not None and not self._orders.distinct and may_tie(self._values, key)
        if tied is not False or seems:
            how = f"searched by {word_of(call)}(key=…), which keeps the first of equals"
            yield Use(call, how, assumed=not tied)

    def _if_adds(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if self._adds_floats(value) and not flow.whole:
            # People are told, of what the last bits hardly show in.
            told = self._orders.messages.is_told(call)
            yield Use(call, "added up as floats", assumed=told)

    def _if_pairs(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if flow.grouped and not flow.is_deep:
            yield from self._orders.follow(call, flow.paired(call.args.index(value, 1) - 1))
        elif len(call.args) > 2 and not self._pairs_itself(call, value):
            yield from self._paired(call, flow)
        else:
            yield from self._orders.follow(call, flow)

    def _if_draws(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        own = value.code in ("call", "comprehension", "list")
        if own and word_of(call) == "shuffle":
            later = [use for use in dict.fromkeys(value.uses) if use.place > call.place]
            if not any(True for use in later for _ in self._orders.at(use, value, flow)):
                return
        yield Use(call, f"passed to {word_of(call)}()")

    def _if_reads(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        yield Use(call, f"passed to {word_of(call)}()")

    def _paired(self, call: Op, flow: Flow) -> Iterator[Use]:
        if not self.only_compared(call):
            yield Use(call, "paired by zip()")

    def only_compared(self, table: Op) -> bool:
        """Whether what a table gives to its keys only stands for them in two rows of which the
        edit distance is asked."""
        stands = closure([table], lambda op: (x for x in op.uses if self._stands_for(x, op)))
        compared = False
        for use, value in ((use, each) for each in stands for use in each.uses):
            if not self._stands_for(use, value):
                if DISTANCES.isdisjoint(self._values.called(use)):
                    return False
                compared = True
        return compared

    def _stands_for(self, use: Op, value: Op) -> bool:
        if use.code == "call":
            return value in use.args[1:] and word_of(use) in ("chr", "dict", "join", "list", "str")
        return use.code in ("phi", "item", "comprehension") and use.args[0] is value

    def _pairs_itself(self, call: Op, value: Op) -> bool:
        """``zip(names, [size_of(name) for name in names])``, ``zip(names, repeat(x))``."""
        given = [each for name, each in call.arguments() if name is None]
        others = [each for each in given if each is not value]
        if len(others) < len(given) - 1:
            return not lattice.may_be(self._values.types(value), "iterator")  # its neighbours
        return all(
            is_aligned(each, value)
            # ``zip(table["name"], table["size"])``: columns of one table.
            or (each.code == value.code == "item" and each.args[0] is value.args[0])
            or set(self._values.called(each)) & {"itertools.repeat", "itertools.count"}
            for each in others
        )

    def _adds_floats(self, value: Op) -> bool:
        types = self._values.elements(value)
        return (
            lattice.may_be(types, "float")
            and not lattice.may_be(types, "?")
            and not (lattice.may_be(types, "int") and len(types) > 1)
        )

    def _if_picks(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        word = word_of(call)
        if word == "next":
            if not (
                call.is_dropped or self._orders.holds_one(value, call) or self.only_tested(call)
            ):
                assumed = self._orders.seems_one(call)
                yield Use(call, "cut to its first by next()", assumed)
        else:
            loops = [each for each in call.uses if each.code == "iter"]
            checks = (
                bool(loops) and loops == call.uses and all(map(self._effects.only_raises, loops))
            )
            yield Use(call, f"passed to {word}()", assumed=checks)

    def only_tested(self, op: Op) -> bool:
        def tests(each: Op) -> bool:
            if each.code in ("test", "not"):
                return True
            if each.code == "compare":
                return any(other.is_none for other in each.args)
            return each.code in ("boolean", "phi") and self.only_tested(each)

        used = [each for each in op.uses if each.code != "drop"]
        return bool(used) and all(map(tests, used))

    def _handed_on(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        """A function that is no library's: of the file, or not seen."""
        function = self._values.callee(call) or self._values.builder(call)
        if function is not None and len(self._orders.calls) < _DEEPEST:
            yield from self._entered(function, call, keyword, value, flow)
        elif not self.only_tested(call):
            yield from self._applied(call, keyword, value, flow)

    def _applied(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        """A function out of sight, which may be given others that are not."""
        left = self._effects.applied(call, value)
        if left is None:
            imported = self._orders.imported
            found = imported.entered(call, value, flow) if imported is not None else None
            yield from self._given(call, keyword, flow) if found is None else found
        elif left:
            yield Use(call, f"passed to {described(call)}()")
        else:
            yield from self._orders.follow(call, flow)

    def _given(self, call: Op, keyword: str | None, flow: Flow) -> Iterator[Use]:
        """What a function out of sight does with an order, as its name says it."""
        word = word_of(call)
        if flow.keyed and self._sorts_keys(call):
            return
        rows = flow.named and (word == "dump" or word in files.INTO_FILES)
        written = self._orders.tables.written(call, call) if rows else None
        if written is not None:
            yield written
            return
        if flow.keyed and word in ("dump", "dumps", "safe_dump"):
            # What is kept of files is mostly looked up by their names.
            yield Use(call, f"passed to {described(call)}()", assumed=not self._orders.distinct)
            return
        if word in files.TELLING and self._finds_rows(call):
            return
        joins = flow.rows and names.joins(word)
        gives_back = joins or (not self._orders.distinct and names.filters(word))
        shown = [use for use in call.uses if use.code != "store_global"]
        sorts = bool(shown) and all(self._orders.sorts(use, call) for use in shown)
        given = flow.inner if joins else flow
        after = list(self._orders.follow(call, given)) if gives_back and self._is_used(call) else ()
        if gives_back and self._is_used(call) and all(use.is_of_rows for use in after):
            yield from after[:1]
            return
        if flow.keyed and self._orders.imported is None and may_be_of_project(call):
            self._orders.leaves = True
        takes = names.takes_order(word) and keyword != "columns"  # which are found by their names
        seems = takes or keyword == "*" or not self._orders.distinct or flow.filled
        settled = sorts or names.finds_rows(word) or self.is_measured(call)
        settled = settled or self._is_only_told(call) or (flow.text and self._counts_words(call))
        for use in self._orders.escape(call, f"passed to {described(call)}()", flow):
            yield use._replace(assumed=settled or not seems)

    def _counts_words(self, call: Op) -> bool:
        """Whether a call has the words of texts counted, wherever they stand: ``CountVectorizer()
        .fit(texts)``."""
        function = call.args[0]
        if function.code != "attr":
            return False
        made = self._origins.of(function.args[0])
        return bool(made) and all(
            each is not None and not BAGS.isdisjoint(each.names) and _takes_words(each.op)
            for each in made
        )

    def _is_only_told(self, call: Op) -> bool:
        """Whether nothing but messages has what a function gives: ``print(disk_usage(paths))``."""
        function = call.args[0]
        while function.code == "attr":
            function = function.args[0]
        given = call.uses if function.code in ("free", "global", "import") else ()
        return bool(given) and all(map(self._effects.is_quiet, given))

    def _finds_rows(self, call: Op) -> bool:
        """``db.executemany("REPLACE INTO rows …", rows)``: each row has its place by its key."""
        statement = self._values.constant(call.args[1]) if call.args[1:] else None
        return isinstance(statement, str) and not files.inserts(statement)

    def is_measured(self, table: Op) -> bool:
        """Whether a table of pandas is only asked what all of its rows, or groups of these, have in
        common: ``table.groupby("k")["x"].agg(["mean", "std"])``."""
        is_table = lattice.may_be_of(self._values.types(table), FRAME)
        uses = [x for x in table.uses if not (x.code == "drop" or self._effects.is_quiet(x))]
        return is_table and bool(uses) and all(self._measures(each, table) for each in uses)

    def _measures(self, use: Op, value: Op) -> bool:
        calls = use.calls if use.code == "attr" else ()
        if use.code == "item" or (use.code == "attr" and use.name == "groupby" and calls):
            given = [use] if use.code == "item" else calls
            return use.args[0] is value and all(
                self._measures(each, made) for made in given for each in made.uses
            )
        if use.code == "attr" and use.name in frames.AGGREGATING:
            return bool(calls) and all(map(self._aggregates, calls))
        return bool(calls) and use.name in frames.STATISTICS

    def _aggregates(self, call: Op) -> bool:
        """``agg(["mean", "std"])``, ``agg({"x": "sum"})``, ``agg(x=("a", "max"))``."""
        asked = [each for name, each in call.arguments() if name != "axis"]
        told = [each for op in asked for each in _told(op, named=True)]
        return bool(told) and all(each in frames.STATISTICS for each in told)

    def _sorts_keys(self, call: Op) -> bool:
        """``json.dump(found, file, sort_keys=True)``; PyYAML does so unless told not to."""
        asked = call.given("sort_keys")
        if asked is None:
            return any(each.startswith("yaml.") for each in self._values.called(call))
        return self._values.constant(asked) is not False

    def _is_used(self, call: Op) -> bool:
        """Whether something but a message is made of what a call gives."""
        return any(
            not (use.code == "call" and self._orders.messages.is_log(use)) for use in call.uses
        )

    def _entered(
        self,
        function: Function,
        call: Op,
        keyword: str | None,
        value: Op,
        flow: Flow,
    ) -> Iterator[Use]:
        parameter = parameter_of(function, call, value)
        if parameter is None:
            yield from self._orders.escape(call, f"passed to {described(call)}()", flow)
            return
        if self._orders.is_on_way(parameter, flow):  # a function that calls itself
            if not self.only_tested(call):
                yield from self._applied(call, keyword, value, flow)
            return
        found = self._orders.enter(function, call, parameter, flow)
        if found is not None:
            yield self.handed(call, found)

    def handed(self, call: Op, found: Use) -> Use:
        """The use by a call that hands an order to a function, which does so with it."""
        # Of a set, what is handed on once more may be asked for its elements alone.
        how, guessed = found.said(f"passed to {described(call)}()").how, False
        if self._orders.distinct:
            guessed = found.how.startswith("passed to ") and not found.tells
            how = found.further(how)
        return Use(call, how, found.assumed or guessed)

    def finds_only(self, call: Op, value: Op) -> bool:
        """Whether a position is only used to take what stands there."""
        whole = [use for use in call.uses if "builtins.int" in self._values.called(use)]
        uses = [use for each in (call, *whole) for use in each.uses if use not in whole]
        return bool(uses) and all(
            use.code == "item" and self.is_found(use.args[1], use.args[0]) for use in uses
        )

    def _is_sort_key(self, column: Op) -> bool:
        """Whether what is computed of all rows only sorts them."""
        sorting = [use for use in column.uses if word_of(use) == _SORTING]
        return bool(sorting) and all(
            use in sorting and self.finds_only(use, column) for use in column.uses
        )

    def is_found(self, key: Op, value: Op) -> bool:
        """``names[np.argmax(sizes)]``, where ``sizes`` holds something for each of the names;
        ``[names[i] for i in np.argsort(sizes)]``, which sorts them."""
        if "builtins.int" in self._values.called(key) and key.args[1:]:
            key = key.args[1]
        sorting = _sorting(key)
        key = sorting or key
        if key.code != "call" or word_of(key) not in containers.POSITIONS:
            return False
        over = _over(key)
        if over is None or (sorting is not None and leaves_ties_among(self._values, over)):
            return False
        return is_aligned(over, value) or _is_computed_of(over, value)


def _takes_words(made: Op) -> bool:
    """Whether a vectorizer counts single words."""
    several, by = made.given("ngram_range"), made.given("analyzer")
    single = several is None or [each.literal for each in several.args] == [1, 1]
    return single and (by is None or by.literal == "word")


def _told(asked: Op, *, named: bool = False) -> Iterator[object]:
    """What ``agg`` is asked for: the last of a pair that names a column."""
    if asked.code == "dict":
        for each in asked.args:
            yield from _told(each.args[-1])
    elif asked.code in ("list", "tuple"):
        for each in asked.args[-1:] if named and asked.code == "tuple" else asked.args:
            yield from _told(each)
    else:
        yield asked.literal


def _sorting(key: Op) -> Op | None:
    """The call of ``argsort`` that an index is, or one of whose places it is, also reversed."""
    for _ in range(3):
        if word_of(key) == _SORTING:
            return key
        if key.code not in ("iter", "slice"):
            break
        key = key.args[0]
    return None


def _over(call: Op) -> Op | None:
    """What a call looks for a position in: its first argument, or what its method is of."""
    method = call.args[0].code == "attr" and (word_of(call) == "index" or len(call.args) == 1)
    if method:
        return call.args[0].args[0]
    return call.args[1] if len(call.args) > 1 else None


def _is_computed_of(column: Op, value: Op) -> bool:
    """``ids_of(rows)``, which a function makes of all rows."""
    rows = {value} | made_of(value)
    return column.code == "call" and any(
        not ({each} | made_of(each)).isdisjoint(rows) for each in column.args[1:]
    )
