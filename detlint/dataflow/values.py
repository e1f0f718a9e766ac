"""What a value may be: its types, and the qualified name of what it stands for.

Asked backwards, from a value to what it is made of, and only as far as somebody asks.
"""

from __future__ import annotations

import builtins
import math
import re
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import declared, lattice
from detlint.dataflow.backwards import Backwards
from detlint.dataflow.folding import folded
from detlint.dataflow.imported_types import ImportedTypes, is_property
from detlint.dataflow.instantiation import instantiated
from detlint.dataflow.lattice import (
    ANY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    NONE,
    NOTHING,
    TEXT,
    Type,
    Types,
    container,
    elements,
    joined,
    plain,
)
from detlint.dataflow.origins import Place
from detlint.dataflow.overwriting import overwritten
from detlint.dataflow.slices import closure, states_after
from detlint.models import containers, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.backwards import Question
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Find
    from detlint.dataflow.unit import Unit
    from detlint.models.model import Model


_BUILTINS = frozenset(dir(builtins))
# What comes with `import *`, if nothing else binds it.
_SPELLED = {"nn": "torch.nn", "np": "numpy", "numpy": "numpy", "random": "random", "torch": "torch"}
_CONSTANTS: dict[type, Types] = {
    str: TEXT,
    bytes: lattice.BYTES,
    bool: BOOLEAN,
    int: INTEGER,
    float: FLOAT,
    complex: FLOAT,
    type(None): NONE,
}
_WHOLE = ("builtins.bool", "builtins.int", "numpy.bool", "numpy.int", "numpy.uint")
_KEEPING_WHOLE = frozenset(("builtins.float", "numpy.sum"))
_VERDICTS = frozenset(("compare", "not"))
_MAKING = frozenset(("call", "change", "comprehension", "dict", "list", "store_item"))
# Methods that give what their object is, of which a loop may not know yet what that is.
_STAYING = frozenset(("difference", "intersection", "replace", "symmetric_difference", "union"))
_MOST_STATES = 100
_NESTED = 2
_INTEGER_BASES = frozenset(("IntEnum", "IntFlag", "int"))
_ENUMS = frozenset(("Enum", "Flag", "StrEnum", "ReprEnum"))
_KEEPING = re.compile(
    r"(?:\.|^[ \t]+)(\w+)(?:[ \t]*:[^=\n]+)?[ \t]*=[ \t]*[A-Za-z_][\w.]*[ \t]*(?:#|;|$)",
    re.MULTILINE,
)
_HOLDING_FUNCTIONS = frozenset(("attr", "free", "item", "iter", "param"))
_ALIASES = frozenset(("attr", "binary", "const", "global", "import", "item", "text"))

_VIEWS = ("items", "keys", "values")  # of a dict


class Values(Backwards[Types]):
    """Answers for the values of one file, by what others say where ``find`` opens them."""

    nothing, anything = NOTHING, ANY

    def __init__(
        self, unit: Unit, models: Sequence[tuple[str, str]] = (), find: Find | None = None
    ) -> None:
        super().__init__()
        self.unit = unit
        self.elsewhere = ImportedTypes(self, find) if find is not None else None
        self.doubts = False  # whether what another file says was not to be had in a question
        self._models = {name: tables.of_project(name, says) for name, says in models}
        self._called: dict[Op, list[str]] = {}
        self._first: dict[Op, Op] = {}  # of what was changed, what it was before
        self._returned: dict[Function, Types] = {}  # functions, and what they give
        self._alone: dict[Question, Types] = {}  # by itself, whatever was in doubt on the way
        self._is_within = False  # a question that another file asks
        self._settling = False
        self._opened: set[str] = set()  # what was asked for as an alias of types
        self.class_named: Callable[[str], Types] = cache(self._class_named)

    # Names

    def qualified(self, op: Op) -> list[str]:
        """What a value may stand for: ``numpy.random.rand``; functions and classes of the file
        as ``.name``."""
        if op.code == "import":
            return [str(op.name)]
        if op.code == "global":
            return self._global_names(str(op.name))
        if op.code == "attr":
            return [f"{each}.{op.name}" for each in self.qualified(op.args[0])]
        if op.code == "change":  # it stays what it is: ``sys.path``
            return self.qualified(self._before_changes(op))
        if op.code in ("phi", "choice", "free", "declared"):
            parts = op.args[1:] if op.code == "choice" else op.args
            found = [self.qualified(each) for each in parts[:4] if _is_path(each)]
            return [name for names in found for name in names]
        return self._got(op) if op.code == "call" else []

    def _before_changes(self, op: Op) -> Op:
        """What a container was before all changes."""
        passed = []
        while op.code == "change" and op not in self._first:
            passed.append(op)
            op = op.args[0]
        first = self._first.get(op, op)
        self._first.update(dict.fromkeys(passed, first))
        return first

    def _got(self, op: Op) -> list[str]:
        """``getattr(torch.backends, "cudnn")``."""
        if len(op.args) < 3 or (op.args[0].code, op.args[0].name) != ("global", "getattr"):
            return []
        name = self.constant(op.args[2])
        owners = self.qualified(op.args[1]) if _is_path(op.args[1]) else []
        return [f"{each}.{name}" for each in owners if isinstance(name, str)]

    def _global_names(self, name: str) -> list[str]:
        imported = self.unit.imported.get(name)
        if imported:
            return imported
        if self.unit.defines(name) or name in self.unit.classes:
            return [f".{name}"]
        bound = self.unit.module.bindings.get(name) if self._may_bind(name) else None
        if bound:
            return [
                each for op in bound if op.code in ("attr", "import") for each in self.qualified(op)
            ]
        if name in _SPELLED and "*" in self.unit.imported and name not in self.unit.bound_names:
            return [_SPELLED[name]]
        return [f"builtins.{name}"] if name in _BUILTINS else self._by_star(name)

    def _by_star(self, name: str) -> list[str]:
        bound = name in self.unit.bound_names
        return [] if bound or self.elsewhere is None else self.elsewhere.by_star(name)

    def _may_bind(self, name: str) -> bool:
        return name not in _BUILTINS and name in self.unit.bound_names

    def constant(self, op: Op) -> object:
        """What is written out, here or where a name of the module is bound once; ``...`` for
        anything else."""
        return folded(self.bound_to(op))

    def bound_to(self, op: Op) -> Op:
        """What a name of the module stands for that is bound once; of anything else, itself."""
        name = str(op.name)
        if op.code == "global" and self._may_bind(name) and name not in self.unit.rebound:
            bound = self.unit.module.bindings.get(name, ())
            return bound[0] if len(bound) == 1 else op
        return op

    def bound(self, op: Op) -> list[Op]:
        """What the file binds to the variable of the module, or the attribute, that is read."""
        if op.code == "global":
            return self.unit.module.bindings.get(str(op.name), [])
        return self.unit.held(self.owner(op.args[0]), str(op.name)) if op.code == "attr" else []

    def called(self, op: Op) -> list[str]:
        """The qualified names of what a call calls."""
        if op.code != "call":
            return []
        if op not in self._called:
            function = op.args[0]
            found = self.qualified(function)
            if not found and function.code in _HOLDING_FUNCTIONS:
                held = (name for each in self._held(function) for name in self.qualified(each))
                found = [name for name in dict.fromkeys(held) if not name.startswith(".")]
            self._called[op] = found
        return self._called[op]

    def default_called(self, call: Op) -> Op | None:
        """The parameter whose default a call calls, where nobody passes another function: it is
        called itself, or kept by its object."""
        function = call.args[0]
        kept = self._kept(function) if function.code == "attr" else [function, *function.args]
        return next((each for each in kept if each.code == "param" and each.args), None)

    def _held(self, op: Op) -> list[Op]:
        """What a value may be that is called: the default of a parameter, also where its object
        keeps it, or what a table of functions holds."""
        if op.code == "param":
            return op.args if not op.name[0] else []
        if op.code == "free":
            return [held for each in op.args for held in self._held(each)]
        if op.code == "attr":
            kept = self._kept(op)
            return [held for e in kept for held in ([e] if _is_path(e) else self._held(e))]
        return self._in_table(op)

    def _kept(self, op: Op) -> list[Op]:
        """What the class of an object gives one of its attributes, which is no method."""
        owner, name = self._self_class(op.args[0]), str(op.name)
        if not owner or name not in self._keeping or self.unit.method(owner, name) is not None:
            return []
        given = self.unit.held(owner, name)
        given = [e.args[0] if e.code == "declared" and e.args else e for e in given]
        return [e for e in given if e.code != "attr" or _is_path(e)]

    @cached_property
    def _keeping(self) -> set[str]:
        """Attributes to which the text gives what has a name: few, and found without a tree."""
        return set(_KEEPING.findall(self.unit.text))

    def _in_table(self, op: Op) -> list[Op]:
        """Of an item of a dict, or a round's of a list, what may stand there."""
        table, view = self.gone_through(op.args[0] if op.args else op)
        if table.code in ("list", "tuple"):
            return table.args
        key = op.args[1].literal if op.code == "item" else ...
        found = [value for name, value in table.entries if ... is not key == name.literal]
        every = op.code == "item" or view == "values"
        return found or [value for _, value in table.entries if every]

    def gone_through(self, collection: Op) -> tuple[Op, str]:
        """What a loop goes through, as the file binds it, and by which view of a dict:
        ``x.items()``, ``tqdm(x)``."""
        made = collection
        while made.code == "call" and made.args[1:]:
            row = self.function_row(made)
            if row is None or not row.returns.endswith("[E0]"):
                break
            made = made.args[1]
        method = made.args[0] if made.code == "call" else made
        view = str(method.name) if made.code == "call" and method.code == "attr" else ""
        return self.bound_to(method.args[0] if view in _VIEWS else made), view

    def callee(self, call: Op) -> Function | None:
        """The function or method of the file that a call calls."""
        return self.function(call.args[0])

    def builder(self, call: Op) -> Function | None:
        """The constructor of the file that a call enters."""
        made = [one for one in self.types(call.args[0]) if one.name == "type" and one.of]
        own = made[0].of if made else ""
        return self.unit.method(own[1:], "__init__") if own.startswith(".") else None

    def function(self, op: Op) -> Function | None:
        """The function or method of the file that a value is."""
        found = None
        if op.code == "global":
            found = self.unit.defined(str(op.name))
        elif op.code in ("function", "free"):
            defined = [each.name for each in (op, *op.args) if each.code == "function"]
            found = defined[-1] if defined else None
        elif op.code == "attr":
            owner = self.owner(op.args[0])
            found = self.unit.method(owner, str(op.name)) if owner else None
        return found

    def owner(self, op: Op) -> str:
        """The class of the file that a value is an object of, or itself is."""
        found = self._self_class(op)
        if found:
            return found
        for one in self.types(op):
            if one.of.startswith("."):
                return one.of[1:]
        return ""

    @staticmethod
    def _self_class(op: Op) -> str:
        if op.code in ("global", "free", "param") and op.word in ("self", "cls"):
            return op.function.class_name
        return ""

    # Types

    def types(self, op: Op) -> Types:
        """The types of a value."""
        return self.of(op)

    def join(self, parts: Iterable[Types]) -> Types:
        return joined(*parts)

    def judge(self, op: Op) -> Types:
        found = super().judge(op)
        return self._with_inner(found, op) if op.code in _MAKING else found

    def asked(self, what: Question, judge: Callable[[], Types]) -> Types:
        if self._busy or self._is_within:
            return super().asked(what, judge)
        if what not in self._alone:
            self._alone[what] = super().asked(what, judge)
        return self._alone[what]

    @property
    def is_busy(self) -> bool:
        """Whether a question is being answered."""
        return bool(self._busy)

    def within(self, judge: Callable[[Values], Types]) -> Types:
        """What another file asks amid a question of its own, which may have to be left open."""
        before, self._is_within = self._is_within, True
        try:
            return judge(self)
        finally:
            self._is_within = before

    def doubt(self) -> None:
        """What is being answered is not kept: it may have another answer by itself."""
        self._outermost, self.doubts = -1, True

    def settle(self) -> None:
        """What a whole class tells of an attribute is asked by itself, once for all of it."""
        fields = [each for each in self._unsure if isinstance(each, tuple)]
        super().settle()
        if fields and not self._settling:
            self._settling = True
            for each in fields:
                self._known.setdefault(each, self.field(*each))
            self._settling = False

    def elements(self, op: Op) -> Types:
        """What going through a value gives."""
        return elements(self.types(op))

    def is_whole(self, op: Op) -> bool:
        """Whether a value is a whole number for certain, or an array of such, also as a float, or
        the sum of such: ``float(a > b)``, ``(a > b).sum()``."""
        if lattice.are_whole(self.types(op)):
            return True
        if op.code == "const":
            return isinstance(op.name, float) and op.name.is_integer()
        if op.code == "choice":
            return all(map(self.is_whole, op.args[1:]))
        known = self.called(op)
        made = op.args[1] if not _KEEPING_WHOLE.isdisjoint(known) and op.args[1:] else None
        method = op.args[0] if op.code == "call" and not known else op
        if method.code == "attr" and method.name in ("item", "sum"):
            made = method.args[0]
        return made is not None and (made.code in _VERDICTS or self.is_whole(made))

    def taken(self, op: Op, by: Op) -> Types:
        """The types of a value where an operation takes it: of a dict that a loop has gone through
        to give each key another value, only these."""
        held = overwritten(op, by)
        return lattice.holding(self.types(op), self.types(held)) if held else self.types(op)

    def is_set(self, op: Op) -> bool:
        """Whether a value is a set, and nothing else."""
        return lattice.are(self.types(op), "set")

    # By operation

    def _of_const(self, op: Op) -> Types:
        return _CONSTANTS.get(type(op.name), ANY)

    def _of_text(self, _: Op) -> Types:
        return TEXT

    _of_format = _of_text

    def _of_param(self, op: Op) -> Types:
        stars, _ = op.name
        owner = self._self_class(op)
        if owner:
            return self.class_named(owner)
        says = declared.of(getattr(op.node, "annotation", None), self.class_named)
        if getattr(op.node, "annotation", None) is None:
            says = INTEGER if _is_counted_to(op) else joined(*map(self.types, op.args), ANY)
        if stars == "**":
            return container("dict", TEXT, says)
        return container("list", says) if stars else says

    def _of_declared(self, op: Op) -> Types:
        says = declared.of(op.name, self.class_named)
        if not op.args or not declared.is_vague(says):
            return says
        made = self.types(op.args[0])
        return made if made - NONE else says

    def _of_phi(self, op: Op) -> Types:
        return lattice.absorbed(joined(*map(self.types, op.args)))

    _of_boolean = _of_free = _of_phi

    def _of_global(self, op: Op) -> Types:
        name, names = str(op.name), self.qualified(op)
        for each in names:
            row = tables.ATTRIBUTES.get(each)
            if row is not None:
                return instantiated(row, op, self)
        if name in self.unit.imported:
            return self._of_imported(names)
        if self.unit.defines(name):
            return plain("function")
        if name in self.unit.classes:
            return frozenset((Type("type", (), f".{name}"),))
        bound = self.unit.module.bindings.get(name) if self._may_bind(name) else None
        return joined(*map(self.types, bound)) if bound else self._of_imported(names)

    def _of_imported(self, names: Sequence[str]) -> Types:
        return (self.elsewhere.of_names(names) if self.elsewhere is not None else ANY) or ANY

    def _of_function(self, _: Op) -> Types:
        return plain("function")

    def _of_class(self, _: Op) -> Types:
        return plain("type")

    def _of_import(self, op: Op) -> Types:
        row = tables.ATTRIBUTES.get(str(op.name))
        return instantiated(row, op, self) if row is not None else self._of_imported([op.name])

    def _of_attr(self, op: Op) -> Types:
        names = self.qualified(op)
        for name in names:
            row = tables.ATTRIBUTES.get(name)
            if row is not None:
                return instantiated(row, op, self)
        word, owner = str(op.name), self.owner(op.args[0])
        if owner:
            found = self.field(owner, word)
            if not found - NONE:  # those that derive from it may fill it
                found |= joined(*(self.field(each, word) for each in self.unit.derived(owner)))
            if found - NONE or self.unit.stored(owner, word):
                return found  # nothing yet, where it is what is asked about
            method = self.unit.method(owner, word)
            if method is not None and is_property(method):
                return self.returned(method)
        if self.elsewhere is not None:
            found = self.elsewhere.of_names(names) or self.elsewhere.member(op)
            if found - NONE:
                return found
        row = self._of_type(tables.MEMBERS, word, op.args[0])
        return instantiated(row, op, self) if row is not None else ANY

    def _of_type(self, rows: dict[str, dict[str, Model]], word: str, owner: Op) -> Model | None:
        """The row of a method or attribute, by the type of its object, or if only one has it."""
        found = rows.get(word)
        if found is None:
            return None
        types = self.types(owner)
        for one in types:
            row = found.get(f"instance[{one.of}]" if one.name == "instance" else one.name)
            if row is not None:
                return row
            if one.name in ("iterator", "set", "keys", "array") and "list" in found:
                return found["list"]
        own = all(one.name in ("?", "instance", "?value") for one in types)
        alike = len({row.returns for row in found.values()}) == 1
        if own and alike and word not in containers.SHARED:
            return next(iter(found.values()))
        return None

    def method_row(self, call: Op) -> Model | None:
        """The model of a method that is called; of an object itself, its ``__call__``."""
        function = call.args[0]
        if function.code != "attr":
            return self._of_type(tables.METHODS, "__call__", function)
        return self._of_type(tables.METHODS, str(function.name), function.args[0])

    def function_row(self, call: Op) -> Model | None:
        """The model of a function that is called by a qualified name."""
        called = self.called(call)
        rows = (tables.FUNCTIONS.get(name) for name in called)
        return next(filter(None, rows), None) or self._own_row(called)

    def _own_row(self, called: list[str]) -> Model | None:
        """What the project says of its functions; a relative import gives the end of a name."""
        for name in called if self._models else ():
            end = name.lstrip(".")
            for full, row in self._models.items():
                if end == full or (name != end and full.endswith(f".{end}")):
                    return row
        return None

    def field(self, owner: str, name: str) -> Types:
        """The types of an attribute, by all that the class and its bases assign to it."""
        return self.asked((owner, name), lambda: self._of_field(owner, name))

    def _of_field(self, owner: str, name: str) -> Types:
        stored = list(self.unit.stored(owner, name))
        for given in self.unit.held(owner, name):
            if given.code == "declared":
                says = self.types(given)
                if not declared.is_vague(says):
                    return says
        found = lattice.absorbed(joined(*map(self.types, stored)))
        if self.elsewhere is not None and not found - NONE:
            found |= self.elsewhere.field(Place(self.unit, owner), name)
        if not lattice.holds_empty(found):
            return found
        reads = (each.reads("attr", name) for each in self.unit.methods_naming(owner, name))
        own = [each for several in reads for each in several if self._self_class(each.args[0])]
        return lattice.absorbed(found.union(*map(self._put_inside, own)))

    def _of_store_attr(self, op: Op) -> Types:
        return self.taken(op.args[1], op)

    def _of_item(self, op: Op) -> Types:
        types, key = self.taken(op.args[0], op), op.args[1]
        if key.code == "const" and isinstance(key.name, int):
            return lattice.part(types, key.name)
        if (
            key.code == "unary"
            and key.args[0].code == "const"
            and isinstance(key.args[0].name, int)
        ):
            return lattice.part(types, -key.args[0].name)
        told = lattice.entry(types, key.text) if key.text else NOTHING
        if told:
            return told
        held = lattice.values(types)
        # A record's parts are of several types, and which of them this one is of is not known.
        mixed = key.code == "const" and lattice.is_mixed(held)
        return ANY if mixed else held

    def _of_call(self, op: Op) -> Types:
        row = self.function_row(op) or self.method_row(op)
        if row is not None and row.returns:
            return instantiated(row, op, self)
        function = self.callee(op)
        if function is not None:
            return self.returned(function)
        made = [one for one in self.types(op.args[0]) if one.name == "type" and one.of]
        if made:
            return self.class_named(made[0].of.removeprefix("."))
        found = self.elsewhere.given_by(op) if self.elsewhere is not None else NOTHING
        return found or self._of_method(op)

    def _of_method(self, call: Op) -> Types:
        """What methods give that several types have."""
        method = call.args[0]
        if method.code != "attr":
            return ANY
        owner = method.args[0]
        if method.name in _STAYING and owner.code == "phi" and not self.types(owner):
            more = [self.elements(each) for name, each in call.arguments() if name is None]
            joins = method.name == "union"
            return lattice.filled(NOTHING, joined(*more), NOTHING) if joins else NOTHING
        if method.name in ("pop", "popleft"):
            return lattice.values(self.types(method.args[0]))
        kinds = self.qualified(call.args[1]) if method.name == "astype" and call.args[1:] else ()
        if any(name.startswith(_WHOLE) for name in kinds):
            return container("array", INTEGER)
        if method.name == "copy":
            return self.types(method.args[0])
        default = self.types(call.args[2]) if method.name == "get" and call.args[2:] else NOTHING
        return joined(ANY, default) if lattice.are(default, "str") else ANY  # `row.get("name", "")`

    def returned(self, function: Function) -> Types:
        """What a function of the file gives, put together once where it rests on nothing open."""
        known, rests = self._returned.get(function), self._outermost < math.inf
        found = self._given_back(function) if known is None else known
        if not rests and self._outermost == math.inf:
            self._returned[function] = found
        return found

    def _given_back(self, function: Function) -> Types:
        annotation = getattr(function.node, "returns", None)
        if annotation is not None:
            says = declared.of(annotation, self.class_named)
            if not declared.is_vague(says):
                return says
        if function.is_generator:
            given = [
                self.types(each.args[0]) if each.code == "yield" else self.elements(each.args[0])
                for each in function.returns
                if each.args and each.code != "return"
            ]
            return container("iterator", joined(*given))
        given = [self.taken(each.args[0], each) for each in function.returns if each.args]
        found = joined(*given)
        asked = self._outermost < math.inf  # of a function that calls itself
        return found if found or asked else ANY

    def _of_binary(self, op: Op) -> Types:
        if op.name == "Sub" and not containers.CENTRES.isdisjoint(op.args[1].called):
            return container("array", lattice.NUMBER)
        return lattice.combined(str(op.name), *map(self.types, op.args[:2]))

    _of_augment = _of_binary

    def _of_not(self, _: Op) -> Types:
        return BOOLEAN

    _of_compare = _of_not

    def _of_list(self, op: Op) -> Types:
        return container(op.code, joined(*map(self._entry, op.args)))

    _of_set = _of_list

    def _of_tuple(self, op: Op) -> Types:
        if any(each.code == "star" for each in op.args):
            return container("list", joined(*map(self._entry, op.args)))
        return container("tuple", *map(self.types, op.args))

    def _entry(self, op: Op) -> Types:
        return self.elements(op.args[0]) if op.code == "star" else self.types(op)

    def _of_dict(self, op: Op) -> Types:
        if op.args and all(each.code == "entry" and each.args[0].text for each in op.args):
            return lattice.record({x.args[0].text: self.types(x.args[1]) for x in op.args})
        keys, held = [], []
        for each in op.args:
            if each.code == "star":
                other = self.types(each.args[0])
                keys.append(elements(other))
                held.append(lattice.values(other))
            else:
                keys.append(self.types(each.args[0]))
                held.append(self.types(each.args[1]))
        return container("dict", joined(*keys), joined(*held))

    def _of_comprehension(self, op: Op) -> Types:
        if op.name == "dict":
            return container("dict", self.types(op.args[0]), self.types(op.args[1]))
        return container(str(op.name), self.types(op.args[0]))

    def _of_iter(self, op: Op) -> Types:
        return self.elements(op.args[0])

    def _of_unpack(self, op: Op) -> Types:
        index, _, counted, starred = op.name
        types = self.types(op.args[0])
        if starred or not counted:
            return container("list", elements(types)) if starred else elements(types)
        return lattice.part(types, index)

    def _of_enter(self, op: Op) -> Types:
        return self.types(op.args[0])

    _of_slice = _of_unary = _of_await = _of_delete = _of_enter

    def _of_change(self, op: Op) -> Types:
        return self._changed(op, self.types(op.args[0]))

    def _changed(self, op: Op, before: Types) -> Types:
        call = op.args[1]
        given = [value for name, value in call.arguments() if name in (None, "*")]
        if op.name in ("add", "append", "appendleft", "push"):
            return lattice.filled(before, joined(*map(self.types, given)), NOTHING)
        if op.name == "insert":
            return lattice.filled(before, joined(*map(self.types, given[1:])), NOTHING)
        if op.name in ("update", "extend", "extendleft"):
            more = [self.types(each) for each in given]
            unpacked = [
                elements(each) if name == "*" else each
                for name, each in zip(
                    [name for name, _ in call.arguments() if name in (None, "*")], more, strict=True
                )
            ]
            added = joined(*map(elements, unpacked))
            return lattice.filled(before, added, joined(*map(lattice.values, unpacked)))
        if op.name == "setdefault" and given:
            return lattice.filled(before, self.types(given[0]), joined(*map(self.types, given[1:])))
        return before

    def _of_store_item(self, op: Op) -> Types:
        return self._stored(op, self.types(op.args[0]))

    def _stored(self, op: Op, before: Types) -> Types:
        _, key, value = op.args
        held = self.types(value)
        return lattice.filled(before, held, held, self.types(key), key.text)

    # What is put into the containers in a container: ``groups[key].add(x)``

    def _with_inner(self, types: Types, made: Op) -> Types:
        """The types of a container, with what is added to those in it that are made empty."""
        if not lattice.holds_empty(types):
            return types
        return lattice.absorbed(types | self._put_inside(made))

    def _put_inside(self, made: Op, depth: int = 0) -> Types:
        """What is added to the items of a container, and to what is in these."""
        found: dict[str, Types] = {}  # by the name of a part, or "" for whatever item
        keys = NOTHING
        for state in _states(made):
            for item, key in _items(state):
                if key.code == "const" and not key.text:  # of a tuple, whose parts differ
                    continue
                deeper = self._put_inside(item, depth + 1) if depth < _NESTED else NOTHING
                put = self._put_in(item) | deeper
                if put:
                    found[key.text] = found.get(key.text, NOTHING) | put
                    keys |= self.types(key)
        return frozenset(Type(lattice.ADDED, (put, put, keys), name) for name, put in found.items())

    def _put_in(self, item: Op) -> Types:
        """What is added to an item of a container."""
        found = NOTHING
        for state in _states(item):
            for use in state.uses:
                if use.args[0] is not state:
                    continue
                if use.code == "change" and use.name in containers.HOLDING:
                    found |= self._changed(use, NOTHING)
                elif use.code == "store_item":
                    found |= self._stored(use, NOTHING)
        return found

    # Classes

    def _class_named(self, word: str) -> Types:
        """The types of an object of a class that an annotation or a call names."""
        if word not in self.unit.classes:
            found = self.elsewhere.object_of(word) if self.elsewhere is not None else NOTHING
            return (
                found or self._alias(word) or self._of_library(word) or self._imported_class(word)
            )
        bases = set(self.unit.bases(word))
        if bases & _INTEGER_BASES:
            return INTEGER
        hashed = bases & _ENUMS or not self.unit.hashes_by_value(word)
        return frozenset((Type("instance" if hashed else "?value", (), f".{word}"),))

    def _alias(self, word: str) -> Types:
        """What a name of the module stands for in annotations: ``Names = set[str]``."""
        bound = self.unit.module.bindings.get(word, ()) if self._may_bind(word) else ()
        if len(bound) != 1 or word in self._opened:
            return NOTHING
        self._opened.add(word)  # one that is made of itself
        made = bound[0].args[0] if bound[0].code == "declared" and bound[0].args else bound[0]
        said = made.node if made.code in _ALIASES else None
        return declared.of(said, self.class_named) if said is not None else NOTHING

    def _of_library(self, word: str) -> Types:
        """An object of a class of a library that has a row: ``pl.DataFrame``."""
        for each in self.unit.meant_by(word):
            row = tables.FUNCTIONS.get(each)
            kind, _, made = row.returns.partition("[") if row is not None else ("", "", "")
            if kind == "instance":
                return frozenset((Type(kind, (), made.rstrip("]")),))
        return NOTHING

    def _imported_class(self, word: str) -> Types:
        """A class of another file, as far as its name says that it is one and no alias."""
        named = word[:1].isupper() and not word.isupper() and word in self.unit.imported
        foreign = not any(
            name.startswith(("typing", "collections", "numpy", "torch", "jax"))
            for name in self.unit.imported.get(word, ())
        )
        if not (named and foreign) or len(word) == 1:
            return ANY
        return frozenset((Type("instance", (), word), lattice.UNKNOWN))


def _is_path(op: Op) -> bool:
    """``torch.backends``: a name of the module, or an attribute below one."""
    while op.code == "attr":
        op = op.args[0]
    return op.code in ("import", "global")


def _states(made: Op) -> Iterator[Op]:
    """A container, and what it is later on in its function."""
    return closure([made], states_after, _MOST_STATES)


def _items(state: Op) -> Iterator[tuple[Op, Op]]:
    """What is looked up in a container, with the key."""
    for use in state.uses:
        if use.code == "item" and use.args[0] is state:
            yield use, use.args[1]
        elif use.code == "attr" and use.name in ("get", "setdefault"):
            calls = use.calls
            yield from ((each, each.args[1]) for each in calls if len(each.args) > 1)


def _is_counted_to(parameter: Op) -> bool:
    """Whether a function always makes a range of a parameter, which takes whole numbers alone."""
    return any(
        use.code == "call" and "builtins.range" in use.called and _is_passed(use)
        for use in parameter.uses
    )


def _is_passed(op: Op) -> bool:
    """Whether its function gets to an operation, or raises, but for rounds that there are not."""
    tested = any(each.kind in ("else", "except", "if", "try") for each in op.region.around())
    return not tested and all(op.place < each.place for each in op.function.coded("return"))
