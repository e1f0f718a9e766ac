"""How findings say which flag is set, and what torch does with the flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


CONFIG = """class Config:
    def __init__(self, args):
        self.deterministic = getattr(args, "deterministic", False)
        self.fast = args.fast
        self.slow = not args.fast

"""
SEED = """
    import torch

    def set_seed(seed, deterministicDEFAULT):
        torch.manual_seed(seed)
        if deterministic:
            torch.backends.cudnn.benchmark = False
        else:
            torch.backends.cudnn.benchmark = True
"""
READ = """
    import argparse
    from seeds import set_seed

    parser = argparse.ArgumentParser()
    parser.add_argument("--deterministic", OPTION)
    args = parser.parse_args()
    CALL
"""


@pytest.mark.parametrize(
    ("says", "call", "found"),
    [
        (("", "action='store_true'"), "set_seed(0, args.deterministic)", True),
        (("", "action='store_false'"), "set_seed(0, args.deterministic)", False),
        (("", "type=bool"), "set_seed(0, args.deterministic)", True),
        (("", "type=bool, default=True"), "set_seed(0, args.deterministic)", False),
        (("", "type=bool, required=True"), "set_seed(0, args.deterministic)", False),
        (("=False", "default=True"), "set_seed(0)", True),
        (("=False", "default=True"), "set_seed(0, True)", False),
        (("=False", "default=True"), "set_seed(0); set_seed(1, True)", False),
        (("=False", "default=True"), "set_seed(0, **vars(args))", False),
        (("=False", "default=True"), "pass", False),
        (("=True", "default=True"), "set_seed(0)", False),
    ],
)
def test_benchmark_that_an_option_turns_on_by_default_is_found(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    says: tuple[str, str],
    call: str,
    *,
    found: bool,
) -> None:
    default, option = says
    read = READ.replace("OPTION", option).replace("CALL", call)
    project({"seeds.py": SEED.replace("DEFAULT", default), "train.py": read})
    main([".", "--isolated", "--no-cache", "--select", "DET301", "--output-format", "concise"])
    assert ("seeds.py:9:9: DET301" in capsys.readouterr().out) == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("cudnn.benchmark = not args.deterministic", True),
        ("cudnn.benchmark = args.deterministic", False),
        ("cudnn.benchmark = args.fast", True),
        ("if not args.deterministic:\n    cudnn.benchmark = True", True),
        ("if args.seed is None:\n    cudnn.benchmark = True", False),
        ("if not args.other:\n    cudnn.benchmark = True", False),
        ("cudnn.benchmark = not vars(args)['deterministic']", True),
        ("cudnn.benchmark = vars(args)['deterministic']", False),
        ("cudnn.benchmark = not args.__dict__['deterministic']", True),
        ("if 'deterministic' in args:\n    cudnn.benchmark = not args['deterministic']", True),
        ("if hasattr(args, 'fast'):\n    cudnn.benchmark = args.fast", True),
        ("if 'deterministic' not in args:\n    cudnn.benchmark = True", False),
        ("if 'unknown' in args:\n    cudnn.benchmark = args['fast']", False),
        ("L.Trainer(benchmark=args.fast)", True),
        ("args.fast = False\ncudnn.benchmark = args.fast", False),
        (f"{CONFIG}config = Config(args)\ncudnn.benchmark = not config.deterministic", True),
        (f"{CONFIG}config = Config(args)\ncudnn.benchmark = config.fast", True),
        (f"{CONFIG}config = Config(args)\ncudnn.benchmark = config.slow", False),
    ],
)
def test_benchmark_may_be_what_an_option_is_by_default(
    code: str, findings: Callable[..., list[Finding]], *, found: bool
) -> None:
    parser = """
parser.add_argument("--deterministic", action="store_true")
parser.add_argument("--fast", default=True)
parser.add_argument("--seed", type=int)
args = parser.parse_args()
"""
    made = "import argparse\nparser = argparse.ArgumentParser()"
    assert bool(findings(f"{IMPORTS}{made}{parser}{code}\n", "DET301")) == found
