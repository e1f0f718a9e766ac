"""What a stream can show: colour, links, how wide it is, and a progress bar."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

# Terminals that open links (OSC 8), by the variables that they set; others may print the address.
_OPENING = {
    "TERM_PROGRAM": ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio"),
    "TERM": ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"),
}
_OPENING_IF_SET = ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_OPENING_VTE = 5000  # GNOME's, as MMmm of 0.50: its first release with links
_NARROWEST = 40
_LOGGED = ("CI", "PRE_COMMIT")  # set by nearly all CI services, and by pre-commit for its hooks
# It is worth its import, and a person's glance, from about this many files.
_LONG = 200


class Screen(NamedTuple):
    """``width``: in columns, 0 where lines may be of any length."""

    colour: bool = False
    links: bool = False
    width: int = 0


def screen_of(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Screen:
    """That of a stream. ``NO_COLOR`` and ``FORCE_COLOR`` decide over what it is."""
    terminal = stream.isatty()
    return Screen(
        colour=colours(terminal, environment),
        links=terminal and _opens_links(environment),
        width=_width(stream, environment) if terminal else 0,
    )


def is_read(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a person reads what a stream is given, in a terminal or in the log of a CI job or of
    a hook, rather than a program."""
    return stream.isatty() or any(environment.get(name) for name in _LOGGED)


def colours(terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: https://no-color.org, https://force-color.org."""
    if environment.get("NO_COLOR"):
        return False
    if forced := environment.get("FORCE_COLOR"):
        return forced not in {"0", "false"}
    return terminal and environment.get("TERM") != "dumb"


def _opens_links(environment: Mapping[str, str]) -> bool:
    if forced := environment.get("FORCE_HYPERLINK"):
        return forced != "0"
    if environment.get("TERM") == "dumb" or environment.get("TMUX"):
        return False
    if any(environment.get(name) in known for name, known in _OPENING.items()):
        return True
    if any(environment.get(name) for name in _OPENING_IF_SET):
        return True
    version = environment.get("VTE_VERSION", "")
    return version.isdigit() and int(version) >= _OPENING_VTE


def _width(stream: TextIO, environment: Mapping[str, str]) -> int:
    given = environment.get("COLUMNS", "")
    if given.isdigit() and int(given):
        return max(int(given), _NARROWEST)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, _NARROWEST)
    except (OSError, ValueError):
        return 0


class Progress:
    """A bar on standard error, if that is a terminal and the work is long."""

    def __init__(self, files: int) -> None:
        self._shown = files >= _LONG and sys.stderr.isatty()

    def __enter__(self) -> Callable[[int, int], None]:
        if not self._shown:
            return lambda _done, _total: None
        from rich.console import Console
        from rich.progress import Progress as Bar

        # Its refresh thread would stand in the way of forking workers.
        self._bar = Bar(console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = self._bar.add_task("Linting", total=None)
        self._bar.start()
        return self._update

    def _update(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total, refresh=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._bar.stop()
