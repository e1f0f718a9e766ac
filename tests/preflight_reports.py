"""Reports of ``python -m guard preflight`` on scripts, for the tests of several files."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

from programs import python, write

from guard.commands import preflight as command
from guard.rehearsal.findings import from_dict

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

    from forks import Forks


def preflight(*arguments: str | Path, cwd: Path) -> CompletedProcess[str]:
    return python("-m", "guard", "preflight", *arguments, cwd=cwd)


def found(
    forks: Forks, folder: Path, text: str, *options: str, status: int | None = None
) -> dict[str, Any]:
    """The report on a script whose process, which the command would start, is a fork."""
    script = write(folder / "train.py", text)
    given = command._parser().parse_args([*options, script.name])
    with tempfile.TemporaryDirectory() as written:
        told = command._told(given, written)
        environ = command._environment(given, told["scratch"])
        others = {name: value for name, value in environ.items() if os.environ.get(name) != value}
        program = ("-m", "guard.rehearsal.script", json.dumps(told))
        done = forks.python(*program, cwd=folder, environ=others)
        assert done.returncode == 0, done.stderr
        with open(told["target"], encoding="utf-8") as file:
            report: dict[str, Any] = json.load(file)
    if status is not None:
        assert command._status(from_dict(report)) == status, done.stderr
    return report


def names(report: dict[str, Any], *verdicts: str) -> set[str]:
    wanted = verdicts or ("raises", "silent", "unknown")
    return {each["name"] for each in report["findings"] if each["verdict"] in wanted}
