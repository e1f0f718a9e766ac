"""What becomes of an order that an attribute or a variable of a module keeps."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from detlint.dataflow.calls import spoken
from detlint.dataflow.orders.use import PLAIN
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Op
    from detlint.dataflow.orders.order import Orders
    from detlint.dataflow.orders.use import Flow, Use


class KeptOrders:
    """Follows it to whoever reads that, in the file and in others."""

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
            yield from self._read_elsewhere(use, f"{owner}.{name}", flow)

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
            yield from self._read_elsewhere(use, name, flow)

    def _read_elsewhere(self, use: Op, part: str, flow: Flow) -> Iterator[Use]:
        """What other files do with a variable, or an attribute of a class."""
        if self._orders.imported is None:
            self._orders.leaves = True
        else:
            yield from self._orders.imported.read(use, part, flow)


def _only_turned(read: Op) -> bool:
    """``self.names.reverse()``, which is no reading."""
    return all(
        (use.code == "attr" and use.name == "reverse") or use.code == "change" for use in read.uses
    ) and all(use.name == "reverse" for use in read.uses)
