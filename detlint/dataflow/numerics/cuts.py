"""What becomes of what an operator gives: whether a backward can go through it at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.forwards import Forwards
from detlint.dataflow.numerics.tensors import function_of, gives_places, method_of
from detlint.models import gradients as rows
from detlint.models import layers, tensors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op

_ENDS = frozenset(("compare", "format", "text"))
_PARTS = frozenset(("item", "unpack"))
_TYPED = frozenset(("to", "type"))
_MOST = 60  # values that a result is followed through


def is_cut_off(result: Op) -> bool:
    """Whether what a call gives is read only where no gradient comes back: ``x.data``,
    ``x.max(dim=1)[1]``, ``x > 0``. Nor has it a gradient if it is written to ``out``."""
    if result.given("out") is not None:
        return True
    follower = _Cuts(result.function.unit)
    return follower.stays(result) and follower.ended


class _Cuts(Forwards):
    """``ended``: a use ends a gradient, more than asking for a size or a type."""

    ends = frozenset(("drop", "test"))
    same = frozenset(
        (
            *("augment", "binary", "boolean", "change", "choice", "comprehension", "declared"),
            *("free", "item", "iter", "list", "phi", "slice", "star", "store_item", "tuple"),
            *("unary", "unpack"),
        )
    )
    most = _MOST
    ended = False

    def step(self, use: Op, value: Op) -> Iterable[Op]:
        if use.code in _ENDS or (use.code in _PARTS and _chooses_places(value, use)):
            return self._end()
        return super().step(use, value)

    def _end(self) -> Iterable[Op]:
        self.ended = True
        return ()

    def _to_store_attr(self, use: Op, _: Op) -> Iterable[Op]:
        return self._end() if use.name == "data" else self.escape()  # ``x.data = y``

    _to_store_global = Forwards.escape

    def _to_attr(self, use: Op, _: Op) -> Iterable[Op]:
        name, called = str(use.name), use.calls
        if name in rows.CUTS or (name == "indices" and gives_places(use.args[0])):
            return self._end()
        if name in rows.MEASURES:
            return ()
        if called:
            cuts = name in tensors.INTEGERS or (name in _TYPED and all(map(_is_to_whole, called)))
            return self._end() if cuts else called
        return [use] if name in rows.OWN else self.escape()

    def _to_call(self, call: Op, value: Op) -> Iterable[Op]:
        if call.args[0] is value:
            return self.escape()
        owner, _, word = function_of(call).rpartition(".")
        cuts = owner.startswith("torch") and word in rows.CUTS | tensors.INTEGERS
        if cuts or owner in rows.SHOWS or f"{owner}.{word}" in layers.PARAMETERS:
            return self._end()
        if owner in ("torch", "torch.nn.functional"):
            return [call]
        # ``result.append(x)`` gives the list its next state; a method of a tensor computes.
        states = [x for x in call.uses if x.code == "change"] if method_of(call) else ()
        return states or self.escape()


def _is_to_whole(call: Op) -> bool:
    """``x.to(torch.uint8)``: whole numbers have no gradient."""
    names = [name for _, given in call.arguments() for name in given.values.qualified(given)]
    words = (name.removeprefix("torch.") for name in names if name.startswith("torch."))
    return not tensors.INTEGER_TYPES.isdisjoint(words)


def _chooses_places(value: Op, use: Op) -> bool:
    """``x.max(dim=1)[1]``, ``_, places = x.max(dim=1)``."""
    index = use.name[0] if use.code == "unpack" else use.args[1].name
    return index == 1 and gives_places(value)
