"""Shells complete by the scripts that `detlint completion` prints."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from detlint.cli import COMMANDS, main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASH = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_detlint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "source {script}\ncomplete -C {line}\n"
# zsh completes only where a line is edited: by a shell of its own behind a pseudo-terminal, in
# which what adds matches writes them down.
ZSH_INSIDE = r"""
PROMPT=
autoload -Uz compinit
compinit -D -u
source {script}
bindkey '^I' complete-word
comppostfuncs=(exit)
compadd() {{
    [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\ * ]] && {{ builtin compadd "$@"; return }}
    typeset -a found
    builtin compadd -A found "$@"
    print -rl -- $found >>{script}.found
    builtin compadd "$@"
}}
"""
ZSH = """
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'source {script}.inside'
zpty -w -n z {line}$'\\t'
while zpty -r z shown; do :; done
cat {script}.found
"""


def script(shell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", shell]) == 0
    path = folder / f"detlint.{shell}"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


START = {"bash": "--norc", "zsh": "-f", "fish": "--no-config"}
PROGRAMS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@pytest.fixture
def completed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str, str], set[str]]:
    """What a shell without start-up files of its own offers behind a line."""
    (tmp_path / "train.py").write_text("")

    def complete(shell: str, line: str) -> set[str]:
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        path = script(shell, tmp_path, capsys)
        path.with_name(f"{path.name}.inside").write_text(ZSH_INSIDE.format(script=path))
        words = " ".join(each or "''" for each in line.replace("=", " = ").split(" "))
        done = subprocess.run(
            [shell, START[shell]],
            input=PROGRAMS[shell].format(script=path, line=f"'{line}'", words=words),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return {line.partition("\t")[0].strip() for line in done.stdout.splitlines()}

    return complete


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "among", "never"),
    [
        ("detlint ", {*COMMANDS, "train.py"}, {"DET301"}),
        ("detlint --min-c", {"--min-confidence"}, {"--select"}),
        ("detlint --min-confidence ", {"certain", "likely", "possible"}, {"train.py"}),
        ("detlint src --output-format gi", {"github", "gitlab"}, {"text"}),
        ("detlint --select DET30", {"DET301", "DET302"}, {"train.py"}),
        ("detlint explain DET30", {"DET301", "DET302"}, {"train.py"}),
        ("detlint init --ci ", {"github", "gitlab"}, {"train.py"}),
        ("detlint init --", {"--pre-commit", "--yes"}, {"--select"}),
        ("detlint baseline --pru", {"--prune"}, set()),
        ("detlint --config tr", {"train.py"}, {"rules"}),
    ],
)
def test_a_shell_offers(
    shell: str,
    line: str,
    among: set[str],
    never: set[str],
    completed: Callable[[str, str], set[str]],
) -> None:
    found = completed(shell, line)
    assert among <= found
    assert not never & found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_values_are_offered_behind_an_equals_sign(
    shell: str, completed: Callable[[str, str], set[str]]
) -> None:
    found = completed(shell, "detlint --min-confidence=li")
    assert {each.removeprefix("--min-confidence=") for each in found} == {"likely"}


def test_a_shell_that_has_none_is_refused_with_those_that_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["completion", "tcsh"])
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
