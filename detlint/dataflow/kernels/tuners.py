"""Tuners of Triton kernels: how many configurations they choose among, and what these vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.ir import DECORATORS, LISTS
from detlint.dataflow.kernels.triton import adds_up
from detlint.dataflow.slices import SAME, alternatives, closure
from detlint.models import tuning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_DEEPEST = 40
_ADDING = frozenset(("append", "extend"))


def tuned(unit: Unit, offsets: Sequence[int]) -> Iterator[Op]:
    """The tuners in the functions at some offsets that choose among several configurations, in
    which the results of their kernels differ. Raises UnparsedError."""
    for outer in unit.functions_at(offsets):
        for function in outer.everything():
            for tuner, kernel in _tuned(unit.values, function):
                varied = Configurations(unit.values).varied(_configs(tuner))
                if adds_up(unit.values, kernel, varied):
                    yield tuner


def spoken_count(tuner: Op) -> str:
    """How many configurations a tuner has, as far as source shows."""
    values = tuner.values
    least = Configurations(values).count(_configs(tuner))
    most = Configurations(values, max).count(_configs(tuner))
    if tuner.given("prune_configs_by") is not None:
        return f"up to {most}"
    return f"{least}" if least == most else f"at least {least}"


def _tuned(values: Values, function: Function) -> Iterator[tuple[Op, Function]]:
    """The tuners of a function, or in it, each with the function that it is put on."""
    for each in function.nested:
        if each.name == DECORATORS:
            yield from ((op, function) for op in each.ops if _tunes(values, op, decorates=True))
    for op in function.ops:
        kernel = next(_called_with(values, op), None) if _tunes(values, op) else None
        if kernel is not None:
            yield op, kernel


def _called_with(values: Values, tuner: Op) -> Iterator[Function]:
    """``triton.autotune(…)(triton.heuristics(…)(kernel))``."""
    for use in tuner.uses:
        if use.code == "call" and use.args[0] is tuner and use.args[1:]:
            given = use.args[1]
            while given.code == "call" and given.args[1:]:
                given = given.args[1]
            found = values.function(given)
            if found is not None:
                yield found


def _tunes(values: Values, op: Op, *, decorates: bool = False) -> bool:
    """Whether a call tunes a kernel with several configurations, also a project's own decorator
    by that name."""
    configs = _configs(op) if op.code == "call" else None
    if configs is None:
        return False
    if tuning.TUNERS.isdisjoint(tuning.names(values.called(op))):
        decorator = decorates and any(use.code == "drop" for use in op.uses)
        own = decorator and "autotune" in str(op.args[0].name).lower()
        if not own or not Configurations(values).are_of_triton(configs):
            return False
    return (Configurations(values).count(configs) or 0) > 1


def _configs(tuner: Op) -> Op | None:
    return tuner.given("configs", 0)


class Configurations:
    """Answers about one file; of several lists, the shortest or the longest counts."""

    def __init__(self, values: Values, choose: Callable[[list[int]], int] = min) -> None:
        self._values = values
        self._choose = choose
        self._busy: set[Op] = set()

    def count(self, op: Op | None) -> int | None:
        """How many elements there are; None if that is not certain. Filters are taken to keep
        some."""
        if op is None or op in self._busy or len(self._busy) > _DEEPEST:
            return None
        self._busy.add(op)
        try:
            return self._count(self._values.bound_to(op))
        finally:
            self._busy.discard(op)

    def _count(self, op: Op) -> int | None:
        if op.code in LISTS:
            return _sum(self.count(x.args[0]) if x.code == "star" else 1 for x in op.args)
        if op.code == "comprehension":
            return self._product(each.args[0] for each in op.args if each.code == "iter")
        if op.code == "binary" and op.name == "Add":
            return _sum(map(self.count, op.args))
        if op.code in SAME or op.code == "change":
            return self._count_filled(op)
        return self._count_call(op) if op.code == "call" else None

    def _count_call(self, op: Op) -> int | None:
        called, given = self._values.called(op), op.args[1:]
        if "builtins.range" in called:
            values = [self._values.constant(each) for each in given]
            numbers = [each for each in values if isinstance(each, int)]
            return len(range(*numbers)) if numbers and len(numbers) == len(values) else None
        if "itertools.product" in called:
            return self._product(given) if not any(op.name) else None
        copies = len(given) == 1 and not {"builtins.list", "builtins.tuple"}.isdisjoint(called)
        if copies or ("builtins.filter" in called and len(given) == 2):
            return self.count(given[-1])
        function = self._values.callee(op)
        if function is None:
            return None
        # One of its branches may leave nothing to tune.
        return self._chosen(map(self.count, function.returned))

    def _product(self, over: Iterable[Op]) -> int | None:
        rounds = 1
        for each in over:
            found = self.count(each)
            if found is None:
                return None
            rounds *= found
        return rounds

    def _count_filled(self, op: Op) -> int | None:
        """What was listed at first, and what statements add to it."""
        lists, changes = _behind(op)
        listed = self._chosen(map(self.count, lists))
        added = _sum(map(self._added, changes))
        return None if listed is None or added is None else listed + added

    def _added(self, change: Op) -> int | None:
        call = change.args[1]
        if change.name not in _ADDING or len(call.args) != 2:
            return None
        each = 1 if change.name == "append" else self.count(call.args[1])
        rounds = self._product(_loops(change))
        if each is None or rounds is None:
            return None
        optional = any(region.kind not in ("for", "function") for region in change.region.around())
        return self._choose([0, each * rounds]) if optional else each * rounds

    def _chosen(self, counts: Iterable[int | None]) -> int | None:
        found = [(-1 if each is None else each) for each in counts]
        return None if not found or -1 in found else self._choose(found)

    # What they are

    def elements(self, op: Op, seen: set[Op] | None = None) -> list[Op] | None:
        """What a list may hold; None if that is not all to be seen."""
        seen = set() if seen is None else seen
        op = self._values.bound_to(op)
        if op in seen or len(seen) > _DEEPEST:
            return []
        seen.add(op)
        if op.code in LISTS:
            return op.elements
        if op.code == "comprehension":
            return op.args[:1]
        if op.code in SAME or op.code == "change":
            lists, changes = _behind(op)
            appended = [each.args[1].args[1] for each in changes if each.name == "append"]
            return self._all(lists, seen, appended) if len(appended) == len(changes) else None
        function = self._values.callee(op) if op.code == "call" else None
        if function is None:
            return None
        return self._all(function.returned, seen, [])

    def _all(self, several: Iterable[Op], seen: set[Op], found: list[Op]) -> list[Op] | None:
        for each in several:
            held = self.elements(each, seen)
            if held is None:
                return None
            found = found + held
        return found

    def are_of_triton(self, op: Op) -> bool:
        """Whether configurations of Triton stand among them."""
        return any(map(self._is_configuration, self.elements(op) or ()))

    def _is_configuration(self, op: Op) -> bool:
        return not tuning.CONFIGURATIONS.isdisjoint(tuning.names(self._values.called(op)))

    def varied(self, op: Op | None) -> frozenset[str] | None:
        """The parameters of a kernel, and ``num_warps``, in which they may differ.

        None where that cannot be seen. The number of stages changes no result.
        """
        found = self.elements(op) if op is not None else None
        if not found or not all(map(self._is_configuration, found)):
            return None
        given: dict[str, set[object]] = {}
        for each in found:
            if not self._note(each, given):
                return None
        return frozenset(name for name, values in given.items() if _differ(values))

    def _note(self, config: Op, given: dict[str, set[object]]) -> bool:
        """Note what a configuration gives to each parameter; False where that is not seen."""
        held = config.given("kwargs", 0)
        if held is None or held.code != "dict":
            return False
        warps = config.given(tuning.WARPS, 1)
        given.setdefault(tuning.WARPS, set()).add(None if warps is None else self._only(warps))
        for key, value in held.entries:
            if not isinstance(name := key.constant, str):
                return False
            given.setdefault(name, set()).add(self._only(value))
        return len(held.entries) == len(held.args)

    def _only(self, op: Op) -> object:
        """A literal, also the only one that a loop goes through; else what it is."""
        value = self._values.constant(op)
        if value is ... and op.code == "iter":
            over = self._values.constant(op.args[0])
            value = over[0] if isinstance(over, tuple) and len(over) == 1 else value
        return op if value is ... else repr(value)


def _differ(values: set[object]) -> bool:
    return len(values) > 1 or not all(each is None or isinstance(each, str) for each in values)


def _behind(op: Op) -> tuple[list[Op], list[Op]]:
    """The lists that a value may have been at first, and the changes of it since."""
    states = list(
        closure([op], lambda op: op.args[:1] if op.code == "change" else alternatives(op))
    )
    changes = [each for each in states if each.code == "change"]
    return [each for each in states if each.code not in (*SAME, "change")], changes


def _loops(op: Op) -> Iterable[Op]:
    """What the loops around an operation go through."""
    heads = (region.head for region in op.region.around() if region.kind == "for")
    return [each.args[0] for each in heads if each is not None]


def _sum(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    return None if None in found else sum(each or 0 for each in found)
