"""What code does with a hash: a number that means something, or a key for this process alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import word_of
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.randomness.seed_places import seed_uses
from detlint.dataflow.slices import closure
from detlint.finding import Confidence
from detlint.models import names
from detlint.models.files import NAMED
from detlint.models.names import identifies, names_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

# What leaves the number as it is, or nearly so.
_SAME = frozenset(("declared", "phi", "unary"))
_PASSING = frozenset(("builtins.abs", "builtins.int", "numpy.abs", "numpy.uint32", "numpy.uint64"))
_NUMBERS = frozenset(("augment", "binary"))
_CUTTING = frozenset(("BitAnd", "Div", "FloorDiv", "Mod", "RShift"))
_TEXT = frozenset(("builtins.str", "builtins.hex", "builtins.repr", "builtins.format"))
_MIXING = frozenset(("__eq__", "__hash__", "_hash", "cache_key", "hash", "key"))
_MOST = 60  # what is made of one hash
_IN_FILE = "in the name of a file"


class HashUse(NamedTuple):
    """A use of a hash that differs from run to run; ``how`` is a participle.

    seeds    what takes it as a seed, of which DET103 may tell
    sure     how sure it is that the use shows
    """

    how: str
    seeds: tuple[Op | None, ...] = ()
    sure: Confidence = Confidence.CERTAIN


class HashUses:
    """Follows hashes in one file, through locals and arithmetic."""

    def __init__(self, unit: Unit) -> None:
        self._orders = Orders(unit.values)

    def of(self, call: Op) -> Iterator[HashUse]:
        """The uses of a hash that show its value."""
        if _makes_hash(call):
            return
        for value in closure([call], _same, _MOST):
            yield from _as_seed(value)
            yield from filter(None, (self._shown(use, value) for use in value.uses))

    def _shown(self, use: Op, value: Op) -> HashUse | None:
        if use.code in ("augment", "binary") and use.name in _CUTTING and use.args[0] is value:
            told = self._orders.messages.is_shown(use)
            return None if told else HashUse("cut down to a few numbers", _seeds(use))
        if use.code in ("entry", "return", "store_item"):
            return _kept(use, value)
        if use.code == "call":
            texts = not _TEXT.isdisjoint(use.called)
            return self._in_text(use) if texts else None
        return self._in_text(use) if use.code in ("binary", "format") else None

    def _in_text(self, start: Op) -> HashUse | None:
        """Whether a text that holds a hash names a file, or identifies something that is kept."""
        if start.code == "binary" and not _is_template(start):
            return None
        found: HashUse | None = None
        for text in closure([start], lambda op: filter(_is_text, op.uses), _MOST):
            if any(map(names_file, text.function.names_of(text))):
                return HashUse(_IN_FILE)
            for use in text.uses:
                if _names_file(use):
                    return HashUse(_IN_FILE)
                if _identifies(use, text):
                    found = HashUse("in what identifies something", sure=Confidence.LIKELY)
        return found


def _kept(use: Op, value: Op) -> HashUse | None:
    """What a function gives back, or puts under a name, may be compared with that of another run;
    so may a column of a table."""
    if use.code == "return":
        return HashUse("returned", sure=Confidence.POSSIBLE)
    key, held = use.args[-2:]
    if held is not value or not isinstance(key.name, str) or key.code != "const":
        return None
    if use.code == "store_item":
        return HashUse("kept under a name", sure=Confidence.POSSIBLE)
    returned = any(each.code == "return" for made in use.uses for each in made.uses)
    if not returned:
        return None
    column = _makes_rows(use.function)
    return (
        HashUse("kept as a column", sure=Confidence.LIKELY)
        if column
        else (HashUse("returned under a name", sure=Confidence.POSSIBLE))
    )


def _makes_rows(function: Function, depth: int = 2) -> bool:
    """Whether a function is handed to what makes a table's rows of it, ``data.map(function)``, or
    called by one that is."""
    unit, name = function.unit, function.name
    for each in unit.functions_naming(name):
        for op in each.ops:
            named = [x for x in op.args if x.code == "global" and x.name == name]
            if op.code != "call" or not named:
                continue
            if names.applies(word_of(op)) and op.args[0] not in named:
                return True
            calls = op.args[0] in named and each is not function and each.node is not None
            if calls and depth and _makes_rows(each, depth - 1):
                return True
    return False


def _as_seed(value: Op) -> Iterator[HashUse]:
    for how, by in seed_uses(value):
        yield HashUse(how, (by,))


def _seeds(start: Op) -> tuple[Op | None, ...]:
    """What takes as a seed what is made of a number; () if it shows elsewhere, too."""
    made = closure(
        [start], lambda op: (x for x in op.uses if x.code in _NUMBERS or _is_same(x, op)), _MOST
    )
    return tuple(by for value in made for _, by in seed_uses(value))


def _makes_hash(call: Op) -> bool:
    """Whether a call stands in a ``__hash__``, also one given as a lambda."""
    function = call.function
    if function.word in _MIXING:
        return True
    outer = function.outer
    named = outer.bindings.items() if outer is not None else ()
    if not isinstance(function.node, ast.Lambda):
        return False
    return any(
        name.endswith("__hash__") and op.code == "function" and op.name is function
        for name, ops in named
        for op in ops
    )


def _same(value: Op) -> Iterator[Op]:
    return (use for use in value.uses if _is_same(use, value))


def _is_same(use: Op, value: Op) -> bool:
    """Whether a use gives the number on: ``abs(hash(x))``, ``hash(x) + offset``."""
    if use.code in _SAME:
        return True
    if use.code in ("augment", "binary"):
        return use.name not in _CUTTING
    if use.code != "call" or use.args[0] is value:
        return False
    return not _PASSING.isdisjoint(use.called)


def _is_template(use: Op) -> bool:
    """``"%d.npy" % hash(x)``."""
    first = use.args[0]
    return use.name == "Mod" and (first.code == "text" or isinstance(first.name, str))


def _is_text(use: Op) -> bool:
    if use.code == "call":
        called = use.called
        return not _TEXT.isdisjoint(called) or word_of(use) == "format"
    return use.code in ("declared", "format", "phi", "text") or (
        use.code == "binary" and use.name in ("Add", "Mod")
    )


def _names_file(use: Op) -> bool:
    if use.code == "call":
        return not NAMED.isdisjoint(use.called)
    if use.code == "return":
        return names_file(use.function.word)
    if use.code == "store_attr":
        return names_file(str(use.name))
    return use.code == "binary" and use.name == "Div"


def _identifies(use: Op, text: Op) -> bool:
    """``Segment(id=f"{name}_{hash(x)}")``."""
    if use.code != "call":
        return False
    return any(each is text and identifies(name or "") for name, each in use.arguments())
