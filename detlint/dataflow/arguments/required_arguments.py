"""Arguments and options without which code does not run."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.defaults import declared_fields, is_dataclass, place_of_field
from detlint.dataflow.arguments.need import OFF, OR, SWITCHES, Need, written_as
from detlint.dataflow.arguments.options import option_of
from detlint.dataflow.calls import looked_up_in, word_of
from detlint.dataflow.path_conditions import (
    OTHER,
    Paths,
    compared,
    deciding,
    implies,
    inputs,
    tests,
)
from detlint.dataflow.slices import behind, closure
from detlint.index.facts import NO_FILE, OF_MODULE
from detlint.index.scan import CALLED
from detlint.models import training

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.unit import Unit

    _Where = tuple[Region, int, Op | None]

_MAKES_LOADER = "get_dataloader"
_CONSTRUCTOR = "__init__"
_PASSES_ON = frozenset(("no_grad", "inference_mode", "classmethod"))  # what is given, as it is
_MOST = 40  # parameters of a function, or fields, on which something may depend
_READING = frozenset(("attr", "call", "global", "import", "item"))
LIBRARIES = sys.stdlib_module_names | {"numpy", "torch", "tensorflow", "jax", "scipy", "pandas"}
_THERE = frozenset(("exists", "isdir", "isfile", "is_dir", "is_file"))
_MAKING = frozenset(("dump", "makedirs", "mkdir", "save", "savez", "to_csv", "write"))
_TRUE = Need("", "", -1, ("False", "None", "0"), others=True, unset=False)
NEVER_MET = Need("", "", -1, (), others=False, unset=True)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MADE_OF = frozenset(("boolean", "call"))  # of what one compares, `kind.lower()`


class Needs:
    """What calls of a function have to pass so that its operations run."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._tests = _Tests(function)
        self._told: dict[tuple[str, _Where], tuple[Need, ...]] = {}

    def may_run(self, op: Op) -> bool:
        """Whether an operation may run at all, by the constants in its tests."""
        return self._tests.constants.may_run(op)

    def _once(self, ask: Callable[[Op], list[Need]], op: Op) -> list[Need]:
        """What a question gives, which is the same of all operations that run together."""
        key = ask.__name__, self._tests.where(op)
        if key not in self._told:
            self._told[key] = tuple(ask(op))
        return [*self._told[key]]

    def of(self, op: Op) -> list[Need]:
        """None where the function runs an operation without, or code out of sight may call it."""
        return self._once(self._of, op)

    def _of(self, op: Op) -> list[Need]:
        found = [_of_place(op, *each) for each in self._asked_for(op)]
        if self._may_not_run(op):
            found += [_of_field(op, *each) for each in self._fields]
            found += [_of_variable(op, *each) for each in self._variables]
        return [each for each in found if each is not None]

    def of_call(self, op: Op) -> list[Need]:
        """The same of a call that passes something, in whatever program."""
        return [NEVER_MET] if self._is_off(op) else self.of(op)

    def with_options(self, op: Op) -> list[Need]:
        """The same, and the options of the program that have to be set to something; what stands
        behind a constant that keeps it from running can never get what it needs."""
        return self._once(self._with_options, op)

    def _with_options(self, op: Op) -> list[Need]:
        if self._is_off(op):
            return [NEVER_MET]
        options = self._options if self._may_not_run(op) else ()
        found = (self._of_option(op, each) for each in options)
        return [*self.of(op), *(each for each in found if each is not None)]

    def of_place(self, op: Op) -> list[Need]:
        """The same; of the default of a parameter, or what calls that, that a call leaves it
        out."""
        taken = next((each for each in op.uses if each.code == "param" and op in each.args), None)
        taken = taken or op.values.default_called(op)
        left = need_of(taken, ((), False, ("None",)), unset=False) if taken is not None else None
        return [left] if left is not None else self.with_options(op)

    def by_default(self, op: Op) -> list[Need]:
        """What keeps an operation from running where nobody gives the program options."""
        return self._once(self._by_default, op)

    def _by_default(self, op: Op) -> list[Need]:
        found: list[Need | None] = []
        if self._may_not_run(op):
            found += [_default_of(op, each) for each in self._options]
        for each, taken, key in self._asked_for(op):
            if not (key or each.runs(op, None)):
                found.append(need_of(taken, each.judge(op), unset=_is_off(taken), default=True))
        if _makes_what_is_missing(op):
            found.append(Need("", NO_FILE, -1, (), False, True, default=True))
        return [each for each in found if each is not None]

    def settling(self, op: Op) -> list[Need]:
        """Both, of what settles a matter, also where one does not see who sets its option."""
        return [*self.of(op), *self.by_default(op)]

    def of_value(self, given: Op) -> list[Need]:
        """What keeps a value from being anything but None by default."""
        seed = Need("", "", -1, ("None",), True, True, default=True)
        return list(filter(None, [given_on(given, seed)]))

    @staticmethod
    def of_flag(given: Op) -> list[Need]:
        """What calls have to pass so that a parameter is true, which an operation takes."""
        return list(filter(None, [given_on(given, _TRUE)]))

    def of_share(self, given: Op) -> list[Need] | None:
        """What calls have to pass, and options to be by default, so that a share is more than
        none; None where one does not see what gives it."""
        taken = taken_by(given) or given
        by_default = given_on(taken, _TRUE._replace(default=True))
        if by_default is None:
            return None
        option = option_of(taken)
        asked = of_name(_TRUE, option) if option else given_on(taken, _TRUE)
        return list(filter(None, (by_default, asked)))

    def of_default(self, op: Op, given: Op) -> list[Need]:
        """What keeps a parameter from being the None that it is by default, of an operation that
        takes it and runs then, too; also what a dict that is the parameter may not hold."""
        taken, key = source(given) if _name_of(given) else (None, "")
        if taken is None or taken.name[0] or not (key or _is_off(taken)):
            return []
        if self._may_not_run(op) and not _Place(self._tests, given).runs(op, None):
            return []
        if not key:
            return self.of_value(taken)
        needed = need_of(taken, (("None",), True, ()), unset=True, key=key)
        return [needed] if needed is not None and looked_up(given)[1] else []

    def _asked_for(self, op: Op) -> list[tuple[_Place, Op, str]]:
        return self._asked if self._may_not_run(op) else []

    def _may_not_run(self, op: Op) -> bool:
        nested = self._function.outer is not None
        apart = op.region is not self._function.region or bool(compared(op))
        return nested or apart or self._leaves

    def _is_off(self, op: Op) -> bool:
        """Whether a constant keeps an operation from running (``USE_VIDEO = False``), unless the
        file may get its names by code that does not show them."""
        if not self._may_not_run(op) or self.may_run(op):
            return False
        return not any(each in self._function.unit.text for each in ("exec(", "globals()"))

    @cached_property
    def _leaves(self) -> bool:
        """Whether what stands under no test may still not run."""
        return any(self._function.coded(code) for code in ("leave", "return", "raise", "test"))

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

    @cached_property
    def _variables(self) -> list[tuple[_Place, str]]:
        """The variables of other modules that tests of the function read."""
        named = {_variable(each): each for each in self._tests.read if _is_value(each)}
        named.pop("", None)
        return [(_Place(self._tests, each), name) for name, each in named.items()]

    def _field(self, read: Op) -> _Field | None:
        unit, name = self._function.unit, str(read.name)
        kept = read.args[0]
        own = self._own_constant(self._function.class_name, name) if kept.is_self else None
        if own is not None or "dataclass" not in unit.text:
            return own
        owner = unit.values.owner(kept if kept.is_self else taken_by(kept) or kept)
        pieces = unit.classes.get(owner, ())
        body = next((unit.function(each) for each in pieces if each.kind == "class"), None)
        node = getattr(body, "node", None)
        if not isinstance(node, ast.ClassDef) or not is_only_own(unit.stores(name), {owner}):
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
        if made.function.word != _CONSTRUCTOR or not is_only_own(others, {owner}):
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
    def _asked(self) -> list[tuple[_Place, Op, str]]:
        return list(self._tested()) if isinstance(self._function.node, _DEFINITIONS) else []

    def _tested(self) -> Iterator[tuple[_Place, Op, str]]:
        """The parameters that tests of the function read, the attributes of its object that are
        given such in the constructor, and what dicts that are such hold by a key."""
        seen: set[str] = set()
        for each in self._tests.read:
            name = _name_of(each)
            taken, key = source(each) if name and name not in seen else (None, "")
            part = _first_part(each) if name and taken is None else None
            taken = taken_by(part) if part is not None else taken
            if taken is not None and not taken.name[0] and len(seen) < _MOST:
                seen.add(name)
                yield _Place(self._tests, each), taken, key

    @cached_property
    def _options(self) -> list[_Place]:
        """The options of the program that tests of the function read."""
        found: dict[str, Op] = {}
        for each in self._tests.read:
            name = option_of(each)
            if name and len(found) < _MOST:
                found.setdefault(name, each)
        return [_Place(self._tests, each, name) for name, each in found.items()]


def _of_place(op: Op, place: _Place, taken: Op, key: str) -> Need | None:
    default = None if key else taken.args[0].constant if taken.args else ...
    unset, flag = place.turns_off(op, default)
    judged = place.judge(op, default) if unset or flag or key or not taken.args else ()
    if not judged or not (unset or flag or judged[0] or not judged[1]):
        return None
    return need_of(taken, judged, unset=unset, key=key)


def source(op: Op) -> tuple[Op | None, str]:
    """The parameter that a value is, or by which key a dict holds it that is the parameter."""
    taken = taken_by(op)
    if taken is not None:
        return taken, ""
    held, key = _entry_of(_kept(op) or op)
    taken = taken_by(held) if held is not None else None
    return (None, "") if taken is None or _sets_entry(op.function.unit, key) else (taken, key)


def looked_up(op: Op) -> tuple[Op | None, str]:
    """What a value is looked up in that is None where that does not hold it, and by which text:
    ``conf.get("mix")``, also what the constructor keeps of it."""
    made = op.values.bound_to(_kept(op) or op)
    return _entry_of(made) if made.code == "call" else (None, "")


def _entry_of(op: Op) -> tuple[Op | None, str]:
    """What a text is looked up in, and that text: ``conf["mix"]``, ``conf.get("mix", None)``."""
    held, key = looked_up_in(op)
    or_none = op.code == "item" or all(x.is_none for x in op.args[2:])
    return (held, key.text) if or_none and key is not None and key.text else (None, "")


def _sets_entry(unit: Unit, key: str) -> bool:
    """Whether a file itself gives dicts an entry of some name."""
    stores = (op for each in unit.functions_holding(key) for op in each.all_coded("store_item"))
    return any(op.args[1].text == key for op in stores)


def _is_value(op: Op) -> bool:
    """Whether what is read by a name is not only called."""
    return not any(use.code == "call" and use.args[0] is op for use in op.uses)


def _variable(op: Op) -> str:
    """The variable of another module that a value is, by its qualified name; of ``or``, those."""
    if op.code == "boolean" and op.name == "Or":
        named = [_variable(each).rpartition(".") for each in op.args]
        alike = all(named) and len({(module, bool(last)) for module, _, last in named}) == 1
        if not alike or not named[0][2]:
            return ""
        return f"{named[0][0]}.{OR.join(last for *_, last in named)}"
    found = op.values.qualified(op) if op.code in ("attr", "global", "import") else []
    module = found[0].rpartition(".")[0] if len(found) == 1 else ""
    return found[0] if module and module.partition(".")[0] not in LIBRARIES else ""


def _of_variable(op: Op, place: _Place, name: str) -> Need | None:
    stops, others, runs = place.judge(op)
    module, _, last = name.rpartition(".")
    needed = Need(f"{OF_MODULE}{module}", last, -1, stops, others, unset=False, runs=runs)
    return needed if stops else None


def taken_by(op: Op) -> Op | None:
    """The parameter that a value is, or that is kept in the attribute."""
    if op.code == "param":
        return op
    if op.code == "free":  # of the function around
        return op.args[0] if [each.code for each in op.args] == ["param"] else None
    if op.code != "attr":
        return None
    if not op.args[0].is_self:
        return _taken_for_later(op)
    value = _kept(op)
    return value if value is not None and value.code == "param" else None


def _kept(op: Op) -> Op | None:
    """What the constructor alone gives an attribute of the object."""
    if op.code != "attr" or not op.args[0].is_self:
        return None
    unit, owner = op.function.unit, op.function.class_name
    kept = unit.stored(owner, str(op.name)) if owner in unit.classes else []
    made = kept[0] if len(kept) == 1 and kept[0].code == "store_attr" else None
    by_constructor = made is not None and made.function.name.endswith(f".{_CONSTRUCTOR}")
    return made.args[1] if made is not None and by_constructor else None


def _first_part(read: Op) -> Op | None:
    """What has to be true for an attribute to be: ``self.mosaic = self.augment and not rect``."""
    made = _kept(read)
    both = made is not None and (made.code, made.name) == ("boolean", "And")
    return made.args[0] if made is not None and both else None


def _taken_for_later(read: Op) -> Op | None:
    """``self.hparams.x``, where the constructor keeps what it takes as Lightning does."""
    owner = read.args[0]
    if (owner.code, owner.name) != ("attr", training.KEPT) or not owner.args[0].is_self:
        return None
    made, name = read.function.unit.defined(_CONSTRUCTOR, owner.function.class_name), read.name
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
            if implies(region.head.args[0], _is_missing, holds=asks) and (
                asks
                or any(each.code == "call" and word_of(each) in _MAKING for each in region.ops())
            ):
                return True
    return False


def _is_missing(test: Op, *, holds: bool) -> bool:
    """``not os.path.exists(path)``, ``not os.path.exists(path) or len(os.listdir(path)) == 0``."""
    if test.code == "compare":
        calls = (each for each in behind(test, most=_MOST) if each.code == "call")
        return holds and any(word_of(each) == "listdir" for each in calls)
    return not holds and test.code == "call" and word_of(test) in _THERE


def is_only_own(stores: Iterator[Op], apart: Collection[str]) -> bool:
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


class _Tests:
    """What is tested in a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.constants = Paths(function)
        self._deciding: dict[_Where, _Reads] = {}

    @cached_property
    def read(self) -> list[Op]:
        """What tests of the function read."""
        read = tests(self.function)
        return list(closure(read, lambda op: () if op.code == "param" else op.args))

    @cached_property
    def compares(self) -> list[tuple[Op, _Reads]]:
        """What is compared among that, each with what its sides are made of."""
        found = (each for each in self.read if each.code == "compare")
        return [(each, _Reads(closure(each.args, _made_of, _MOST))) for each in found]

    @cached_property
    def _leaving(self) -> list[int]:
        return [each.place for each in self.function.leaving]

    def where(self, op: Op) -> _Where:
        """The region of an operation, and past how much it runs that leaves the function: where
        that is the same, so is what decides whether it runs, but for what is only compared."""
        apart = op if compared(op) else None
        return op.region, bisect_left(self._leaving, op.place), apart

    def deciding(self, op: Op) -> _Reads:
        """What decides whether an operation runs."""
        key = self.where(op)
        if key not in self._deciding:
            self._deciding[key] = _Reads(deciding(op))
        return self._deciding[key]


class _Reads:
    """Some operations, by what they read."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self._ops = frozenset(ops)

    def have(self, read: Op, option: str) -> bool:
        """Whether one of them reads the variable that an operation does, or an option."""
        if read in self._ops:
            return True
        return option in self._options if option else _name_of(read) in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(_name_of(each) for each in self._ops if each.code in _READING)

    @cached_property
    def _options(self) -> frozenset[str]:
        return frozenset(map(option_of, self._ops))


class _Place:
    """A parameter, an attribute of ``self`` or an option, of which a value is assumed."""

    def __init__(self, tests_: _Tests, op: Op, option: str = "") -> None:
        self._tests = tests_
        self._op = op
        self.option = option
        self._paths: dict[str, Paths] = {}
        self._running: dict[tuple[str, _Where], bool] = {}

    @cached_property
    def compared(self) -> list[object]:
        """The texts and whole numbers with which it is compared, and None."""
        around = [x for x, parts in self._tests.compares if parts.have(self._op, self.option)]
        sides = [side for each in around for arg in each.args for side in (arg, *arg.args)]
        found = (side.constant for side in sides if side.code in ("const", "unary"))
        return [x for x in found if x is None or isinstance(x, (str, int)) or _is_whole(x)]

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
        asked = repr(value), self._tests.where(op)
        if asked not in self._running:
            self._running[asked] = self._with(value, asked[0]).may_run(op)
        return self._running[asked]

    def _with(self, value: object, written: str) -> Paths:
        if written not in self._paths:
            assumed = partial(_assumed, value, self._op, self.option)
            self._paths[written] = Paths(self._tests.function, assumed)
        return self._paths[written]

    def _decides(self, op: Op) -> bool:
        """Whether its value has a part in what decides whether an operation runs."""
        return self._tests.deciding(op).have(self._op, self.option)


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
    known = not (value and _first_part(read))
    return value if known and _is_same(read, option, op) else ...


def _is_same(read: Op, option: str, op: Op) -> bool:
    """Whether two operations read one variable, or one option."""
    if option:
        return op is read or option_of(op) == option
    return op is read or (op.code in _READING and _name_of(op) == _name_of(read))


def _name_of(op: Op) -> str:
    """``x`` of a parameter, also of the function around, ``self.x`` of an attribute, ``x.y`` and
    ``x["y"]`` of one of these, ``lib.x`` of a variable of a module; "" of anything else."""
    if op.code == "param":
        return str(op.name[1])
    if op.code == "free":
        return str(op.name)
    if op.code == "attr":
        owner = "self" if op.args[0].is_self else _name_of(op.args[0])
        return f"{owner}.{op.name}" if owner else _variable(op)
    if op.code in ("boolean", "global", "import"):
        return _variable(op)
    held, key = _entry_of(op)
    owner = _name_of(held) if held is not None else ""
    return f"{owner}[{key}]" if owner else ""


def need_of(
    taken: Op,
    judged: tuple[tuple[str, ...], bool, tuple[str, ...]],
    *,
    unset: bool,
    default: bool = False,
    key: str = "",
) -> Need | None:
    """What calls have to pass as a parameter, by what its tests say; None where something out of
    sight may call the function."""
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
    return Need(name, given, place, stops, others, unset, runs, key, default)


def _may_be_hook(unit: Unit, owner: str, name: str) -> bool:
    """Whether something else may call a method by its name: Python, or what the class derives
    from. What shares such a name otherwise is called where one sees it, and so is what makes a
    loader of any kind."""
    hook = CALLED.fullmatch(name) is not None and name != _MAKES_LOADER
    return hook and (name.startswith("_") or bool(unit.bases(owner)))


def _passes_on(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (getattr(made, "attr", None) or getattr(made, "id", "")) in _PASSES_ON


def of_name(need: Need, option: str) -> Need:
    """The same of an option of the program."""
    return need._replace(function="", parameter=option, place=-1, unset=True)


def given_on(given: Op, need: Need) -> Need | None:
    """What calls of the function around a call have to pass, if that hands on what it takes, or
    what an option or a variable of another module has to be that it hands on."""
    option = option_of(given) if need.default or not need.others else ""
    if option:
        return of_name(need, option)._replace(field=False, unset=need.default)
    if name := "" if need.key else _variable(given):
        module, _, last = name.rpartition(".")
        return of_name(need, last)._replace(function=f"{OF_MODULE}{module}", unset=False)
    taken, key = source(given)
    if taken is None or taken.name[0] or (key and need.key):
        return None
    key = key or need.key
    default = None if key else taken.args[0].constant if taken.args else ...
    unset = default is not ... and not need.allows(default)
    judged = need.stops, need.others, need.runs
    return need_of(taken, judged, unset=unset, default=need.default, key=key)


def needs_at(unit: Unit, row: int, column: int) -> list[str]:
    """What has to be passed for a line of a file to run, where an expression begins there."""
    calls = _calls_at(unit, row, column)
    return [each.dump() for op in calls[:1] for each in Needs(op.function).of_place(op)]


def is_off_by_default(unit: Unit, row: int, column: int) -> bool:
    """Whether a call does not run where nothing gives its function the parameters that have
    defaults."""
    calls = _calls_at(unit, row, column)
    return bool(calls) and not Paths(calls[0].function, _default_given).may_run(calls[0])


def _default_given(op: Op) -> object:
    taken = taken_by(op)
    return taken.args[0].constant if taken is not None and taken.args else ...


def _calls_at(unit: Unit, row: int, column: int) -> list[Op]:
    around = unit.at(unit.source.line_starts[row - 1] + column - 1)
    functions = around.everything() if around is not None else ()
    calls = (op for each in functions for op in each.calls_by_row.get(row, ()))
    return [op for op in calls if unit.source.location(unit.span(op.node)[0]) == (row, column)]
