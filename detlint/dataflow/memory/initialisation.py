"""Definite initialisation: memory that is read before anything has written it.

From an allocation forwards, through all that may stand for the same memory, to what reads or
writes it. A read counts where the value certainly is that memory, and nothing that may write it
has run by then. Whatever is not seen may write.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import parameter_of, word_of
from detlint.dataflow.control import contexts, is_certain, may_run_before, may_skip
from detlint.dataflow.memory.allocations import Allocations, spoken
from detlint.finding import Edit
from detlint.models import names
from detlint.models.memory import KEEPERS, NOT_A_NUMBER, UNITS, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.unit import Unit
    from detlint.models.memory import Library

_DEEPEST = 3  # functions that hand the same memory on
_MOST = 400  # operations that one memory is followed through
_ARITHMETIC = frozenset(("Add", "Sub", "Mult", "Div"))
_ASKING = frozenset(("Is", "IsNot"))
_LOOKING_UP = frozenset(("In", "NotIn"))


class Read(NamedTuple):
    """A read of memory that nothing has written.

    allocation  the call that makes the memory
    by          what reads it
    name        the name that it is read by; None where it is made
    assumed     that it is read at all is told by a name: ``model(x)``
    """

    allocation: Op
    by: Op
    name: ast.expr | None
    assumed: bool = False


class Initialisation:
    """Follows the memory that the functions of one file allocate by a library; ``least`` and
    ``named`` as ``Allocations`` says."""

    def __init__(
        self, unit: Unit, library: Library, *, least: int = 2, named: bool = False
    ) -> None:
        self.unit = unit
        self.values = unit.values
        self.library = library
        self.allocates = Allocations(unit, library, least=least, named=named)
        self._memories: dict[Op, Memory] = {}
        self._within: list[Op] = []  # parameters of functions that are being asked
        self._given: dict[Op, Op] = {}  # calls of functions that return memory → what made it
        self.grown: dict[Op, Op] = {}  # tensors → the calls that make them larger
        self._out_of_sight: dict[Function, list[Op]] = {}
        self._looked_at: set[Op] = set()
        self._passed_by: set[Op] = set()  # what nobody looks at

    def allocations(self, offsets: Iterable[int]) -> Iterator[Op]:
        """The allocations in the functions that some offsets lie in, whose values matter."""
        for op in self.unit.ops_at(offsets):
            if self.allocates.is_allocation(op) and not self._is_muted(op):
                yield op

    def read(self, allocation: Op) -> Read | None:
        """The first read of an allocation that nothing has written."""
        for root in (allocation, *self._returned(allocation)):
            if self._is_muted(root):
                continue
            memory = self.memory(root)
            for by, value in sorted(memory.reads, key=lambda each: each[0].place):
                if self._is_unwritten(value, by, root) and self.matters(by):
                    return Read(allocation, by, _mention(by, value), self._seems(by, value))
        return None

    def calls_out_of_sight(self, function: Function) -> list[Op]:
        """The calls of a function that go to no library's."""
        if function not in self._out_of_sight:
            called = self.values.called
            self._out_of_sight[function] = [
                op
                for op in function.ops
                if op.code == "call" and all(name.startswith(".") for name in called(op))
            ]
        return self._out_of_sight[function]

    def is_named_elsewhere(self, store: Op) -> bool:
        """Whether a function of the file may run meanwhile that names the same global."""
        name, apart = str(store.name), (store.function, self.unit.module)
        return any(
            op.name == name and op.code in ("global", "store_global")
            for function in self.unit.all_naming(name)
            if function not in apart
            for op in function.ops
        )

    def memory(self, root: Op) -> Memory:
        """What happens to the memory that an operation gives."""
        if root not in self._memories:
            self._memories[root] = made = Memory(self, root)
            made.follow()
        return self._memories[root]

    def _returned(self, allocation: Op) -> Iterator[Op]:
        """The calls of a function that returns an allocation as it found it."""
        memory = self.memory(allocation)
        function = allocation.function
        if (
            not memory.returns
            or memory.is_lost
            or memory.is_kept
            or function.outer
            or not function.name
        ):
            return
        own = {op.args[0] for op in memory.returns}
        if any(each.code != "return" or each.args[0] not in own for each in function.returns):
            return
        if memory.is_written_before(memory.returns[0]):
            return
        for call in self.unit.ops_naming(function.word):
            if self.values.callee(call) is function:
                self._given[call] = allocation
                yield call

    # What a value certainly is

    def _is_unwritten(self, value: Op, by: Op, root: Op) -> bool:
        loops: set[Region] = set()
        origins = self.origins(value, by.region, loops)
        if not origins or root not in origins or any(may_skip(by, loop) for loop in loops):
            return False
        return all(self._is_intact(each, by) for each in origins)

    def _is_intact(self, root: Op, by: Op) -> bool:
        memory = self.memory(root)
        if memory.is_lost or memory.is_written_before(by):
            return False
        return not memory.is_asked_about(by)

    def origins(self, op: Op, at: Region, loops: set[Region]) -> frozenset[Op] | None:
        """The allocations whose memory a value is, one of them; None if it may be another.

        ``loops`` takes those of which only the first round is known.
        """
        return _Origins(self, loops).of(op, at)

    def is_root(self, op: Op) -> bool:
        """Whether an operation gives memory that nothing has written."""
        return op in self._given or op in self._within or self.allocates.is_allocation(op)

    # What code does with a value

    def reads(self, call: Op, value: Op) -> bool | None:
        """Whether a call reads an argument; None: it asks for its shape, or does nothing."""
        place = 0
        for name, given in call.arguments():
            if given is value:
                if name in ("*", "**", "out"):
                    return False
                return self._reads(call, value, name, place)
            place += name is None
        return False

    def _reads(self, call: Op, value: Op, keyword: str | None, place: int) -> bool | None:
        word = word_of(call)
        known = [name for name in self.values.called(call) if not name.startswith(".")]
        for name in known:
            if name in self.library.property_functions:
                return None
            count = self.library.reads(name)
            if count:
                return (keyword is not None or place < count) and not self._ignores(word, call)
        if not known and call.args[0].code == "attr":
            if word in self.library.shape_arguments:
                return None
            if word in self.library.operand_readers:
                return True
        function = self.values.callee(call)
        if function is not None:
            return self._reads_parameter(parameter_of(function, call, value))
        return self._is_network(call.args[0])

    def _reads_parameter(self, parameter: Op | None) -> bool | None:
        """Whether a function of the file certainly reads what it is given before it writes it."""
        if parameter is None or parameter in self._within or len(self._within) >= _DEEPEST:
            return False
        self._within.append(parameter)
        try:
            memory = self.memory(parameter)
            if memory.is_lost:
                return False
            for by, value in sorted(memory.reads, key=lambda each: each[0].place):
                certain = is_certain(by) and self.matters(by)
                if certain and self._is_unwritten(value, by, parameter):
                    return True
            seen = memory.reads or memory.writes or memory.returns or memory.is_kept
            return False if seen else None
        finally:
            self._within.pop()

    def _ignores(self, word: str, call: Op) -> bool:
        return word in self.library.scaled_by_beta and call.given("beta") is not None

    def _seems(self, by: Op, value: Op) -> bool:
        """Whether a call only seems to read, as what it calls is named like a network."""
        if by.code != "call" or by.args[0] is value or self.values.callee(by) is not None:
            return False
        return not self.values.called(by) and self._is_network(by.args[0])

    def _is_network(self, function: Op) -> bool:
        if function.code == "call":
            made = self.values.called(function)
            return any(
                name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
                for name in made
            )
        if function.code == "attr":
            return names.is_network(str(function.name))
        if self.values.qualified(function):
            return False
        return function.code in ("param", "global", "free", "phi") and names.is_network(
            spoken(function)
        )

    def takes_object(self, call: Op, word: str) -> str:
        """What a method does with its object: "view", "asks", "reads" or ""."""
        if word == "to" and any(map(self.allocates.is_meta, call.args[1:])):
            return ""
        if word in self.library.views or word in self.library.in_place:
            return "view"  # what is computed of nothing known is no better
        if word in self.library.properties:
            return "asks"
        return "reads" if word in self.library.readers and not self._ignores(word, call) else ""

    def is_harmless(self, op: Op) -> bool:
        """Whether arithmetic gives the same whatever memory held, only gives it a unit, or scales
        what is kept to be filled later."""
        if op.code not in ("binary", "augment") or op.name not in _ARITHMETIC:
            return False
        if any(self._is_nan(each) or self._is_unit(each) for each in op.args):
            return True
        return op.name in ("Mult", "Div") and op.code == "binary" and self._is_kept(op)

    def _is_unit(self, op: Op) -> bool:
        if op.code == "const":
            return isinstance(op.name, complex)
        return any(name.startswith(UNITS) for name in self.values.qualified(op))

    def _is_nan(self, op: Op) -> bool:
        if op.code == "call":
            literal = op.args[1:] and op.args[1].code == "const" and op.args[1].name
            return "builtins.float" in self.values.called(op) and literal in ("nan", "NaN")
        return not NOT_A_NUMBER.isdisjoint(self.values.qualified(op))

    def _is_kept(self, op: Op) -> bool:
        return bool(op.uses) and all(
            (use.code == "call" and use.args[0] is not op and word_of(use) in KEEPERS)
            or (use.code == "binary" and use.name in ("Mult", "Div") and self._is_kept(use))
            for use in op.uses
        )

    # Whether it has a consequence

    def matters(self, by: Op) -> bool:
        """Whether what a read gives is used, and not only its shape."""
        if by.code not in ("call", "binary", "unary", "compare", "item", "slice", "not"):
            return True
        if "builtins.print" in self.values.called(by):
            return True
        seen: set[Op] = set()
        looked_at = self._is_looked_at(by, seen)
        if not looked_at:
            self._passed_by |= seen
        return looked_at

    def _is_looked_at(self, op: Op, seen: set[Op]) -> bool:
        if op in self._looked_at:
            return True
        if op in seen or op in self._passed_by:
            return False
        seen.add(op)
        found = any(self._looks(use, op, seen) for use in op.uses)
        if found:
            self._looked_at.add(op)
        return found

    def _looks(self, use: Op, value: Op, seen: set[Op]) -> bool:
        if use.code == "drop":
            return False
        if use.code == "attr":
            known = use.name in self.library.properties
            return not known and self._is_looked_at(use, seen)
        if use.code == "call" and use.args[0] is not value:
            return self.reads(use, value) is not None
        if use.code == "store_global":
            return str(use.name) != "_"
        passing = ("binary", "call", "declared", "item", "phi", "slice", "unary", "unpack")
        return use.code not in passing or self._is_looked_at(use, seen)

    # Where values do not matter

    def _is_muted(self, op: Op) -> bool:
        """Whether the code around an operation only traces, compiles or times."""
        if self._is_meta_by_default:
            return True
        if any(each.node is not None and self._is_unreal(each) for each in op.function.around()):
            return True
        return any(names.enters_tracing(self.unit.text_of(each.node)) for each in contexts(op))

    @cached_property
    def _is_meta_by_default(self) -> bool:
        word = "set_default_device"
        calls = (call for call in self.unit.ops_naming(word) if word_of(call) == word)
        return any(x.text.startswith("meta") for call in calls for x in call.args[1:2])

    def _is_unreal(self, function: Function) -> bool:
        if not function.is_defined or function.node is None:
            return False
        decorators = [self.unit.text_of(each) for each in function.decorators]
        return names.only_traces(function.word, decorators, self.unit.text_of(function.node))

    # What to say

    def claim(self, read: Read) -> str:
        """What is wrong with an allocation that is read by a name, or where it is made."""
        made = f"{self.unit.text_of(read.allocation.call_node.func)}()"
        if read.name is None:
            return f"{made} is read before anything is written to it"
        line = self.unit.source.spoken_place(self.unit.span(read.name)[0])
        return (
            f"{made} is read as {ast.unparse(read.name)} on {line},"
            " before anything is written to it"
        )

    def advice(self, call: ast.Call) -> str:
        """What to do about it."""
        zeroed = self._zeroed(call)
        return "write every element first" + (f", or use {zeroed}()" if zeroed else "")

    def fix(self, call: ast.Call) -> tuple[Edit, ...]:
        """The edit that takes the zeroed counterpart, where there is one."""
        zeroed = self._zeroed(call)
        if not zeroed or not isinstance(call.func, ast.Attribute):
            return ()
        end = self.unit.span(call.func)[1]
        return (Edit(end - len(call.func.attr), end, zeroed),)

    def _zeroed(self, call: ast.Call) -> str:
        function = call.func
        if not isinstance(function, ast.Attribute):
            return ""
        # torch.zeros has no such parameter; zeros_like and new_zeros are not asked for it.
        if function.attr != "empty_like" and any(x.arg == "memory_format" for x in call.keywords):
            return ""
        return self.library.zeroed.get(function.attr, "")


class _Origins:
    """Asks backwards which allocations a value is the memory of."""

    def __init__(self, engine: Initialisation, loops: set[Region]) -> None:
        self._engine = engine
        self._loops = loops
        self._busy: set[Op] = set()

    def of(self, op: Op, at: Region) -> frozenset[Op] | None:
        if self._engine.is_root(op):
            return frozenset((op,))
        grown = self._engine.grown.get(op)
        if grown is not None and any(each is grown.region for each in at.around()):
            return frozenset((grown,))
        if op in self._busy:
            return frozenset()  # what comes round a loop
        self._busy.add(op)
        judge = getattr(self, f"_of_{op.code}", None)
        found: frozenset[Op] | None = judge(op, at) if judge is not None else None
        self._busy.discard(op)
        return found

    def _same(self, op: Op, _: Region) -> frozenset[Op] | None:
        return self.of(op.args[0], op.region) if op.args else None

    _of_declared = _of_change = _of_augment = _of_slice = _of_delete = _of_store_item = _same

    def _of_item(self, op: Op, at: Region) -> frozenset[Op] | None:
        held = _held(op)
        return self.of(held, op.region) if held is not None else self._same(op, at)

    def _of_attr(self, op: Op, at: Region) -> frozenset[Op] | None:
        return self._same(op, at) if op.name in self._engine.library.views else None

    def _of_call(self, op: Op, _: Region) -> frozenset[Op] | None:
        function = op.args[0]
        if function.code != "attr":
            return None
        if self._engine.takes_object(op, str(function.name)) != "view":
            return None
        return self.of(function.args[0], op.region)

    def _of_choice(self, op: Op, _: Region) -> frozenset[Op] | None:
        return self._all(op.args[1:], op.region)

    def _of_phi(self, op: Op, at: Region) -> frozenset[Op] | None:
        if op not in op.region.joints:
            return self._all(op.args, op.region)
        loop = op.region
        whole = self._all(op.args, loop)
        if whole is not None or not any(each is loop for each in at.around()):
            return whole
        first = self.of(op.args[0], loop.parent or loop)
        if first:
            self._loops.add(loop)
        return first

    def _all(self, ops: Iterable[Op], at: Region) -> frozenset[Op] | None:
        found: set[Op] = set()
        for each in ops:
            part = self.of(each, at)
            if part is None:
                return None
            found |= part
        return frozenset(found)


class Memory:
    """What may happen to the memory that one operation gives.

    reads    operations that read it, each with the value that it takes
    writes   operations that may write it, or after which others may
    returns  returns of it
    is_lost  functions out of sight may write it at any time
    is_kept  an object holds it
    """

    def __init__(self, engine: Initialisation, root: Op) -> None:
        self._engine = engine
        self._root = root
        self.reads: list[tuple[Op, Op]] = []
        self.writes: list[Op] = []
        self.returns: list[Op] = []
        self.is_lost = False
        self.is_kept = False
        self._values: dict[Op, None] = {}
        self._pending: list[Op] = []

    def follow(self) -> None:
        """Go forwards through all that may be the same memory."""
        self._reach(self._root)
        grown = (
            self._root.code == "call" and self._engine.allocates.shape_of(self._root) is Shape.GROWS
        )
        if grown:
            self._engine.grown[self._root.args[0].args[0]] = self._root
            self._reach(self._root.args[0].args[0])
        while self._pending and not self.is_lost:
            value = self._pending.pop()
            if len(self._values) > _MOST or self._is_bound_elsewhere(value):
                self.is_lost = True
            for use in dict.fromkeys(value.uses):
                if not grown or use.place > self._root.place:
                    self._meet(use, value)

    def _reach(self, value: Op) -> None:
        if value not in self._values:
            self._values[value] = None
            self._pending.append(value)

    def _is_bound_elsewhere(self, value: Op) -> bool:
        function = value.function
        inner = function.nonlocals.union(*(each.nonlocals for each in function.nested))
        return bool(inner) and not inner.isdisjoint(function.names_of(value))

    def _meet(self, use: Op, value: Op) -> None:
        if use.function is not value.function and use.code != "free":
            self.is_lost = True  # a default of a function
            return
        judge = getattr(self, f"_in_{use.code}", self._write)
        judge(use, value)

    # Questions

    def is_written_before(self, by: Op) -> bool:
        """Whether something may have written it when an operation runs for the first time."""
        start = self._root.place if self._root.place < by.place else -1  # what is above came before
        return any(
            may_run_before(each, by, self._root)
            for each in self.writes
            if each is not by and each.function is by.function and each.place > start
        )

    def is_asked_about(self, by: Op) -> bool:
        """Whether a test on the way looks at it: ``if x.numel() == 0: x.sum()``."""
        return any(
            region.head is not None
            and region.kind in ("if", "else", "while")
            and self._meets(region.head)
            for region in by.region.around()
            if region is not self._root.region
        )

    def _meets(self, op: Op, depth: int = 6) -> bool:
        if op in self._values:
            return True
        return depth > 0 and op.code != "phi" and any(self._meets(x, depth - 1) for x in op.args)

    # What operations do

    def _read(self, use: Op, value: Op) -> None:
        if self._engine.is_harmless(use):
            self.writes.append(use)
        else:
            self.reads.append((use, value))

    def _write(self, use: Op, _: Op) -> None:
        self.writes.append(use)

    def _nothing(self, use: Op, value: Op) -> None:
        pass

    def _same(self, use: Op, _: Op) -> None:
        self._reach(use)

    _in_binary = _in_unary = _in_not = _in_test = _in_format = _in_text = _in_range = _read
    _in_drop = _nothing
    _in_declared = _in_phi = _same

    def _in_compare(self, use: Op, value: Op) -> None:
        operators = set(use.name)
        if operators & _LOOKING_UP:
            self._write(use, value)
        elif not operators <= _ASKING:
            self._read(use, value)

    def _in_boolean(self, use: Op, value: Op) -> None:
        if use.args[0] is value:
            self._read(use, value)
        else:
            self._write(use, value)

    def _in_choice(self, use: Op, value: Op) -> None:
        if use.args[0] is value:
            self._read(use, value)
        else:
            self._reach(use)

    def _in_item(self, use: Op, value: Op) -> None:
        if use.args[0] is value:
            self._reach(use)
        else:
            self._read(use, value)

    _in_slice = _in_item

    def _in_change(self, use: Op, value: Op) -> None:
        if use.args[0] is value:
            self._reach(use)

    def _in_augment(self, use: Op, value: Op) -> None:
        self._read(use, value)
        if use.args[0] is value:
            self._reach(use)

    def _in_store_item(self, use: Op, value: Op) -> None:
        container, key, held = use.args
        if container is value:
            self._reach(use)
            if held.code != "augment" or not self._is_own(held.args[0]):
                self._write(use, value)
        elif key is value:
            self._read(use, value)
        elif held.code != "augment" or not self._is_own(container):
            self._write(use, value)

    def _is_own(self, op: Op) -> bool:
        return op in self._values

    def _in_delete(self, use: Op, value: Op) -> None:
        self._write(use, value)
        self._reach(use)

    def _in_return(self, use: Op, _: Op) -> None:
        self.returns.append(use)

    def _in_free(self, use: Op, value: Op) -> None:
        """A name that an inner function reads, or one that a round before has bound."""
        if use.function is value.function:
            self._reach(use)
            return
        inner = Memory(self._engine, use)
        inner.follow()
        self.is_lost = bool(inner.writes or inner.returns or inner.is_lost)

    # What others can reach

    def _in_store_global(self, use: Op, _: Op) -> None:
        if self._engine.is_named_elsewhere(use):
            self._share(use)

    def _in_store_attr(self, use: Op, value: Op) -> None:
        owner, held = use.args
        if held is value and owner is not value and owner.code == "param":
            self._share(use)
            self.is_kept = True
        else:
            self._write(use, value)

    def _share(self, use: Op) -> None:
        """From here on, functions that are no library's may write it."""
        for op in self._engine.calls_out_of_sight(use.function):
            later = op.place > use.place or op.region is not use.region
            if later and op is not self._root and not self._is_method_of_it(op):
                self.writes.append(op)

    def _is_method_of_it(self, call: Op) -> bool:
        function = call.args[0]
        return function.code == "attr" and function.args[0] in self._values

    # Containers

    def _in_tuple(self, use: Op, value: Op) -> None:
        if use.uses and all(
            each.code in ("item", "store_item") and each.args[1] is use for each in use.uses
        ):
            for each in use.uses:
                self._read(each, value)
        else:
            self._keep(use, use.args.index(value))

    _in_list = _in_tuple

    def _in_entry(self, use: Op, value: Op) -> None:
        key = use.args[0]
        if use.args[1] is value and key.code == "const":
            for each in use.uses:
                self._keep(each, key.name)
        else:
            self._write(use, value)

    def _keep(self, container: Op, key: object) -> None:
        """Follow what a container holds under a key that is written out."""
        for use in dict.fromkeys(container.uses):
            given = use.args[1] if use.code in ("item", "store_item") else None
            if given is None or use.args[0] is not container or given.code != "const":
                if use.code not in ("drop", "test"):
                    self.writes.append(use)
            elif use.code == "store_item":
                self._keep(use, key) if given.name != key else None
            elif given.name == key:
                self._reach(use)

    # Calls and attributes

    def _in_attr(self, use: Op, value: Op) -> None:
        calls = use.calls
        for call in calls:
            self._method(call, str(use.name), value)
        if not calls:
            if use.name in self._engine.library.views:
                self._reach(use)
            elif use.name not in self._engine.library.properties:
                self._write(use, value)

    def _method(self, call: Op, word: str, value: Op) -> None:
        if call is self._root:
            return
        does = self._engine.takes_object(call, word)
        if does == "view":
            self._reach(call)
        elif does == "reads":
            self._read(call, value)
        elif does != "asks":
            self._write(call, value)

    def _in_call(self, use: Op, value: Op) -> None:
        reads = False if use.args[0] is value else self._engine.reads(use, value)
        if reads:
            self._read(use, value)
        elif reads is not None:
            self._write(use, value)


def _held(item: Op) -> Op | None:
    """What a container that is written out holds under a key that is: ``{"a": x}["a"]``."""
    container, key = item.args
    if key.code != "const":
        return None
    while container.code in ("declared", "store_item"):
        if container.code == "store_item":
            other = container.args[1]
            if other.code != "const" or other.name == key.name:
                return None
        if not container.args:
            return None
        container = container.args[0]
    return container.at(key.name)


def _mention(by: Op, value: Op) -> ast.expr | None:
    """The name by which an operation takes a value."""
    if any(each is value.node for each in ast.walk(by.node)) and value.code == "call":
        return None
    told = set(_names_behind(value))
    for each in ast.walk(by.node):
        if isinstance(each, ast.Name) and each.id in told:
            return each
        if isinstance(each, ast.Attribute) and ast.unparse(each) in told:
            return each
    return None


def _names_behind(value: Op) -> Iterator[str]:
    seen: set[Op] = set()
    while value not in seen:
        seen.add(value)
        yield from value.function.names_of(value)
        if value.code in ("attr", "item", "slice", "declared", "store_item", "change", "augment"):
            value = value.args[0] if value.args else value
        elif value.code == "call" and value.args[0].code == "attr":
            value = value.args[0].args[0]
