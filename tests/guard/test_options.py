"""What the commands share: options that mean the same in each, and exit statuses."""

from __future__ import annotations

import argparse
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from guard.__main__ import _COMMANDS, main
from guard.commands.options import SEED, at_least, parsed, with_hint

if TYPE_CHECKING:
    from pathlib import Path


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


PROGRAMS = {
    "run": [],
    "verify": [],
    "preflight": [],
    "record": ["--out", "run"],
    "spread": ["--metric", "loss"],
}
EACH = pytest.mark.parametrize("command", PROGRAMS)


@EACH
def test_all_that_follows_the_program_is_its_own(command: str) -> None:
    rest = ["--", "--seed", "-m", "--", "--help"]
    for dashes in ([], ["--"]):
        given = [*PROGRAMS[command], *dashes, "train.py", *rest]
        options = parsed(import_module(_COMMANDS[command])._parser(), given)
        assert (options.program, options.arguments) == ("train.py", rest)


@EACH
def test_a_notebook_is_refused_with_what_to_do(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "x.ipynb"
    book.write_text('{"cells": null}')
    assert main([command, *PROGRAMS[command], str(book)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"guard {command}: {str(book)!r} is a notebook")
    assert f"jupyter nbconvert --to script {book}" in told


@pytest.mark.parametrize("command", ["verify", "preflight", "spread"])
@pytest.mark.parametrize(
    ("text", "said"),
    [("x = 1\ndef f(:\n", ", line 2: SyntaxError: invalid syntax"), ("x\0", "null bytes")],
)
def test_a_program_that_does_not_compile_is_told_before_anything_runs(
    text: str, said: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert main([command, *PROGRAMS[command], str(script)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"guard {command}: {script}")
    assert said in err


def hint(script: Path, end: int | None, *arguments: str) -> None:
    options = parsed(import_module(_COMMANDS["verify"])._parser(), [str(script), *arguments])
    with suppress(SystemExit), with_hint(options, "verify"):
        if end is not None:
            raise SystemExit(end)


@pytest.mark.parametrize(("option", "end"), [("--until", None), ("--resume-at=3", 2)])
def test_an_option_of_the_command_behind_the_program_is_told(
    option: str, end: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import argparse")
    hint(script, end, option, "3")
    name = option.partition("=")[0]
    told = f"guard verify: {name} stands behind {script}, so that the program was given it. As an "
    told += f"option of guard verify it stands before: python -m guard verify {name} ... {script}\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("option", "text", "end"),
    [
        ("--until", "it failed for another reason", 1),
        ("--until", "print(sys.argv)", None),
        ("--until", "add('--until')", None),
        ("--resume-at", "args.resume_at", 2),
        ("--epochs", "", 2),
    ],
)
def test_what_may_be_the_programs_is_not_told(
    option: str, text: str, end: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    hint(script, end, option, "3")
    assert capsys.readouterr().err == ""


def test_nothing_is_told_of_a_program_whose_text_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = parsed(import_module(_COMMANDS["run"])._parser(), ["-m", "guard", "--strict"])
    with with_hint(options, "run"):
        pass
    assert options.behind == ["--strict"]
    assert capsys.readouterr().err == ""


def test_an_interruption_before_the_program_has_begun_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("guard.commands.run._given", interrupted)
    assert main(["run", "train.py"]) == 130
    assert capsys.readouterr().err == "guard run: interrupted\n"
    monkeypatch.setattr("guard.__main__._parsed", interrupted)  # imports what parses
    assert main(["run", "train.py"]) == 130
    assert capsys.readouterr().err == "guard: interrupted\n"
