"""Files whose names are drawn, and samplers that the operating system seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import write

from guard.comparison import Cause, Difference, Suspect
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
RENAMED = KEPT.replace('Path(part).with_suffix(".npy")', 'folder / f"{rows.number}.npy"')
UNIQUE = """\
from uuid import uuid4
def write_shard(rows, folder):
    path = folder / f"{uuid4().hex}.npy"
    np.save(path, rows)
"""
CONTENT = """\
import uuid
def write_shard(rows, folder):
    log.write(json.dumps({"id": uuid.uuid4().hex}))
    torch.save({"id": uuid.uuid4()}, folder / f"{rows.number}.pt")
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
    ("text", "lines"), [(KEPT, [3]), (RENAMED, []), (UNIQUE, [3]), (LEFT, [3]), (CONTENT, [])]
)
def test_names_that_are_drawn_decide_an_order(text: str, lines: list[int], tmp_path: Path) -> None:
    paths = [write(tmp_path / "train.py", MAIN), write(tmp_path / "helper.py", text)]
    read = Text(map(str, paths))
    assert [line for _, line, _ in read.names[str(paths[1])]] == lines
    assert ("names" in read.timed) is bool(lines)
    found = told([str(each) for each in paths], Cause.BATCH_ORDER)
    assert [each.line for each in found][: len(lines)] == lines
    if lines:
        difference = Difference(0, 0, "training", None, None, Cause.BATCH_ORDER, "")
        assert "running number" in advised(difference, "none", found)


def test_one_file_or_none_that_is_listed_has_no_order(tmp_path: Path) -> None:
    once = MAIN.replace("for shard in shards:", "if shards:")
    unlisted = MAIN.replace("glob", "joinpath")
    for main in (once, unlisted):
        path = write(tmp_path / "train.py", main)
        text = Text([str(path), str(write(tmp_path / "helper.py", KEPT))])
        assert not any(text.names.values())
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
