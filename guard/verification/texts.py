"""What the text of a program speaks for: read, never executed.

What is saved and loaded, and what acts on a circumstance; all else is asked of the linter.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.dataflow.arguments.environment import changes_environment
from detlint.dataflow.calls import last_of, word_of
from detlint.dataflow.def_use import DefUse
from detlint.dataflow.orders.shared_changes import shared_changes
from detlint.dataflow.orders.threads import Threads
from detlint.dataflow.randomness.clocks import measured, span, timed_conditions
from detlint.dataflow.unit import Unit
from detlint.models.differing import FILE_TIMES
from detlint.sources.source import Source as Program
from guard.diff import Source, sources
from guard.observe.statements import imported, in_full
from guard.program import text_of
from guard.verification.plan import ADDRESSES, CLOCK, HASHES, LISTINGS, MEMORY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.randomness.clocks import Measured, Span, Timed

_TENSORS = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}
_TIMED = {Source.CLOCK, Source.LOAD, Source.READINESS, Source.THREAD_ORDER}

_OWN_SIGNALS = {"SIGCHLD", "SIGCLD", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPOLL"}
_UNHANDLED = {"SIG_IGN", "SIG_DFL"}
_TOTAL = "total"  # of memory and disks: the same on one machine
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HELPERS = 3  # functions, one called by the other, through which what is measured is followed
_TIMERS = {"signal.setitimer": 1, "signal.alarm": 0}  # and which argument has the seconds


class _Call(NamedTuple):
    """A call of a file, by its name as the text has it, and ``full``: with what is imported in the
    place of the first word."""

    path: str
    call: ast.Call
    name: str
    full: str


class Poll(NamedTuple):
    """A call that asks how far threads or processes have come, and by which something is decided;
    and whether a thread asks."""

    path: str
    line: int
    text: str
    is_in_thread: bool


class Text:
    """The program's own files, read once, the one that is started first."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = tuple(files)

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """By file, those that can be read."""
        found: dict[str, ast.Module] = {}
        for path in self.files:
            with suppress(OSError, SyntaxError, ValueError), open(path, "rb") as file:
                found[path] = ast.parse(file.read())
        return found

    @property
    def _all(self) -> Collection[ast.Module]:
        return self.trees.values()

    @cached_property
    def units(self) -> dict[str, Unit]:
        """By file, what the linter makes of it."""
        return {path: Unit(Program(path, text_of(path))) for path in self.trees}

    @cached_property
    def threads(self) -> Threads:
        """Its threads and processes, which can come first or last."""
        return Threads([*self.units.values()])

    @property
    def changes_environment(self) -> bool:
        """Whether it changes the environment of its process."""
        return any(map(changes_environment, self.units.values()))

    @cached_property
    def def_use(self) -> DefUse:
        """Where what it holds is made, changed, set and read."""
        return DefUse([*self.units.values()])

    @cached_property
    def allocates(self) -> bool:
        """Whether it has memory that nothing has written."""
        made = (each.call for each in self._calls if each.name in _TENSORS)
        given = (call.args[0] for call in made if call.args)
        sized = any(not isinstance(each, (ast.List, ast.Tuple)) for each in given)
        is_part = any(sources.leaves_out(each.call, each.name) for each in self._calls)
        empty = [e for e in self._calls if sources.source_of(e.full) is Source.UNWRITTEN_MEMORY]
        ops = {(path, span(op.node)): op for path, op in self._ops} if empty else {}
        found = (ops.get((each.path, span(each.call))) for each in empty)
        return sized or is_part or any(each is None or not _is_filled(each) for each in found)

    @cached_property
    def _calls(self) -> list[_Call]:
        named = ((path, tree, imported(tree)) for path, tree in self.trees.items())
        return [
            _Call(path, call, name, in_full(name, names))
            for path, tree, names in named
            for call, name in calls(tree)
        ]

    @cached_property
    def called(self) -> dict[str, dict[tuple[int, str], str]]:
        """By file, the functions of libraries that are called under other names, by the line and
        the name as the text has it: ``self.now()``, by default a clock."""
        found: dict[str, dict[tuple[int, str], str]] = {}
        for path, op in self._ops:
            node = op.call_node.func
            if isinstance(node, (ast.Name, ast.Attribute)):
                names = [] if op.values.qualified(op.args[0]) else [*map(_plain, op.called)]
                # What a generator is given may be its seed.
                names = [e for e in names if not op.args[1:] or sources.source_of(e)]
                line = node.end_lineno or node.lineno
                held = found.setdefault(path, {}) if names else {}
                held.update(((line, ast.unparse(node)), each) for each in names)
        return found

    @property
    def _ops(self) -> Iterator[tuple[str, Op]]:
        """Its calls, as the linter has them, and their files."""
        for path, unit in self.units.items():
            yield from ((path, op) for op in unit.ops_at(each.start for each in unit.pieces))

    @cached_property
    def _sources(self) -> set[Source | None]:
        """What is called, of what gives something else in each run."""
        return set(map(sources.source_of, self._called))

    @cached_property
    def _called(self) -> set[str]:
        """The names of all that is called, with what is imported in the place of the first."""
        return {each.full for each in self._calls}

    @property
    def starts_programs(self) -> bool:
        """Whether it starts other programs, which have hashes of their own."""
        return Source.PROGRAM in self._sources

    @property
    def reads_date(self) -> bool:
        """Whether it asks which date or time it is. Clocks that only measure know no date."""
        return self.reads_clock and any(map(sources.tells_date, self._called))

    @cached_property
    def reads_clock(self) -> bool:
        """Whether it asks a clock, and neither compares that with the times of files nor hands the
        clock on: libraries ask the true one."""
        if Source.CLOCK not in self._sources:
            return False
        nodes = [each for tree in self._all for each in ast.walk(tree)]
        called = {each.func for each in nodes if isinstance(each, ast.Call)}
        named = (each for each in nodes if isinstance(each, (ast.Name, ast.Attribute)))
        handed = (each for each in named if each not in called)
        is_handed = any(sources.source_of(ast.unparse(each)) is Source.CLOCK for each in handed)
        return not is_handed and not any(last_of(each) in FILE_TIMES for each in nodes)

    @property
    def clocks_of_libraries(self) -> Iterator[tuple[str, int, str]]:
        """Files, lines and calls that ask a clock which stays as it is: NumPy's, pandas'."""
        for path, call, _, full in self._calls:
            if sources.reads_now(call) or (full.startswith("pandas.") and sources.tells_date(full)):
                yield path, call.lineno, ast.unparse(call)

    @property
    def is_clock_decisive(self) -> bool:
        """Whether what is made of a clock may decide something, and not only be shown."""
        return self.reads_date or bool(self.timed_conditions)

    @property
    def shared_changes(self) -> Iterator[tuple[str, int, str]]:
        """Files and lines where threads, or processes, change what they share, and how that is
        named."""
        found = (*shared_changes(self.threads), *self.threads.changed_together())
        return ((*each.place, each.named) for each in found)

    @property
    def written_in_threads(self) -> Iterator[tuple[str, int, str]]:
        """Files and lines where a thread writes a part of what others have, of which not several
        threads change the same; and how that is named."""
        known = {each[:2] for each in self.shared_changes}
        written = ((*each.place, each.named) for each in self.threads.written())
        return (each for each in written if each[:2] not in known)

    @cached_property
    def shares(self) -> bool:
        """Whether its threads change what they share, or hand over what they have made."""
        return any(True for _ in (*self.shared_changes, *self.threads.handed_over()))

    @cached_property
    def draws_in_threads(self) -> bool:
        """Whether its threads draw from torch's generator of the whole process."""
        return any(library == "torch" for _, library in self.threads.draws())

    def speaks_for(self, circumstance: str) -> bool:
        """Whether there is something on which the circumstance acts."""
        if circumstance == MEMORY.name:
            return self.allocates
        if circumstance == CLOCK.name:
            return self.reads_clock
        test = _ACTS_ON.get(circumstance)
        return test is None or any(map(test, self._all))

    @cached_property
    def timed(self) -> bool:
        """Whether something may depend on who or what is first."""
        if self.threads or not _TIMED.isdisjoint(self._sources):
            return True
        waits = any(sources.of_arguments(each.call) for each in self._calls)
        return waits or bool(self.timed_conditions) or any(self.timers)

    @property
    def timers(self) -> Iterator[tuple[str, int, str]]:
        """Files, lines and calls that have a signal sent when a time is over."""
        for path, call, name, full in self._calls:
            at = _TIMERS.get(full)
            seconds = call.args[at] if at is not None and at < len(call.args) else None
            if seconds is not None and getattr(seconds, "value", None) != 0:  # 0 ends it
                yield path, call.lineno, name

    @property
    def limited(self) -> Iterator[tuple[str, int, str]]:
        """Files, lines and calls that wait for others, and for a limited time."""
        found = (each for each in self._calls if sources.is_limited(each.call, each.full))
        return ((each.path, each.call.lineno, ast.unparse(each.call)) for each in found)

    @property
    def handlers(self) -> Iterator[tuple[str, int, str]]:
        """Files, lines and calls that have a signal handled which comes by what the program itself
        has begun: a child that ends, a timer."""
        for path, call, name, full in self._calls:
            given = [last_of(each) for each in call.args]
            is_ours = full == "signal.signal" and len(given) > 1
            if is_ours and given[0] in _OWN_SIGNALS and given[1] not in _UNHANDLED:
                yield path, call.lineno, f"{name}({given[0]})"

    @cached_property
    def timed_conditions(self) -> list[tuple[str, Timed]]:
        """What the clock decides, each with its file."""
        found = timed_conditions({path: text_of(path) for path in self.trees})
        return [(path, each) for path, some in found.items() for each in some]

    @cached_property
    def measured(self) -> list[tuple[str, int, str]]:
        """Files, lines and calls that measure the machine or the process, and by which something is
        decided; through functions of other files that return what is measured."""
        parts = (each for tree in self._all for each in _all(tree, ast.Attribute))
        totals = {each.value for each in parts if each.attr == _TOTAL}
        given = (each for each in self._calls if each.call not in totals)
        return [*self._deciding(e for e in given if sources.measures_machine(e.call, e.full))]

    @cached_property
    def polls(self) -> list[Poll]:
        """What is decided by how far threads or processes have come."""
        starts = "" if self.threads or self.threads.working else "asyncio."  # coroutines
        functions = (each for tree in self._all for each in _all(tree, *_FUNCTIONS))
        own = {each.name for each in functions}
        known = (each for each in self._calls if each.full.startswith(starts))
        asked = (each for each in known if sources.asks_others(each.call, each.full))
        given = (each for each in asked if last_of(each.call.func) not in own)
        spans = [
            (each.unit.source.path, span(each.node)) for each in self.threads.working if each.node
        ]
        return [
            Poll(path, line, text, any(path == of and a <= line <= z for of, (a, _, z, _) in spans))
            for path, line, text in self._deciding(given, truths=True)
        ]

    def _deciding(
        self, given: Iterable[_Call], *, truths: bool = False
    ) -> Iterator[tuple[str, int, str]]:
        """Of some calls, the files, lines and texts by which something is decided; through
        functions of other files that return what they give."""
        calls: dict[str, set[Span]] = {path: set() for path in self.trees}
        for each in given:
            calls[each.path].add(span(each.call))
        found: dict[str, Measured] = {}
        for _ in range(_HELPERS):
            for path, places in calls.items():
                names = {name for e in found.keys() - {path} for name in found[e].returning}
                text = text_of(path)
                if places or any(each in text for each in names):
                    found[path] = measured(path, text, places, names, truths=truths)
        yield from ((path, *deciding) for path, each in found.items() for deciding in each.deciding)


def _is_filled(made: Op) -> bool:
    """Whether the first that is done with memory is that what other ranks give fills it."""
    regions = (each for each in made.region.around() if each.kind != "comprehension")
    first = made
    while first is made or first.code in ("comprehension", "list"):  # of several
        uses = sorted(first.uses, key=lambda each: each.place)
        if not uses:
            return False
        given, first = first, uses[0]
    is_given = first.code == "call" and first.args[1:2] == [given]
    return is_given and word_of(first) in sources.RECEIVING and first.region is next(regions)


def _hashes(tree: ast.AST) -> bool:
    """Whether it has sets, or asks for hashes; ``a.keys() & b.keys()`` makes one."""
    return (
        any(_all(tree, ast.Set, ast.SetComp))
        or any(_is_keys(each.left) and _is_keys(each.right) for each in _all(tree, ast.BinOp))
        or any(name == "hash" or sources.makes_set(name) for _, name in calls(tree))
    )


def _is_keys(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_of(node.func) in ("keys", "items")


def _asks_address(tree: ast.AST) -> bool:
    asked = ("id", "repr", "WeakSet", "WeakKeyDictionary")
    return any(each.id in asked for each in _all(tree, ast.Name)) or _hashes(tree)


def _lists(tree: ast.AST) -> bool:
    """Whether it lists folders, and does not sort what it gets at once."""
    ordered = (arg for call, name in calls(tree) if name == "sorted" for arg in call.args)
    in_order = {each for argument in ordered for each in ast.walk(argument)}
    unsorted = (call for call, _ in calls(tree) if call not in in_order)
    return any(last_of(call.func) in sources.LISTING for call in unsorted)


_ACTS_ON = {HASHES.name: _hashes, ADDRESSES.name: _asks_address, LISTINGS.name: _lists}


# Calls and names


def _all(tree: ast.AST, *kinds: type[ast.AST]) -> Iterator[Any]:
    return (each for each in ast.walk(tree) if isinstance(each, kinds))


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls by name, as the text has it."""
    for node in _all(tree, ast.Call):
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node, ast.unparse(node.func)


def _plain(name: str) -> str:
    """A qualified name as statements have it: ``hash``, and no ``builtins.hash``."""
    return name.removeprefix("builtins.")
