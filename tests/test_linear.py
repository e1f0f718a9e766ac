"""What a file costs grows with its length: of four times the lines, linting takes four times the
function calls, and a little for what is looked up in sorted lists. Calls are counted, not seconds,
so that a busy machine changes nothing; what a single call does with a long text they do not tell,
which ``benchmarks/linear.py`` measures."""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from detlint.engine import Engine
from detlint.rules import every_rule
from detlint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

LINES, TIMES, MOST = 60, 4, 5.5
HEAD = "import os\nimport numpy as np\nimport torch\nfrom torch.utils.data import DataLoader\n"
SHELL = "# CUBLAS_WORKSPACE_CONFIG PYTHONHASHSEED NVTE_ALLOW_NONDETERMINISTIC_ALGO flash seed\n"


def repeated(line: str, head: str = HEAD) -> Callable[[int], str]:
    """``{i}`` in the line is its number."""
    return lambda lines: head + "".join(line.replace("{i}", str(i)) for i in range(lines))


def notebook(lines: int) -> str:
    """A cell a line, each of which was run."""
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": number + 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1"]}],
            "source": [f"x{number} = torch.empty(3)\n", f"print(x{number})"],
        }
        for number in range(lines)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


# Name of the file → what stands in it, by how many lines.
FAMILIES = {
    "listings": ("a.py", repeated("for f in os.listdir(p): g(f)\n")),
    "listings in a function": (
        "a.py",
        repeated("    for f in os.listdir(p): g(f)\n", f"{HEAD}def f(p):\n"),
    ),
    "listings counted": ("a.py", repeated("for i, f in enumerate(os.listdir(p)): out.append(f)\n")),
    "allocations of one name": ("a.py", repeated("x17 = torch.empty(3)\n")),
    "allocations": ("a.py", repeated("x{i} = torch.empty(3, 3)\ny{i} = x{i} + 1\n")),
    "loaders": ("a.py", repeated("l = DataLoader(d, shuffle=True, num_workers=2)\n")),
    "sets": ("a.py", repeated("s = set(a)\nfor x in s:\n    out.append(x)\n")),
    "hashes": ("a.py", repeated("h = hash(name)\nd[h % 3] = name\n")),
    "lists of commands": ("t.sh", lambda n: SHELL + "python t.py &&\n" * n + "true\n"),
    "exports": ("t.sh", repeated("export X=1\npython t.py\n", SHELL)),
    "exports of what rules know": (
        "t.sh",
        repeated(
            "CUBLAS_WORKSPACE_CONFIG=:4096:8\nexport NVTE_ALLOW_NONDETERMINISTIC_ALGO=1\n"
            "python train.py --seed $RANDOM\n",
            SHELL,
        ),
    ),
    "hash seeds": ("t.sh", repeated("export PYTHONHASHSEED=0\npython t.py\n", SHELL)),
    "launches": (
        "t.sh",
        repeated("torchrun --nproc-per-node 4 train.py --use-flash-attn\n", SHELL),
    ),
    "documents": (
        "c.yaml",
        repeated(
            "---\nkind: Pod\nspec:\n  containers:\n  - command: [python, t.py]\n    env:\n"
            "    - name: CUBLAS_WORKSPACE_CONFIG\n      value: ':4096:8'\n",
            "",
        ),
    ),
    "images": ("Dockerfile", repeated("ENV X=1\nRUN python t.py\n", f"{SHELL}FROM a\n")),
    "cells": ("n.ipynb", notebook),
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    """All rules, and nothing of a project."""
    rules = every_rule()
    return Engine(rules, Settings(strict=True), known={rule.code for rule in rules})


def calls(work: Callable[[], object]) -> int:
    """How many functions are called, in all threads; going on with a generator counts."""
    found = 0

    def count(_frame: object, event: str, _argument: Any) -> None:  # noqa: ANN401 - as called
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_work_grows_with_the_length_of_a_file(family: str, engine: Engine) -> None:
    path, text = FAMILIES[family]
    short, long = (text(lines).encode() for lines in (LINES, TIMES * LINES))
    engine.lint_bytes(path, text(2).encode())  # imports, and patterns that are made once
    few, many = (calls(lambda data=data: engine.lint_bytes(path, data)) for data in (short, long))  # type: ignore[misc]
    assert few > LINES, "this family is not looked at"
    assert many <= MOST * few, f"{few} calls for {LINES} lines, {many} for {TIMES * LINES}"
