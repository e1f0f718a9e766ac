"""How findings say which flag is set, and what torch does with the flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

IMPORTS = "import lightning as L, torch\nfrom torch.backends import cudnn\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(
            "cudnn.benchmark = True",
            "cudnn.benchmark = True has cuDNN pick its kernels by timing them",
            id="an-assignment-as-written",
        ),
        pytest.param(
            'setattr(cudnn, "benchmark", True)',
            "cudnn.benchmark = True has cuDNN pick its kernels by timing them",
            id="setattr-as-an-assignment",
        ),
        pytest.param(
            "cudnn.flags(enabled=True, benchmark=True)",
            "cudnn.flags(benchmark=True) has cuDNN pick its kernels by timing them",
            id="an-argument-with-its-call",
        ),
        pytest.param(
            "L.Trainer(deterministic=False)",
            "L.Trainer(deterministic=False) switches deterministic algorithms off",
            id="a-trainer-that-switches-off",
        ),
        pytest.param(
            'L.Trainer(deterministic="warn")',
            'L.Trainer(deterministic="warn") only warns where an operation has no deterministic '
            "kernel",
            id="a-trainer-that-warns",
        ),
        pytest.param(
            "cudnn.flags(deterministic=True)",
            "cudnn.flags(deterministic=True) leaves enabled at its default, False: "
            "the block runs without cuDNN",
            id="flags-without-enabled",
        ),
        pytest.param(
            "torch.utils.deterministic.fill_uninitialized_memory = False",
            "torch.utils.deterministic.fill_uninitialized_memory = False "
            "leaves new tensors holding whatever lay in memory",
            id="memory-that-is-not-filled",
        ),
    ],
)
def test_the_message_shows_what_the_source_says(
    line: str, message: str, findings: Callable[..., list[Finding]]
) -> None:
    codes = ("DET301", "DET302", "DET303", "DET305", "DET309")
    assert [each.message for each in findings(IMPORTS + line, *codes)] == [message]


def test_no_fix_where_another_flag_takes_the_same_value(
    findings: Callable[..., list[Finding]],
) -> None:
    (found,) = findings(f"{IMPORTS}cudnn.benchmark = cudnn.enabled = True", "DET301")
    assert found.edits == ()


def test_cudnn_flags_turn_cudnn_off_unless_told_otherwise() -> None:
    cudnn = pytest.importorskip("torch", exc_type=ImportError).backends.cudnn
    with cudnn.flags(enabled=True):
        with cudnn.flags(deterministic=True):
            assert not cudnn.enabled
        with cudnn.flags(benchmark=False):
            assert not cudnn.enabled
        with cudnn.flags(deterministic=True, enabled=True):
            assert cudnn.enabled
