"""Tasks that a pool works on for what they leave in files: ``pool.starmap(convert, tasks)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.conditions import call_word
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption

_APPLYING = words(
    """imap imap_unordered map map_async parallel_processes parallel_threads process_map starmap
    starmap_async thread_map"""
)


class _Tasks(NamedTuple):
    """A list with one task for each element, or for each slice of the elements.

    node    the list
    places  where in a task its element stands; empty where the task is the element
    part    whether a task holds a slice, not one element
    """

    node: cst.CSTNode
    places: frozenset[int] = frozenset()
    part: bool = False


def slices_only_worked_on(consumption: Consumption, piece: cst.Subscript) -> bool:
    """Whether ``[names[i : i + n] for i in range(0, len(names), n)]`` is for a pool's worker
    that treats each name alone, and whose results are dropped."""
    made = consumption.module.parent(piece)
    if not isinstance(made, cst.ListComp) or not _cuts_all(consumption, piece, made.for_in):
        return False
    return _ends_in_pool(consumption, _Tasks(made, part=True))


def only_worked_on(consumption: Consumption, made: cst.ListComp, names: set[str]) -> bool:
    """Whether ``[(name, target) for name in names]`` is; ``names`` are those of the element."""
    if not isinstance(made.elt, cst.Tuple):
        return False
    places = [
        place
        for place, each in enumerate(made.elt.elements)
        if not names.isdisjoint(x.value for x in consumption.reads.variables(each))
    ]
    return _ends_in_pool(consumption, _Tasks(made, frozenset(places)))


def _cuts_all(consumption: Consumption, piece: cst.Subscript, clause: cst.CompFor) -> bool:
    """Whether slices follow each other without a gap."""
    cut, call = piece.slice[0].slice, clause.iter
    if not isinstance(call, cst.Call) or consumption.module.called(call) != "builtins.range":
        return False
    if len(call.args) != len(("start", "stop", "step")) or not isinstance(cut, cst.Slice):
        return False
    upper, step = cut.upper, call.args[2].value
    if not isinstance(upper, cst.BinaryOperation) or cut.lower is None or clause.ifs:
        return False
    sides = upper.left.deep_equals(clause.target), upper.right.deep_equals(step)
    return cut.lower.deep_equals(clause.target) and cut.step is None and all(sides)


def _ends_in_pool(consumption: Consumption, tasks: _Tasks) -> bool:
    found = list(_places(consumption, tasks.node))
    judged = [_is_worked_on(consumption, tasks._replace(node=each)) for each in found]
    return any(judged) and None not in judged


def _places(consumption: Consumption, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Where a list is used: the reads of the local that holds it."""
    statement = consumption.module.parent(node)
    if not isinstance(statement, cst.Assign):
        yield node
        return
    for each in statement.targets:
        name = each.target
        home = consumption.reads.home(name) if isinstance(name, cst.Name) else None
        if isinstance(name, cst.Name) and home is not None and _is_local(home.node):
            yield from consumption.reads.reached(name, statement)
        else:
            yield node


def _is_local(scope: cst.CSTNode) -> bool:
    return isinstance(scope, cst.FunctionDef)


def _is_worked_on(consumption: Consumption, tasks: _Tasks) -> bool | None:
    """Whether a pool works on the tasks; None where their order may show."""
    module, node = consumption.module, tasks.node
    above = module.parent(node)
    if consumption.conditions.is_diagnostic(node):
        return False
    if isinstance(above, cst.CompFor) and above.iter is node:
        return _is_handed_on(consumption, above, tasks)
    call = module.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return None
    if module.called(call) == "builtins.len":
        return False
    dropped = isinstance(module.parent(call), cst.Expr)
    if not dropped or call_word(call) not in _APPLYING or list(call.args[1:2]) != [above]:
        return None
    return _works_alone(consumption, call, tasks) or None


def _is_handed_on(consumption: Consumption, clause: cst.CompFor, tasks: _Tasks) -> bool | None:
    """``[(part, target) for part in parts]``."""
    made = consumption.module.parent(clause)
    element = made.elt if isinstance(made, cst.ListComp) else None
    if made is None or tasks.places or clause.ifs or clause.inner_for_in is not None:
        return None
    places = [
        place
        for place, each in enumerate(getattr(element, "elements", ()))
        if each.value.deep_equals(clause.target)
    ]
    if len(places) != 1 or not isinstance(element, cst.Tuple):
        return None
    return _ends_in_pool(consumption, _Tasks(made, frozenset(places), tasks.part)) or None


def _works_alone(consumption: Consumption, call: cst.Call, tasks: _Tasks) -> bool:
    """Whether the worker does with its element, or with each of its part, what has no order."""
    told = consumption.module.literal(consumption.module.argument(call, "star_args"))
    unpacks = call_word(call).startswith("starmap") or told is True
    if unpacks is not bool(tasks.places):
        return False
    functions, worker = consumption.functions, call.args[0].value
    if tasks.part:
        return functions.ignore_order_at(worker, tasks.places or {0})
    return functions.depend_at(worker, tasks.places or {0}) is False
