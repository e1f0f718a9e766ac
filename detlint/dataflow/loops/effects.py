"""What the rounds of a loop leave behind, and whether it depends on their order.

A round computes about its own element as it likes. What outlives it decides: what it adds to a
container that was there before, a variable that the next round or the code after the loop reads,
what it writes, returns, yields or draws. Whole numbers can be added, and sets filled, in any order.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import path_of, said, whole_function, word_of
from detlint.dataflow.loops import groups
from detlint.dataflow.loops.round_calls import Calls
from detlint.dataflow.loops.round_containers import Containers
from detlint.dataflow.loops.round_variables import Variables
from detlint.dataflow.loops.rounds import OF_PLACE, SEEDING, Round, is_same, is_shared_out, looped
from detlint.dataflow.orders.expected import is_named
from detlint.dataflow.orders.use import PLAIN, Flow, Use, surest
from detlint.dataflow.path_conditions import implies
from detlint.dataflow.references import is_only_changed, stores_of
from detlint.dataflow.slices import LEAVING, STATES, closure, readers, states_before
from detlint.grouping import grouped
from detlint.models import names, randomness
from detlint.models.containers import ZEROS
from detlint.models.model import Order, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.orders.order import Orders
    from detlint.dataflow.values import Values

_OWN_STATES = STATES - {"free"}  # what another function holds may be what this one makes of it
_GENERATORS = frozenset(("random.Random", "numpy.random.default_rng", "numpy.random.RandomState"))
# Functions that call each other for an element.
_DEEPEST = 3
_FEW = 8  # elements that are tried one by one
_WRAPPING = frozenset(("iter", "list", "set", "sorted", "tuple"))
# What takes something out of a container.
_SHRINKING = frozenset(("Sub", "difference_update", "discard", "pop", "popleft", "remove"))
_CHANGING = words("augment change store_item")
_WRITTEN = words("comprehension const dict list")
_TESTS = words("boolean compare not test")
_PARTS = words("attr call comprehension item iter slice unpack")
# What makes another value, and does nothing else.
_MAKING = (OF_PLACE - _TESTS) | _PARTS - {"call"} | {"drop"}
_FILLED = Flow(filled=True)
_VIEWS = frozenset(("items", "keys", "values"))  # of a dict, that hold as many
# Comparisons of a length that hold for one element, and those that fail.
_SAYS_ONE: dict[tuple[str, object], bool] = {
    ("Eq", 1): True,
    ("LtE", 1): True,
    ("Lt", 2): True,
    ("NotEq", 1): False,
    ("Gt", 1): False,
    ("GtE", 2): False,
}


class Effects:
    """Judges the loops of one file."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._values: Values = orders.values
        self.holders = groups.Holders()
        self._made: dict[Op, Op] = {}
        # By whether tests count: what nothing reads, and what something does.
        self._unread: dict[bool, set[Op]] = {False: set(), True: set()}
        self._read: dict[bool, set[Op]] = {False: set(), True: set()}
        self._sorted_around: dict[Op, bool] = {}
        self._read_in_any_order: dict[tuple[str, str], bool] = {}
        self._sorted_fields: dict[tuple[str, str], bool] = {}
        self._lengths: dict[Function, dict[Op | str, list[Op]]] = {}
        self._known_roots: dict[Op, dict[Op, None]] = {}

    def made(self, container: Op) -> Op:
        """What a container was before all that is known to change it."""
        states = []
        each = container
        while each not in self._made and each.code in _OWN_STATES and each.args:
            states.append(each)
            each = each.args[0]
        found = self._made.get(each, each)
        self._made.update(dict.fromkeys(states, found))
        return found

    def counted(self, container: Op) -> bool:
        """Whether a dict counts something: ``counts[word] += 1``."""
        if lattice.may_be(self._values.types(container), "counter"):
            return True
        return any(
            each.code == "store_item" and each.args[2].code == "augment"
            for each in closure([container], states_before)
        )

    def is_read(self, value: Op, bound: Op | None = None, *, tested: bool = False) -> bool:
        """Whether anything but a test or a message takes a value, or what is made of it and nothing
        else; as what a name is bound to, or was, where it is ``bound``; ``tested``: or a test."""
        read, unread = self._read[tested], self._unread[tested]
        before, passed = {value: value}, False
        pending = [] if value in unread else [value]
        while pending:
            each = pending.pop()
            found = bound is None and each in read
            for use in () if found else each.uses:
                made = self._made_with(use)
                if made is not None:
                    if bound is not None and any(self.is_read(x, tested=tested) for x in made):
                        return True
                    more = (use,) if bound is not None else (use, *made)
                    new = [x for x in more if x not in before and x not in unread]
                    before.update(dict.fromkeys(new, each))
                    pending += new
                elif bound is not None and _is_bound_again(bound, use):
                    passed = True
                elif not self.is_quiet(use) or (
                    use.code in _TESTS and (tested or each.code in _PARTS)
                ):
                    found = True
                    break
            if found:
                while bound is None and each not in read:
                    read.add(each)
                    each = before[each]
                return True
        if not passed:
            unread.update(before)
        return False

    def is_dead(self, op: Op) -> bool:
        """Whether an operation only makes a value, and nothing reads that."""
        if self._orders.references.is_notebook:  # what it prints is its result
            return all(x.code == "store_global" and self.is_quiet(x) for x in readers(op))
        return self._made_with(op) is not None and not self.is_read(op, tested=True)

    def _made_with(self, use: Op) -> Collection[Op] | None:
        """The containers of the function's own that an operation changes, if it does nothing but
        that, or to make a value; else None."""
        changed = [use] if use.code in _CHANGING else _changes(use)
        if changed:
            return self._own(*(each.args[0] for each in changed))
        makes = self._only_makes(use) if use.code == "call" else use.code in _MAKING
        return () if makes else None

    def _only_makes(self, call: Op) -> bool:
        """Whether a call of a library's function, or of a method of a known type, only makes a
        value."""
        function, row = call.args[0], self._values.function_row(call)
        known = function.code == "attr" and lattice.is_known(self._values.types(function.args[0]))
        row = row or (self._values.method_row(call) if known else None)
        if row is None or row.returns in ("", "none") or row.order in (Order.DRAWS, Order.PICKS):
            return not ZEROS.isdisjoint(self._values.called(call))
        return not names.applies(word_of(call))

    def _own(self, *containers: Op) -> Collection[Op] | None:
        """What a function made for itself of which some containers are, or are parts; None where
        others may hold one."""
        made = [x for each in containers for x in self._roots(each)]
        fresh = (self._only_makes(x) if x.code == "call" else x.code in _WRITTEN for x in made)
        return made if all(fresh) else None

    def _roots(self, container: Op) -> Collection[Op]:
        """What a container was at first, or what it is a part of was."""
        found: dict[Op, None] = {}
        known = self._known_roots
        for op in closure([container], lambda x: () if x in known else _held_before(x)):
            if op in known:
                found.update(known[op])
            elif not _held_before(op):
                found[op] = None
        known[container] = found
        return found

    def reads(self, use: Op, bound: Op) -> bool:
        """Whether a use of what a name is bound to is more than a test or a message."""
        if use.code == "phi":
            return self.is_read(use, bound)
        return not (self.is_quiet(use) or _is_bound_again(bound, use))

    def of_loop(self, head: Op, flow: Flow) -> Iterator[Use]:
        """The uses of the order in which a loop takes its elements."""
        yield from _uses(Round(self._orders, head.region, {head}, flow))

    def of_rounds(self, region: Region, elements: set[Op]) -> Iterator[Use]:
        """The uses of the order in which the rounds of a loop take some elements, all of them."""
        round_ = Round(self._orders, region, elements, Flow())
        round_.stops = False
        yield from _uses(round_)

    def of_index_loop(self, head: Op, value: Op, flow: Flow) -> Iterator[Use]:
        """The uses of the order of a list in ``for i in range(len(names)): … names[i]``."""
        taken = {op for op in head.region.ops() if op.code == "item" and op.args == [value, head]}
        yield from _uses(Round(self._orders, head.region, taken, flow, index=head))

    def of_calls(
        self,
        function: Function,
        own: set[Op],
        kept: set[Op],
        outer: Round | None = None,
        placed: Collection[Op] = (),
    ) -> Use | None:
        """What a function that is called for one element after the other leaves behind.

        own     the parameters that get what is computed of the element
        kept    those that get what was there before
        outer   the round that calls it
        placed  those that get what depends on the place of that among the others
        """
        calls = outer.calls if outer is not None else ()
        if function in calls or len(calls) > _DEEPEST:
            return None
        calls = (*calls, function)
        round_ = Round(self._orders, function.region, own, PLAIN, kept=kept, calls=calls)
        round_.seeded |= outer is not None and outer.seeded
        round_.placed.update(placed)
        return surest(_uses(round_))

    def applied(self, call: Op, value: Op) -> bool | None:
        """Whether ``pool.map(function, value)`` leaves something behind, apart from what it gives
        back; None for a call that does not apply a function to one element after the other."""
        function = self._function_applied(call, value)
        if function is None:
            return None
        function, bound_ = whole_function(function)
        given = len(bound_)
        if function.code == "global":
            own = self._values.unit.defined(str(function.name))
            if own is None:
                return names.leaves_something(str(function.name))
            return self._leaves_rows(own, given, self._parts(call, value))
        if function.code == "function":
            return self._leaves_rows(function.name, given, self._parts(call, value))
        return True

    def _function_applied(self, call: Op, value: Op) -> Op | None:
        if "joblib.Parallel" in self._values.called(call.args[0]) and value.code == "comprehension":
            job = value.args[0]
            delayed = job.args[0] if job.code == "call" else job
            return delayed.args[1] if delayed.code == "call" and len(delayed.args) == 2 else None
        plain = [each for name, each in call.arguments() if name is None]
        if not names.applies(word_of(call)) or plain[1:2] != [value]:
            return None
        return plain[0] if all(x.code == "const" for x in plain[2:]) else None

    def _parts(self, call: Op, value: Op) -> list[bool] | None:
        """Of the rows of a pool's tasks, which parts are of an element; None for plain elements."""
        if not names.takes_rows(word_of(call)) and call.given("star_args") is None:
            return None
        made = value
        if made.code == "phi":
            added = [x for x in made.args if x.code == "change" and x.name == "append"]
            rows = [x.args[1].args[1] for x in added if len(x.args[1].args) == 2]
            head = added[0].region.head if added else None
        else:
            rows = made.args[:1] if made.code == "comprehension" else []
            head = next((x for x in made.args[1:] if x.code == "iter"), None)
        if not rows or rows[0].code != "tuple" or head is None:
            return []
        return [is_made_of(part, head) for part in rows[0].args]

    def _leaves_rows(self, function: Function, given: int, parts: list[bool] | None) -> bool:
        plain = [op for op in function.params.values() if not op.name[0]]
        if parts is None:
            own, kept = set(plain[given : given + 1]), set(plain[:given])
        else:
            told = dict(zip(plain[given:], parts or [True] * len(plain), strict=False))
            own = {each for each, of_element in told.items() if of_element}
            kept = set(told) - own
        return self.of_calls(function, own, kept) is not None

    # Questions about expressions

    def draw_in(self, region: Region) -> Op | None:
        """The first random draw among some operations that no seeding comes before."""
        for op in region.ops():
            if op.code != "call":
                continue
            called = self._values.called(op)
            if not SEEDING.isdisjoint(called):
                return None
            if self._draws(op, called, region):
                return op
        return None

    def _draws(self, call: Op, called: list[str], region: Region) -> bool:
        if any(map(randomness.draws, called)):
            return True
        function = call.args[0]
        if function.code != "attr":
            return False
        owner = function.args[0]
        made = [owner] if owner.code == "call" else [x for x in owner.args if x.code == "call"]
        if owner.code == "call" and len(owner.args) > 1 and owner.within(region):
            return False  # a generator of its own for each element
        if owner.code == "param" and names.is_generator(str(owner.name[1])):
            return names.draws(str(function.name))
        return any(not _GENERATORS.isdisjoint(self._values.called(each)) for each in made)

    def has_one_at_most(self, made: Op, head: Op) -> bool:
        """``[path for path in paths if path.name == "a.json"]``: names in a folder differ."""
        if made.code != "comprehension" or self._orders.distinct:
            return False
        listed = self.whole(head.args[0])
        if word_of(listed) == "rglob" or self._orders.root not in {listed, *made_of(listed)}:
            return False
        return any(is_named(self._values, test, head) for test in head.region.conditions())

    def counts(self, head: Op) -> bool:
        """Whether the number that ``enumerate`` gives decides what a comprehension collects."""
        counter = next((x for x in head.uses if x.code == "unpack" and x.name[0] == 0), None)
        return counter is None or not all(
            use.uses and all(map(is_shared_out, use.uses)) for use in counter.uses
        )

    def is_quiet(self, use: Op) -> bool:
        """A test, a message, or a name of the module that nobody reads."""
        if use.code == "store_global":
            return self._orders.references.is_unread_global(str(use.name))
        if use.code == "raise" or use.code in _TESTS:
            return True
        if use.code == "call" and (_is_raised(use) or self._orders.messages.is_log(use)):
            return True
        passes = bool(use.uses) and self._made_with(use) is not None
        return passes and not self.is_read(use)

    def only_raises(self, head: Op) -> bool:
        """Whether the rounds of a loop only look at what they take, to raise an error."""
        inside = list(head.region.ops())
        raising = [each for each in inside if each.code == "raise"]
        calls = (each for each in inside if each.code == "call")
        stays = all(each.code not in LEAVING for each in inside)
        return bool(raising) and stays and all(map(self._only_looks, calls))

    def _only_looks(self, call: Op) -> bool:
        """Whether a call is one of a function that changes nothing, a message or an error."""
        known = self._values.function_row(call) or self._values.method_row(call)
        return _is_raised(call) or known is not None or self._orders.messages.is_log(call)

    def counting_loop(self, key: Op, value: Op) -> Op | None:
        """``for i in range(len(names)): … names[i]``: the loop, which goes through ``names``."""
        if key.code != "iter" or key.name == "comprehension":
            return None
        over = self._within_bars(key.args[0])
        if word_of(over) not in ("range", "trange") or len(over.args) < 2:
            return None
        for each in over.args[1:]:
            for source in [each, *each.args] if each.code == "phi" else [each]:
                if source.code == "call" and "builtins.len" in self._values.called(source):
                    return key if source.args[1] is value else None
        return None

    def _within_bars(self, over: Op) -> Op:
        """``tqdm(range(…))`` → ``range(…)``."""
        while over.code == "call" and len(over.args) > 1 and self._hands_on(over):
            over = over.args[1]
        return over

    def _hands_on(self, call: Op) -> bool:
        row = self._values.function_row(call)
        bar = names.is_bar(word_of(call)) and word_of(call) != "trange"
        return bar or (row is not None and row.order is Order.KEEPS)

    def goes_along(self, key: Op, value: Op) -> bool:
        """``for i, x in enumerate(names): … sizes[i]``, where ``sizes`` was made of ``names``."""
        if key.code != "unpack" or key.name[0] != 0 or key.args[0].code != "iter":
            return False
        over = key.args[0].args[0]
        return "builtins.enumerate" in self._values.called(over) and is_aligned(over.args[1], value)

    def is_counted_one(self, value: Op, use: Op) -> bool:
        """Whether the code makes sure that a value holds one element, or it is one by itself."""
        whole = self.whole(value)
        if self.is_one(whole) or self._is_common(whole) or self._is_used_up(value, use):
            return True
        lengths = self._lengths_in(value.function)
        path = path_of(whole)
        asked = [*lengths.get(whole, ()), *(lengths.get(path, ()) if path else ())]
        same = (
            x
            for each, calls in lengths.items()
            if not isinstance(each, str) and each is not whole and is_same(each, whole)
            for x in calls
        )
        return any(self._tells_one(op, use) for op in (*asked, *same))

    def _lengths_in(self, function: Function) -> dict[Op | str, list[Op]]:
        """The calls of ``len`` in a function, by what they take and by how that is written."""
        if function not in self._lengths:
            calls = (x for x in function.ops if x.code == "call" and len(x.args) > 1)
            lengths = (x for x in calls if "builtins.len" in self._values.called(x))
            names = ((x, (self.whole(x.args[1]), path_of(x.args[1]))) for x in lengths)
            self._lengths[function] = grouped((name, x) for x, both in names for name in both)
        return self._lengths[function]

    @staticmethod
    def whole(value: Op) -> Op:
        """``list(x.keys())`` → ``x``."""
        while value.code == "call":
            function = value.args[0]
            if function.code == "global" and function.name in _WRAPPING and value.args[1:]:
                value = value.args[1]
            elif function.code == "attr" and function.name in _VIEWS and not value.args[1:]:
                value = function.args[0]
            else:
                break
        return value

    @staticmethod
    def is_one(value: Op) -> bool:
        """``{x}``, which takes no more."""
        return len(value.elements or ()) == 1

    def _is_common(self, value: Op) -> bool:
        """``a & b``: whoever takes one of what two sets have in common expects no more."""
        binary = value.code == "binary" and value.name == "BitAnd"
        return self._orders.distinct and (binary or word_of(value) == "intersection")

    def _tells_one(self, length: Op, use: Op) -> bool:
        """Whether a comparison of a length with one decides that a use is reached."""
        asked = (x for x in readers(length) if x.code == "compare" and len(x.args) == 2)
        told = ((x, one) for x in asked if (one := _says_one(x)) is not None)
        return any(_decides(test, x, use, one) for x, one in told for test in _tests_of(x))

    def _is_used_up(self, value: Op, use: Op) -> bool:
        """``next(entries)``, and again in a ``try`` that is to fail."""
        return any(
            other is not use
            and other.code == "call"
            and "builtins.next" in self._values.called(other)
            and len(other.args) == 2
            and any(region.kind == "try" for region in other.region.around())
            and other.is_dropped
            and not self._is_read_if_more(other, use)
            for other in value.uses
        )

    @staticmethod
    def _is_read_if_more(again: Op, use: Op) -> bool:
        """Whether the first element is used where there was a second."""
        tried = next(region.node for region in again.region.around() if region.kind == "try")
        return any(
            read.code == "return"
            and any(x.kind in ("else", "try") and x.node is tried for x in read.region.around())
            for read in use.uses
        )

    def is_unread(self, container: Op) -> bool:
        """Whether nothing reads a container that a function makes for itself."""
        made = self._own(container)
        return made is not None and not any(self.is_read(x, tested=True) for x in made)

    def reads_held(self, container: Op) -> bool:
        """Whether anything but a message reads what a dict holds, and not only its keys."""
        made = self.made(container)
        if made.code in ("attr", "free", "global", "param"):
            return True
        return any(self._reads_held(use, each) for use, each in self.holders.of(container).reads)

    def _reads_held(self, use: Op, container: Op) -> bool:
        if use.code == "item":
            return not all(map(self.is_quiet, use.uses))
        if use.code in ("boolean", "compare", "iter", "not", "test"):
            return False
        if use.code == "attr":
            return use.name != "keys" and not all(map(self._is_filling, use.uses))
        counts = use.code == "call" and container in use.args[1:]
        return not (counts and word_of(use) in ("len", "list", "set", "sorted"))

    @staticmethod
    def _is_filling(call: Op) -> bool:
        """``found.setdefault(key, value)``, for its effect."""
        return all(each.code in ("change", "drop") for each in call.uses)

    def escapes(self, change: Op) -> bool:
        """Whether others hold the container that is filled."""
        owner = self.made(change.args[0])
        if any(map(self._orders.handed.reads_field, stores_of(owner))):
            return not self._is_settled_field(owner)
        if owner.code in ("param", "global"):
            return True
        if owner.code == "free":
            return not self.is_sorted_around(owner)
        if owner.code == "attr":
            return not (self._is_settled(owner, change) or self._is_read_in_any_order(owner))
        if owner.code == "item":
            sorts = self.sorts_parts(owner.args[0], change.place)
            return not (sorts or self._is_settled(owner, change))
        return False

    def _is_read_in_any_order(self, field: Op) -> bool:
        """Whether methods read an attribute, and none of them shows its order."""
        key = field.function.class_name, str(field.name)
        if field.args[0].is_self and key not in self._read_in_any_order:
            reads = self._orders.references.reads_of_field(*key)
            used = [each for each in reads if not is_only_changed(each)]
            shown = any(self._orders.first(each, _FILLED) for each in used)
            self._read_in_any_order[key] = bool(used) and not shown
        return self._read_in_any_order.get(key, False)

    def _is_settled_field(self, value: Op) -> bool:
        owner = value.function.class_name
        return any(self._is_sorted_field(owner, str(use.name)) for use in stores_of(value))

    def _is_sorted_field(self, owner: str, name: str) -> bool:
        """Whether a method of a class sorts an attribute: ``self.x = sorted(self.x)``."""
        key, path = (owner, name), f"self.{name}"
        if key not in self._sorted_fields:
            self._sorted_fields[key] = any(
                _sorts(each, path) and path in ast.unparse(each.args[1].node)
                for each in (self._values.unit.stored(owner, name) if owner else ())
            )
        return self._sorted_fields[key]

    def _is_settled(self, owner: Op, change: Op) -> bool:
        path = _written(owner)
        after = owner.function.ops[change.place :]
        return any(_sorts(each, path) for each in after) or self._is_sorted_field(
            owner.function.class_name, str(owner.name)
        )

    def is_sorted_around(self, free: Op) -> bool:
        """Whether the function around one sorts a variable that both have."""
        if free not in self._sorted_around:
            self._sorted_around[free] = any(
                (use.code == "change" and use.name == "sort") or word_of(use) == "sorted"
                for each in free.args
                for use in each.uses
            )
        return self._sorted_around[free]

    def sorts_parts(self, container: Op, after: int) -> bool:
        """Whether what a container holds is sorted, after some place."""
        return self.holders.of(container).sorted_at >= after

    @staticmethod
    def worklist(call: Op) -> Region | None:
        """``while todo: todo.pop()``: the loop."""
        name = path_of(call.args[0].args[0])
        for region in call.region.around():
            if region.kind == "while" and region.head is not None:
                tested = region.head.args[0]
                if tested.code == "compare":  # len(todo) > 0
                    tested = tested.args[0]
                if any(path_of(each) == name for each in (tested, *tested.args)):
                    return region
        return None

    @staticmethod
    def is_refilled(call: Op, loop: Region) -> bool:
        """Whether a loop adds to what it takes from: what is left to do is done in any order."""
        name = path_of(call.args[0].args[0])
        return any(
            each.code in ("augment", "change", "store_attr")
            and each.name not in _SHRINKING
            and bool(each.args)
            and name in (path_of(each.args[0]), *each.function.names_of(each))
            for each in loop.ops()
        )


def _is_raised(call: Op) -> bool:
    """Whether it makes an error, and no more."""
    return bool(call.uses) and all(each.code == "raise" for each in call.uses)


def _changes(op: Op) -> list[Op]:
    """The next states of a container that a call gives it."""
    return [x for x in op.uses if op.code == "call" and x.code == "change" and x.args[1] is op]


def _held_before(op: Op) -> Sequence[Op]:
    """What a value was before, or is a part of."""
    part = op.code in ("attr", "augment", "item") or _changes(op)
    return op.args[:1] if part else states_before(op)


def made_of(value: Op) -> set[Op]:
    """What a value has one element for each element of, in the same order."""
    found: set[Op] = set()
    while True:
        if value.code == "comprehension" and value.name in ("list", "iterator"):
            heads = [each for each in value.args if each.code == "iter"]
            if len(heads) != 1 or any(
                op.code == "test" and op.region is heads[0].region for op in heads[0].region.ops()
            ):
                return found
            value = heads[0].args[0]
        elif (
            value.code == "call"
            and word_of(value) in ("array", "asarray", "enumerate", "list", "tuple", "tqdm")
            and len(value.args) > 1
        ):
            value = value.args[1]
        elif value.code == "unary" or is_column(value):
            value = value.args[0]
        elif (head := _filled_for_each(value)) is not None:
            value = head.args[0]
        elif value.code == "phi":
            return found | _made_of_all(value)
        else:
            return found
        found.add(value)


def _made_of_all(joint: Op) -> set[Op]:
    """The same of what is one of several values, each made in a branch."""
    if any(each.place >= joint.place for each in joint.args):
        return set()  # rounds of a loop meet there
    return set.intersection(*({each} | made_of(each) for each in joint.args))


def is_aligned(one: Op, other: Op) -> bool:
    """Whether two lists have an element for each of the same list, in its order."""
    if not ({one} | made_of(one)).isdisjoint({other} | made_of(other)):
        return True
    filled = _filled_in(one)
    return _are_aligned_joints(one, other) or (filled is not None and filled is _filled_in(other))


def _are_aligned_joints(one: Op, other: Op) -> bool:
    """Whether each branch makes two lists of the same one, or writes both out."""
    if one.code != "phi" or other.code != "phi" or one.node is not other.node:
        return False
    pairs = list(zip(one.args, other.args, strict=False))
    branched = len(one.args) == len(other.args) and max(x.place for x in one.args) < one.place
    return branched and all(is_aligned(*x) or _are_written(x) for x in pairs)


def _are_written(lists: tuple[Op, Op]) -> bool:
    return all(x.code != "set" and x.elements is not None for x in lists)


def is_column(value: Op) -> bool:
    """``rows[:, 1]``"""
    if value.code != "item" or value.args[1].code != "tuple":
        return False
    first = value.args[1].args[0]
    return first.code == "other" and first.name == "Slice" and not first.args


def _filled_for_each(value: Op) -> Op | None:
    """The elements for each of which a loop adds one to a list."""
    region = _filled_in(value)
    if region is None or region.kind != "for" or region.head is None:
        return None
    skips = any(op.code == "leave" and op.name == "continue" for op in region.ops())
    return None if skips else region.head


def _filled_in(value: Op) -> Region | None:
    """The part of a loop that adds an element to a list in each of its rounds."""
    if value.code != "phi":
        return None
    added = [each for each in value.args if each.code == "change" and each.name == "append"]
    if len(added) == len(value.args) == 2 and _are_branches(*(each.region for each in added)):
        return added[0].region.parent
    if len(added) != 1 or not added[0].within(value.region):
        inner = [_filled_in(x) for x in value.args if x.code == "phi" and x.place > value.place]
        return inner[0] if inner else None
    return added[0].region


def _are_branches(one: Region, other: Region) -> bool:
    """Whether one of two parts of a function runs, and not the other."""
    return {one.kind, other.kind} == {"if", "else"} and one.head is other.head


def _is_bound_again(value: Op, read: Op) -> bool:
    """Whether a function inside reads a name that is bound to something else before."""
    if read.code != "free":
        return False
    made = value.function.coded("function")
    defined = next((op for op in made if op.name is read.function), None)
    inner = value.region if value.region.loops else None
    if defined is not None and inner is not None and defined.within(inner):
        return defined.place > value.place
    return any(each.place > value.place for each in read.args)


def _says_one(compare: Op) -> bool | None:
    """Whether a comparison of a length holds for one element, or fails; None for another."""
    operator = str(compare.name[0])
    number = next((each.name for each in compare.args if each.code == "const"), None)
    return _SAYS_ONE.get((operator, number))


def _decides(test: Op, compare: Op, use: Op, one: bool) -> bool:
    """Whether a use is reached only where a comparison, part of a test, comes out so."""

    def says(part: Op, *, holds: bool) -> bool:
        return part is compare and holds is one

    if test.name == "assert":
        return test.place < use.place and implies(test.args[0], says, holds=True)
    after = use.function.ops[test.place :]
    regions = dict.fromkeys(x.region for x in after if x.region.head is test)
    for region in regions:
        if use.within(region):
            return implies(test.args[0], says, holds=region.kind == "if")
    leaves = {
        region.kind
        for region in regions
        for op in use.function.ops[region.start : region.end]
        if op.code in ("raise", "return", "leave")
    }
    if not leaves or test.place > use.place:
        return False
    return implies(test.args[0], says, holds="if" not in leaves)


def _tests_of(op: Op) -> Iterator[Op]:
    """The tests that a condition is part of."""
    for use in op.uses:
        if use.code == "test":
            yield use
        elif use.code in ("boolean", "not"):
            yield from _tests_of(use)


def is_made_of(op: Op, head: Op) -> bool:
    return head in closure([op], lambda each: each.args if each.place > head.place else ())


def _sorts(op: Op, path: str) -> bool:
    """Whether an operation sorts what is written so, or puts something sorted there."""
    if op.code == "change":
        return said(op.args[1]) == f"{path}.sort"
    stores = op.code == "store_attr" and f"{path_of(op.args[0])}.{op.name}" == path
    return stores and names.sorts(word_of(op.args[1]))


def _written(container: Op) -> str:
    """How a container is written: ``self.names``, ``names["train"]``."""
    node = container.node
    return ast.unparse(node) if isinstance(node, ast.Subscript) else path_of(container)


def _uses(round_: Round) -> Iterator[Use]:
    """Where it shows in which order the rounds come."""
    draw = round_.effects.draw_in(round_.region)
    if draw is not None and not round_.seeded:
        yield from looped(draw)
        return
    variables, containers = Variables(round_), Containers(round_)
    parts = containers, variables, Calls(round_, containers)
    for op in round_.ops:
        judges = (getattr(each, f"on_{op.code}", None) for each in parts)
        judge = next(filter(None, judges), None)
        if judge is not None and not round_.handles_failure(op):
            yield from judge(op)
    if not round_.calls:
        yield from variables.left_behind()
    yield from variables.numbered()
