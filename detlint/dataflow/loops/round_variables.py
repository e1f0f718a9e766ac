"""What the rounds of a loop leave in variables and attributes, return, yield or number."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import word_of
from detlint.dataflow.loops.rounds import OF_BITS, Judge, looped, numbered
from detlint.dataflow.orders.use import Flow, Use
from detlint.dataflow.slices import closure, readers
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Op

# Containers as they are changed, judged as such.
_STATES = frozenset(("augment", "change", "comprehension", "delete", "iter", "store_item"))
_MADE = frozenset(("augment", "comprehension", "iter"))
# What keeps a round's number, and shows it to nobody.
_KEEPING = frozenset(("augment", "change", "phi", "store_global", "store_item"))


class Variables(Judge):
    """Judges what a round leaves to the next one, and to the code after the loop."""

    def on_return(self, op: Op) -> Iterator[Use]:
        if self._round.calls:
            return  # what a call gives is judged where it is called
        kept = op.args[0] in self._round.own and not self._round.is_unique_match(op)
        if kept and not self._orders.handed.is_unused(op.function):
            yield from looped(op, assumed=self._round.seems_match(op))

    def on_yield(self, op: Op) -> Iterator[Use]:
        if not self._round.calls and not (self._round.own | self._round.counters).isdisjoint(
            op.args
        ):
            yield from self._orders.handed.yielded(op, self._round.flow._replace(numbered=False))

    on_yield_from = on_yield

    def on_store_attr(self, op: Op) -> Iterator[Use]:
        owner, value = op.args
        if (
            owner in self._round.own
            or value not in self._round.own
            or not self._round.outlives(owner)
        ):
            return
        if value.code == "augment":
            if not self._adds_in_any_order(value):
                yield from looped(value)
        elif not (self._has_no_order(value) or self._is_left_last(op)):
            yield from looped(op)

    def _is_left_last(self, stored: Op) -> bool:
        """Whether each round of a script's loop gives a variable of a module another value, and
        the script ends with the loop."""
        region, function = self._round.region, stored.function
        module = function is self._values.unit.module and bool(
            self._values.qualified(stored.args[0])
        )
        if not module or stored.region is not region or self._round.calls:
            return False
        before = function.ops[region.start : stored.place]
        read = any(x.code == "attr" and x.name == stored.name for x in before)
        rest = (each for each in function.ops[region.end :] if each.place > stored.place)
        return not read and not any(each.code in ("attr", "call") for each in rest)

    def on_store_global(self, op: Op) -> Iterator[Use]:
        if op.args[0] in self._round.own and op.function is not self._values.unit.module:
            yield from looped(op)

    def on_phi(self, joint: Op) -> Iterator[Use]:
        if not self._round.is_joint(joint):
            return
        for given in joint.args[1:]:
            for value in self._leaves(given):
                yield from self._carried(joint, value)

    def _leaves(self, op: Op) -> Iterator[Op]:
        """What the branches of a round may make of a variable, its own state left out."""
        for each in closure([op], lambda op: op.args if self._is_branched(op) else ()):
            made = each.code in _MADE or not self._is_old_state(each)
            if made and not self._is_branched(each) and self._is_of_round(each):
                yield each

    def _is_of_round(self, op: Op) -> bool:
        return op.within(self._round.region) and not self._round.is_joint(op)

    def _is_branched(self, op: Op) -> bool:
        return op.code == "phi" and self._is_of_round(op)

    def _carried(self, joint: Op, value: Op) -> Iterator[Use]:
        """A variable that the next round, or what comes after the loop, reads."""
        if value.code == "augment" and _carries(value, joint):
            yield from self._accumulated(joint, value)
            return
        kept = value in self._round.own and self._effects.is_read(joint, value)
        if kept and not self._has_no_order(value):
            yield from self._left(value, joint)

    def _is_ranked(self, held: Op) -> bool:
        """Whether what a variable holds at last is sorted before anything else reads it, so that no
        more than equals stay as they come: ``counts = counts.sort("number")``."""
        end = self._round.region.end
        after = [each for each in readers(held) if each.place >= end]
        read = [each for each in after if each.code != "store_global"]
        sorts = (x.code in ("attr", "change") and names.sorts(str(x.name)) for x in read)
        return bool(read) and all(sorts)

    def left_behind(self) -> Iterator[Use]:
        """What the round that ends the loop, or the last one, leaves in a variable."""
        yield from self._element_left()
        for op in self._round.ops:
            if op not in self._round.own or self._round.is_joint(op) or self._is_old_state(op):
                continue
            outside = [use for use in op.uses if not use.within(self._round.region)]
            if not any(self._effects.reads(use, op) for use in outside):
                continue
            for value in self._leaves(op):
                kept = value in self._round.own and not self._is_old_state(value)
                if kept and not self._has_no_order(value):
                    yield from self._left(value, op)

    def _left(self, value: Op, held: Op) -> Iterator[Use]:
        """What a round leaves in a variable, which holds it at last."""
        rows = value.args[1:] if word_of(value) in ("append", "concat") else ()
        named = self._round.names_files(*_without(held, rows))
        found = self._orders.first(value, Flow(filled=True, named=True)) if named else None
        if found is not None and found.is_of_rows:
            yield found
        else:
            sought = self._round.seems_match(value) or self._is_ranked(held)
            yield from looped(value, assumed=sought)

    def _element_left(self) -> Iterator[Use]:
        """``for path in paths: …``, then ``path``: the last one, or that at which it stopped."""
        head = self._round.region.head
        if head is None or head not in self._round.elements or head.code != "iter":
            return
        stops = [each for each in self._round.ops if self._round.breaks(each)]
        # A loop that keeps one under another name, and stops, seeks that.
        sought = len(set(head.function.names_of(head))) > 1
        if stops and (sought or all(map(self._round.is_unique_match, stops))):
            return
        for use in head.uses:
            outside = not use.within(self._round.region)
            if outside and not _is_given_anew(use) and self._effects.reads(use, head):
                yield from looped(use)

    def _is_old_state(self, op: Op) -> bool:
        """Whether it is the state of a container or number that was there before the round."""
        if op.code in ("augment", "change", "store_item"):
            return self._round.outlives(op.args[0])
        return op.code in _STATES

    def _has_no_order(self, value: Op) -> bool:
        """Whether the same is kept whatever the order: the one element that a test asks for, the
        largest, a union."""
        if self._joins(value) or self._round.is_unique_match(value):
            return True
        return self._is_extreme() or self._is_first_of_joined(value)

    def _is_first_of_joined(self, value: Op) -> bool:
        """``last = max(last, time) if last is not None else time``"""
        asks = any(
            op.code == "compare"
            and op.name in (("Is",), ("IsNot",))
            and any(map(self._is_from_before, op.args))
            for op in self._round.ops
        )
        return asks and any(
            op.code == "call" and self._joins(op) and (value in op.args or op in value.args)
            for op in self._round.ops
        )

    def _joins(self, value: Op) -> bool:
        """Whether what a variable gets is made of what it was in a way that has no order."""
        if value.code == "call":
            called = self._values.called(value)
            if {"builtins.max", "builtins.min"} & set(called):
                return True
            function = value.args[0]
            if function.code == "attr" and self._is_from_before(function.args[0]):
                if names.removes(word_of(value)) or word_of(value) in ("union", "intersection"):
                    return True
                if word_of(value) == "replace" and len(value.args) == 3:
                    return value.args[2].code == "const"
        if value.code != "binary":
            return False
        bits = value.name in OF_BITS and any(map(self._is_from_before, value.args))
        return bits or self._values.is_set(value)

    def _is_from_before(self, owner: Op) -> bool:
        """Whether a value is what a variable was before the round, also in a loop of the round."""
        states = closure([owner], lambda op: op.args if op.code == "phi" else ())
        return any(map(self._round.is_joint, states))

    def _is_extreme(self) -> bool:
        """``if size > best: best, name = size, path``."""
        return any(
            op.code == "compare"
            and not {"Gt", "Lt", "GtE", "LtE"}.isdisjoint(op.name)
            and any(map(self._is_from_before, op.args))
            for op in self._round.ops
        )

    def _accumulated(self, joint: Op, value: Op) -> Iterator[Use]:
        # A count has readers that are judged apart.
        if value.args[1] not in self._round.own or self._adds_in_any_order(value):
            return
        before = self._values.types(value.args[0])
        if not lattice.may_be(before, "list", "str") or self._effects.is_read(joint):
            named = self._round.names_files(value.args[1])
            found = self._orders.first(value, Flow(filled=True, named=named))
            if found is not None and found.is_of_rows:
                yield found
            elif found is not None or lattice.may_be(before, "float", "?"):
                told = lattice.are(before, "float", "int") and self._orders.messages.is_told(value)
                # What shows the order of a list may rest on who calls the function.
                at = found.op if found is not None and lattice.are(before, "list") else value
                yield Use(at, "looped over", told or (found is not None and found.assumed))

    def numbered(self) -> Iterator[Use]:
        """Uses of a round's number that others than messages see."""
        for counter in sorted(self._round.counters, key=attrgetter("place")):
            for use in counter.uses:
                if not use.within(self._round.region) or use in self._round.counters:
                    continue
                if use.code in _KEEPING or self._effects.is_quiet(use):
                    continue
                if self._round.is_lined_up(counter, use):
                    continue
                if use in self._round.own or self._meets_element(use):
                    yield from numbered(use)
                    return

    def _meets_element(self, use: Op) -> bool:
        """Whether a number goes where the element goes: a file's name, a row."""
        inside = self._round.region
        return any(
            each.code == "call"
            and not self._orders.messages.is_log(each)
            and any(x in self._round.own for x in each.args)
            for each in closure([use], lambda op: (x for x in op.uses if x.within(inside)))
        )


def _is_given_anew(joint: Op) -> bool:
    """Whether a later loop gives the variable its own elements."""
    own = joint.code == "phi" and joint in joint.region.joints
    return own and any(
        each is joint.region.head or (each.code == "unpack" and each.args[0] is joint.region.head)
        for each in joint.args
    )


def _without(held: Op, rows: Sequence[Op]) -> list[Op]:
    """What a table is joined with: ``new`` of ``pd.concat([old, new])``."""
    listed = [each for row in rows for each in (row.args if row.code == "list" else [row])]
    return [each for each in listed if each is not held and each.code != "const"]


def _carries(value: Op, joint: Op) -> bool:
    """Whether an ``+=``, in a loop of the round perhaps, adds to what the rounds before left."""
    before = {"phi": None, "augment": 1}  # how many of what it takes
    states = closure([value.args[0]], lambda op: op.args[: before.get(op.code, 0)])
    return joint in states
