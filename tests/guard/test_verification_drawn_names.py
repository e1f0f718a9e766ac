"""Files whose names are drawn, and samplers that the operating system seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.diff import Cause, Difference, Suspect
from guard.verification.possibilities import Asked, advised, with_possibilities
from guard.verification.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

MAIN = """\
from helper import write_shard
for shard in shards:
    write_shard(shard, folder)
paths = sorted(folder.glob("*.npy"))
"""
KEPT = """\
import os, tempfile
def write_shard(rows, folder):
    handle, part = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        np.save(file, rows)
    os.replace(part, Path(part).with_suffix(".npy"))
"""
UNIQUE = """\
from uuid import uuid4
def write_shard(rows, folder):
    path = folder / f"{uuid4().hex}.npy"
    np.save(path, rows)
"""
LEFT = """\
import tempfile
def write_shard(rows, folder):
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        np.save(file, rows)
"""


def told(paths: list[str], cause: Cause, *suspects: Suspect) -> tuple[Suspect, ...]:
    difference = Difference(0, 0, "training", None, None, cause, "")
    return with_possibilities(suspects, Asked(difference, "none", Text(paths)))


@pytest.mark.parametrize(
    ("text", "lines", "luck"),
    [
        (KEPT, [3], "files that it lists"),
        (UNIQUE, [3], "a draw from"),
        (LEFT, [3], "files that it lists"),
    ],
)
def test_names_that_are_drawn_decide_an_order(
    text: str, lines: list[int], luck: str, tmp_path: Path
) -> None:
    paths = [write(tmp_path / "train.py", MAIN), write(tmp_path / "helper.py", text)]
    assert Text(map(str, paths)).luck.startswith(luck)
    found = told([str(each) for each in paths], Cause.BATCH_ORDER)
    assert [each.line for each in found] == lines
    difference = Difference(0, 0, "training", None, None, Cause.BATCH_ORDER, "")
    words = "running number" if luck.startswith("files") else "a UUID"
    assert words in advised(difference, "none", found)


def test_where_no_files_are_listed_their_names_decide_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "train.py", MAIN.replace("glob", "joinpath"))
    text = Text([str(path), str(write(tmp_path / "helper.py", KEPT))])
    assert text.timed == ""


SAMPLED = """\
import os, secrets
from scipy.stats import qmc
from scipy.stats.qmc import Halton as Points
one = qmc.Sobol(d=2, scramble=True)
two = Points(3)
fixed = qmc.Sobol(2, rng=1), Points(3, seed=rng), qmc.Sobol(2, scramble=False)
none = qmc.LatinHypercube(2, rng=None)
number = secrets.randbelow(7)
mine = Sobol(3)
"""


@pytest.mark.parametrize("cause", [Cause.INITIALISATION, Cause.BATCH_CONTENT, Cause.HYPERPARAMETER])
def test_samplers_that_the_system_seeds(cause: Cause, tmp_path: Path) -> None:
    path = str(write(tmp_path / "features.py", SAMPLED))
    other = Suspect("DET102", "m", path, 90)
    found = told([path], cause, other)
    assert [each.line for each in found] == [4, 5, 7, 90]
    assert Text([path]).luck == "a draw from a generator without a seed"
    assert "operating system" in found[0].message
