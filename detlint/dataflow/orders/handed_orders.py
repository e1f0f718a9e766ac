"""What becomes of an order that a function hands on: an attribute or a variable of a module keeps
it, or the function returns or yields it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import spoken
from detlint.dataflow.orders.use import PLAIN, Use, surest
from detlint.index.imports import code_imports
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.order import Orders
    from detlint.dataflow.orders.use import Flow

# Libraries whose functions yield to a window how far they are.
_WINDOWS = ("gradio", "streamlit")


class HandedOrders:
    """Follows what is kept to whoever reads that, and what is returned to whoever calls the
    function, in the file and in others."""

    def __init__(self, orders: Orders, others: OtherFiles | None) -> None:
        self._orders = orders
        self._others = others

    def in_store_attr(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        owner, held = use.args
        name = str(use.name)
        if held is not value or names.says_little(name):
            return
        if owner.is_self:
            yield from self._in_field(use, name, flow)
        elif not self._sorted_later(use, name):
            yield from self._orders.escape(use, f"assigned to {spoken(owner)}.{name}", flow)

    def reads_field(self, stored: Op) -> bool:
        """Whether the order of a list that is kept in an attribute shows in a method."""
        found = self.in_store_attr(stored, stored.args[1], PLAIN)
        return any(not use.assumed for use in found)

    def _sorted_later(self, use: Op, name: str) -> bool:
        """``found.names = x; found.names.sort()``."""
        return any(
            each.code == "change" and each.name == "sort" and each.place > use.place
            for each in use.args[1].uses
        ) or any(
            each.place > use.place and self._orders.sorts(each.args[1], use.args[1])
            for each in use.function.stores.get(name, ())
        )

    def _in_field(self, use: Op, name: str, flow: Flow) -> Iterator[Use]:
        """What the methods of a class do with an attribute."""
        owner = use.function.class_name
        if self._sorted_later(use, name):
            return
        found = list(self._orders.references.reads_of_field(owner, name))
        reads = [each for each in found if each.uses and not _only_turned(each)]
        asked = re.search(rf"getattr\([^()]*[\"']{name}[\"']", self._orders.unit.text) is not None
        known = bool(reads) or self._orders.references.reads_again(use)
        open_ = not name.startswith("_") or (not known and self._orders.unit.has_unseen_base(owner))
        open_ = open_ and not name.startswith("__") and not self._is_unread(name)
        escapes = (asked or not known) and open_
        if escapes:
            yield from self._orders.escape(use, f"assigned to {spoken(use.args[0])}.{name}", flow)
        for read in (*reads, *self._orders.references.reads_of_objects(owner, name)):
            yield from self._orders.follow(read, flow)
        if flow.keyed or not escapes:
            yield from self._elsewhere(use, flow, f"{owner}.{name}")

    def _is_unread(self, name: str) -> bool:
        """Whether nothing of the project reads an attribute of any object."""
        if self._others is None or self._orders.references.is_read(name):
            return False
        return not self._others.name(self._orders.unit, name)

    def in_store_global(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        name = str(use.name)
        if name == "__all__" or names.says_little(name) or value.code == "import":
            return
        module, references = self._orders.unit.module, self._orders.references
        reads = references.reads_of_global(name)
        inside = [each for each in value.uses if each is not use and each.function is module]
        passing = isinstance(use.node, (ast.For, ast.AsyncFor))  # a loop's own variable
        escapes = not (reads or inside or passing or references.is_for_a_script(name))
        if escapes:
            yield from self._orders.escape(use, f"assigned to {name}", flow)
        if module.bindings.get(name, [value])[
            -1
        ] is not value and not self._orders.references.stays(name, value):
            return  # bound to something else before a function runs
        for read in reads:
            yield from self._orders.follow(read, flow)
        if not passing and (flow.keyed or not escapes):
            yield from self._elsewhere(use, flow, name)

    def _elsewhere(self, use: Op, flow: Flow, part: str = "") -> Iterator[Use]:
        """What other files do with a variable or an attribute of a class, or with what a function
        returns."""
        imported = self._orders.imported
        if imported is None:
            self._orders.leaves = True
        else:
            yield from imported.read(use, part, flow) if part else imported.returned(use, flow)

    def in_return(self, use: Op, _: Op, flow: Flow) -> Iterator[Use]:
        """What becomes of an order that a function returns or yields."""
        function, orders = use.function, self._orders
        if function.node is not None and function.word in names.DESCRIBING:
            return
        entered = orders.calls[-1] if orders.calls else None
        if (
            entered is not None
            and entered.code == "call"
            and orders.values.callee(entered) is function
        ):
            orders.calls.pop()
            orders.goes_back |= not orders.calls
            try:
                yield from orders.follow(entered, flow)
            finally:  # who asks may have heard enough
                orders.calls.append(entered)
        elif function.name == "<lambda>":
            yield from self._in_lambda(function, flow)
        elif not names.says_little(function.word):
            yield from self._given_to_callers(use, flow)

    def _given_to_callers(self, use: Op, flow: Flow) -> Iterator[Use]:
        function, orders = use.function, self._orders
        calls = orders.references.calls_of(function)
        # Of a dict, who calls the function may go through the keys.
        near = calls or (
            orders.references.calls_in_file(function) if calls is None and flow.keyed else ()
        )
        shown = surest(each for call in near for each in orders.follow(call, flow))
        if shown is not None:
            # What the function around returns is for those who call that.
            at = shown.op if function.outer is not None and shown.op.code == "return" else use
            how = shown.further("returned") if orders.distinct else "returned"
            yield Use(at, shown.said(how).how, shown.assumed)
        elif calls is None:
            yield from self._returned(use, function, flow)
            if flow.keyed and not (flow.text or flow.grouped):
                yield from self._elsewhere(use, flow)

    def _returned(self, use: Op, function: Function, flow: Flow) -> Iterator[Use]:
        """What those do who call a function that others may call, too."""
        shown = self._shown_by_calls(function, flow)
        if shown is None or not all(each.is_of_rows or each.assumed for each in shown):
            yield from self._orders.escape(use, "returned", flow)
        elif shown:
            first = surest(shown)
            assert first is not None  # noqa: S101 - there is one
            yield Use(use, first.how, first.assumed)

    def is_unused(self, function: Function, flow: Flow = PLAIN) -> bool:
        """Whether no call in the project has a use for the order of what a function returns."""
        return self._shown_by_calls(function, flow) == []

    def _shown_by_calls(self, function: Function, flow: Flow) -> list[Use] | None:
        imported = self._orders.imported
        return imported.shown_by_calls(function, flow) if imported is not None else None

    def _in_lambda(self, function: Function, flow: Flow) -> Iterator[Use]:
        """What is made of what each call of it gives."""
        outer = function.outer
        for each in outer.everything() if outer is not None else ():
            for op in each.ops:
                if op.code == "call" and self._orders.values.callee(op) is function:
                    yield from self._orders.follow(op, flow)

    def yielded(self, op: Op, flow: Flow) -> Iterator[Use]:
        """The uses of what a generator yields in an order."""
        given = op.args[0] if op.args else op
        yield from (
            self.in_yield(op, given, flow)
            if op.code == "yield"
            else self.in_return(op, given, flow)
        )

    def in_yield(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        text = flow.text or lattice.are(self._orders.values.types(value), "str")
        whole = self._orders.unit.text
        shown = text and any(x in whole and code_imports(whole, x) for x in _WINDOWS)
        for each in self.in_return(use, value, flow):
            yield each._replace(assumed=each.assumed or shown)

    def in_yield_from(self, use: Op, value: Op, flow: Flow) -> Iterator[Use]:
        for each in self.in_return(use, value, flow):
            yield each._replace(how="yielded") if each.how == "returned" else each


def _only_turned(read: Op) -> bool:
    """``self.names.reverse()``, which is no reading."""
    turns = all(use.code in ("attr", "change") for use in read.uses)
    return turns and all(use.name == "reverse" for use in read.uses)
