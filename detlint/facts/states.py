"""States of global generators that a program keeps and puts back: no seeds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from detlint.facts.draws import called
from detlint.facts.vocabulary import NUMPY, RANDOM, TORCH
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.module import Module

_GETS = {
    "random": r"\brandom\.getstate\(",
    "numpy": r"\brandom\.get_state\(",
    "torch": r"\bget_rng_state\(",
}
_SETS = {
    "random.setstate": "random",
    "numpy.random.set_state": "numpy",
    "torch.set_rng_state": "torch",
    "torch.random.set_rng_state": "torch",
}
_SETTER = {"random": "setstate", "numpy": "set_state", "torch": "set_rng_state"}
_SEEDING = re.compile(r"seed\w*\(")
_YIELDS = re.compile(r"\byield\b")
# Where a state may come from a file: what runs goes on from there.
_LOADS = re.compile(r"load|ckpt|checkpoint|resum|deseriali|unpickl|state_?dict", re.IGNORECASE)


def puts_back(module: Module, call: cst.Call) -> bool:
    """Whether a call gives a generator a state that the program took from it before."""
    library = _SETS.get(called(module, call))
    if library is None or not call.args:
        return False
    if any(_forks(module, each) for each in module.ancestors(call)):
        return True
    kept = re.compile(_GETS[library])
    given = call.args[0].value
    if kept.search(module.tree.text(given)):
        return True
    root = _root(given)
    if root is None:
        return False
    found = _bound(module, root)
    if any(map(kept.search, found)):
        return True
    function = module.enclosing_function(call)
    name = function.name.value if isinstance(function, cst.FunctionDef) else ""
    told = " ".join((name, dotted(root) or "", *found))
    return not _LOADS.search(told) and kept.search(module.source.text) is not None


def takes_from(module: Module, call: cst.Call) -> str | None:
    """The library from whose global generator a call takes its state or a number."""
    owner, _, last = called(module, call).rpartition(".")
    if owner == "random":
        return "random" if last == "getstate" or last in RANDOM else None
    if owner == "numpy.random":
        return "numpy" if last == "get_state" or last in NUMPY else None
    return "torch" if owner == "torch" and last in {"initial_seed", *TORCH} else None


def _forks(module: Module, node: cst.CSTNode) -> bool:
    """``with torch.random.fork_rng():``, after which all is as before."""
    return isinstance(node, cst.With) and any(
        "fork_rng" in module.tree.text(each.item) for each in node.items
    )


def _root(given: cst.BaseExpression) -> cst.BaseExpression | None:
    """``self.state`` of ``self.state["cpu"].to("cpu")``."""
    while True:
        if isinstance(given, cst.Subscript):
            given = given.value
        elif isinstance(given, cst.Call) and isinstance(given.func, cst.Attribute):
            given = given.func.value
        else:
            return given if dotted(given) else None


def _bound(module: Module, root: cst.BaseExpression) -> list[str]:
    """The text of what a place is bound to: of a name in its scope, of another in the file."""
    if isinstance(root, cst.Name):
        values = (each.node for each in module.names.visible(root))
        return [module.tree.text(each) for each in values if isinstance(each, cst.BaseExpression)]
    name = re.escape((dotted(root) or "").rpartition(".")[2])
    bound = rf"\.{name}\b(?:\[[^\]\n]*\])?[^=\n()]*=(?!=)(.*)"
    return re.findall(bound, module.source.text)


def is_set_apart(module: Module, call: cst.Call, library: str, *, draws: bool = False) -> bool:
    """Whether a call stands where a generator is seeded for a few lines only, after which its
    state is put back; what draws needs such a seed before it."""
    if library not in _GETS:
        return False
    if library == "torch" and "fork_rng" in module.source.text:
        forks = [each for each in module.ancestors(call) if _forks(module, each)]
        if forks:
            return not draws or _SEEDING.search(module.tree.text(forks[0])) is not None
    if not re.search(_GETS[library], module.source.text):
        return False
    below: cst.CSTNode = call
    for above in module.ancestors(call):
        if isinstance(above, (cst.IndentedBlock, cst.Module)):
            place = next(at for at, each in enumerate(above.body) if each is below)
            if _is_between(module, above.body, place, library, draws=draws):
                return True
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return False
        below = above
    return False


def _is_between(
    module: Module, lines: Sequence[cst.CSTNode], place: int, library: str, *, draws: bool
) -> bool:
    texts = [module.tree.text(each) for each in lines]
    keeps = re.compile(rf"^[ \t]*([\w.]+)\s*=\s*[\w.]*{_GETS[library]}", re.MULTILINE)
    for at, text in enumerate(texts[: place + 1]):
        kept = keeps.search(text)
        if kept is None:
            continue
        back = re.compile(rf"\b{_SETTER[library]}\(\s*{re.escape(kept[1])}\b")
        last = next((n for n in range(place, len(texts)) if back.search(texts[n])), None)
        if last is not None and not any(map(_YIELDS.search, texts[at : last + 1])):
            return not draws or any(map(_SEEDING.search, texts[at : place + 1]))
    return False
