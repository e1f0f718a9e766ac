"""Rules about launches: what scripts set, and on which command lines they start programs."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from detlint.finding import Confidence
from detlint.fixes.applying import fix
from detlint.rules import every_rule
from detlint.sources.source import Source
from detlint.testing import doubtful, expected, unmarked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.engine import Engine

MEGATRON = "torchrun t.py --micro-batch-size 4 --num-layers 24 --hidden-size 1024 --train-iters 9"


def script(text: str) -> Source:
    return Source("train.sh", textwrap.dedent(text).lstrip("\n"), kind="shell")


def fixed(text: str, code: str, engine: Callable[..., Engine]) -> str:
    """The script after its fixes."""
    source = script(text)
    return fix(source, engine(code).lint, unsafe=True).source.text


def sections(path: Path) -> Iterator[tuple[str, str]]:
    """The scripts of a file of cases, each below a line ``### what it shows``."""
    _, *pieces = re.split(r"^### (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return zip(pieces[::2], pieces[1::2], strict=True)


CASES = [
    pytest.param(path.stem, text, id=f"{path.stem}: {name}")
    for path in sorted((Path(__file__).parent / "cases" / "scripts").glob("*.sh"))
    for name, text in sections(path)
]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_marked_lines_of_scripts_are_found(
    name: str, text: str, engine: Callable[..., Engine]
) -> None:
    (rule,) = (each for each in every_rule() if each.name().replace("-", "_") == name)
    source = script(text)
    found = engine(rule.code).lint(source)
    assert [(each.row, each.code) for each in found] == expected(source.text)
    possible = {each.row for each in found if each.confidence == Confidence.POSSIBLE}
    assert possible == doubtful(source.text)


FIXES = [
    (
        "DET306",
        'export CUBLAS_WORKSPACE_CONFIG=":4096:2"',
        'export CUBLAS_WORKSPACE_CONFIG=":4096:8"',
    ),
    (
        "DET604",
        "export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1",
        "export NVTE_ALLOW_NONDETERMINISTIC_ALGO=0",
    ),
    ("DET703", "env HCCL_DETERMINISTIC=1 python t.py", "env HCCL_DETERMINISTIC=true python t.py"),
    ("DET106", "PYTHONHASHSEED=0\npython t.py", "export PYTHONHASHSEED=0\npython t.py"),
    ("DET106", "export PYTHONHASHSEED=random\npython t.py", "export PYTHONHASHSEED=0\npython t.py"),
    ("DET103", "python t.py --seed $RANDOM -v", "python t.py --seed 0 -v"),
    ("DET103", 'python t.py --seed="$RANDOM"', 'python t.py --seed="0"'),
    ("DET103", "S=$((RANDOM % 9))\npython t.py --seed $S", "S=0\npython t.py --seed $S"),
    ("DET103", "S=${1:-$RANDOM}\npython t.py --seed $S", "S=${1:-0}\npython t.py --seed $S"),
    ("DET103", "C='python t.py --seed $RANDOM'\neval $C", "C='python t.py --seed 0'\neval $C"),
    (
        "DET103",
        'S=$RANDOM\nC="python t.py --seed ${S}"\neval ${C}',
        'S=0\nC="python t.py --seed ${S}"\neval ${C}',
    ),
    (
        "DET106",
        "srun --export=ALL,A=b,PYTHONHASHSEED=random python t.py",
        "srun --export=ALL,A=b,PYTHONHASHSEED=0 python t.py",
    ),
    ("DET301", "python t.py trainer.benchmark=True", "python t.py trainer.benchmark=False"),
    ("DET301", "python t.py --trainer.benchmark true", "python t.py --trainer.benchmark false"),
    ("DET301", "python t.py --cudnn_benchmark", "python t.py --cudnn_benchmark"),
    ("DET302", "python t.py trainer.deterministic=False", "python t.py trainer.deterministic=True"),
    ("DET303", "python t.py --deterministic 0", "python t.py --deterministic 1"),
    ("DET303", "python t.py trainer.deterministic=warn", "python t.py trainer.deterministic=true"),
]


@pytest.mark.parametrize(("code", "before", "after"), FIXES)
def test_fixes_of_scripts_change_the_value_alone(
    code: str, before: str, after: str, engine: Callable[..., Engine]
) -> None:
    assert fixed(before, code, engine) == after


OTHERS = [
    ("Makefile", "t:\n\tpython train.py --seed $$RANDOM\n", ["DET103"]),
    ("Makefile", "t:\n\tCUBLAS_WORKSPACE_CONFIG=:4096:2 python t.py\n", ["DET306"]),
    ("Makefile", "PYTHONHASHSEED=0\nt:\n\tpython t.py\n", ["DET106"]),
    ("Makefile", "t:\n\texport PYTHONHASHSEED=0\n\tpython t.py\n", ["DET106"]),
    ("Makefile", "t:\n\texport PYTHONHASHSEED=0; python t.py\n", []),
    ("Makefile", "export PYTHONHASHSEED=0\nt:\n\tpython t.py\n", []),
    ("Dockerfile", 'FROM i\nENV PYTHONHASHSEED=random\nCMD ["python", "t.py"]\n', ["DET106"]),
    ("Dockerfile", 'FROM i\nENV PYTHONHASHSEED=random\nCMD ["gunicorn", "app"]\n', []),
    ("Dockerfile", "FROM i\nRUN python setup.py build\nENV PYTHONHASHSEED=0\n", []),
    ("Dockerfile", 'FROM i\nCMD ["python", "t.py", "--cudnn_benchmark"]\n', ["DET301"]),
    ("Dockerfile", "FROM i\nENV HCCL_DETERMINISTIC=1 A=b\n", ["DET703"]),
]


@pytest.mark.parametrize(("path", "text", "codes"), OTHERS)
def test_makefiles_and_images_are_judged_by_their_own_rules(
    path: str, text: str, codes: list[str], engine: Callable[..., Engine]
) -> None:
    found = engine().lint_bytes(path, text.encode())
    assert [each.code for each in found] == codes


def test_a_value_that_comes_from_a_variable_is_not_replaced(engine: Callable[..., Engine]) -> None:
    text = "A=:4096:2\nexport CUBLAS_WORKSPACE_CONFIG=$A\n"
    assert fixed(text, "DET306", engine) == text


MESSAGES = [
    (
        "DET701",
        f"NCCL_ALGO=Tree {MEGATRON} --deterministic-mode",
        "Megatron does not start with --deterministic-mode and NCCL_ALGO=Tree",
    ),
    (
        "DET702",
        "torchrun --nproc-per-node 8 train.py --deterministic",
        "train.py in 8 processes asks for determinism (--deterministic) and leaves NCCL_ALGO to ",
    ),
    (
        "DET703",
        "export HCCL_DETERMINISTIC=1",
        "HCCL_DETERMINISTIC=1 is none of HCCL's values, which are true, strict and false",
    ),
    (
        "DET103",
        "S=${1:-$RANDOM}\npython t.py --seed $S",
        "`S` comes from the shell's RANDOM (`$RANDOM`), unless it is given another",
    ),
    (
        "DET106",
        "PYTHONHASHSEED=0\npython train.py",
        "PYTHONHASHSEED is set here and not exported: train.py does not see it",
    ),
]


@pytest.mark.parametrize(("code", "text", "message"), MESSAGES)
def test_messages_name_what_the_script_says(
    code: str, text: str, message: str, engine: Callable[..., Engine]
) -> None:
    (found,) = engine(code).lint(script(text))
    assert found.message.startswith(message)


def test_comments_of_scripts_suppress(engine: Callable[..., Engine]) -> None:
    text = "export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1  # detlint: ignore[DET604] as measured\n"
    assert engine("DET604").lint(script(text)) == []


def test_markers_are_comments(engine: Callable[..., Engine]) -> None:
    text = unmarked("export NVTE_ALLOW_NONDETERMINISTIC_ALGO=1  # DET604\n")
    assert len(engine("DET604").lint(script(text))) == 1
