"""A seed that only an option turns on, and that is off by default, seeds nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import argparse
import random
import numpy as np
import torch
import seeds

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument({})
    args = parser.parse_args()
    {}
    np.random.shuffle(rows)
    loss.backward(); optimizer.step()

main()
"""
SEEDS = """\
import numpy as np

def fix(seed):
    if seed is not None:
        np.random.seed(seed)

def fix_always(seed):
    np.random.seed(seed)

def make(seed):
    np.random.seed(seed)
    np.random.shuffle(rows)

class Experiment:
    def __init__(self, args):
        self.args = args

    def run(self):
        if self.args.seed is not None:
            fix(self.args.seed)
"""
TORCH = "torch.manual_seed(2)"
IF = "if args.seed is not None: np.random.seed(args.seed)"
FEW = "if args.few:\n        np.random.seed(42)"
ROW = 13


def found(capsys: pytest.CaptureFixture[str]) -> list[str]:
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    return [place_of(each) for each in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    ("option", "line", "is_found"),
    [
        ("'--seed', type=int", IF, True),
        ("'--seed', type=int, default=None", IF, True),
        ("'--seed', type=int", f"config.seed = args.seed\n    {IF}", True),
        ("'--seed', type=int", f"config.seed = 3\n    {IF}", False),
        ("'--seed', type=int, required=True", IF, False),
        ("'--eval', default=3, help='evaluate with this seed'); add('--seed'", IF, False),
        ("'--seed', help='a seed'); warn('You choose to seed training.'", IF, True),
        ("'--seed', type=int); call('train.py --seed=3'", IF, False),
        ("'--seed', type=int, default=1", IF, False),
        ("'--seed', type=int, default=SEED", IF, False),
        ("'--seed', '-s', type=int", IF, True),
        ("'-s', '--seed', type=int, **more", IF, False),
        ("'--other'", IF, False),
        ("'--seed', default=-1", "if args.seed >= 0: np.random.seed(args.seed)", True),
        ("'--seed', default=-1", "if args.seed != -1: np.random.seed(args.seed)", True),
        ("'--seed', default=-1", "np.random.seed(args.seed)", False),
        ("'--seed', default=0", "if args.seed: np.random.seed(args.seed)", True),
        ("'--seed', default=0", IF, False),
        ("'--seed', type=int", "np.random.seed(args.seed)", True),
        ("'--seed', type=int", "np.random.seed(args.seed or 0)", False),
        ("'--seed', type=int", "args.seed = args.seed or 7; np.random.seed(args.seed)", False),
        ("'--seed', type=int", f"{IF}\n    else: np.random.seed(0)", False),
        ("'--fixed', action='store_true'", "if args.fixed: np.random.seed(0)", True),
        ("'--no-fixed', action='store_true'", "if not args.no_fixed: np.random.seed(0)", False),
        ("'--seed', type=int", "seeds.fix(args.seed)", True),
        ("'--seed', type=int, default=3", "seeds.fix(args.seed)", False),
        ("'--seed', type=int", "seeds.fix(3)", False),
        ("'--seed', type=int", "seeds.fix_always(args.seed)", True),
        ("'--seed', type=int", "if args.seed is not None: seeds.fix_always(args.seed)", True),
        ("'--seed', type=int", "seeds.Experiment(args).run()", True),
        ("'--prepare', action='store_true'", "if args.prepare: seeds.make(3)", True),
        ("'--seed', type=int, default=3", "seeds.Experiment(args).run()", False),
    ],
)
def test_a_seed_that_is_off_by_default_seeds_nothing(
    project: Project, capsys: pytest.CaptureFixture[str], option: str, line: str, *, is_found: bool
) -> None:
    project({"train.py": TRAIN.format(option, line), "seeds.py": SEEDS})
    assert found(capsys) == [f"train.py:{ROW + line.count(chr(10))}"] * is_found


def test_a_draw_with_the_same_option_is_seeded(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TRAIN.format("'--prepare', action='store_true'", "if args.prepare: seeds.make(3)")
    project({"train.py": text.replace("np.random.shuffle(rows)", "pass"), "seeds.py": SEEDS})
    assert found(capsys) == []


@pytest.mark.parametrize(
    ("lines", "is_found"),
    [
        ("if args.few: np.random.seed(42); np.random.shuffle(rows)", False),
        (f"{FEW}\n        for x in rows: x.y = np.random.rand()", False),
        ("if args.few: np.random.seed(42)\n    np.random.shuffle(rows)", True),
        ("if args.few: np.random.shuffle(rows); np.random.seed(42)", True),
        ("if args.few: np.random.seed(args.seed); np.random.shuffle(rows)", True),
        ("if args.few: random.seed(42); np.random.shuffle(rows)", True),
        ("if args.few: np.random.seed(42) if rows else 0; np.random.shuffle(rows)", True),
        ("if args.few: np.random.seed(42)\n    else: np.random.shuffle(rows)", True),
    ],
)
def test_a_draw_below_a_seed_in_the_same_branch_is_seeded(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, *, is_found: bool
) -> None:
    options = "'--few', action='store_true'); parser.add_argument('--seed', type=int"
    text = TRAIN.replace("np.random.shuffle(rows)", "pass").format(options, lines)
    project({"train.py": text, "seeds.py": SEEDS})
    assert bool(found(capsys)) is is_found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.sh", "python train.py --seed 7\n"),
        ("config.yaml", "seed: 7\n"),
        ("launch.py", "import train\ntrain.main.seed = subprocess.run(['--seed', '7'])\n"),
    ],
)
def test_a_script_or_configuration_may_set_the_option(
    project: Project, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    project({"train.py": TRAIN.format("'--seed', type=int", IF), "seeds.py": SEEDS, name: text})
    assert found(capsys) == (["train.py:13"] if name == "launch.py" else [])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            IF,
            (
                "`np.random.seed(args.seed)` seeds it only with --seed, which is off by default; "
                "pass --seed 0, or make that the default"
            ),
        ),
        (
            "seeds.fix(args.seed)",
            (
                "`np.random.seed(seed)` (seeds.py:5) seeds it only with an option that is off by "
                "default; call np.random.seed(0) at the start of train.py"
            ),
        ),
    ],
)
def test_the_message_names_the_seed_and_the_option(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, told: str
) -> None:
    project({"train.py": TRAIN.format("'--seed', type=int", line), "seeds.py": SEEDS})
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("action", "test", "told"),
    [
        ("store_true", "args.on", "with --on, which is off by default; pass --on, or make"),
        ("store_false", "not args.on", "with --on, which is off by default; pass --on, or make"),
        (
            "store_true', default=True, help='",
            "not args.on",
            "without --on, which is on by default, and no option turns it off; let --on be False",
        ),
        (
            "store_false', default=False, help='",
            "args.on",
            "with --on, which is off by default, and no option turns it on; let --on be True",
        ),
        (
            "', default=True, action=argparse.BooleanOptionalAction, help='",
            "not args.on",
            "with --no-on, which is off by default; pass --no-on, or make",
        ),
    ],
)
def test_the_message_says_what_turns_a_seed_on(
    project: Project, capsys: pytest.CaptureFixture[str], action: str, test: str, told: str
) -> None:
    option = f"'--on', action='{action}'".replace("action='', ", "")
    project({"train.py": TRAIN.format(option, f"if {test}: np.random.seed(1)")})
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    assert f"seeds it only {told}" in capsys.readouterr().out


def test_a_flag_in_a_comment_is_no_option(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    given = "main(options)\n# parser.add_argument('--seed', type=int)\n"
    text = TRAIN.format("'--lr'", "seeds.fix(args.seed)").replace("def main()", "def main(args)")
    text = text.replace("args = parser.parse_args()", "pass").replace("main()\n", given)
    files = {"train.py": f"import options\n{text}", "seeds.py": SEEDS}
    project({**files, "options.py": "seed = 0\n"})
    assert found(capsys) == []


def test_the_message_names_the_option_that_is_not_set(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "'--whole', action='store_true'); parser.add_argument('--seed', type=int"
    line = "if not args.whole and args.seed is not None: np.random.seed(args.seed)"
    project({"train.py": TRAIN.format(options, line)})
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    assert "seeds it only with --seed," in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "line", "is_found"),
    [
        ("'--seed', type=int", "rng = np.random.default_rng(args.seed); use(rng.random())", True),
        ("'--seed', type=int", "rng = random.Random(args.seed); use(rng.random())", True),
        ("'--seed', default=1", "rng = np.random.default_rng(args.seed); use(rng.random())", False),
        ("'--other'", "rng = np.random.default_rng(args.seed); use(rng.random())", False),
        ("'--seed'", "args.seed = 3; use(np.random.default_rng(args.seed).random())", False),
        ("'--seed'", "rng = random.Random(args.seed); rng.seed(3); use(rng.random())", False),
    ],
)
def test_a_generator_whose_seed_is_none_by_default_has_none(
    project: Project, capsys: pytest.CaptureFixture[str], option: str, line: str, *, is_found: bool
) -> None:
    project({"train.py": TRAIN.format(option, line)})
    main(["--no-cache", "--output-format", "json", "--select", "DET101", "."])
    found = json.loads(capsys.readouterr().out)
    assert [(each["location"]["row"], each["confidence"]) for each in found] == (
        [(12, "likely")] * is_found
    )


OPTS = """
import argparse

def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--fixed", type=int, default=1)
    return parser.parse_args()
"""


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("args = get_args()\nuse(random.Random(args.seed).random())", True),
        ("def main(args):\n    use(random.Random(args.seed).random())\n\nmain(get_args())", True),
        ("args = get_args()\nuse(random.Random(args.fixed).random())", False),
        ("args = get_args()\nargs.seed = 3\nuse(random.Random(args.seed).random())", False),
        ("args = other()\nuse(random.Random(args.seed).random())", False),
    ],
)
def test_the_parser_of_a_generators_seed_may_be_of_another_file(
    project: Project, capsys: pytest.CaptureFixture[str], code: str, *, is_found: bool
) -> None:
    imports = "import random\nfrom absent import other, use\nfrom opts import get_args\n"
    project({"opts.py": OPTS, "train.py": f"{imports}{code}\n"})
    main(["--no-cache", "--output-format", "concise", "--select", "DET101", "."])
    assert ("train.py" in capsys.readouterr().out) is is_found


HYDRA = """\
import hydra
import numpy as np

@hydra.main(config_path="configs", config_name="train")
def main(cfg):
    if cfg.get("seed"):
        np.random.seed(cfg.seed)
    np.random.shuffle(rows)
    loss.backward(); optimizer.step()

main()
"""


@pytest.mark.parametrize(
    ("files", "is_found"),
    [
        ({"configs/train.yaml": "lr: 0.1\nseed: null\n"}, True),
        ({"configs/train.yaml": "lr: 0.1\nseed: null  # or 42\n"}, True),
        ({"configs/train.yaml": "lr: 0.1\nseed: 42\n"}, False),
        ({"configs/train.yaml": "lr: 0.1\n"}, False),
        ({"configs/train.yaml": "seed: null\n", "configs/other.yaml": "seed: 1\n"}, False),
        ({"configs/train.yaml": "seed: null\n", "run.sh": "python train.py seed=1\n"}, False),
        ({"configs/train.yaml": "seed: null\nname: ${seed}\n", "a.md": "seed=1"}, True),
    ],
)
def test_a_seed_that_configurations_leave_out_seeds_nothing(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], *, is_found: bool
) -> None:
    project({"train.py": HYDRA, **files})
    assert found(capsys) == ["train.py:8"] * is_found
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    told = "only with the setting seed, which is off by default"
    assert (told in capsys.readouterr().out) == is_found


@pytest.mark.parametrize(
    ("test", "value", "levels"),
    [
        ("conf['seed']['flag'] == True", "false", ["possible"]),
        ("conf['seed']['flag']", "false", ["possible"]),
        ("conf['seed']['flag']", "null", ["likely"]),
        ("conf['seed']['flag']", "true", []),
        ("not conf['seed']['flag']", "false", []),
        ("conf['seed']['flag'] >= 0", "-1", ["possible"]),
        ("conf['seed']['flag'] >= 0", "7", []),
    ],
)
def test_a_seed_that_a_configuration_turns_off_is_possible(
    project: Project, capsys: pytest.CaptureFixture[str], test: str, value: str, levels: list[str]
) -> None:
    train = f"""\
import numpy as np
import yaml

conf = yaml.safe_load(open("conf.yaml"))
if {test}:
    np.random.seed(1)
np.random.shuffle(rows)
loss.backward(); optimizer.step()
"""
    project({"train.py": train, "conf.yaml": f"seed:\n  flag: {value}\n"})
    asked = ["--output-format=json", "--min-confidence=possible", "--select=DET102"]
    main(["--no-cache", *asked, "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == levels


def test_what_runs_where_a_setting_is_null_seeds(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    train = HYDRA.replace('cfg.get("seed")', "cfg.resume is None")
    project({"train.py": train, "configs/train.yaml": "seed: 1\nresume: null\n"})
    assert found(capsys) == []


@pytest.mark.parametrize(
    ("lines", "is_found"),
    [
        (("if gpu:", "torch.cuda.manual_seed(1)", "else:", "torch.manual_seed(1)"), True),
        (
            ("if gpu:", "torch.cuda.manual_seed_all(1)", "else:", "torch.random.manual_seed(1)"),
            True,
        ),
        (("if not gpu:", "torch.manual_seed(1)", "else:", "torch.cuda.manual_seed(1)"), True),
        (("if gpu:", "torch.manual_seed(1)", "else:", "torch.manual_seed(2)"), False),
        (("if gpu:", "torch.cuda.manual_seed(1)", "if cpu:", "torch.manual_seed(1)"), False),
        (
            ("if gpu:", "torch.cuda.manual_seed(1); torch.manual_seed(2)", "else:", TORCH),
            False,
        ),
        (
            ("if gpu:", "torch.cuda.manual_seed(1)", "else:", f"{TORCH}\ntorch.manual_seed(3)"),
            False,
        ),
    ],
)
def test_a_seed_beside_one_of_gpus_alone_holds_on_the_cpu_alone(
    project: Project, capsys: pytest.CaptureFixture[str], lines: tuple[str, ...], *, is_found: bool
) -> None:
    one, first, other, second = lines
    train = f"import torch\n{one}\n    {first}\n{other}\n    {second}\n"
    project(
        {"train.py": f"{train}net = torch.nn.Linear(3, 4)\nloss.backward(); optimizer.step()\n"}
    )
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    told = "seeds it only where the other branch does not run, which seeds the generator of GPUs"
    assert (told in capsys.readouterr().out) == is_found


def test_the_seed_of_a_gpu_is_none_of_the_cpu() -> None:
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        first = torch.rand(3)
        torch.manual_seed(1)
        torch.cuda.manual_seed(2)
        torch.cuda.manual_seed_all(2)
        assert torch.equal(torch.rand(3), first)


SCENES = """\
import os
import numpy as np
import torch

def rows(folder, seed):
    np.random.seed(seed)
    np.save(folder, np.random.rand(4))

def main(folder):
    {}
        os.makedirs(folder)
        rows(folder, 1)
    {}
    loss.backward(); optimizer.step()

main("scenes")
"""
MISSING = "if not os.path.exists(folder):"


@pytest.mark.parametrize(
    ("test", "last", "is_found"),
    [
        (MISSING, "np.random.shuffle(x)", True),
        (f"{MISSING[:-1]} or len(os.listdir(folder)) == 0:", "np.random.shuffle(x)", True),
        ("if x or not os.path.isdir(folder):", "np.random.shuffle(x)", False),
        ("if os.path.exists(folder):", "np.random.shuffle(x)", False),
        (MISSING, "pass", False),
        (MISSING, "np.random.seed(2); np.random.shuffle(x)", False),
    ],
)
def test_a_seed_where_a_file_is_made_that_is_not_there_holds_in_the_first_run(
    project: Project, capsys: pytest.CaptureFixture[str], test: str, last: str, *, is_found: bool
) -> None:
    project({"train.py": SCENES.format(test, last)})
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    told = capsys.readouterr().out
    assert ("train.py:13" in told) == is_found
    assert told.count("seeds it only where a file is not there yet") == is_found


_ALL_AT_ONCE = """\
import argparse
import json
import fitting

def main(args):
    fitting.fit({handed})

def command():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--fixed", {option})
    main({parsed})

command()
"""
_FITTING = """\
import torch

def fit(fixed, rounds, **others):
    if fixed:
        torch.manual_seed(11)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(rounds):
        model(torch.ones(4, 2)).sum().backward()
        optimizer.step()
"""
_OFF = "required=False, nargs=2"
_PARSED = "parser.parse_args()"


@pytest.mark.parametrize(
    ("handed", "option", "parsed", "is_found"),
    [
        ("args.fixed, args.rounds", _OFF, _PARSED, True),
        ("**vars(args)", _OFF, _PARSED, True),
        ("**args.__dict__", "action='store_true'", _PARSED, True),
        ("**args", _OFF, f"{_PARSED}.__dict__", True),
        ("**args", _OFF, f"vars({_PARSED})", True),
        ("**vars(args)", "default=1", _PARSED, False),
        ("**vars(args)", "required=True", _PARSED, False),
        ("**vars(args)", "required=needed", _PARSED, False),
        ("**vars(args)", "nargs=2, action=Checked", _PARSED, True),
        ("**vars(args)", "nargs=2, action=checked", _PARSED, False),
        ("**{**vars(args), 'fixed': 1}", _OFF, _PARSED, False),
        ("**json.load(open('fit.json'))", _OFF, _PARSED, False),
    ],
)
def test_options_may_be_handed_on_all_at_once(  # noqa: PLR0913
    project: Project,
    capsys: pytest.CaptureFixture[str],
    handed: str,
    option: str,
    parsed: str,
    *,
    is_found: bool,
) -> None:
    text = _ALL_AT_ONCE.format(handed=handed, option=option, parsed=parsed)
    project({"train.py": text, "fitting.py": _FITTING})
    assert len(found(capsys)) == is_found


@pytest.mark.parametrize(
    ("kept", "is_found"),
    [
        ("{'first': args['fixed'][0], 'last': args['fixed'][1]}", True),
        ("args['fixed'] or [1, 2]", False),
        ("[1, 2]", False),
    ],
)
def test_what_takes_an_option_apart_does_not_set_it(
    project: Project, capsys: pytest.CaptureFixture[str], kept: str, *, is_found: bool
) -> None:
    text = _ALL_AT_ONCE.format(handed="**args", option=_OFF, parsed=f"vars({_PARSED})")
    text = text.replace(" main(vars", " main_of_rank(vars")
    also = f"def main_of_rank(args):\n    args['fixed'] = {kept}\n    main(args)\n\n"
    project({"train.py": text.replace("def main", f"{also}def main"), "fitting.py": _FITTING})
    assert len(found(capsys)) == is_found


NODES = """
from yacs.config import CfgNode as CN

_C = CN()
_C.LR = 0.1
_C.TRAIN = CN()
_C.TRAIN.SEED = {}

def get_node():
    return _C.clone()
"""
BY_NODE = """
import argparse
import torch
from {} import get_node

def main(args):
    cfg = get_node()
    cfg.merge_from_file(args.cfg)
    {}
    if cfg.TRAIN.SEED >= 0:
        torch.manual_seed(cfg.TRAIN.SEED)
    net = torch.nn.Linear(2, 2)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.LR)
    for x in torch.load("rows.pt"):
        net(x).sum().backward()
        opt.step()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cfg", default="")
    parser.add_argument("--seed", type=int, default={})
    main(parser.parse_args())
"""
GIVEN = "if args.seed: cfg.TRAIN.SEED = args.seed"


@pytest.mark.parametrize(
    ("node", "line", "option", "home", "is_found"),
    [
        (-1, "pass", 1, "nodes", True),
        (3, "pass", 1, "nodes", False),
        ("load()", "pass", 1, "nodes", False),
        (-1, GIVEN, -1, "nodes", True),
        (-1, GIVEN, 4, "nodes", False),
        (-1, "cfg.TRAIN.SEED = 4", -1, "nodes", False),
        # What a library has by default is not seen.
        (-1, "pass", -1, "absent", False),
        (-1, GIVEN, -1, "absent", True),
        (-1, GIVEN, 4, "absent", False),
    ],
)
def test_a_node_of_a_configuration_that_is_off_in_code(  # noqa: PLR0913, PLR0917
    node: object,
    line: str,
    option: int,
    home: str,
    project: Project,
    capsys: pytest.CaptureFixture[str],
    *,
    is_found: bool,
) -> None:
    files = {"nodes.py": NODES.format(node), "train.py": BY_NODE.format(home, line, option)}
    project(files if home == "nodes" else {"train.py": files["train.py"]})
    assert len(found(capsys)) == is_found


def test_a_configuration_may_turn_a_node_on(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"nodes.py": NODES.format(-1), "train.py": BY_NODE.format("nodes", "pass", 1)}
    project({**files, "configs/plain.yaml": "LR: 0.2\nTRAIN:\n  SEED: -1\n"})
    assert len(found(capsys)) == 1
    project({**files, "configs/plain.yaml": "LR: 0.2\nTRAIN:\n  SEED: 7\n"})
    assert found(capsys) == []


PICKS = """\
import argparse
import numpy as np

def pick(rows, method):
    if method == "random":
        np.random.seed(42)
        np.random.shuffle(rows)
    return rows + np.random.normal(0, 1, 9)

{}

if __name__ == "__main__":
    main()
"""
PARSE = """\
    p = argparse.ArgumentParser()
    p.add_argument("--method", default="{}")
"""
SAVE = "np.save('s.npy', pick(rows, a.method))"
RETURNED = (
    f"def parse():\n{PARSE}    return p.parse_args()\n\ndef main():\n    a = parse()\n    {SAVE}"
)
HANDED = f"def go(a):\n    {SAVE}\n\ndef main():\n{PARSE}    go(p.parse_args())"
OTHERS = f"def go(a):\n    {SAVE}\n\ndef main():\n{PARSE}    go(known)"
PAIR = f"def go(a, rest):\n    {SAVE}\n\ndef main():\n{PARSE}    go(*p.parse_known_args())"


@pytest.mark.parametrize(
    ("functions", "default", "is_found"),
    [
        (RETURNED, "pivot", True),
        (RETURNED, "random", False),
        (
            RETURNED.replace("return p.parse_args()", "a, _ = p.parse_known_args(); return a"),
            "",
            True,
        ),
        (HANDED, "pivot", True),
        (HANDED, "random", False),
        (OTHERS, "pivot", False),
        (PAIR, "pivot", False),
    ],
)
def test_options_are_followed_through_functions_that_return_or_take_them(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    functions: str,
    default: str,
    *,
    is_found: bool,
) -> None:
    project({"fetch.py": PICKS.format(functions.format(default))})
    assert found(capsys) == ["fetch.py:8"] * is_found
