"""Calls that apply a function to each element: ``pool.map(convert, paths)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.call_names import ordered_words
from detlint.analysis.conditions import call_word
from detlint.analysis.task_rows import varying_places
from detlint.analysis.uses import words
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption

# Where a further argument is another iterable, both are paired by place.
_APPLYING = words("imap imap_unordered map map_async process_map thread_map")
_APPLYING_ONE = words("track_parallel_progress track_progress")
_SPREADING = words("starmap starmap_async")


def treats_each_alone(consumption: Consumption, arg: cst.Arg, call: cst.Call, word: str) -> bool:
    """Whether a call does to each element what has no order; its result has that of the argument.

    A function that cannot be seen is judged by its name, as in the body of a loop.
    """
    dropped = isinstance(consumption.module.parent(call), cst.Expr)
    if _runs_jobs(arg, call, dropped=dropped):
        return True
    places = [each for each in call.args if each.keyword is None and not each.star]
    if word in _SPREADING and places[1:2] == [arg]:
        varying = varying_places(consumption, arg.value)
        return consumption.functions.depend_at(places[0].value, varying) is False
    alone = word in _APPLYING_ONE or (word in _APPLYING and len(places) == 2)
    if not alone or places[1:2] != [arg]:
        return False
    function = places[0].value
    bound: list[cst.Arg] = []
    if isinstance(function, cst.Call):
        if consumption.module.called(function) != "functools.partial" or not function.args:
            return False
        bound += function.args[1:]
        function = function.args[0].value
    judged = consumption.functions.depend_when_applied(function, bound)
    if judged is None:
        name = (dotted(function) or "").rpartition(".")[2]
        return bool(name) and not ordered_words(name, dropped=dropped)
    return not judged


def _runs_jobs(arg: cst.Arg, call: cst.Call, *, dropped: bool) -> bool:
    """``Parallel(n_jobs=8)(delayed(convert)(path) for path in paths)``: results in that order."""
    made = arg.value.elt if isinstance(arg.value, (cst.GeneratorExp, cst.ListComp)) else None
    job = made.func if isinstance(made, cst.Call) else None
    if not isinstance(call.func, cst.Call) or not isinstance(job, cst.Call) or not job.args:
        return False
    if call_word(call.func) != "Parallel" or call_word(job) != "delayed":
        return False
    name = (dotted(job.args[0].value) or "").rpartition(".")[2]
    return bool(name) and not ordered_words(name, dropped=dropped)
