"""Keys by which elements can be equal, so that a sort keeps the order that they had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import word_of
from detlint.dataflow.slices import closure, states_before
from detlint.models import names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.values import Values

_LOSING = frozenset(("builtins.len", "builtins.abs", "builtins.round", "builtins.sum"))
# Methods that many elements give the same result.
_ROUNDING = frozenset(["count", "endswith", "isdigit", "islower", "isupper", "startswith"])
_TAKING = frozenset(("operator.attrgetter", "operator.itemgetter"))
_FILLING = ("add", "append", "appendleft")


def ties(values: Values, key: Op, among: Op) -> bool | None:
    """Whether elements with the same key are likely among those of a list or a set; None where
    they are numbers that were worked out, or parts of names, of which some may be equal."""
    if leaves_ties(values, key):
        return True
    taken = _taken(values, key)
    if taken and all(map(_is_cut, taken)) and lattice.are(values.elements(among), "str"):
        return None
    told = [_part_ties(values, row, each) for row in _rows(among) for each in taken]
    if not told or False in told:
        return False
    return None if None in told else True


def _taken(values: Values, key: Op) -> Sequence[Op]:
    """What a key is made of: ``row[0]``, ``-row.score``; what an ``itemgetter`` is given."""
    if key.code == "call" and not _TAKING.isdisjoint(values.called(key)):
        return key.args[1:]
    made = _given(key)
    return made.args if made is not None and made.code == "tuple" else [made] if made else ()


def _given(key: Op) -> Op | None:
    """What a lambda gives."""
    own = key.code == "function" and key.name.name == "<lambda>" and key.name.returns
    return own[0].args[0] if own else None


def _is_cut(part: Op) -> bool:
    """``int(name[6:8])``, of which the rest of the name may tell more."""
    while part.code == "unary" or (part.code == "call" and len(part.args) == 2):
        part = part.args[-1]
    cut = part.code == "slice" and part.args[0].code == "param" and part.name[1]
    return bool(cut and part.args[1 + part.name[0]].code == "const")


def _rows(among: Op) -> Iterator[Op]:
    """What a list or a set is seen to be made of, or to get."""
    for state in closure([among], states_before):
        if state.code == "change" and state.name in _FILLING:
            yield from state.args[1].args[1:]
        elif state.code == "comprehension" and state.name != "dict":
            yield state.args[0]


def _part_ties(values: Values, row: Op, taken: Op) -> bool | None:
    """Whether a part of a row is likely the same in another one."""
    while taken.code == "unary":
        taken = taken.args[0]
    part = _part(row, taken)
    if part is None or part.code in ("iter", "param"):
        return False
    if _loses(values, part):
        return True
    numbers = lattice.are(values.types(part), "float", "int")
    behind = part.args[0] if part.code == "unpack" else part
    named = [*part.function.names_of(part), word_of(behind), str(taken.name)]
    if "builtins.int" in values.called(behind) or not (behind.code == "call" or numbers):
        return False  # a number that a name holds, or the place of a task
    if any(map(names.weighs, named)):
        return True
    return None if numbers and lattice.may_be(values.types(part), "float") else False


def _part(row: Op, taken: Op) -> Op | None:
    """``len(x)`` of ``(len(x), x)`` by ``row[0]``, of ``{"size": len(x)}`` by ``row["size"]``, of
    ``Row(size=len(x))`` by ``row.size``."""
    key = taken.name
    if taken.code in ("attr", "item"):
        if taken.args[0].code != "param":
            return None  # of what the key works out itself
        key = key if taken.code == "attr" else taken.args[1].name
    elif taken.code != "const":
        return None
    if row.code == "call":
        return row.given(key) if isinstance(key, str) else None
    return row.at(key)


def leaves_ties(values: Values, key: Op) -> bool:
    """Whether elements with the same key are likely, as far as the key can be seen."""
    if not _LOSING.isdisjoint(values.qualified(key)):
        return True
    if key.code == "attr":
        return key.name in ("count", "get")
    made = _given(key)
    return made is not None and _loses(values, made)


def leaves_ties_among(values: Values, column: Op) -> bool:
    """Whether several of some keys are likely equal: ``[len(name) for name in names]``."""
    return column.code == "comprehension" and _loses(values, column.args[0])


def takes_second(values: Values, call: Op) -> bool:
    """Whether a sort is by the second part of each element: ``key=lambda item: -item[1]``."""
    key = call.given("key")
    taken = list(_taken(values, key)) if key is not None else []
    while len(taken) == 1 and taken[0].code == "unary":
        taken = taken[0].args
    if len(taken) != 1 or taken[0].code == "const":
        return [each.name for each in taken] == [1]
    second: bool = taken[0].code == "item" and taken[0].args[1].name == 1
    return second and taken[0].args[0].code == "param"


def _loses(values: Values, op: Op) -> bool:
    """``len(x)``, ``-counts[x]``, ``counts.get(x, 0)``."""
    if op.code == "unary":
        return _loses(values, op.args[0])
    if op.code == "item":
        return _weighs(op.args[0])
    if op.code == "attr":  # p.parent.name: several files lie in one folder
        return op.name == "parent" or _loses(values, op.args[0])
    if op.code == "call":
        return _call_loses(values, op)
    return op.code in ("not", "compare") or (op.code == "const" and not isinstance(op.name, str))


def _call_loses(values: Values, call: Op) -> bool:
    called = values.called(call)
    if not _LOSING.isdisjoint(called):
        return True
    if "builtins.int" in called and len(call.args) == 2:
        return _loses(values, call.args[1])
    function = call.args[0]
    if function.code != "attr":
        return False
    return function.name in _ROUNDING or (function.name == "get" and _weighs(function.args[0]))


def _weighs(op: Op) -> bool:
    """Whether a table counts or weighs, by its name: ``freq[x]``, but not ``order[x]``."""
    name = op.name[1] if op.code == "param" else op.name
    return isinstance(name, str) and names.weighs(name)


def may_tie(values: Values, key: Op) -> bool:
    """Whether a key is not known to be made of the element's name alone, so that elements may be
    equal by it."""
    own = key.name if key.code == "function" else None
    own = values.unit.defined(str(key.name)) if key.code == "global" else own
    if own:
        return not any(_is_of_name(values, each) for each in own.returned)
    return not any(name.startswith("builtins.") for name in values.qualified(key))


_OF_NAMES = ("builtins.", "os.path.base", "os.path.split", "os.path.dirname", "re.")
_PARTS_OF_NAMES = frozenset(["name", "parent", "parts", "stem", "suffix", "suffixes"])


def _is_of_name(values: Values, op: Op) -> bool:
    """Whether a value is computed of an element's name, and not of what is in the file."""
    if op.code in ("param", "import"):
        return True
    if op.code == "attr":
        return op.name in _PARTS_OF_NAMES and _is_of_name(values, op.args[0])
    if op.code == "call":
        return _is_call_of_name(values, op)
    if op.code in ("const", "global", "free"):
        return False
    return any(_is_of_name(values, each) for each in op.args)


def _is_call_of_name(values: Values, call: Op) -> bool:
    """``int(name[3:])``, ``name.split("-")``, ``STEP.search(name)``."""
    function, called = call.args[0], values.called(call)
    of_names = any(_is_of_name(values, each) for each in call.args[1:])
    if function.code == "attr" and not any(x.startswith(_OF_NAMES) for x in called):
        if function.name == "stat":
            return False
        owner = function.args[0]
        if _is_of_name(values, owner):
            return True
        return of_names and owner.code == "global" and str(function.name) in _SEARCHES
    return of_names and any(name.startswith(_OF_NAMES) for name in called)


_SEARCHES = frozenset(["findall", "fullmatch", "match", "search", "split", "sub"])


def ties_by(values: Values, call: Op, among: Op) -> bool | None:
    """Whether a call sorts by a key that leaves equals as they come, which are likely, or may be
    (None)."""
    key = call.given("key")
    return key is not None and ties(values, key, among)
