"""Arguments without which code does not run, and which files may pass them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from detlint.analysis.definitions import Definitions
from detlint.analysis.unreachable import runs_without, tested_places
from detlint.module import read
from detlint.names import UNKNOWN
from detlint.narrowing import narrow
from detlint.project.outline import CALLED
from detlint.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module
    from detlint.source import Source

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch", "tensorflow", "jax", "scipy", "pandas"}
_DEFINED = r"\b(?:class|def)[ \t]+%s\b"
_CONSTRUCTOR = "__init__"


class Need(NamedTuple):
    """A parameter by keyword and place, without ``self``, and what is called: a function, or of a
    constructor the class. ``place`` is -1 where it only has a keyword."""

    function: str
    parameter: str
    place: int

    @classmethod
    def parse(cls, text: str) -> Need:
        """It itself, of ``dump``."""
        function, parameter, place = text.split()
        return cls(function, parameter, int(place))

    def dump(self) -> str:
        """As text."""
        return f"{self.function} {self.parameter} {self.place}"


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
            if default is not UNKNOWN and not runs_without(module, node, place, default, function):
                return _need(taken.function, owner, taken.parameter)
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
        once = len(module.bindings.scope_of[function.body].lookup(place)) == 1
        return _Taken.of(module, function, place) if once else None
    if owner is None or first != "self" or "." in name:
        return None
    kept = re.findall(rf"\.{name}\b[ \t]*(?::[^=\n]+)?=(?!=)[ \t]*(.*)", module.source.text)
    maker = Definitions(module).method(owner, _CONSTRUCTOR) if len(kept) == 1 else None
    return _Taken.of(maker.module, maker.node, kept[0].strip()) if maker is not None else None


def _need(function: cst.FunctionDef, owner: cst.ClassDef | None, given: cst.Param) -> Need | None:
    name = function.name.value
    places = [each.name.value for each in function.params.params][owner is not None :]
    if function.decorators:
        return None
    if name == _CONSTRUCTOR and owner is not None and not owner.decorators:
        name = owner.name.value
    elif CALLED.fullmatch(name):
        return None
    taken = given.name.value
    return Need(name, taken, places.index(taken) if taken in places else -1)


def gives(source: Source, need: Need) -> bool | None:
    """Whether a file may pass an argument; None where it does not call the function."""
    text, name = source.text, need.function
    places = [each.start() for each in re.finditer(rf"\b{name}\b", text)]
    if re.search(rf"\.{need.parameter}[ \t]*=(?!=)", text) and not re.search(_DEFINED % name, text):
        return True
    if not places:
        return None
    if re.search(rf"[\"']{name}[\"']", text):
        return True
    region = narrow(text, [(each, "function") for each in places])
    if region is None:
        return None
    try:
        answers = in_deep_stack(lambda: _answers(read(source, region), need))
    except (cst.ParserSyntaxError, RecursionError):
        return True
    return None if not answers else True in answers


def _answers(module: Module, need: Need) -> set[bool]:
    return {_passes(call, need) for call in _mentions(module, need.function)}


def _mentions(module: Module, name: str) -> Iterator[cst.Call | None]:
    """Where a function is called; None for another mention, by which anything may call it."""
    for each in module.tree.occurrences.get(name, ()):
        function: cst.CSTNode = each
        above = module.parent(each)
        if isinstance(above, (cst.FunctionDef, cst.ClassDef, cst.Param)):
            continue
        if isinstance(above, cst.ImportAlias) and above.asname is None:
            continue
        if isinstance(above, cst.Arg) and above.keyword is each:
            continue
        if isinstance(above, cst.Attribute):
            function, above = above, module.parent(above)
        elif not _is_function(module, each):
            continue
        if _library(module, function) not in _LIBRARIES:
            yield above if isinstance(above, cst.Call) and above.func is function else None


def _is_function(module: Module, name: cst.Name) -> bool:
    """Whether a bare name may be that of a function or class, and not of a value."""
    kinds = {each.kind for each in module.names.visible(name)}
    return not kinds or not kinds.isdisjoint({"definition", "import"})


def _library(module: Module, function: cst.CSTNode) -> str:
    return (module.qualified_name(function) or "").partition(".")[0]


def _passes(call: cst.Call | None, need: Need) -> bool:
    if call is None or any(each.star for each in call.args):
        return True
    if any(each.keyword is not None and each.keyword.value == need.parameter for each in call.args):
        return True
    return 0 <= need.place < sum(each.keyword is None for each in call.args)
