"""Arguments without which code does not run, and which files may pass them."""

from __future__ import annotations

import ast
import sys
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, cast

from detlint.dataflow.path_conditions import Paths, tests
from detlint.dataflow.unit import Unit, UnparsedError
from detlint.index.scan import CALLED
from detlint.kinds import NOTEBOOK
from detlint.stack import in_deep_stack
from detlint.syntax import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.notebooks.notebook import Notebook
    from detlint.source import Source

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch", "tensorflow", "jax", "scipy", "pandas"}
_CONSTRUCTOR = "__init__"
_PASSES_ON = frozenset(("no_grad", "inference_mode", "classmethod"))  # what is given, as it is
_SWITCHES = (None, False, 0, True)  # values that calls pass to turn something on or off
_MOST = 40  # parameters of a function, or fields, on which something may depend
_ASKING = frozenset(("isinstance", "issubclass", "super", "type"))
_BOUND_AGAIN = frozenset(("declared", "free", "phi", "store_global"))
Answer = tuple[int, "bool | str"]


class Need(NamedTuple):
    """A parameter by keyword and place, without ``self``, and what is called: a function, or of a
    constructor the class. ``place`` is -1 where it only has a keyword. ``stops`` are the values
    with which it does not run, and ``unset`` says that its default is one."""

    function: str
    parameter: str
    place: int
    stops: tuple[str, ...]
    unset: bool

    @classmethod
    def parse(cls, text: str) -> Need:
        """It itself, of ``dump``."""
        function, parameter, place, stops, unset = text.split()
        return cls(function, parameter, int(place), tuple(stops.split(",")), unset == "unset")

    def dump(self) -> str:
        """As text."""
        unset = "unset" if self.unset else "set"
        return f"{self.function} {self.parameter} {self.place} {','.join(self.stops)} {unset}"


class Needs:
    """What calls of a function have to pass so that its operations run."""

    def __init__(self, function: Function) -> None:
        self._function = function

    def of(self, op: Op) -> Need | None:
        """None where the function runs an operation without, or code out of sight may call it."""
        for place, taken in self._asked:
            default = _constant(taken.args[0])
            unset = default is not ... and not place.runs(op, default)
            # Of what runs by default, only a flag is followed: most code is of this kind.
            if unset or (default is True and not place.runs(op, False)):
                stops = [repr(each) for each in _SWITCHES if not place.runs(op, each)]
                return _need(taken, (*stops, "-"), unset=unset)
        return None

    @cached_property
    def _asked(self) -> list[tuple[_Place, Op]]:
        return list(self._tested()) if isinstance(self._function.node, _DEFINITIONS) else []

    def _tested(self) -> Iterator[tuple[_Place, Op]]:
        """The parameters with defaults that tests of the function read, and the attributes of its
        object that are given such in the constructor."""
        seen: set[str] = set()
        pending = list(tests(self._function))
        looked = set(pending)
        for each in pending:  # grows
            name = _name_of(each)
            taken = self._taken(each) if name and name not in seen else None
            if taken is not None and taken.args and len(seen) < _MOST:
                seen.add(name)
                yield _Place(self._function, each), taken
            inner = [] if each.code == "param" else [x for x in each.args if x not in looked]
            looked.update(inner)
            pending += inner

    def _taken(self, op: Op) -> Op | None:
        """The parameter that a value is, or that is kept in the attribute."""
        if op.code == "param":
            return op
        unit, owner = self._function.unit, self._function.class_name
        kept = unit.stored(owner, str(op.name)) if owner in unit.classes else []
        value = kept[0].args[1] if len(kept) == 1 and kept[0].code == "store_attr" else None
        if value is None or value.code != "param":
            return None
        return value if value.function.name.endswith(f".{_CONSTRUCTOR}") else None


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Place:
    """A parameter, or an attribute of ``self``, of which a value is assumed."""

    def __init__(self, function: Function, op: Op) -> None:
        self._function = function
        self._op = op
        self._paths: dict[str, Paths] = {}

    def runs(self, op: Op, value: object) -> bool:
        """Whether an operation may run where it has some value."""
        paths = self._paths.get(repr(value))
        if paths is None:
            paths = self._paths[repr(value)] = Paths(self._function, partial(self._assumed, value))
        return paths.may_run(op)

    def _assumed(self, value: object, op: Op) -> object:
        same = op is self._op or (op.code == "attr" and _name_of(op) == _name_of(self._op))
        return value if same else ...


def _name_of(op: Op) -> str:
    """``x`` of a parameter, ``self.x`` of an attribute; "" of anything else."""
    if op.code == "param":
        return str(op.name[1])
    own = op.code == "attr" and op.args[0].code == "param" and op.args[0].name[1] == "self"
    return f"self.{op.name}" if own else ""


def _constant(op: Op) -> object:
    return op.function.unit.values.constant(op)


def _need(taken: Op, stops: tuple[str, ...], *, unset: bool) -> Need | None:
    function = taken.function
    owner, _, name = function.name.rpartition(".")
    decorators = getattr(function.node, "decorator_list", [])
    if function.outer is not None and owner:
        return None
    if not all(map(_passes_on, decorators)):
        return None
    if name == _CONSTRUCTOR and owner:
        name = owner
    elif CALLED.fullmatch(name):
        return None
    plain = getattr(function.node, "args", None)
    places = [each.arg for each in (*plain.posonlyargs, *plain.args)] if plain is not None else []
    given = str(taken.name[1])
    place = places.index(given) - bool(owner) if given in places else -1
    return Need(name, given, place, stops, unset)


def _passes_on(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (getattr(made, "attr", None) or getattr(made, "id", "")) in _PASSES_ON


def read_gives(source: Source, need: str) -> list[Answer]:
    """What ``gives`` says of a file, and of one that does not parse that it may pass anything."""
    asked = Need.parse(need)
    if asked.function not in source.text and f".{asked.parameter}" not in source.text:
        return []
    if source.kind == NOTEBOOK:
        source = cast("Notebook", source).readable[0]
    try:
        return in_deep_stack(lambda: gives(Unit(source), asked))
    except (UnparsedError, *REFUSALS):
        return [(0, True)]


def gives(unit: Unit, need: Need) -> list[Answer]:
    """Whether a file may pass an argument: of each call, its row and what it says; a need of its
    own where it hands on what the function around it takes. Row 0 stands for the file."""
    if _sets(unit, need):
        return [(0, True)]
    words = [need.function, *_other_names(unit, need.function)]
    outer = dict.fromkeys(each for word in words for each in unit.functions_naming(word))
    derived = [each for each in unit.classes if not set(words).isdisjoint(unit.bases(each))]
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


def _sets(unit: Unit, need: Need) -> bool:
    """Whether a file that does not define what is called sets its attribute."""
    if f".{need.parameter}" not in unit.text:
        return False
    if need.function in unit.classes or unit.defined(need.function) is not None:
        return False
    return any(
        need.parameter in function.stores
        for outer in unit.functions_naming(need.parameter)
        for function in outer.everything()
    )


def _other_names(unit: Unit, name: str) -> list[str]:
    """The names under which a file imports it."""
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
    if not named and (op.code != "attr" or op.name != name):
        return False
    known = op.function.unit.values.qualified(op)
    return not any(each.partition(".")[0] in _LIBRARIES for each in known)


def _passed(use: Op, function: Op, need: Need) -> bool | str | None:
    """Whether a use of a function passes the argument; None if it is no call of it."""
    if use.code != "call":
        if function.code == "const" or use.code == "drop":
            return None
        return None if function.code != "attr" and use.code in _BOUND_AGAIN else True
    if use.args[0] is function:
        return _answered(use, need)
    return None if use.args[0].name in _ASKING else True


def _answered(call: Op, need: Need) -> bool | str:
    if call.unpacks:
        return True
    given = call.given(need.parameter, need.place if need.place >= 0 else None)
    if given is None:
        return not need.unset
    value = _constant(given)
    return repr(value) not in need.stops if value is not ... else _handed_on(given, need) or True


def _handed_on(given: Op, need: Need) -> str:
    """What calls of the function around a call have to pass, if that hands on what it takes."""
    if given.code != "param" or not given.args:
        return ""
    unset = repr(_constant(given.args[0])) in need.stops
    found = _need(given, need.stops, unset=unset)
    return "" if found is None or found[:3] == need[:3] else found.dump()
