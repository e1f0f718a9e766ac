"""How many dimensions a tensor has at least, as source shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.backwards import Backwards
from detlint.dataflow.numerics.layers import made_by
from detlint.dataflow.numerics.tensors import function_of, tensor_of, word_of
from detlint.models import tensors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.origins import Find

_PARAMETERS = ("Buffer", "Parameter")
_SIZES_UNSEEN = ("*", "**", "size")
MANY = 99  # more than any tensor has: of what is made of itself alone


class Dimensions(Backwards[int]):
    """How many dimensions tensors have at least where an operation runs, by what made them, and
    by what is done with their shapes before; 0 where that is not known.

    ``find`` opens other files, that define layers; ``is_cut``: one was to be seen, and there is
    none.
    """

    nothing, anything = MANY, 0

    def __init__(self, at: Op, find: Find | None) -> None:
        super().__init__()
        self._find = find
        self._around = set(at.region.around())
        self._at = at
        self.is_cut = False

    def of(self, op: Op) -> int:
        found = super().of(op)
        return max(found, self._asked_of(op)) if found < MANY else found

    def _asked_of(self, op: Op) -> int:
        """``b, c, h, w = x.shape``, ``x.size(3)``."""
        asking = (x for x in op.uses if x.code == "attr" and x.name in ("shape", "size"))
        return max(map(self._needed, filter(self._precedes, asking)), default=0)

    def _precedes(self, use: Op) -> bool:
        return use.place < self._at.place and use.region in self._around

    def _needed(self, shape: Op) -> int:
        found = 0
        for use in shape.uses:
            values = use.values
            if use.code == "item":
                found = max(found, up_to(values.constant(use.args[1])))
            elif use.code == "slice":
                found = max(found, _of_rest(use))
            elif use.code == "call" and use.args[0] is shape:
                axis = up_to(values.constant(use.args[1])) if use.args[1:] else _parts(use)
                found = max(found, axis)
        return max(found, _parts(shape))

    def join(self, parts: Iterable[int]) -> int:
        return min(parts, default=0)

    def _of_item(self, op: Op) -> int:
        """``x[:, :, 1:]`` has what it is sliced in, and what ``x`` has."""
        keys = op.args[1].args if op.args[1].code == "tuple" else ()
        if not keys or any((each.code, each.name) != ("other", "Slice") for each in keys):
            return 0
        return max(len(keys), self.of(op.args[0]))

    def _of_slice(self, op: Op) -> int:
        return max(1, self.of(op.args[0]))

    def _of_call(self, op: Op) -> int:
        owner, _, word = function_of(op).rpartition(".")
        if owner == "einops":
            pattern = op.given("pattern", 1)
            return _of_pattern(pattern.name if pattern is not None else None)
        if word in _PARAMETERS:
            return self.joined(op.args[1:2])
        if owner == "torch" and word in tensors.SIZED:
            return _sizes(op, 0)
        if owner == "torch.nn.functional" and (least := tensors.at_least(word)):
            mode = op.given("mode", 3)
            said = op.values.constant(mode) if mode is not None else None
            return tensors.BY_MODE.get(str(said), least)
        if owner and not owner.startswith("torch"):
            return 0
        found = self._after([op.args[0]], op) if not owner else 0
        return found or self._of_shaping(op, word_of(op), tensor_of(op), int(bool(owner)))

    def _of_shaping(self, op: Op, word: str, tensor: Op | None, skipped: int) -> int:
        """``x.permute(0, 2, 1)``, ``x.transpose(1, 2)``; ``skipped``: how many arguments come
        before those that a method has."""
        if word in tensors.RESHAPES:
            return _sizes(op, skipped)
        known = self.of(tensor) if tensor is not None else 0
        if word in tensors.SAME_DIMENSIONS or word == "unsqueeze":
            return known + (word == "unsqueeze")
        given = [value for name, value in op.arguments() if name is None][skipped:]
        if word in tensors.SWAPS and len(given) == len(("one", "other")):
            axes = [up_to(op.values.constant(each)) for each in given]
            return max(*axes, known) if all(axes) else 0
        return 0

    # Layers

    def _of_param(self, op: Op) -> int:
        """As names around it say: ``class CrossEntropy2d``."""
        function = op.function
        named = any(map(tensors.is_loss_of_images, (function.class_name, function.word)))
        return tensors.at_least("2d") if named else 0

    def _after(self, layers: Sequence[Op], call: Op) -> int:
        """What layers give that are called one after the other; 0 of what is none."""
        if not layers:
            return self.joined(call.args[1:2])
        *before, last = layers
        return self.join(self._given_by(each, before, call) for each in made_by(last))

    def _given_by(self, made: Op, before: Sequence[Op], call: Op) -> int:
        for name in made.called:
            owner, _, word = name.rpartition(".")
            if not owner.startswith("torch"):
                return self._of_class(made, name, call)
            if word in tensors.HOLDING_LAYERS:
                return self._after([*before, *made.args[1:]], call)
            keeps = word in tensors.KEEPING_LAYERS
            return self._after(before, call) if keeps else tensors.at_least(word)
        return 0

    def _of_class(self, made: Op, name: str, call: Op) -> int:
        """What objects of a class of the project give, or what a function does that makes one."""
        unit, is_own = made.function.unit, name.startswith(".")
        self.is_cut |= self._find is None and not is_own
        found = self._find(unit, name) if self._find is not None else []
        for home, part in [(unit, name[1:])] if is_own else found:
            forward, builder = home.method(part, "forward"), home.defined(part)
            if forward is not None:
                return self.joined(forward.returned)
            if builder is not None:
                return self.join(self._after([each], call) for each in builder.returned)
        return 0


def _parts(shape: Op) -> int:
    """Into how many names an assignment takes a shape apart."""
    unpacked = [each.name for each in shape.uses if each.code == "unpack"]
    return max((count - (not plain) for _, count, plain, _ in unpacked), default=0)


def _of_rest(part: Op) -> int:
    """``height, width = x.shape[2:]``."""
    begins, ends, steps = part.name
    if ends or steps:
        return 0
    skipped = part.values.constant(part.args[1]) if begins else 0
    known = type(skipped) is int and _parts(part)
    return _parts(part) + max(skipped, 0) if known and isinstance(skipped, int) else 0


def up_to(axis: object) -> int:
    """How many dimensions there have to be for an axis."""
    return 0 if type(axis) is not int else axis + 1 if axis >= 0 else -axis


def _sizes(call: Op, skipped: int) -> int:
    """How many sizes are given, one by one or as a sequence."""
    if any(name in _SIZES_UNSEEN for name, _ in call.arguments()):
        return 0
    given = [value for name, value in call.arguments() if name is None][skipped:]
    if len(given) == 1 and given[0].code in ("tuple", "list"):
        return len(given[0].elements or ())
    return len(given)


def _of_pattern(pattern: object) -> int:
    """Of ``"b n c -> b c n"``, its right side, in which brackets stand for one dimension."""
    if not isinstance(pattern, str) or "->" not in pattern:
        return 0
    depth = count = 0
    for each in pattern.partition("->")[2].replace("(", " ( ").replace(")", " ) ").split():
        depth += (each == "(") - (each == ")")
        count += (each == "(" and depth == 1) or (depth == 0 and each not in (")", "..."))
    return count
