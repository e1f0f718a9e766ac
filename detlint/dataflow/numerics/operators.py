"""Which row of a table of operators a call leads to, as its source shows."""

from __future__ import annotations

import ast
import functools
import re
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from detlint.dataflow.arguments.choices import Choices
from detlint.dataflow.arguments.settings import keywords
from detlint.dataflow.callers import AllCallers
from detlint.dataflow.numerics.dimensions import MANY, Dimensions
from detlint.dataflow.numerics.gradients import Files, Gradients
from detlint.dataflow.numerics.indices import Indices
from detlint.dataflow.numerics.layers import made_by
from detlint.dataflow.numerics.operator_gradients import may_differ
from detlint.dataflow.numerics.sizes import Sizes
from detlint.dataflow.numerics.tensors import INTEGER, Tensors
from detlint.dataflow.origins import super_call
from detlint.grouping import grouped
from detlint.models.operators import INDEXED
from detlint.operations import ABSENT, OPERATIONS
from detlint.operations.extensions import REFUSED as REFUSED_OF_EXTENSIONS
from detlint.operations.extensions import SWITCHED as SWITCHED_OF_EXTENSIONS
from detlint.operations.switched import SWITCHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.operations import Argument, Operation, Usage
    from detlint.operations.switched import Switched

    Row = Operation | Switched

Table = Literal["refused", "switched"]
Release = tuple[int, int]
_METHOD = "torch.Tensor."
_PATHS = frozenset(("attr", "global", "import"))
_WORD = re.compile(r"\w+")


class Match(NamedTuple):
    """A row, and how a call leads to it.

    call     where that stands
    form     the public form that was used
    decides  the call whose arguments decide
    made     the call that made the layer, where another one calls it
    base     what the class that is made derives from, where it is one of the file
    """

    row: Row
    usage: Usage
    call: Op
    form: str
    decides: Op
    made: Op | None = None
    base: str = ""

    @property
    def makes_layer(self) -> bool:
        """Whether it is a class that is called, or was: ``nn.CTCLoss``."""
        return self.form.rpartition(".")[2][0].isupper()

    @property
    def only_makes(self) -> bool:
        """Whether it makes a layer, and is no call of one."""
        return self.makes_layer and self.made is None

    @property
    def differs_on_cpu(self) -> bool:
        """Whether it is not CUDA alone that is concerned."""
        return "cpu" in self.row.devices and not self.usage.on_cuda

    @property
    def takes_index(self) -> bool:
        """Whether an index says which places it reaches: ``x.gather(1, index)``."""
        return self.form.rpartition(".")[2].removesuffix("_") in INDEXED

    @property
    def is_method(self) -> bool:
        """Whether it is a method of a tensor."""
        return self.form.startswith(_METHOD)

    def argument(self, name: str, position: int) -> Op | None:
        """What the call passes for an argument; the tensor of a method has place 0."""
        if self.is_method and position == 0:
            return self.decides.args[0].args[0]
        return self.decides.given(name, position - self.is_method)

    @property
    def input(self) -> Op | None:
        """The tensor that it computes with."""
        position = 0
        if self.made is not None:
            return self.call.args[1] if self.call.args[1:] else None
        return self.argument("input", position) or self.decides.given("src")


@functools.cache
def rows_of(table: Table, release: Release) -> dict[str, list[tuple[Row, Usage]]]:
    """Public forms with the rows that they may lead to, in a release of torch."""
    rows: tuple[Row, ...] = (*SWITCHED, *SWITCHED_OF_EXTENSIONS)
    if table == "refused":
        rows = (*OPERATIONS, *REFUSED_OF_EXTENSIONS)
    begun = (x for x in rows if not x.since or release >= _release(x.since))
    current = (x for x in begun if not (x.until and release >= _release(x.until)))
    usages = ((row, usage) for row in current for usage in row.usages)
    found = grouped((form, each) for each in usages for form in each[1].forms)
    for known in found.values():
        known.sort(key=lambda each: -len(each[1].arguments))  # what says more goes first
    return found


def _release(text: str) -> Release:
    major, minor = text.split(".")
    return int(major), int(minor)


@functools.cache
def texts_of(table: Table) -> dict[str, frozenset[str]]:
    """By the last word of a form: the texts one of which a file has to hold for a row to fit,
    where all its rows ask for some."""
    every: dict[str, list[frozenset[str]]] = {}
    for release in ((1, 0), (99, 0)):
        for form, rows in rows_of(table, release).items():
            word = form.rpartition(".")[2]
            every.setdefault(word, []).extend(_texts(usage) for _, usage in rows)
    return {
        word: frozenset().union(*texts) if all(texts) else frozenset()
        for word, texts in every.items()
    }


def _texts(usage: Usage) -> frozenset[str]:
    """What a call says that is left out of no call: ``"bicubic"``, ``"prod"``."""
    for each in usage.arguments:
        if each.test == "in" and each.default is ABSENT:
            values = [value for value in each.values if isinstance(value, str)]
            if len(values) == len(each.values):
                return frozenset(values)
    return frozenset()


def may_match(table: Table, text: str, offset: int) -> bool:
    """Whether the word at an offset of a file may be an operator of a table, as far as the texts
    go that the file holds."""
    word = _WORD.match(text, offset)
    return word is not None and _may_hold(table, text, word[0])


@functools.lru_cache(maxsize=64)  # of a file, for each of its words
def _may_hold(table: Table, text: str, word: str) -> bool:
    texts = texts_of(table).get(word)
    return texts is not None and (not texts or any(each in text for each in texts))


class Operators:
    """What calls of one file lead to."""

    def __init__(
        self, unit: Unit, table: Table, release: Release, others: OtherFiles | None = None
    ) -> None:
        self.unit = unit
        self.tensors = Tensors(unit)
        files = Files(others) if others is not None else None
        self.gradients = Gradients(self.tensors.fields, files)
        self.callers = AllCallers(others.importing if others is not None else lambda *_: [])
        self._find = others.find if others is not None else None
        self.sizes = Sizes()
        self.indices = Indices()
        self.left_open: list[Op] = []  # calls of which other files may tell what they lead to
        self._choices = Choices()
        self._rows = rows_of(table, release)
        self._words = frozenset(form.rpartition(".")[2] for form in self._rows)

    def differing(self, offsets: Sequence[int]) -> Iterator[Match]:
        """The calls that lead to a row for sure, in the functions at some offsets, or of the
        classes there, and that may run where it differs. Raises UnparsedError."""
        functions = [
            function for outer in self.unit.functions_at(offsets) for function in outer.everything()
        ]
        yield from (each for each in self.matches_in(functions) if may_differ(self, each))

    def matches_in(self, functions: Iterable[Function]) -> Iterator[Match]:
        """The calls that lead to a row for sure in some functions."""
        seen: set[Op] = set()
        for function in functions:
            own = ((call, self._meant(call.args[0])) for call in function.coded("call"))
            for call, names in (*own, *self._elsewhere(function)):
                found = self._match(call, names) if call not in seen else None
                if found is not None:
                    seen.add(call)
                    yield found

    def _elsewhere(self, function: Function) -> Iterator[tuple[Op, list[str]]]:
        """The calls, in other places, of what a function names and keeps, or a class's body
        defines; by the qualified names of what is called."""
        for op in function.ops:
            if op.code in _PATHS and str(op.name).rpartition(".")[2] in self._words and op.uses:
                names = self.unit.values.qualified(op)
                if any(_public(name) in self._rows for name in names):
                    for call in self.gradients.layers.way(op).calls:
                        if self._may_be_chosen(call.args[0], op):
                            yield call, names
        yield from ((call, self._meant(call.args[0])) for call in self._makings(function))

    def _may_be_chosen(self, item: Op, value: Op) -> bool:
        """Whether ``POOLS[kind]``, or ``POOLS.get(kind)``, may be one of the values of the dict."""
        key = item.args[1] if item.code == "item" else item.given("key", 0) if _gets(item) else None
        if key is None:
            return True
        keys = self._choices.of(key)
        held = [each.args[0].name for each in value.uses if each.code == "entry"]
        return ... in keys or not held or not keys.isdisjoint(held)

    def _meant(self, op: Op) -> list[str]:
        """The qualified names of a function, or of what one of its class keeps."""
        values = self.unit.values
        if op.code != "attr" or not op.args[0].is_self:
            return values.qualified(op)
        held = self.unit.held(op.function.class_name, str(op.name))
        return [name for each in held for name in values.qualified(each)]

    def _makings(self, function: Function) -> tuple[Op, ...]:
        """The calls of a class of the file that is made of an operator."""
        if not isinstance(function.node, ast.ClassDef) or function.name not in self.unit.classes:
            return ()
        named = not self._words.isdisjoint(self.unit.bases(function.name))
        return function.known_calls.calls if named else ()

    def _match(self, call: Op, called: Sequence[str]) -> Match | None:
        for name in called:
            found = self._of_name(call, _public(name))
            if found is not None:
                return found
        if called:
            return None
        method = call.args[0]
        found = self._of_method(call, str(method.name)) if method.code == "attr" else None
        return found or self._of_module(call)

    def _of_name(self, call: Op, form: str) -> Match | None:
        for row, usage in self._rows.get(form, ()):
            holds = self._all_hold(call, usage.arguments, method=False)
            if holds and not usage.called:
                return Match(row, usage, call, form, call)
            if holds and self._is_kept_for(call, usage):
                return Match(row, usage, call, form, call)
        return self._of_subclass(call, form) if form.startswith(".") else None

    def _is_kept_for(self, made: Op, usage: Usage) -> bool:
        """``self.loss = nn.CrossEntropyLoss()`` that another function gives a tensor that
        decides."""
        left_open = len(self.left_open)
        held = any(
            self._all_hold(call, usage.called, method=False)
            for call in self.gradients.layers.way(made).calls
            if call.function.outermost is not made.function.outermost
        )
        if not held and len(self.left_open) > left_open:
            self.left_open.append(made)
        return held

    def _of_method(self, call: Op, word: str) -> Match | None:
        for row, usage in self._rows.get(_METHOD + word, ()):
            if usage.familiar and not self._is_of_tensor(call, word):
                continue
            if self._all_hold(call, usage.arguments, method=True):
                return Match(row, usage, call, _METHOD + word, call)
        return None

    def _is_of_tensor(self, call: Op, word: str) -> bool:
        """Whether a method that other objects have, too, is a tensor's."""
        # NumPy and pandas say axis, and xarray names its dimensions with strings.
        dim = call.given("dim")
        if dim is not None and type(self.unit.values.constant(dim)) is int:
            return True
        if word == "gather" and len(call.args) == 3 and set(call.name) == {None}:
            # Those of processes and futures take what they gather first: comm.gather(1, 0).
            first, index = map(self.unit.values.constant, call.args[1:])
            return type(first) is int and not isinstance(index, (int, str))
        return self.tensors.is_tensor(call.args[0].args[0])

    def _of_module(self, call: Op) -> Match | None:
        """``loss = nn.CrossEntropyLoss()`` and then ``loss(x, y)``, in one function."""
        for made in made_by(call.args[0]):
            if made.function.outermost is not call.function.outermost:
                continue
            for name in self.unit.values.called(made):
                for row, usage in self._rows.get(_public(name), ()):
                    if (
                        usage.called
                        and self._all_hold(made, usage.arguments, method=False)
                        and self._all_hold(call, usage.called, method=False)
                    ):
                        return Match(row, usage, call, _public(name), call, made)
        return None

    def _of_subclass(self, call: Op, own: str) -> Match | None:
        """``SamePool(3)`` of ``class SamePool(nn.MaxPool3d)``."""
        name = own[1:]
        if name not in self.unit.classes or not self._runs_base(name):
            return None
        maker = self.unit.defined("__init__", name)
        decides = call if maker is None else super_call(maker)
        for base in self.unit.qualified_bases(name) if decides else ():
            for row, usage in self._rows.get(_public(base), ()):
                if decides is None or usage.called:
                    continue
                if self._all_hold(decides, usage.arguments, method=False):
                    return Match(row, usage, call, _public(base), decides, base=base)
        return None

    def _runs_base(self, owner: str) -> bool:
        """Whether objects of a class run the ``forward`` of its base."""
        own = [self.unit.defined(name, owner) for name in ("forward", "__call__")]
        return all(each is None or any(_base_calls(each)) for each in own)

    # Arguments

    def _all_hold(self, call: Op, arguments: tuple[Argument, ...], *, method: bool) -> bool:
        return all(self._holds(call, each, method=method) for each in arguments)

    def _holds(self, call: Op, argument: Argument, *, method: bool) -> bool:
        value = passed(call, argument, method=method)
        if value is None:
            if argument.test == "perhaps floating":
                return True
            return argument.default is not ABSENT and not call.unpacks
        return self._tests[argument.test](call, value, argument.values)

    @cached_property
    def _tests(self) -> dict[str, Callable[[Op, Op, tuple[object, ...]], bool]]:
        constant, tensors, sizes = self.unit.values.constant, self.tensors, self.sizes
        return {
            "in": lambda _, op, values: not self._choices.of(op).isdisjoint(values),
            # xarray's ``x.median(dim="time")`` is not torch's.
            "given": lambda _, op, __: not isinstance(constant(op), (str, type(None))),
            "not 1": lambda _, op, __: sizes.other_than_one(op) is True,
            "perhaps not 1": lambda _, op, __: sizes.other_than_one(op) is not False,
            "length": lambda _, op, values: _length(self.unit.values.bound_to(op)) in values,
            "dimensions": self._has_dimensions,
            "tensor": lambda _, op, __: not isinstance(constant(op), (int, float)),
            "floating": lambda _, op, __: tensors.is_floating(op),
            "perhaps floating": lambda _, op, __: INTEGER not in tensors.types(op),
            "perhaps whole": lambda _, op, __: not tensors.is_floating(op),
        }

    def _has_dimensions(self, call: Op, op: Op, values: tuple[object, ...]) -> bool:
        asked = Dimensions(call, self._find)
        found = asked.of(op)
        if asked.is_cut and not found:
            self.left_open.append(call)
        return values <= (found,) < (MANY,)

    # In words

    def shown(self, found: Match) -> str:
        """The call as a person would name it: ``F.interpolate(mode="bicubic")``."""
        decisive = [self._argument(found, each) for each in found.usage.arguments]
        node = found.call.call_node
        if "AdaptiveMax" in found.form and node.args and not found.base:
            decisive.append(ast.unparse(node.args[0]))
        name = _dotted(node.func) or found.form.rpartition(".")[2]
        text = f"{name}({', '.join(filter(None, decisive))})"
        if found.base:
            base = found.base.removeprefix("torch.")
            text += f", made of {base},"
        if any(each.test == "dimensions" for each in found.usage.arguments + found.usage.called):
            text += " of an input with more than two dimensions"
        return text

    def _argument(self, found: Match, argument: Argument) -> str:
        call = found.made or found.decides
        value = passed(call, argument, method=found.is_method)
        if value is None or argument.test not in ("in", "given", "not 1"):
            return ""
        if argument.test == "not 1":
            node = call.written(argument.name, argument.position)
            return ast.unparse(node) if node is not None else ""
        constant = self.unit.values.constant(value)
        fitting = self._choices.of(value).intersection(argument.values)
        if constant is ... and len(fitting) == 1:
            (constant,) = fitting
        known = isinstance(constant, (str, int, type(None)))
        if not known and argument.default in argument.values:
            return ""  # a parameter's default, which is the operator's
        if argument.test == "in" and (found.made is not None or constant == argument.default):
            return ""
        if isinstance(constant, (str, int)):
            quoted = f'"{constant}"' if isinstance(constant, str) else repr(constant)
            return f"{argument.name}={quoted}"
        return f"{argument.name}=…"


def passed(call: Op, argument: Argument, *, method: bool) -> Op | None:
    """What a call passes for an argument; a method's tensor is its first."""
    position = argument.position
    if method and position is not None:
        if position == 0:
            return call.args[0].args[0]
        position -= 1
    found = call.given(argument.name, position)
    if found is not None or not call.unpacks:
        return found
    unpacked = keywords(call.values, call)
    return next((each.value for each in unpacked if each.name == argument.name), None)


def _public(name: str) -> str:
    """``torch.nn.modules.pooling.MaxPool3d`` → ``torch.nn.MaxPool3d``."""
    if not name.startswith("torch.nn.modules."):
        return name
    return f"torch.nn.{name.rpartition('.')[2]}"


def _base_calls(function: Function) -> Iterator[Op]:
    """``super().forward(x)``, ``nn.MaxPool3d.forward(self, x)``."""
    for call in function.coded("call"):
        method = call.args[0]
        if method.code == "attr" and method.name in ("forward", "__call__"):
            supers = "builtins.super" in function.unit.values.called(method.args[0])
            if supers or (call.args[1:] and call.args[1].is_self):
                yield call


def _gets(op: Op) -> bool:
    """``POOLS.get(kind)``."""
    return op.code == "call" and op.args[0].code == "attr" and op.args[0].name == "get"


def _length(op: Op) -> int | None:
    return None if op.elements is None else len(op.elements)


def _dotted(node: ast.expr) -> str:
    """``F.pad``, ``….median`` of what has no name, "" of what has none itself."""
    below = node
    while isinstance(below, ast.Attribute):
        below = below.value
    if isinstance(below, ast.Name) or ast.unparse(below) == "super()":
        return ast.unparse(node)
    return f"….{node.attr}" if isinstance(node, ast.Attribute) else ""
