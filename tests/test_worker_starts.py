"""What seeds the workers of a loader seeds no program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import random
import numpy as np
import torch
from torch.utils.data import DataLoader
from pytorch_lightning import seed_everything
{imports}

{function}

def main():
    {before}
    model = torch.nn.Linear(4, 4)
    rows = np.random.permutation(100)
    loader = DataLoader(rows, num_workers=2, worker_init_fn={given})
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")

if __name__ == "__main__":
    main()
"""
# That of https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader
WORKER = """\
def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)
"""
HELPED = """\
def seed_all(seed):
    torch.manual_seed(seed)
    np.random.seed(seed)

def seed_worker(worker_id):
    seed_all(worker_id)
"""
IN_MAIN = "def init(worker_id): np.random.seed(worker_id); torch.manual_seed(worker_id)"
UNSEEDED = ["torch", "np"]


@pytest.mark.parametrize(
    ("function", "before", "given", "drawn"),
    [
        (WORKER, "", "seed_worker", UNSEEDED),
        (WORKER, "torch.manual_seed(0)", "seed_worker", ["np"]),
        (HELPED, "", "seed_worker", UNSEEDED),
        (HELPED, "seed_all(0)", "seed_worker", []),
        (HELPED, "seed_worker(0)", "seed_worker", []),
        ("", IN_MAIN, "init", UNSEEDED),
        ("", "", "lambda worker_id: torch.manual_seed(worker_id)", UNSEEDED),
        ("", "", "lambda worker_id: seed_everything(worker_id)", UNSEEDED),
        ("def seeds(): np.random.seed(0); torch.manual_seed(0)", "seeds()", "None", []),
    ],
)
def test_a_seed_in_the_workers_is_none_of_the_program(  # noqa: PLR0913, PLR0917 - a row of a table
    project: Project,
    capsys: pytest.CaptureFixture[str],
    function: str,
    before: str,
    given: str,
    drawn: list[str],
) -> None:
    text = TRAIN.format(imports="", function=function, before=before, given=given)
    project({"train.py": text})
    assert unseeded(capsys) == drawn


@pytest.mark.parametrize(("function", "drawn"), [(WORKER, UNSEEDED), (HELPED, UNSEEDED)])
def test_nor_is_one_of_another_file(
    project: Project, capsys: pytest.CaptureFixture[str], function: str, drawn: list[str]
) -> None:
    imports = "from seeds import seed_worker"
    text = TRAIN.format(imports=imports, function="", before="", given="seed_worker")
    head = "import random\nimport numpy as np\nimport torch\n\n"
    project({"train.py": text, "seeds.py": f"{head}{function}"})
    assert unseeded(capsys) == drawn


def unseeded(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The libraries whose generators nothing seeds, by the first word of what draws."""
    main([".", "--no-cache", "--isolated", "--select", "DET102", "-q"])
    lines = capsys.readouterr().out.splitlines()
    return [line.partition("DET102 `")[2].partition(".")[0] for line in lines if "DET102" in line]
