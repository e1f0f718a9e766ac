"""Errors that end a run, and the exit status that each one means.

DetlintError              exit 2, a line on standard error for each argument
├── UsageError            the command line names something that is not there
├── SettingsError         the configuration cannot be read or is not valid
├── BaselineError         the baseline cannot be read or written
└── OutputError           the output cannot be written; no line where nobody reads it
"""

from __future__ import annotations


class DetlintError(Exception):
    """The run cannot go on. The text is for a person and says the way out."""

    def __str__(self) -> str:
        return "\n".join(self.args)


class UsageError(DetlintError):
    """The command line asks for something that does not exist."""


class SettingsError(DetlintError):
    """A configuration file cannot be read, or holds a key or value that is not known."""


class BaselineError(DetlintError):
    """The file of known findings cannot be read or written, or holds something else."""


class OutputError(DetlintError):
    """Standard output is closed, its disk is full, or nobody reads it."""
