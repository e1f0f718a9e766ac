"""What becomes of a generator object: what holds it, who seeds it, whether it gets away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.seeding import means_label, target_name, uses
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# Calls that give back the generator they are given, or one that draws from it.
_WRAPPERS = frozenset(
    f"{library}.random.{name}"
    for library in ("numpy", "cupy")
    for name in ("Generator", "RandomState", "default_rng")
)
# Libraries whose functions draw from the generator that they are given, and never seed it.
_CONSUMERS = ("torch.", "torchvision.", "torchaudio.", "diffusers.", "torch_geometric.")
_DRAWS = frozenset(
    [
        "normal_",
        "uniform_",
        "random_",
        "bernoulli_",
        "bernoulli",
        "exponential_",
        "geometric_",
        "log_normal_",
        "cauchy_",
        "multinomial",
        "randn_tensor",
    ]
)
# Variables of graphs: whoever runs the graph puts a seeded generator there.
_SHARED = frozenset({"pytensor.shared", "aesara.shared", "theano.shared"})
_SEEDS_TORCH = r"(?:manual_seed|set_state|clone_state|graphsafe_set_state|seed)\b"
_SEEDS = (
    r"(?:seed\(\s*(?!\)|(?:\w+\s*=\s*)?None\s*\))[^\s)]|(?:set_?state|__setstate__)\("
    r"|(?:bit_generator\.)?state\s*=[^=])"
)


class Holder(NamedTuple):
    """Where a generator ends up.

    place     the outermost expression that is the generator: ``rng or RandomState()``
    names     the variables, attributes or parameters that it is bound to
    method    the method called on it at once: ``Generator().manual_seed(0)``
    function  the function around it, if its only name is a local one
    """

    place: cst.CSTNode
    names: tuple[str, ...] = ()
    method: str = ""
    function: cst.FunctionDef | None = None


def holder(module: Module, call: cst.Call) -> Holder:
    """What holds the generator that a call builds."""
    place: cst.CSTNode = call
    for parent in module.ancestors(call):
        if isinstance(parent, cst.NamedExpr):
            above = module.parent(parent)
            if not isinstance(above, cst.Attribute):
                return _bound(module, place, [parent.target])
        elif not _passes_on(module, parent, place):
            break
        place = parent
    if isinstance(parent, cst.Attribute):
        return Holder(place, method=_method(module, parent))
    if isinstance(parent, cst.Assign):
        return _bound(module, place, [target.target for target in parent.targets])
    if isinstance(parent, cst.AnnAssign):
        return _bound(module, place, [parent.target])
    if isinstance(parent, cst.Param):
        function = _function_of(module, parent)
        return Holder(place, (parent.name.value,), function=function)
    return Holder(place)


def _function_of(module: Module, parameter: cst.Param) -> cst.FunctionDef | None:
    found = module.enclosing_function(parameter)
    return found if isinstance(found, cst.FunctionDef) else None


def _passes_on(module: Module, parent: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Whether the value of an expression is the generator that its part builds."""
    if isinstance(parent, cst.IfExp):
        return child is not parent.test
    if isinstance(parent, cst.Arg):
        above = module.parent(parent)
        return module.called(above) in _WRAPPERS
    if isinstance(parent, cst.Call):
        return isinstance(child, cst.Arg)
    return isinstance(parent, cst.BooleanOperation)


def _method(module: Module, attribute: cst.Attribute) -> str:
    """The method with its arguments, to be read as the text of a use is."""
    above = module.parent(attribute)
    outer = above if isinstance(above, cst.Call) else attribute
    return module.tree.text(outer)[len(module.tree.text(attribute.value)) :].lstrip(") \n.")


def _bound(module: Module, place: cst.CSTNode, targets: list[cst.BaseExpression]) -> Holder:
    from detlint.scope import dotted

    names = tuple(filter(None, map(dotted, targets)))
    if len(targets) == 1 and isinstance(targets[0], cst.Name):
        scope = module.bindings.scope_of(targets[0])
        if isinstance(scope.node, cst.FunctionDef) and names[0] not in scope.outer:
            return Holder(place, names, function=scope.node)
    return Holder(place, names)


def is_seeded(text: str, held: Holder, *, torch: bool = False) -> bool:
    """Whether the code that may use the generator seeds it, or restores its state."""
    how = _SEEDS_TORCH if torch else _SEEDS
    if held.method:
        return re.match(how, held.method) is not None
    return any(re.search(rf"{_mention(name, held)}\s*\.\s*{how}", text) for name in held.names)


def _mention(name: str, held: Holder) -> str:
    """A pattern for uses of a name; of an attribute or a global, under whatever owner."""
    if held.function is not None:
        return rf"(?<![\w.]){re.escape(name)}"
    return rf"\b{re.escape(name.rpartition('.')[2])}"


def is_shared(module: Module, held: Holder) -> bool:
    """Whether the generator goes into a shared variable, which a caller seeds."""
    places = [held.place]
    if held.function is not None:
        places += uses(module, held.function, held.names[0])
    return any(
        isinstance(argument := module.parent(place), cst.Arg)
        and module.called(module.parent(argument)) in _SHARED
        for place in places
    )


def escapes(module: Module, held: Holder, text: str) -> bool:
    """Whether a torch generator goes where this file does not show who seeds it."""
    if held.method or len(held.names) > 1:
        return True
    if not held.names:
        return not _is_drawn_from(module, held.place)
    if held.function is not None:
        return any(_gets_away(module, use) for use in uses(module, held.function, held.names[0]))
    last = re.escape(held.names[0].rpartition(".")[2])
    place = rf"(?:\w+\.)*{last}\b"
    ways = rf"(?:\b(?:return|yield)|\s=)\s+{place}\s*$|[(,\[]\s*{place}\s*[,)\]]"
    return re.search(ways, text, re.MULTILINE) is not None


def _gets_away(module: Module, use: cst.CSTNode) -> bool:
    place = use
    parent = module.parent(use)
    while parent is not None and _passes_on(module, parent, place):
        place, parent = parent, module.parent(parent)
    if isinstance(parent, cst.Arg):
        looks = (module.called(module.parent(parent)) or "").startswith("builtins.")
        return not (looks or _is_drawn_from(module, place))
    kept = (cst.Return, cst.Yield, cst.Assign, cst.AnnAssign, cst.Element, cst.DictElement)
    return isinstance(parent, (*kept, cst.StarredElement, cst.StarredDictElement))


def _is_drawn_from(module: Module, place: cst.CSTNode) -> bool:
    """Whether the generator is given to a function that is known to draw from it."""
    argument = module.parent(place)
    if not isinstance(argument, cst.Arg) or argument.keyword is None:
        return False
    call = module.parent(argument)
    if argument.keyword.value != "generator" or not isinstance(call, cst.Call):
        return False
    last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    if isinstance(last, cst.Name) and last.value in _DRAWS:
        return True
    names = (module.called(call), module.instance_of(call.func))
    return any(name.startswith(_CONSUMERS) for name in names if name)


def is_label(module: Module, call: cst.Call) -> bool:
    """Whether a number drawn at once from the generator only names a run, a file or a port."""
    if not isinstance(module.parent(call), cst.Attribute):
        return False
    child: cst.CSTNode = call
    for parent in module.ancestors(call):
        names = _named(module, parent, child)
        if names is not None:
            return any(map(means_label, names))
        child = parent
    return False


def _named(module: Module, parent: cst.CSTNode, child: cst.CSTNode) -> list[str] | None:
    """What a value is bound to here; None if the search goes on above."""
    if isinstance(parent, cst.Assign):
        return [target_name(module, target.target) for target in parent.targets]
    if isinstance(parent, cst.AnnAssign):
        return [target_name(module, parent.target)]
    if isinstance(parent, (cst.For, cst.CompFor)):
        return [target_name(module, parent.target)] if child is parent.iter else []
    if isinstance(parent, cst.DictElement):
        key = module.literal(parent.key)
        return [key] if isinstance(key, str) else []
    if isinstance(parent, cst.Arg) and parent.keyword is not None:
        return [parent.keyword.value]
    return [] if isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)) else None
