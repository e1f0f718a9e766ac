"""Where entropy is no seed: it names a run, the state is put back, or it is no number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.seeding import SEED_PARAMETER, is_read, means_seed, means_seeding
from detlint.analysis.uses import last_name
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# Calls that see every local.
_READING_ALL = frozenset(f"builtins.{name}" for name in ("eval", "exec", "locals", "vars"))
# Functions whose first text names the value that follows, or its default.
_NAMING = frozenset(
    ["add_argument", "option", "get", "pop", "setdefault", "getattr", "setattr", "getenv"]
)
_KEYS = frozenset({"jax.random.key", "jax.random.PRNGKey", "flax.nnx.Rngs"})
# Functions that make up a label. Not `key`: JAX seeds with keys.
_LABELLING = re.compile(r"(?:^|_)(?:name|id|uuid|tag|path|port)$")
# Calls that seed a global generator, with those that save and restore its state.
_TORCH_STATE = ("torch.get_rng_state", "torch.set_rng_state")
_STATES = {
    "random.seed": ("random.getstate", "random.setstate"),
    "numpy.random.seed": ("numpy.random.get_state", "numpy.random.set_state"),
    "torch.manual_seed": _TORCH_STATE,
    "torch.seed": _TORCH_STATE,
}
# Draws whose kind is that of what they choose from, and draws that make no seed.
_CHOICES = frozenset({"choice", "choices", "permutation"})
_NOISE = frozenset({"randn", "normal", "gauss", "betavariate", "triangular"})
_RANGES = frozenset({"builtins.range", "numpy.arange", "torch.arange"})
_COPIES = frozenset({"builtins.list", "builtins.tuple"})


def takes_seed(module: Module, call: cst.Call) -> bool:
    """Whether what a call is given by place is a seed."""
    name = module.called(call)
    return name in SEED_PARAMETER or name in _KEYS or means_seeding(last_name(call.func))


def key_of_seed(module: Module, call: cst.Call) -> str:
    """``--seed`` of ``add_argument("-s", "--seed", …)``."""
    if last_name(call.func) not in _NAMING:
        return ""
    texts = [module.literal(each.value) for each in call.args if not each.keyword]
    return next((each for each in texts if isinstance(each, str) and means_seed(each)), "")


def only_labels(module: Module, value: cst.CSTNode) -> bool:
    """Whether a function that makes up a name uses a value, other than for a global generator."""
    function = module.enclosing_function(value)
    if not isinstance(function, cst.FunctionDef) or not _LABELLING.search(function.name.value):
        return False
    call = module.parent(module.parent(value) or value)
    return not (isinstance(call, cst.Call) and means_seeding(last_name(call.func)))


def is_never_read(module: Module, target: cst.CSTNode, statement: cst.CSTNode) -> bool:
    """Whether nothing in the function reads a local after a statement has assigned it."""
    function = module.enclosing_function(statement)
    if not isinstance(target, cst.Name) or not isinstance(function, cst.FunctionDef):
        return False
    scope = module.bindings.scope_of(target)
    if scope.node is not function or target.value in scope.outer:  # of a class, global, nonlocal
        return False
    return not any(
        module.called(each) in _READING_ALL
        or (
            isinstance(each, cst.Name)
            and each.value == target.value
            and not _is_gone(module, each, statement)
        )
        for each in module.tree.descendants(function.body)
    )


def _is_gone(module: Module, name: cst.Name, statement: cst.CSTNode) -> bool:
    """Whether a mention of a local is no read of what the statement assigns."""
    if not is_read(module, name) or statement in module.ancestors(name):
        return True
    here = module.enclosing_function(name) is module.enclosing_function(statement)
    loops = (cst.For, cst.While)
    again = any(isinstance(each, loops) for each in module.ancestors(statement))
    return here and not again and module.tree.comes_before(name, statement)


def is_undone(module: Module, call: cst.CSTNode) -> bool:
    """Whether the function saves the generator's state before, and restores it in a ``finally``."""
    function = module.enclosing_function(call)
    names = _STATES.get(module.called(call) or "")
    if names is None or function is None:
        return False
    below = list(module.tree.descendants(function))
    saved = any(
        module.called(each) == names[0] and module.tree.comes_before(each, call)
        for each in below
        if isinstance(each, cst.Call)
    )
    lasts = [each.finalbody for each in below if isinstance(each, (cst.Try, cst.TryStar))]
    return saved and any(
        isinstance(each, cst.Call) and module.called(each) == names[1]
        for last in lasts
        if last is not None and module.tree.comes_before(call, last)
        for each in module.tree.descendants(last)
    )


def may_be_seed(module: Module, draw: cst.CSTNode) -> bool:
    """Whether a draw makes numbers such as seeds are: not noise, nor a thing out of a list."""
    if not isinstance(draw, cst.Call):
        return True
    name = module.called(draw) or ""
    function = name.rpartition(".")[2]
    if function in _CHOICES or name == "random.sample":
        return bool(draw.args) and _is_numbers(module, draw.args[0].value)
    return function not in _NOISE


def _is_numbers(module: Module, node: cst.BaseExpression) -> bool:
    """Whether a population is a range, or written out."""
    resolved = module.names.value_of(node)
    if isinstance(resolved, cst.Call):
        name = module.called(resolved)
        if name in _COPIES and len(resolved.args) == 1:
            return _is_numbers(module, resolved.args[0].value)
        return name in _RANGES
    computed = (cst.Name, cst.Attribute, cst.Call)
    return resolved is not None and not any(
        isinstance(each, computed) for each in module.tree.descendants(resolved)
    )
