"""How often an index reaches a place: what is added up there, in no order, may differ."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.callers import given
from detlint.dataflow.numerics.tensors import Fields, function_of, method_of, word_of
from detlint.dataflow.slices import alternatives, closure
from detlint.models import operators as rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op
    from detlint.dataflow.numerics.operators import Match

_FARTHEST = 20  # steps from an index to where it came from
_PART = ("item", "slice", "unpack", "declared")
_MANY = 3  # addends, of which the order counts
_LISTS = ("list", "tuple")
_SAME_SIZE = {"expand": -1, "repeat": 1}


class Indices:
    """Answers for the indices of a file."""

    def __init__(self) -> None:
        self._lengths = _Lengths()
        self._known: dict[tuple[Op, object, frozenset[str]], int] = {}
        self._busy: list[Op] = []

    def is_exact(self, found: Match) -> bool:
        """Whether an operator that takes an index can reach no place twice, so that nothing is
        added up, in no order, and no value is written over another: ``x.gather(1,
        label.unsqueeze(1))``, ``x.gather(1, label).squeeze(1)``, ``x.index_select(0,
        order.argsort())``. Nor does the order of two addends count, where there was nothing."""
        word = found.form.rpartition(".")[2].removesuffix("_")
        dim, index = found.argument("dim", 1), found.argument("index", 2)
        if not found.takes_index or index is None:
            return False
        axis = dim.constant if dim is not None else ...
        most = _MANY if _starts_at_nothing(found, word) else 2
        if 0 < self._times(index, axis) < most:
            return True
        if word != "gather" or type(axis) is not int:
            return False
        return self._lengths.is_one(index, axis) or self._gives_one(found.call, axis)

    def _gives_one(self, result: Op, axis: int) -> bool:
        """Whether all that reads a result drops an axis of it, which so is to have one place, or
        compares it with what has one."""
        reads = [use for use in result.uses if use.code != "store_global"]
        return bool(reads) and all(
            _squeezes(use, axis) or self._is_compared(result, use, axis) for use in reads
        )

    def _is_compared(self, result: Op, use: Op, axis: int) -> bool:
        """``F.mse_loss(values.gather(1, action), target.unsqueeze(1))``."""
        if use.code != "call" or not rows.COMPARING(use.args[0].word):
            return False
        others = [each for each in use.args[1:] if each is not result]
        return bool(others) and self._lengths.is_one(others[0], axis)

    # How often

    def _times(self, op: Op, axis: object, distinct: frozenset[str] = rows.DISTINCT) -> int:
        """How often an index has one place at most, along the axis that is indexed; 0 where that is
        not known: once in ``scores.topk(3, dim=1).indices.unsqueeze(-1)``, twice in
        ``torch.cat([order, order.flip(0)])``."""
        key = op, axis, distinct
        if key not in self._known:
            self._known[key] = 0  # of what is made of itself
            if len(self._busy) < _FARTHEST:
                self._busy.append(op)
                self._known[key] = self._counted(op, axis, distinct)
                self._busy.pop()
        return self._known[key]

    def _counted(self, op: Op, axis: object, distinct: frozenset[str]) -> int:
        word = _word(op)
        if op.code in _PART and op.args:
            left = distinct - _values_alone(op)
            return 1 if _chooses(op) else self._times(op.args[0], axis, left)
        if op.code == "attr" and op.name == "indices":
            return self._times(op.args[0], axis, distinct)
        if not word or word in rows.LINING_UP:
            parts = _tensor(op).args if word and _tensor(op).code in _LISTS else _before(op)
            found = [self._times(each, axis, distinct) for each in parts]
            return (sum(found) if word else max(found, default=0)) if all(found) else 0
        if word not in rows.SHAPING:
            return int(word in distinct and (word != "where" or len(op.args) == 2))
        left = distinct & rows.OF_ALL if word in rows.JOINING else distinct
        return _repeated(op, axis) * self._times(_tensor(op), axis, left)


def _before(op: Op) -> list[Op]:
    """What a value was under another name, all that it may be: by branches, callers, and what a
    class keeps; nothing where that is not seen."""
    if op.code == "param":
        known = op.function.known_calls
        values = [given(each, op) for each in known.calls] if known.all else []
        return [each for each in values if each is not None] if None not in values else []
    if op.code == "call":
        function = op.values.callee(op)
        return function.returned if function is not None else []
    if op.code == "attr":
        held = Fields(op.function.unit).kept(op)
        return [each for each in held if not each.is_none]
    return list(alternatives(op)) or [x for x in op.values.bound(op) if x is not op]


class _Lengths:
    """Whether tensors have one place along an axis: ``label[:, None]``."""

    def __init__(self) -> None:
        self._known: dict[tuple[Op, int], bool] = {}
        self._left = _FARTHEST

    def is_one(self, op: Op, axis: int) -> bool:
        """Whether a tensor has, for all that can be seen."""
        key = op, axis
        if key not in self._known:
            self._known[key] = False  # of what is made of itself
            if self._left:
                self._left -= 1
                judge = getattr(self, f"_of_{op.code}", self._of_name)
                self._known[key] = bool(judge(op, axis))
                self._left += 1
        return self._known[key]

    def _of_name(self, op: Op, axis: int) -> bool:
        found = _before(op)
        return bool(found) and all(self.is_one(each, axis) for each in found)

    def _of_unpack(self, op: Op, axis: int) -> bool:
        return self.is_one(op.args[0], axis)

    _of_unary = _of_unpack

    def _of_attr(self, op: Op, axis: int) -> bool:
        return self.is_one(op.args[0], axis) if op.name in rows.PARTS else self._of_name(op, axis)

    def _of_binary(self, op: Op, axis: int) -> bool:
        others = [each for each in op.args if each.constant is ...]
        return bool(others) and all(self.is_one(each, axis) for each in others)

    _of_augment = _of_binary

    def _of_list(self, op: Op, axis: int) -> bool:
        """``[[a] for a in actions]``."""
        inner = op.args if op.code == "list" else op.args[:1]
        of_one = all(each.code == "list" and len(each.args) == 1 for each in inner)
        return axis in (1, -1) and bool(inner) and of_one

    _of_comprehension = _of_list

    def _of_slice(self, op: Op, axis: int) -> bool:
        one = axis == 0 and isinstance(op.node, ast.Subscript) and _cuts_one(op.node.slice)
        return one or self.is_one(op.args[0], axis)

    def _of_item(self, op: Op, axis: int) -> bool:
        """``x[:, None]``, ``x[..., 0]``, ``x.max(1, keepdim=True)[1]``."""
        owner, key = op.args
        if _word(owner) in rows.PLACED | rows.REDUCING:
            return self.is_one(owner, axis)
        keys = key.args if key.code == "tuple" else [key]
        wanted = axis if axis >= 0 else -axis - 1
        at = taken = 0
        for each in keys if axis >= 0 else keys[::-1]:
            if isinstance(each.node, ast.Slice):
                if at == wanted:
                    return _cuts_one(each.node) or self.is_one(owner, _signed(taken, axis))
                at, taken = at + 1, taken + 1
            elif each.is_none:
                if at == wanted:
                    return True
                at += 1
            elif type(each.constant) is int:
                taken += 1
            else:
                return each.name is ... and self.is_one(owner, _signed(wanted + taken - at, axis))
        return self.is_one(owner, _signed(wanted + taken - at, axis))

    def _of_call(self, op: Op, axis: int) -> bool:
        word = _word(op)
        if not word:
            return self._of_name(op, axis)
        if word in rows.SIZED:
            size = op.given("size", rows.SIZED[word])
            return size is not None and _at(_sizes([size]), axis) == 1
        judge = _HOW.get(word)
        return judge is not None and judge(self, op, axis)

    # By what a method of a tensor does, or a function of torch

    def kept(self, call: Op, axis: int) -> bool:
        """``x.long()``."""
        return self.is_one(_tensor(call), axis)

    def added(self, call: Op, axis: int) -> bool:
        """``x.unsqueeze(1)``."""
        at = _argument(call, "dim", 1)
        if type(at) is not int:
            return False
        if at == axis or (axis < 0) != (at < 0):
            return at == axis or self.is_one(_tensor(call), axis)
        moved = -(axis > at) if axis >= 0 else int(axis < at)
        return self.is_one(_tensor(call), axis + moved)

    def reduced(self, call: Op, axis: int) -> bool:
        """``x.sum(1, keepdim=True)``."""
        along = _argument(call, "dim", 1) == axis
        kept = _argument(call, "keepdim", 2) is True
        return kept and (along or self.is_one(_tensor(call), axis))

    def chosen(self, call: Op, axis: int) -> bool:
        """``torch.multinomial(x, 1)``, ``x.topk(1)``."""
        best = _word(call) == "topk"
        count = _argument(call, "k" if best else "num_samples", 1)
        along = _argument(call, "dim", 2) if best else None
        return count == 1 and axis != 0 and along in (axis, None)

    def laid_out(self, call: Op, axis: int) -> bool:
        """``x.view(-1, 1)``, ``x.expand(-1, -1, 64)``, ``x.repeat(1, 1, 64)``."""
        word = _word(call)
        placed = [value for name, value in call.arguments() if name is None]
        size = _at(_sizes(placed[not method_of(call) :]), axis)
        if size == 1 and word != "repeat":
            return True
        return size == _SAME_SIZE.get(word, ...) and self.is_one(_tensor(call), axis)

    def lined_up(self, call: Op, axis: int) -> bool:
        """``torch.stack(columns)``, ``torch.cat([a, b], dim=0)``."""
        parts, at = _tensor(call), _argument(call, "dim", 1) or 0
        if parts.code not in (*_LISTS, "comprehension"):
            return False
        every = parts.args[:1] if parts.code == "comprehension" else parts.args
        stacked = _word(call) == "stack"
        apart = type(at) is int and (axis > at >= 0 or (at == 0 and axis < -1))
        inner = axis - 1 if stacked and axis > 0 else axis
        return apart and all(self.is_one(each, inner) for each in every)


def _word(call: Op) -> str:
    """The last word of what a call of a tensor's method, or of torch, calls."""
    if call.code != "call":
        return ""
    name = function_of(call)
    if name.startswith(("torch.", "numpy.")) and call.args[1:]:
        return name.rpartition(".")[2]
    return method_of(call) if not name and call.values.callee(call) is None else ""


def _tensor(call: Op) -> Op:
    """The tensor that a method is of, or that a function is given first."""
    return call.args[0].args[0] if method_of(call) else call.args[1]


def _argument(call: Op, name: str, place: int) -> object:
    """What is written out for an argument; the tensor of a method has place 0."""
    found = call.given(name, place - bool(method_of(call)))
    return found.constant if found is not None else None


def _starts_at_nothing(found: Match, word: str) -> bool:
    """Whether what is added to was all zeros: a gradient, or fresh zeros that nothing else is
    added to."""
    if found.row.direction == "backward":
        return True
    into = found.input
    if into is None or word not in rows.ADDING or not word_of(into).startswith(rows.ZEROS):
        return False
    loops = [each for each in found.call.region.around() if each.loops]
    added = [use for use in into.uses if str(use.name).startswith(rows.ADDING)]
    return len(added) <= 1 and all(into.within(each) for each in loops)


def _repeated(call: Op, axis: object) -> int:
    """How often a call repeats what lies along an axis: 0 where that is not known."""
    if _word(call) != "repeat":
        return 1
    sizes = _sizes([value for name, value in call.arguments() if name is None])
    at = axis if isinstance(axis, int) and -len(sizes) <= axis < len(sizes) else -1
    size = sizes[at] if sizes else 0
    return size if isinstance(size, int) else 0


def _squeezes(use: Op, axis: int) -> bool:
    """``x.squeeze(1)``, ``x[:, 0]``."""
    if use.name == "squeeze" and use.code == "attr":
        dims = [call.given("dim", 0) for call in use.calls]
        return bool(dims) and all(each is None or each.constant == axis for each in dims)
    if use.code != "item" or use.args[1].code != "tuple" or axis == 0:
        return False
    keys = use.args[1].args
    return (axis == len(keys) - 1 or axis == -1) and keys[-1].constant == 0


def _values_alone(part: Op) -> frozenset[str]:
    """Of what gives several, that of which a part may hold an index twice: values, or one of the
    coordinates of what is found."""
    if part.code == "unpack":
        return rows.FINDING | (rows.PLACED if part.name[0] != 1 else frozenset())
    second = part.code == "item" and part.args[1].constant == 1
    return rows.PLACED if part.code == "item" and not second and _gives_both(part) else frozenset()


def _gives_both(part: Op) -> bool:
    return _word(part.args[0]) in rows.PLACED


def _chooses(part: Op) -> bool:
    """Whether it is the rows where a place is chosen, of places that are distinct in each row:
    ``rows, nth = torch.where(scores.topk(2).indices == expert)``."""
    found = part.args[0]
    index = part.name[0] if part.code == "unpack" else part.args[-1].constant
    if _word(found) not in rows.FINDING or index != 0 or len(found.args) > 2:
        return False
    test = _tensor(found)
    return test.code == "compare" and test.name == ("Eq",) and any(map(_are_best, test.args))


def _are_best(op: Op) -> bool:
    """Whether a tensor has the places of the best in each row."""

    def step(each: Op) -> Iterable[Op]:
        if each.code == "unpack" and each.name[0] != 1:
            return ()
        if each.code in (*_PART, "phi") or (each.code == "attr" and each.name == "indices"):
            return each.args[:1] if each.code != "phi" else each.args
        return [_tensor(each)] if _word(each) in rows.KEEPING else ()

    return any(_word(each) in rows.BEST for each in closure([op], step, _FARTHEST))


def _cuts_one(key: ast.expr) -> bool:
    """``x[:1]``, ``x[-1:]``, ``x[2:3]``, ``x[i : i + 1]``."""
    if not isinstance(key, ast.Slice) or key.step is not None:
        return False
    first, last = (ast.unparse(each) if each is not None else "" for each in (key.lower, key.upper))
    if first.isdigit() and last.isdigit():
        return int(last) == int(first) + 1
    return (first, last) in {("", "1"), ("-1", "")} or (bool(first) and last == f"{first} + 1")


def _signed(place: int, axis: int) -> int:
    """A place that was counted from the end if an axis is."""
    return place if axis >= 0 else -place - 1


def _at(sizes: list[object], axis: int) -> object:
    return sizes[axis] if -len(sizes) <= axis < len(sizes) else None


def _sizes(told: list[Op]) -> list[object]:
    """Sizes that a call gives one after the other, or in a tuple."""
    if len(told) == 1 and told[0].code in _LISTS:
        told = told[0].args
    return [each.constant for each in told] if all(each.code != "star" for each in told) else []


_HOW = {
    "unsqueeze": _Lengths.added,
    **dict.fromkeys(rows.REDUCING, _Lengths.reduced),
    **dict.fromkeys(rows.CHOOSING, _Lengths.chosen),
    **dict.fromkeys(rows.LAYING_OUT, _Lengths.laid_out),
    **dict.fromkeys(rows.LINING_UP, _Lengths.lined_up),
    **dict.fromkeys(rows.KEEPING | rows.FROM_NUMBERS, _Lengths.kept),
}
