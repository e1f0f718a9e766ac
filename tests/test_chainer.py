"""Data sets that a loader of Chainer asks in several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

FITS = """\
import chainer
import numpy as np

class Flips(chainer.dataset.DatasetMixin):
    def {method}(self, i):
        return {row}

np.random.seed(0)
batches = chainer.iterators.{loader}
np.save("rows.npy", next(batches))
"""


POOLED = "MultiprocessIterator(Flips(), 4)"
DRAW = "np.random.rand()"


@pytest.mark.parametrize(
    ("method", "row", "loader", "found"),
    [
        ("get_example", DRAW, POOLED, True),
        ("__getitem__", DRAW, POOLED, True),
        ("get_example", DRAW, "MultiprocessIterator(Flips(), 4, n_processes=1)", False),
        ("get_example", DRAW, "SerialIterator(Flips(), 4)", False),
        ("get_example", "float(i)", POOLED, False),
        ("unasked", DRAW, POOLED, False),
    ],
)
def test_what_is_drawn_in_the_processes_of_a_loader(  # noqa: PLR0913 - a file's parts
    project: Project,
    capsys: pytest.CaptureFixture[str],
    method: str,
    row: str,
    loader: str,
    *,
    found: bool,
) -> None:
    project({"fit.py": FITS.format(method=method, row=row, loader=loader)})
    assert places(capsys, "DET102") == ["fit.py:9"] * found
