"""``%load_ext guard``: the magic ``%guard``, and errors that are explained in notebooks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from guard.errors import GuardError, SettingsError
from guard.refusals.translation import explained_error
from guard.settings import seed_given
from guard.setup import activation

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypeAlias

    Shell: TypeAlias = Any  # an InteractiveShell, of a terminal or a notebook
    Raised: TypeAlias = tuple[
        type[BaseException] | None, BaseException | None, TracebackType | None
    ]

_USAGE = "%guard shows whether guard is on; %guard on [seed] begins from the seed; %guard off"


class _Status(str):
    """A text that a cell shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Explaining:
    """The shell's ``showtraceback``, given our error where there is one."""

    def __init__(self, show: Any) -> None:  # noqa: ANN401 - a method, or another extension's
        self.show = show

    def __call__(self, exc_tuple: Raised | None = None, *args: Any, **kwargs: Any) -> None:
        self.show(_explained(exc_tuple or sys.exc_info()), *args, **kwargs)


def load_ipython_extension(shell: Shell) -> None:
    """Add the magic ``%guard``, and explain what torch refuses in a cell."""
    shell.register_magic_function(_magic, "line", "guard")
    if not isinstance(shell.showtraceback, _Explaining):
        shell.showtraceback = _Explaining(shell.showtraceback)


def unload_ipython_extension(shell: Shell) -> None:
    """Take the magic and the explanations away. Guard stays on, if it is."""
    shell.magics_manager.magics["line"].pop("guard", None)
    if isinstance(shell.showtraceback, _Explaining):
        shell.showtraceback = shell.showtraceback.show


def _magic(line: str) -> _Status:
    """Show whether guard is on; `%guard on [seed]` begins from the seed; `%guard off`."""
    from IPython.core.error import UsageError

    try:
        return _obey(*line.split())
    except GuardError as error:
        raise UsageError(str(error)) from error


def _obey(command: str = "", seed: str | None = None, *more: str) -> _Status:
    if more or command not in ("", "on", "off") or (seed is not None and command != "on"):
        raise SettingsError(_USAGE)
    if command:
        activation.disable()
    if command == "on":
        activation.enable(seed=seed_given(seed))
    settings = activation.active()
    return _Status("guard is off" if settings is None else f"guard is on: {settings}")


def _explained(raised: Raised) -> Raised:
    """Our error, with the one that was raised as its cause, if that is a refusal."""
    ours = explained_error(raised[1])
    return raised if ours is None else (type(ours), ours, raised[2])
