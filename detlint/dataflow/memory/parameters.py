"""The parameters of a ``torch.nn.Module`` class that its code leaves as the memory was found."""

from __future__ import annotations

import ast
import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import owner_word, word_of, written
from detlint.dataflow.control import are_sides
from detlint.dataflow.memory.initialisation import Initialisation, Memory
from detlint.grouping import grouped
from detlint.models import layers, names
from detlint.models.layers import PARAMETERS
from detlint.models.memory import BUFFERS, TORCH, Shape
from detlint.models.model import Names
from detlint.syntax.mentions import places, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Piece, Unit

_MODULE = frozenset(
    f"torch.nn.{name}" for name in ("Module", "modules.Module", "modules.module.Module")
)
# torch's own, which fill what is theirs before the class makes more; `Transformer` has a method
# that fills all.
_is_layer = Names("torch.nn.[A-Z]*")
_is_no_layer = Names("torch.nn.{Parameter*,Buffer*,Transformer}")
_HARMLESS_BASES = frozenset(
    ("abc.ABC", "typing.Generic", "typing.Protocol", "builtins.object", "object")
)
_LISTING = frozenset(("parameters", "named_parameters", "buffers", "named_buffers"))
_PARAMETERS = frozenset(("parameters", "named_parameters"))
_HARMLESS = frozenset(
    f"builtins.{name}" for name in ("isinstance", "id", "len", "repr", "str", "super", "type")
)


class Parameter(NamedTuple):
    """A parameter, or a buffer that no checkpoint holds, as its class makes it.

    made   the tensor that the class keeps
    memory  the call that allocates it
    by     what keeps it: an assignment, or a call of ``register_parameter``
    """

    name: str
    made: Op
    memory: Op
    by: Op


class ModuleClass:
    """A class of a file that is a ``torch.nn.Module``, with its bases."""

    def __init__(self, unit: Unit, name: str) -> None:
        self.unit = unit
        self.name = name
        self.engine = Initialisation(unit, TORCH, least=1, named=True)

    @cached_property
    def family(self) -> list[str]:
        """The class and its bases up to ``torch.nn.Module``; empty if one is out of sight."""
        found: list[str] = []
        pending, is_module = [self.name], False
        while pending:
            current = pending.pop()
            if current in found:
                continue
            found.append(current)
            node = self.unit.definition(current)
            if node is None or node.keywords:
                return []
            for base in node.bases:
                name = self._base(base)
                if name in self.unit.classes:
                    pending.append(name)
                elif name in _MODULE or (_is_layer(name) and not _is_no_layer(name)):
                    is_module = True
                elif name not in _HARMLESS_BASES:
                    return []
        return found if is_module else []

    def _base(self, node: ast.expr) -> str:
        node = node.value if isinstance(node, ast.Subscript) else node
        root, _, rest = ast.unparse(node).partition(".")
        imported = self.unit.imported.get(root, [])
        start = imported[0] if len(imported) == 1 else root
        return f"{start}.{rest}" if rest else start

    @cached_property
    def functions(self) -> list[Function]:
        """What the class and its bases run."""
        return [each for name in self.family for each in self.unit.everything_of(name)]

    # What it keeps

    def unfilled(self) -> Iterator[Parameter]:
        """The parameters of its own that nothing in the class and its bases may fill."""
        own = [each for each in self.functions if each.class_name == self.name]
        for function in own:
            for op in function.ops:
                kept = self._kept(op)
                if kept is None:
                    continue
                memory = self._allocation(kept[2], {kept[1], op})
                if memory is not None:
                    parameter = Parameter(kept[0], kept[1], memory, op)
                    if not self.fills(parameter):
                        yield parameter

    def _kept(self, op: Op) -> tuple[str, Op, Op] | None:
        """The name of a parameter that an operation keeps, its tensor, and what that is made of."""
        if op.code == "store_attr" and op.args[0].is_self:
            made = op.args[1]
            made = made.args[0] if made.code == "declared" and made.args else made
            content = self._content(made)
            return (str(op.name), made, content) if content is not None else None
        if op.code == "call" and op.args[0].code == "attr" and op.args[0].args[0].is_self:
            return self._registered(op)
        return None

    def _registered(self, call: Op) -> tuple[str, Op, Op] | None:
        name = call.given("name", 0)
        if name is None or not name.text:
            return None
        if word_of(call) == "register_parameter":
            made = call.given("param", 1)
            content = self._content(made) if made is not None else None
        elif word_of(call) == "register_buffer" and _is_transient(call):
            made = content = call.given("tensor", 1)
        else:
            return None
        return (name.text, made, content) if made is not None and content is not None else None

    def _content(self, made: Op) -> Op | None:
        """The tensor that ``Parameter(…)`` wraps. A frozen one is there to be loaded."""
        called = self.unit.values.called(made)
        if not PARAMETERS.isdisjoint(called):
            asks = made.given("requires_grad", 1)
            frozen = asks is not None and asks.literal is False
            return None if frozen else made.given("data", 0)
        if not BUFFERS.isdisjoint(called) and _is_transient(made):
            return made.given("data", 0)
        return None

    def _allocation(self, content: Op, keeping: set[Op]) -> Op | None:
        """The call that makes a tensor's memory, if nothing but what keeps it gets hold of it."""
        origins = self.engine.origins(content, content.region, set())
        if origins is None or len(origins) != 1:
            return None
        (memory,) = origins
        happens = self.engine.memory(memory)
        filled = happens.is_lost or happens.returns or not set(happens.writes) <= keeping
        return None if filled else memory

    # What may fill it

    def reaches_every_parameter(self) -> bool:
        """Whether the module, or all its parameters at once, is handed to unknown code."""
        return any(self._hands_out(op) for function in self.functions for op in function.ops)

    def _hands_out(self, op: Op) -> bool:
        if op.code == "attr":
            return op.name in layers.EVERY_PARAMETER and not self._is_looked_at(op)
        return op.is_self and any(self._takes_self(use, op) for use in op.uses)

    def _takes_self(self, use: Op, value: Op) -> bool:
        if use.code == "call":
            return _HARMLESS.isdisjoint(self.unit.values.called(use))
        stored = use.code in ("store_attr", "store_item") and value is use.args[-1]
        return stored or use.code in ("entry", "list", "set", "tuple")

    def _is_looked_at(self, op: Op) -> bool:
        """``next(self.parameters())`` asks for a device; ``Function.apply`` is another apply."""
        if op.name == "apply":
            return written(op.args[0]).lstrip("_")[:1].isupper()
        around = [each for call in op.uses for each in call.uses]
        return bool(around) and all(
            "builtins.next" in self.unit.values.called(each) for each in around
        )

    def initialises(self) -> bool:
        """Whether the class fills any of what it owns, and so does not wait for a checkpoint."""
        return any(
            op.code == "call" and names.initialises(word_of(op)) and _names_self(op.node)
            for function in self.functions
            for op in function.ops
        )

    def fills(self, parameter: Parameter) -> bool:
        """Whether any code of the class may fill a parameter."""
        return any(
            self._fills(op, parameter)
            for function in self.functions
            if self._runs(function)
            for op in function.ops
        )

    def _fills(self, op: Op, parameter: Parameter) -> bool:
        if op.text == parameter.name:
            return any(self._takes_name(use, parameter) for use in op.uses)
        if op.code == "store_attr" and op.name == parameter.name and op.args[0].is_self:
            other = op is not parameter.by and op.args[1].code != "augment"
            return other and not are_sides(op, parameter.by)
        if op is parameter.made or self._is_read(op, parameter):
            return self.happens(op).may_fill(parameter.by)
        return False

    @staticmethod
    def _is_read(op: Op, parameter: Parameter) -> bool:
        return op.code == "attr" and op.name == parameter.name and op.args[0].is_self

    @staticmethod
    def _takes_name(use: Op, parameter: Parameter) -> bool:
        """Whether a name in a text stands for a parameter that may be filled by it."""
        if use is parameter.by:
            return False
        if use.code == "call" and word_of(use).startswith("register_"):
            given = use.given("param", 1) or use.given("tensor", 1)
            return given is None or not given.is_none
        return True

    def happens(self, value: Op) -> _Kept:
        """What happens to a parameter that a function gets hold of."""
        found = _Kept(self.engine, value)
        found.follow()
        return found

    def reads(self, parameter: Parameter) -> bool:
        """Whether any code looks at a parameter's values."""
        return any(
            self.engine.matters(by)
            for function in self.functions
            for op in function.ops
            if self._is_read(op, parameter)
            for by, _ in self.happens(op).reads
        )

    def is_legacy(self, parameter: Parameter) -> bool:
        """Whether it is made by ``torch.Tensor(…)`` or the like."""
        return self.engine.allocates.shape_of(parameter.memory) is Shape.LEGACY

    def _runs(self, function: Function) -> bool:
        """Whether a method may be called: a private one that nobody names is not."""
        while function.outer is not None:
            function = function.outer
        name = function.word
        if not name.startswith("_") or name.startswith("__"):
            return True
        reads = (each for code in ("attr", "global") for each in self.unit.reads(code, name))
        return name in quoted(self.unit.text) or any(True for _ in reads)


class Elsewhere:
    """A file around its classes: who may fill their parameters. What is found is told by the class
    that it stands in, and by what must be so of the class that is asked about:

    named      the rest of the file names it; else nobody there builds it or inherits from it, and
               what other classes do to what they own does not reach it
    inherited  a class there may inherit from it
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._fillers: dict[str, _Found] = {}

    def goes_over_all(self, owner: ModuleClass) -> bool:
        """Whether code goes over the parameters of a model that may hold the class."""
        return self._concerns(self._loops, owner)

    def may_fill(self, owner: ModuleClass, name: str) -> bool:
        """Whether code stores to an attribute of the name, or passes it to what may fill it."""
        if name not in self._fillers:
            ops = self._ops(_places(self._unit, (name,)))
            told = ((at, _filled_if(op)) for at, op in ops if op.name == name)
            self._fillers[name] = _by_condition(told)
        return self._concerns(self._fillers[name], owner)

    def _concerns(self, found: _Found, owner: ModuleClass) -> bool:
        return any(
            (condition is _If.ALWAYS or self._holds(condition, owner))
            and any(each not in owner.family for each in classes)
            for condition, classes in found.items()
        )

    def _holds(self, condition: _If, owner: ModuleClass) -> bool:
        if condition is _If.NAMED:
            at = self._pieces(_places(self._unit, (owner.name,)))
            return any(each.owner not in owner.family for each in at)
        return any(each not in owner.family for each in self._heirs.get(owner.name, ()))

    @cached_property
    def _heirs(self) -> dict[str, list[str]]:
        """The classes whose bases a word is among; "" for an alias."""
        found: dict[str, list[str]] = {}
        for piece in self._unit.pieces:
            words = re.findall(r"\w+", piece.bases)
            if not piece.kind:
                words.append(self._unit.text[piece.start : piece.end].partition("=")[2].strip())
            for word in words:
                found.setdefault(word, []).append(piece.owner)
        return found

    @cached_property
    def _loops(self) -> _Found:
        told = (
            (owner, _If.NAMED if owner_word(op) == "self" else _If.ALWAYS)
            for owner, op in self._ops(_places(self._unit, ("apply", *_LISTING)))
            if op.code == "call"
            and (_is_applied(op) or (word_of(op) in _LISTING and _is_looped_to_fill(op)))
        )
        return _by_condition(told)

    def _pieces(self, offsets: Iterable[int]) -> Iterator[Piece]:
        """What they lie in, but for a list of what the file exports."""
        found = dict.fromkeys(filter(None, map(self._unit.piece_at, offsets)))
        return (each for each in found if not self._unit.text.startswith("__all__", each.start))

    def _ops(self, offsets: Iterable[int]) -> Iterator[tuple[str, Op]]:
        """The operations of the parts that they lie in, each with its class."""
        unit = self._unit
        parts = ((each.owner, unit.function_of(each)) for each in self._pieces(offsets))
        for owner, function in dict.fromkeys(parts):
            for inner in function.everything() if function is not None else ():
                yield from ((owner, op) for op in inner.ops)


class _If(Enum):
    """What must be so of a class for an operation elsewhere to concern it."""

    ALWAYS = "always"
    NAMED = "named"
    INHERITED = "inherited"


_Found = dict[_If, list[str]]


def _by_condition(told: Iterable[tuple[str, _If | None]]) -> _Found:
    return grouped(
        (condition, owner) for owner, condition in dict.fromkeys(told) if condition is not None
    )


def _filled_if(op: Op) -> _If | None:
    """When an operation fills an attribute of its name; None if it never does."""
    if op.code == "const":
        return _If.ALWAYS if any(_is_filling(use) for use in op.uses) else None
    if op.code != "store_attr" and not (op.code == "attr" and _is_filled(op)):
        return None
    holder = op.args[0]
    if holder.is_self:
        return _If.INHERITED
    while holder.code in ("attr", "item") and holder.args:
        holder = holder.args[0]
    return _If.NAMED if holder.is_self or holder.code == "call" else _If.ALWAYS


def _is_applied(call: Op) -> bool:
    """``model.apply(weights)``, and no function of autograd."""
    return word_of(call) == "apply" and not owner_word(call)[:1].isupper()


def _is_looped_to_fill(call: Op) -> bool:
    """Whether a loop over what a call lists fills it."""
    taking = [use for each in (call, *call.uses) for use in each.uses]  # also `enumerate(…)`
    heads = (each for each in taking if each.code == "iter")
    return any(_is_filling(op) for head in heads for op in head.region.ops())


def _places(unit: Unit, words: Iterable[str]) -> list[int]:
    found = places(unit.text)
    return sorted(place for word in words for place in found.get(word, ()))


def fillers(unit: Unit, name: str) -> Iterator[str]:
    """The functions of a file that fill all the parameters of some model, or one of a name unless
    that is "", by their last words; "" for what runs with the file."""
    at = _places(unit, (*_PARAMETERS, name))
    for piece in dict.fromkeys(filter(None, map(unit.piece_at, at))):
        function = unit.function_of(piece)
        ops = (op for each in function.everything() for op in each.ops) if function else ()
        if any(_initialises_each(op) or _fills_attribute(op, name) for op in ops):
            yield piece.name if piece.kind == "function" else ""


def _fills_attribute(op: Op, name: str) -> bool:
    """``model.centres.data = torch.tensor(found)``."""
    named = op.code in ("attr", "store_attr") and op.name == name and not op.args[0].is_self
    return named and _filled_if(op) is not None


def _initialises_each(call: Op) -> bool:
    """Whether a loop over the parameters that a call lists gives each its first values."""
    if word_of(call) not in _PARAMETERS:
        return False
    numbered = (each for each in call.uses if "builtins.enumerate" in each.called)
    heads = (use for each in (call, *numbered) for use in each.uses if use.code == "iter")
    return any(
        op.code == "call" and names.initialises(word_of(op)) and _is_about(op, head)
        for head in heads
        for op in head.region.ops()
    )


def _is_about(call: Op, head: Op) -> bool:
    """Whether a call gets what a loop goes over, or is a method of it; not of its gradient."""
    method = call.args[0]
    for each in (*call.args[1:], *(method.args if method.code == "attr" else ())):
        held = each
        while held.code in ("attr", "unpack", "item") and held.args and held.name != "grad":
            held = held.args[0]
        if held is head:
            return True
    return False


def _is_filled(value: Op) -> bool:
    """Whether a value is passed to what may fill it, or stored to."""
    return any(
        _is_filling(use)
        or (use.code in ("store_attr", "store_item") and use.args[0] is value)
        or (use.code in ("attr", "item") and _is_filled(use))
        for use in value.uses
    )


def _is_filling(op: Op) -> bool:
    if op.code in ("attr", "store_attr"):
        return bool(op.name == "data")
    return op.code == "call" and (names.fills(word_of(op)) or word_of(op) in ("getattr", "setattr"))


class _Kept(Memory):
    """What happens to a tensor that a module keeps."""

    def may_fill(self, by: Op) -> bool:
        """Whether anything but what keeps it may fill it."""
        return bool(self.is_lost or self.returns or set(self.writes) - {by})

    def _in_store_attr(self, use: Op, value: Op) -> None:
        if use.args[0] is value or not use.args[0].is_self:
            self.writes.append(use)

    def _write(self, use: Op, _: Op) -> None:
        if not self._computes(use):
            self.writes.append(use)

    def _in_list(self, use: Op, value: Op) -> None:
        if not all(map(self._computes, use.uses)):
            super()._in_list(use, value)

    _in_tuple = _in_list

    def _computes(self, use: Op) -> bool:
        """Whether forward() only passes it on to a function."""
        inside = use.function.word == "forward"
        return use.code == "call" and inside and not names.fills(word_of(use))


def _is_transient(call: Op) -> bool:
    kept = call.given("persistent", 2)
    return kept is not None and kept.literal is False


def _names_self(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "self" for each in ast.walk(node))
