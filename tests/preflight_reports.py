"""Reports of ``python -m guard preflight`` on scripts, for the tests of several files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from programs import python, write

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess


def preflight(*arguments: str | Path, cwd: Path) -> CompletedProcess[str]:
    return python("-m", "guard", "preflight", *arguments, cwd=cwd)


def found(folder: Path, text: str, *options: str, status: int | None = None) -> dict[str, Any]:
    """The report on a script, which the command gives as JSON."""
    script = write(folder / "train.py", text)
    done = preflight("--json", *options, script.name, cwd=folder)
    assert done.returncode in (0, 1, 2), done.stderr
    if status is not None:
        assert done.returncode == status, done.stderr + done.stdout
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def names(report: dict[str, Any], *verdicts: str) -> set[str]:
    wanted = verdicts or ("raises", "silent", "unknown")
    return {each["name"] for each in report["findings"] if each["verdict"] in wanted}
