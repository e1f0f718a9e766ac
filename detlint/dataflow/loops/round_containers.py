"""What the rounds of a loop add to lists, dicts and sets that were there before."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import is_empty, looked_up_in, word_of
from detlint.dataflow.loops.rounds import Judge, is_same, looped, numbered, refuses
from detlint.dataflow.orders.use import Flow, Use, first_of
from detlint.dataflow.path_conditions import decided, implies
from detlint.dataflow.slices import closure, states_before
from detlint.models import files, names
from detlint.models.containers import ADDING, COMMUTING, PICKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.loops.groups import Holder

_GROUPS, _KEYS = Flow(filled=True).held, Flow(filled=True, keyed=True)
_HELD = _KEYS.held
_COUNTING = frozenset(("builtins.bool", "builtins.len"))
_TESTS = (("In",), ("NotIn",), ("Is",), ("IsNot",))
_EMPTY = ("const", "dict", "list")  # how what is filled is written out


class Containers(Judge):
    """Judges what a round puts into containers."""

    def on_change(self, op: Op) -> Iterator[Use]:
        owner, call = op.args
        if self._effects.is_unread(owner):
            return
        if self._holds_group(owner):
            if op.name in ADDING:
                yield from self._grouped(op, owner, call.args[1:], _GROUPS)
            elif op.name == "update" and self._may_be_dict(owner):
                yield from self._grouped(op, owner, call.args[1:], _HELD)
            return
        if self._effects.made(owner) in self._round.own or not self._round.outlives(owner):
            return
        varies = any(each in self._round.own for each in call.args[1:])
        if op.name in COMMUTING:
            if varies and (self._round.stops or (op.name == "add" and self._adds_in_order(owner))):
                yield from looped(op)
            elif varies and self._round.is_chosen(op):
                yield from numbered(op)
        elif varies or any(each in self._round.counters for each in call.args[1:]):
            yield from self._changed(op, owner, call)

    def _changed(self, op: Op, owner: Op, call: Op) -> Iterator[Use]:
        if op.name == "put" and len(call.args) > 2 and self._round.is_place(call.args[2]):
            return  # to a place of its own
        if op.name in ADDING:
            yield from self._added(op, owner)
        elif op.name == "update":
            yield from self._updated(op, owner, call)
        elif op.name == "setdefault":
            if self._round.of_place(call.args[2:]):
                yield from numbered(op)
            elif len(call.args) > 2 and self._keeps_one(owner, *call.args[1:3]):
                yield from looped(op)
            else:
                yield from self._filled(op)

    def _adds_in_order(self, owner: Op) -> bool:
        made = self._effects.made(owner)
        made = self._effects.made(made.args[0]) if made.code == "enter" else made
        return any(name.startswith(files.HASHES) for name in self._values.called(made))

    def _updated(self, op: Op, owner: Op, call: Op) -> Iterator[Use]:
        commutes = lattice.are(self._values.types(owner), "set") and not self._round.stops
        if commutes or self._round.is_unique_match(op):
            return
        if self._adds_in_order(owner):
            yield from looped(op, assumed=self._orders.messages.is_compared(owner))
        elif self._has_same_keys(call):
            yield from looped(op)
        else:
            yield from self._filled(op)

    def _has_same_keys(self, call: Op) -> bool:
        """``options.update(json.load(file))``: the last of equal keys stays."""
        given = call.args[1] if len(call.args) == 2 else None
        if given is None:
            return False
        if given.code == "dict":
            pairs = given.entries
            return any(key.code == "const" and value in self._round.own for key, value in pairs)
        if "builtins.dict" in self._values.called(given):
            given = given.args[1] if len(given.args) == 2 else given
            return given.code == "call" and not self._values.called(given)
        return any(name.startswith(files.SETTINGS) for name in self._values.called(given))

    def _added(self, op: Op, owner: Op) -> Iterator[Use]:
        placed = self._round.of_place(op.args[1].args[1:])
        if not placed and self._round.is_for_one(op):
            return
        if not self._round.own.isdisjoint(placed):
            yield from numbered(op)  # ``found.append((name, len(found)))``
        elif self._round.stops or owner.code in ("item", "call"):
            yield from looped(op)
        else:
            yield from self._kept(op, keyed=False)

    def _holds_group(self, owner: Op) -> bool:
        """``groups[key]``, ``groups.setdefault(key, [])``, of a dict that was there before."""
        table = _table(owner)
        return table is not None and self._round.outlives(table)

    def _may_be_dict(self, owner: Op) -> bool:
        return lattice.may_be(self._values.types(owner), "dict")

    def _grouped(self, op: Op, owner: Op, values: Sequence[Op], flow: Flow) -> Iterator[Use]:
        """What becomes of lists or dicts in a dict, to one of which an operation adds values."""
        if not any(each in self._round.own or each in self._round.counters for each in values):
            return
        table = _table(owner)
        assert table is not None  # noqa: S101 - what `_holds_group` says
        flow = flow._replace(named=not flow.keyed and self._has_column_of_names(table))
        if self._round.stops:
            yield from looped(op)
        elif self._is_of_job(owner):
            return
        elif owner.code != "item" or not self._is_of_element(owner):
            yield from self._of_groups(op, *self._outermost(owner, table, flow))
        elif not self._has_own_lists(table):
            yield from self._of_keys(table, flow)

    def _has_column_of_names(self, table: Op) -> bool:
        """``table["path"].append(path)``, beside other columns, of each file of a listing."""
        made = self._effects.made(table)
        added = [x.args[1] for x in self._round.ops if x.code == "change" and x.name == "append"]
        columns = {}
        for call in added:
            held = call.args[0].args[0] if call.args[0].code == "attr" else call
            if (
                held.code == "item"
                and held.args[1].text
                and self._effects.made(held.args[0]) is made
            ):
                columns[held.args[1].text] = call.args[1:]
        return len(columns) > 1 and any(map(self._round.is_name_of_file, columns.values()))

    def _outermost(self, owner: Op, table: Op, flow: Flow) -> tuple[Op, Flow]:
        """``data["train"]["names"]``: the dict that holds the others, and what is followed of it;
        not past a dict of one element, to which no other round adds."""
        outer = _table(table)
        while not (outer is None or self._is_of_element(owner) or self._is_of_element(table)):
            owner, table, flow = table, outer, flow.held
            outer = _table(table)
        return table, flow

    def _is_of_element(self, held: Op) -> bool:
        return not self._round.elements.isdisjoint(held.args[1:])

    def _of_keys(self, table: Op, held: Flow) -> Iterator[Use]:
        """What is done with a dict to which rounds add a key each, but for looking keys up."""
        for each, value in self._effects.holders.of(table).reads:
            if each.place < self._round.region.end or each.code == "item":
                continue
            if each.code == "attr" and each.name in PICKING:
                continue
            for flow in (_KEYS, held):
                for use in self._orders.at(each, value, flow):
                    yield Use(use.op, "looped over", use.assumed)
                    return

    def _of_groups(self, op: Op, table: Op, flow: Flow) -> Iterator[Use]:
        """What is done with the lists or dicts in a dict, to which an operation adds."""
        if self._is_sorted_later(op):
            return
        holder = self._effects.holders.of(table)
        is_sorted = holder.sorted_at >= self._round.region.end
        if is_sorted and not self._grows(table):
            return
        # Where the lists are sorted, the keys still stand in the order in which they were met.
        found = self._read_from(holder, _KEYS if is_sorted else flow)
        if found is not None:
            yield found.said("looped over")
        elif not (is_sorted or flow.keyed) and any(
            each.code in ("attr", "param") for each in holder.states
        ):
            yield from looped(op)

    def _is_sorted_later(self, op: Op) -> bool:
        """``groups["a"].sort()`` after a loop that adds to ``groups["a"]``, and to no other."""
        group, end = self._group(op), self._round.region.end
        if group is None or not end:
            return False
        changes = (x for code in ("change", "store_item") for x in op.function.coded(code))
        return any(
            each.place >= end and _sorts(each) and self._group(each) == group for each in changes
        )

    def _group(self, op: Op) -> tuple[object, ...] | None:
        """``groups["a"]`` of an operation that changes or sets it: what that is looked up in, and
        the keys; None where one is not written out."""
        keys = [op.args[1]] if op.code == "store_item" else []
        owner = op.args[0]
        while owner.code == "item":
            keys.append(owner.args[1])
            owner = owner.args[0]
        if any(each.code != "const" for each in keys):
            return None
        return self._effects.made(owner), *(each.name for each in keys)

    def _read_from(self, holder: Holder, flow: Flow) -> Use | None:
        """The first use of a container after the loop."""
        end = self._round.region.end
        found = None
        start = bisect_left(holder.reads, end, key=lambda each: each[0].place)
        for each, value in islice(holder.reads, start, None):
            if each.place >= holder.silent_from.get(flow, math.inf):
                return found
            use = first_of(self._orders.at(each, value, flow))
            if use is not None and not self._orders.messages.is_shown(use.op):
                if not use.is_of_rows:
                    return use
                found = found or use
        if found is None and not self._orders.calls:
            holder.silent_from[flow] = min(holder.silent_from.get(flow, math.inf), end)
        return found

    def _is_of_job(self, owner: Op) -> bool:
        """``found[index_of[future]]``: what finishes was one job."""
        key = owner.args[1] if self._orders.finishing and owner.code == "item" else None
        return key is not None and self._round.is_alone(key)

    def _has_own_lists(self, table: Op) -> bool:
        """``{"a": [], "b": []}``, one for each key."""
        made = self._effects.made(table)
        if made.code == "comprehension":
            return made.name == "dict" and made.args[1].code in _EMPTY
        if made.code != "dict" or not made.args:
            return False
        held = [value for _, value in made.entries]
        own = all(each.code in _EMPTY for each in held)
        return own and len(set(held)) == len(made.args)

    def _kept(self, op: Op, *, keyed: bool) -> Iterator[Use]:
        """What is done with a container that the loop filled."""
        whole = not keyed and is_empty(self._effects.made(op)) and self._adds_whole(op)
        row = op.args[1].args[1:] if op.name in ("append", "extend") else ()
        row = op.args[2:] if op.code == "store_item" else row
        named = bool(row) and self._round.names_files(*row)
        flow = Flow(keyed=keyed, filled=True, whole=whole, named=named)
        before = self._orders.first(op, flow)
        if before is not None:
            yield before.said("looped over")
        elif keyed:
            yield from self._read_as_field(op)
        elif self._effects.escapes(op):
            yield Use(op, "looped over")

    def _adds_whole(self, op: Op) -> bool:
        """Whether a list gets whole numbers, of which the sum is the same in any order: now, and
        before the loop."""
        return all(
            each.code in ("list", "phi")
            or (each is not op and each.within(self._round.region))
            or (each.name == "append" and self._values.is_whole(each.args[1].args[1]))
            for each in closure([op], states_before)
            if each.code != "call"
        )

    def _read_as_field(self, op: Op) -> Iterator[Use]:
        """What the methods of a class do with a dict that the loop fills in an attribute."""
        made = self._effects.made(op.args[0])
        kept = [made] if made.code == "attr" else [x for x in made.uses if x.code == "store_attr"]
        for each in kept:
            kind, name = each.function.class_name, str(each.name)
            if not each.args[0].is_self or not self._begins_empty(kind, name):
                continue
            for read in self._orders.references.reads_of_field(kind, name):
                inside = read.within(self._round.region)
                found = None if inside else self._orders.first(read, _KEYS)
                if found is not None:
                    yield Use(found.op, "looped over", found.assumed)
                    return

    def _begins_empty(self, kind: str, name: str) -> bool:
        """Whether a class gives an attribute nothing but dicts without keys."""
        stored = self._values.unit.stored(kind, name)
        given = {self._effects.made(x.args[1]) for x in stored if x.code == "store_attr"}
        return bool(given) and all(map(is_empty, given))

    def _filled(self, op: Op) -> Iterator[Use]:
        if self._round.stops:
            yield from looped(op)
        elif self._grows(op.args[0]):
            yield from self._kept(op, keyed=True)

    def _grows(self, container: Op) -> bool:
        """Whether a dict takes new keys: what is there already keeps its place."""
        container = self._effects.made(container)
        if container.code == "dict":
            return not container.args
        if container.code == "comprehension" or lattice.are(
            self._values.types(container), "list", "array"
        ):
            return False
        return word_of(container) not in ("copy", "deepcopy", "state_dict", "fromkeys")

    def on_store_item(self, op: Op) -> Iterator[Use]:
        container, key, value = op.args
        if value.code != "augment" and self._effects.is_unread(container):
            return
        if (
            container in self._round.own
            and value in self._round.counters
            and container.code != "phi"
        ):
            yield from numbered(op)
        grows = key in self._round.own and self._may_be_dict(container)
        if grows and self._holds_group(container):
            yield from self._grouped(op, container, (key, value), _HELD)
        elif self._effects.made(container) not in self._round.own and self._round.outlives(
            container
        ):
            yield from self._stored(op)

    def _stored(self, op: Op) -> Iterator[Use]:
        container, key, value = op.args
        if key.code == "range" and value in self._round.own and container not in self._round.own:
            yield from looped(op)
            return
        chosen = self._round.of_place([value]) or self._round.is_chosen(op)
        if key in self._round.counters or (chosen and key in self._round.own):
            yield from numbered(op)
        elif key not in self._round.own:
            if value.code == "augment" and self._adds_in_any_order(value):
                return
            if value in self._round.own and not (
                self._round.is_unique_match(op) or self._is_searched(key, op)
            ):
                yield from looped(op, assumed=self._effects.is_unread(container))
        elif self._adds_to_group(value, key):
            yield from self._of_groups(op, container, _GROUPS)
        elif self._is_first(op, key) and self._keeps_one(container, key, value):
            yield from looped(op)
        else:
            yield from self._filled(op)
            if self._round.may_meet_again(key, value) and self._keeps_one(container, key, value):
                yield from looped(op, assumed=True)  # the last stays

    def _is_first(self, op: Op, key: Op) -> bool:
        """Whether a dict keeps the first of equal keys: ``if key not in found: found[key] = x``,
        and never another one."""
        container = self._effects.made(op.args[0])
        for each in self._round.ops:
            changes = each.code in ("change", "delete", "store_item") and each is not op
            if changes and self._effects.made(_table(each.args[0]) or each.args[0]) is container:
                return False
        return self._is_lacking(op, key, container)

    def keeps_first(self, call: Op) -> bool:
        """The same of what a method puts there: ``if key not in file: file.create_dataset(key,
        data=x)``."""
        if call.args[0].code != "attr":
            return False
        container, given = self._effects.made(call.args[0].args[0]), call.args[1:]
        return any(
            self._is_lacking(call, key, container)
            and self._round.is_cut(key)
            and any(self._round.tells_more(each, key) for each in given if each is not key)
            for key in given
            if key in self._round.own
        )

    def _is_lacking(self, op: Op, key: Op, container: Op) -> bool:
        """Whether an operation only runs where a container has no such key yet."""
        lacks = partial(self._lacks, key, container)
        told = ((test, implies(test, lacks, holds=holds)) for test, holds in decided(op))
        return any(says and not refuses(test) for test, says in told)

    def _lacks(self, key: Op, container: Op, test: Op, /, *, holds: bool) -> bool:
        """Whether a condition that holds, or does not, says that a dict has no such key."""
        if test.code == "call":  # `if not found.get(key)`
            return not holds and self._looks_up(test, key, container)
        if test.code != "compare" or test.name not in _TESTS:
            return False
        if test.args[1].is_none:
            sought = self._looks_up(test.args[0], key, container)
            return sought and (test.name == ("Is",)) == holds
        keys = test.args[1]
        if keys.code == "call" and word_of(keys) == "keys" and keys.args[0].code == "attr":
            keys = keys.args[0].args[0]
        asked = is_same(test.args[0], key) and self._effects.made(keys) is container
        return asked and (test.name == ("NotIn",)) == holds

    def _looks_up(self, call: Op, key: Op, container: Op) -> bool:
        """Whether a call is ``found.get(key)`` of a dict."""
        owner, asked = looked_up_in(call)
        if owner is None or asked is None or call.code == "item" or len(call.args) != 2:
            return False
        return is_same(asked, key) and self._effects.made(owner) is container

    def _keeps_one(self, container: Op, key: Op, value: Op) -> bool:
        """Whether several elements may have a key, of which one is kept that something reads."""
        return (
            self._round.is_cut(key)
            and self._round.tells_more(value, key)
            and self._effects.reads_held(container)
        )

    def _is_searched(self, key: Op, op: Op) -> bool:
        """Whether a key is what a search in the round stopped at, or passed."""
        inside = key.code == "iter" and key.within(self._round.region)
        return inside and not op.within(key.region)

    def _adds_to_group(self, value: Op, key: Op) -> bool:
        """``groups[path.parent] += [path]``: several elements may have the key."""
        return (
            value.code == "augment"
            and key not in self._round.elements
            and lattice.may_be(self._values.types(value.args[1]), "list", "str", "float")
        )


def _sorts(op: Op) -> bool:
    """``names.sort()``, ``groups["a"] = sorted(…)``."""
    return op.name == "sort" if op.code == "change" else names.sorts(word_of(op.args[2]))


def _table(owner: Op) -> Op | None:
    """The dict that a list is looked up in."""
    if owner.code == "item":
        return owner.args[0]
    if owner.code == "call" and word_of(owner) in ("setdefault", "get") and len(owner.args) > 1:
        return owner.args[0].args[0] if owner.args[0].code == "attr" else None
    return None
