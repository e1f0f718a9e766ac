"""Where an order that differs from run to run reaches a result.

Followed forwards, from a value that has such an order, through what takes it over, to what shows
it. What sorts, counts or looks things up ends the way.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.effects import Effects
from detlint.dataflow.keys import leaves_ties
from detlint.dataflow.use import PLAIN, Flow, Use
from detlint.models import names
from detlint.models.model import Order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.values import Values

_DEEPEST = 4  # functions that hand the same order on
_MOST = 10_000  # operations on the way of one order, each a few frames deep


_BY_ORDER = {
    Order.KEEPS: "_if_kept",
    Order.KEYED: "_if_keyed",
    Order.SORTS: "_if_sorted",
    Order.EXTREME: "_if_searched",
    Order.JOINS: "_if_joined",
    Order.ADDS: "_if_added",
    Order.PICKS: "_if_picked",
    Order.PAIRS: "_if_paired",
    Order.DRAWS: "_if_read",
    Order.READS: "_if_read",
}
_HANDED_ON = (
    *("assigned", "collected", "cut", "indexed", "joined", "passed", "returned", "sliced"),
    *("stored", "unpacked"),
)
_READS = frozenset(
    [
        "__contains__",
        "__len__",
        "add",
        "append",
        "appendleft",
        "clear",
        "close",
        "count",
        "discard",
        "extend",
        "extendleft",
        "insert",
        "remove",
        "reverse",
        "set_description",
        "set_postfix",
        "setdefault",
        "sort",
        "update",
    ]
)
_PASSING = frozenset(
    [
        "attr",
        "await",
        "binary",
        "choice",
        "comprehension",
        "format",
        "item",
        "iter",
        "list",
        "phi",
        "set",
        "slice",
        "star",
        "text",
        "tuple",
        "unpack",
    ]
)
_SET_METHODS = frozenset(
    [
        "difference",
        "difference_update",
        "intersection",
        "intersection_update",
        "isdisjoint",
        "isin",
        "issubset",
        "issuperset",
        "symmetric_difference",
        "symmetric_difference_update",
        "union",
        "discard",
        "assertCountEqual",
        "assertIn",
        "assertNotIn",
        "assertSetEqual",
        "assertTrue",
        "assertFalse",
    ]
)
_EXTREMES = frozenset(["amax", "amin", "argmax", "argmin", "max", "min", "ptp", "any", "all"])
_OF_ARRAYS = frozenset(
    [
        "T",
        "astype",
        "flatten",
        "float",
        "numpy",
        "permute",
        "reshape",
        "shape",
        "size",
        "squeeze",
        "to",
        "transpose",
        "view",
    ]
)


class Orders:
    """Follows orders in one file.

    distinct   no two elements are equal, as in a set
    finishing  elements are results as they come: to print each is to show progress, and which of
               them failed is for people to read
    """

    def __init__(self, values: Values, *, distinct: bool = False, finishing: bool = False) -> None:
        self.values = values
        self.unit = values.unit
        self.distinct = distinct
        self.finishing = finishing
        self.effects = Effects(self)
        self._seen: dict[tuple[Op, Flow], int] = {}  # with how many were seen before
        self._earliest = math.inf  # of those that were met again
        self._harmless: set[tuple[Op, Flow]] = set()
        self._told: dict[tuple[Op, Flow], Use] = {}  # the first use that was found from each
        self._global_reads: dict[str, list[Op]] = {}
        self._calls_by_callee: dict[Function, dict[Function, list[Op]]] = {}
        self.calls: list[Op] = []  # from which the function that is looked at was entered

    def uses(self, value: Op, flow: Flow = PLAIN) -> Iterator[Use]:
        """The places where the order of a value shows."""
        self._begin()
        yield from self._whole_search(self.follow(value, flow))

    def uses_at(self, value: Op, use: Op) -> Iterator[Use]:
        """The places where it shows what one operation takes of a value, in its order."""
        self._begin()
        method = use.code == "call" and value in use.args[0].args
        judged = self._method(use, use.args[0], PLAIN) if method else self.at(use, value, PLAIN)
        yield from self._whole_search(judged)

    def uses_of_rounds(self, region: Region, elements: set[Op]) -> Iterator[Use]:
        """The places where it shows in which order the rounds of a loop take some elements."""
        self._begin()
        yield from self.effects.of_rounds(region, elements)

    def _begin(self) -> None:
        self._seen, self.calls = {}, []
        self._earliest = math.inf

    def _whole_search(self, uses: Iterator[Use]) -> Iterator[Use]:
        """What it went through is not searched again where it ends without finding a use."""
        found = False
        for use in uses:
            found = True
            yield use
        if not found and len(self._seen) <= _MOST:
            self._harmless.update(self._seen)

    def first(self, value: Op, flow: Flow) -> Use | None:
        """The first use of a value on the way, in a search of its own."""
        start, before = len(self._seen), self._earliest
        self._earliest = math.inf
        found = next(self.follow(value, flow), None)
        alone = found is None and self._earliest >= start
        if alone and not self.calls and len(self._seen) <= _MOST:
            self._harmless.update(list(self._seen)[start:])
        self._earliest = min(before, self._earliest)
        return found

    def follow(self, value: Op, flow: Flow) -> Iterator[Use]:
        """The uses of a value on the way."""
        key = value, flow
        if key in self._seen:
            self._earliest = min(self._earliest, self._seen[key])
            return
        if key in self._harmless or len(self._seen) > _MOST:
            return
        if not self.calls and key in self._told:
            yield self._told[key]  # many orders come together in one value
            return
        self._seen[key] = len(self._seen)
        if value.code == "function":
            return
        quiet = any(map(self._is_quiet, value.function.names_of(value)))
        for each in dict.fromkeys(value.uses):
            for use in self.at(each, value, flow):
                if (quiet and use.how.startswith(_HANDED_ON)) or self.is_shown(use.op):
                    continue
                if not self.calls:
                    self._told.setdefault(key, use)
                yield use

    def _is_quiet(self, name: str) -> bool:
        """Whether what a variable holds is for people to read, or to look up among."""
        word = name.rpartition(".")[2]
        return names.says_little(word) or (self.finishing and names.notes_failure(word))

    def at(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        """What one operation does with the order of a value that it takes."""
        judge = getattr(self, f"_in_{use.code}", None)
        if judge is not None:
            yield from judge(use, value, flow)

    # What hands an order on

    def _in_phi(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        yield from self.follow(use, flow)

    _in_free = _in_declared = _in_await = _in_enter = _in_phi

    def _in_choice(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if value in use.args[1:]:
            yield from self.follow(use, flow)

    def _in_boolean(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        yield from self.follow(use, flow)

    def _in_star(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        for outer in use.uses:
            if outer.code == "dict" or (outer.code == "call" and use.name == "**"):
                yield from self.follow(outer, flow._replace(keyed=True))
            elif outer.code != "set":
                yield from self.follow(outer, flow)

    def _in_format(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if flow.text or not self.distinct:
            yield from self.follow(use, flow._replace(text=True))

    def _in_text(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        yield from self.follow(use, flow._replace(text=True))

    def _in_binary(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if self.values.is_set(use) or flow.keyed:
            return
        if use.name in ("Add", "Mult", "Mod"):
            yield from self.follow(use, flow)

    def _in_augment(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if not self.values.is_set(use) and not (flow.keyed and use.args[0] is not value):
            yield from self.follow(use, flow._replace(filled=flow.filled or use.args[1] is value))

    # Containers

    def _in_list(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.code == "set" or not use.uses:
            return  # `a, b = x, y` makes no tuple
        if all(each.code in ("return", "yield") for each in use.uses) and use.uses:
            yield from self._escape(use, "returned", flow)
        else:
            yield from self._escape(use, "stored", flow)

    _in_tuple = _in_set = _in_list

    def _in_entry(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[1] is value:
            key = use.args[0].name if use.args[0].code == "const" else ""
            if not (isinstance(key, str) and names.says_little(key)):
                yield from self._escape(use, "stored", flow)

    def _in_change(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is not value:
            return
        if use.name == "sort":
            if self._leaves_ties(use.args[1]):
                yield from self.follow(use, flow)
        elif use.name != "clear":
            yield from self.follow(use, flow)

    def _in_store_item(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        container, key, held = use.args
        if value is container:
            yield from self.follow(use, flow)
        elif value is held:
            word = key.name if key.code == "const" and isinstance(key.name, str) else ""
            if key.code == "range":
                yield from self.follow(use, flow._replace(filled=True))
            elif not names.says_little(word):
                yield from self._escape(use, f"assigned to {_spoken(container)}[…]", flow)

    def _in_delete(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is value:
            yield from self.follow(use, flow)

    def _in_store_attr(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        owner, held = use.args
        name = str(use.name)
        if held is not value or names.says_little(name):
            return
        if owner.code == "param" and owner.name[1] in ("self", "cls"):
            yield from self._in_field(use, name, flow)
        elif not self._sorted_later(use, name):
            yield from self._escape(use, f"assigned to {_spoken(owner)}.{name}", flow)

    def _sorted_later(self, use: Op, name: str) -> bool:
        """``found.names = x; found.names.sort()``."""
        return any(
            each.code == "change" and each.name == "sort" and each.place > use.place
            for each in use.args[1].uses
        )

    def _in_field(self, use: Op, name: str, flow: Flow) -> Iterator[Use]:
        """What the methods of a class do with an attribute."""
        owner = use.function.class_name
        if self._sorted_later(use, name):
            return
        reads = list(self._reads_of(owner, name))
        if not reads and not name.startswith("_"):
            yield from self._escape(use, f"assigned to {_spoken(use.args[0])}.{name}", flow)
        for read in reads:
            yield from self.follow(read, flow)

    def _reads_of(self, owner: str, name: str) -> Iterator[Op]:
        for function in self.unit.methods_naming(owner, name):
            for each in function.everything():
                for op in each.ops:
                    if op.code == "attr" and op.name == name and _is_self(op.args[0]):
                        yield op

    def _in_store_global(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        name = str(use.name)
        if name == "__all__" or names.says_little(name):
            return
        module = self.unit.module
        reads = self._reads_of_global(name)
        inside = [each for each in value.uses if each is not use and each.function is module]
        if not reads and not inside and not self._is_for_a_script(name):
            yield from self._escape(use, f"assigned to {name}", flow)
        if module.bindings.get(name, [value])[-1] is not value and not self._stays(name, value):
            return  # bound to something else before a function runs
        for read in reads:
            yield from self.follow(read, flow)

    def _stays(self, name: str, value: Op) -> bool:
        last = self.unit.module.bindings[name][-1]
        return last.code in ("phi", "change", "store_item") and value in _behind(last)

    def _is_for_a_script(self, name: str) -> bool:
        """Whether nobody imports a name of the module."""
        return (not name.isupper() and self._is_script) or name == "_"

    @cached_property
    def _is_script(self) -> bool:
        text = self.unit.text
        return "__name__ ==" in text or "__name__==" in text

    def _reads_of_global(self, name: str) -> list[Op]:
        if name not in self._global_reads:
            inside = (
                each.globals.get(name)
                for function in self.unit.functions_naming(name)
                for each in function.everything()
            )
            found = [read for read in inside if read is not None and read.code == "global"]
            self._global_reads[name] = found
        return self._global_reads[name]

    # What goes through it

    def _in_iter(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if flow.grouped:
            yield from self._in_groups(use, value, flow)
        elif use.name == "comprehension":
            yield from self._in_clause(use, flow)
        else:
            yield from self.effects.of_loop(use, flow)

    def _in_groups(self, head: Op, groups: Op, flow: Flow) -> Iterator[Use]:
        """``for group in groups.values()``, ``for key, group in groups.items()``."""
        inner = flow._replace(grouped=False)
        if groups.code != "call":
            return  # of a dict, its keys
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
        if made.name == "set":
            if numbered:
                yield Use(made, "numbered")
        elif made.name == "dict":
            if numbered:
                yield Use(made, "numbered")
            else:
                yield from self.follow(made, Flow(keyed=True))
        else:
            after = list(self.follow(made, Flow(text=flow.text)))
            if numbered and not after:
                yield Use(made, "numbered")
            yield from after

    def _in_comprehension(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        heads = [each for each in use.args if each.code == "iter"]
        if value not in heads and use.name != "set":
            yield from self._escape(use, "collected", flow)

    def _in_unpack(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        index, count, _, _ = use.name
        if count > 1 and not flow.keyed and index == 0 and not self.is_product(value):
            yield Use(use, "unpacked")

    def is_product(self, value: Op) -> bool:
        """Whether a value is a tuple, whose parts have names, and not elements in an order."""
        return lattice.are(self.values.types(value), "tuple")

    def _in_item(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is value and flow.grouped:
            yield from self.follow(use, flow._replace(grouped=False))
            return
        if use.args[0] is not value or flow.keyed:
            return
        loop = self.effects.counting_loop(use.args[1], value)
        if loop is not None:
            yield from self.effects.of_loop(loop, flow)
        elif not (self.effects.goes_along(use.args[1], value) or self.holds_one(value, use)):
            yield Use(use, "indexed")

    def _in_slice(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is not value or flow.keyed:
            return
        if not any(use.name) or flow.text:
            yield from self.follow(use, flow)
        else:
            yield Use(use, "sliced")

    def _in_compare(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        operators: tuple[str, ...] = use.name
        if any(each in ("In", "NotIn", "Is", "IsNot") for each in operators) or flow.keyed:
            return
        other = next((each for each in use.args if each is not value), None)
        if other is not None and not self._has_one_order(other) and not flow.text:
            yield from self._escape(use, "compared", flow)

    def _has_one_order(self, op: Op) -> bool:
        if op.code in ("list", "tuple"):
            return len(op.args) <= 1
        types = self.values.types(op)
        return lattice.are(types, "set", "int", "str") or types == lattice.NONE

    # Where it leaves

    def in_return(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        """What becomes of an order that a function returns or yields."""
        function = use.function
        if function.node is not None and function.name.rpartition(".")[2] in names.DESCRIBING:
            return
        if (
            self.calls
            and self.calls[-1].code == "call"
            and self.values.callee(self.calls[-1]) is function
        ):
            call = self.calls.pop()
            yield from self.follow(call, flow)
            self.calls.append(call)
            return
        if function.name == "<lambda>":
            yield from self._in_lambda(function, flow)
            return
        if names.says_little(function.name.rpartition(".")[2]):
            return
        calls = self._calls_of(function)
        if calls is not None:
            for call in calls:
                yield from self.follow(call, flow)
        else:
            yield from self._escape(use, "returned", flow)

    _in_return = in_return

    def _in_lambda(self, function: Function, flow: Flow) -> Iterator[Use]:
        yield from ()

    def _in_yield(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        yield from self.in_return(use, value, flow)

    def _in_yield_from(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        for each in self.in_return(use, value, flow):
            yield each._replace(how="yielded") if each.how == "returned" else each

    def _calls_of(self, function: Function) -> list[Op] | None:
        """All calls of a function that nobody else can call; None for others."""
        name = function.name.rpartition(".")[2]
        private = name.startswith("_") and not name.startswith("__")
        if function.outer is None and not private and not self._is_script_function(name):
            return None
        found: list[Op] = []
        for each in self.unit.functions_naming(name):
            found += self._calls_in(each).get(function, ())
        return found or None

    def _calls_in(self, function: Function) -> dict[Function, list[Op]]:
        """The calls of a function, and of those in it, by what of the file they call."""
        if function not in self._calls_by_callee:
            found: dict[Function, list[Op]] = {}
            for each in function.everything():
                for op in each.ops:
                    callee = self.values.callee(op) if op.code == "call" else None
                    if callee is not None:
                        found.setdefault(callee, []).append(op)
            self._calls_by_callee[function] = found
        return self._calls_by_callee[function]

    def _is_script_function(self, name: str) -> bool:
        return False

    def _escape(self, op: Op, how: str, flow: Flow) -> Iterator[Use]:
        """A use out of sight, which looks a dict up by its keys."""
        if flow.text or flow.grouped or not flow.keyed:
            yield Use(op, how)

    # Calls

    def _in_call(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is value or self.is_log(use):
            return
        for name, given in use.arguments():
            if given is value:
                yield from self._argument(use, name, value, flow)
                return

    def is_log(self, call: Op) -> bool:
        """Whether a call tells people something."""
        qualified = self.values.called(call)
        word, owner = word_of(call), _owner_word(call)
        if self.finishing and "builtins.print" in qualified and call.given("file") is None:
            return any(each.loops for each in call.region.around())
        if self.finishing and names.is_progress(owner, word) and _is_dropped(call):
            return True
        if "builtins.print" in qualified or word == "print":
            file = call.given("file")
            if file is not None and not set(self.values.qualified(file)) & {
                "sys.stdout",
                "sys.stderr",
            }:
                return False
        return names.is_log(qualified, owner, word)

    def is_shown(self, op: Op) -> bool:
        """Whether a value only goes into messages and tests, whatever way."""
        seen, pending, told = {op}, [op], False
        while pending:
            for use in pending.pop().uses:
                if use.code == "raise" or (use.code == "call" and self.is_log(use)):
                    told = True
                elif (
                    use.code in _PASSING
                    or use.code == "change"
                    or (use.code == "call" and (_changes(use) or self._passes(use)))
                ):
                    if use not in seen:
                        seen.add(use)
                        pending.append(use)
                elif use.code not in ("test", "compare", "not", "drop"):
                    return False
        return told

    def _passes(self, call: Op) -> bool:
        """Whether a call only makes something of what it is given: ``sorted(x)``, an error."""
        row = self.values.function_row(call)
        if row is not None and row.order is not None:
            return row.order is not Order.READS
        owner = call.args[0].args[0] if call.args[0].code == "attr" else None
        if owner is not None and lattice.may_be(self.values.types(owner), "str"):
            return True
        return bool(call.uses) and all(use.code == "raise" for use in call.uses)

    def _argument(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if keyword is not None and keyword not in ("*", "**") and names.says_little(keyword):
            return
        order = self._order_of(call)
        if order is not None:
            yield from self._modelled(call, keyword, value, flow, order)
        else:
            yield from self._by_name(call, keyword, value, flow)

    def _order_of(self, call: Op) -> Order | None:
        """What a model says of the order of what a call is given."""
        row = self.values.function_row(call)
        if row is not None and row.name == "builtins.print":
            return Order.READS
        if row is None or row.order is None:
            row = self.values.method_row(call)
        return row.order if row is not None else None

    def _by_name(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        word, method = word_of(call), call.args[0].code == "attr"
        updates = word == "update" and keyword is None
        if word == "join" and method:
            yield from self._joined(call, flow)
        elif word in _SET_METHODS or names.removes(word) or updates:
            return
        elif word in ("extend", "extendleft") and method:
            yield from self._extended(call, flow)
        elif names.sorts(word):
            if self._leaves_ties(call):
                yield from self.follow(call, flow)
        elif names.is_bar(word):
            yield from self.follow(call, flow)
        else:
            yield from self._handed_on(call, keyword, value, flow)

    def _extended(self, call: Op, flow: Flow) -> Iterator[Use]:
        for each in call.uses:
            if each.code == "change":
                yield from self.follow(each, flow._replace(filled=True))
                return
        yield Use(call, f"added to {_spoken(call.args[0].args[0])}")

    def _joined(self, call: Op, flow: Flow) -> Iterator[Use]:
        for use in self.follow(call, flow._replace(text=True)):
            yield use._replace(how="joined")

    def _modelled(
        self, call: Op, keyword: str | None, value: Op, flow: Flow, order: Order
    ) -> Iterator[Use]:
        judge = _BY_ORDER.get(order)
        if judge is not None:
            yield from getattr(self, judge)(call, keyword, value, flow)

    def _if_kept(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        numbered = flow.numbered or "builtins.enumerate" in self.values.called(call)
        kept = flow._replace(keyed=flow.keyed and word_of(call) in ("copy", "deepcopy"))
        yield from self.follow(call, kept._replace(numbered=numbered))

    def _if_keyed(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if keyword is None:
            yield from self.follow(call, flow._replace(keyed=True))
        else:
            yield from self._escape(call, "stored", flow)

    def _leaves_ties(self, call: Op) -> bool:
        key = call.given("key")
        return key is not None and leaves_ties(self.values, key)

    def _if_sorted(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if self._leaves_ties(call):
            for use in self.follow(call, flow):
                yield use._replace(how="sorted by a key, which leaves equals as they come")

    def _if_searched(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if self._leaves_ties(call):
            how = f"searched by {word_of(call)}(key=…), which keeps the first of equals"
            yield Use(call, how)

    def _if_joined(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        yield from self._joined(call, flow)

    def _if_added(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if self._adds_floats(value):
            yield Use(call, "added up as floats")

    def _if_picked(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        yield from self._picked(call, value, flow)

    def _if_paired(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if len(call.args) > 2 and not self._pairs_itself(call, value):
            yield from self._paired(call, flow)
        else:
            yield from self.follow(call, flow)

    def _if_read(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        yield Use(call, f"passed to {word_of(call)}()")

    def _paired(self, call: Op, flow: Flow) -> Iterator[Use]:
        sorted_again = [each for each in call.uses if each.code == "call"]
        if sorted_again and all("builtins.sorted" in self.values.called(x) for x in sorted_again):
            return
        yield Use(call, "paired by zip()")

    def _pairs_itself(self, call: Op, value: Op) -> bool:
        """``zip(names, [size_of(name) for name in names])``, ``zip(names, repeat(x))``."""
        others = [each for each in call.args[1:] if each is not value]
        return all(
            self._behind_in_order(each, value)
            or set(self.values.called(each)) & {"itertools.repeat", "itertools.count"}
            for each in others
        )

    def _behind_in_order(self, op: Op, value: Op) -> bool:
        if op.code == "comprehension":
            heads = [each for each in op.args if each.code == "iter"]
            return len(heads) == 1 and (heads[0].args[0] is value)
        return False

    def _adds_floats(self, value: Op) -> bool:
        types = self.values.elements(value)
        return (
            lattice.may_be(types, "float")
            and not lattice.may_be(types, "?")
            and not (lattice.may_be(types, "int") and len(types) > 1)
        )

    def _picked(self, call: Op, value: Op, flow: Flow) -> Iterator[Use]:
        word = word_of(call)
        if word == "next":
            if not (self.holds_one(value, call) or self._only_tested(call)):
                yield Use(call, "cut to its first by next()")
        else:
            yield Use(call, f"passed to {word}()")

    def _only_tested(self, op: Op) -> bool:
        def tests(each: Op) -> bool:
            if each.code in ("test", "not", "drop"):
                return True
            if each.code == "compare":
                return any(other.code == "const" and other.name is None for other in each.args)
            return each.code in ("boolean", "phi") and self._only_tested(each)

        return bool(op.uses) and all(map(tests, op.uses))

    def holds_one(self, value: Op, use: Op) -> bool:
        """Whether a value that one element is taken of holds no other."""
        return self.effects.is_counted_one(value, use)

    def _handed_on(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        """A function that is no library's: of the file, or not seen."""
        function = self.values.callee(call)
        if function is not None and len(self.calls) < _DEEPEST and call not in self.calls:
            yield from self._entered(function, call, keyword, value, flow)
            return
        made = [one for one in self.values.types(call.args[0]) if one.name == "type" and one.of]
        if made:
            function = self.unit.method(made[0].of[1:], "__init__")
            if function is not None and len(self.calls) < _DEEPEST:
                yield from self._entered(function, call, keyword, value, flow)
                return
        if self._only_tested(call) and any(each.code != "drop" for each in call.uses):
            return
        word = word_of(call)
        if call.given("sort_keys") is not None:
            return
        if flow.keyed and word in ("dump", "dumps"):
            yield Use(call, f"passed to {_described(call)}()")
            return
        seems = names.takes_order(word) or keyword == "*" or not self.distinct or flow.filled
        for use in self._escape(call, f"passed to {_described(call)}()", flow):
            yield use._replace(assumed=not seems)

    def _entered(
        self,
        function: Function,
        call: Op,
        keyword: str | None,
        value: Op,
        flow: Flow,
    ) -> Iterator[Use]:
        parameter = parameter_of(function, call, keyword, value)
        if parameter is None:
            yield from self._escape(call, f"passed to {_described(call)}()", flow)
            return
        self.calls.append(call)
        found = surest(self.follow(parameter, flow))
        self.calls.pop()
        if found is not None:
            yield Use(call, f"passed to {_described(call)}()", found.assumed)

    # Methods

    def _in_attr(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        calls = [each for each in use.uses if each.code == "call" and each.args[0] is use]
        for call in calls:
            yield from self._method(call, use, flow)
        if not calls and use.uses and str(use.name) in _OF_ARRAYS:
            yield Use(use, "read into an array")

    def _method(self, call: Op, attribute: Op, flow: Flow) -> Iterator[Use]:
        word = str(attribute.name)
        if flow.text:
            yield from self.follow(call, flow)
            return
        if flow.grouped and word in ("get", "pop", "setdefault"):
            yield from self.follow(call, flow._replace(grouped=False))
            return
        if word in _READS or word in _SET_METHODS or (word in _EXTREMES and len(call.args) == 1):
            return
        if flow.keyed and word not in ("copy", "items", "keys", "popitem", "values"):
            return
        if word in ("copy", "keys", "values", "items", "tolist"):
            yield from self.follow(call, flow._replace(keyed=flow.keyed and word == "copy"))
        elif names.sorts(word):
            return
        elif word in _OF_ARRAYS:
            yield Use(attribute, "read into an array")
        elif word != "pop":
            yield Use(attribute, f"asked for .{word}")
        elif not (self.holds_one(attribute.args[0], call) or self.effects.is_worklist(call)):
            yield Use(attribute, "asked for .pop()")


def _changes(call: Op) -> bool:
    """Whether a call only changes what its method is of: ``shown.append("…")``."""
    codes = {each.code for each in call.uses}
    return "change" in codes and codes <= {"change", "drop"}


def _is_dropped(call: Op) -> bool:
    return bool(call.uses) and all(each.code in ("await", "drop", "change") for each in call.uses)


def surest(uses: Iterable[Use]) -> Use | None:
    """The first use that is seen, else the first that is assumed."""
    assumed = None
    for use in uses:
        if not use.assumed:
            return use
        assumed = assumed or use
    return assumed


def word_of(call: Op) -> str:
    """The last word of what is called."""
    function = call.args[0]
    if function.code in ("attr", "global"):
        return str(function.name)
    return _spoken(function).rpartition(".")[2] or _written(call)


def _written(call: Op) -> str:
    """The last word by which a call names what it calls."""
    import ast

    function = call.node.func if isinstance(call.node, ast.Call) else call.node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _owner_word(call: Op) -> str:
    function = call.args[0]
    if function.code != "attr":
        return ""
    return _spoken(function.args[0]).rpartition(".")[2] or "?"


def _described(call: Op) -> str:
    found = _described_function(call.args[0])
    return found or _written(call) or "a function"


def _described_function(op: Op) -> str:
    """What is called, as a message names it: ``Parallel(…)``, ``readers[…]``, ``load``."""
    if op.code == "call":
        return f"{_described_function(op.args[0]) or 'a function'}(…)"
    if op.code == "item":
        return f"{_described_function(op.args[0]) or 'a list'}[…]"
    return _spoken(op).rpartition(".")[2]


def _spoken(op: Op) -> str:
    """A value as a message names it."""
    import ast

    node = op.node
    if isinstance(node, ast.Call) and op.code != "call":
        node = node.func
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node)
    if op.code == "param":
        return str(op.name[1])
    if isinstance(op.name, str) and op.code in ("global", "free", "phi", "import"):
        return op.name
    return ""


def _is_self(op: Op) -> bool:
    name = op.name[1] if op.code == "param" else op.name
    return op.code in ("param", "free", "global") and name in ("self", "cls")


def _behind(op: Op) -> set[Op]:
    found, pending = {op}, [op]
    while pending:
        for each in pending.pop().args:
            if each not in found and len(found) < 100:
                found.add(each)
                pending.append(each)
    return found


def parameter_of(function: Function, call: Op, keyword: str | None, value: Op) -> Op | None:
    """The parameter that an argument of a call is given for."""
    if keyword is not None:
        return function.params.get(keyword)
    plain = [op for op in function.params.values() if not op.name[0]]
    method = "." in function.name and call.args[0].code == "attr"
    place = 0
    for name, given in call.arguments():
        if name == "*":
            return None
        if given is value:
            break
        place += name is None
    place += 1 if method or function.name.endswith(".__init__") else 0
    return plain[place] if place < len(plain) else None
