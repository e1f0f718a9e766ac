"""The leaky example, fixed as far as fixes go, and run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from forks import Forks

from detlint.cli import main

EXAMPLE = Path(__file__).parent.parent / "examples" / "leaky"


def last_line(forks: Forks, folder: Path) -> str:
    """What a training run prints last."""
    run = forks.python(folder / "train.py", cwd=folder)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()[-1]


def test_a_fixed_project_says_what_is_left_and_then_repeats_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    project = tmp_path / "leaky"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("shards", "__pycache__"))
    # Of two processes that have imported torch, each with a hash seed of its own.
    flags = ("-W", "ignore")
    starts = [Forks(tmp_path, hash_seed=None, flags=flags) for _ in range(2)]
    assert len({last_line(start, project) for start in starts}) == 2

    main(["--no-cache", "--isolated", "--fix", "--unsafe-fixes", str(project)])
    left = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[1] for line in left[:-1]] == ["DET402"]
    assert left[-1].startswith("Fixed 11 findings. Found 1 finding")

    model = project / "model.py"
    bias = "self.bias = nn.Parameter(torch.{}(width))"
    model.write_text(model.read_text().replace(bias.format("empty"), bias.format("zeros")))
    assert main(["--no-cache", "--isolated", str(project)]) == 0
    results = {last_line(start, project) for start in starts}
    for start in starts:
        start.close()
    assert len(results) == 1
    assert "nan" not in results.pop()
