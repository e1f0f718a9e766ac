"""What runs as an experiment, which seeds all generators before, and where that gets its seed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.inference import decorators
from detlint.dataflow.slices import behind
from detlint.index.facts import IN_FILE
from detlint.models import experiments as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op

_GIVEN = (rows.GIVEN, rows.GIVEN_SEED)
_MOST = 50  # operations behind a seed


def runner(function: Function) -> str:
    """The decorator by which an experiment runs a function, as it is written; "" of none."""
    for each in decorators(function):
        if each.code == "attr" and each.name in rows.RUNS and _is_of_experiment(each):
            return f"@{ast.unparse(each.node)}"
    return ""


def takes_seed(seeding: Op) -> bool:
    """Whether what an experiment runs seeds with the seed that its configuration has in any case:
    ``np.random.seed(_config["seed"])``."""
    if not any(each.word in _GIVEN for each in seeding.function.params.values()):
        return False
    made = list(behind(*seeding.args[1:2], most=_MOST))
    taken = {each.word for each in made if each.code == "param"}
    looked_up = any(each.code == "item" and each.args[1].text == rows.SEED for each in made)
    return rows.GIVEN_SEED in taken or (looked_up and rows.GIVEN in taken)


def _is_of_experiment(decorator: Op) -> bool:
    made = decorator.values.bound_to(decorator.args[0])
    known = made.code == "call" and not rows.CLASSES.isdisjoint(made.called)
    return known or decorator.name == rows.AUTOMAIN  # another file may make it


def seeds_given(function: Function) -> Iterator[tuple[Op, str]]:
    """Where an experiment's configuration gets a seed, or what one does not see, each with
    ``IN_FILE`` where a file has to give it."""
    for call in function.coded("call"):
        if word_of(call) == rows.ADDS:
            yield from ((call, how) for how in map(_added, call.arguments()) if how is not None)
        elif (updates := call.given(rows.UPDATES)) is not None and _may_hold(updates):
            yield call, ""
    scope = any(each.code == "attr" and each.name == rows.SCOPE for each in decorators(function))
    bound = function.bindings.get(rows.SEED, []) if scope else []
    yield from ((each, "") for each in bound if not each.is_none)


def _added(argument: tuple[str | None, Op]) -> str | None:
    """How an argument of what adds to the configuration may give a seed; None if it does not."""
    name, value = argument
    if name not in (None, "*", "**", rows.ADDED):
        return "" if name == rows.SEED and not value.is_none else None
    if isinstance(value.constant, str):
        return IN_FILE
    return "" if _may_hold(value) else None


def _may_hold(settings: Op) -> bool:
    """Whether settings may have a seed: all but those that are written out without one."""
    if settings.code != "dict":
        return True
    entries = [each.args for each in settings.args if each.code == "entry"]
    hidden = len(entries) < len(settings.args)
    return hidden or any(
        key.constant in (rows.SEED, ...) and not value.is_none for key, value in entries
    )
