"""What the commands share: options that mean the same in each, and exit statuses."""

from __future__ import annotations

import argparse
from importlib import import_module

import pytest

from guard.__main__ import _COMMANDS
from guard.commands.options import SEED, at_least


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        import_module(_COMMANDS[command]).main(["--help"])
    assert ended.value.code == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["run", "verify"])
def test_a_seed_means_the_same(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"--seed N {SEED}" in help_of(command, capsys)


@pytest.mark.parametrize("command", ["record", "preflight", "spread", "compare", "doctor"])
def test_no_other_command_has_an_option_of_that_name(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = help_of(command, capsys).partition("options:")[2]
    assert "--seed N" not in options


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("verify", "1 if they differ"),
        ("compare", "1 if they differ"),
        ("preflight", "1 if something was that raises, or by which runs differ"),
        ("doctor", "1 with --strict if something differs"),
    ],
)
def test_status_1_says_that_runs_differ_or_would(
    command: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in help_of(command, capsys).partition("exit status: 0")[2]


@pytest.mark.parametrize("command", ["run", "record", "spread"])
def test_the_others_never_end_with_1_by_themselves(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = help_of(command, capsys).partition("exit status: ")[2]
    assert "1" not in status
    assert "2" in status


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "", "²"])
def test_a_number_is_refused_with_what_is_legal(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a whole number from 1 on"):
        at_least(1)(text)
    assert at_least(1)("7") == 7
