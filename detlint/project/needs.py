"""Arguments without which code does not run, and which files may pass them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from detlint.analysis.unreachable import needed_parameter
from detlint.module import read
from detlint.narrowing import narrow
from detlint.project.outline import CALLED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module
    from detlint.source import Source

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch", "tensorflow", "jax", "scipy", "pandas"}
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


def need_of(module: Module, node: cst.CSTNode) -> Need | None:
    """What calls have to pass so that a node runs; None where its function runs it without, or
    code out of sight may call that."""
    parameter = needed_parameter(module, node)
    function = module.enclosing_function(node)
    if parameter is None or not isinstance(function, cst.FunctionDef) or function.decorators:
        return None
    name, places = function.name.value, [each.name.value for each in function.params.params]
    owner = module.enclosing_class(function)
    if owner is not None and places:
        places = places[1:]
    if name == _CONSTRUCTOR and owner is not None and not owner.decorators:
        name = owner.name.value
    elif CALLED.fullmatch(name):
        return None
    given = parameter.name.value
    return Need(name, given, places.index(given) if given in places else -1)


def gives(source: Source, need: Need) -> bool | None:
    """Whether a file may pass an argument; None where it does not call the function."""
    text, name = source.text, need.function
    places = [each.start() for each in re.finditer(rf"\b{name}\b", text)]
    if not places:
        return None
    if re.search(rf"[\"']{name}[\"']", text):
        return True
    region = narrow(text, [(each, "function") for each in places])
    if region is None:
        return None
    try:
        module = read(source, region)
    except (cst.ParserSyntaxError, RecursionError):
        return True
    answers = {_passes(call, need) for call in _mentions(module, name)}
    return None if not answers else True in answers


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
