"""Which words rules turn down by the text around them, so that nothing is parsed for these."""

from __future__ import annotations

import pytest

from detlint.rules.cudnn_nondeterministic import CudnnNondeterministic
from detlint.rules.deterministic_algorithms_off import DeterministicAlgorithmsOff
from detlint.rules.missing_worker_init_fn import MissingWorkerInitFn
from detlint.syntax.mentions import may_be_set


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("cudnn.deterministic = False", True),
        ("cudnn.deterministic, x = pair", True),
        ("for cudnn.deterministic in (True, False): ...", True),
        ("Trainer(deterministic=False)", True),
        ("Trainer(deterministic\n=False)", True),
        ('options = {"deterministic": False}', True),
        ("setattr(cudnn, 'deterministic', False)", True),
        ("if cudnn.deterministic == other: ...", False),
        ("if self.deterministic: ...", True),
        ("def deterministic_mode(): ...", False),
        ('raise ValueError("use deterministic kernels")', False),
        ("deterministic(seed)", False),
        ("deterministic: bool = False", False),
    ],
)
def test_where_a_name_may_be_set(text: str, may: bool) -> None:
    assert may_be_set(text, text.index("deterministic"), "deterministic") is may


@pytest.mark.parametrize(
    ("text", "concerned"),
    [
        ("with cudnn.flags(True, False): ...", True),
        ("import torch.backends.cudnn as backend", True),
        ("flags = torch.backends.cudnn", True),
        ("cudnn.allow_tf32 = False", False),
        ("cudnn_graphs = 3", False),
        ('hasattr(torch.backends, "cudnn")', False),
    ],
)
def test_cudnn(text: str, concerned: bool) -> None:
    assert CudnnNondeterministic.concerns(text, text.index("cudnn")) is concerned


@pytest.mark.parametrize(
    ("text", "concerned"),
    [
        ("torch.set_deterministic(False)", True),
        ("torch.set_deterministic_debug_mode(0)", True),
        ("set_deterministic_pytorch(args)", False),
    ],
)
def test_switches(text: str, concerned: bool) -> None:
    at = text.index("set_deterministic")
    assert DeterministicAlgorithmsOff.concerns(text, at) is concerned


@pytest.mark.parametrize(
    ("text", "concerned"),
    [
        ("num_workers=4", True),
        ("num_workers = args.workers", True),
        ("num_workers: int = 4", False),
        ("num_workers == 0", False),
        ("num_workers)", False),
        ("DataLoader(rows)", True),
    ],
)
def test_workers(text: str, concerned: bool) -> None:
    assert MissingWorkerInitFn.concerns(text, 0) is concerned
