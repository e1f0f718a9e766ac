"""``import guard.auto`` switches guard on, as the project and the environment say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import write

pytest.importorskip("torch")

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

SHOW = """
    import guard.auto
    import torch
    import guard
    settings = guard.active()
    print(settings.seed, settings.fill, settings.allow)
    print(torch.are_deterministic_algorithms_enabled(), torch.initial_seed())
    """


def test_it_enables_with_the_defaults(tmp_path: Path, forks: Forks) -> None:
    done = forks.python(write(tmp_path / "train.py", SHOW), cwd=tmp_path)
    assert (done.stdout.splitlines(), done.stderr) == (["0 True ()", "True 0"], "")


def test_the_environment_goes_before_the_project(tmp_path: Path, forks: Forks) -> None:
    table = '[tool.guard]\nseed = 3\nfill = false\nallow = ["put_"]\n'
    write(tmp_path / "pyproject.toml", table)
    script = write(tmp_path / "train.py", SHOW)
    done = forks.python(script, cwd=tmp_path, environ={"GUARD_SEED": "4"})
    assert (done.stdout.splitlines(), done.stderr) == (["4 False ('put_',)", "True 4"], "")


def test_a_bad_value_says_where_it_came_from(tmp_path: Path, forks: Forks) -> None:
    script = write(tmp_path / "train.py", SHOW)
    done = forks.python(script, cwd=tmp_path, environ={"GUARD_SEED": "four"})
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == "guard.errors.SettingsError: GUARD_SEED is an integer, not 'four'"
