"""The parameters of a ``torch.nn.Module`` class that its code leaves as the memory was found."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import owner_word, word_of
from detlint.dataflow.control import are_sides
from detlint.dataflow.initialisation import Initialisation, Memory
from detlint.models import layers, names
from detlint.models.memory import BUFFERS, PARAMETERS, TORCH, Shape
from detlint.models.model import Names
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

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

    @property
    def call(self) -> ast.Call:
        """The call that allocates it."""
        assert isinstance(self.memory.node, ast.Call)  # noqa: S101 - what an allocation is
        return self.memory.node


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
            node = self._definition(current)
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

    def _definition(self, name: str) -> ast.ClassDef | None:
        for piece in self.unit.classes[name]:
            function = self.unit.function(piece) if piece.kind == "class" else None
            if function is not None and isinstance(function.node, ast.ClassDef):
                return function.node
        return None

    def _base(self, node: ast.expr) -> str:
        node = node.value if isinstance(node, ast.Subscript) else node
        root, _, rest = ast.unparse(node).partition(".")
        imported = self.unit.imported.get(root, [])
        start = imported[0] if len(imported) == 1 else root
        return f"{start}.{rest}" if rest else start

    @cached_property
    def functions(self) -> list[Function]:
        """What the class and its bases run."""
        found = []
        for name in self.family:
            for piece in self.unit.classes[name]:
                function = self.unit.function(piece)
                found += list(function.everything()) if function is not None else []
        return found

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
        if name is None or name.code != "const" or not isinstance(name.name, str):
            return None
        if word_of(call) == "register_parameter":
            made = call.given("param", 1)
            content = self._content(made) if made is not None else None
        elif word_of(call) == "register_buffer" and _is_transient(call):
            made = content = call.given("tensor", 1)
        else:
            return None
        return (name.name, made, content) if made is not None and content is not None else None

    def _content(self, made: Op) -> Op | None:
        """The tensor that ``Parameter(…)`` wraps. A frozen one is there to be loaded."""
        called = self.unit.values.called(made)
        if not PARAMETERS.isdisjoint(called):
            asks = made.given("requires_grad", 1)
            frozen = asks is not None and asks.code == "const" and asks.name is False
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
            node = op.args[0].node
            word = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            return str(word).lstrip("_")[:1].isupper()
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
        if op.code == "const" and op.name == parameter.name:
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
            return given is None or given.code != "const" or given.name is not None
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
        named = re.findall(rf"(\bdef\s+)?\b{re.escape(name)}\b", self.unit.text)
        return not all(named)


class Elsewhere:
    """The rest of the file around a class: who may fill the class's parameters."""

    def __init__(self, owner: ModuleClass) -> None:
        unit, name = owner.unit, owner.name
        self._unit = unit
        self._pieces = [
            piece
            for piece in unit.pieces
            if piece.owner not in owner.family and not unit.text.startswith("__all__", piece.start)
        ]
        # If nothing here names the class, nobody here builds it or inherits from it, and what
        # other classes do to what they own doesn't reach it.
        self._named = any(mentions(unit.text, name, each.start, each.end) for each in self._pieces)
        self._inherited = any(mentions(each.bases, name) for each in self._pieces) or any(
            unit.text[each.start : each.end].partition("=")[2].strip() == name
            for each in self._pieces
        )

    def _ops(self, *parts: str) -> Iterator[Op]:
        """The operations of what holds some text."""
        for piece in self._pieces:
            if any(self._unit.text.find(each, piece.start, piece.end) >= 0 for each in parts):
                function = self._unit.function(piece) if piece.kind else self._unit.module
                for inner in function.everything() if function is not None else ():
                    yield from inner.ops

    def goes_over_all(self) -> bool:
        """Whether code goes over the parameters of a model that may hold the class."""
        return any(
            (self._named or owner_word(op) != "self")
            and (_is_applied(op) or (word_of(op) in _LISTING and _is_looped_to_fill(op)))
            for op in self._ops(".apply(", "parameters(", "buffers(")
            if op.code == "call"
        )

    def may_fill(self, name: str) -> bool:
        """Whether code stores to an attribute of the name, or passes it to what may fill it."""
        return any(
            op.name == name and self._fills(op)
            for op in self._ops(name)
            if op.code in ("store_attr", "attr", "const")
        )

    def _fills(self, op: Op) -> bool:
        if op.code == "const":
            return any(_is_filling(use) for use in op.uses)
        holder = op.args[0]
        if holder.is_self:
            ours = self._inherited
        else:
            while holder.code in ("attr", "item") and holder.args:
                holder = holder.args[0]
            ours = self._named or not (holder.is_self or holder.code == "call")
        return ours and (op.code == "store_attr" or _is_filled(op))


def _is_applied(call: Op) -> bool:
    """``model.apply(weights)``, and no function of autograd."""
    return word_of(call) == "apply" and not owner_word(call)[:1].isupper()


def _is_looped_to_fill(call: Op) -> bool:
    """Whether a loop over what a call lists fills it."""
    taking = [use for each in (call, *call.uses) for use in each.uses]  # also `enumerate(…)`
    heads = (each for each in taking if each.code == "iter")
    return any(_is_filling(op) for head in heads for op in head.region.ops())


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
    return kept is not None and kept.code == "const" and kept.name is False


def _names_self(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "self" for each in ast.walk(node))
