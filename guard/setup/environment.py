"""The environment variables of ``guard.setup.variables``: set, put back, and judged."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import LateWarning, SettingsError, TooLateError
from guard.setup.variables import VARIABLES, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from guard.settings import Settings

__all__ = ["VARIABLES", "Variable", "Verdict", "applied", "check", "claim", "verdicts"]

_BETWEEN = (
    os.path.join(os.path.dirname(os.path.dirname(__file__)), ""),  # all of guard
    contextmanager.__code__.co_filename,
)

_set_by_guard: dict[str, str] = {}  # name to value
_set_late: set[str] = set()
_told: set[str] = set()  # nothing changes about it while the process runs, so it is told once


class Verdict(NamedTuple):
    """How a variable stands."""

    name: str
    value: str | None  # what it holds, or None
    wanted: str  # what guard gives it where the user gave nothing
    state: str  # "set by guard", "set by user", "missing", "too late", "invalid", "not applicable"
    meaning: str  # what that means, in a line


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Set each variable that matters here and has no value, and put back what was there.

    Raises SettingsError for a value that is not legal, and TooLateError where what reads a
    variable has done so and the results would differ without a sign; LateWarning tells the
    rest. Nothing is set then.
    """
    del settings  # no setting concerns it
    check(os.environ)
    matters = [row for row in VARIABLES if row.applies(os.environ)]
    late = [row for row in matters if row.is_late(os.environ.get(row.name, ""))]
    _tell(late)
    found = {}
    try:
        for row in matters:
            value = os.environ.get(row.name)
            if not value or row.judge(value) is None:
                found[row.name] = value
                _set(row, value)
        _set_late.update(row.name for row in late)
        yield
    finally:
        for name, value in found.items():
            _restore(name, value)
        _set_late.difference_update(found)


def _set(row: Variable, value: str | None) -> None:
    os.environ[row.name] = f"{value} {row.wanted}" if value else row.wanted
    _set_by_guard[row.name] = os.environ[row.name]


def _restore(name: str, value: str | None) -> None:
    _set_by_guard.pop(name, None)
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def check(environ: Mapping[str, str]) -> None:
    """Raise SettingsError, which names the legal values, if a variable has another one."""
    wrong = [row for row in VARIABLES if _is_wrong(row, environ) and row.applies(environ)]
    if wrong:
        raise SettingsError("; ".join(_complaint(row, environ) for row in wrong))


def _is_wrong(row: Variable, environ: Mapping[str, str]) -> bool:
    value = environ.get(row.name)
    return bool(value) and row.judge(value or "") is False


def _complaint(row: Variable, environ: Mapping[str, str]) -> str:
    return (
        f"{row.name} is {environ[row.name]!r}, with which runs may differ. Legal: {row.legal}. "
        f"Left out, guard sets it to {row.wanted}"
    )


def _tell(late: list[Variable]) -> None:
    refused = {row.late: row.name for row in late if row.refuses}
    if refused:
        raise TooLateError("; ".join(refused))
    for row in late:
        if row.warns and row.name not in _told:
            warnings.warn(row.late, LateWarning, stacklevel=_level_of_user())
            _told.add(row.name)


def warn_of(name: str) -> None:
    """Warn that a variable comes too late, for whoever was told to set it."""
    row = next(each for each in VARIABLES if each.name == name)
    if name not in _told:
        warnings.warn(row.late, LateWarning, stacklevel=2)
        _told.add(name)


def _level_of_user() -> int:
    """How far up the stack, seen from the caller, the code is that switched guard on."""
    frame, level = sys._getframe(1), 1  # noqa: SLF001 - as warnings does
    while frame.f_back and frame.f_code.co_filename.startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    return level


def given(name: str) -> str | None:
    """The value that the user gave a variable; None where there is none but guard's."""
    return None if name in _set_by_guard else os.environ.get(name)


def claim(name: str) -> None:
    """Say that guard gave the variable its value before this process started."""
    if value := os.environ.get(name):
        _set_by_guard[name] = value


def verdicts(environ: Mapping[str, str] = os.environ) -> tuple[Verdict, ...]:
    """How each variable stands, in the order of the table. Sets nothing, and starts nothing."""
    return tuple(_verdict(row, environ) for row in VARIABLES)


def _verdict(row: Variable, environ: Mapping[str, str]) -> Verdict:
    value = environ.get(row.name)
    state = _state(row, environ)
    meaning = {
        "missing": f"guard.enable sets it to {row.wanted}: {row.why}",
        "too late": row.late,
        "invalid": _complaint(row, environ) if value else "",
        "not applicable": f"matters {row.when} only",
    }.get(state, row.why)
    return Verdict(row.name, value, row.wanted, state, meaning)


def _state(row: Variable, environ: Mapping[str, str]) -> str:
    value = environ.get(row.name) or ""
    if not row.applies(environ):
        return "not applicable"
    if _is_wrong(row, environ):
        return "invalid"
    if row.name in _set_late or row.is_late(value):
        return "too late"
    if not value or row.judge(value) is None:
        return "missing"
    return "set by guard" if _set_by_guard.get(row.name) == value else "set by user"
