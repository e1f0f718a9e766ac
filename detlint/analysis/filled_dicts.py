"""Dicts of which all keys are there from the start, and a loop fills the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption
    from detlint.analysis.reaching import Store


def is_filled_at(consumption: Consumption, name: cst.Name, loop: cst.For) -> bool:
    """Whether a loop knows a local dict by the value at the loop's own variable alone."""
    module, reads = consumption.module, consumption.reads
    function, scope = module.enclosing_function(loop), reads.home(name)
    made = _made_before(consumption, name, loop)
    if function is None or scope is None or scope.node is not function or made is None:
        return False
    outer = list(module.ancestors(made.statement))
    around = [each for each in (loop, *module.ancestors(loop)) if each not in outer]
    loops = [each for each in around if isinstance(each, (cst.For, cst.While))]
    start, end = made.end, reads.end(loops[-1].body)
    loads, stores = reads.loads(name), reads.stores(name)
    mentions = [*loads, *(each.statement for each in stores)]
    if any(start < each.end <= end for each in stores):
        return False
    if any(module.enclosing_function(each) is not function for each in mentions):
        return False
    inside = [each for each in loads if start < reads.place(each) <= end]
    return all(_is_at_key(consumption, each, loop) for each in inside)


def _made_before(consumption: Consumption, name: cst.Name, loop: cst.For) -> Store | None:
    """The assignment of a dict with fixed keys that the loop is sure to see."""
    reads = consumption.reads
    before = [each for each in reads.stores(name) if each.end < reads.place(loop)]
    made = max(before, key=lambda store: store.end, default=None)
    if made is None or not _has_fixed_keys(made.statement):
        return None
    return made if reads.dominates(made.statement, loop) else None


def _is_at_key(consumption: Consumption, load: cst.Name, loop: cst.For) -> bool:
    """``d[key]``, ``key in d``."""
    module = consumption.module
    slot = module.parent(load)
    if loop.body not in module.ancestors(load):
        return False
    if isinstance(slot, cst.ComparisonTarget):
        return isinstance(slot.operator, (cst.In, cst.NotIn))
    if not isinstance(slot, cst.Subscript) or slot.value is not load or len(slot.slice) > 1:
        return False
    stored = isinstance(module.parent(slot), (cst.AssignTarget, cst.Del))
    index = slot.slice[0].slice
    return not stored and isinstance(index, cst.Index) and index.value.deep_equals(loop.target)


def _has_fixed_keys(statement: cst.CSTNode) -> bool:
    """``d = {"train": [], "test": []}``, ``d = {kind: [] for kind in ("train", "test")}``."""
    if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
        return False
    made = statement.value
    keys: list[cst.CSTNode | None] = []
    if isinstance(made, cst.DictComp):
        source, values = made.for_in.iter, [made.value]
        if isinstance(source, (cst.List, cst.Tuple)):
            keys += (each.value for each in source.elements)
    elif isinstance(made, cst.Dict):
        values = [each.value for each in made.elements]
        keys += (getattr(each, "key", None) for each in made.elements)
    constant, new = (cst.SimpleString, cst.Integer), (cst.List, cst.Integer, cst.Float)
    fixed = bool(keys) and all(isinstance(each, constant) for each in keys)
    return fixed and all(isinstance(each, new) for each in values)
