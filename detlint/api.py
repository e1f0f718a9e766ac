"""detlint from Python: ``detlint.lint_paths(["src"])``, ``detlint.lint_source(text)``.

What is found, and what is suppressed, is what the command line reports for the same settings.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from detlint.errors import DetlintError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from detlint.finding import Finding

__all__ = ["InternalError", "lint_paths", "lint_source"]


class InternalError(DetlintError):
    """Linting failed at a file by a fault of detlint's own; the text holds the traceback."""


def lint_paths(  # noqa: PLR0913 - the options of a run
    paths: Iterable[str | os.PathLike[str]],
    *,
    config: str | os.PathLike[str] | None = None,
    isolated: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    min_confidence: str = "",
    baseline: bool = True,
    jobs: int = 1,
) -> list[Finding]:
    """What is found in files and folders, in order of path and place.

    config          a file to read instead of the nearest ``pyproject.toml`` or ``detlint.toml``
    isolated        read no configuration
    select, ignore  codes or their beginnings, as on the command line
    min_confidence  "possible", "likely" or "certain"; "" for what the configuration says
    baseline        leave out what the project's baseline knows
    jobs            processes

    Raises SettingsError, UsageError (a path that does not exist, a code that is not known),
    BaselineError and InternalError, all of them DetlintError.
    """
    from detlint.cli import parts
    from detlint.cli.report import decoded

    given = [os.fspath(each) for each in paths]
    options = _options(select, ignore, min_confidence, jobs, baseline=baseline)
    options.paths, options.isolated = given, isolated
    options.config = None if config is None else os.fspath(config)
    found: list[Finding] = []
    for part in parts.found(options, warn=lambda text: warnings.warn(text, stacklevel=3)):
        linted = part.lint(options)
        for path, failure in linted.failures.items():
            raise InternalError(f"{path}: {failure}")
        new = part.novelty(options, linted.findings)
        found += new.of(linted.findings, decoded)
    return sorted(found, key=lambda each: each[:6])


def lint_source(
    text: str | bytes,
    path: str | os.PathLike[str] = "<source>.py",
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    min_confidence: str = "",
) -> list[Finding]:
    """What is found in a source that is no file, or not yet: an editor's buffer, a string.

    ``path`` says what kind of source it is, which configuration holds for it, and of which project
    it is a part; it need not exist. Raises as `lint_paths` does.
    """
    from detlint.cli import parts

    name = os.fspath(path)
    options = _options(select, ignore, min_confidence, 1, baseline=False)
    options.paths = [name]
    part = parts.Part(options, parts.settings_of(options, name), [name])
    return part.lint_bytes(name, text.encode() if isinstance(text, str) else text)


def _options(
    select: Sequence[str], ignore: Sequence[str], min_confidence: str, jobs: int, *, baseline: bool
) -> argparse.Namespace:
    from detlint.cli.arguments import parse

    options = parse(["--no-cache", f"--jobs={jobs}"])
    options.select = list(select) or None
    options.ignore = list(ignore) or None
    options.min_confidence = min_confidence or None
    options.no_baseline = not baseline
    return options
