"""Generators of random numbers that an object keeps from the time when it is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.datasets import is_self
from detlint.analysis.reseeding import generator_class
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

BUILDING = ("__init__", "__post_init__")
_GENERATORS = frozenset(
    (
        "numpy.random.default_rng",
        "numpy.random.Generator",
        "numpy.random.RandomState",
        "numpy.random.mtrand.RandomState",
        "random.Random",
        "torch.Generator",
    )
)


def kept_generators(module: Module, owner: cst.ClassDef) -> Iterator[tuple[str, str]]:
    """The attributes to which a class gives a generator, with the name of what makes it."""
    for each in module.tree.descendants(owner.body):
        if not isinstance(each, (cst.Assign, cst.AnnAssign)) or each.value is None:
            continue
        targets = each.targets if isinstance(each, cst.Assign) else (each,)
        for target in targets:
            name = _attribute(module, target.target, owner)
            made = _generator(module, each.value) if name else None
            if name and made:
                yield name, made


def _attribute(module: Module, target: cst.CSTNode, owner: cst.ClassDef) -> str:
    """``rng`` of ``self.rng`` in ``__init__``, or of ``rng`` in the class itself."""
    function = module.enclosing_function(target)
    if function is None:
        direct = module.enclosing_class(target) is owner
        return target.value if direct and isinstance(target, cst.Name) else ""
    builds = isinstance(function, cst.FunctionDef) and function.name.value in BUILDING
    if not builds or module.enclosing_class(function) is not owner:
        return ""
    own = isinstance(target, cst.Attribute) and is_self(target.value)
    return target.attr.value if own and isinstance(target, cst.Attribute) else ""


def _generator(module: Module, value: cst.CSTNode) -> str | None:
    """What makes the generator that an expression gives, or may give."""
    if isinstance(value, cst.IfExp):
        return _generator(module, value.body) or _generator(module, value.orelse)
    if isinstance(value, cst.BooleanOperation):
        return _generator(module, value.left) or _generator(module, value.right)
    if isinstance(value, cst.Name):
        return _of_local(module, value)
    return _called(module, value) if isinstance(value, cst.Call) else None


def _of_local(module: Module, name: cst.Name) -> str | None:
    made = module.names.value_of(name)
    if module.enclosing_function(made) is None:
        return None  # narrowing may have cut what makes it
    if made is not name:
        return _generator(module, made)
    kind = generator_class(module, name)
    return kind if kind in _GENERATORS else None


def _called(module: Module, call: cst.Call) -> str | None:
    name = module.called(call)
    if name in _GENERATORS:
        return name
    func = call.func  # torch.Generator().manual_seed(seed)
    seeded = isinstance(func, cst.Attribute) and func.attr.value == "manual_seed"
    return _generator(module, func.value) if seeded and isinstance(func, cst.Attribute) else None
