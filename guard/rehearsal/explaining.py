"""``--explain OP``: all that the tables hold of an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.switched_operations import SWITCHED, Switched
from guard.allowance import allowed
from guard.errors import SettingsError
from guard.translation import explain_operation, render

if TYPE_CHECKING:
    from collections.abc import Iterator


def explanation(name: str) -> str:
    """What is known of an operator, under any of its names. Raises SettingsError for none."""
    switched = [each for each in SWITCHED if name in _names(each)]
    try:
        rows = sorted(allowed([name]), key=lambda row: row.name)
    except SettingsError as error:
        if not switched:
            text = str(error).partition("; ")
            raise SettingsError(
                f"explain: no operator of the tables is called {name!r}{text[1]}{text[2]}"
            ) from None
        rows = []
    parts = [f"{render(explain_operation(row), None)}\n  source:      {row.source}" for row in rows]
    parts += [_switched(each) for each in switched]
    return "\n\n".join(parts) + "\n"


def _names(row: Switched) -> Iterator[str]:
    for overload in row.overloads:
        yield from (overload, overload.partition("::")[2])
    for form in (row.name, *(form for usage in row.usages for form in usage.forms)):
        yield from (form, form.rpartition(".")[2])


def _switched(row: Switched) -> str:
    what = f"The backward of {row.name}" if row.direction == "backward" else row.name
    return (
        f"{what} is deterministic under torch.use_deterministic_algorithms(True).\n"
        f"  why:         by default it {row.reason}"
    )
