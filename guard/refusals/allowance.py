"""Names of operators that are let through, looked up in the table."""

from __future__ import annotations

import difflib
from functools import cache
from typing import TYPE_CHECKING

from detlint.operations import OPERATIONS, Operation
from detlint.operations.extensions import REPLACED
from guard.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable


def allowed(names: Iterable[str], *, setting: str = "allow") -> frozenset[Operation]:
    """The rows that the names stand for. Raises SettingsError for one that is none, and lists
    near ones; ``setting`` is what gave the names.

    A name is the operator's, with or without ``aten::``, the public function's or module's,
    with or without its path, the text of torch's refusal, or the autograd node's. Those of
    extensions can be repaired, and not allowed.
    """
    return frozenset(row for name in names for row in _rows(name, setting))


def _rows(name: str, setting: str) -> tuple[Operation, ...]:
    known = _known((*OPERATIONS, *REPLACED) if setting == "repair" else OPERATIONS)
    found = known.get(name)
    if found is None:
        near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
        hint = f"; near ones: {', '.join(near)}" if near else ""
        raise SettingsError(f"{setting}: no operator of the table is called {name!r}{hint}")
    return tuple(found)


@cache
def _known(rows: tuple[Operation, ...]) -> dict[str, list[Operation]]:
    names: dict[str, list[Operation]] = {}
    for row in rows:
        for name in dict.fromkeys(row.names()):
            names.setdefault(name, []).append(row)
    return names
