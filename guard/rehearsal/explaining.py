"""``--explain OP``: all that the tables hold of an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from detlint.switched_operations import SWITCHED, Switched
from guard.dependencies import in_force
from guard.errors import SettingsError
from guard.refusals.allowance import allowed
from guard.refusals.translation import explain_operation, render
from guard.rehearsal.verdicts import COMPILED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.operations import Operation

_NOTHING = "nothing is known against it; what holds for others follows"
_COUNTED = "preflight counts it as deterministic"


def explanation(name: str) -> str:
    """What is known of an operator, under any of its names. Raises SettingsError for none."""
    switched = [each for each in SWITCHED if name in _names(each)]
    try:
        rows = sorted(allowed([name], setting="repair"), key=lambda row: row.name)
    except SettingsError as error:
        if not switched and _is_of_torch(name):
            return f"torch {torch.__version__}: nothing is known against {name}; {_COUNTED}\n"
        if not switched:
            text = str(error).partition("; ")
            raise SettingsError(
                f"explain: no operator of the tables is called {name!r}{text[1]}{text[2]}"
            ) from None
        rows = []
    every: list[Operation | Switched] = [*switched, *rows]
    here = [each for each in every if in_force(each)]
    here.sort(key=lambda row: row.name == COMPILED)  # what holds without a compiler comes first
    others = [each for each in every if each not in here]
    parts = [_of_torch(each) for each in here] or [f"torch {torch.__version__}: {_NOTHING}"]
    parts += [f"Not of this torch ({_releases(each)}):\n{_shown(each)}" for each in others]
    return "\n\n".join(parts) + "\n"


def _is_of_torch(name: str) -> bool:
    short = name.removeprefix("torch.").removeprefix("nn.functional.").removeprefix("aten::")
    owners = (torch, torch.nn.functional, torch.Tensor, torch.ops.aten)
    return any(callable(getattr(each, short, None)) for each in owners)


def _of_torch(row: Operation | Switched) -> str:
    return f"torch {torch.__version__}: {_shown(row)}"


def _shown(row: Operation | Switched) -> str:
    if isinstance(row, Switched):
        return _switched(row)
    return f"{render(explain_operation(row), None)}\n  source:      {row.source}"


def _releases(row: Operation | Switched) -> str:
    since = f"{row.since} and newer" if row.since else ""
    until = f"before {row.until}" if row.until else ""
    return ", ".join(each for each in (since, until) if each)


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
