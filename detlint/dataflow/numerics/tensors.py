"""What source shows of a tensor: its type, and where it lies."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow import declared
from detlint.dataflow.backwards import Backwards
from detlint.grouping import grouped
from detlint.models import memory, tensors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

Facts = frozenset[str]
INTEGER, FLOATING, UNKNOWN = "integer", "floating", "?"
_INTEGERS, _FLOATS, _ANYTHING = (frozenset((each,)) for each in (INTEGER, FLOATING, UNKNOWN))
_NOTHING: Facts = frozenset()
_CPU, _GPU = frozenset(("cpu",)), frozenset(("gpu",))
_BITS = frozenset(("BitAnd", "BitOr", "BitXor", "Invert"))
_OWN = frozenset(("T", "H", "mT", "mH", "data", "grad", "real", "values"))
_PARAMETERS = ("Buffer", "Parameter")
_MANY = 99  # steps from a value to what made it


class Tensors:
    """Answers about the tensors of a file."""

    def __init__(self, unit: Unit) -> None:
        self.fields = Fields(unit)
        self._types = _Types(self.fields)
        self._places = _Places(self.fields)

    def types(self, op: Op) -> Facts:
        """Of what type the numbers of a tensor may be: ``INTEGER`` (or truth values),
        ``FLOATING``, ``UNKNOWN``, by branches."""
        return self._types.of(op)

    def is_integer(self, op: Op) -> bool:
        """Whether a tensor, or a number, is of whole numbers or truth values."""
        return self.types(op) == _INTEGERS

    def is_whole(self, op: Op) -> bool:
        """Whether a tensor certainly holds whole numbers, of whatever type: counts, which add up
        to the same in any order."""
        for _ in range(_MANY):
            word = word_of(op)
            if self.is_integer(op) or word in tensors.WHOLE:
                return True
            method = method_of(op)
            if method in tensors.FLOATING_TYPES or method in tensors.SHAPING:
                op = op.args[0].args[0]
            elif op.code in ("item", "slice"):
                op = op.args[0]
            else:
                return False
        return False

    def is_floating(self, op: Op) -> bool:
        """Whether it is of floating-point numbers."""
        return self.types(op) == _FLOATS

    def lies_on_cpu(self, op: Op) -> bool:
        """Whether a tensor certainly lies in the memory of the CPU, whatever the device of the
        program is."""
        return self._places.of(op) == _CPU

    def is_tensor(self, op: Op) -> bool:
        """Whether a value is a tensor of torch for sure."""
        for _ in range(_MANY):
            if op.code == "param" or (op.code == "declared" and not op.args):
                return not tensors.ANNOTATIONS.isdisjoint(annotated(op))
            owner, _, word = function_of(op).rpartition(".")
            if owner:
                known = word in tensors.FACTORIES or (
                    word in memory.TORCH.readers and word not in tensors.NO_TENSORS
                )
                return owner == "torch.nn.functional" or (owner == "torch" and known)
            if op.code in ("item", "slice", "declared"):
                op = op.args[0]
            elif method_of(op) and method_of(op) not in tensors.NO_TENSORS:
                op = op.args[0].args[0]
            else:
                return False
        return False


def function_of(op: Op) -> str:
    """The qualified name of the function that a call calls; "" for a method of an object."""
    return next(iter(op.called), "") if op.code == "call" else ""


def gives_places(op: Op) -> bool:
    """Whether a call gives values and the places of these: ``x.max(dim=1)``."""
    word = method_of(op) or function_of(op).rpartition(".")[2]
    return word in tensors.PLACED and len(op.args) > 1 + bool(function_of(op))


def method_of(op: Op) -> str:
    """The name of the method that a call calls, of an object."""
    is_method = op.code == "call" and op.args[0].code == "attr" and not function_of(op)
    return str(op.args[0].name) if is_method else ""


def word_of(op: Op) -> str:
    """The last word of what a call of torch calls, as a function or as a method."""
    name = function_of(op)
    if name:
        return name.rpartition(".")[2] if name.startswith("torch") else ""
    return method_of(op)


def computed_with(call: Op) -> list[Op]:
    """The tensors that a call may compute with: its arguments, and a method's object."""
    given = [value for name, value in call.arguments() if name in (None, "*", "input", "tensors")]
    return [call.args[0].args[0], *given] if method_of(call) else given


def tensor_of(call: Op) -> Op | None:
    """The first of them."""
    return call.args[0].args[0] if method_of(call) else call.given("input", 0)


def annotated(op: Op) -> list[str]:
    """The qualified names in the annotation of a parameter or variable, but for None."""
    node = getattr(op.node, "annotation", None) if op.code == "param" else op.name
    return [
        name
        for dotted in declared.classes(node if isinstance(node, ast.expr) else None)
        for name in op.function.unit.meant_by(dotted) or [f"builtins.{dotted}"]
    ]


class Fields:
    """What the classes of a file keep in attributes of their objects."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._buffers: dict[str, dict[object, list[Op]]] = {}

    def kept(self, op: Op) -> list[Op]:
        """What an attribute holds that an operation reads, buffers too."""
        owner, name = self.unit.values.owner(op.args[0]), str(op.name)
        if not owner:
            return []
        return [*self.unit.held(owner, name), *self.buffers(owner, name)]

    def buffers(self, owner: str, name: str) -> list[Op]:
        """What a class registers as a buffer of a name."""
        if owner not in self._buffers:
            self._buffers[owner] = grouped(self._registered(owner))
        return self._buffers[owner].get(name, [])

    def _registered(self, owner: str) -> Iterator[tuple[object, Op]]:
        if "register_buffer" not in self.unit.text:
            return
        for function in self.unit.methods_naming(owner, "register_buffer"):
            for call in function.all_coded("call"):
                if method_of(call) == "register_buffer":
                    told, value = call.given("name", 0), call.given("tensor", 1)
                    if told is not None and value is not None:
                        yield told.name, value


class _Sets(Backwards[Facts]):
    """Questions of which each branch gives its own answer."""

    nothing, anything = _NOTHING, _ANYTHING

    def __init__(self, fields: Fields) -> None:
        super().__init__()
        self._fields = fields

    def join(self, parts: Iterable[Facts]) -> Facts:
        return _NOTHING.union(*parts)

    def _of_list(self, op: Op) -> Facts:
        return self.joined(op.args)

    _of_tuple = _of_set = _of_list

    def _of_item(self, op: Op) -> Facts:
        return self.of(op.args[0])

    _of_slice = _of_iter = _of_star = _of_unary = _of_item
    _of_comprehension = _of_store_item = _of_item

    def _of_field(self, op: Op) -> Facts:
        """What an attribute of an object of the file holds."""
        held = self._fields.kept(op)
        return self.joined(each for each in held if not each.is_none) if held else _ANYTHING


class _Types(_Sets):
    """Of what type the numbers of tensors are."""

    def _of_const(self, op: Op) -> Facts:
        if isinstance(op.name, (bool, int)):
            return _INTEGERS
        return _FLOATS if isinstance(op.name, float) else _ANYTHING

    def _of_compare(self, _: Op) -> Facts:
        return _INTEGERS

    _of_not = _of_compare

    def _of_param(self, op: Op) -> Facts:
        return self.join(self._named([each]) for each in annotated(op)) or _ANYTHING

    def _of_binary(self, op: Op) -> Facts:
        found = self._promoted(op.args)
        if op.name in _BITS:
            return _INTEGERS
        return _FLOATS if op.name == "Div" and found == _INTEGERS else found

    _of_augment = _of_binary

    def _of_unary(self, op: Op) -> Facts:
        return _INTEGERS if op.name in _BITS else self.of(op.args[0])

    def _promoted(self, ops: Iterable[Op]) -> Facts:
        """Of what type the result of an operator is: floating point, if one operand is."""
        parts = [self.of(each) for each in ops]
        return _FLOATS if _FLOATS in parts else self.join(parts)

    def _of_unpack(self, op: Op) -> Facts:
        index = op.name[0]
        placed = index == 1 and word_of(op.args[0]) in tensors.PLACED
        return _INTEGERS if placed else self.of(op.args[0])

    def _of_item(self, op: Op) -> Facts:
        placed = op.args[1].name == 1 and word_of(op.args[0]) in tensors.PLACED
        return _INTEGERS if placed and len(op.args[0].args) > 1 else self.of(op.args[0])

    def _of_attr(self, op: Op) -> Facts:
        if op.name in ("indices", "shape"):
            return _INTEGERS
        return self.of(op.args[0]) if op.name in _OWN else self._of_field(op)

    def _of_call(self, op: Op) -> Facts:
        told = op.given("dtype")
        if told is not None:
            return self._meant(told)
        name = function_of(op)
        owner, _, word = name.rpartition(".")
        if owner and not owner.startswith("torch"):
            made = word in ("len", "int", "range") and owner == "builtins"
            return _INTEGERS if made else self._passed_on(op, word)
        return self._of_word(op, word) if owner else self._of_method(op)

    def _passed_on(self, op: Op, word: str) -> Facts:
        """``for part in enumerate(parts)``."""
        return self.joined(op.args[1:2]) if word in ("list", "reversed", "tuple") else _ANYTHING

    def _of_word(self, op: Op, word: str) -> Facts:
        """What a function of torch gives."""
        if word in tensors.INTEGERS:
            return _INTEGERS
        if word in tensors.FLOATS | tensors.DRAWS:
            return _FLOATS
        if word.endswith("Tensor"):
            return self._typed(word.removesuffix("Tensor").lower())
        return self._of_given(word, [value for name, value in op.arguments() if name is None])

    def _of_given(self, word: str, given: list[Op]) -> Facts:
        """The same, as its arguments say."""
        if word in _PARAMETERS:
            return self.joined(given[:1]) or _ANYTHING
        if word == "arange":
            known = given and all(each.code == "const" for each in given)
            return self._promoted(given) if known else _ANYTHING
        if word == "where":
            return self.joined(given[1:]) if len(given) == 3 else _INTEGERS
        if word in tensors.SAME_TYPE and given:
            many = given[:2] if word in tensors.MANY else given[:1]
            listed = many[0].code in ("list", "tuple")
            return self._promoted(many[0].args if listed else many)
        return _ANYTHING

    def _of_method(self, op: Op) -> Facts:
        word = method_of(op)
        found = self._typed(word)
        if found != _ANYTHING:
            return found
        if word in ("to", "type"):
            told = [self._meant(value) for _, value in op.arguments()]
            known = [each for each in told if each not in (_ANYTHING, _NOTHING)]
            return known[0] if known else self._moved(op)
        if word in tensors.INTEGERS:
            return _INTEGERS
        if word in tensors.FLOATS:
            return _FLOATS
        return self.of(op.args[0].args[0]) if word in tensors.SAME_TYPE else _ANYTHING

    def _moved(self, op: Op) -> Facts:
        """``x.to(device)``, or to something that may be a type."""
        plain = all(_names_device(value) for _, value in op.arguments())
        return self.of(op.args[0].args[0]) if plain else _ANYTHING

    def _meant(self, op: Op) -> Facts:
        """What numbers a dtype stands for: ``torch.int64``, ``x.dtype``, one of two."""
        if op.code in ("phi", "choice", "free", "boolean"):
            return self.join(map(self._meant, op.args[op.code == "choice" :]))
        names = op.values.qualified(op)
        if not names and op.code == "attr" and op.name == "dtype":
            return self.of(op.args[0])
        return self._named(names)

    def _named(self, names: Iterable[str]) -> Facts:
        for name in names:
            owner, _, word = name.rpartition(".")
            if owner.startswith("torch") or owner in ("builtins", "numpy"):
                return self._typed(word.removesuffix("Tensor").lower())
        return _ANYTHING

    @staticmethod
    def _typed(word: str) -> Facts:
        if word in tensors.INTEGER_TYPES:
            return _INTEGERS
        return _FLOATS if word in tensors.FLOATING_TYPES else _ANYTHING


def _names_device(op: Op) -> bool:
    """Whether an argument of ``x.to(…)`` is a device and no type, as far as its name says."""
    if op.code == "const":
        return isinstance(op.name, (str, bool))
    name = op.name[1] if op.code == "param" else op.name
    return "device" in str(name) or op.code == "call"


class _Places(_Sets):
    """In whose memory tensors lie. An operator of torch gets all its tensors in one place."""

    def _of_const(self, _: Op) -> Facts:
        return _NOTHING

    def _beside(self, ops: Iterable[Op]) -> Facts:
        """Where what is computed with some tensors lies: where one of them is known to."""
        parts = [self.of(each) for each in ops]
        return _CPU if _CPU in parts else self.join(parts) or _ANYTHING

    def _of_binary(self, op: Op) -> Facts:
        return self._beside(op.args)

    _of_augment = _of_compare = _of_list = _of_tuple = _of_binary

    def _of_attr(self, op: Op) -> Facts:
        return self.of(op.args[0])

    _of_unpack = _of_attr

    def _of_call(self, op: Op) -> Facts:
        told, name = op.given("device"), function_of(op)
        if told is not None:
            return _CPU if is_cpu(told) else _ANYTHING
        if name == "torch.from_numpy":
            return _CPU
        if name.startswith("torch."):
            word = name.rpartition(".")[2]
            if word.endswith("Tensor"):
                told_elsewhere = tensors.DEFAULT_DEVICE in op.function.unit.text
                return _ANYTHING if told_elsewhere or ".cuda." in name else _CPU
            return self._beside(op.args[1:])
        return self._of_method(op, method_of(op))

    def _of_method(self, op: Op, word: str) -> Facts:
        if word in ("cpu", "numpy"):
            return _CPU
        if word == "cuda" or not word:
            return _GPU if word else _ANYTHING
        given = op.args[1:]
        if word == "to" and any(map(is_cpu, given)):
            return _CPU
        if word == "to" and not all(map(is_type, given)):
            return _ANYTHING
        return self.of(op.args[0].args[0])


def is_cpu(op: Op) -> bool:
    """``"cpu"``, ``torch.device("cpu")``."""
    values = op.values
    op = values.bound_to(op)
    if "torch.device" in values.called(op):
        return len(op.args) == 2 and is_cpu(op.args[1])
    return values.constant(op) == "cpu"


def is_type(op: Op) -> bool:
    """``torch.float32``."""
    names = [each.rpartition(".") for each in op.values.qualified(op)]
    types = tensors.INTEGER_TYPES | tensors.FLOATING_TYPES
    return bool(names) and all(owner == "torch" and word in types for owner, _, word in names)
