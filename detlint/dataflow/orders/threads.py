"""What the threads and processes of a program do beside each other, in no fixed order: what they
hand over, write, add up and draw."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import (
    Named,
    given_on,
    last_word,
    owner_written,
    spoken,
    whole_function,
    word_of,
)
from detlint.dataflow.orders.queues import is_alone
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.slices import STATES, closure
from detlint.models import completions as models
from detlint.models.containers import ADDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_PUTS = ADDING | {"add", "put_nowait", "send"}
_TAKES = ("get", "get_nowait", "recv")
_WAITS = ("wait", "synchronize", "wait_tensor")
_OUTER = frozenset(("attr", "free", "global", "param"))  # what others have as well
_PARTS = STATES - {"free"} | {"attr", "item"}


class Start(NamedTuple):
    """What starts threads, and the functions that they run.

    given          whether all get the same, by the places of the arguments
    is_bound       whether these are methods of one object
    fields         attributes that the object of a thread was made with
    is_of_several  whether there can be more than one at a time
    is_pooled      whether it is a pool that is given them
    """

    functions: list[Function]
    given: list[bool]
    is_bound: bool = False
    fields: frozenset[str] = frozenset()
    is_of_several: bool = True
    is_pooled: bool = False


class Threads:
    """Looks for them in the files of one program, whose functions are told by their names."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units

    def __bool__(self) -> bool:
        """Whether something can come first or last."""
        return bool(self._in_threads) or self._has_queues

    @cached_property
    def threaded(self) -> list[Function]:
        """The functions that run in threads."""
        return self.named(self._in_threads)

    @cached_property
    def working(self) -> list[Function]:
        """These, and those that run in processes."""
        return self.named(self._handed(models.starts_beside))

    @cached_property
    def finalizing(self) -> list[Function]:
        """The functions that are called when an object goes, which the collector decides."""
        given = {
            _function_in(each)
            for call in self._holding(models.GOING)
            if word_of(call) in models.ON_GOING
            for each in call.args[models.ON_GOING[word_of(call)] :][:1]
        }
        return self.named(given - {""} | {models.FINALIZER})

    @cached_property
    def starts(self) -> list[Start]:
        """Where threads are started."""
        return self._started(models.starts_thread)

    @cached_property
    def is_one(self) -> bool:
        """Whether one thread or process alone runs beside the main one: nothing of what it does
        comes first, but it may have come more or less far."""
        found = self._started(models.starts_beside)
        apart = [each for each in found if not each.is_pooled]
        pooled = len(apart) < len(found)
        return len(apart) + pooled == 1 and not any(each.is_of_several for each in found)

    def _started(self, starts: Callable[[str], bool]) -> list[Start]:
        found = [*self._of_classes(starts)]
        calls = [x for x in self._holding(models.BESIDE) if self._starts(x, starts)]
        named = [name for x in calls for value in x.args[1:] if (name := _function_in(value))]
        for call in calls:
            for place, value in enumerate(call.args[1:], 1):
                name = _function_in(value)
                if functions := self.named({name} - {""}):
                    is_pooled = self._maps(call) or word_of(call) in models.SUBMITTING
                    several = call.loop is not None or self._maps(call) or named.count(name) > 1
                    several = several and not (is_pooled and self._is_alone)
                    given = [not _is_anew(each, call) for each in given_on(call, place)]
                    is_bound = whole_function(value)[0].code == "attr"
                    told = (is_bound, frozenset[str](), several, is_pooled)
                    found.append(Start(functions, given, *told))
        return found

    def _of_classes(self, starts: Callable[[str], bool]) -> Iterator[Start]:
        """Threads that are a class of the program's: each has an object of its own."""
        for unit in self._units:
            for owner in unit.classes:
                run, making = unit.method(owner, "run"), unit.method(owner, "__init__")
                if run is not None and any(map(starts, unit.bases(owner))):
                    stores = making.coded("store_attr") if making is not None else ()
                    fields = {str(each.name) for each in stores if each.args[1].code == "param"}
                    made = list(self._calls([owner]))
                    several = len(made) != 1 or made[0].loop is not None
                    functions = [*run.everything()]
                    yield Start(functions, [], False, frozenset(fields), several)

    @cached_property
    def _is_alone(self) -> bool:
        """Whether all pools of the program have one thread."""
        pools = [x for x in self._holding(("ThreadPool",)) if "ThreadPool" in word_of(x)]
        return bool(pools) and all(map(is_alone, pools))

    @cached_property
    def _in_threads(self) -> set[str]:
        return self._handed(models.starts_thread)

    def handed_over(self) -> Iterator[Named]:
        """Calls by which they put what they have made where others take it from."""
        yield from _puts(self.working)

    def taken(self) -> Iterator[Named]:
        """Calls that take what came first."""
        if self.working and self._has_queues:
            for call in self._calls(_TAKES):
                if len(call.args) == 1 and call.args[0].code == "attr":
                    yield Named(call, spoken(call.args[0]))

    def written(self) -> Iterator[Named]:
        """Where threads write a part of what others have, such as a buffer of several."""
        for store in _all(self.threaded, "store_item"):
            held = store.args[0]
            if store.args[2].code != "augment" and _is_shared(held):
                yield Named(store, _spoken(held))

    def changed_together(self) -> Iterator[Named]:
        """Where processes change what lies in memory that they share: steps of an optimizer, and
        parts of what they are given that grow."""
        if not any(True for _ in self._calls(models.SHARING)):
            return
        for call in _all(self.working, "call"):
            if word_of(call) == "step" and owner_written(call).startswith("opt"):
                yield Named(call, f"{spoken(call.args[0])}()")
        for op in _all(self.working, "augment"):
            held = op.args[0]
            if held.code != "param" and any(x.code == "param" for x in closure([held], whole)):
                yield Named(op, _spoken(held))

    def begun(self) -> Iterator[Named]:
        """Collectives that are begun in a program that waits for none."""
        if not any(True for _ in self._calls(_WAITS)):
            for call in self._holding(("async_op",)):
                is_begun = call.given("async_op")
                if is_begun is not None and is_begun.code == "const" and is_begun.name:
                    yield Named(call, spoken(call.args[0]))

    def draws(self) -> Iterator[tuple[Named, str]]:
        """Draws of threads from a generator of the whole process, and the library of that."""
        yield from _draws(self.threaded)

    def draws_as_collected(self) -> Iterator[tuple[Named, str]]:
        """The same, of what is called when an object goes."""
        yield from _draws(self.finalizing)

    def changed_as_collected(self) -> Iterator[Named]:
        """What others have as well, and such a function changes."""
        for op in _all(self.finalizing, "store_item", "augment"):
            if _is_shared(op.args[0]) and (op.code == "augment" or op.args[2].code != "augment"):
                yield Named(op, _spoken(op.args[0]))
        yield from _puts(self.finalizing)

    # Which functions

    @cached_property
    def _has_queues(self) -> bool:
        return any(word_of(each).endswith("Queue") for each in self._holding(("Queue(",)))

    def _calls(self, words: Sequence[str]) -> Iterator[Op]:
        """The calls of these names."""
        return (call for call in self._holding(words) if word_of(call) in words)

    def _holding(self, parts: Sequence[str]) -> Iterator[Op]:
        """The calls of the functions whose text holds any of some parts of words."""
        for unit in self._units:
            for function in unit.functions_holding(*parts):
                yield from function.all_coded("call")

    def named(self, names: Iterable[str]) -> list[Function]:
        """The functions of some names, with those that they define."""
        found = (
            function
            for unit in self._units
            for name in sorted(names)
            for function in unit.all_naming(name.rpartition(".")[2])
            if isinstance(function.node, ast.FunctionDef) and name in (function.word, function.name)
        )
        return list(dict.fromkeys(each for one in found for each in one.everything()))

    def _handed(self, starts: Callable[[str], bool]) -> set[str]:
        """Names of functions that are handed to what starts work, ``Class.run`` of classes that
        are one."""
        of_classes = {
            f"{owner}.run"
            for unit in self._units
            for owner in unit.classes
            if any(map(starts, unit.bases(owner)))
        }
        found = {
            _function_in(value)
            for call in self._holding(models.BESIDE)
            if self._starts(call, starts)
            for value in call.args[1:]
        }
        return of_classes | found - {""}

    def _starts(self, call: Op, starts: Callable[[str], bool]) -> bool:
        return starts(word_of(call)) or self._maps(call)

    def _maps(self, call: Op) -> bool:
        """Whether a pool calls what a call is given; data sets have a ``map`` as well."""
        is_method = word_of(call) in models.MAPPING and call.args[0].code == "attr"
        return is_method and self._has_pools

    @cached_property
    def _has_pools(self) -> bool:
        """Whether the program has a pool of threads."""
        return any("ThreadPool" in word_of(each) for each in self._holding(("ThreadPool",)))


def _all(functions: Sequence[Function], *codes: str) -> Iterator[Op]:
    for function in functions:
        for code in codes:
            yield from function.coded(code)


def _draws(functions: Sequence[Function]) -> Iterator[tuple[Named, str]]:
    for call in _all(functions, "call"):
        if library := drawn_from(call):
            yield Named(call, spoken(call.args[0])), library


def _puts(functions: Sequence[Function]) -> Iterator[Named]:
    for call in _all(functions, "call"):
        owner = call.args[0].args[0] if call.args[0].code == "attr" else None
        if word_of(call) in _PUTS and owner is not None and _is_shared(owner):
            yield Named(call, spoken(call.args[0]))


def _function_in(value: Op) -> str:
    """The name of a function that is handed over."""
    value, _ = whole_function(value)
    return str(value.name.word) if value.code == "function" else last_word(value)


def _is_anew(value: Op, call: Op) -> bool:
    """Whether each round of the loop that a call stands in has a value of its own."""
    return call.loop is not None and value.code != "const" and value.within(call.loop)


def _is_shared(held: Op) -> bool:
    """Whether a function has not made what it changes itself."""
    return any(each.code in _OUTER for each in closure([held], whole))


def whole(op: Op) -> Sequence[Op]:
    """What a value was before, or is a part of; what another function holds is not followed."""
    if op.code == "phi":
        return op.args
    return op.args[:1] if op.code in _PARTS else ()


def _spoken(held: Op) -> str:
    return ast.unparse(held.node) if isinstance(held.node, ast.expr) else spoken(held)
