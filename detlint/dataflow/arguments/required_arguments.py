"""Arguments without which code does not run, and which files may pass them."""

from __future__ import annotations

import ast
import re
import sys
from bisect import bisect_left
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.arguments.defaults import declared_fields, is_dataclass, place_of_field
from detlint.dataflow.arguments.need import OFF, SWITCHES, Need, written_as
from detlint.dataflow.arguments.options import (
    Other,
    are_options,
    is_written_out,
    option_of,
    values_by_default,
    values_set,
)
from detlint.dataflow.calls import word_of
from detlint.dataflow.path_conditions import OTHER, Paths, deciding, inputs, tests
from detlint.dataflow.randomness.idle_draws import always_runs
from detlint.dataflow.slices import alternatives, behind, closure, states_after
from detlint.index.facts import HANDED_ON, NO_FILE, UNKNOWN
from detlint.index.scan import CALLED
from detlint.models import names, randomness, training
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.unit import Unit

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch", "tensorflow", "jax", "scipy", "pandas"}
_CONSTRUCTOR = "__init__"
_PASSES_ON = frozenset(("no_grad", "inference_mode", "classmethod"))  # what is given, as it is
_MOST = 40  # parameters of a function, or fields, on which something may depend
_ASKING = frozenset(("isinstance", "issubclass", "super", "type"))
_ASIDE = frozenset(("compare", "drop"))  # what looks a text up in nothing
_BOUND_AGAIN = frozenset(("declared", "free", "phi", "store_global"))
_MAKING_GENERATORS = frozenset(randomness.SEED_PARAMETER)
_PARSERS = frozenset(("HfArgumentParser", "add_arguments", "cli", "store"))  # of a class's fields
_THERE = frozenset(("exists", "isdir", "isfile", "is_dir", "is_file"))
_MAKING = frozenset(("dump", "makedirs", "mkdir", "save", "savez", "to_csv", "write"))
Answer = tuple[int, "bool | str"]


_FALSE = ("False", "None", "0")
NEVER_MET = Need("", "", -1, (), others=False, unset=True)


class Needs:
    """What calls of a function have to pass so that its operations run."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._tests = _Tests(function)

    def of(self, op: Op) -> list[Need]:
        """None where the function runs an operation without, or code out of sight may call it."""
        found = [self._of_place(op, each, taken) for each, taken in self._asked_for(op)]
        if self._may_not_run(op):
            found += [_of_field(op, *each) for each in self._fields]
        return [each for each in found if each is not None]

    def with_options(self, op: Op) -> list[Need]:
        """The same, and the options of the program that have to be set to something; what stands
        behind a constant that keeps it from running can never get what it needs."""
        if self._is_off(op):
            return [NEVER_MET]
        options = self._options if self._may_not_run(op) else ()
        found = (self._of_option(op, each) for each in options)
        return [*self.of(op), *(each for each in found if each is not None)]

    def of_place(self, op: Op) -> list[Need]:
        """The same; of the default of a parameter, that a call leaves it out."""
        taken = next((each for each in op.uses if each.code == "param" and op in each.args), None)
        left = _need(taken, ((), False, ("None",)), unset=False) if taken is not None else None
        return [left] if left is not None else self.with_options(op)

    def by_default(self, op: Op) -> list[Need]:
        """What keeps an operation from running where nobody gives the program options."""
        found: list[Need | None] = []
        if self._may_not_run(op):
            found += [_default_of(op, each) for each in self._options]
        for each, taken in self._asked_for(op):
            if not each.runs(op, None):
                found.append(_need(taken, each.judge(op), unset=_is_off(taken), default=True))
        if _makes_what_is_missing(op):
            found.append(Need("", NO_FILE, -1, (), False, True, default=True))
        return [each for each in found if each is not None]

    def settling(self, op: Op) -> list[Need]:
        """Both, of what settles a matter, also where one does not see who sets its option."""
        return [*self.of(op), *self.by_default(op)]

    def of_value(self, given: Op) -> list[Need]:
        """What keeps a value from being anything but None by default."""
        found = _given_on(given, Need("", "", -1, ("None",), True, True, default=True))
        return [] if found is None else [found]

    @staticmethod
    def of_flag(given: Op) -> list[Need]:
        """What calls have to pass so that a parameter is true, which an operation takes."""
        found = _given_on(given, Need("", "", -1, _FALSE, others=True, unset=False))
        return [] if found is None else [found]

    def of_share(self, given: Op) -> list[Need] | None:
        """What calls have to pass, and options to be by default, so that a share is more than
        none; None where one does not see what gives it."""
        taken = self._taken(given) or given
        wanted = Need("", "", -1, _FALSE, others=True, unset=False)
        by_default = _given_on(taken, wanted._replace(default=True))
        if by_default is None:
            return None
        option = option_of(taken)
        asked = _of_name(wanted, option) if option else _given_on(taken, wanted)
        return [each for each in (by_default, asked) if each is not None]

    def of_default(self, op: Op, given: Op) -> list[Need]:
        """What keeps a parameter from being the None that it is by default, of an operation that
        takes it and runs then, too."""
        taken = self._taken(given) if _name_of(given) else None
        if taken is None or taken.name[0] or not _is_off(taken):
            return []
        is_run = not self._may_not_run(op) or _Place(self._tests, given).runs(op, None)
        return self.of_value(taken) if is_run else []

    def _asked_for(self, op: Op) -> list[tuple[_Place, Op]]:
        return self._asked if self._may_not_run(op) else []

    def _may_not_run(self, op: Op) -> bool:
        nested = self._function.outer is not None
        return nested or op.region is not self._function.region or self._leaves

    def _is_off(self, op: Op) -> bool:
        """Whether a constant keeps an operation from running (``USE_VIDEO = False``), unless the
        file may get its names by code that does not show them."""
        shown = not any(each in self._function.unit.text for each in ("exec(", "globals()"))
        return shown and self._may_not_run(op) and not self._tests.constants.may_run(op)

    @cached_property
    def _leaves(self) -> bool:
        """Whether what stands under no test may still not run."""
        return any(self._function.coded(code) for code in ("leave", "return", "raise", "test"))

    @staticmethod
    def _of_place(op: Op, place: _Place, taken: Op) -> Need | None:
        default = taken.args[0].constant if taken.args else ...
        unset, flag = place.turns_off(op, default)
        judged = place.judge(op, default) if unset or flag or not taken.args else ()
        if not judged or not (unset or flag or judged[0] or not judged[1]):
            return None
        return _need(taken, judged, unset=unset)

    @cached_property
    def _fields(self) -> list[tuple[_Place, _Field]]:
        """The fields that tests of the function read, of dataclasses, ``self.cfg.flip``, and those
        that only a constructor gives a value, a constant."""
        seen: dict[str, Op] = {}
        for each in self._tests.read:
            if each.code == "attr" and _name_of(each) and len(seen) < _MOST:
                seen.setdefault(_name_of(each), each)
        found = ((each, self._field(each)) for each in seen.values())
        return [(_Place(self._tests, x), field) for x, field in found if field]

    def _field(self, read: Op) -> _Field | None:
        unit, name = self._function.unit, str(read.name)
        kept = read.args[0]
        own = self._own_constant(self._function.class_name, name) if kept.is_self else None
        if own is not None or "dataclass" not in unit.text:
            return own
        owner = unit.values.owner(kept if kept.is_self else self._taken(kept) or kept)
        pieces = unit.classes.get(owner, ())
        body = next((unit.function(each) for each in pieces if each.kind == "class"), None)
        node = getattr(body, "node", None)
        if not isinstance(node, ast.ClassDef) or not _is_only_own(unit.stores(name), {owner}):
            return None
        value = declared_fields(node).get(name) if is_dataclass(node) else None
        if not isinstance(value, ast.Constant):
            return None
        return _Field(owner, name, place_of_field(node, name), value.value)

    def _own_constant(self, owner: str, name: str) -> _Field | None:
        """An attribute that is a constant from the constructor on, for all that the file shows."""
        unit = self._function.unit
        stored = unit.stored(owner, name) if owner in unit.classes else []
        made = stored[0] if len(stored) == 1 else None
        if made is None or made.code != "store_attr" or made.args[1].constant is ...:
            return None
        others = (each for each in unit.stores(name) if each is not made)
        if made.function.word != _CONSTRUCTOR or not _is_only_own(others, {owner}):
            return None
        hidden = "setattr(" in unit.text or "__dict__" in unit.text
        return None if hidden else _Field(owner, name, -1, made.args[1].constant, passed=False)

    def _of_option(self, op: Op, place: _Place) -> Need | None:
        """An option without which an operation does not run, if one value or all do."""
        if any(place.runs(op, each) for each in (None, False, 0)):
            return None
        stops, others, runs = place.judge(op)
        return Need("", place.option, -1, stops, others, unset=True, runs=runs)

    @cached_property
    def _asked(self) -> list[tuple[_Place, Op]]:
        return list(self._tested()) if isinstance(self._function.node, _DEFINITIONS) else []

    def _tested(self) -> Iterator[tuple[_Place, Op]]:
        """The parameters that tests of the function read, and the attributes of its object that
        are given such in the constructor."""
        seen: set[str] = set()
        for each in self._tests.read:
            name = _name_of(each)
            taken = self._taken(each) if name and name not in seen else None
            if taken is not None and not taken.name[0] and len(seen) < _MOST:
                seen.add(name)
                yield _Place(self._tests, each), taken

    @cached_property
    def _options(self) -> list[_Place]:
        """The options of the program that tests of the function read."""
        found: dict[str, Op] = {}
        for each in self._tests.read:
            name = option_of(each)
            if name and len(found) < _MOST:
                found.setdefault(name, each)
        return [_Place(self._tests, each, name) for name, each in found.items()]

    def _taken(self, op: Op) -> Op | None:
        """The parameter that a value is, or that is kept in the attribute."""
        if op.code == "param":
            return op
        if op.code == "free":  # of the function around
            return op.args[0] if [each.code for each in op.args] == ["param"] else None
        if op.code != "attr":
            return None
        if not op.args[0].is_self:
            return self._taken_for_later(op)
        unit, owner = self._function.unit, self._function.class_name
        kept = unit.stored(owner, str(op.name)) if owner in unit.classes else []
        value = kept[0].args[1] if len(kept) == 1 and kept[0].code == "store_attr" else None
        if value is None or value.code != "param":
            return None
        return value if value.function.name.endswith(f".{_CONSTRUCTOR}") else None

    def _taken_for_later(self, read: Op) -> Op | None:
        """``self.hparams.x``, where the constructor keeps what it takes as Lightning does."""
        owner = read.args[0]
        if (owner.code, owner.name) != ("attr", training.KEPT) or not owner.args[0].is_self:
            return None
        made, name = self._function.unit.defined(_CONSTRUCTOR, owner.function.class_name), read.name
        calls = made.coded("call") if made is not None else ()
        keeps = [x for x in calls if word_of(x) == training.KEEPS and _names(x, str(name))]
        return keeps[0].function.params.get(str(name)) if keeps else None


def _names(call: Op, name: str) -> bool:
    """Whether a call names something in a text, or nothing at all."""
    return len(call.args) == 1 or any(each.text == name for each in call.args[1:])


def _makes_what_is_missing(op: Op) -> bool:
    """Whether an operation stands where a file or folder that is not there yet is made: under a
    test that says so, or in its other branch, which makes something."""
    for region in op.region.around():
        if region.kind in ("if", "else") and region.head is not None:
            asks = region.kind == "if"
            if _is_missing(region.head.args[0], holds=asks) and (
                asks
                or any(each.code == "call" and word_of(each) in _MAKING for each in region.ops())
            ):
                return True
    return False


def _is_missing(test: Op, *, holds: bool) -> bool:
    """``not os.path.exists(path)``, ``not os.path.exists(path) or len(os.listdir(path)) == 0``."""
    if test.code == "not":
        return _is_missing(test.args[0], holds=not holds)
    if test.code == "boolean":
        return (test.name == "Or") is holds and all(
            _is_missing(each, holds=holds) for each in test.args
        )
    if test.code == "compare":
        calls = (each for each in behind(test, most=_MOST) if each.code == "call")
        return holds and any(word_of(each) == "listdir" for each in calls)
    return not holds and test.code == "call" and word_of(test) in _THERE


def _is_only_own(stores: Iterator[Op], apart: Collection[str]) -> bool:
    """Whether methods of other classes alone give their own attributes values."""
    return all(
        each.args[0].is_self and each.function.class_name not in ("", *apart) for each in stores
    )


class _Field(NamedTuple):
    """A field that has a constant for its default. ``passed``: who makes the object may give it
    another value."""

    owner: str
    name: str
    place: int
    default: object
    passed: bool = True


def _of_field(op: Op, place: _Place, field: _Field) -> Need | None:
    unset, flag = place.turns_off(op, field.default)
    if not (unset or (flag and field.passed)):
        return None
    stops, others, runs = place.judge(op)
    return Need(*field[:3], stops, others, unset, runs, field=True)


def _default_of(op: Op, place: _Place) -> Need | None:
    if all(place.runs(op, each) for each in OFF):
        return None
    stops, others, runs = place.judge(op)
    return Need("", place.option, -1, stops, others, unset=True, runs=runs, default=True)


def _is_off(taken: Op) -> bool:
    """Whether a parameter is None where nothing is passed."""
    return bool(taken.args) and taken.args[0].constant is None


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
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_VIEWS = frozenset(("items", "keys", "values"))  # of a dict
_MADE_OF = frozenset(("boolean", "call"))  # of what one compares, `kind.lower()`
_DEEPEST = 3  # collections and branches in each other that say what a value may be


class _Tests:
    """What is tested in a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.constants = Paths(function)
        self._deciding: dict[tuple[Region, int], frozenset[Op]] = {}

    @cached_property
    def read(self) -> list[Op]:
        """What tests of the function read."""
        read = tests(self.function)
        return list(closure(read, lambda op: () if op.code == "param" else op.args))

    @cached_property
    def compares(self) -> list[tuple[Op, list[Op]]]:
        """What is compared among that, each with what its sides are made of."""
        found = (each for each in self.read if each.code == "compare")
        return [(each, list(closure(each.args, _made_of, _MOST))) for each in found]

    @cached_property
    def _leaving(self) -> list[int]:
        return [each.place for each in self.function.leaving]

    def deciding(self, op: Op) -> frozenset[Op]:
        """What decides whether an operation runs."""
        key = op.region, bisect_left(self._leaving, op.place)
        if key not in self._deciding:
            self._deciding[key] = frozenset(deciding(op))
        return self._deciding[key]


class _Place:
    """A parameter, an attribute of ``self`` or an option, of which a value is assumed."""

    def __init__(self, tests_: _Tests, op: Op, option: str = "") -> None:
        self._tests = tests_
        self._op = op
        self.option = option
        self._paths: dict[str, Paths] = {}
        self._among: dict[frozenset[Op], bool] = {}

    @cached_property
    def compared(self) -> list[object]:
        """The texts and whole numbers with which it is compared, and None."""
        around = [x for x, parts in self._tests.compares if any(map(self._is_read_by, parts))]
        sides = [side for each in around for arg in each.args for side in (arg, *arg.args)]
        found = (side.constant for side in sides if side.code in ("const", "unary"))
        return [x for x in found if x is None or isinstance(x, (str, int)) or _is_whole(x)]

    def _is_read_by(self, op: Op) -> bool:
        return _is_same(self._op, self.option, op)

    def judge(self, op: Op, default: object = ...) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
        """With which values an operation does not run, whether with others, and with which."""
        told = {written_as(each): self.runs(op, each) for each in (*SWITCHES, *self.compared)}
        stops = tuple(each for each, runs in told.items() if not runs)
        others = _others(default)
        runs = tuple(each for each, runs in told.items() if runs)
        return stops, any(self.runs(op, each) for each in others), runs

    def turns_off(self, op: Op, default: object) -> tuple[bool, bool]:
        """Whether an operation does not run with a default, and whether with the other value of a
        flag, with anything but None or -1, or with what that is compared with: of what runs by
        default, only such is followed, as most code is of this kind."""
        if not self._decides(op) and self._tests.constants.may_run(op):
            return False, False
        others = (not default,) if isinstance(default, bool) else _others(default)
        stands_in = default is None or isinstance(default, bool) or _is_number(default)
        flag = stands_in and not any(self.runs(op, each) for each in others)
        flag = flag or not all(self.runs(op, each) for each in self.compared)
        return default is not ... and not self.runs(op, default), flag

    def runs(self, op: Op, value: object) -> bool:
        """Whether an operation may run where it has some value."""
        if not self._decides(op):
            return self._tests.constants.may_run(op)
        paths = self._paths.get(repr(value))
        if paths is None:
            assumed = partial(_assumed, value, self._op, self.option)
            paths = self._paths[repr(value)] = Paths(self._tests.function, assumed)
        return paths.may_run(op)

    def _decides(self, op: Op) -> bool:
        """Whether its value has a part in what decides whether an operation runs."""
        asked = self._tests.deciding(op)
        if asked not in self._among:
            self._among[asked] = any(map(self._is_read_by, asked))
        return self._among[asked]


def _made_of(op: Op) -> Iterable[Op]:
    return inputs(op) if op.code in _MADE_OF else ()


def _others(default: object) -> tuple[object, ...]:
    """Values that stand for all with which a parameter is not compared: where it is a number that
    may mean that there is none, for numbers."""
    return (1, sys.maxsize) if _is_number(default) else (OTHER,)


def _is_number(default: object) -> bool:
    """Whether it is a number that may mean that there is none."""
    return isinstance(default, int) and not isinstance(default, bool) and default <= 0


def _is_whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer()


def _assumed(value: object, read: Op, option: str, op: Op) -> object:
    # A method of what keeps these would keep all of them in a circle.
    return value if _is_same(read, option, op) else ...


def _is_same(read: Op, option: str, op: Op) -> bool:
    """Whether two operations read one variable, or one option."""
    if option:
        return op is read or option_of(op) == option
    return op is read or (op.code == "attr" and _name_of(op) == _name_of(read))


def _name_of(op: Op) -> str:
    """``x`` of a parameter, also of the function around, ``self.x`` of an attribute, ``x.y`` of
    one of these; "" of anything else."""
    if op.code == "param":
        return str(op.name[1])
    if op.code == "free":
        return str(op.name)
    owner = "" if op.code != "attr" else "self" if op.args[0].is_self else _name_of(op.args[0])
    return f"{owner}.{op.name}" if owner else ""


def _need(
    taken: Op,
    judged: tuple[tuple[str, ...], bool, tuple[str, ...]],
    *,
    unset: bool,
    default: bool = False,
) -> Need | None:
    function = taken.function
    owner, _, name = function.name.rpartition(".")
    decorators = function.decorators
    if function.outer is not None and owner:
        return None
    if not all(map(_passes_on, decorators)):
        return None
    if name == _CONSTRUCTOR and owner:
        name = owner
    elif owner and _may_be_hook(function.unit, owner, name):
        return None
    plain = getattr(function.node, "args", None)
    places = [each.arg for each in (*plain.posonlyargs, *plain.args)] if plain is not None else []
    given = str(taken.name[1])
    place = places.index(given) - bool(owner) if given in places else -1
    stops, others, runs = judged
    return Need(name, given, place, stops, others, unset, runs, default)


def _may_be_hook(unit: Unit, owner: str, name: str) -> bool:
    """Whether something else may call a method by its name: Python, or what the class derives
    from. What shares such a name otherwise is called where one sees it."""
    hook = CALLED.fullmatch(name) is not None
    return hook and (name.startswith("_") or bool(unit.bases(owner)))


def _passes_on(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (getattr(made, "attr", None) or getattr(made, "id", "")) in _PASSES_ON


def gives_by_text(
    text: str, need: str, set_anyhow: Callable[[], Sequence[str]]
) -> list[Answer] | None:
    """What ``gives`` says of a file where its text tells; None where its functions do.
    ``set_anyhow`` tells what the function of this name does."""
    asked = _parsed(need)
    if asked.field and _sets_any(text, asked, set_anyhow):
        return [(0, True)]
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
    if not need.function:
        return need.parameter in text or need.parameter.replace("_", "-") in text
    return bool(mentions(text, need.function)) or f".{need.parameter}" in text


def gives(unit: Unit, asked: str) -> list[Answer]:
    """Whether a file may pass an argument: of each call, its row and what it says; a need of its
    own where it hands on what the function around it takes. Row 0 stands for the file."""
    need = _parsed(asked)
    if not need.function:
        told = (values_by_default if need.default else values_set)(unit, need.parameter)
        return [(row, _set_to(value, need)) for row, value in told]
    if _sets(unit, need) or (need.field and need.default and _is_passed_on(unit, need)):
        return [(0, True)]
    words = [need.function, *_other_names(unit, need.function)]
    outer = dict.fromkeys(each for word in words for each in unit.functions_naming(word))
    # Of the fields of options, those that derive are asked about by themselves.
    apart = need.field and need.default
    derived = [x for x in unit.classes if not (apart or set(words).isdisjoint(unit.bases(x)))]
    return [
        *((unit.source.location(unit.classes[each][0].start)[0], True) for each in derived),
    ] + [
        (getattr(use.node, "lineno", 0), answer)
        for around in outer
        for function in around.everything()
        for op in function.ops
        if _is_named(op, need.function, words)
        for use in op.uses
        if (answer := _passed(use, op, need)) is not None
    ]


def _set_to(value: object, need: Need) -> bool | str:
    """Whether an option may be set to a value; what that needs which is another option."""
    if isinstance(value, Other):
        return _of_name(need, value.option).dump()
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
    if f".{need.parameter}" not in unit.text or not need.function.lstrip("_")[:1].isupper():
        return False  # a function keeps no argument
    if need.function in unit.classes or unit.defines(need.function):
        return False
    return not _is_only_own(unit.stores(need.parameter), ())


def _other_names(unit: Unit, name: str) -> list[str]:
    """The names under which a file imports it."""
    if re.search(rf"{re.escape(name)}\s+as\b", unit.text) is None:
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
    return not any(each.partition(".")[0] in _LIBRARIES for each in known)


def _passed(use: Op, function: Op, need: Need) -> bool | str | None:
    """Whether a use of a function passes the argument; None if it is no call of it."""
    if need.field and need.default and _is_parsed(use):
        return not need.unset or _of_name(need, need.parameter).dump()
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
    return None if use.args[0].name in _ASKING else HANDED_ON


def _is_parsed(use: Op) -> bool:
    """Whether a class is given to what makes options of its fields, also among others."""
    if use.code in ("list", "tuple"):
        return bool(use.uses) and all(map(_is_parsed, use.uses))
    return word_of(use) in _PARSERS


def _answered(call: Op, need: Need) -> bool | str | None:
    """The same of a call; None if it hands on what it takes itself, which settles nothing."""
    given = call.given(need.parameter, need.place if need.place >= 0 else None)
    if given is None:
        return _unpacked(call, need) if call.unpacks else not need.unset
    written = _written(given)
    if written is not None:
        return any(map(need.allows, written))
    found = _given_on(given, need)
    if found is None:
        return _may_allow(given, need)
    return None if found[:3] == need[:3] else found.dump()


def _may_allow(given: Op, need: Need) -> bool | str:
    """Whether something runs with a value that is not written out; ``UNKNOWN`` where that takes a
    value that is None or counts as false, and this one is not known to be."""
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
    parts = _parts(given)
    found = [_written(each, depth + 1) for each in parts] if depth < _DEEPEST else []
    known = [each for each in found if each is not None]
    return [x for each in known for x in each] if parts and len(known) == len(parts) else None


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
    made, view = collection, ""
    while (gone_through := _gone_through(made)) is not None:
        made = gone_through
    if made.code == "call" and made.args[0].code == "attr" and word_of(made) in _VIEWS:
        made, view = made.args[0].args[0], word_of(made)
    held = made.values.bound_to(made)
    reads = held.function.unit.reads("global", str(made.name)) if made is not held else ()
    if any(True for each in (held, *reads) for _ in states_after(each)):
        return []
    if held.code == "dict":
        if any(each.code != "entry" for each in held.args):
            return []
        return held.args if view == "items" else [x.args[view == "values"] for x in held.args]
    return held.args if held.code in ("list", "set", "tuple") else []


def _gone_through(call: Op) -> Op | None:
    """What has the elements that a call gives: ``x`` of ``tqdm(x)``."""
    row = call.values.function_row(call) if call.code == "call" else None
    same = row is not None and row.returns.endswith("[E0]")
    return call.args[1] if same and call.args[1:] else None


def _unpacked(call: Op, need: Need) -> bool | str | None:
    """The same of what a call unpacks: the function around it may be passed the argument by its
    keyword, where that takes any (``def make(n, **options): return Net(n, **options)``)."""
    unpacked = [value for name, value in call.arguments() if name in ("*", "**")]
    taken = unpacked[0] if len(unpacked) == 1 else None
    if options := _written_options(taken) if taken is not None else []:
        return any(_gives(each, need) for each in options)
    if taken is not None and need.default and are_options(taken):
        return _of_name(need, need.parameter)._replace(field=False).dump()
    if taken is None or taken.code != "param" or taken.name[0] != "**" or not need.unset:
        return True
    judged = need.stops, need.others, need.runs
    found = _need(taken, judged, unset=True, default=need.default)
    return True if found is None else found._replace(parameter=need.parameter).dump()


def _written_options(given: Op) -> list[Op]:
    """The dicts one of which an argument of ``**`` is; none where they are not all seen."""
    dicts = [given] if given.code == "dict" else _parts(given)
    entries = [entry for each in dicts for entry in each.args]
    known = all(each.code == "dict" for each in dicts)
    return dicts if known and all(x.code == "entry" and x.args[0].text for x in entries) else []


def _gives(options: Op, need: Need) -> bool:
    """Whether a dict that is written out may give an argument."""
    given = [x.args[1] for x in options.args if x.args[0].text == need.parameter]
    written = _written(given[0]) if given else []
    return not need.unset if not given else written is None or any(map(need.allows, written))


def _of_name(need: Need, option: str) -> Need:
    """The same of an option of the program."""
    return need._replace(function="", parameter=option, place=-1, unset=True)


def _given_on(given: Op, need: Need) -> Need | None:
    """What calls of the function around a call have to pass, if that hands on what it takes."""
    option = option_of(given) if need.default else ""
    if option:
        return _of_name(need, option)._replace(field=False)
    if given.code != "param" or given.name[0]:
        return None
    default = given.args[0].constant if given.args else ...
    unset = default is not ... and not need.allows(default)
    judged = need.stops, need.others, need.runs
    return _need(given, judged, unset=unset, default=need.default)


def needs_at(unit: Unit, row: int, column: int) -> list[str]:
    """What has to be passed for a line of a file to run, where an expression begins there."""
    around = unit.at(unit.source.line_starts[row - 1] + column - 1)
    for function in around.everything() if around is not None else ():
        for op in function.coded("call"):
            if unit.source.location(unit.span(op.node)[0]) == (row, column):
                return [each.dump() for each in Needs(function).of_place(op)]
    return []


def uses(unit: Unit, name: str, *, default: bool) -> Iterator[tuple[int, list[str]]]:
    """Where a file uses a function or class, and what that use needs, or what keeps it from being
    used by default."""
    needs_of = cache(Needs)
    for op in named(unit, name):
        needs = needs_of(op.function)
        ask = needs.settling if default else needs.with_options
        # A name is read once, at the start of the function; a text may only look like it.
        used = [op] if op.code in ("attr", "class") else op.uses
        for use in [x for x in used if op.code != "const" or not _is_aside(x)]:
            yield getattr(use.node, "lineno", 0), [each.dump() for each in ask(use)]


def _is_aside(use: Op) -> bool:
    """Whether a text is looked up in nothing: it is compared, or the key of what only becomes
    text."""
    return use.code in _ASIDE or (use.code == "entry" and is_written_out(use))


def calls(unit: Unit, name: str) -> Iterator[tuple[int, str]]:
    """Where a file calls a function or class, or hands it to what may, under no test, each with
    the function or method that this stands in."""
    for op in named(unit, name):
        for use in op.uses if op.code != "const" else ():
            calls = use.code == "call" and (use.args[0] is op or use.args[0].name not in _ASKING)
            if calls and always_runs(use):
                yield getattr(use.node, "lineno", 0), op.function.outermost.name


def named(unit: Unit, name: str) -> Iterator[Op]:
    """The operations of a file that name a function or class, but for what defines it."""
    words = [name, *_other_names(unit, name)]
    for around in dict.fromkeys(each for word in words for each in unit.functions_naming(word)):
        for function in around.everything():
            for op in function.ops:
                if op.code != "function" and _is_named(op, name, words):
                    yield op
