"""What starts processes and threads, or hands tasks to a pool."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.choices import Choices
from detlint.dataflow.calls import whole_function
from detlint.dataflow.facts.found import FileFacts, Found, whole
from detlint.dataflow.learning.inference import decorators
from detlint.dataflow.lowering import lower
from detlint.index.scan import RUN
from detlint.models import randomness
from detlint.models.completions import JOBLIB, is_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op


_WORKER_START = "worker_init_fn"


class ProcessFacts(FileFacts):
    """Answers for the functions of one file."""

    def spawns(self, function: Function) -> Iterator[Found]:
        """Calls that start processes afresh, each with the function that runs there."""
        for op in function.coded("call"):
            fresh = not randomness.SPAWNING.isdisjoint(self._training.called(op))
            if fresh or self._submits(op.args[0]):
                yield from self._started(op, op.given("fn", 0))
            elif self._is_of_fresh_context(op.args[0]):
                yield from self._started(op, op.given("target", 1))
            else:
                yield from (Found(op, each) for each in self._contained(op.args[0]))
        if any(map(self._is_fresh_process, self._written_bases(function))):
            yield self._run_by(function)

    def processes(self, function: Function) -> Iterator[Found]:
        """The same of those that start as the program says."""
        for op in function.coded("call"):
            if not randomness.PROCESSES.isdisjoint(self._training.called(op)):
                yield from self._started(op, op.given("target", 1))
        bases = self._unit.qualified_bases(function.name) if self._written_bases(function) else ()
        if not randomness.PROCESSES.isdisjoint(bases):
            yield self._run_by(function)

    def _written_bases(self, function: Function) -> list[ast.expr]:
        """The bases of what is a class at the top of the file and has a `run` of its own."""
        name = function.name
        runs = name in self._unit.classes and self._unit.defines(RUN, name)
        return self._unit.written_bases(name) if runs else []

    def _run_by(self, process: Function) -> Found:
        """A class of processes, with the method that runs in each."""
        name = process.name
        bases = ", ".join(map(ast.unparse, self._written_bases(process)))
        return Found(whole(process), f".{name}.{RUN}", f"class {name}({bases})")

    def _is_fresh_process(self, base: ast.expr) -> bool:
        """``mp.get_context("spawn").Process``, also of a context that has a name."""
        read = lower("", [ast.Expr(base)], self._unit)
        return any(self._is_of_fresh_context(each.args[0]) for each in read.coded("drop"))

    def _submits(self, method: Op) -> bool:
        """``submitit.AutoExecutor(folder).submit``."""
        by_name = method.code == "attr" and method.name in randomness.SUBMITTING
        return by_name and not randomness.JOBS.isdisjoint(self._training.classes(method.args[0]))

    def _contained(self, method: Op) -> Iterator[str]:
        """The functions of the file that run in a container by a method: ``train.remote``."""
        by_name = method.code == "attr" and method.name in randomness.CALLED_IN_CONTAINER
        for name in self._values.qualified(method.args[0]) if by_name else ():
            function = self._unit.defined(name.removeprefix("."))
            made = decorators(function) if function is not None else ()
            names = (one for x in made if x.code == "call" for one in self._training.methods(x))
            if not randomness.CONTAINED.isdisjoint(names):
                yield name

    def _started(self, call: Op, started: Op | None) -> Iterator[Found]:
        for name in self._meant(started) if started is not None else ():
            yield Found(call, name)

    def _is_of_fresh_context(self, function: Op) -> bool:
        """``context.Process`` where that is ``get_context("spawn")``."""
        is_process = function.code == "attr" and function.name == "Process"
        return is_process and any(
            self._is_afresh(each.op)
            for each in self._training.made(function.args[0])
            if not randomness.CONTEXTS.isdisjoint(each.names) and each.op.code == "call"
        )

    def _is_afresh(self, call: Op) -> bool:
        method = call.given("method", 0)
        return method is not None and not randomness.AFRESH.isdisjoint(Choices().of(method))

    def of_start_methods(self, call: Op) -> str | None:
        """Calls by which all processes start afresh."""
        set_here = not randomness.START_METHODS.isdisjoint(self._training.called(call))
        return "" if set_here and self._is_afresh(call) else None

    def tasks(self, function: Function) -> Iterator[Found]:
        """Calls that have a pool run tasks, each with the function that does."""
        for op in function.coded("call"):
            yield from self._started(op, self._given_to_pool(op))
            for name in self._asked_in_pool(op):
                yield from (Found(op, each) for each in (name, f"{name}.__getitem__"))

    def _asked_in_pool(self, call: Op) -> Iterator[str]:
        """The classes of the data set that a loader asks in several processes."""
        rows, several = call.given("dataset", 0), call.given("n_processes", 4)
        pooled = not randomness.POOLED_LOADERS.isdisjoint(self._training.called(call))
        if pooled and rows is not None and (several is None or several.constant != 1):
            yield from self._training.classes(rows)

    def threads(self, function: Function) -> Iterator[Found]:
        """Calls that make several threads, each with the function that these run."""
        for op in function.coded("call"):
            several = any(each.loops for each in op.region.around())
            if several and not randomness.THREADS.isdisjoint(self._training.called(op)):
                yield from self._started(op, op.given("target", 1))

    def worker_starts(self, function: Function) -> Iterator[Found]:
        """Calls that have a loader call a function in each of its workers, each with that, unless
        what stands around calls it, too."""
        for op in function.coded("call"):
            given = op.given(_WORKER_START)
            for name in self._meant(given) if given is not None else ():
                around = function.outermost.all_coded("call")
                if not any(name in self._values.called(each) for each in around):
                    yield Found(op, name)

    def _given_to_pool(self, call: Op) -> Op | None:
        """What a pool calls for each task: ``f`` of ``pool.map(f, rows)`` and
        ``Parallel(4)(delayed(f)(row) for row in rows)``."""
        method = call.args[0]
        if not randomness.CLIENT_APPS.isdisjoint(self._values.called(call)):
            return call.given("client_fn", 0)
        if method.code == "attr" and method.name == "remote":
            return self._remote(method.args[0])
        if method.code == "attr" and method.name in randomness.TASKS:
            return call.given("func", 0) if self._is_pool(method.args[0]) else None
        job = (
            call.args[1].args[0] if call.args[1:] and call.args[1].code == "comprehension" else None
        )
        if job is None or job.code != "call" or JOBLIB.isdisjoint(self._values.called(method)):
            return None
        delayed = job.args[0]
        return delayed.args[1] if delayed.code == "call" and delayed.args[1:] else None

    def _remote(self, called: Op) -> Op | None:
        """``f`` of ``f.remote(x)``, and ``actor.step`` of ``actor.step.remote(x)``, if Ray has that
        run elsewhere."""
        is_made = called.code == "attr" and any(self._made_by_ray(called.args[0]))
        names = self._values.qualified(called)
        return called if is_made or any(map(self._is_remote, names)) else None

    def _is_remote(self, name: str) -> bool:
        """Whether a function or class of the file is made one that runs elsewhere."""
        own = name.removeprefix(".")
        function = self._unit.defined(own)
        for each in function.decorators if function is not None else ():
            said = ast.unparse(each.func if isinstance(each, ast.Call) else each)
            if not randomness.REMOTE.isdisjoint((said, *self._unit.imported.get(said, ()))):
                return True
        return False

    def _made_by_ray(self, actor: Op) -> Iterator[str]:
        """The class of ``Actor.remote()``."""
        for name in self._training.classes(actor):
            made, _, method = name.rpartition(".")
            if method == "remote" and made:
                yield made

    def _is_pool(self, owner: Op) -> bool:
        """Whether a value is a pool, also one of ``multiprocessing.get_context("fork")``."""
        classes = self._training.classes
        if not randomness.POOLS.isdisjoint(classes(owner)):
            return True
        made = owner.args[0] if owner.code == "enter" else owner
        method = made.args[0] if made.code == "call" else made
        context = method.args[0] if method.code == "attr" and method.name == "Pool" else None
        return context is not None and any(map(is_context, classes(context)))

    def _meant(self, given: Op) -> list[str]:
        """The functions that a value may be, or the classes of which it is an object."""
        if given.code == "function":
            calls = given.name.coded("call")
            return [
                name
                for each in calls
                for name in self._values.called(each) or self._of_own(each.args[0])
            ]
        if given.code == "call":
            whole, _ = whole_function(given)
            return self._values.called(given) if whole is given else self._meant(whole)
        if own := self._of_own(given):
            return own
        actors = self._made_by_ray(given.args[0]) if given.code == "attr" else ()
        if of_actors := [f"{each}.{given.name}" for each in actors]:
            return of_actors
        return self._values.qualified(given)

    @staticmethod
    def _of_own(method: Op) -> list[str]:
        """``self.fit``, also in a function that a method makes."""
        owner = method.function.class_name
        own = owner and method.code == "attr" and method.args[0].is_self
        return [f".{owner}.{method.name}"] if own else []


def starts_workers(function: Function) -> bool:
    """Whether a loader alone calls a function that stands in another one, in its workers."""
    made = function.makers
    return any(op.uses for op in made) and all(
        use.code == "call" and use.given(_WORKER_START) is op for op in made for use in op.uses
    )
