"""What the rounds of a loop leave behind, and whether it depends on their order.

A round computes about its own element as it likes. What outlives it decides: what it adds to a
container that was there before, a variable that the next round or the code after the loop reads,
what it writes, returns, yields or draws. Whole numbers can be added, and sets filled, in any order.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from detlint.dataflow import groups, lattice
from detlint.dataflow.use import Flow, Use
from detlint.models import names

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
    "json.dump": 1,
    "pickle.dump": 1,
    "torch.save": 1,
    "yaml.dump": 1,
    "yaml.safe_dump": 1,
    "shutil.copyfileobj": 1,
}
_CHANGED = frozenset(("change", "declared", "phi", "store_item"))
# Containers as they are changed, judged as such.
_STATES = frozenset(("augment", "change", "comprehension", "delete", "iter", "store_item"))
_WRITING = frozenset(("add", "append", "write", "writelines", "writerow"))
# Operators that give the same in any order: of numbers, masks and sets.
_OF_BITS = frozenset(("BitOr", "BitAnd", "BitXor"))
_WRAPPING = frozenset(("iter", "list", "set", "sorted", "tuple"))
_HASHES = ("hashlib.", "zlib.", "xxhash.", "blake3.", "tarfile.")


class Effects:
    """Judges the loops of one file."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._values: Values = orders.values
        self.holders = groups.Holders()
        self._made: dict[Op, Op] = {}
        self._unread: set[Op] = set()
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

    def is_read(self, value: Op) -> bool:
        """Whether anything but a test or a message takes a value, also through joints."""
        seen, pending = {value}, [value]
        while pending:
            for use in pending.pop().uses:
                if use.code != "phi":
                    if not self.is_quiet(use):
                        return True
                elif use not in seen and use not in self._unread:
                    seen.add(use)
                    pending.append(use)
        self._unread |= seen
        return False

    def reads(self, use: Op) -> bool:
        """Whether a use is more than a test or a message."""
        return self.is_read(use) if use.code == "phi" else not self.is_quiet(use)

    def of_loop(self, head: Op, flow: Flow) -> Iterator[Use]:
        """The uses of the order in which a loop takes its elements."""
        yield from _Body(self._orders, head.region, {head}, flow).uses()

    def of_rounds(self, region: Region, elements: set[Op]) -> Iterator[Use]:
        """The uses of the order in which the rounds of a loop take some elements, all of them."""
        yield from _Body(self._orders, region, elements, Flow(), stops=False).uses()

    # Questions about expressions

    def draw_in(self, region: Region) -> Op | None:
        """The first random draw among some operations that no seeding comes before."""
        for op in region.ops():
            if op.code != "call":
                continue
            called = self._values.called(op)
            if not _SEEDING.isdisjoint(called):
                return None
            if self.draws(op, called):
                return op
        return None

    def draws(self, call: Op, called: list[str]) -> bool:
        if any(name.startswith(_DRAWS) and name not in _NO_DRAWS for name in called):
            return True
        function = call.args[0]
        if function.code != "attr":
            return False
        owner = function.args[0]
        made = [owner] if owner.code == "call" else [x for x in owner.args if x.code == "call"]
        if owner.code == "call" and len(owner.args) > 1:
            return False  # a generator of its own for each element
        return any(not _GENERATORS.isdisjoint(self._values.called(each)) for each in made)

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
        over = key.args[0]
        if word(over) not in ("range", "trange") or len(over.args) < 2:
            return None
        for each in over.args[1:]:
            sources = [each, *each.args] if each.code == "phi" else [each]
            for source in sources:
                if source.code == "call" and "builtins.len" in self._values.called(source):
                    return key if source.args[1] is value else None
        return None

    def goes_along(self, key: Op, value: Op) -> bool:
        """``for i, x in enumerate(names): … sizes[i]``, where ``sizes`` was made of ``names``."""
        if key.code != "unpack" or key.name[0] != 0 or key.args[0].code != "iter":
            return False
        over = key.args[0].args[0]
        if "builtins.enumerate" not in self._values.called(over) or len(over.args) != 2:
            return False
        made = over.args[1]
        return made is value or made in made_of(value)

    def is_counted_one(self, value: Op, use: Op) -> bool:
        """Whether the code makes sure that a value holds one element, or it is one by itself."""
        whole = self._whole(value)
        if self.is_one(whole) or self._is_common(whole):
            return True
        lengths = self._lengths_in(value.function)
        path = _path_of(whole)
        asked = [*lengths.get(whole, ()), *(lengths.get(path, ()) if path else ())]
        return any(self._tells_one(op, use) for op in asked)

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
        for compare in length.uses:
            if compare.code != "compare":
                continue
            if not any(each.code == "const" and each.name == 1 for each in compare.args):
                continue
            if any(self._decides(test, compare, use) for test in _tests_of(compare)):
                return True
        return False

    @staticmethod
    def _decides(test: Op, compare: Op, use: Op) -> bool:
        if test.name == "assert":
            return test.place < use.place
        one = compare.name in (("Eq",), ("LtE",))  # and not another number
        regions = {x.region for x in use.function.ops[test.place :] if x.region.head is test}
        for region in regions:
            holds = (region.kind == "if") == one
            if use.within(region):
                return holds
        leaves = any(
            op.code in ("raise", "return", "leave")
            for each in regions
            if (each.kind == "if") != one
            for op in use.function.ops[each.start : each.end]
        )
        return leaves and test.place < use.place

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
            and word(value) in ("list", "tuple", "tqdm")
            and len(value.args) > 1
        ):
            value = value.args[1]
        else:
            return found
        found.add(value)


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


def _tests_of(op: Op) -> Iterator[Op]:
    """The tests that a condition is part of."""
    for use in op.uses:
        if use.code == "test":
            yield use
        elif use.code in ("boolean", "not"):
            yield from _tests_of(use)


class _Body:
    """One loop over elements in an order that varies."""

    def __init__(
        self,
        orders: Orders,
        region: Region,
        elements: set[Op],
        flow: Flow,
        *,
        stops: bool | None = None,
    ) -> None:
        self._orders = orders
        self._effects = orders.effects
        self._values = orders.values
        self._elements = elements
        self._unheld: set[Op] = set()  # what is in no container
        self._flow = flow
        self._region = region
        self._ops = list(self._region.ops())
        self._own = self._derived()
        self._counters = self._counting()
        self._stops = any(map(self._breaks, self._ops)) if stops is None else stops

    def _derived(self) -> set[Op]:
        """What is computed of the element."""
        found = set(self._elements)
        for op in self._ops:
            if self._is_joint(op):
                continue  # what held before the round
            if any(each in found for each in op.args):
                found.add(op)
        return found

    def _breaks(self, op: Op) -> bool:
        if op.code != "leave" or op.name != "break":
            return False
        loops = [region for region in op.region.around() if region.kind in ("for", "while")]
        return bool(loops) and loops[0] is self._region

    def _counting(self) -> set[Op]:
        """The values that tell a round's number."""
        found: set[Op] = set()
        if self._flow.numbered:
            uses = (use for each in self._elements for use in each.uses)
            found |= {x for x in uses if x.code == "unpack" and x.name[0] == 0}
        for op in self._ops:
            if op.code == "augment" and self._is_joint(op.args[0]) and op.args[1] not in self._own:
                found |= {op, op.args[0]}
        return found

    def _is_joint(self, op: Op) -> bool:
        """Whether a value is what the rounds before left in a variable."""
        return op in self._region.joints

    def uses(self) -> Iterator[Use]:
        draw = self._effects.draw_in(self._region)
        if draw is not None:
            yield Use(draw, "looped over")
            return
        for op in self._ops:
            judge = getattr(self, f"_on_{op.code}", None)
            if judge is not None and not self._handles_failure(op):
                yield from judge(op)
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
        if op.args[0] in self._own and not self._is_unique_match(op):
            yield from self._looped(op)

    def _on_yield(self, op: Op) -> Iterator[Use]:
        if not (self._own | self._counters).isdisjoint(op.args):
            yield from self._orders.in_return(op, op, self._flow._replace(numbered=False))

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
        if op in self._elements:
            return True
        if op.code == "attr":
            return op.name in ("name", "stem") and op.args[0] in self._elements
        if op.code == "call" and word(op) in (
            "lower",
            "upper",
            "casefold",
            "strip",
            "basename",
            "str",
        ):
            return any(self._names_element(x) for x in (*op.args[1:], *op.args[0].args))
        return op.code == "unpack" and op.args[0] in self._elements

    # Containers

    def _on_change(self, op: Op) -> Iterator[Use]:
        owner, call = op.args
        if owner in self._own:
            yield from self._grouped(op, owner)
            return
        if not self._outlives(owner):
            return
        varies = any(each in self._own for each in call.args[1:])
        if op.name in _COMMUTING:
            if (op.name == "add" and self._adds_in_order(owner) and varies) or (
                self._stops and varies
            ):
                yield from self._looped(op)
            return
        if not varies and not any(each in self._counters for each in call.args[1:]):
            return
        if op.name in _ADDING:
            yield from self._added(op, owner)
        elif op.name == "update":
            yield from self._updated(op, owner, call)
        elif op.name == "setdefault":
            yield from self._filled(op)

    def _adds_in_order(self, owner: Op) -> bool:
        made = owner.args[0] if owner.code in ("enter", "phi", "change") and owner.args else owner
        return any(name.startswith(_HASHES) for name in self._values.called(made))

    def _updated(self, op: Op, owner: Op, call: Op) -> Iterator[Use]:
        types = self._values.types(owner)
        if lattice.are(types, "set", "counter"):
            if self._stops:
                yield from self._looped(op)
        elif self._adds_in_order(owner):
            yield from self._looped(op)
        else:
            yield from self._filled(op)

    def _added(self, op: Op, owner: Op) -> Iterator[Use]:
        if self._stops:
            yield from self._looped(op)
            return
        if owner.code in ("item", "call"):
            yield from self._looped(op)
            return
        yield from self._kept(op, keyed=False)

    def _grouped(self, op: Op, owner: Op) -> Iterator[Use]:
        """What is done with the lists of a container, to which elements are added by a key."""
        if op.name not in _ADDING:
            return
        container = self._holder_of(owner)
        holder = self._effects.holders.of(container) if container is not None else None
        if holder is None or holder.sorted_at >= self._region.end:
            return
        found = self._read_from(holder)
        if found is not None:
            yield Use(found.op, "looped over", found.assumed)
        elif any(each.code in ("attr", "param") for each in holder.states):
            yield from self._looped(op)

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

    def _holder_of(self, owner: Op) -> Op | None:
        """``files`` of ``files[split]``, where a file is for more than one element."""
        held = groups.holder_of(owner, self._own, self._unheld)
        if held is None or self._is_alone(held[1]) or not self._outlives(held[0]):
            return None
        return held[0]

    def _is_alone(self, key: Op) -> bool:
        """Whether a key is an element itself, or stands for one: ``index_of[future]``."""
        if key.code == "item":
            key = key.args[1]
        return key in self._elements

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
        if owner.code == "param":
            return True
        if owner.code == "attr":
            return not self._is_settled(owner, op)
        return False

    def _is_settled(self, owner: Op, op: Op) -> bool:
        path = _path_of(owner)
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
        if self._stops:
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
            if not each.within(self._region) or self._is_joint(each):
                return True
            if each.code in ("change", "store_item", "augment", "phi", "item", "attr"):
                pending += each.args[:1] if each.code != "phi" else each.args
            elif each.code == "call" and each.args[0].code == "attr":
                pending.append(each.args[0].args[0])
        return False

    def _on_store_item(self, op: Op) -> Iterator[Use]:
        container, key, value = op.args
        if container in self._own or not self._outlives(container):
            return
        if (
            key in self._counters
            or (value in self._counters and key in self._own)
            or self._numbers(value, container)
        ):
            yield from self._looped(op)
        elif key not in self._own:
            if value in self._own and not self._is_unique_match(op):
                yield from self._looped(op)
        else:
            yield from self._filled(op)

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
        kept = owner not in self._own and value in self._own and self._outlives(owner)
        if kept and not self._has_no_order(value):
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
            if own and each.code not in _STATES - {"augment", "comprehension", "iter"}:
                yield each

    def _carried(self, joint: Op, value: Op) -> Iterator[Use]:
        """A variable that the next round, or what comes after the loop, reads."""
        if value.code == "augment" and self._is_joint(value.args[0]):
            yield from self._accumulated(joint, value)
            return
        kept = value in self._own and self._effects.is_read(joint)
        if kept and not self._has_no_order(value):
            yield from self._looped(value)

    def _left_behind(self) -> Iterator[Use]:
        """What the round that ends the loop, or the last one, leaves in a variable."""
        for op in self._ops:
            if op not in self._own or self._is_joint(op) or op.code in _STATES:
                continue
            outside = [use for use in op.uses if not use.within(self._region)]
            if not any(map(self._effects.reads, outside)):
                continue
            for value in self._leaves(op):
                kept = value in self._own and value.code not in _STATES
                if kept and not self._has_no_order(value):
                    yield from self._looped(value)

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

    def _accumulated(self, joint: Op, value: Op) -> Iterator[Use]:
        added = value.args[1]
        if added not in self._own:
            return  # a count, whose readers are judged apart
        if value.name in _OF_BITS or self._values.is_set(value):
            return
        types = self._values.types(added)
        if lattice.are(types, "int", "bool"):
            return
        before = self._values.types(value.args[0])
        if (
            value.name in ("Add", "Sub", "Mult")
            and lattice.are(before, "int")
            and not lattice.may_be(types, "float", "str", "list")
        ):
            yield Use(value, "looped over", assumed=True)
        elif not lattice.may_be(before, "list", "str") or self._is_read_after(joint):
            found = self._orders.first(value, Flow(filled=True))
            if found is not None or lattice.may_be(before, "float", "?"):
                yield Use(value, "looped over", found.assumed if found else False)

    def _numbered(self) -> Iterator[Use]:
        """Uses of a round's number that others than messages see."""
        for counter in self._counters:
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
                if use.code == "item" and self._effects.goes_along(counter, use.args[0]):
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
            return
        varies = call in self._own
        counted = any(each in self._counters for each in call.args[1:])
        if not varies and not counted:
            return
        if self._works_alone(call):
            if self._stops or counted:
                yield from self._looped(call)
            return
        if self._writes_shared(call):
            yield from self._looped(call)
            return
        yield from self._unknown(call)

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
            return self._holder_of(function.args[0]) is None
        return names.works_on_file(word(call))

    def _writes_shared(self, call: Op) -> bool:
        """``json.dump(element, file)`` into one file."""
        return any(name in _WRITERS for name in self._values.called(call))

    def _unknown(self, call: Op) -> Iterator[Use]:
        function = self._values.callee(call)
        if function is not None and len(self._orders.calls) < 3:
            if self._leaves_something(function, call):
                yield from self._looped(call)
            return
        owner = call.args[0]
        if owner.code == "attr":
            made = owner.args[0]
            if word(call) in (
                "append",
                "extend",
                "add",
                "update",
                "insert",
                "put",
                "setdefault",
                "discard",
                "remove",
                "pop",
                "sort",
                "push",
                "appendleft",
                "clear",
            ):
                return  # judged as a change
            if not self._outlives(made):
                return
            if lattice.are(self._values.types(made), "set"):
                return
        if names.leaves_something(word(call)):
            yield from self._looped(call)

    def _leaves_something(self, function: Function, call: Op) -> bool:
        """Whether a function of the file leaves something behind that the next call meets."""
        for each in function.everything():
            for op in each.ops:
                if op.code == "call" and self._effects.draws(op, self._values.called(op)):
                    return not self._seeds(function)
                if _adds_outside(op) or (op.code == "drop" and self._writes_outside(op.args[0])):
                    return True
        return False

    def _writes_outside(self, call: Op) -> bool:
        """``file.write(x)``, to a file that a function is given."""
        if call.code != "call" or call.args[0].code != "attr" or self._orders.is_log(call):
            return False
        owner = _root(call.args[0].args[0])
        return owner.code in ("param", "global") and word(call) in _WRITING

    def _seeds(self, function: Function) -> bool:
        return any(
            op.code == "call" and not _SEEDING.isdisjoint(self._values.called(op))
            for op in function.ops
        )


def word(call: Op) -> str:
    """The last word of what is called."""
    if call.code != "call":
        return ""
    function = call.args[0]
    return str(function.name) if function.code in ("attr", "global", "free") else ""


def _path_of(op: Op) -> str:
    import ast

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
