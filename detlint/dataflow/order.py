"""Where an order that differs from run to run reaches a result.

Followed forwards, from a value that has such an order, through what takes it over, to what shows
it. What sorts, counts or looks things up ends the way.
"""

from __future__ import annotations

import ast
import math
import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import expected, lattice
from detlint.dataflow.calls import described, owner_word, parameter_of, spoken, word_of
from detlint.dataflow.effects import Effects, is_aligned
from detlint.dataflow.keys import leaves_ties, may_tie, takes_second
from detlint.dataflow.use import PLAIN, Flow, Use, surest
from detlint.journal import ended
from detlint.models import names
from detlint.models.model import Order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.values import Values

_DEEPEST = 4  # functions that hand the same order on
_LONGEST_MESSAGE = 60  # operations of which one is made
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
    Order.DRAWS: "_if_drawn",
    Order.READS: "_if_read",
}
_RANKED = "ranked by most_common(), which leaves equals as they come"
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
        "augment",
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
# Libraries whose functions yield to a window how far they are.
_WINDOWS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:gradio|streamlit)\b", re.MULTILINE)
_SCRIPT = re.compile(r"__name__\s*==\s*[\"']__main__[\"']")
_ASSERTING = frozenset(["assertEqual", "assertListEqual", "assertNotEqual", "assertSequenceEqual"])
_POSITIONS = frozenset(["argmax", "argmin", "argsort", "index", "nanargmax", "nanargmin"])
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
        self._names_handed_on: dict[Function, set[str]] = {}
        self._calls_by_callee: dict[Function, dict[Function, list[Op]]] = {}
        self.root: Op | None = None
        self._by_root = False  # whether what the root is decided something
        self.calls: list[Op] = []  # from which the function that is looked at was entered

    def uses(self, value: Op, flow: Flow = PLAIN) -> Iterator[Use]:
        """The places where the order of a value shows."""
        self._begin(value)
        yield from self._whole_search(self.follow(value, flow))

    def uses_at(self, value: Op, use: Op) -> Iterator[Use]:
        """The places where it shows what one operation takes of a value, in its order."""
        self._begin(value)
        method = use.code == "call" and value in use.args[0].args
        judged = self._method(use, use.args[0], PLAIN) if method else self.at(use, value, PLAIN)
        yield from self._whole_search(judged)

    def uses_of_rounds(self, region: Region, elements: set[Op]) -> Iterator[Use]:
        """The places where it shows in which order the rounds of a loop take some elements."""
        self._begin()
        yield from self.effects.of_rounds(region, elements)

    def _begin(self, root: Op | None = None) -> None:
        self._seen, self.calls, self.root = {}, [], root
        self._by_root, self._earliest = False, math.inf

    def _whole_search(self, uses: Iterator[Use]) -> Iterator[Use]:
        """What it went through is not searched again where it ends without finding a use."""
        found = False
        for use in uses:
            found = True
            yield use
        if not (found or self._by_root) and len(self._seen) <= _MOST:
            self._harmless.update(self._seen)

    def first(self, value: Op, flow: Flow) -> Use | None:
        """The first use of a value on the way, in a search of its own."""
        start, before = len(self._seen), self._earliest
        self._earliest = math.inf
        found = next(self.follow(value, flow), None)
        alone = found is None and self._earliest >= start and not self._by_root
        if alone and not self.calls and len(self._seen) <= _MOST:
            self._harmless.update(list(self._seen)[start:])
        self._earliest = min(before, self._earliest)
        return found

    def inner(self, value: Op) -> list[Use]:
        """Where the order of a list shows that a container holds."""
        return [use for use in self.follow(value, PLAIN) if not use.assumed]

    def follow(self, value: Op, flow: Flow) -> Iterator[Use]:
        """The uses of a value on the way."""
        key = value, flow
        if key in self._seen:
            self._earliest = min(self._earliest, self._seen[key])
            return
        if key in self._harmless or len(self._seen) > _MOST:
            if len(self._seen) > _MOST:
                ended(f"function {value.function.name}", f"{_MOST:,} operations behind an order")
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

    def _in_phi(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if not any(self._sorts(each, value) for each in use.args):
            yield from self.follow(use, flow)

    def _sorts(self, op: Op, value: Op) -> bool:
        """Whether one branch sorts a value, so that it is meant to be so where that matters."""
        while op.code in ("slice", "item", "declared") and op.args:
            op = op.args[0]
        if op.code == "change":
            return op.name == "sort" and op.args[0] is value
        if "builtins.sorted" not in self.values.called(op) or op.args[1:2] != [value]:
            return False
        key = op.given("key")
        return key is None or not leaves_ties(self.values, key)

    def _in_free(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        yield from self.follow(use, flow)

    _in_declared = _in_await = _in_enter = _in_free

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
        if self.values.is_set(use) or (flow.keyed and use.name != "BitOr"):
            return
        if use.name in ("Add", "Mult", "Mod") or flow.keyed or self._is_array(value):
            yield from self.follow(use, flow)

    def _is_array(self, value: Op) -> bool:
        return lattice.may_be(self.values.types(value), "array")

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
            frames = [call for made in use.uses for call in made.uses]
            if frames and all("pandas.DataFrame" in self.values.called(x) for x in frames):
                for each in frames:
                    yield from self.follow(each, flow)
                return
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
            elif not (
                names.says_little(word)
                or self.effects.sorts_parts(use, use.place)
                or self.effects.is_unread(container)
            ):
                yield from self._escape(use, f"assigned to {spoken(container)}[…]", flow)

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
            yield from self._escape(use, f"assigned to {spoken(owner)}.{name}", flow)

    def reads_field(self, stored: Op) -> bool:
        """Whether the order of a list that is kept in an attribute shows in a method."""
        found = self._in_store_attr(stored, stored.args[1], PLAIN)
        return any(not use.assumed for use in found)

    def _sorted_later(self, use: Op, name: str) -> bool:
        """``found.names = x; found.names.sort()``."""
        return any(
            each.code == "change" and each.name == "sort" and each.place > use.place
            for each in use.args[1].uses
        ) or any(
            each.place > use.place and self._sorts(each.args[1], use.args[1])
            for each in use.function.stores.get(name, ())
        )

    def _in_field(self, use: Op, name: str, flow: Flow) -> Iterator[Use]:
        """What the methods of a class do with an attribute."""
        owner = use.function.class_name
        if self._sorted_later(use, name):
            return
        found = list(self._reads_of(owner, name))
        reads = [each for each in found if each.uses and not _only_turned(each)]
        asked = re.search(rf"getattr\([^()]*[\"']{name}[\"']", self.unit.text) is not None
        if (asked or not reads) and not name.startswith("_"):
            yield from self._escape(use, f"assigned to {spoken(use.args[0])}.{name}", flow)
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
        passing = isinstance(use.node, (ast.For, ast.AsyncFor))  # a loop's own variable
        if not (reads or inside or passing or self._is_for_a_script(name)):
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
        return name == "_" or (not name.isupper() and self._is_script)

    @cached_property
    def _is_script(self) -> bool:
        """Whether a file does something when it is run."""
        text, module = self.unit.text, self.unit.module
        does = any(op.code == "drop" and op.region is module.region for op in module.ops)
        return does or "__name__ ==" in text or "__name__==" in text

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
        if self.effects.has_one_at_most(made, head) or not depends(made, head):
            return
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
        joined = [each for each in use.uses if self._joins_lists(each)]
        if value not in heads and joined and len(joined) == len(use.uses):
            for each in joined:
                yield from self.follow(each, flow)
        elif value not in heads and use.name != "set":
            yield from self._escape(use, "collected", flow)

    def _joins_lists(self, call: Op) -> bool:
        """``sum(lists, [])``, ``chain.from_iterable(lists)``; ``next(lists)``, which is one."""
        called = self.values.called(call)
        return bool({"itertools.chain.from_iterable", "builtins.next"} & set(called)) or (
            "builtins.sum" in called and len(call.args) == 3 and call.args[2].code == "list"
        )

    def _in_unpack(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        index, count, _, _ = use.name
        if value is self.root and value.code == "call" and self.is_product(value):
            if lattice.may_be(self.values.types(use), "list", "set", "dict", "iterator", "?"):
                yield from self.follow(use, flow)  # any of what a function gives at once
        elif count > 1 and not flow.keyed and index == 0 and not self.is_product(value):
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
        if self._is_asked(use.args[1]) or self._is_found(use.args[1], value):
            return
        loop = self.effects.counting_loop(use.args[1], value)
        if loop is not None:
            yield from self.effects.of_index_loop(loop, value, flow)
        elif not (
            self.effects.goes_along(use.args[1], value)
            or self.holds_one(value, use)
            or self._is_dead(use)
        ):
            yield Use(use, "indexed")

    def _is_dead(self, value: Op) -> bool:
        """Whether nobody reads what a value is bound to."""
        pending, seen = [value], {value}
        while pending:
            for use in pending.pop().uses:
                if use.code == "phi":
                    if use not in seen:
                        seen.add(use)
                        pending.append(use)
                elif use.code != "store_global" or not self._is_unread_global(str(use.name)):
                    return False
        return True

    def _is_unread_global(self, name: str) -> bool:
        return self._is_for_a_script(name) and not self._reads_of_global(name)

    def _is_asked(self, key: Op) -> bool:
        """``names[int(input()) - 1]``: somebody picks among what is shown."""
        pending = [key]
        while pending:
            each = pending.pop()
            if "builtins.input" in self.values.called(each):
                return True
            pending += each.args if each.code in ("call", "binary") else []
        return False

    def _is_found(self, key: Op, value: Op) -> bool:
        """``names[np.argmax(sizes)]``, where ``sizes`` holds something for each of the names."""
        if key.code != "call" or word_of(key) not in _POSITIONS:
            return False
        owner = key.args[0].args[0] if word_of(key) == "index" else None
        over = owner or (key.args[1] if len(key.args) > 1 else None)
        return over is not None and is_aligned(over, value)

    def _finds_only(self, call: Op, value: Op) -> bool:
        """Whether a position is only used to take what stands there."""
        taken = [use for use in call.uses if use.code == "item" and use.args[1] is call]
        return bool(taken) and all(
            use in taken and self._is_found(call, use.args[0]) for use in call.uses
        )

    def _in_slice(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        if use.args[0] is not value or flow.keyed:
            return
        if not any(use.name) or flow.text:
            yield from self.follow(use, flow)
        else:
            yield Use(use, "sliced", assumed=_is_part(use))

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
            try:
                yield from self.follow(call, flow)
            finally:  # who asks may have heard enough
                self.calls.append(call)
            return
        if function.name == "<lambda>":
            yield from self._in_lambda(function, flow)
            return
        if names.says_little(function.name.rpartition(".")[2]):
            return
        calls = self._calls_of(function)
        near = calls if calls is not None or not flow.keyed else self._calls_in_file(function)
        # Of a dict, who calls the function may go through the keys.
        shown = surest(each for call in near or () for each in self.follow(call, flow))
        if shown is not None:
            yield Use(use, "returned", shown.assumed)
        elif calls is None:
            yield from self._escape(use, "returned", flow)

    _in_return = in_return

    def _in_lambda(self, function: Function, flow: Flow) -> Iterator[Use]:
        """What is made of what each call of it gives."""
        outer = function.outer
        for each in outer.everything() if outer is not None else ():
            for op in each.ops:
                if op.code == "call" and self.values.callee(op) is function:
                    yield from self.follow(op, flow)

    def yielded(self, op: Op, flow: Flow) -> Iterator[Use]:
        """The uses of what a generator yields in an order."""
        given = op.args[0] if op.args else op
        yield from (
            self._in_yield(op, given, flow)
            if op.code == "yield"
            else self._in_return(op, given, flow)
        )

    def _in_yield(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        text = flow.text or lattice.are(self.values.types(value), "str")
        shown = text and _WINDOWS.search(self.unit.text) is not None
        for each in self.in_return(use, value, flow):
            yield each._replace(assumed=each.assumed or shown)

    def _in_yield_from(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        for each in self.in_return(use, value, flow):
            yield each._replace(how="yielded") if each.how == "returned" else each

    def _calls_of(self, function: Function) -> list[Op] | None:
        """All calls of a function that nobody else can call; None for others."""
        name = function.name.rpartition(".")[2]
        mangled = "." in function.name and name.startswith("__") and not name.endswith("__")
        private = mangled or (name.startswith("_") and not name.startswith("__"))
        if function.outer is None and not (private or self._is_of_script(function)):
            return None
        naming = self.unit.functions_naming(name)
        if f'"{name}"' in self.unit.text or f"'{name}'" in self.unit.text:
            return None  # looked up by its name
        if any(name in self._handed_on_in(each) for each in naming):
            return None
        found = [op for op in self._calls_in_file(function) if op.function is not function]
        # What a script defines may still be imported, if only a test of it calls the function.
        tried = not private and any(op.function is self.unit.module for op in found)
        return None if tried or not (found or mangled) else found

    def _calls_in_file(self, function: Function) -> list[Op]:
        naming = self.unit.functions_naming(function.name.rpartition(".")[2])
        return [op for each in naming for op in self._calls_in(each).get(function, ())]

    def _is_of_script(self, function: Function) -> bool:
        """Whether it is a plain function of a file that is run."""
        plain = not getattr(function.node, "decorator_list", True)
        return plain and "." not in function.name and self._is_run

    @cached_property
    def _is_run(self) -> bool:
        return _SCRIPT.search(self.unit.text) is not None

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

    def _handed_on_in(self, function: Function) -> set[str]:
        """The names whose values a function hands on, from where they may be called."""
        if function not in self._names_handed_on:
            self._names_handed_on[function] = {
                str(op.name)
                for each in function.everything()
                for op in each.ops
                if op.code in ("attr", "free", "global")
                and any(use.code != "call" or use.args[0] is not op for use in op.uses)
            }
        return self._names_handed_on[function]

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
        word, owner = word_of(call), owner_word(call)
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
        if self._does_something(op) if op.code == "call" else self._is_held(op):
            return False
        seen, pending, told = {op}, [op], False
        while pending:
            if len(seen) > _LONGEST_MESSAGE:
                return False
            for use in pending.pop().uses:
                if use.code == "raise" or (use.code == "call" and self.is_log(use)):
                    told = True
                elif self._hands_on(use):
                    if use not in seen:
                        seen.add(use)
                        pending.append(use)
                elif use.code not in ("test", "compare", "not", "drop"):
                    return False
        return told

    def _does_something(self, call: Op) -> bool:
        """Whether a function that is not seen may do more than to give what is shown."""
        known = self.values.called(call)
        if any(name.startswith("builtins.") for name in known) or self.values.method_row(call):
            return False
        if self.values.function_row(call) is not None or self.values.callee(call) is not None:
            return False
        return not names.describes(word_of(call)) and not any(
            use.code == "raise" for use in call.uses
        )

    def _hands_on(self, use: Op) -> bool:
        """Whether an operation only makes something of what it takes."""
        if use.code == "change":
            return not self._is_held(use)
        if use.code == "call":
            return _changes(use) or self._passes(use)
        return use.code in _PASSING

    def _is_held(self, state: Op) -> bool:
        """Whether an operation changes a container that others hold."""
        return state.code == "change" and self.effects.made(state).code in (
            "attr",
            "free",
            "global",
            "param",
        )

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
        if row is not None and row.unless and self._is_given(call, row.unless):
            return Order.READS
        if row is None or row.order is None:
            row = self.values.method_row(call)
        return row.order if row is not None else None

    def _by_name(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        word, method = word_of(call), call.args[0].code == "attr"
        updates = word == "update" and keyword is None
        if word in _POSITIONS and self._finds_only(call, value):
            return
        if word in _ASSERTING and len(call.args) > 2:
            yield from self._asserted(call, value, flow)
        elif word == "join" and method:
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

    @staticmethod
    def _is_given(call: Op, unless: str) -> bool:
        keyword, _, text = unless.partition("=")
        given = call.given(keyword)
        return given is not None and given.name == text

    def _asserted(self, call: Op, value: Op, flow: Flow) -> Iterator[Use]:
        other = call.args[2] if call.args[1] is value else call.args[1]
        if not self._has_one_order(other):
            yield from self._escape(call, f"passed to {word_of(call)}()", flow)

    def _extended(self, call: Op, flow: Flow) -> Iterator[Use]:
        for each in call.uses:
            if each.code == "change":
                yield from self.follow(each, flow._replace(filled=True))
                return
        yield Use(call, f"added to {spoken(call.args[0].args[0])}")

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
        if self._leaves_ties(call) or self._ranks_counts(call, value):
            for use in self.follow(call, flow):
                yield use._replace(how="sorted by a key, which leaves equals as they come")

    def _ranks_counts(self, call: Op, value: Op) -> bool:
        """``sorted(counts.items(), key=lambda item: -item[1])``: many are as frequent."""
        items = value.code == "call" and value.args[0].code == "attr"
        if not items or value.args[0].name != "items" or not takes_second(self.values, call):
            return False
        return self.effects.counted(value.args[0].args[0])

    def _if_searched(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        key = call.given("key")
        ties = self._leaves_ties(call)
        if ties or (key is not None and not self.distinct and may_tie(self.values, key)):
            how = f"searched by {word_of(call)}(key=…), which keeps the first of equals"
            yield Use(call, how, assumed=not ties)

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

    def _if_drawn(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        if word_of(call) == "shuffle" and _is_local(value):
            later = [use for use in dict.fromkeys(value.uses) if use.place > call.place]
            if not any(True for use in later for _ in self.at(use, value, flow)):
                return
        yield Use(call, f"passed to {word_of(call)}()")

    def _if_read(self, call: Op, _: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        yield Use(call, f"passed to {word_of(call)}()")

    def _paired(self, call: Op, flow: Flow) -> Iterator[Use]:
        sorted_again = [each for each in call.uses if each.code == "call"]
        if sorted_again and all("builtins.sorted" in self.values.called(x) for x in sorted_again):
            return
        yield Use(call, "paired by zip()")

    def _pairs_itself(self, call: Op, value: Op) -> bool:
        """``zip(names, [size_of(name) for name in names])``, ``zip(names, repeat(x))``."""
        given = [each for name, each in call.arguments() if name is None]
        others = [each for each in given if each is not value]
        if len(others) < len(given) - 1:
            return not lattice.may_be(self.values.types(value), "iterator")  # its neighbours
        return all(
            is_aligned(each, value)
            or set(self.values.called(each)) & {"itertools.repeat", "itertools.count"}
            for each in others
        )

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
            dropped = all(each.code == "drop" for each in call.uses)
            if not (dropped or self.holds_one(value, call) or self._only_tested(call)):
                yield Use(call, "cut to its first by next()")
        else:
            yield Use(call, f"passed to {word}()")

    def _only_tested(self, op: Op) -> bool:
        def tests(each: Op) -> bool:
            if each.code in ("test", "not"):
                return True
            if each.code == "compare":
                return any(other.code == "const" and other.name is None for other in each.args)
            return each.code in ("boolean", "phi") and self._only_tested(each)

        used = [each for each in op.uses if each.code != "drop"]
        return bool(used) and all(map(tests, used))

    def holds_one(self, value: Op, use: Op) -> bool:
        """Whether a value that one element is taken of holds no other, or is not to."""
        if self.effects.is_counted_one(value, use):
            return True
        root = self.root
        if self.distinct or self.finishing or root is None:
            return False
        self._by_root = True
        if expected.seeks_one(self.values, root) or expected.asks_kind(self.values, use):
            return True
        return _takes_end(use) and expected.expects_one(self.values, root)

    def _handed_on(self, call: Op, keyword: str | None, value: Op, flow: Flow) -> Iterator[Use]:
        """A function that is no library's: of the file, or not seen."""
        function = self.values.callee(call)
        if function is not None and len(self.calls) < _DEEPEST and call not in self.calls:
            yield from self._entered(function, call, keyword, value, flow)
            return
        made = [one for one in self.values.types(call.args[0]) if one.name == "type" and one.of]
        function = self.unit.method(made[0].of[1:], "__init__") if made else None
        if function is not None and len(self.calls) < _DEEPEST:
            yield from self._entered(function, call, keyword, value, flow)
        elif not self._only_tested(call):
            left = self.effects.applied(call, value)
            if left is None:
                yield from self._given(call, keyword, flow)
            elif left:
                yield Use(call, f"passed to {described(call)}()")
            else:
                yield from self.follow(call, flow)

    def _given(self, call: Op, keyword: str | None, flow: Flow) -> Iterator[Use]:
        """What a function out of sight does with an order, as its name says it."""
        word = word_of(call)
        if call.given("sort_keys") is not None:
            return
        if flow.keyed and word in ("dump", "dumps"):
            # What is kept of files is mostly looked up by their names.
            yield Use(call, f"passed to {described(call)}()", assumed=not self.distinct)
            return
        if not self.distinct and self._is_filter(call) and not list(self.follow(call, flow)):
            return
        seems = names.takes_order(word) or keyword == "*" or not self.distinct or flow.filled
        for use in self._escape(call, f"passed to {described(call)}()", flow):
            yield use._replace(assumed=not seems)

    def _is_filter(self, call: Op) -> bool:
        """Whether a function gives back what seems to be some of what it gets: ``keep_images``."""
        used = any(not (use.code == "call" and self.is_log(use)) for use in call.uses)
        return used and names.filters(word_of(call))

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
            yield from self._escape(call, f"passed to {described(call)}()", flow)
            return
        self.calls.append(call)
        found = surest(self.follow(parameter, flow))
        self.calls.pop()
        if found is not None:
            # Of a set, what is handed on once more may be asked for its elements alone.
            guessed = self.distinct and found.how.startswith("passed to ")
            yield Use(call, f"passed to {described(call)}()", found.assumed or guessed)

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
        if self._ends(word, call, attribute.args[0]):
            return
        if flow.keyed and word not in ("copy", "items", "keys", "popitem", "values"):
            ranked = self.follow(call, PLAIN) if word == "most_common" else ()
            yield from (use._replace(how=_RANKED) for use in ranked)
            return
        if word in ("copy", "keys", "values", "items", "tolist"):
            yield from self.follow(call, flow._replace(keyed=flow.keyed and word == "copy"))
        elif word in _OF_ARRAYS:
            yield Use(attribute, "read into an array")
        elif word != "pop":
            yield Use(attribute, f"asked for .{word}")
        elif not (self.holds_one(attribute.args[0], call) or self.effects.is_worklist(call)):
            yield Use(attribute, "asked for .pop()")

    def _ends(self, word: str, call: Op, value: Op) -> bool:
        """Whether a method sorts, looks up or counts."""
        if word in _READS or word in _SET_METHODS or names.sorts(word):
            return True
        if word == "index":
            return self._finds_only(call, value)
        return word in _EXTREMES and len(call.args) == 1


def _changes(call: Op) -> bool:
    """Whether a call only changes what its method is of: ``shown.append("…")``."""
    codes = {each.code for each in call.uses}
    return "change" in codes and codes <= {"change", "drop"}


def _is_dropped(call: Op) -> bool:
    return bool(call.uses) and all(each.code in ("await", "drop", "change") for each in call.uses)


def _only_turned(read: Op) -> bool:
    """``self.names.reverse()``, which is no reading."""
    return all(
        (use.code == "attr" and use.name == "reverse") or use.code == "change" for use in read.uses
    ) and all(use.name == "reverse" for use in read.uses)


def _is_part(use: Op) -> bool:
    """``[names[i : i + n] for i in range(0, len(names), n)]``: all of it, in parts."""
    head = use.args[1] if len(use.args) > 1 else None
    over = head.args[0] if head is not None and head.code == "iter" else None
    return over is not None and over.code == "call" and word_of(over) == "range"


def _is_local(value: Op) -> bool:
    """Whether nobody but the function itself has a value."""
    return value.code in ("call", "comprehension", "list")


def depends(made: Op, head: Op) -> bool:
    """Whether what a comprehension collects is made of its element."""
    pending, seen = list(made.args[:2] if made.name == "dict" else made.args[:1]), set()
    while pending:
        each = pending.pop()
        if each is head or each.code in ("function", "await"):
            return True
        if each not in seen and each.within(head.region):
            seen.add(each)
            pending += each.args
    return False


def _takes_end(use: Op) -> bool:
    """``x[0]``, ``x[-1]``, ``next(x)``."""
    if use.code != "item":
        return True
    key = use.args[1]
    value = key.args[0].name if key.code == "unary" else key.name if key.code == "const" else None
    return value in (0, 1) and (value == 0 or key.code == "unary")


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
