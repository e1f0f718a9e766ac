"""What calls pass to functions that need something, and where these are used."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar

from detlint.dataflow import lattice
from detlint.dataflow.arguments.need import OR, Need
from detlint.dataflow.arguments.options import (
    Other,
    are_options,
    is_written_out,
    option_of,
    values_by_default,
    values_set,
)
from detlint.dataflow.arguments.required_arguments import (
    LIBRARIES,
    Needs,
    given_on,
    is_only_own,
    need_of,
    of_name,
)
from detlint.dataflow.calls import word_of
from detlint.dataflow.randomness.idle_draws import is_for_training
from detlint.dataflow.slices import alternatives, states_after
from detlint.index.facts import HANDED_ON, OF_MODULE, UNKNOWN
from detlint.index.modules import module_of
from detlint.models import names, randomness, training
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

T = TypeVar("T")

_ASKING = frozenset(("isinstance", "issubclass", "super", "type"))
_ASIDE = frozenset(("compare", "drop"))  # what looks a text up in nothing
_BOUND_AGAIN = frozenset(("declared", "free", "phi", "store_global"))
_MAKING_GENERATORS = frozenset(randomness.SEED_PARAMETER)
_PARSERS = frozenset(("HfArgumentParser", "add_arguments", "cli", "store"))  # of a class's fields
# The row of a call, what it passes, and what it needs itself.
Answer = tuple[int, "bool | str", list[str]]
# Of which attributes are given values by names that one does not see.
# Each branch begins with a bare literal: what stands before it is looked up backwards.
_GIVEN_ANY = re.compile(
    r"""setattr\((?<=\bsetattr\()\s*(?:\w+\.)*(\w+)\s*,\s*(?!["'])"""
    r"""|replace\((?<=\breplace\()\s*(?:\w+\.)*(\w+)\s*,\s*\*\*"""
)
_TAKING_ANY = re.compile(
    r"\.(?:__dict__(?:\.update\b|\[)|(?:load|merge|override|parse|update_from)\w*\()"
)
_WORD_BEFORE = re.compile(r"\w*\Z")
_LONGEST = 200  # letters of a name
_DEEPEST = 3  # collections and branches in each other that say what a value may be


def gives_by_text(
    text: str, need: str, set_anyhow: Callable[[], Sequence[str]]
) -> list[Answer] | None:
    """What ``gives`` says of a file where its text tells; None where its functions do.
    ``set_anyhow`` tells what the function of this name does."""
    asked = _parsed(need)
    if asked.field and _sets_any(text, asked, set_anyhow):
        return [(0, True, [])]
    return None if _may_give(text, asked) else []


def _sets_any(text: str, need: Need, set_anyhow: Callable[[], Sequence[str]]) -> bool:
    """Whether a text gives attributes values by names that it does not show: of what is asked about
    by default, on an object that holds options by its name, or is of the class."""
    if not need.default:
        return "setattr(" in text
    set_ = set_anyhow()
    own = "self" in set_ and f"class {need.function}" in text
    return own or any(map(names.holds_options, set_))


def set_anyhow(text: str) -> Iterator[str]:
    """The names of what a text gives attributes by names that it does not show."""
    if "setattr(" in text or "replace(" in text:
        yield from (one or other for one, other in _GIVEN_ANY.findall(text))
    for each in _TAKING_ANY.finditer(text):
        before = _WORD_BEFORE.search(text[max(each.start() - _LONGEST, 0) : each.start()])
        yield before[0] if before is not None else ""


@lru_cache(maxsize=2)  # of all files, one need after the other
def _parsed(need: str) -> Need:
    return Need.parse(need)


def _may_give(text: str, need: Need) -> bool:
    """Whether a text names what has to be passed, or what is called."""
    if need.function.startswith(OF_MODULE):
        return any(x in text for x in (*need.parameter.split(OR), "setattr("))
    if not need.function:
        return need.parameter in text or need.parameter.replace("_", "-") in text
    kept = (need.field or _keeps(need)) and f".{need.parameter}" in text
    return kept or bool(mentions(text, need.function))


def gives(unit: Unit, asked: str) -> list[Answer]:
    """Whether a file may pass an argument: of each call, its row and what it says; a need of its
    own where it hands on what the function around it takes. Row 0 stands for the file."""
    need = _parsed(asked)
    if not need.function:
        values = (values_by_default if need.default else values_set)(unit, need.parameter)
        return [(row, _set_to(value, need), []) for row, value in values]
    if need.function.startswith(OF_MODULE):
        return [(0, answer, []) for answer in _bound(unit, need)]
    if _sets(unit, need) or (need.field and need.default and _is_passed_on(unit, need)):
        return [(0, True, [])]
    words = [need.function, *_other_names(unit, need.function)]
    # Of the fields of options, those that derive are asked about by themselves.
    apart = need.field and need.default
    derived = [x for x in unit.classes if not (apart or set(words).isdisjoint(unit.bases(x)))]
    told: list[Answer] = []
    for each in derived:
        row, _ = unit.source.location(unit.classes[each][0].start)
        told.append((row, _of_derived(unit, each, need), []))
    needs_of = cache(Needs)
    return told + [
        (use.row, answer, _needed(needs_of, use) if answer is not False else [])
        for op in named(unit, need.function, defined=True)
        for use in op.uses
        if (answer := _passed(use, op, need)) is not None
    ]


def _of_derived(unit: Unit, name: str, need: Need) -> bool | str:
    """What a derived class gives: of a seed, what its constructor hands on, or who calls that of
    its base by it."""
    made = unit.defined("__init__", name)
    if not need.is_of_seed or any(unit.stored_by(name, need.parameter)):
        return True
    if made is None:
        later = any("__init__(" in unit.text[x.start : x.end] for x in unit.classes[name])
        # Which `__post_init__` may call.
        return True if later else need._replace(function=name).dump()
    calls = [x for x in made.coded("call") if word_of(x) == "__init__"]
    above = [x for x in calls if any("builtins.super" in each.called for each in x.args[0].args)]
    told = _answered(above[0], need) if len(calls) == len(above) == 1 else None
    return True if told is None else told


def _bound(unit: Unit, need: Need) -> Iterator[bool]:
    """Whether a file gives a variable of a module what something needs: it is that, or changes
    it."""
    module = need.function.removeprefix(OF_MODULE).rpartition(".")[2]
    for name in need.parameter.split(OR):
        if module_of(unit.source.path) != module:
            if any(unit.stores(name)) or f"setattr({module}" in unit.text:
                yield True
            continue
        hidden = name in unit.rebound or any(each in unit.text for each in ("exec(", "globals()"))
        for each in unit.module.bindings.get(name, ()):
            yield hidden or _of_value(each, need) is not False


def _needed(needs_of: Callable[[Function], Needs], call: Op) -> list[str]:
    """The arguments without which a call does not run; an option is no part of its program."""
    return [each.dump() for each in needs_of(call.function).of_call(call)]


def _set_to(value: object, need: Need) -> bool | str:
    """Whether an option may be set to a value; what that needs which is another option."""
    if isinstance(value, Other):
        return of_name(need, value.option).dump()
    return value is ... or need.allows(value)


def _is_passed_on(unit: Unit, need: Need) -> bool:
    """Whether a file gives a field by its name to what may make or change an object:
    ``pipe.run(fixed=True)``."""
    given = (
        value
        for outer in unit.functions_holding(need.parameter)
        for function in outer.everything()
        for call in function.coded("call")
        for name, value in call.arguments()
        if name == need.parameter and option_of(value) != name
    )
    return any(each.constant is ... or need.allows(each.constant) for each in given)


def _sets(unit: Unit, need: Need) -> bool:
    """Whether a file that does not define what is called sets its attribute."""
    if need.field and "replace(" in unit.text and f"{need.parameter}=" in unit.text:
        return True
    if f".{need.parameter}" not in unit.text or not _keeps(need):
        return False
    if need.function in unit.classes or unit.defines(need.function):
        return False
    return not is_only_own(unit.stores(need.parameter), ())


def _keeps(need: Need) -> bool:
    """Whether what is called keeps what is passed: a class does, and no function."""
    return need.function.lstrip("_")[:1].isupper()


def _other_names(unit: Unit, name: str) -> list[str]:
    """The names under which a file imports it."""
    if f"{name} as " not in unit.text:
        return []
    return [
        bound
        for bound, names in unit.imported.items()
        if bound != name and any(each.rpartition(".")[2] == name for each in names)
    ]


def _is_named(op: Op, name: str, words: list[str]) -> bool:
    """Whether a value may be the function of a name, or its name in a text that is handed on."""
    if op.code == "function":
        return bool(op.name.name == name)
    if op.code == "const":
        return bool(op.name == name)
    named = op.code in ("global", "free", "class") and op.name in words
    if not named and op.code == "import":
        named = str(op.name).rpartition(".")[2] == name
    if not named and (op.code != "attr" or op.name != name or option_of(op)):
        return False
    known = op.values.qualified(op)
    return not any(each.partition(".")[0] in LIBRARIES for each in known)


def _passed(use: Op, function: Op, need: Need) -> bool | str | None:
    """Whether a use of a function passes the argument; None if it is no call of it."""
    if need.field and need.default and _is_parsed(use):
        return not need.unset or of_name(need, need.parameter).dump()
    if use.code == "attr" and use.name == training.RESTORES:
        # It is made as the one was that the checkpoint is of, but for what the call gives.
        told = [each for each in use.calls if each.given(need.parameter) is not None]
        return _answered(told[0], need._replace(place=-1)) if told else None
    if use.code != "call":
        if function.code == "const" or use.code == "drop":
            return None
        return None if function.code != "attr" and use.code in _BOUND_AGAIN else HANDED_ON
    if use.args[0] is function:
        return _answered(use, need)
    return None if _asks(use, function) else HANDED_ON


def _is_parsed(use: Op) -> bool:
    """Whether a class is given to what makes options of its fields, also among others."""
    if use.code in ("list", "tuple"):
        return bool(use.uses) and all(map(_is_parsed, use.uses))
    return word_of(use) in _PARSERS


def leaves_out(call: Op, needs: Sequence[str]) -> bool:
    """Whether a call surely passes its function other than what something in that needs."""
    return any(_answered(call, _parsed(each)) is False for each in needs)


def _answered(call: Op, need: Need) -> bool | str | None:
    """The same of a call; None if it hands on what it takes itself, which settles nothing."""
    given = call.given(need.parameter, need.place if need.place >= 0 else None)
    if given is None:
        return _unpacked(call, need) if call.unpacks else not need.unset
    answered = _of_entry(given, need.key, need) if need.key else _of_value(given, need)
    if need.is_of_seed and answered is not False and any(x.is_none for x in alternatives(given)):
        return UNKNOWN  # it is None on one branch
    found = given_on(given, need) if answered is None else None
    if found is None:
        return _may_allow(given, need) if answered is None else answered
    return None if found[:3] == need[:3] else found.dump()


def _of_value(given: Op, need: Need) -> bool | None:
    written = _written(given)
    return None if written is None else any(map(need.allows, written))


def _of_entry(held: Op, key: str, need: Need) -> bool | None:
    """Whether what dicts hold that are written out allows what needs it; None of others."""
    found = entry(held, key)
    if found is None:
        return None
    told = [not need.unset if each is None else _of_value(each, need) for each in found]
    return any(each is None or each for each in told)


def _may_allow(given: Op, need: Need) -> bool | str:
    """Whether something runs with a value that is not written out; ``UNKNOWN`` where that takes a
    value that is None or counts as false, and this one is not known to be."""
    if need.key:
        return UNKNOWN
    if need.allows_some(constants=False):
        return True
    bound = given.values.bound(given) or [given]
    if all(_MAKING_GENERATORS.issuperset(each.called or [""]) for each in bound):
        return False
    types = given.values.types(given)
    if not types or not lattice.is_known(types) or lattice.may_be(types, "none"):
        return True if need.compared else UNKNOWN
    return need.allows_some(constants=not lattice.are(types, "function", "type"))


def _written(given: Op, depth: int = 0) -> list[object] | None:
    """All that a value may be, as it is written out or an element of a collection that is; None
    where that is not seen."""
    value = given.constant
    if value is not ...:
        return [value]
    return (
        _joined(_written(each, depth + 1) for each in _parts(given)) if depth < _DEEPEST else None
    )


def _joined(parts: Iterable[list[T] | None]) -> list[T] | None:
    """All that some parts are, if there are any and all are seen."""
    found: list[T] = []
    for each in parts:
        if each is None:
            return None
        found += each
    return found or None


def _parts(given: Op) -> list[Op]:
    """The values one of which it is: an element of a collection, a part of one, a branch; none
    where they are not all seen."""
    if given.code == "iter":
        return _elements(given.args[0])
    if given.code != "unpack":
        return list(alternatives(given)) if given.code in ("choice", "phi") else []
    index, count, *_ = given.name
    rows = _parts(given.args[0])
    known = all(x.code in ("entry", "list", "tuple") and len(x.args) == count for x in rows)
    return [each.args[index] for each in rows] if known else []


def _elements(collection: Op) -> list[Op]:
    """The elements, or keys, of a collection that is written out and never changed, or what a view
    of it gives, also if that is gone through by ``tqdm``."""
    held, view = collection.values.gone_through(collection)
    names = held.function.names_of(held) if held.function is held.function.unit.module else ()
    reads = (x for name in names for x in held.function.unit.reads("global", name))
    if any(True for each in (held, *reads) for _ in states_after(each)):
        return []
    if held.code == "dict":
        if len(held.entries) < len(held.args):
            return []
        return held.args if view == "items" else [x.args[view == "values"] for x in held.args]
    return held.elements or []


def _unpacked(call: Op, need: Need) -> bool | str | None:
    """The same of what a call unpacks: the function around it may be passed the argument by its
    keyword, where that takes any (``def make(n, **options): return Net(n, **options)``)."""
    unpacked = [value for name, value in call.arguments() if name in ("*", "**")]
    taken = unpacked[0] if len(unpacked) == 1 else None
    answered = _of_entry(taken, need.parameter, need) if taken is not None else None
    if answered is not None and not need.key:
        return answered
    if taken is not None and need.default and are_options(taken):
        return of_name(need, need.parameter)._replace(field=False).dump()
    if taken is None or taken.code != "param" or taken.name[0] != "**" or not need.unset:
        return True
    judged = need.stops, need.others, need.runs
    found = need_of(taken, judged, unset=True, default=need.default)
    return True if found is None else found._replace(parameter=need.parameter).dump()


def entry(
    held: Op, key: str, parts: Callable[[Op], Sequence[Op]] | None = None, depth: int = 0
) -> list[Op | None] | None:
    """What a dict may hold by a key, None where it has none; None itself where what it may be is
    not all written out. ``parts``: the values one of which it is."""
    made = held.values.bound_to(held)
    if made is not held and not _leaves_entry(held, key):
        return None
    if made.code == "store_item" and made.args[1].text and depth < _DEEPEST * _DEEPEST:
        before, named, value = made.args
        return [value] if named.text == key else entry(before, key, parts, depth + 1)
    if made.code == "dict":
        keys = [each.args[0].text if each.code == "entry" else "" for each in made.args]
        last = max((at for at, each in enumerate(keys) if each == key), default=None)
        return None if not all(keys) else [None if last is None else made.args[last].args[1]]
    told = (parts or _parts)(made) if depth < _DEEPEST else []
    return _joined(entry(each, key, parts, depth + 1) for each in told)


def _leaves_entry(read: Op, key: str) -> bool:
    """Whether a file changes no such entry of a dict that one of its variables is."""
    reads = read.function.unit.reads("global", str(read.name))
    states = (each for one in reads for each in states_after(one))
    return all(x.code == "store_item" and x.args[1].text not in ("", key) for x in states)


def uses(unit: Unit, name: str, *, default: bool) -> Iterator[tuple[int, list[str]]]:
    """Where a file uses a function or class, and what that use needs, or what keeps it from being
    used by default."""
    needs_of = cache(Needs)
    for op in named(unit, name):
        needs = needs_of(op.function)
        ask = needs.settling if default else needs.with_options
        # A name is read once, at the start of the function; a text may only look like it.
        used = [op] if op.code in ("attr", "class") else op.uses
        for use in [x for x in used if not (_is_aside(x) if op.code == "const" else _asks(x, op))]:
            yield use.row, [each.dump() for each in ask(use)]


def _asks(use: Op, op: Op) -> bool:
    """``isinstance(x, Net)``."""
    return use.code == "call" and use.args[0] is not op and use.args[0].name in _ASKING


def _is_aside(use: Op) -> bool:
    """Whether a text is looked up in nothing: it is compared, or the key of what only becomes
    text."""
    return use.code in _ASIDE or (use.code == "entry" and is_written_out(use))


def calls(unit: Unit, name: str) -> Iterator[tuple[int, str]]:
    """Where a file calls a function or class, or hands it to what may, but for where an
    object trains, each with the function or method that this stands in."""
    for op in named(unit, name):
        place = op.function.outermost.name
        for use in op.uses if op.code != "const" else ():
            calls = use.code == "call" and not _asks(use, op)
            if calls and not ("." in place and is_for_training(use)):
                yield use.row, place


def named(unit: Unit, name: str, *, defined: bool = False) -> Iterator[Op]:
    """The operations of a file that name a function or class; ``defined``: also what defines it."""
    words = [name, *_other_names(unit, name)]
    for around in dict.fromkeys(each for word in words for each in unit.functions_naming(word)):
        for function in around.everything():
            for op in function.ops:
                if (defined or op.code != "function") and _is_named(op, name, words):
                    yield op
