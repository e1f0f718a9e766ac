"""Results of work that runs at the same time, and where the order in which it finishes shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.calls import owner_written, spoken, word_of
from detlint.dataflow.orders.messages import is_log_file
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.orders.queues import Queues, same
from detlint.dataflow.orders.shared_lists import SharedLists
from detlint.dataflow.orders.use import Flow, Use, surest
from detlint.dataflow.slices import ahead, behind
from detlint.models import completions as models
from detlint.models import frames, names
from detlint.models.loading import hands_on
from detlint.models.training import is_optimizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.models.completions import Completion, Threaded

_EQUALS = (("Eq",), ("NotEq",))
_FEW = 50  # operations that the name of a file is made of
_HANDED_ON = frozenset(("declared", "item", "phi", "tuple", "list", "choice"))
SHARES = "share_memory"


class Found(NamedTuple):
    """Results whose order shows: the call that gives them, or the queue that they go through,
    or where they are taken from one that is made elsewhere.

    completion  what the call gives; None for a queue
    use  where the order shows; None where the object itself has lost it
    """

    op: Op
    completion: Completion | None
    use: Use | None


class Completions:
    """Looks for them in the functions of one file; ``others`` opens more.

    left  what gives results that are handed to other files, of which none is open
    """

    def __init__(self, unit: Unit, others: OtherFiles | None = None) -> None:
        self.unit = unit
        self.values = unit.across
        self.orders = Orders(self.values, finishing=True, others=others)
        self.queues = Queues(self.orders.references, others.find if others is not None else None)
        self.lists = SharedLists(self.orders.references, self.queues)
        self._is_open = others is not None
        self.left: list[Op] = []

    def near(self, offsets: Iterable[int]) -> Iterator[Found]:
        """Those of the functions that some offsets lie in."""
        functions = dict.fromkeys(self.unit.functions_at(offsets))
        if self._is_open:  # a queue may be told where it is taken from, in another function
            functions.update(dict.fromkeys(self.unit.functions_holding("Queue(")))
        for function in functions:
            yield from self.of_function(function)

    def of_function(self, function: Function) -> Iterator[Found]:
        """Those of a function, and of the functions in it."""
        for call in function.all_coded("call"):
            yield from self._judged(call)
        yield from self._of_server(function)

    def of_tasks(self) -> Iterator[Found]:
        """``executor.submit(work, x, rows)``, of what adds to ``rows``."""
        for filled in self.lists.all():
            flow = Flow(keyed=filled.is_keyed)
            begun = {filled.start, *filled.start.args}  # `pool.map(partial(work, rows), names)`
            uses = (
                use
                for use in self.orders.uses(filled.made, flow)
                if use.op.function not in filled.working and use.op not in begun
            )
            use = surest(uses)
            if use is not None:
                named = spoken(filled.added.args[0]) or "a list"
                completion = models.of_tasks(word_of(filled.start), f"`{named}`")
                yield Found(filled.added, completion, use)

    def of_files(self) -> Iterator[Found]:
        """``pool.map(work, rows)``, of what opens one file to add to it."""
        met: set[Op] = set()
        for opened, start in self.lists.appended():
            if opened not in met:
                met.add(opened)
                completion = models.of_file(word_of(start), f"`{self.unit.text_of(opened.node)}`")
                noted = Use(opened, "noted for people to read", assumed=True)
                yield Found(opened, completion, noted if _is_note(opened) else None)

    def _of_server(self, function: Function) -> Iterator[Found]:
        """``results`` of ``aggregate_fit(self, server_round, results, failures)``."""
        place = models.COLLECTED.get(function.word)
        taken = list(function.params.values())[place : place + 1] if place else []
        if taken and any(map(models.is_strategy, self.unit.qualified_bases(function.class_name))):
            use = surest(self.orders.uses(taken[0]))
            if use is not None:
                yield Found(taken[0], models.OF_CLIENTS, use)

    def _judged(self, call: Op) -> Iterator[Found]:
        completion = self.completion(call)
        if completion is not None:
            use = surest(self._uses(call, completion))
            if use is not None or self._is_out_of_sight(call, completion):
                yield Found(call, completion, use)
            elif self.orders.leaves:
                self.left.append(call)
        elif word_of(call) == SHARES:
            if self._is_trained_by_many(call):
                yield Found(call, models.HOGWILD, None)
            elif not self._is_open:
                self.left.append(call)
        elif self.queues.is_queue(call):
            taken, sure = self.queues.taken(call)
            use = surest(self._of_queue(taken))
            if use is not None:
                use = use._replace(assumed=use.assumed or not sure)
                # What stands apart from the queue is told where it is taken.
                apart = (each for each in taken if each.function is use.op.function)
                near = use.op.function is call.function
                yield Found(call if near else next(apart, call), None, use)

    # What gives results

    def completion(self, call: Op) -> Completion | None:
        """What a call gives, if it is one of them."""
        called = self.values.called(call)
        for name in called:
            if name in models.FUNCTIONS:
                return self._waited(call, models.FUNCTIONS[name])
            if name in models.JOBLIB:
                return models.UNORDERED if self._is_unordered(call) else None
            if (hands_on(name) or models.is_node(name)) and self._is_out_of_order(call):
                return models.of_loader(name)
        row, function = self.threaded(call), call.args[0]
        if row is not None and self._runs(call, row):
            return models.of_threads(word_of(call), row)
        if function.code == "attr" and function.name in frames.UNORDERED:
            return self._of_table(call, function)
        named = called or function.code != "attr" or self.values.owner(function.args[0])
        return None if named else models.METHODS.get(str(function.name))

    def _of_table(self, call: Op, method: Op) -> Completion | None:
        """Groups and distinct rows of a table of polars, also one of unknown type that is grouped
        as no other is."""
        types = self.values.types(method.args[0])
        grouped = method.name in frames.GROUPING and not lattice.is_known(types)
        kept = call.given(frames.MAINTAINED)
        is_table = grouped or lattice.may_be_of(types, frames.FRAME, frames.COLUMN_OF)
        left = kept is None or self.values.constant(kept) is False
        return frames.UNORDERED[str(method.name)] if is_table and left else None

    def _waited(self, call: Op, completion: Completion) -> Completion:
        when = call.given("return_when", 2) if completion.gives == "done" else None
        names = [str(self.values.constant(when)), *self.values.qualified(when)] if when else []
        if not any(name.endswith("FIRST_COMPLETED") for name in names):
            return completion
        shown = f"{completion.name[:-1]}return_when=FIRST_COMPLETED)"
        return completion._replace(name=shown, says=models.FIRST_SAYS)

    def _is_unordered(self, call: Op) -> bool:
        jobs = call.given("n_jobs", 0)
        way = call.given("return_as")
        if way is None or self.values.constant(way) != "generator_unordered":
            return False
        return jobs is None or self.values.constant(jobs) != 1

    def threaded(self, call: Op) -> Threaded | None:
        """What tells how many threads a call runs, also a method of an index."""
        names, function = self.values.called(call), call.args[0]
        owner = models.METHODS_OF.get(str(function.name)) if function.code == "attr" else None
        if owner and lattice.may_be_of(self.values.types(function.args[0]), owner):
            names = [f"{owner}.{function.name}"]
        return next(filter(None, map(models.threaded, names)), None)

    def _runs(self, call: Op, row: Threaded) -> bool:
        """Whether a call runs more than one thread."""
        given = call.given(row.parameter, row.place)
        return not call.unpacks and (given is None or self.values.constant(given) != 1)

    def _is_out_of_order(self, call: Op) -> bool:
        """One worker keeps the order, and so does a loader without workers."""
        in_order = call.given("in_order")
        if in_order is None or self.values.constant(in_order) is not False:
            return False
        workers = call.given("num_workers")
        if workers is None:
            return call.unpacks
        count = self.values.constant(workers)
        return not isinstance(count, int) or count > 1

    @staticmethod
    def _is_out_of_sight(call: Op, completion: Completion) -> bool:
        """Whether an object has lost its order, and nothing shows what becomes of it."""
        if completion.gives == "calls":
            return not any(_calls_of(call))
        return completion.gives == "object"

    # Where the order shows

    def _uses(self, call: Op, completion: Completion) -> Iterator[Use]:
        if completion.gives == "results":
            yield from self.orders.uses(call)
        elif completion.gives == "rows":
            yield from self.orders.uses(call, Flow(table=True))
        elif completion.gives == "one":
            yield from self._of_rounds([call])
        elif completion.gives in ("calls", "done"):
            given = _calls_of if completion.gives == "calls" else _done_of
            for each in given(call):
                yield from self.orders.uses(each)

    def _of_queue(self, taken: Sequence[Op]) -> Iterator[Use]:
        yield from self._of_rounds(taken)
        for call in taken:
            if call.loop is None and not self._is_put_in_place(call):
                yield from _returned(call)

    def _is_put_in_place(self, taken: Op) -> bool:
        """Whether who gets a result goes by the number that it has: keeps what comes too early
        under that (``held[i] = x``), and asks whether it is its turn (``i != turn``)."""
        given_back = any(use.code == "return" for use in taken.uses)
        calls = self.orders.references.calls_in_file(taken.function) if given_back else ()
        parts = {x for each in (taken, *calls) for x in each.uses if x.code == "unpack"}
        uses = [use for each in parts for use in each.uses]
        keys = {x.args[1] for x in uses if x.code == "store_item" and x.args[2] in parts} & parts
        return any(use.code == "compare" and use.name in _EQUALS for x in keys for use in x.uses)

    def _of_rounds(self, calls: Iterable[Op]) -> Iterator[Use]:
        """``rows.append(queue.get())`` in a loop, ``[queue.get() for …]``."""
        rounds: dict[Op, set[Op]] = {}
        for call in calls:
            region = call.loop
            if region is not None and region.head is not None:
                rounds.setdefault(region.head, set()).add(call)
        for head, taken in rounds.items():
            if head.region.kind == "comprehension":
                yield from self._of_comprehension(head)
            else:
                # A loop that ends at a mark, or when the queue is empty, still takes all of it.
                yield from self.orders.uses_of_rounds(head.region, taken)

    def _of_comprehension(self, head: Op) -> Iterator[Use]:
        for made in head.uses:
            if made.code == "comprehension" and head in made.args[1:]:
                yield from self.orders.uses(made, Flow(keyed=made.name == "dict"))

    def _is_trained_by_many(self, call: Op) -> bool:
        """Whether several processes are given the model that a call shares, and take steps."""
        method, queues = call.args[0], self.queues
        if method.code != "attr" or is_optimizer(owner_written(call)):
            return False
        held = [each for value in (call, method.args[0]) for each in same(value)]
        started = (start for each in held for start in queues.workers_given(each))
        working = (each for start in started for each in queues.run_by(*queues.run(start)))
        return any(_is_step(op) for each in working for op in each.coded("call"))


def _is_note(opened: Op) -> bool:
    """Whether a file only holds messages, or what went wrong."""
    failed = any(each.kind == "except" for each in opened.region.around())
    texts = (str(each.constant) for each in behind(*opened.args[1:2], most=_FEW))
    return failed or is_log_file(opened.values, opened) or any(map(names.notes_failure, texts))


def _returned(call: Op) -> Iterator[Use]:
    """What is returned of the next result, whichever that is; beside its number, if it has one,
    somebody may put it in its place."""
    told = [each for each in call.uses if each.code == "unpack"]
    numbered = any(names.numbers(name) for each in told for name in each.function.names_of(each))
    for each in ahead([call, *told], _HANDED_ON):
        returned = (use for use in each.uses if use.code == "return")
        yield from (Use(use, "returned", assumed=numbered) for use in returned)


def _calls_of(made: Op) -> Iterator[Op]:
    """``Parallel(…)(jobs)``, or ``parallel(jobs)`` of the local that holds it."""
    for each in same(made):
        yield from each.calls


def _done_of(waited: Op) -> Iterator[Op]:
    """The first of the two sets: ``done, _ = wait(…)``, ``wait(…).done``, ``wait(…)[0]``."""
    for each in same(waited):
        for use in each.uses:
            if (
                (use.code == "attr" and use.name == "done")
                or (use.code == "unpack" and use.name[0] == 0)
                or (use.code == "item" and use.args[1].literal == 0)
            ):
                yield use


def _is_step(call: Op) -> bool:
    return word_of(call) == "step" and is_optimizer(owner_written(call))
