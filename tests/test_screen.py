"""Colour, links and width: what a stream is, and what the environment says of it."""

from __future__ import annotations

import io

import pytest

from detlint.cli.screen import Screen, is_read, screen_of


class Terminal(io.StringIO):
    """One of unknown width."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "environment", "colour"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "3"}, True),
        (True, {"FORCE_COLOR": "0"}, False),
        (False, {"FORCE_COLOR": ""}, False),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_colour_is_for(terminal: bool, environment: dict[str, str], colour: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert screen_of(stream, environment).colour is colour


@pytest.mark.parametrize(
    ("environment", "links"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "vscode", "TMUX": "/tmp/t"}, False),  # noqa: S108 - nothing is made there
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "6003"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"WT_SESSION": "1"}, True),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"FORCE_HYPERLINK": "0", "TERM": "xterm-kitty"}, False),
    ],
)
def test_links_are_for(environment: dict[str, str], links: bool) -> None:
    assert screen_of(Terminal(), environment).links is links
    assert screen_of(io.StringIO(), environment).links is False


def test_the_width_is_that_of_the_terminal_and_what_is_no_terminal_has_none() -> None:
    assert screen_of(Terminal(), {"COLUMNS": "100"}).width == 100
    assert screen_of(Terminal(), {"COLUMNS": "3"}).width == 40
    assert screen_of(Terminal(), {}).width == 0
    assert screen_of(io.StringIO(), {"COLUMNS": "100"}) == Screen()


def test_people_read_terminals_and_the_logs_of_ci_jobs_and_hooks() -> None:
    assert is_read(Terminal(), {})
    assert is_read(io.StringIO(), {"CI": "true"})
    assert is_read(io.StringIO(), {"PRE_COMMIT": "1"})
    assert not is_read(io.StringIO(), {"CI": ""})
