"""What the rounds of a loop leave behind, and whether it depends on their order.

A round computes about its own element as it likes. What outlives it decides: what it adds to a
container that was there before, a variable that the next round or the code after the loop reads,
what it writes, returns, yields or draws. Whole numbers can be added, and sets filled, in any order.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from detlint.dataflow import groups, lattice
from detlint.dataflow.use import PLAIN, Flow, Use, surest
from detlint.models import names
from detlint.models.model import Order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.groups import Holder
    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.order import Orders
    from detlint.dataflow.values import Values

_DRAWS = ("random.", "numpy.random.", "secrets.", "torch.rand", "torch.bernoulli", "torch.normal")
_NO_DRAWS = frozenset(
    [
        "random.seed",
        "random.getstate",
        "random.setstate",
        "random.Random",
        "numpy.random.seed",
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "numpy.random.get_state",
        "numpy.random.set_state",
        "numpy.random.Generator",
        "numpy.random.SeedSequence",
    ]
)
_SEEDING = frozenset(("random.seed", "numpy.random.seed", "torch.manual_seed"))
_GENERATORS = frozenset(("random.Random", "numpy.random.default_rng", "numpy.random.RandomState"))
# Changes whose result does not depend on the order of several.
_COMMUTING = frozenset(
    ["add", "discard", "remove", "clear", "difference_update", "intersection_update"]
)
_ADDING = frozenset(["append", "appendleft", "extend", "extendleft", "insert", "push", "put"])
# What reads or changes one file, which the element names.
_ON_FILES = ("os.", "shutil.", "pathlib.", "cv2.imwrite", "numpy.save", "torch.save")
_WRITERS = {
    "cv2.imwrite": 0,
    "json.dump": 1,
    "numpy.save": 0,
    "numpy.savetxt": 0,
    "numpy.savez": 0,
    "pickle.dump": 1,
    "torch.save": 1,
    "yaml.dump": 1,
    "yaml.safe_dump": 1,
    "shutil.copyfileobj": 1,
}
_CHANGED = frozenset(("change", "declared", "phi", "store_item"))
# Containers as they are changed, judged as such.
_STATES = frozenset(("augment", "change", "comprehension", "delete", "iter", "store_item"))
# Operators that give the same in any order: of numbers, masks and sets.
_OF_BITS = frozenset(("BitOr", "BitAnd", "BitXor"))
# Functions that call each other for an element.
_DEEPEST = 3
# What takes the next of something that was there before.
_TAKES = frozenset(["pop", "popleft", "popitem", "readline", "get_nowait"])
_CHANGES = _COMMUTING | _ADDING | {"update", "setdefault", "pop", "sort"}
_MADE = frozenset(["call", "comprehension", "dict", "list", "set"])
_WRAPPING = frozenset(("iter", "list", "set", "sorted", "tuple"))
# What reads settings, of which several files hold the same.
_SETTINGS = ("json.load", "toml", "yaml.")
_HASHES = ("hashlib.", "zlib.", "xxhash.", "blake3.", "tarfile.")


class Effects:
    """Judges the loops of one file."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._values: Values = orders.values
        self.holders = groups.Holders()
        self._made: dict[Op, Op] = {}
        self._unread: set[Op] = set()
        self._sorted_around: dict[Op, bool] = {}
        self._lengths: dict[Function, dict[Op | str, list[Op]]] = {}

    def made(self, container: Op) -> Op:
        """What a container was before all that is known to change it."""
        states = []
        each = container
        while each not in self._made and each.code in _CHANGED and each.args:
            states.append(each)
            each = each.args[0]
        found = self._made.get(each, each)
        self._made.update(dict.fromkeys(states, found))
        return found

    def counted(self, container: Op) -> bool:
        """Whether a dict counts something: ``counts[word] += 1``."""
        if lattice.may_be(self._values.types(container), "counter"):
            return True
        pending, seen = [container], {container}
        while pending:
            each = pending.pop()
            if each.code == "store_item" and each.args[2].code == "augment":
                return True
            more = each.args if each.code == "phi" else each.args[:1]
            if each.code in _CHANGED:
                fresh = [op for op in more if op not in seen]
                seen.update(fresh)
                pending += fresh
        return False

    def is_read(self, value: Op, bound: Op | None = None) -> bool:
        """Whether anything but a test or a message takes a value, also through joints; as what a
        name is bound to, or was, where it is ``bound``."""
        seen, pending, passed = {value}, [value], False
        while pending:
            for use in pending.pop().uses:
                if use.code == "phi":
                    if use not in seen and use not in self._unread:
                        seen.add(use)
                        pending.append(use)
                elif bound is not None and _is_bound_again(bound, use):
                    passed = True
                elif not self.is_quiet(use):
                    return True
        if not passed:
            self._unread |= seen
        return False

    def reads(self, use: Op, bound: Op) -> bool:
        """Whether a use of what a name is bound to is more than a test or a message."""
        if use.code == "phi":
            return self.is_read(use, bound)
        return not (self.is_quiet(use) or _is_bound_again(bound, use))

    def of_loop(self, head: Op, flow: Flow) -> Iterator[Use]:
        """The uses of the order in which a loop takes its elements."""
        yield from _Body(self._orders, head.region, {head}, flow).uses()

    def of_rounds(self, region: Region, elements: set[Op]) -> Iterator[Use]:
        """The uses of the order in which the rounds of a loop take some elements, all of them."""
        body = _Body(self._orders, region, elements, Flow())
        body.stops = False
        yield from body.uses()

    def of_index_loop(self, head: Op, value: Op, flow: Flow) -> Iterator[Use]:
        """The uses of the order of a list in ``for i in range(len(names)): … names[i]``."""
        taken = {op for op in head.region.ops() if op.code == "item" and op.args == [value, head]}
        yield from _Body(self._orders, head.region, taken, flow, index=head).uses()

    def of_calls(
        self,
        function: Function,
        own: set[Op],
        kept: set[Op],
        calls: tuple[Function, ...] = (),
        *,
        seeded: bool = False,
    ) -> Use | None:
        """What a function that is called for one element after the other leaves behind.

        own   the parameters that get what is computed of the element
        kept  those that get what was there before
        """
        if function in calls or len(calls) > _DEEPEST:
            return None
        body = _Body(self._orders, function.region, own, PLAIN, kept=kept, calls=(*calls, function))
        body.seeded |= seeded
        return surest(body.uses())

    def applied(self, call: Op, value: Op) -> bool | None:
        """Whether ``pool.map(function, value)`` leaves something behind, apart from what it gives
        back; None for a call that does not apply a function to one element after the other."""
        function = self._function_applied(call, value)
        if function is None:
            return None
        given = 0
        if "functools.partial" in self._values.called(function) and len(function.args) > 1:
            given, function = len([x for x in function.name if x is None]) - 1, function.args[1]
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
        if not names.applies(word(call)) or plain[1:2] != [value]:
            return None
        return plain[0] if all(x.code == "const" for x in plain[2:]) else None

    def _parts(self, call: Op, value: Op) -> list[bool] | None:
        """Of the rows of a pool's tasks, which parts are of an element; None for plain elements."""
        if not names.takes_rows(word(call)) and call.given("star_args") is None:
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
        return [_is_made_of(part, head) for part in rows[0].args]

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
            if not _SEEDING.isdisjoint(called):
                return None
            if self._draws(op, called, region):
                return op
        return None

    def _draws(self, call: Op, called: list[str], region: Region) -> bool:
        if any(name.startswith(_DRAWS) and name not in _NO_DRAWS for name in called):
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
        listed = self._whole(head.args[0])
        if word(listed) == "rglob" or self._orders.root not in {listed, *made_of(listed)}:
            return False
        return any(_asks_name(condition, head) for condition in head.region.conditions())

    def counts(self, head: Op) -> bool:
        """Whether the number that ``enumerate`` gives is used for more than messages."""
        counter = next(
            (x for x in head.uses if x.code == "unpack" and x.name[0] == 0),
            None,
        )
        if counter is None:
            return bool(head.uses)
        return any(not self.is_quiet(use) for use in counter.uses)

    def is_quiet(self, use: Op) -> bool:
        """A test, or a message."""
        if use.code in ("test", "compare", "not", "raise", "boolean"):
            return True
        if use.code == "call":
            return self._orders.is_log(use)
        passes = ("format", "text", "binary", "tuple")
        return use.code in passes and bool(use.uses) and all(map(self.is_quiet, use.uses))

    def counting_loop(self, key: Op, value: Op) -> Op | None:
        """``for i in range(len(names)): … names[i]``: the loop, which goes through ``names``."""
        if key.code != "iter" or key.name == "comprehension":
            return None
        over = self._within_bars(key.args[0])
        if word(over) not in ("range", "trange") or len(over.args) < 2:
            return None
        for each in over.args[1:]:
            sources = [each, *each.args] if each.code == "phi" else [each]
            for source in sources:
                if source.code == "call" and "builtins.len" in self._values.called(source):
                    return key if source.args[1] is value else None
        return None

    def _within_bars(self, over: Op) -> Op:
        """``tqdm(range(…))`` → ``range(…)``."""
        while over.code == "call" and len(over.args) > 1 and word(over) not in ("range", "trange"):
            row = self._values.function_row(over)
            if not (names.is_bar(word(over)) or (row is not None and row.order is Order.KEEPS)):
                break
            over = over.args[1]
        return over

    def goes_along(self, key: Op, value: Op) -> bool:
        """``for i, x in enumerate(names): … sizes[i]``, where ``sizes`` was made of ``names``."""
        if key.code != "unpack" or key.name[0] != 0 or key.args[0].code != "iter":
            return False
        over = key.args[0].args[0]
        if "builtins.enumerate" not in self._values.called(over) or len(over.args) != 2:
            return False
        return is_aligned(over.args[1], value)

    def is_counted_one(self, value: Op, use: Op) -> bool:
        """Whether the code makes sure that a value holds one element, or it is one by itself."""
        whole = self._whole(value)
        if self.is_one(whole) or self._is_common(whole):
            return True
        if self._is_used_up(value, use):
            return True
        lengths = self._lengths_in(value.function)
        path = _path_of(whole)
        asked = [*lengths.get(whole, ()), *(lengths.get(path, ()) if path else ())]
        same = (
            x
            for each, calls in lengths.items()
            if not isinstance(each, str) and each is not whole and _is_same(each, whole)
            for x in calls
        )
        return any(self._tells_one(op, use) for op in (*asked, *same))

    def _lengths_in(self, function: Function) -> dict[Op | str, list[Op]]:
        """The calls of ``len`` in a function, by what they take and by how that is written."""
        if function not in self._lengths:
            found: dict[Op | str, list[Op]] = {}
            for op in function.ops:
                measures = op.code == "call" and len(op.args) > 1
                if measures and "builtins.len" in self._values.called(op):
                    found.setdefault(self._whole(op.args[1]), []).append(op)
                    found.setdefault(_path_of(op.args[1]), []).append(op)
            self._lengths[function] = found
        return self._lengths[function]

    def _whole(self, value: Op) -> Op:
        """``list(iter(x))`` → ``x``."""
        while value.code == "call" and len(value.args) > 1:
            if value.args[0].code != "global" or value.args[0].name not in _WRAPPING:
                break
            value = value.args[1]
        return value

    @staticmethod
    def is_one(value: Op) -> bool:
        """``{x}``, which takes no more."""
        written = value.code in ("list", "set", "tuple") and len(value.args) == 1
        return written and value.args[0].code != "star"

    def _is_common(self, value: Op) -> bool:
        """``a & b``: whoever takes one of what two sets have in common expects no more."""
        if not self._orders.distinct:
            return False
        if value.code == "binary":
            return bool(value.name == "BitAnd")
        if value.code == "call":
            return word(value) == "intersection"
        return False

    def _tells_one(self, length: Op, use: Op) -> bool:
        """Whether a comparison of a length with one decides that a use is reached."""
        for compare in _read(length):
            if compare.code != "compare" or len(compare.args) != 2:
                continue
            one = _says_one(compare)
            if one is not None and any(
                _decides(test, compare, use, one) for test in _tests_of(compare)
            ):
                return True
        return False

    def _is_used_up(self, value: Op, use: Op) -> bool:
        """``next(entries)``, and again in a ``try`` that is to fail."""
        return any(
            other is not use
            and other.code == "call"
            and "builtins.next" in self._values.called(other)
            and len(other.args) == 2
            and any(region.kind == "try" for region in other.region.around())
            and all(each.code == "drop" for each in other.uses)
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
        made = self.made(container)
        while made.code == "item":
            made = self.made(made.args[0])
        if made.code not in ("comprehension", "dict", "list"):
            return False
        pending, seen = [made], {made}
        while pending:
            each = pending.pop()
            for use in each.uses:
                kept = use.code in ("phi", "store_item", "change", "item") and use.args[0] is each
                if not kept and use.code not in ("phi", "drop"):
                    return False
                if use not in seen:
                    seen.add(use)
                    pending.append(use)
        return True

    def is_sorted_around(self, free: Op) -> bool:
        """Whether the function around one sorts a variable that both have."""
        if free not in self._sorted_around:
            self._sorted_around[free] = any(
                (use.code == "change" and use.name == "sort") or word(use) == "sorted"
                for each in free.args
                for use in each.uses
            )
        return self._sorted_around[free]

    def sorts_parts(self, container: Op, after: int) -> bool:
        """Whether what a container holds is sorted, after some place."""
        return self.holders.of(container).sorted_at >= after

    def is_worklist(self, call: Op) -> bool:
        """``while todo: todo.pop()``: what is left to do is done in any order."""
        name = _path_of(call.args[0].args[0])
        for region in call.region.around():
            if region.kind == "while" and region.head is not None:
                tested = region.head.args[0]
                if any(_path_of(each) == name for each in (tested, *tested.args)):
                    return True
        return False


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
            and word(value) in ("array", "asarray", "list", "tuple", "tqdm")
            and len(value.args) > 1
        ):
            value = value.args[1]
        else:
            return found
        found.add(value)


def is_aligned(one: Op, other: Op) -> bool:
    """Whether two lists have an element for each of the same list, in its order."""
    if not ({one} | made_of(one)).isdisjoint({other} | made_of(other)):
        return True
    filled = _filled_in(one)
    return filled is not None and filled is _filled_in(other)


def _filled_in(value: Op) -> Region | None:
    """The part of a loop that adds an element to a list in each of its rounds."""
    if value.code != "phi":
        return None
    added = [each for each in value.args if each.code == "change" and each.name == "append"]
    if len(added) != 1 or not added[0].within(value.region):
        inner = [_filled_in(x) for x in value.args if x.code == "phi" and x.place > value.place]
        return inner[0] if inner else None
    return added[0].region


def _read(value: Op) -> Iterator[Op]:
    """What takes a value, also through joints."""
    seen, pending = {value}, [value]
    while pending:
        for use in pending.pop().uses:
            if use.code != "phi":
                yield use
            elif use not in seen:
                seen.add(use)
                pending.append(use)


def _carries(value: Op, joint: Op) -> bool:
    """Whether an ``+=``, in a loop of the round perhaps, adds to what the rounds before left."""
    seen, pending = set(), [value.args[0]]
    while pending:
        each = pending.pop()
        if each is joint:
            return True
        if each not in seen and each.code in ("phi", "augment"):
            seen.add(each)
            pending += each.args if each.code == "phi" else each.args[:1]
    return False


_CASES = frozenset(["basename", "casefold", "lower", "str", "strip", "upper"])


def _asks_name(test: Op, head: Op) -> bool:
    """Whether a condition holds for the one element of a name."""
    if test.code == "boolean" and test.name == "And":
        return any(_asks_name(each, head) for each in test.args)
    if test.code != "compare" or test.name != ("Eq",):
        return False
    told = [is_name_of(each, head) for each in test.args]
    return sum(told) == 1


def is_name_of(op: Op, head: Op) -> bool:
    """Whether a value is an element of a listing, or its name: ``path.name.lower()``."""
    if op is head:
        return True
    if op.code == "attr":
        return op.name in ("name", "stem") and op.args[0] is head
    if op.code == "call" and word(op) in _CASES:
        return any(is_name_of(each, head) for each in (*op.args[1:], *op.args[0].args))
    return op.code == "unpack" and op.args[0] is head


def _is_made_of(op: Op, head: Op) -> bool:
    pending, seen = [op], set()
    while pending:
        each = pending.pop()
        if each is head:
            return True
        if each not in seen and each.place > head.place:
            seen.add(each)
            pending += each.args
    return False


def _is_bound_again(value: Op, read: Op) -> bool:
    """Whether a function inside reads a name that is bound to something else before."""
    if read.code != "free":
        return False
    made = (op for op in value.function.ops if op.code == "function" and op.name is read.function)
    defined = next(made, None)
    inner = value.region if value.region.loops else None
    if defined is not None and inner is not None and defined.within(inner):
        return defined.place > value.place
    return any(each.place > value.place for each in read.args)


def _says_one(compare: Op) -> bool | None:
    """Whether a comparison of a length holds for one element, or fails; None for another."""
    operator = str(compare.name[0])
    number = next((each.name for each in compare.args if each.code == "const"), None)
    if not isinstance(number, int):
        return None
    says = {("Eq", 1): True, ("LtE", 1): True, ("Lt", 2): True}
    fails = {("NotEq", 1): False, ("Gt", 1): False, ("GtE", 2): False}
    return {**says, **fails}.get((operator, number))


def _decides(test: Op, compare: Op, use: Op, one: bool) -> bool:
    """Whether a use is reached only where a comparison, part of a test, comes out so."""
    if test.name == "assert":
        return test.place < use.place and _implied(test.args[0], compare, holds=True) == one
    regions = {x.region for x in use.function.ops[test.place :] if x.region.head is test}
    for region in regions:
        if use.within(region):
            return _implied(test.args[0], compare, holds=region.kind == "if") == one
    leaves = {
        region.kind
        for region in regions
        for op in use.function.ops[region.start : region.end]
        if op.code in ("raise", "return", "leave")
    }
    if not leaves or test.place > use.place:
        return False
    return _implied(test.args[0], compare, holds="if" not in leaves) == one


def _implied(condition: Op, compare: Op, *, holds: bool) -> bool | None:
    """What a comparison must give where a condition that it is part of holds, or fails."""
    if condition is compare:
        return holds
    if condition.code == "not":
        return _implied(condition.args[0], compare, holds=not holds)
    if condition.code == "boolean" and (condition.name == "And") == holds:
        told = [_implied(each, compare, holds=holds) for each in condition.args]
        return next((each for each in told if each is not None), None)
    return None


_SAME = frozenset(["attr", "binary", "call", "const", "format", "global", "import", "text"])


def _is_same(one: Op, other: Op) -> bool:
    """Whether two expressions give equal values: ``os.listdir(d)``, twice."""
    if one is other:
        return True
    if one.code != other.code or one.code not in _SAME or one.name != other.name:
        return False
    return len(one.args) == len(other.args) and all(
        _is_same(*each) for each in zip(one.args, other.args, strict=True)
    )


def _tests_of(op: Op) -> Iterator[Op]:
    """The tests that a condition is part of."""
    for use in op.uses:
        if use.code == "test":
            yield use
        elif use.code in ("boolean", "not"):
            yield from _tests_of(use)


class _Body:
    """What is done for one element after the other: a round of a loop, or a call.

    own   what the element is; then also all that is computed of it
    kept  parameters of a function that get what was there before
    calls  the functions that are looked at
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
        self._index = index
        self._orders = orders
        self._effects = orders.effects
        self._values = orders.values
        self._flow = flow
        self._region = region
        self._kept_params = kept
        self._calls = calls
        self._elements = own
        self._unheld: set[Op] = set()  # what is in no container
        self._ops = [op for op in region.ops() if not calls or not self._is_left_out(op)]
        self._head = min(own, key=_place, default=None)
        self._own = self._derived()
        self.seeded = any(self._seeds(op) for op in self._ops)
        self._counters = self._counting()
        self.stops = any(map(self._breaks, self._ops))

    def _is_left_out(self, op: Op) -> bool:
        """Whether an argument that is not given, by its default, keeps code from running."""
        for region in op.region.around():
            test = region.head.args[0] if region.kind in ("if", "else") and region.head else None
            if test is not None and test.code == "param" and len(test.args) == 1:
                given = test in self._elements or test in (self._kept_params or ())
                default = test.args[0]
                left_out = default.code == "const" and bool(default.name) != (region.kind == "if")
                if left_out and not given:
                    return True
        return False

    def _derived(self) -> set[Op]:
        """What is computed of the element."""
        found = set(self._elements)
        before = 0
        while before != len(found):
            before = len(found)
            for op in self._ops:
                if self._is_joint(op) or self._is_number(op):
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
        own = holder.code in _MADE and holder.within(self._region)
        return {holder} if own else set()

    def _goes_along(self, op: Op) -> bool:
        """``sizes[i]``, where ``sizes`` holds something for each element."""
        return (
            op.code == "item"
            and self._is_number(op.args[1])
            and self._effects.goes_along(op.args[1], op.args[0])
        )

    def _is_number(self, op: Op) -> bool:
        """Whether it is the number that ``enumerate`` gives."""
        return (
            self._flow.numbered
            and op.code == "unpack"
            and op.name[0] == 0
            and op.args[0] is self._head
        )

    def _is_counted_by(self, op: Op, own: set[Op]) -> bool:
        """``size += 1`` in a loop over what is of the element."""
        if op.code != "augment":
            return False
        inner = [x for x in op.region.around() if x.loops and x is not self._region]
        return any(x.head in own and x.head is not self._head for x in inner)

    def _breaks(self, op: Op) -> bool:
        if op.code != "leave" or op.name != "break":
            return False
        loops = [region for region in op.region.around() if region.kind in ("for", "while")]
        return bool(loops) and loops[0] is self._region

    def _counting(self) -> set[Op]:
        """The values that tell a round's number."""
        found: set[Op] = {self._index} if self._index is not None else set()
        if self._flow.numbered:
            uses = (use for each in self._elements for use in each.uses)
            found |= {x for x in uses if x.code == "unpack" and x.name[0] == 0}
        for op in self._ops:
            if op.code == "augment" and op.args[1] not in self._own:
                before = op.args[0]
                if self._is_joint(before) or (before.code == "attr" and self._outlives(before)):
                    found |= {op, before}
            elif op.code == "call" and self._takes_next(op):
                found.add(op)
        return found

    def _takes_next(self, call: Op) -> bool:
        """``next(numbers)``, ``rows.pop()``: it gives another value each time."""
        called = self._values.called(call)
        if "builtins.next" in called and len(call.args) > 1:
            return call.args[1] not in self._own and self._outlives(call.args[1])
        function = call.args[0]
        if function.code != "attr" or function.name not in _TAKES or called:
            return False
        if any(each in self._own for each in call.args):
            return False  # what has the element's key
        return function.args[0] not in self._own and self._outlives(function.args[0])

    def _is_joint(self, op: Op) -> bool:
        """Whether a value is what the rounds before left in a variable."""
        return op in self._region.joints

    def uses(self) -> Iterator[Use]:
        draw = self._effects.draw_in(self._region)
        if draw is not None and not self.seeded:
            yield Use(draw, "looped over")
            return
        for op in self._ops:
            judge = getattr(self, f"_on_{op.code}", None)
            if judge is not None and not self._handles_failure(op):
                yield from judge(op)
        if not self._calls:
            yield from self._left_behind()
        yield from self._numbered()

    def _handles_failure(self, op: Op) -> bool:
        """What is noted of an element that failed is for people to read."""
        return any(
            each.kind == "except" and each.within(self._region) for each in op.region.around()
        )

    def _looped(self, op: Op, *, assumed: bool = False) -> Iterator[Use]:
        yield Use(op, "looped over", assumed)

    # Leaving

    def _on_return(self, op: Op) -> Iterator[Use]:
        if self._calls:
            return  # what a call gives is judged where it is called
        if op.args[0] in self._own and not self._is_unique_match(op):
            yield from self._looped(op)

    def _on_yield(self, op: Op) -> Iterator[Use]:
        if not self._calls and not (self._own | self._counters).isdisjoint(op.args):
            yield from self._orders.yielded(op, self._flow._replace(numbered=False))

    _on_yield_from = _on_yield

    def _is_unique_match(self, op: Op) -> bool:
        """``if name == wanted: return name``."""
        for region in op.region.around():
            if region is self._region:
                return False
            test = region.head
            if region.kind == "if" and test is not None and self._is_equality(test.args[0]):
                return True
        return False

    def _is_equality(self, test: Op) -> bool:
        if test.code == "boolean" and test.name == "And":
            return any(map(self._is_equality, test.args))
        if test.code != "compare" or test.name != ("Eq",):
            return False
        own = [each for each in test.args if each in self._own]
        return len(own) == 1 and self._names_element(own[0])

    def _names_element(self, op: Op) -> bool:
        return any(is_name_of(op, each) for each in self._elements)

    # Containers

    def _on_change(self, op: Op) -> Iterator[Use]:
        owner, call = op.args
        if self._holds_group(owner):
            yield from self._grouped(op, owner)
            return
        if self._effects.made(owner) in self._own or not self._outlives(owner):
            return
        varies = any(each in self._own for each in call.args[1:])
        if op.name in _COMMUTING:
            if varies and (self.stops or (op.name == "add" and self._adds_in_order(owner))):
                yield from self._looped(op)
        elif varies or any(each in self._counters for each in call.args[1:]):
            yield from self._changed(op, owner, call)

    def _changed(self, op: Op, owner: Op, call: Op) -> Iterator[Use]:
        if op.name == "put" and len(call.args) > 2 and self._is_place(call.args[2]):
            return  # to a place of its own
        if op.name in _ADDING:
            yield from self._added(op, owner)
        elif op.name == "update":
            yield from self._updated(op, owner, call)
        elif op.name == "setdefault":
            if len(call.args) > 2 and self._numbers(call.args[2], owner):
                yield from self._looped(op)
            else:
                yield from self._filled(op)

    def _adds_in_order(self, owner: Op) -> bool:
        made = self._effects.made(owner)
        made = self._effects.made(made.args[0]) if made.code == "enter" else made
        return any(name.startswith(_HASHES) for name in self._values.called(made))

    def _is_place(self, op: Op) -> bool:
        """Whether a value is a text, such as a path."""
        return lattice.may_be(self._values.types(op), "str", "path")

    def _updated(self, op: Op, owner: Op, call: Op) -> Iterator[Use]:
        types = self._values.types(owner)
        if lattice.are(types, "set"):
            if self.stops:
                yield from self._looped(op)
        elif self._is_unique_match(op):
            return
        elif self._adds_in_order(owner) or self._has_same_keys(call):
            yield from self._looped(op)
        else:
            yield from self._filled(op)

    def _has_same_keys(self, call: Op) -> bool:
        """``options.update(json.load(file))``: the last of equal keys stays."""
        given = call.args[1] if len(call.args) == 2 else None
        if given is None or given not in self._own:
            return False
        if given.code == "dict":
            return any(
                each.code == "entry" and each.args[0].code == "const" and each.args[1] in self._own
                for each in given.args
            )
        if "builtins.dict" in self._values.called(given):
            given = given.args[1] if len(given.args) == 2 else given
            return given.code == "call" and not self._values.called(given)
        return any(name.startswith(_SETTINGS) for name in self._values.called(given))

    def _added(self, op: Op, owner: Op) -> Iterator[Use]:
        if self.stops or self._holds_number(op.args[1], owner):
            yield from self._looped(op)
            return
        if owner.code in ("item", "call"):
            yield from self._looped(op)
            return
        yield from self._kept(op, keyed=False)

    def _read_from(self, holder: Holder) -> Use | None:
        """The first use of a container after the loop."""
        end = self._region.end
        start = bisect_left(holder.reads, end, key=lambda each: each[0].place)
        for each, value in islice(holder.reads, start, None):
            if each.place >= holder.silent_from:
                return None
            use = next(self._orders.at(each, value, Flow(filled=True, grouped=True)), None)
            if use is not None and not self._orders.is_shown(use.op):
                return use
        if not self._orders.calls:
            holder.silent_from = min(holder.silent_from, end)
        return None

    def _is_shared(self, owner: Op) -> bool:
        """``files[split]``, where a file is for more than one element."""
        for holder, key in groups.holders_of(owner, self._own, self._unheld):
            if self._effects.made(holder) not in self._own:
                return not self._is_alone(key) and self._outlives(holder)
        return False

    def _is_alone(self, key: Op) -> bool:
        """Whether a key is an element itself, or stands for one: ``index_of[future]``."""
        if key.code == "item":
            key = key.args[1]
        return key in self._elements

    def _holds_number(self, call: Op, owner: Op) -> bool:
        """``found.append((name, len(found)))``."""
        pending, seen = list(call.args[1:]), set()
        while pending:
            each = pending.pop()
            if each in seen or not each.within(self._region):
                continue
            seen.add(each)
            if self._numbers(each, owner):
                return True
            pending += each.args
        return False

    # Lists in a dict

    def _holds_group(self, owner: Op) -> bool:
        """``groups[key]``, ``groups.setdefault(key, [])``, of a dict that was there before."""
        table = _table(owner)
        return table is not None and self._outlives(table)

    def _grouped(self, op: Op, owner: Op) -> Iterator[Use]:
        call = op.args[1]
        given = [each for each in call.args[1:] if each in self._own or each in self._counters]
        if op.name not in _ADDING or not (given or owner in self._own):
            return
        if not given and not any(self._counters):
            return
        table = _table(owner)
        assert table is not None  # noqa: S101 - what `_holds_group` says
        if self.stops:
            yield from self._looped(op)
        elif not (self._is_apart(owner, call) or self._is_of_job(owner)):
            yield from self._of_groups(op, table)

    def _of_groups(self, op: Op, table: Op) -> Iterator[Use]:
        """What is done with the lists of a dict, to which an operation adds."""
        holder = self._effects.holders.of(table)
        if holder.sorted_at >= self._region.end:
            return
        found = self._read_from(holder)
        if found is not None:
            yield Use(found.op, "looped over", found.assumed)
        elif any(each.code in ("attr", "param") for each in holder.states):
            yield from self._looped(op)

    def _is_apart(self, owner: Op, call: Op) -> bool:
        """Whether each round adds to a list of its own, and what it adds depends on no other."""
        if owner.code != "item" or owner.args[1] not in self._elements:
            return False
        table = owner.args[0]
        return self._has_own_lists(table) and not self._depends(call, self._effects.made(table))

    def _is_of_job(self, owner: Op) -> bool:
        """``found[index_of[future]]``: what finishes was one job."""
        key = owner.args[1] if self._orders.finishing and owner.code == "item" else None
        return key is not None and self._is_alone(key)

    def _has_own_lists(self, table: Op) -> bool:
        """``{"a": [], "b": []}``, one for each key."""
        made = self._effects.made(table)
        if made.code == "comprehension":
            return made.name == "dict" and made.args[1].code in ("list", "const")
        if made.code != "dict" or not made.args:
            return False
        held = [each.args[1] for each in made.args if each.code == "entry"]
        own = all(each.code in ("list", "const") for each in held)
        return own and len(set(held)) == len(made.args)

    def _depends(self, op: Op, table: Op) -> bool:
        """Whether a value is made of what the rounds before left."""
        pending, seen = list(op.args[1:]), set()
        while pending:
            each = pending.pop()
            if each in seen or each is self._head:
                continue
            seen.add(each)
            if self._effects.made(each) is table or self._is_told(each) or self._is_stored(each):
                return True
            if not each.within(self._region):
                continue
            if each in self._counters or (self._is_joint(each) and each.uses):
                return True
            if each.code == "call" and self._meets_state(each, table):
                return True
            pending += each.args
        return False

    def _is_told(self, value: Op) -> bool:
        """Whether a function that the round calls for its effect gets a value."""
        return (
            self._is_older(value)
            and value.code not in ("const", "global")
            and any(
                use.code == "call"
                and use in self._own
                and use.within(self._region)
                and not self._orders.is_log(use)
                and any(each.code == "drop" for each in use.uses)
                and value in use.args[1:]
                for use in value.uses
            )
        )

    def _is_stored(self, value: Op) -> bool:
        path = _path_of(value) if value.code == "attr" else ""
        return bool(path) and any(
            op.code == "store_attr" and f"{_path_of(op.args[0])}.{op.name}" == path
            for op in self._ops
        )

    def _meets_state(self, call: Op, table: Op) -> bool:
        """Whether a call reads the table that is filled, or trains or draws something."""
        if names.trains(word(call)):
            return True
        function = self._values.callee(call)
        if function is not None and any(
            op.code == "free" and any(self._effects.made(x) is table for x in op.args)
            for op in function.ops
        ):
            return True
        return self._effects.draw_in(self._region) is not None

    def _kept(self, op: Op, *, keyed: bool) -> Iterator[Use]:
        """What is done with a container that the loop filled."""
        before = self._orders.first(op, Flow(keyed=keyed, filled=True))
        if before is not None:
            yield Use(before.op, "looped over", before.assumed)
        elif not keyed and self._escapes(op):
            yield Use(op, "looped over")

    def _escapes(self, op: Op) -> bool:
        """Whether others hold the container that is filled."""
        owner = self._effects.made(op.args[0])
        if any(self._orders.reads_field(use) for use in owner.uses if use.code == "store_attr"):
            return not self._is_settled_field(owner)
        if owner.code in ("param", "global"):
            return True
        if owner.code == "free":
            return not self._effects.is_sorted_around(owner)
        if owner.code == "attr":
            return not self._is_settled(owner, op)
        return False

    def _is_settled_field(self, value: Op) -> bool:
        function = value.function
        return any(
            self._values.unit.is_sorted_field(function.class_name, str(use.name))
            for use in value.uses
            if use.code == "store_attr" and function.class_name
        )

    def _is_settled(self, owner: Op, op: Op) -> bool:
        path = _path_of(owner)
        unit = self._values.unit
        if owner.function.class_name and unit.is_sorted_field(
            owner.function.class_name, str(owner.name)
        ):
            return True
        after = owner.function.ops[self._region.end :]
        return any(
            each.code == "change" and each.name == "sort" and _path_of(each.args[0]) == path
            for each in after
        ) or any(
            each.code == "store_attr"
            and f"{_path_of(each.args[0])}.{each.name}" == path
            and "builtins.sorted" in self._values.called(each.args[1])
            for each in after
        )

    def _filled(self, op: Op) -> Iterator[Use]:
        if self.stops:
            yield from self._looped(op)
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
        return word(container) not in ("copy", "deepcopy", "state_dict", "fromkeys")

    def _outlives(self, owner: Op) -> bool:
        """Whether a container was there before the round."""
        seen: set[Op] = set()
        pending = [owner]
        while pending:
            each = pending.pop()
            if each in seen:
                continue
            seen.add(each)
            if self._is_older(each):
                return True
            if each.code in ("change", "store_item", "augment", "phi", "item", "attr"):
                pending += each.args[:1] if each.code != "phi" else each.args
            elif each.code == "call" and each.args[0].code == "attr":
                # A method, and no library's function.
                pending += [] if self._values.called(each) else each.args[0].args[:1]
        return False

    def _is_older(self, op: Op) -> bool:
        """Whether a value was there before the round."""
        if op.code in ("global", "free", "import"):
            return True
        if self._kept_params is not None and op.code == "param":
            return op in self._kept_params
        return not op.within(self._region) or self._is_joint(op)

    def _on_store_item(self, op: Op) -> Iterator[Use]:
        container, key, value = op.args
        if container in self._own and value in self._counters and container.code != "phi":
            yield from self._looped(op)
        if self._effects.made(container) in self._own or not self._outlives(container):
            return
        if key.code == "range" and value in self._own and container not in self._own:
            yield from self._looped(op)
            return
        if (
            key in self._counters
            or (value in self._counters and key in self._own)
            or self._numbers(value, container)
        ):
            yield from self._looped(op)
        elif key not in self._own:
            if self._adds_whole(value):
                return
            if value in self._own and not (self._is_unique_match(op) or self._is_searched(key, op)):
                yield from self._looped(op)
        elif self._adds_to_group(value, key):
            yield from self._of_groups(op, container)
        else:
            yield from self._filled(op)

    def _is_searched(self, key: Op, op: Op) -> bool:
        """Whether a key is what a search in the round stopped at, or passed."""
        inside = key.code == "iter" and key.within(self._region)
        return inside and not op.within(key.region)

    def _adds_to_group(self, value: Op, key: Op) -> bool:
        """``groups[path.parent] += [path]``: several elements may have the key."""
        return (
            value.code == "augment"
            and key not in self._elements
            and lattice.may_be(self._values.types(value.args[1]), "list", "str", "float")
        )

    def _adds_whole(self, value: Op) -> bool:
        """``counts[0] += 1``, in any order."""
        return (
            value.code == "augment"
            and value.name in ("Add", "Sub")
            and lattice.are(self._values.types(value.args[1]), "int", "bool")
        )

    def _numbers(self, value: Op, container: Op) -> bool:
        """``index[name] = len(index)``, ``= next(counter)``."""
        if value.code == "binary":
            return any(self._numbers(each, container) for each in value.args)
        if value.code != "call":
            return False
        called = word(value)
        if called == "next":
            return value.args[1] not in self._own if len(value.args) > 1 else False
        if called in ("len", "max", "min", "sum"):
            return any(self._is_state(each, container) for each in value.args[1:])
        return False

    def _is_state(self, op: Op, container: Op) -> bool:
        if op is container or (op.code == "phi" and self._is_joint(op)):
            return True
        if op.code == "call" and op.args[0].code == "attr":
            return self._is_state(op.args[0].args[0], container)
        return bool(_path_of(op)) and _path_of(op) == _path_of(container)

    def _on_store_attr(self, op: Op) -> Iterator[Use]:
        owner, value = op.args
        if owner in self._own or value not in self._own or not self._outlives(owner):
            return
        if value.code == "augment":
            yield from self._summed(value)
        elif not self._has_no_order(value):
            yield from self._looped(op)

    def _on_store_global(self, op: Op) -> Iterator[Use]:
        if op.args[0] in self._own and op.function is not self._values.unit.module:
            yield from self._looped(op)

    # Variables

    def _on_phi(self, joint: Op) -> Iterator[Use]:
        if not self._is_joint(joint):
            return
        for given in joint.args[1:]:
            for value in self._leaves(given):
                yield from self._carried(joint, value)

    def _leaves(self, op: Op) -> Iterator[Op]:
        """What the branches of a round may make of a variable, its own state left out."""
        seen, pending = {op}, [op]
        while pending:
            each = pending.pop()
            if each.code == "phi" and each.within(self._region) and not self._is_joint(each):
                pending += [x for x in each.args if x not in seen]
                seen.update(each.args)
                continue
            own = each.within(self._region) and not self._is_joint(each)
            state = self._is_old_state(each) and each.code not in (
                "augment",
                "comprehension",
                "iter",
            )
            if own and not state:
                yield each

    def _carried(self, joint: Op, value: Op) -> Iterator[Use]:
        """A variable that the next round, or what comes after the loop, reads."""
        if value.code == "augment" and _carries(value, joint):
            yield from self._accumulated(joint, value)
            return
        kept = value in self._own and self._effects.is_read(joint, value)
        if kept and not self._has_no_order(value):
            yield from self._looped(value)

    def _left_behind(self) -> Iterator[Use]:
        """What the round that ends the loop, or the last one, leaves in a variable."""
        for op in self._ops:
            if op not in self._own or self._is_joint(op) or self._is_old_state(op):
                continue
            outside = [use for use in op.uses if not use.within(self._region)]
            if not any(self._effects.reads(use, op) for use in outside):
                continue
            for value in self._leaves(op):
                kept = value in self._own and not self._is_old_state(value)
                if kept and not self._has_no_order(value):
                    yield from self._looped(value)

    def _is_old_state(self, op: Op) -> bool:
        """Whether it is the state of a container or number that was there before the round."""
        if op.code in ("augment", "change", "store_item"):
            return self._outlives(op.args[0])
        return op.code in _STATES

    def _has_no_order(self, value: Op) -> bool:
        """Whether the same is kept whatever the order: the one element that a test asks for, the
        largest, a union."""
        return self._joins(value) or self._is_unique_match(value) or self._is_extreme()

    def _joins(self, value: Op) -> bool:
        """Whether what a variable gets is made of what it was in a way that has no order."""
        if value.code == "call":
            called = self._values.called(value)
            if {"builtins.max", "builtins.min"} & set(called):
                return True
            function = value.args[0]
            if function.code == "attr" and self._is_joint(function.args[0]):
                if names.removes(word(value)) or word(value) in ("union", "intersection"):
                    return True
                if word(value) == "replace" and len(value.args) == 3:
                    return value.args[2].code == "const"
        if value.code != "binary":
            return False
        bits = value.name in _OF_BITS and any(map(self._is_joint, value.args))
        return bits or self._values.is_set(value)

    def _is_extreme(self) -> bool:
        """``if size > best: best, name = size, path``."""
        return any(
            op.code == "compare"
            and not {"Gt", "Lt", "GtE", "LtE"}.isdisjoint(op.name)
            and any(map(self._is_joint, op.args))
            for op in self._ops
        )

    def _is_read_after(self, joint: Op) -> bool:
        after = (use for use in _read(joint) if not use.within(self._region))
        return self._effects.is_read(joint) and any(
            not self._effects.is_quiet(use) for use in after
        )

    def _summed(self, value: Op) -> Iterator[Use]:
        """``self.size += size``, of something that outlives the round."""
        if self._adds_in_any_order(value):
            return
        yield Use(value, "looped over", assumed=self._seems_whole(value))

    def _adds_in_any_order(self, value: Op) -> bool:
        """Whether an ``+=`` or the like gives the same in any order."""
        if value.name in _OF_BITS or self._values.is_set(value):
            return True
        return lattice.are(self._values.types(value.args[1]), "int", "bool")

    def _seems_whole(self, value: Op) -> bool:
        """Whether what an ``+=`` adds to is a whole number, and what it adds may be one."""
        return (
            value.name in ("Add", "Sub", "Mult")
            and lattice.are(self._values.types(value.args[0]), "int")
            and not lattice.may_be(self._values.types(value.args[1]), "float", "str", "list")
        )

    def _accumulated(self, joint: Op, value: Op) -> Iterator[Use]:
        # A count has readers that are judged apart.
        if value.args[1] not in self._own or self._adds_in_any_order(value):
            return
        before = self._values.types(value.args[0])
        if self._seems_whole(value):
            yield Use(value, "looped over", assumed=True)
        elif not lattice.may_be(before, "list", "str") or self._is_read_after(joint):
            found = self._orders.first(value, Flow(filled=True))
            if found is not None or lattice.may_be(before, "float", "?"):
                yield Use(value, "looped over", found.assumed if found else False)

    def _numbered(self) -> Iterator[Use]:
        """Uses of a round's number that others than messages see."""
        for counter in sorted(self._counters, key=_place):
            for use in counter.uses:
                if not use.within(self._region) or use in self._counters:
                    continue
                if use.code in (
                    "phi",
                    "augment",
                    "store_global",
                    "store_item",
                    "change",
                ) or self._effects.is_quiet(use):
                    continue
                if use.code == "item" and (
                    use in self._elements or self._effects.goes_along(counter, use.args[0])
                ):
                    continue
                if use in self._own or self._meets_element(use):
                    yield from self._looped(use)
                    return

    def _meets_element(self, use: Op) -> bool:
        """Whether a number goes where the element goes: a file's name, a row."""
        pending, seen = [use], set()
        while pending:
            each = pending.pop()
            if each in seen:
                continue
            seen.add(each)
            called = each.code == "call" and not self._orders.is_log(each)
            if called and any(x in self._own for x in each.args):
                return True
            pending += [x for x in each.uses if x.within(self._region)]
        return False

    # Calls

    def _on_drop(self, op: Op) -> Iterator[Use]:
        call = op.args[0]
        if call.code == "await":
            call = call.args[0]
        if call.code != "call" or self._orders.is_log(call):
            return
        if "builtins.print" in self._values.called(call):
            yield from self._looped(call)
        elif (call in self._own or self._is_closure(call)) and not self._is_unique_match(op):
            yield from self._dropped(call)

    def _dropped(self, call: Op) -> Iterator[Use]:
        if self.stops:
            yield from self._looped(call)
        elif self._works_alone(call):
            if any(each in self._counters for each in call.args[1:]):
                yield from self._looped(call)
        elif self._writes_shared(call):
            yield from self._looped(call)
        else:
            yield from self._unknown(call)

    def _on_function(self, op: Op) -> Iterator[Use]:
        """A function that a decorator hands on, with the element in it."""
        decorated = bool(getattr(op.node, "decorator_list", ()))
        if decorated and self._free(op.name):
            yield from self._looped(op)

    def _on_call(self, call: Op) -> Iterator[Use]:
        """A call whose result is used, and that trains a model or the like on the way."""
        if call not in self._own or all(use.code in ("drop", "await") for use in call.uses):
            return
        function = self._values.callee(call)
        if function is not None:
            yield from self._entered(function, call)
        elif call.args[0].code == "attr" and not self._values.called(call):
            owner = call.args[0].args[0]
            if owner not in self._own and self._outlives(owner) and names.trains(word(call)):
                yield from self._looped(call.args[0])

    def _is_closure(self, call: Op) -> bool:
        """Whether a function that is called reads what is computed of the element around it."""
        function = self._values.callee(call)
        return function is not None and bool(self._free(function))

    def _free(self, function: Function) -> set[Op]:
        return {
            op
            for op in function.ops
            if op.code == "free" and any(each in self._own for each in op.args)
        }

    def _works_alone(self, call: Op) -> bool:
        """Whether a call changes or writes only a file that the element names."""
        called = self._values.called(call)
        for name in called:
            if name in _WRITERS:
                place = _WRITERS[name]
                return len(call.args) > place + 1 and call.args[place + 1] in self._own
            if name.startswith(_ON_FILES):
                return True
        function = call.args[0]
        if function.code == "attr" and function.args[0] in self._own:
            owner = function.args[0]
            return not (
                self._gives_shared(call) or self._is_group_file(owner) or self._is_shared(owner)
            )
        return names.works_on_file(word(call))

    def _gives_shared(self, call: Op) -> bool:
        """``clip.write_frames(log)``, where ``log`` was there before."""
        return names.writes(word(call)) and any(
            each not in self._own and each.code in ("param", "attr") for each in call.args[1:]
        )

    def _is_group_file(self, op: Op) -> bool:
        """``open(name[0] + ".txt", "a")``: several elements may have it."""
        opened = op.args[0] if op.code == "enter" else op
        if "builtins.open" not in self._values.called(opened) or len(opened.args) < 3:
            return False
        mode, place = opened.args[2].name, opened.args[1]
        if not isinstance(mode, str) or mode[:1] not in ("a", "w", "x"):
            return False
        parts = [place, *place.args] if place.code == "binary" else [place]
        lossy = mode.startswith("a") and any(x.code in ("item", "slice") for x in parts)
        return lossy or place not in self._own

    def _writes_shared(self, call: Op) -> bool:
        """``json.dump(element, file)`` into one file."""
        function = call.args[0]
        leaves = function.code == "attr" and names.leaves_something(word(call))
        if leaves and self._is_group_file(function.args[0]):
            return True
        return any(name in _WRITERS for name in self._values.called(call))

    def _unknown(self, call: Op) -> Iterator[Use]:
        function = self._values.callee(call)
        if function is not None:
            yield from self._entered(function, call)
            return
        owner = call.args[0]
        if owner.code == "attr":
            made = owner.args[0]
            if word(call) in _CHANGES:
                return  # judged as such
            if not (self._outlives(made) or self._gives_shared(call)):
                return
            if lattice.are(self._values.types(made), "set") or self._is_zip(call, made):
                return
            named = len(call.args) > 2 and call.args[1] in self._own
            if word(call) == "register" and named and self._is_place(call.args[1]):
                return  # under a name of its own
        elif names.writes(word(call)) and self._tells_only(call):
            return  # a file of its own
        if names.leaves_something(word(call)):
            yield from self._looped(call)

    def _is_zip(self, call: Op, owner: Op) -> bool:
        """``archive.write(path, name)``: what an archive holds is found by its name."""
        made = self._effects.made(owner.args[0] if owner.code == "enter" else owner)
        named = word(call) == "writestr" or len(call.args) > 2
        return named and "zipfile.ZipFile" in self._values.called(made)

    def _tells_only(self, call: Op) -> bool:
        """Whether a function is told of the element, and of nothing that was there before."""
        return all(
            each in self._own or each.code == "const" or not self._outlives(each)
            for each in call.args[1:]
        )

    def _entered(self, function: Function, call: Op) -> Iterator[Use]:
        """What a function of the file leaves behind that the next call meets."""
        given = bound(function, call)
        own = {name for name, value in given.items() if value in self._own}
        own |= self._free(function)
        kept = {name for name, value in given.items() if name not in own and self._outlives(value)}
        found = self._effects.of_calls(function, own, kept, self._calls, seeded=self.seeded)
        if found is not None:
            yield from self._looped(call, assumed=found.assumed)

    def _seeds(self, op: Op) -> bool:
        return not _SEEDING.isdisjoint(self._values.called(op))


def bound(function: Function, call: Op) -> dict[Op, Op]:
    """What the parameters of a function get in a call, as far as it is written out."""
    plain = [op for op in function.params.values() if not op.name[0]]
    found = {}
    owner = call.args[0]
    if "." in function.name and owner.code == "attr" and plain and _is_bound(function):
        found[plain.pop(0)] = owner.args[0]
    for name, value in call.arguments():
        if name == "*":
            break
        if name is None and plain:
            found[plain.pop(0)] = value
        elif name in function.params:
            found[function.params[name]] = value
    return found


def _is_bound(function: Function) -> bool:
    """Whether a method gets its object as its first argument."""
    decorators = getattr(function.node, "decorator_list", [])
    return not any(isinstance(x, ast.Name) and x.id == "staticmethod" for x in decorators)


def _table(owner: Op) -> Op | None:
    """The dict that a list is looked up in."""
    if owner.code == "item":
        return owner.args[0]
    if owner.code == "call" and word(owner) in ("setdefault", "get") and len(owner.args) > 1:
        return owner.args[0].args[0] if owner.args[0].code == "attr" else None
    return None


def word(call: Op) -> str:
    """The last word of what is called."""
    if call.code != "call":
        return ""
    function = call.args[0]
    if function.code == "import" and isinstance(call.node, ast.Call):  # in the module itself
        return getattr(call.node.func, "id", "")
    return str(function.name) if function.code in ("attr", "global", "free") else ""


def _path_of(op: Op) -> str:
    node = op.node
    if op.code in ("attr", "global", "free", "param", "phi", "call", "change"):
        if isinstance(node, (ast.Name, ast.Attribute)):
            return ast.unparse(node)
        if op.code == "param":
            return str(op.name[1])
        if isinstance(op.name, str) and op.code == "phi":
            return op.name
    return ""


def _root(op: Op) -> Op:
    seen = 0
    while (
        op.code in ("attr", "item", "change", "store_item", "phi", "augment")
        and op.args
        and seen < 50
    ):
        if op.code == "attr" and op.args[0].code in ("param", "global"):
            return op
        op = op.args[0]
        seen += 1
    return op


def _adds_outside(op: Op) -> bool:
    """``found.append(x)``, to what a function is given or an object holds."""
    if op.code != "change" or op.name not in _ADDING | {"update", "setdefault"}:
        return False
    return _root(op.args[0]).code in ("param", "global", "attr")


def _place(op: Op) -> int:
    return op.place
