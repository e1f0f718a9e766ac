"""What becomes of what an operator gives: whether a backward can go through it at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.numerics.tensors import function_of, gives_places, method_of
from detlint.models import gradients as rows
from detlint.models import layers, tensors

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op

_ENDS = frozenset(("compare", "drop", "format", "test", "text"))
_PARTS = frozenset(("item", "unpack"))
_TYPED = frozenset(("to", "type"))
_MOST = 60  # values that a result is followed through
_PASSES = frozenset(
    (
        *("augment", "binary", "boolean", "change", "choice", "comprehension", "declared", "free"),
        *("item", "iter", "list", "phi", "slice", "star", "store_item", "tuple", "unary", "unpack"),
    )
)


def is_cut_off(result: Op) -> bool:
    """Whether what a call gives is read only where no gradient comes back: ``x.data``,
    ``x.max(dim=1)[1]``, ``x > 0``. Nor has it a gradient if it is written to ``out``."""
    if result.given("out") is not None:
        return True
    follower = _Follower()
    return follower.all_end(result) and follower.ended


class _Follower:
    """``ended``: a use ends a gradient, more than asking for a size or a type."""

    def __init__(self) -> None:
        self.ended = False

    def all_end(self, result: Op) -> bool:
        """Whether all uses of a value end a gradient, as far as they are seen."""
        pending, seen = [result], {result}
        for value in pending:  # grows
            for use in value.uses:
                more = self._after(value, use)
                if more is None or len(pending) > _MOST:
                    return False
                pending += [each for each in more if each not in seen]
                seen.update(more)
        return True

    def _after(self, value: Op, use: Op) -> list[Op] | None:
        """Where a gradient comes from after a use of a value; None where that is not seen."""
        if use.code in _ENDS or (use.code in _PARTS and _chooses_places(value, use)):
            self.ended |= use.code not in ("drop", "test")
            return []
        if use.code == "call":
            return self._of_argument(value, use)
        judge = getattr(self, f"_of_{use.code}", None)
        if judge is not None:
            return judge(use)  # type: ignore[no-any-return]
        return [use] if use.code in _PASSES else None

    def _of_store_attr(self, use: Op) -> list[Op] | None:
        if use.name != "data":
            return None
        self.ended = True  # ``x.data = y``
        return []

    def _of_attr(self, use: Op) -> list[Op] | None:
        name = str(use.name)
        if name in rows.CUTS or (name == "indices" and gives_places(use.args[0])):
            self.ended = True
            return []
        if name in rows.MEASURES:
            return []
        called = use.calls
        if called:
            cuts = name in tensors.INTEGERS or (name in _TYPED and all(map(_is_to_whole, called)))
            self.ended |= cuts
            return [] if cuts else called
        return [use] if name in rows.OWN else None

    def _of_argument(self, value: Op, call: Op) -> list[Op] | None:
        if call.args[0] is value:
            return None
        owner, _, word = function_of(call).rpartition(".")
        cuts = owner.startswith("torch") and word in rows.CUTS | tensors.INTEGERS
        if cuts or owner in rows.SHOWS or f"{owner}.{word}" in layers.PARAMETERS:
            self.ended = True
            return []
        if owner in ("torch", "torch.nn.functional"):
            return [call]
        # ``result.append(x)`` gives the list its next state; a method of a tensor computes.
        changes = method_of(call) and any(each.code == "change" for each in call.uses)
        return [each for each in call.uses if each.code == "change"] if changes else None

    def _of_return(self, use: Op) -> list[Op] | None:
        known = use.function.known_calls
        return list(known.calls) if known.all else None


def _is_to_whole(call: Op) -> bool:
    """``x.to(torch.uint8)``: whole numbers have no gradient."""
    names = [name for _, given in call.arguments() for name in given.values.qualified(given)]
    words = (name.removeprefix("torch.") for name in names if name.startswith("torch."))
    return not tensors.INTEGER_TYPES.isdisjoint(words)


def _chooses_places(value: Op, use: Op) -> bool:
    """``x.max(dim=1)[1]``, ``_, places = x.max(dim=1)``."""
    index = use.name[0] if use.code == "unpack" else use.args[1].name
    return index == 1 and gives_places(value)
