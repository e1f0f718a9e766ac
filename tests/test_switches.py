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


OPTS = """
import argparse

def arg_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", dest="fast", action="store_false")
    parser.add_argument("--slow", action="store_true")
    return parser

def get_args():
    return arg_parser().parse_args()
"""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("args = arg_parser().parse_args()\ncudnn.benchmark = args.fast", True),
        ("args = get_args()\ncudnn.benchmark = args.fast", True),
        ("args = get_args()\ncudnn.benchmark = args.slow", False),
        ("args = get_args()\nif args.fast:\n    cudnn.benchmark = True", True),
        ("args = get_args()\nif args.slow:\n    cudnn.benchmark = True", False),
        ("args = get_args()\nargs.fast = False\ncudnn.benchmark = args.fast", False),
        ("def main(args):\n    cudnn.benchmark = args.fast\n\nmain(get_args())", True),
        ("args = get_args()\n\ndef main():\n    cudnn.benchmark = args.fast\n\nmain()", True),
        ("args = other()\ncudnn.benchmark = args.fast", False),
        ("args = get_args()\nupdate(args)\ncudnn.benchmark = args.fast", False),
    ],
)
def test_the_parser_of_the_options_may_be_of_another_file(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    code: str,
    *,
    found: bool,
) -> None:
    imported = (
        "from opts import arg_parser, get_args\nfrom absent import other\nfrom util import update\n"
    )
    util = "def update(args):\n    args.fast = False\n"
    train = f"{IMPORTS}{imported}{code}\n"
    project({"opts.py": OPTS, "util.py": util, "train.py": train})
    main([".", "--isolated", "--no-cache", "--select", "DET301", "--output-format", "concise"])
    assert ("train.py" in capsys.readouterr().out) == found


_SWITCHED = """
import torch
from torch import nn
{imports}
torch.backends.cudnn.{switch}

def main():
    net = nn.Sequential({layers}).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(2, 3).cuda()).sum().backward()
    optimizer.step()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("switch", ["benchmark = True", "deterministic = False"])
@pytest.mark.parametrize(
    ("layers", "imports", "sure"),
    [
        ("nn.Linear(3, 2), nn.SiLU()", "", "possible"),
        ("nn.Linear(3, 2), nn.SiLU()", "import numpy, absent", "possible"),
        ("nn.Linear(3, 2)", "import absent; world = absent.GridEnv(2)", "possible"),
        ("nn.Conv1d(3, 2, 1)", "", "likely"),
        ("nn.Linear(3, 2), Last()", "from last import Last", "likely"),  # which has a GRU
        # Models that are not seen, and what may make others.
        ("nn.Linear(3, 2), absent.Layer()", "import absent", "likely"),
        ("nn.Linear(3, 2), absent.Layer()", "from absent import *", "likely"),
        ("nn.Linear(3, 2)", "found = [getattr(layers, x) for x in names]", "likely"),
        ("*torch.load('layers.pt')", "", "likely"),
    ],
)
def test_a_switch_of_cudnn_is_possible_where_it_has_nothing_to_choose(  # noqa: PLR0913, PLR0917
    layers: str,
    imports: str,
    sure: str,
    switch: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = _SWITCHED.format(switch=switch, layers=layers, imports=imports)
    last = "from torch import nn\n\nclass Last(nn.Module):\n    kind = nn.GRU\n"
    project({"train.py": text, "last.py": last})
    main(["--no-cache", "--select", "DET301,DET302", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert "cuDNN" in told
    assert ("[possible]" in told) is (sure == "possible")


def test_a_switch_of_cudnn_that_another_program_shares_stays(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shared = "import torch\n\ndef start():\n    torch.backends.cudnn.benchmark = True\n"
    run = "import torch\nfrom shared import start\n\nif __name__ == '__main__':\n    start()\n"
    run += "    net = torch.nn.{}(3, 2{})\n    print(net(torch.ones(4, 3, 1)))\n"
    files = {"shared.py": shared, "a.py": run.format("Linear", "")}
    options = ["--no-cache", "--select", "DET301", "--min-confidence", "possible", "."]
    project(files)
    main(options)
    assert "[possible]" in capsys.readouterr().out
    project({**files, "b.py": run.format("Conv1d", ", 1")})
    main(options)
    assert "[possible]" not in capsys.readouterr().out
