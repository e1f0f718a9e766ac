"""Queues that several workers fill: who fills one, and where its results are taken."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of, whole_function, word_of
from detlint.dataflow.forwards import Forwards
from detlint.dataflow.origins import Origins
from detlint.dataflow.references import References
from detlint.dataflow.slices import closure
from detlint.models import completions as models
from detlint.models.loading import is_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.origins import Find

# What gives the same object again.
SAME = frozenset(("await", "change", "declared", "enter", "free", "phi"))
_HOLDING = frozenset(("dict", "entry", "list", "star", "tuple"))
_PUTS = frozenset(("put", "put_nowait"))
_GETS = frozenset(("get", "get_nowait"))
_STARTING = ("Process", "Thread", "submit", "apply_async", "create_task", "ensure_future")
_MOST = 40  # functions that workers call


class Queues:
    """Answers for the queues of one file; ``find`` opens those that it hands them to."""

    def __init__(self, references: References, find: Find | None = None) -> None:
        self._references = references
        self._values = references.values
        self._unit = references.unit
        self._find = find
        self.origins = Origins(find)

    def is_queue(self, call: Op) -> bool:
        """Whether a call makes one."""
        called = self._values.called(call)
        if any(map(models.is_queue, called)):
            return True
        function = call.args[0]
        if called or function.code != "attr" or not str(function.name).endswith("Queue"):
            return False
        owner = function.args[0]
        makers = [owner, *owner.args] if owner.code in SAME else [owner]
        names = [name for each in makers for name in self._values.called(each)]
        return any(map(models.is_manager, names))

    def taken(self, made: Op) -> tuple[list[Op], bool]:
        """The calls that take results of a queue, if several workers fill it; whether that is
        sure, or other files have to be asked."""
        read = list(_Reads(self._references).followed(made))
        filling = {call.function for call in _methods(read, _PUTS)}
        many = any(map(self._goes_to_many, read)) or not self._working.isdisjoint(filling)
        handed = [] if many else [*self._handed_on(read)]
        many |= self._find is not None and any(self._is_filled_by(*each) for each in handed)
        asked = self._find is None and bool(handed)
        if not (many or asked):
            return [], False
        # What workers take are tasks.
        taken = (call for call in _methods(read, _GETS) if call.function not in self._working)
        return list(taken), many

    def _handed_on(self, read: list[Op]) -> Iterator[tuple[Op, Op]]:
        """The calls of what other files define that are given a queue."""
        for each in read:
            for use in each.uses:
                if use.code == "call" and each in use.args[1:]:
                    names = self._values.called(use)
                    if names and not any(self._is_seen(name) or is_known(name) for name in names):
                        yield use, each

    def _is_seen(self, name: str) -> bool:
        """Whether what a qualified name means is in the file, a class with its bases."""
        own = name[1:]
        derives = own in self._unit.classes and self._unit.has_unseen_base(own)
        return name.startswith(".") and not derives

    def _is_filled_by(self, call: Op, queue: Op) -> bool:
        """Whether several workers fill a queue that a function of another file is given."""
        for function in self.origins.entered(call):
            taken = parameter_of(function, call, queue)
            if taken is not None and function.unit is not self._unit:
                others = Queues(References(function.unit.values))
                read = _Reads(others._references).followed(taken)
                if any(map(others._goes_to_many, read)):
                    return True
        return False

    def _goes_to_many(self, queue: Op) -> bool:
        """Whether a loop starts workers that are given a queue."""
        return any(True for _ in self.workers_given(queue))

    def workers_given(self, value: Op) -> Iterator[Op]:
        """The calls in loops that start workers, of those that are given a value."""
        held = closure([value], _holders)
        outer = list(value.region.around()) if value.code == "call" else []  # it is made there
        return (use for each in held for use in each.uses if self.starts_many(use, outer))

    def starts_many(self, op: Op, outer: Iterable[Region] = ()) -> bool:
        """Whether a loop within some regions, those of the queue, starts workers."""
        around = set(op.region.around()) - set(outer) if op.code == "call" else ()
        if not any(region.loops for region in around):
            return False
        word, place = word_of(op), self.origins.class_called(self._values.called(op), self._unit)
        bases = self.origins.foreign(self.origins.object_of(*place)) if place is not None else ()
        return any(map(models.starts_worker, (word, *(x.rpartition(".")[2] for x in bases))))

    @cached_property
    def _working(self) -> set[Function]:
        """The functions that several workers run, and those of the file that they call."""
        started = (
            each
            for outer in self._unit.functions_holding(*_STARTING)
            for function in outer.everything()
            for call in filter(self.starts_many, function.coded("call"))
            for each in self.run(call)
        )
        return set(self.run_by(*started))

    def run(self, start: Op) -> Iterator[Function]:
        """What a worker runs: what it is given, ``target=self.work``, ``partial(work, 1)``, or the
        method of its class."""
        for _, value in start.arguments():
            for made in self.origins.of(whole_function(value)[0]):
                if made is not None and made.function is not None:
                    yield made.function
        place = self.origins.class_called(start.called, start.function.unit)
        if place is not None:
            method = self.origins.method(self.origins.object_of(*place), "run")
            yield from () if method is None else (method,)

    def run_by(self, *functions: Function) -> Iterator[Function]:
        """Some functions, and those that they call."""
        return closure(functions, self._entered, _MOST)

    def _entered(self, function: Function) -> Iterator[Function]:
        yield from function.nested
        for call in function.coded("call"):
            yield from self.origins.entered(call)

    def makers(self, value: Op) -> list[Op]:
        """The calls that may have made an object."""
        return [each.op for each in self.origins.of(value) if each and each.op.code == "call"]


class _Reads(Forwards):
    """Where a queue is read, also as an attribute of an object, a name of the module, or a
    parameter of what is called."""

    same = SAME - {"change"}

    def __init__(self, references: References) -> None:
        super().__init__(references.unit)
        self._references = references

    def _to_change(self, use: Op, value: Op) -> Iterable[Op]:
        return [use] if use.args[0] is value else ()

    def _to_store_attr(self, use: Op, _: Op) -> Iterable[Op]:
        owner = use.function.class_name if use.args[0].code == "param" else ""
        return self._references.reads_of_field(owner, str(use.name)) if owner else ()

    _to_return = Forwards.escape


def _holders(value: Op) -> Iterator[Op]:
    """What holds a value, and methods of an object that is made with it: ``Task(queue).run``."""
    for use in value.uses:
        makes = use.code == "call" and value in use.args[1:] and word_of(use)[:1].isupper()
        if use.code in _HOLDING:
            yield use
        elif makes:
            yield from (method for method in use.uses if method.code == "attr")


def is_alone(pool: Op) -> bool:
    """Whether a pool has one worker."""
    workers = pool.given("max_workers", 0) or pool.given("processes", 0)
    return workers is not None and workers.constant == 1


def same(value: Op) -> Iterator[Op]:
    """A value, and all that stands for the same object."""
    return closure([value], lambda op: (use for use in op.uses if _is_same(use, op)))


def _is_same(use: Op, value: Op) -> bool:
    return use.code in SAME and not (use.code == "change" and use.args[0] is not value)


def _methods(read: list[Op], named: frozenset[str]) -> Iterator[Op]:
    """The calls of some methods of what is read."""
    for each in dict.fromkeys(read):
        for method in each.uses:
            if method.code == "attr" and method.name in named:
                yield from (call for call in method.uses if call.code == "call")
