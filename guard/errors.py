"""What guard raises and warns of.

::

    Exception
    ├── GuardError
    │   ├── SettingsError (ValueError)                   a setting that is not one
    │   ├── TooLateError (RuntimeError)                  what had to be set has been read already
    │   ├── ReplicasDifferError (RuntimeError)           ranks that were to hold the same do not
    │   ├── SameBatchError (RuntimeError)                ranks that were to see other data do not
    │   └── MissingDependencyError (ModuleNotFoundError) torch is not installed
    └── RuntimeError
        └── NondeterministicOperationError               torch's refusal, explained
    UserWarning
    └── LateWarning                                      as TooLateError, where the run can go on
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.operations import Operation


class GuardError(Exception):
    """Anything that guard itself refuses."""


class SettingsError(GuardError, ValueError):
    """A setting that is not one; the message names the legal ones."""


class TooLateError(GuardError, RuntimeError):
    """Something that must be set earlier than here, and what to do about it."""


class MissingDependencyError(GuardError, ModuleNotFoundError):
    """A package that is not installed, and how to install it."""


class ReplicasDifferError(GuardError, RuntimeError):
    """Data-parallel ranks hold other parameters. Every rank raises it, with the same text.

    ``ranks`` are those that left the majority, ``tensor`` is the first that differs. A message
    alone makes one, as for NondeterministicOperationError.
    """

    def __init__(self, message: str, ranks: tuple[int, ...] = (), tensor: str = "") -> None:
        super().__init__(message)
        self.ranks = ranks
        self.tensor = tensor

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.ranks, self.tensor)


class SameBatchError(GuardError, RuntimeError):
    """Data-parallel ranks were given the same batch: ``ranks``. Every rank raises it."""

    def __init__(self, message: str, ranks: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.ranks = ranks

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.ranks)


class LateWarning(UserWarning):
    """Something that was set too late to have an effect in this process."""


class NondeterministicOperationError(RuntimeError):
    """An operation that has no deterministic implementation, or is set up so.

    Its text says which, where in the user's code, why, and what to do. The error of
    torch is its ``__cause__``. ``operation`` is the row of the table, if there is one.
    A message alone makes one, so that it crosses processes (``DataLoader`` workers).
    """

    def __init__(self, message: str, operation: Operation | None = None) -> None:
        super().__init__(message)
        self.operation = operation

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.operation)
