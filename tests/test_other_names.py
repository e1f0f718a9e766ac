"""Words that name something else than what a rule looks for, of which it finds nothing."""

from __future__ import annotations

import pytest

from detlint.rules.cudnn_nondeterministic import CudnnNondeterministic
from detlint.rules.deterministic_algorithms_off import DeterministicAlgorithmsOff
from detlint.rules.missing_worker_init_fn import MissingWorkerInitFn
from detlint.testing import check_clean

TORCH = "import torch\nfrom torch.backends import cudnn\n"


@pytest.mark.parametrize(
    "text",
    [
        "if cudnn.deterministic == other: ...",
        "def deterministic_mode(): ...",
        'raise ValueError("use deterministic kernels")',
        "deterministic(seed)",
        "deterministic: bool = False",
        "cudnn.allow_tf32 = False",
        "cudnn_graphs = 3",
        'hasattr(torch.backends, "cudnn")',
        "set_deterministic_pytorch(False)",
    ],
)
def test_no_switch(text: str) -> None:
    check_clean(CudnnNondeterministic, f"{TORCH}{text}\n")
    check_clean(DeterministicAlgorithmsOff, f"{TORCH}{text}\n")


@pytest.mark.parametrize(
    "text", ["def load(num_workers: int = 4): ...", "print(num_workers == 0)", "f(num_workers)"]
)
def test_no_loader(text: str) -> None:
    check_clean(MissingWorkerInitFn, f"from torch.utils.data import DataLoader\n{text}\n")
