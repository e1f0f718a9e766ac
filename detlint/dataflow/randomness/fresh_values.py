"""Functions that are there to give a number that differs in each run: a fresh seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op

# What generators of Python and NumPy have for drawing a number of bits.
_NUMBERS = frozenset(
    [
        *("integers", "randint", "random_integers", "random_raw", "generate_state", "bytes"),
        *("getrandbits", "randrange", "randbytes"),
    ]
)
_CONVERSIONS = frozenset(
    f"builtins.{name}" for name in ("int", "abs", "hash", "round", "int.from_bytes")
)
_PARTS = frozenset(("attr", "binary", "item", "unary"))


def gives_fresh(call: Op, *, draws: bool = False) -> bool:
    """Whether all that the function around a call does is to give a number made of it, so that a
    constant in its place would defeat the function.

    ``draws`` says that the call makes a generator, of which the function has to draw the number.
    """
    returned = call.function.returns
    return bool(returned) and all(
        each.code == "return" and bool(each.args) and _ends(each.args[0], call, draws=draws)
        for each in returned
    )


def _ends(value: Op, call: Op, *, draws: bool) -> bool:
    """Whether a value is the call's, converted, with no other use on the way."""
    drawn = not draws
    while value is not call:
        if len(value.uses) > 1:
            return False
        if value.code in _PARTS:
            value = value.args[0]
            continue
        if value.code != "call":
            return False
        converts = not _CONVERSIONS.isdisjoint(value.called)
        if converts and len(value.args) > 1:
            value = value.args[1]
        elif value.args[0].code == "attr":
            drawn = drawn or value.args[0].name in _NUMBERS
            value = value.args[0].args[0]
        else:
            return False
    return drawn and len(call.uses) == 1
