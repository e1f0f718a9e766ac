"""What a script of the project sets counts for the program that it starts."""

from __future__ import annotations

import json
import os
import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Lint = Callable[..., list[str]]

TRAIN = """
    import torch

    def main():
        torch.use_deterministic_algorithms(True)
        model = torch.nn.Linear(2, 2).to("cuda")
        model(torch.ones(2, 2, device="cuda")).sum().backward(); sgd.step()

    if __name__ == "__main__":
        main()
"""
SET = "export CUBLAS_WORKSPACE_CONFIG=:4096:8\n"
IMAGE = "FROM x\nWORKDIR /app\nENV CUBLAS_WORKSPACE_CONFIG=:4096:8\n"
FOUND = "train.py:5 DET306"


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Lint:
    """``path:row code`` of each finding of the command line."""

    def run(*paths: str, select: str = "DET306", cache: bool = False) -> list[str]:
        kept = ["--cache-dir", str(tmp_path / ".cache")] if cache else ["--no-cache"]
        main([*kept, "--output-format", "json", "--select", select, *(paths or (".",))])
        found = json.loads(capsys.readouterr().out)
        return [
            f"{os.path.relpath(each['filename'])}:{each['location']['row']} {each['code']}"
            for each in found
        ]

    return run


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"run.sh": SET + "python train.py"}, id="beside it"),
        pytest.param({"run.sh": "CUBLAS_WORKSPACE_CONFIG=:16:8 python train.py"}, id="a prefix"),
        pytest.param({"scripts/run.sh": SET + "torchrun train.py --a"}, id="from the root"),
        pytest.param({"scripts/run.sh": SET + "cd ..; python train.py"}, id="after cd"),
        pytest.param({"scripts/run.sh": SET + 'python "$ROOT/train.py"'}, id="by its name's end"),
        pytest.param({"run.sh": SET + "accelerate launch train.py"}, id="by accelerate"),
        pytest.param({"run.sh": SET + "srun python -m train"}, id="as a module"),
        pytest.param({"run.sh": SET + "bash -c 'python train.py'"}, id="in another shell"),
        pytest.param({"run.sh": SET + "./go.sh", "go.sh": "python train.py"}, id="by a script"),
        pytest.param(
            {"run.sh": SET + "sbatch go.sbatch", "go.sbatch": "srun python train.py"}, id="a job"
        ),
        pytest.param({"env.sh": SET, "run.sh": ". ./env.sh\npython train.py"}, id="sourced"),
        pytest.param(
            {
                "tools/env.sh": SET,
                "tools/run.sh": 'source "$(dirname "$0")/env.sh"\npython train.py',
            },
            id="sourced from beside it",
        ),
        pytest.param(
            {"Dockerfile": IMAGE + 'CMD ["python", "/app/train.py"]'},
            id="an image",
        ),
        pytest.param(
            {
                "Dockerfile": "FROM x\nENV CUBLAS_WORKSPACE_CONFIG=:16:8\nCMD bash run.sh",
                "run.sh": "python train.py",
            },
            id="an image that runs a script",
        ),
        pytest.param(
            {"Makefile": "export CUBLAS_WORKSPACE_CONFIG = :16:8\nt:\n\tpython train.py"}, id="make"
        ),
        pytest.param(
            {
                "compose.yaml": """
                    services:
                      train:
                        image: x
                        command: python train.py
                        environment:
                          CUBLAS_WORKSPACE_CONFIG: ":4096:8"
                """
            },
            id="a service",
        ),
        pytest.param(
            {
                ".github/workflows/train.yml": """
                    on: push
                    jobs:
                      train:
                        runs-on: gpu
                        env: {CUBLAS_WORKSPACE_CONFIG: ":4096:8"}
                        steps:
                          - run: python train.py
                """
            },
            id="a workflow",
        ),
        pytest.param({"run": "#!/bin/sh\n" + SET + "python train.py"}, id="without a suffix"),
        pytest.param(
            {"run.sh": "export CUBLAS_WORKSPACE_CONFIG=$1\npython train.py"}, id="unknown"
        ),
        pytest.param({"run.sh": "if x; then\n" + SET + "fi\npython train.py"}, id="perhaps"),
        pytest.param(
            {"a.sh": "python train.py", "b.sh": SET + "python train.py"}, id="by one of two"
        ),
    ],
)
def test_what_a_script_sets_counts(project: Project, lint: Lint, files: dict[str, str]) -> None:
    root = project({"train.py": TRAIN, **files})
    for name in files:
        (root / name).chmod(0o755)
    assert lint() == []


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"run.sh": "python train.py"}, id="sets nothing"),
        pytest.param({"run.sh": SET + "python other.py"}, id="starts another"),
        pytest.param(
            {"run.sh": "CUBLAS_WORKSPACE_CONFIG=:16:8\npython train.py"}, id="not exported"
        ),
        pytest.param({"run.sh": "python train.py\n" + SET}, id="too late"),
        pytest.param({"run.sh": SET + "sudo python train.py"}, id="not handed on"),
        pytest.param({"run.sh": SET + "ssh host 'python train.py'"}, id="on another machine"),
        pytest.param({"env.sh": SET, "run.sh": "python train.py"}, id="in a script of its own"),
        pytest.param({"run.sh": SET + "cat train.py"}, id="shows it"),
        pytest.param({"run.sh": "# " + SET + "python train.py"}, id="in a comment"),
        pytest.param({"run.sh": "(" + SET + ")\npython train.py"}, id="in a subshell"),
        pytest.param({"run.txt": SET + "python train.py"}, id="is no script"),
    ],
)
def test_what_it_does_not_does_not(project: Project, lint: Lint, files: dict[str, str]) -> None:
    project({"train.py": TRAIN, **files})
    assert FOUND in lint()  # and the script, for what it does not export


def test_scripts_of_the_project_count_whatever_is_named(project: Project, lint: Lint) -> None:
    project({"train.py": TRAIN, "run.sh": SET + "python train.py"})
    assert lint("train.py") == []
    assert lint("train.py", "run.sh") == []


def test_a_module_of_a_package_is_found(project: Project, lint: Lint) -> None:
    files = {"src/pkg/__init__.py": "", "src/pkg/train.py": TRAIN}
    project({**files, "run.sh": "python -m pkg.train"})
    assert lint() == ["src/pkg/train.py:5 DET306"]
    project({**files, "run.sh": SET + "python -m pkg.train"})
    assert lint() == []


def test_a_package_is_run_by_its_main_module(project: Project, lint: Lint) -> None:
    project({"pkg/__init__.py": "", "pkg/__main__.py": TRAIN, "run.sh": SET + "python -m pkg"})
    assert lint() == []


def test_scripts_do_not_reach_out_of_the_project(project: Project, lint: Lint) -> None:
    root = project({"train.py": TRAIN, "sub/pyproject.toml": "[tool.detlint]\n"})
    project({"sub/run.sh": SET + "python ../train.py", "sub/train.py": TRAIN})
    (root / "pyproject.toml").unlink()  # its project would hold the script, too
    os.chdir(root / "sub")
    assert lint(".", "../train.py") == ["../train.py:5 DET306", "train.py:5 DET306"]


def test_the_cache_knows_of_a_script_that_changed(project: Project, lint: Lint) -> None:
    project({"train.py": TRAIN, "run.sh": ". ./env.sh\npython train.py", "env.sh": SET})
    assert lint(cache=True) == []
    assert lint(cache=True) == []
    project({"env.sh": ""})
    assert lint(cache=True) == [FOUND]
    project({"run.sh": SET + "python train.py"})
    assert lint(cache=True) == []


def test_a_fix_leaves_alone_what_a_script_settles(project: Project) -> None:
    timed = TRAIN.replace("model = ", "torch.backends.cudnn.benchmark = True\n        model = ")
    timed = timed.replace("Linear(2, 2)", "Conv2d(2, 2, 1)")
    root = project({"train.py": timed, "run.sh": SET + "python train.py"})
    main(["--no-cache", "--fix", "--select", "DET301,DET306", "."])
    fixed = textwrap.dedent(timed).replace("benchmark = True", "benchmark = False")
    assert (root / "train.py").read_text() == fixed


def test_other_programs_of_the_folder_are_judged_alone(project: Project, lint: Lint) -> None:
    project({"train.py": TRAIN, "tune.py": TRAIN, "run.sh": SET + "python tune.py"})
    assert lint() == [FOUND]


ENGINE = """
    import torch
    import transformer_engine.pytorch as te

    def main():
        layer = te.TransformerLayer(64, 256, 4)
        layer(torch.ones(2)).sum().backward(); sgd.step()

    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize(
    ("value", "found"),
    [
        pytest.param("0", [], id="asks for it"),
        pytest.param("1", ["run.sh:1 DET604"], id="asks for the other"),
        pytest.param("$X", [], id="not known"),
    ],
)
def test_a_value_is_judged_where_it_is_set(
    project: Project, lint: Lint, value: str, found: list[str]
) -> None:
    script = f"export NVTE_ALLOW_NONDETERMINISTIC_ALGO={value}\npython train.py\n"
    project({"train.py": ENGINE, "run.sh": script})
    assert lint(select="DET604") == found


def test_a_comment_of_the_script_suppresses(project: Project, lint: Lint) -> None:
    comment = "# detlint: ignore[DET604] fast"
    script = f"export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1  {comment}\npython train.py\n"
    project({"train.py": ENGINE, "run.sh": script})
    assert lint(select="DET604") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("te.TransformerLayer(8, 8, 2)", 1),
        ("te.DotProductAttention(2, 8)", 1),
        ("torch.nn.MultiheadAttention(8, 2)", 0),
        ("te.fp8_autocast()", 0),
    ],
)
def test_only_attention_of_transformer_engine_counts(
    project: Project, lint: Lint, line: str, found: int
) -> None:
    optional = """
        import torch
        try:
            import transformer_engine.pytorch as te
        except ImportError:
            te = None
    """
    train = ENGINE.replace("te.TransformerLayer(64, 256, 4)", "torch.nn.Linear(2, 2)").replace(
        "import transformer_engine.pytorch as te", "import engine"
    )
    project({"train.py": train, "engine.py": f"{textwrap.dedent(optional)}\nlayer = {line}\n"})
    assert len(lint(select="DET604")) == found


# Scripts with the files beside them

MEGATRON = "--tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024 --train-iters 9"
LAUNCH = f"torchrun pretrain_gpt.py --micro-batch-size 4 {MEGATRON}"
PARSER = 'parser.add_argument("--micro-batch-size", type=int)\n'


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({}, 1, id="the program is another project's"),
        pytest.param({"pretrain_gpt.py": "import megatron"}, 1, id="the parser is"),
        pytest.param({"pretrain_gpt.py": "", "megatron/arguments.py": PARSER}, 0, id="not known"),
        pytest.param(
            {"pretrain_gpt.py": "", "megatron/arguments.py": f"{PARSER}x('--deterministic-mode')"},
            1,
            id="known",
        ),
        pytest.param(
            {
                "tools/pretrain_gpt.py": "",
                "megatron/arguments.py": PARSER,
                "megatron/config.py": "class C:\n    deterministic_mode: bool = False",
            },
            1,
            id="a field",
        ),
    ],
)
def test_a_projects_own_parser_says_what_can_be_advised(
    project: Project, lint: Lint, files: dict[str, str], found: int
) -> None:
    project({"scripts/run.sh": LAUNCH, **files})
    assert lint(select="DET701", cache=True) == ["scripts/run.sh:1 DET701"] * found
    assert lint(select="DET701", cache=True) == ["scripts/run.sh:1 DET701"] * found
    project({"pretrain_gpt.py": "", "other.py": PARSER})
    assert lint(select="DET701", cache=True) == (
        ["scripts/run.sh:1 DET701"] if "deterministic" in str(files) else []
    )


@pytest.mark.parametrize("program", ["$HERE/pretrain_gpt.py", "$PROGRAM"])
def test_a_program_may_be_named_by_its_end_or_not(
    project: Project, lint: Lint, program: str
) -> None:
    run = LAUNCH.replace("pretrain_gpt.py", program)
    project({"run.sh": run, "pretrain_gpt.py": "", "megatron/arguments.py": PARSER})
    assert lint(select="DET701") == []
    assert lint("run.sh", select="DET701") == []


def test_scripts_are_read_with_what_they_source(project: Project, lint: Lint) -> None:
    run = 'source "${HERE}/models/a.sh"\ntorchrun t.py --micro-batch-size 4 ${MODEL[@]}\n'
    project({"scripts/run.sh": run, "scripts/models/a.sh": f"MODEL=({MEGATRON})\n"})
    assert lint(select="DET701", cache=True) == ["scripts/run.sh:2 DET701"]
    project({"scripts/models/a.sh": f"MODEL=({MEGATRON} --deterministic-mode)\n"})
    assert lint(select="DET701", cache=True) == []
    assert lint("scripts/run.sh", select="DET701") == []


HANDS_ON = 'deepspeed hydit/train.py --lr 1 "$@"\n'
ASKS = 'sh $(dirname "$0")/run.sh --epochs 1 \\\n    --use-flash-attn "$@"\n'


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({"go.sh": ASKS, "run.sh": HANDS_ON}, 1, id="beside it"),
        pytest.param(
            {"a/go.sh": "PYTHONPATH=. bash ./s/run.sh --use-flash-attn", "s/run.sh": HANDS_ON},
            1,
            id="from the root",
        ),
        pytest.param(
            {"go.sh": "./run.sh 4 --use-flash-attn", "run.sh": "torchrun train.py ${@:2}"},
            1,
            id="but the first",
        ),
        pytest.param({"go.sh": ASKS}, 0, id="not there"),
        pytest.param({"go.sh": ASKS, "run.sh": "python train.py --lr 1"}, 0, id="hands nothing on"),
        pytest.param({"go.sh": ASKS, "run.sh": 'python evaluate.py "$@"'}, 0, id="evaluates"),
        pytest.param(
            {"go.sh": ASKS, "run.sh": f"export FLASH_ATTENTION_DETERMINISTIC=1\n{HANDS_ON}"},
            0,
            id="sets the variable",
        ),
        pytest.param(
            {"go.sh": ASKS, "run.sh": 'python train.py --full_determinism "$@"'},
            0,
            id="asks for determinism",
        ),
        pytest.param(
            {"go.sh": "# sh run.sh --use-flash-attn\n", "run.sh": HANDS_ON}, 0, id="in a comment"
        ),
    ],
)
def test_a_script_hands_its_arguments_on(
    project: Project, lint: Lint, files: dict[str, str], found: int
) -> None:
    project(files)
    assert len(lint(select="DET601")) == found


NUMBERS = """
    def main():
        names = {line.strip() for line in open("names.txt")}
        save({name: number for number, name in enumerate(names)})
        save(hash(str(options)) % 10 == 0)

    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize(
    ("files", "confidence"),
    [
        ({}, "certain"),
        ({"run.sh": "PYTHONHASHSEED=0 python train.py"}, "possible"),
        ({"run.sh": "export PYTHONHASHSEED=7\npython train.py"}, "possible"),
        ({"run.sh": "PYTHONHASHSEED=0 python other.py"}, "certain"),
        ({"run.sh": "PYTHONHASHSEED=random python train.py"}, "certain"),
        ({"docker/Dockerfile": "FROM x\nENV PYTHONHASHSEED=777\n"}, "possible"),
        ({"docker/Dockerfile": "FROM x\nENV PYTHONHASHSEED=random\n"}, "certain"),
    ],
)
def test_a_script_may_fix_the_hashes_of_strings(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], confidence: str
) -> None:
    project({"train.py": NUMBERS, **files})
    rules = ["--select", "DET105,DET204", "--min-confidence", "possible"]
    main(["--no-cache", "--output-format", "json", *rules, "train.py"])
    found = json.loads(capsys.readouterr().out)
    assert [(each["code"], each["confidence"]) for each in found] == [
        ("DET204", confidence),
        ("DET105", confidence),
    ]
