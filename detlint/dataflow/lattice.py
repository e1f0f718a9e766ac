"""What may be known of a value's type.

The types of a value are a set: what any branch may give. The empty set is a value that no branch
gives, and ``UNKNOWN`` one of them stands for all that is not seen. So joining is a union, and
nothing that is known is lost by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEPEST = 5  # containers in containers
_MOST = 12  # types of one value
_PAIR = 2  # keys and values
_NAMES = "\0"  # between the names of a record


class Type(NamedTuple):
    """A type by its name, with the types of what it holds.

    ``list``, ``set``, ``iterator`` hold elements, ``dict`` keys and values, ``tuple`` each of its
    parts, ``instance`` has the qualified name of its class as ``of``. A record is a ``dict`` that
    holds each of its values, too, by the names in ``of``.
    """

    name: str
    holds: tuple[frozenset[Type], ...] = ()
    of: str = ""


Types = frozenset[Type]

UNKNOWN = Type("?")
NOTHING: Types = frozenset()
ANY: Types = frozenset((UNKNOWN,))


def plain(name: str) -> Types:
    """One type that holds nothing."""
    return frozenset((Type(name),))


TEXT, BYTES, INTEGER, FLOAT = plain("str"), plain("bytes"), plain("int"), plain("float")
BOOLEAN, NONE, PATH = plain("bool"), plain("none"), plain("path")
_SET_OPERATORS = frozenset(("Sub", "BitAnd", "BitOr", "BitXor"))
_NUMBERS = frozenset(("int", "float", "bool", "none", "complex"))
_HASHED_BY_SALT = frozenset(("str", "bytes", "path", "type", "object", "instance", "function"))
_FILLED = frozenset(("list", "set", "dict", "deque", "counter"))
_HOLDING = frozenset(("list", "set", "iterator", "keys", "array", "deque"))


def container(name: str, *holds: Types) -> Types:
    """A container of some types; what nests too deep is unknown."""
    return frozenset((Type(name, tuple(map(_shallow, holds))),))


def _shallow(types: Types) -> Types:
    return joined(types) if all(_depth(each) < _DEEPEST for each in types) else ANY


def _depth(one: Type) -> int:
    return 1 + max((_depth(each) for types in one.holds for each in types), default=0)


def joined(*several: Types) -> Types:
    """What any of them may be."""
    found: Types = frozenset().union(*several)
    return found if len(found) <= _MOST else found | ANY if len(found) <= 2 * _MOST else ANY


NUMBER = joined(INTEGER, FLOAT)


# What the rounds of a loop add to a container of which it is not yet known what it was before: the
# elements of a sequence, or the values and keys of a dict, in this order. ``of`` is the name of the
# part of a dict that it is added to, if it is no other's.
ADDED = "added"
_ELEMENTS, _VALUES, _KEYS = range(3)


def absorbed(types: Types) -> Types:
    """The containers among some types, with all that is added to any of them."""
    more = [one for one in types if one.name == ADDED]
    rest = [one for one in types if one.name != ADDED]
    if not more or not rest:
        return types
    return joined(*(frozenset((_with(one, more),)) for one in rest))


def _with(one: Type, more: list[Type]) -> Type:
    """A container with all that is added to it."""
    if not one.holds or one.name == "tuple":
        return one
    is_dict = one.name == "dict" and len(one.holds) > 1
    parts = _parts_with(one, more) if is_dict else {}
    taken = [each for each in more if not each.of or each.of in parts or _is_stored(each)]

    def added(held: Types, place: int, name: str = "") -> Types:
        given = (each.holds[place] for each in taken if not name or each.of in ("", name))
        return absorbed(joined(held, *given))

    first = _KEYS if one.name in ("dict", "counter") else _ELEMENTS
    held = [added(*each) for each in zip(one.holds, (first, _VALUES), strict=False)]
    if not is_dict:
        return Type(one.name, tuple(map(_shallow, held)))
    stored = {name: added(part, _VALUES, name) for name, part in parts.items()}
    return _dict(held[0], held[1], stored)


def _parts_with(one: Type, more: list[Type]) -> dict[str, Types]:
    """What a dict holds by names that are seen. What is stored by one makes such a part, of a
    record, and of a dict that held nothing; there is none where a name is not seen."""
    if any(not each.of and _is_stored(each) for each in more):
        return {}
    known, held = _parts(one), one.holds[1]
    blank = all(map(_is_empty, held))
    named = [x.of for x in more if x.of and (_is_stored(x) or (blank and held))]
    made = named if known or blank else []
    return dict.fromkeys(made, held if blank else NOTHING) | known


def _is_stored(one: Type) -> bool:
    """Whether what is added is itself a value of a dict, and not added to one."""
    return any(held.name != ADDED for held in one.holds[1])


def _dict(keys: Types, held: Types, parts: dict[str, Types]) -> Type:
    """A dict; a record, if it is known what it holds by which names."""
    names = sorted(parts) if len(parts) <= _MOST else ()
    holds = (keys, held, *map(parts.__getitem__, names))
    return Type("dict", tuple(map(_shallow, holds)), _NAMES.join(names))


def _parts(one: Type) -> dict[str, Types]:
    """What a record holds by name."""
    is_record = one.name == "dict" and len(one.holds) > _PAIR
    return dict(zip(one.of.split(_NAMES), one.holds[_PAIR:], strict=True)) if is_record else {}


def holds_empty(types: Types) -> bool:
    """Whether containers may be in a container that nothing is known to be put in."""
    return any(_is_empty(inner) for one in types for held in one.holds for inner in held)


def _is_empty(one: Type) -> bool:
    if one.name not in _FILLED:
        return False
    return not any(one.holds) or holds_empty(frozenset((one,)))


def holds(types: Types, test: Callable[[Type], bool]) -> bool:
    """Whether a test is true of what a value may be, or of what that may hold."""
    return any(test(one) or any(holds(held, test) for held in one.holds) for one in types)


def elements(types: Types) -> Types:
    """What going through a value gives."""
    return joined(*map(_elements_of, types))


def _elements_of(one: Type) -> Types:
    name = one.name
    if name in _HOLDING or name in ("dict", "counter"):
        return one.holds[0] if one.holds else ANY
    if name == "tuple":
        return joined(*one.holds)
    if name in ("str", "file"):
        return TEXT
    if name == "bytes":
        return INTEGER
    return NOTHING if name in ("none", ADDED) else ANY


def part(types: Types, index: int) -> Types:
    """The element at a place that is written out."""
    found = []
    for one in types:
        fits = one.name == "tuple" and -len(one.holds) <= index < len(one.holds)
        found.append(one.holds[index] if fits else values(frozenset((one,))))
    return joined(*found)


def record(parts: dict[str, Types]) -> Types:
    """A dict that is written out, whose values are of several types."""
    held = joined(*parts.values())
    alike = all(each == held for each in parts.values()) and not any(map(_is_empty, held))
    if alike or len(parts) > _MOST or not all(parts):
        return container("dict", TEXT, held)
    return frozenset((_dict(TEXT, held, parts),))


def entry(types: Types, name: str) -> Types:
    """What records hold by a name; nothing where not all of them tell."""
    found = []
    blank = frozenset((Type("dict", (NOTHING, NOTHING)),))
    for one in types - NONE - blank:
        held = _parts(one).get(name, NOTHING)
        if not held - NONE or holds_empty(held):
            return NOTHING  # it is given later
        found.append(held)
    return joined(*found)


def values(types: Types) -> Types:
    """What a dict holds, by key; of a sequence, its elements."""
    found = []
    for one in types:
        if one.name == "dict":
            found.append(one.holds[1] if len(one.holds) > 1 else ANY)
        elif one.name == "counter":
            found.append(INTEGER)
        elif one.name == ADDED:
            found.append(one.holds[1])
        elif one.name != "none":
            found.append(_elements_of(one))
    return joined(*found)


def are(types: Types, *names: str) -> bool:
    """Whether a value is of one of some types for certain, or None."""
    known = [one.name for one in types if one.name != "none"]
    return bool(known) and all(name in names for name in known)


def are_whole(types: Types) -> bool:
    """Whether a value is a whole number, or an array of such, for certain."""
    arrays = frozenset(one for one in types if one.name == "array")
    return are(types - arrays | elements(arrays), "int", "bool")


def may_be(types: Types, *names: str) -> bool:
    """Whether a value is of one of some types, as far as one branch says."""
    return any(one.name in names for one in types)


def is_known(types: Types) -> bool:
    """Whether all that a value may be is known."""
    return UNKNOWN not in types


def hash_varies(types: Types) -> bool | None:
    """Whether a set of such elements is in another order in another process: strings are hashed
    with a salt, most objects by their address. None: that is not known of any of them."""
    told = [_hash_varies(one) for one in types]
    if True in told:
        return True
    return None if None in told or not told else False


def may_be_of(types: Types, *names: str) -> bool:
    """Whether a value may be an object of one of some classes of libraries."""
    return any(one.of in names for one in types)


def is_mixed(types: Types) -> bool:
    """Whether only some of what a value may be has another hash in another process."""
    in_sets = joined(*(each for one in types if one.name == "set" for each in one.holds)) - NONE
    told = {_hash_varies(one) for one in types - NONE}
    return len(told) > 1 or {_hash_varies(one) for one in in_sets} >= {False, True}


def _hash_varies(one: Type) -> bool | None:
    if one.name in _HASHED_BY_SALT:
        return True
    if one.name in _NUMBERS:
        return False
    if one.name in ("tuple", "frozenset"):
        parts = [hash_varies(each) for each in one.holds]
        return True if True in parts else None if None in parts else False
    return None


def compare(types: Types) -> bool:
    """Whether values are known to compare with each other, as ``sorted`` asks."""
    names = {one.name for one in types}
    if len(names) > 1 and not names <= {"int", "float", "bool"}:
        return False
    if names == {"tuple"}:
        return all(compare(each) for one in types for each in one.holds)
    return names <= {"str", "bytes", "path", "int", "float", "bool"} and bool(names)


def holding(types: Types, held: Types) -> Types:
    """Of dicts, those that hold something else by the same keys."""
    return joined(
        *(
            container("dict", one.holds[0], held)
            if one.name == "dict" and one.holds
            else frozenset((one,))
            for one in types
        )
    )


def filled(
    before: Types, new: Types, held: Types, keys: Types | None = None, name: str = ""
) -> Types:
    """A container after something was new to it, or stored by a ``name``; of one that is being
    found out, what was."""
    keys = new if keys is None else keys
    if not before:
        return frozenset((Type(ADDED, (new, held, keys), name),))
    found = []
    for one in before:
        if one.name == "dict":
            known, inner = (*one.holds, ANY, ANY)[:2]
            parts = _parts(one)
            fits = name in parts or ((parts or not inner) and all(map(_is_empty, held)))
            parts = {**parts, name: held} if name and fits else {}
            found.append(frozenset((_dict(joined(known, keys), joined(inner, held), parts),)))
        elif one.name == ADDED:
            found.append(frozenset((one, Type(ADDED, (new, held, keys), name))))
        elif one.holds and one.name == "counter":
            found.append(container(one.name, joined(one.holds[0], keys)))
        elif one.holds and one.name in ("list", "set", "deque", "array"):
            found.append(container(one.name, joined(one.holds[0], new)))
        else:
            found.append(frozenset((one,)))
    return joined(*found)


def combined(operator: str, left: Types, right: Types) -> Types:
    """What an operator makes of two values."""
    either = joined(left, right)
    if operator in _SET_OPERATORS and may_be(either, "set", "keys"):
        return _of_sets(operator, left, right)
    if may_be(left if operator == "Mod" else either, "str"):
        return _of_text(operator)
    if operator == "Div" and may_be(left, "path"):
        return PATH
    if operator in ("Add", "Mult") and may_be(left, "list"):
        return container("list", elements(either)) if operator == "Add" else left
    if operator == "BitOr" and may_be(left, "dict"):
        return either
    return _of_numbers(operator, either)


def _of_numbers(operator: str, either: Types) -> Types:
    if {one.name for one in either} <= {"int", "float", "bool"}:
        return NUMBER if operator in ("Div", "Pow") else either
    return ANY


def _of_text(operator: str) -> Types:
    if operator in ("Add", "Mod", "Mult"):
        return TEXT
    return PATH if operator == "Div" else ANY


def common(*types: Types) -> Types:
    """The type of what is in several sets: that of one says it for all."""
    known = (each for each in types if each and is_known(each))
    return next(known, None) or joined(*types)


def _of_sets(operator: str, left: Types, right: Types) -> Types:
    """What two sets have in common, or one of them has."""
    of_left, of_right = elements(left), elements(right)
    if operator == "Sub":
        # What is taken away is of the kind of what it is taken from.
        known = of_left if is_known(of_left) else joined(of_left, of_right - NONE)
        return container("set", known)
    if operator == "BitAnd":
        return container("set", common(of_left, of_right))
    return container("set", joined(of_left, of_right))
