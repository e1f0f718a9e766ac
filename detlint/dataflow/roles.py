"""What code is for, where that says that it trains nothing, as its values tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import file_roles
from detlint.dataflow import expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit


def is_doubted(unit: Unit, call: Op, roles: Iterable[str]) -> bool:
    """Whether code around a call has one of some roles."""
    return any(_ROLES[each](unit, call) for each in roles)


def _is_tested(unit: Unit, call: Op) -> bool:
    if file_roles.imports_testing(unit.text):
        return True
    owner = call.function.class_name
    if owner and any(each.endswith("TestCase") for each in unit.bases(owner)):
        return True
    return any(
        each.name.rpartition(".")[2].startswith("test_") and not each.params
        for each in _around(call.function)
    )


def _around(function: Function | None) -> Iterator[Function]:
    while function is not None:
        yield function
        function = function.outer


def _packs(unit: Unit, _: Op) -> bool:
    return file_roles.packs(unit.text)


def _lists_machine(unit: Unit, call: Op) -> bool:
    return expected.is_installed(unit.values, call)


def _lists_sources(unit: Unit, call: Op) -> bool:
    return file_roles.are_sources(_texts(call), unit.text)


def _renumbers(unit: Unit, call: Op) -> bool:
    return "weight_map" in unit.text and file_roles.are_shards(_texts(call))


def _draws(unit: Unit, _: Op) -> bool:
    return file_roles.draws(unit.text)


_ROLES: dict[str, Callable[[Unit, Op], bool]] = {
    "test": _is_tested,
    "packaging": _packs,
    "machine": _lists_machine,
    "compiling": _lists_sources,
    "resharding": _renumbers,
    "plotting": _draws,
}


def _texts(call: Op) -> list[str]:
    """The texts that are written in a call, and in the conditions of a clause around it."""
    pending = list(call.args[1:])
    for use in call.uses:
        if use.code == "iter" and use.name == "comprehension":
            pending += use.region.conditions()
    found, seen = [], set()
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            if each.code == "const" and isinstance(each.name, str):
                found.append(each.name)
            pending += [x for x in each.args if x is not call]
    return found
