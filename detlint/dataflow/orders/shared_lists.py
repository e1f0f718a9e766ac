"""Lists, dicts and files to which tasks that run at the same time add, in the order in which they
get to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import bound, given_on, is_empty, whole_function, word_of
from detlint.dataflow.orders.queues import is_alone, same
from detlint.dataflow.slices import before, closure
from detlint.models import completions as models
from detlint.models import files
from detlint.models.containers import ADDING
from detlint.models.randomness import POOLS
from detlint.syntax.mentions import holds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.queues import Queues
    from detlint.dataflow.references import References

_MOST = 200  # operations behind what is added to
_ASYNC = "AsyncFunctionDef"
_AWAITING = frozenset(("get", "join", "result", "wait"))
_TEXTS = frozenset(("binary", "format", "text"))
# What names a file that is the same in each task, if what it is made of is.
_NAMING = _TEXTS | frozenset(("attr", "const", "declared", "free", "global", "param", "phi"))
_DICTS = frozenset(("OrderedDict", "defaultdict", "dict"))


class Filled(NamedTuple):
    """A list or dict that tasks fill.

    made     what makes it
    added    what adds to it, in a task
    start    what starts the tasks
    working  the functions that tasks run
    """

    made: Op
    added: Op
    start: Op
    working: list[Function]

    @property
    def is_keyed(self) -> bool:
        """Whether it is a dict."""
        return self.made.code == "dict" or word_of(self.made) in _DICTS


class _Task(NamedTuple):
    """What a task runs, and what the parameters of that get which are the same in each."""

    function: Function
    given: dict[Op, Op]


class SharedLists:
    """Looks for them in one file."""

    def __init__(self, references: References, queues: Queues) -> None:
        self._values = references.values
        self._unit = references.unit
        self._queues = queues
        self._is_async = holds(references.unit.text, models.ASYNC)

    def all(self) -> Iterator[Filled]:
        """Those of the file."""
        met: set[Op] = set()
        text = self._unit.text
        words = [x for x, by in models.STARTED_BY.items() if any(holds(text, y) for y in by)]
        for call, task in self._started(words):
            for found in self._filled(call, task):
                if found.made not in met:
                    met.add(found.made)
                    yield found

    def appended(self) -> Iterator[tuple[Op, Op]]:
        """Where tasks open one file to add to it, each with what starts them."""
        for call, task in self._started(models.STARTED_BY):
            working = list(self._queues.run_by(task.function)) if self._is_beside(call) else []
            opened = [x for each in working for x in each.coded("call") if _is_opened_to_add(x)]
            given = self._given(task, working) if opened else {}
            yield from ((each, call) for each in opened if self._is_one(each, given, working))

    def _started(self, words: Iterable[str]) -> Iterator[tuple[Op, _Task]]:
        for function in self._unit.functions_holding(*words, beside=models.SEVERAL):
            for call in function.all_coded("call"):
                yield from ((call, each) for each in self._tasks(call))

    def _is_beside(self, call: Op) -> bool:
        """Whether a call starts a thread or a process, or has a pool of several run a task."""
        if word_of(call).endswith(models.WORKERS):
            return True
        method = call.args[0]
        pools = self._queues.makers(method.args[0]) if method.code == "attr" else ()
        return any(
            not is_alone(each) and not POOLS.isdisjoint(self._values.called(each)) for each in pools
        )

    def _is_one(self, opened: Op, given: dict[Op, list[Op]], working: Collection[Function]) -> bool:
        """Whether all tasks open the same file."""
        path = opened.args[1:2]
        return all(
            (op.code in _NAMING and not (op.code == "param" and op.function in working))
            or op in given
            or op.is_self
            or (op.code == "call" and not files.NAMED.isdisjoint(self._values.called(op)))
            for op in closure(path, lambda op: self._named_by(op, given), _MOST)
        )

    def _named_by(self, op: Op, given: dict[Op, list[Op]]) -> Sequence[Op]:
        """What the name of a file is made of."""
        if op.code == "call":
            return op.args[1:]
        return self._before(op, given) or (op.args if op.code in _TEXTS else ())

    # Tasks

    def _tasks(self, call: Op) -> Iterator[_Task]:
        waits = self._is_async and _is_left_waiting(call)
        callee = self._values.callee(call) if waits else None
        if callee is not None:
            if type(callee.node).__name__ == _ASYNC:
                yield _Task(callee, bound(callee, call))
            return
        word = word_of(call)
        maps = word in models.MAPPING and call.args[0].code == "attr"
        starts = models.starts_worker(word) or word in self._unit.classes
        if maps or (starts and self._queues.starts_many(call) and not _is_waited_for(call)):
            yield from self._handed(call)

    def _handed(self, call: Op) -> Iterator[_Task]:
        """``submit(work, x, rows)``, ``Thread(target=work, args=(x, rows))``."""
        for place, value in enumerate(call.args[1:], 1):
            whole, _ = whole_function(value)
            function = self._values.function(whole)
            if function is not None:
                yield _Task(function, _taken(function, whole, given_on(call, place)))

    def _is_of_threads(self, call: Op) -> bool:
        """Whether a call starts threads, which share what they are given."""
        if word_of(call).endswith(models.THREAD):
            return True
        method = call.args[0]
        pools = self._queues.makers(method.args[0]) if method.code == "attr" else []
        return any(map(self._is_pool, pools))

    def _is_pool(self, made: Op) -> bool:
        called = self._values.called(made)
        return not is_alone(made) and any(map(models.is_thread_pool, called))

    # What they add to

    def _filled(self, start: Op, task: _Task) -> Iterator[Filled]:
        shared = self._is_of_threads(start) or type(task.function.node).__name__ == _ASYNC
        working = list(self._queues.run_by(task.function))
        adding = [op for each in working for op in each.ops if _adds(op)]
        given = self._given(task, working) if adding else {}
        loop = start.loop
        for added in adding:
            for made in closure([added.args[0]], lambda op: self._before(op, given), _MOST):
                found = Filled(made, added, start, working)
                apart = made.function not in working and not (loop and made.within(loop))
                if apart and self._is_filled(found, shared=shared):
                    yield found

    def _given(self, task: _Task, working: Iterable[Function]) -> dict[Op, list[Op]]:
        """What the parameters of a task get that are the same in each, and those of what it
        calls."""
        given = {taken: [value] for taken, value in task.given.items()}
        for function in working:
            for call in function.coded("call"):
                callee = self._values.callee(call)
                for taken, value in bound(callee, call).items() if callee is not None else ():
                    given.setdefault(taken, []).append(value)
        return given

    def _before(self, op: Op, given: dict[Op, list[Op]]) -> Sequence[Op]:
        """What the container of an operation was before, or where it comes from."""
        if op.code == "param":
            return given.get(op, [])
        if op.code == "attr" and op.args[0].is_self:
            stored = self._unit.stored_by(op.function.class_name, str(op.name))
            return [each.args[1] for each in stored if each.code == "store_attr"]
        return before(op)

    def _is_filled(self, found: Filled, *, shared: bool) -> bool:
        """Whether it is empty at first, all tasks have the same, and its order is theirs."""
        made, word = found.made, word_of(found.made)
        if made.code == "call" and word in ("dict", "list"):
            method = made.args[0]
            if method.code == "attr":  # `manager.list()`, which processes share, too
                shared = any(
                    any(map(models.is_manager, self._values.called(each)))
                    for each in self._queues.makers(method.args[0])
                )
        if not (shared and is_empty(made)):
            return False
        return found.is_keyed == (found.added.code == "store_item" or found.added.name == "update")


def _adds(op: Op) -> bool:
    """``rows.append(row)``, ``found[key] = row``, ``found.update(row)``."""
    return op.code == "store_item" or (
        op.code == "change" and (op.name in ADDING or op.name == "update")
    )


def _is_opened_to_add(call: Op) -> bool:
    """``open(path, "a")``."""
    mode = None if files.OPENERS.isdisjoint(call.called) else call.given("mode", 1)
    return mode is not None and str(mode.constant).startswith(files.APPENDING["mode"])


def _taken(function: Function, value: Op, given: list[Op]) -> dict[Op, Op]:
    plain = [each for each in function.params.values() if not each.name[0]]
    if value.code == "attr" and "." in function.name:
        plain = plain[1:]  # the object
    return dict(zip(plain, given, strict=False))


def _is_left_waiting(call: Op) -> bool:
    """Whether a loop makes coroutines and waits for none before it makes the next."""
    return call.loop is not None and not any(use.code == "await" for use in call.uses)


def _is_waited_for(start: Op) -> bool:
    """Whether a loop waits for each task before it starts the next."""
    loop = start.loop
    return loop is not None and any(
        use.code == "attr" and use.name in _AWAITING and use.within(loop)
        for each in same(start)
        for use in each.uses
    )
