"""Calls that seed a generator from the operating system: ``random.seed()``, ``torch.seed()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.finding import Edit
    from detlint.module import Module

# They do so when no seed is given, or None.
_WITHOUT_SEED = frozenset({"random.seed", "numpy.random.seed", "cupy.random.seed"})
_CLASSES = frozenset(
    ("torch.Generator", "random.Random", "numpy.random.RandomState", "numpy.random.Generator")
)
# They always do.
_TORCH = frozenset(
    [
        "torch.seed",
        "torch.random.seed",
        "torch.cuda.seed",
        "torch.cuda.seed_all",
        "torch.cuda.random.seed",
        "torch.cuda.random.seed_all",
        "torch.mps.seed",
        "torch.xpu.seed",
        "torch.xpu.seed_all",
        "torch.xpu.random.seed",
        "torch.xpu.random.seed_all",
        "torch.default_generator.seed",
    ]
)


def reseeds(module: Module, call: cst.Call) -> bool:
    """Whether a call without a seed, or with None, seeds ``random``, NumPy or CuPy."""
    if len(call.args) > 1 or module.has_unpacking(call):
        return False
    if call.args and not _is_none(call.args[0].value):
        return False
    if module.called(call) in _WITHOUT_SEED:
        return True
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "seed":
        return False
    return generator_class(module, call.func.value) in {"random.Random", "numpy.random.RandomState"}


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def reseeds_torch(module: Module, call: cst.Call) -> bool:
    """Whether a call is ``torch.seed()`` or its kin, or ``.seed()`` of a torch generator."""
    if call.args:
        return False
    if module.called(call) in _TORCH:
        return True
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "seed":
        return False
    owner = call.func.value
    if isinstance(owner, cst.Subscript):
        return module.qualified_name(owner.value) == "torch.cuda.default_generators"
    return generator_class(module, owner) == "torch.Generator"


def generator_class(module: Module, node: cst.BaseExpression) -> str | None:
    """The class of a generator object, also where its annotation makes it optional."""
    known = module.instance_of(node)
    if known is not None or not isinstance(node, cst.Name):
        return known
    kinds = {
        module.qualified_name(part)
        for binding in module.names.visible(node)
        if binding.annotation is not None
        for part in module.tree.descendants(binding.annotation)
        if isinstance(part, (cst.Name, cst.Attribute))
    }
    classes = kinds & _CLASSES
    return classes.pop() if len(classes) == 1 else None


def seeded_with_zero(module: Module, call: cst.Call) -> tuple[Edit, ...]:
    """``random.seed(None)`` → ``random.seed(0)``."""
    if call.args:
        return (module.replace(call.args[0].value, "0"),)
    return (module.add_argument(call, "0"),)


def seeded_by_hand(module: Module, call: cst.Call) -> tuple[Edit, ...]:
    """``x.seed()`` → ``x.manual_seed(0)``, where nothing uses the seed that it returns."""
    alone = isinstance(module.parent(call), cst.Expr)
    if not alone or not isinstance(call.func, cst.Attribute):
        return ()
    name = module.replace(call.func.attr, f"manual_{call.func.attr.value}")
    return (name, module.add_argument(call, "0"))
