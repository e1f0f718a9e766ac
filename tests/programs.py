"""Programs run by a fresh Python, without what the tests' own environment holds."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

from guard.setup.variables import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_OURS = {row.name for row in VARIABLES} | {"WORLD_SIZE", "RANK", "LOCAL_RANK", "SLURM_NTASKS"}
_INHERITED = ("PYTHONWARNINGS", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONUNBUFFERED")


def clean_environment(**variables: str) -> dict[str, str]:
    """Without guard's variables, pytest's, and those that change how Python starts."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _OURS
        and name not in _INHERITED
        and not name.startswith(("GUARD_", "PYTEST_"))
    }
    return kept | variables


def python(
    *arguments: str | Path, cwd: Path, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with variables over a clean environment."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=clean_environment(**(environ or {})),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def write(path: Path, text: str) -> Path:
    """Write indented text to a file, and make the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return path
