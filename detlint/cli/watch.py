"""``detlint --watch PATH …``: lint again whenever a file of the project changes.

Changes are seen by asking the file system for the state of each file, a few times a second at most.
That needs no package, and works where notifications do not: on network file systems and mounts of
containers, on which much training code lies.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from detlint.cli import parts
from detlint.cli.said import counted, say, say_failed
from detlint.cli.status import CLEAN
from detlint.errors import DetlintError, UsageError
from detlint.sources.paths import relative, stamp

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    _Lint = Callable[[argparse.Namespace], int]
    _State = dict[str, tuple[int, ...]]

_PAUSE = 0.3  # seconds between two looks, as a multiple of what a look takes, and at most
_SHARE = 10
_LONGEST = 2.0
_CLEARED = "\x1b[2J\x1b[3J\x1b[H"


def check(options: argparse.Namespace) -> None:
    """Raise UsageError where there is nothing to watch, or nothing to be gained."""
    others = ("diff", "add_ignore", "no_cache")
    given = [f"--{each.replace('_', '-')}" for each in others if getattr(options, each)]
    if given:
        raise UsageError(f"--watch lints what changes, again and again: {given[0]} is not for that")
    if "-" in options.paths:
        raise UsageError("--watch takes files and folders, not standard input")


def watch(options: argparse.Namespace, arguments: Sequence[str], once: _Lint) -> int:
    """Lint at each change, by what lints ``once``, until interrupted."""
    lint = _linting(options, [each for each in arguments if each != "--watch"], once)
    known: _State | None = None
    with suppress(KeyboardInterrupt):
        while True:
            begun = time.monotonic()
            state = _state(options)
            looked = time.monotonic() - begun
            if state != known:
                _clear()
                lint()
                changed = "" if known is None else f"{_differences(known, state)}; "
                say(f"{changed}watching {counted(len(state), 'file')}, Ctrl-C ends this")
                # What changed while it was linted is seen at the next look.
                known = state
            time.sleep(min(max(_PAUSE, _SHARE * looked), _LONGEST))
    return CLEAN


def _linting(
    options: argparse.Namespace, arguments: list[str], once: _Lint
) -> Callable[[], object]:
    """What lints once, in a process of its own: nothing is left over from the time before."""
    if not hasattr(os, "fork"):
        command = [sys.executable, "-m", "detlint", *arguments]
        return partial(subprocess.run, command, check=False)

    def lint() -> None:
        child = os.fork()
        if not child:
            _lint_and_leave(options, once)
        os.waitpid(child, 0)

    return lint


def _lint_and_leave(options: argparse.Namespace, once: _Lint) -> None:
    status = CLEAN
    try:
        status = once(options)
    except DetlintError as error:  # such as a configuration that is being written
        say(*error.args)
    except KeyboardInterrupt:
        pass
    except Exception:  # noqa: BLE001 - the parent goes on
        import traceback

        say_failed(traceback.format_exc())
    finally:
        os._exit(status)


def _state(options: argparse.Namespace) -> _State:
    """The time and size of all that findings may depend on."""
    from detlint.sources.context import Context

    paths: dict[str, None] = {}
    try:
        for part in parts.found(options, lambda _: None):
            paths.update(dict.fromkeys(Context(part.paths, part.settings).files))
            paths.update(dict.fromkeys(_settings_above(part)))
    except DetlintError:
        # The configuration cannot be read, or a file has gone: a look at what is named.
        paths.update(dict.fromkeys(options.paths))
        paths.update(dict.fromkeys(("pyproject.toml", "detlint.toml", ".detlint.toml")))
    return {path: state for path in paths if (state := stamp(path))}


def _settings_above(part: parts.Part) -> Sequence[str]:
    folder = part.settings.project or part.settings.root or os.getcwd()
    names = ("pyproject.toml", "detlint.toml", ".detlint.toml", ".gitignore")
    return [os.path.join(folder, name) for name in names]


def _differences(before: _State, after: _State) -> str:
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    first = min(changed)
    shown = relative(first)
    return shown if len(changed) == 1 else f"{shown} and {len(changed) - 1} more"


def _clear() -> None:
    if sys.stdout.isatty():
        sys.stdout.write(_CLEARED)
        sys.stdout.flush()
