"""Functions as operations on values: each operation gives one value, and names which it takes.

A name stands for another value after each assignment, and where branches or the rounds of a loop
meet, a ``phi`` joins what they give (static single assignment). What changes a container
(``append``, ``x[k] = v``) gives its next state. So "where does this come from" and "where does
this go" follow ``args`` and ``uses``, and no text.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Any

from detlint.grouping import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.callers import Known
    from detlint.dataflow.origins import Made
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_LEAVING = frozenset(("return", "leave", "raise", "test", "call"))
# What holds others, as it is written out.
LISTS = frozenset(("list", "set", "tuple"))
_READING = frozenset(("attr", "free", "global", "import"))
_EXITS = frozenset(("sys.exit", "os._exit", "builtins.exit", "builtins.quit"))
_EXIT_NAMES = frozenset(each.rpartition(".")[2] for each in _EXITS)
# The name of a function that makes the decorators of another, which it is listed as nested in.
DECORATORS = "<decorators>"


class Region:
    """Code that runs as often as it is entered: a function's, a loop's, a branch's.

    kind  "function", "for", "while", "comprehension", "if", "else", "try", "except", "finally"
    head  what decides how often: the element of a loop, the test of a branch
    joints  what variables hold when a round of a loop begins
    start, end  the places of its first operation, and of the first after it
    """

    __slots__ = ("end", "function", "head", "joints", "kind", "node", "parent", "start")

    def __init__(
        self, kind: str, parent: Region | None, function: Function, node: ast.AST | None = None
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.function = function
        self.node = node
        self.head: Op | None = None
        self.start = len(function.ops) if parent is not None else 0
        self.end = 0
        self.joints: set[Op] = set()

    def around(self) -> Iterator[Region]:
        """The region and those that it lies in, inner ones first."""
        each: Region | None = self
        while each is not None:
            yield each
            each = each.parent

    def ops(self) -> Iterator[Op]:
        """The operations of a loop, its head left out."""
        for each in self.function.ops[self.start : self.end or None]:
            if each is not self.head and each.within(self):
                yield each

    def within(self, region: Region) -> bool:
        """Whether it lies in another region."""
        return any(each is region for each in self.around())

    def conditions(self) -> Iterator[Op]:
        """The conditions of a comprehension."""
        for op in self.ops():
            if op.code == "test" and op.region is self and op.name not in ("And", "Or"):
                yield op.args[0]

    @property
    def loops(self) -> bool:
        """Whether it runs once for each element, or until a test fails."""
        return self.kind in ("for", "while", "comprehension")


class Op:
    """An operation, and the value that it gives.

    code  what is done; the methods of ``lowering.Lowering`` say which there are
    name  what is named: a variable, an attribute, the keywords of a call, an operator; of
          "enter", the statement
    uses  the operations that take the value, each as often as it does
    """

    __slots__ = ("args", "code", "name", "node", "place", "region", "uses")

    def __init__(  # noqa: PLR0913, PLR0917 - one for each field, and made a million times
        self,
        code: str,
        args: list[Op],
        name: Any,  # noqa: ANN401 - a constant's own value among them
        node: ast.AST,
        region: Region,
        place: int,
    ) -> None:
        self.code = code
        self.args = args
        self.name = name
        self.node = node
        self.region = region
        self.place = place  # in the order of evaluation
        self.uses: list[Op] = []

    @property
    def function(self) -> Function:
        """The function that it is an operation of."""
        return self.region.function

    @property
    def values(self) -> Values:
        """What the values of its file may be, as far as the file shows it by itself."""
        return self.region.function.unit.values

    @property
    def origins(self) -> list[Made | None]:
        """What made it, as far as the file shows by itself; None of what is not seen."""
        return self.region.function.unit.origins.of(self)

    @property
    def constant(self) -> object:
        """What is written out, here or where a name of the module is bound once; ``...`` for
        anything else."""
        return self.values.constant(self)

    @property
    def called(self) -> list[str]:
        """The qualified names of what a call calls, as its file shows by itself."""
        return self.values.called(self)

    @property
    def word(self) -> str:
        """By which name a parameter, a variable or an attribute is read; "" of anything else."""
        if self.code == "param":
            return str(self.name[1])
        return str(self.name) if self.code in _READING else ""

    @property
    def row(self) -> int:
        """The row in which it stands; 0 of what no source says."""
        return getattr(self.node, "lineno", 0)

    @property
    def literal(self) -> object:
        """What is written out here; ``...`` for anything else."""
        return self.name if self.code == "const" else ...

    @property
    def text(self) -> str:
        """The string that is written out here; "" for anything else."""
        return self.name if self.code == "const" and isinstance(self.name, str) else ""

    @property
    def entries(self) -> list[tuple[Op, Op]]:
        """The keys and values that a dict is written out with; none of anything else."""
        held = self.args if self.code == "dict" else ()
        return [(x.args[0], x.args[1]) for x in held if x.code == "entry"]

    @property
    def elements(self) -> list[Op] | None:
        """What a list, set or tuple holds that is written out; None where that is not all seen."""
        written = self.code in LISTS and all(x.code != "star" for x in self.args)
        return self.args if written else None

    def at(self, key: object) -> Op | None:
        """What stands at a key of a dict, list or tuple that is written out; None where that is not
        seen."""
        if self.code == "dict":
            for each in reversed(self.args):
                if each.code != "entry" or each.args[0].code != "const":
                    return None
                if each.args[0].name == key:
                    return each.args[1]
        parts = (self.elements if self.code != "set" else None) or ()
        return parts[key] if type(key) is int and -len(parts) <= key < len(parts) else None

    @property
    def is_self(self) -> bool:
        """Whether it is the object or class whose method a function is."""
        return self.code != "attr" and self.word in ("self", "cls")

    @property
    def is_none(self) -> bool:
        """Whether it is None, as it is written out."""
        return self.code == "const" and self.name is None

    @property
    def calls(self) -> list[Op]:
        """The calls of it."""
        return [use for use in self.uses if use.code == "call" and use.args[0] is self]

    @property
    def loop(self) -> Region | None:
        """The innermost loop that it runs in."""
        return next((each for each in self.region.around() if each.loops), None)

    @property
    def is_dropped(self) -> bool:
        """Whether nothing uses what it gives."""
        return all(use.code == "drop" for use in self.uses)

    def within(self, region: Region) -> bool:
        """Whether it runs in a region."""
        return any(each is region for each in self.region.around())

    def given(self, keyword: str, position: int | None = None) -> Op | None:
        """The argument of a call for a parameter, by keyword or 0-based position."""
        count = 0
        for name, value in self.arguments():
            if name == keyword:
                return value
            if name is None:
                if count == position:
                    return value
                count += 1
            elif name == "*":
                position = None  # what follows cannot be counted
        return None

    def lacks(self, *keywords: str, position: int | None = None) -> bool:
        """Whether a call is given nothing, or None, for each of some parameters."""
        found = (self.given(each, position) for each in keywords)
        return all(each is None or each.is_none for each in found)

    def written(self, keyword: str, position: int | None = None) -> ast.expr | None:
        """The same as it is written in the call."""
        value = self.given(keyword, position)
        pairs = zip(self.args[1:], self.given_nodes, strict=True)
        return next((node for op, node in pairs if op is value), None)

    @property
    def call_node(self) -> ast.Call:
        """A call as it is written."""
        assert isinstance(self.node, ast.Call)  # noqa: S101 - what a call is made of
        return self.node

    @property
    def given_nodes(self) -> list[ast.expr]:
        """The arguments of a call as they are written."""
        return [*self.call_node.args, *(each.value for each in self.call_node.keywords)]

    @property
    def unpacks(self) -> bool:
        """Whether some arguments of a call are not to be seen: ``**options``."""
        return any(name in ("*", "**") for name, _ in self.arguments())

    def arguments(self) -> Iterator[tuple[str | None, Op]]:
        """The arguments of a call, with their keywords; "*" and "**" of what is unpacked."""
        assert isinstance(self.name, tuple)  # noqa: S101 - what a call has
        return zip(self.name, self.args[1:], strict=True)

    def __repr__(self) -> str:
        return f"<{self.code} {self.name!r} at {getattr(self.node, 'lineno', '?')}>"


class Function:
    """The operations of a function, of a class's body, or of a module's.

    params    its parameters
    returns   what it returns and yields
    bindings  all that was ever bound to a name, for functions inside of it that read it
    nested    functions and lambdas that it defines
    nonlocals  names of an outer function that it binds
    """

    def __init__(self, name: str, node: ast.AST | None, unit: Unit, outer: Function | None) -> None:
        self.name = name
        self.node = node
        self.unit = unit
        self.outer = outer
        self.ops: list[Op] = []
        self.region = Region("function", None, self, node)
        self.params: dict[str, Op] = {}
        self.returns: list[Op] = []
        self.bindings: dict[str, list[Op]] = {}
        self.nested: list[Function] = []
        self.nonlocals: set[str] = set()
        self.assigned: list[tuple[str, Op, ast.AST]] = []  # names, with the statement
        self.stores: dict[str, list[Op]] = {}  # of attributes, by their names
        self._names: dict[Op, list[str]] | None = None
        self._coded: dict[str, list[Op]] | None = None
        self._reads: dict[tuple[str, str], list[Op]] | None = None
        self.globals: dict[str, Op] = {}  # names that are not its own, as they are read
        self.decorated: Function | None = None  # what it makes the decorators of

    def coded(self, code: str) -> list[Op]:
        """The operations of a code, in order; once all are there."""
        if self._coded is None:
            self._coded = grouped((op.code, op) for op in self.ops)
        return self._coded.get(code, [])

    @cached_property
    def calls_by_row(self) -> dict[int, list[Op]]:
        """The calls that begin in each row, once all are there."""
        return grouped((op.call_node.lineno, op) for op in self.coded("call"))

    @cached_property
    def leaving(self) -> list[Op]:
        """The operations past which nothing runs, or for `assert`, may not; once all are there."""
        return [op for op in self.ops if op.code in _LEAVING and self._leaves(op)]

    def _leaves(self, op: Op) -> bool:
        if op.code == "test":
            return bool(op.name == "assert")
        if op.code == "raise":
            return not op.name
        if op.code != "call":
            return True
        callee = op.args[0]
        if callee.code == "attr" and callee.name not in _EXIT_NAMES:
            return False
        return not _EXITS.isdisjoint(self.unit.values.called(op))

    @property
    def word(self) -> str:
        """Its name, without that of its class."""
        return self.name.rpartition(".")[2]

    @property
    def known_calls(self) -> Known:
        """Its calls, as far as its file shows them."""
        return self.unit.callers.of(self)

    @property
    def is_defined(self) -> bool:
        """Whether it is a function or method that ``def`` makes."""
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef))

    @property
    def makers(self) -> list[Op]:
        """What makes a function that stands in another one."""
        made = self.outer.coded("function") if self.outer is not None else ()
        return [op for op in made if op.name is self]

    @property
    def decorators(self) -> list[ast.expr]:
        """Its decorators, as they are written."""
        return getattr(self.node, "decorator_list", [])

    @property
    def class_name(self) -> str:
        """The class that it, or the function around it, is a method or the body of; "" for
        none."""
        each: Function | None = self
        if isinstance(self.node, ast.ClassDef):
            return self.name
        while each is not None:
            if "." in each.name:
                return each.name.rpartition(".")[0]
            each = each.outer
        return ""

    def names_of(self, value: Op) -> list[str]:
        """The names that are bound to a value."""
        if self._names is None:
            self._names = grouped((x, name) for name, each in self.bindings.items() for x in each)
        return self._names.get(value, [])

    def reads(self, code: str, name: str) -> list[Op]:
        """Where it reads an attribute ("attr"), or a variable of the module ("global")."""
        if self._reads is None:
            reads = (op for op in self.ops if op.code in ("attr", "global"))
            self._reads = grouped(((op.code, op.name), op) for op in reads)
        return self._reads.get((code, name), [])

    @property
    def returned(self) -> list[Op]:
        """The values that it returns and yields."""
        return [each.args[0] for each in self.returns if each.args]

    @property
    def is_generator(self) -> bool:
        """Whether it yields."""
        return any(each.code in ("yield", "yield_from") for each in self.returns)

    def around(self) -> Iterator[Function]:
        """The function and those that it is defined in, inner ones first."""
        each: Function | None = self
        while each is not None:
            yield each
            each = each.outer

    @property
    def outermost(self) -> Function:
        """What it is defined in, at the top of the file or of a class; itself, if in nothing."""
        *_, last = self.around()
        return last

    def all_coded(self, code: str) -> Iterator[Op]:
        """The operations of a code, of it and of the functions that it defines."""
        for each in self.everything():
            yield from each.coded(code)

    def everything(self) -> Iterator[Function]:
        """The function and those that it defines."""
        yield self
        for each in self.nested:
            yield from each.everything()
