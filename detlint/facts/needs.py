"""Arguments without which code does not run, and which files may pass them."""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from detlint.analysis.definitions import Definitions
from detlint.analysis.unreachable import runs_without, tested_places
from detlint.analysis.uses import last_name
from detlint.index.scan import CALLED
from detlint.module import read
from detlint.names import UNKNOWN
from detlint.narrowing import narrow
from detlint.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module
    from detlint.source import Source

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch", "tensorflow", "jax", "scipy", "pandas"}
_DEFINED = r"\b(?:class|def)[ \t]+%s\b"
_LOOKS_UP = re.compile(
    r"getattr|attrgetter|methodcaller|globals\(|locals\(|vars\(|__dict__|eval\(|[Rr]egist|\]\("
)
_CONSTRUCTOR = "__init__"
_PASSES_ON = frozenset({"no_grad", "inference_mode", "classmethod"})  # what is given, as it is
_SWITCHES = (None, False, 0, True)  # values that calls pass to turn something on or off
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


class _Taken(NamedTuple):
    """A parameter, in a module that holds its function."""

    module: Module
    function: cst.FunctionDef
    parameter: cst.Param

    @classmethod
    def of(cls, module: Module, function: cst.FunctionDef, name: str) -> _Taken | None:
        """That of a name, if it has a default."""
        for each in (*function.params.params, *function.params.kwonly_params):
            if each.name.value == name and each.default is not None:
                return cls(module, function, each)
        return None


def need_of(module: Module, node: cst.CSTNode) -> Need | None:
    """What calls have to pass so that a node runs; None where its function runs it without, or
    code out of sight may call that."""
    function = module.enclosing_function(node)
    places = tested_places(module, node)
    if not places or not isinstance(function, cst.FunctionDef):
        return None
    owner = _owner(module, function)
    for place in sorted(places):
        taken = _taken(module, function, owner, place)
        if taken is not None:
            default = taken.module.literal(taken.parameter.default)
            runs = partial(runs_without, module, node, place, function=function)
            unset = default is not UNKNOWN and not runs(default)
            # Of what runs by default, only a flag is followed: most code is of this kind.
            if unset or (default is True and not runs(False)):
                stops = [repr(each) for each in _SWITCHES if not runs(each)]
                return _need(taken.function, owner, taken.parameter, (*stops, "-"), unset=unset)
    return None


def _owner(module: Module, function: cst.FunctionDef) -> cst.ClassDef | None:
    """The class at the top of the file whose method a function is."""
    owner = module.enclosing_class(function)
    if owner is None or module.enclosing_function(function) is not None:
        return None
    return owner if module.enclosing_class(owner) is None else None


def _taken(
    module: Module, function: cst.FunctionDef, owner: cst.ClassDef | None, place: str
) -> _Taken | None:
    """The parameter that a place stands for: of the function, or of the constructor that keeps
    it as ``self.name``."""
    first, dot, name = place.partition(".")
    if not dot:
        once = len(module.bindings.scope_of(function.body).lookup(place)) == 1
        return _Taken.of(module, function, place) if once else None
    if owner is None or first != "self" or "." in name:
        return None
    kept = re.findall(rf"\.{name}\b[ \t]*(?::[^=\n]+)?=(?!=)[ \t]*(.*)", module.source.text)
    maker = Definitions(module).method(owner, _CONSTRUCTOR) if len(kept) == 1 else None
    return _Taken.of(maker.module, maker.node, kept[0].strip()) if maker is not None else None


def _need(
    function: cst.FunctionDef,
    owner: cst.ClassDef | None,
    given: cst.Param,
    stops: tuple[str, ...],
    *,
    unset: bool,
) -> Need | None:
    name = function.name.value
    places = [each.name.value for each in function.params.params][owner is not None :]
    if not all(map(_passes_on, function.decorators)):
        return None
    if name == _CONSTRUCTOR and owner is not None and not owner.decorators:
        name = owner.name.value
    elif CALLED.fullmatch(name):
        return None
    taken = given.name.value
    return Need(name, taken, places.index(taken) if taken in places else -1, stops, unset)


def _passes_on(decorator: cst.Decorator) -> bool:
    made = decorator.decorator
    return last_name(made.func if isinstance(made, cst.Call) else made) in _PASSES_ON


def gives(source: Source, need: Need) -> list[Answer]:
    """Whether a file may pass an argument: of each call, its row and what it says; a need of its
    own where it hands on what the function around it takes. Row 0 stands for the file."""
    text, name = source.text, need.function
    places = [each.start() for each in re.finditer(rf"\b{name}\b", text)]
    if re.search(rf"\.{need.parameter}[ \t]*=(?!=)", text) and not re.search(_DEFINED % name, text):
        return [(0, True)]
    if not places:
        return []
    if re.search(rf"[\"']{name}[\"']", text) and _LOOKS_UP.search(text):
        return [(0, True)]
    region = narrow(text, [(each, "function") for each in places])
    if region is None:
        return []
    try:
        return in_deep_stack(lambda: list(_answers(read(source, region), need)))
    except (cst.ParserSyntaxError, RecursionError):
        return [(0, True)]


def _answers(module: Module, need: Need) -> Iterator[Answer]:
    for name, call in _mentions(module, need.function):
        row, _ = module.source.location(module.tree.span(name)[0])
        yield row, _passes(module, call, need)


def _mentions(module: Module, name: str) -> Iterator[tuple[cst.Name, cst.Call | None]]:
    """Where a function is called; None for another mention, by which anything may call it."""
    for each in module.tree.occurrences.get(name, ()):
        function: cst.CSTNode = each
        above = module.parent(each)
        if isinstance(above, (cst.FunctionDef, cst.ClassDef, cst.Param)):
            continue
        if isinstance(above, cst.ImportAlias) and above.asname is None:
            continue
        if isinstance(above, cst.Arg) and (above.keyword is each or _is_of_super(module, above)):
            continue
        if isinstance(above, cst.Attribute):
            function, above = above, module.parent(above)
        elif not _is_function(module, each):
            continue
        if _library(module, function) not in _LIBRARIES:
            call = above if isinstance(above, cst.Call) and above.func is function else None
            yield each, call


def _is_of_super(module: Module, argument: cst.Arg) -> bool:
    call = module.parent(argument)
    return isinstance(call, cst.Call) and last_name(call.func) == "super"


def _is_function(module: Module, name: cst.Name) -> bool:
    """Whether a bare name may be that of a function or class, and not of a value."""
    kinds = {each.kind for each in module.names.visible(name)}
    return not kinds or not kinds.isdisjoint({"definition", "import"})


def _library(module: Module, function: cst.CSTNode) -> str:
    return (module.qualified_name(function) or "").partition(".")[0]


def _passes(module: Module, call: cst.Call | None, need: Need) -> bool | str:
    if call is None or any(each.star for each in call.args):
        return True
    given = _given(call, need)
    if given is None:
        return not need.unset
    value = module.literal(given)
    if value is not UNKNOWN:
        return repr(value) not in need.stops
    return _handed_on(module, given, need) or True


def _given(call: cst.Call, need: Need) -> cst.BaseExpression | None:
    placed = [each.value for each in call.args if each.keyword is None]
    for each in call.args:
        if each.keyword is not None and each.keyword.value == need.parameter:
            return each.value
    return placed[need.place] if 0 <= need.place < len(placed) else None


def _handed_on(module: Module, given: cst.BaseExpression, need: Need) -> str:
    """What calls of the function around a call have to pass, if that hands on what it takes."""
    function = module.enclosing_function(given)
    if not isinstance(given, cst.Name) or not isinstance(function, cst.FunctionDef):
        return ""
    owner = _owner(module, function)
    once = len(module.bindings.scope_of(function.body).lookup(given.value)) == 1
    taken = _Taken.of(module, function, given.value) if once else None
    if taken is None or (owner is None) is not (module.enclosing_class(function) is None):
        return ""
    unset = repr(module.literal(taken.parameter.default)) in need.stops
    found = _need(function, owner, taken.parameter, need.stops, unset=unset)
    return "" if found is None or found[:3] == need[:3] else found.dump()
