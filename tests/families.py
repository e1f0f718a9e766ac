"""Files that are one statement after the other, as long as one likes: a family for each question
that was once asked anew for each line."""

from __future__ import annotations

import json
import re
from textwrap import dedent
from typing import TYPE_CHECKING

from detlint.rules import every_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = "import os\nimport numpy as np\nimport torch\nfrom torch.utils.data import DataLoader\n"
DONE = "from concurrent.futures import as_completed\n"
SHELL = "# CUBLAS_WORKSPACE_CONFIG PYTHONHASHSEED NVTE_ALLOW_NONDETERMINISTIC_ALGO flash seed\n"
_KEEPING = f"{HEAD}def f(p):\n    out = []\n"
_NAMING = f"{HEAD}def f(p):\n    out = {{}}\n"
RANDOM = """\
import os, random, time
import numpy as np
from datasets import load_dataset
from sklearn.cluster import KMeans
from torch.utils.data import DataLoader, DistributedSampler

"""


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


def calling_each_other(lines: int) -> str:
    """A data set whose methods call each other, around and around."""
    methods = (
        f"    def m{number}(self, x):\n"
        f"        y = self.m{(number + 1) % lines}(x).sample()\n"
        f"        return self.m{(number + 2) % lines}(y) + self.m{(number * 7) % lines}(y)\n"
        for number in range(lines)
    )
    head = "class Data(torch.utils.data.Dataset):\n"
    entry = "    def __getitem__(self, i):\n        return self.m0(i).sample()\n"
    loader = "loader = DataLoader(Data(), shuffle=True, num_workers=2)\n"
    return "".join((HEAD, head, entry, *methods, loader))


# Name of the file → what stands in it, by how many lines.
FAMILIES = {
    "methods that call each other": ("a.py", calling_each_other),
    "branches that call the function around": (
        "a.py",
        repeated(
            "    if goal.kind == {i}:\n"
            "        return both(prove(goal.left, used | {goal.name}), prove(goal.right, used))\n",
            "def prove(goal, used=None):\n    if used is None:\n        used = set()\n",
        ),
    ),
    "listings": ("a.py", repeated("for f in os.listdir(p): g(f)\n")),
    "listings in a function": (
        "a.py",
        repeated("    for f in os.listdir(p): g(f)\n", f"{HEAD}def f(p):\n"),
    ),
    "listings counted": ("a.py", repeated("for i, f in enumerate(os.listdir(p)): out.append(f)\n")),
    "listings kept": (
        "a.py",
        lambda lines: (
            repeated("for f in os.listdir(p): out.append(f)\n")(lines) + "print(out[0])\n"
        ),
    ),
    "listings kept in a function": (
        "a.py",
        lambda lines: (
            repeated("    for f in os.listdir(p): out.append(f)\n", _KEEPING)(lines)
            + "    return out\n"
        ),
    ),
    "listings by name": (
        "a.py",
        lambda lines: (
            repeated("    out['{i}'] = os.listdir(p)\n", _NAMING)(lines) + "    g(**out)\n"
        ),
    ),
    "memory added up": (
        "a.py",
        lambda lines: (
            repeated("    x = x + torch.empty(3)\n", f"{HEAD}def f(x):\n")(lines) + "    g(x)\n"
        ),
    ),
    "allocations of one name": ("a.py", repeated("x17 = torch.empty(3)\n")),
    "allocations": ("a.py", repeated("x{i} = torch.empty(3, 3)\ny{i} = x{i} + 1\n")),
    "loaders": ("a.py", repeated("l = DataLoader(d, shuffle=True, num_workers=2)\n")),
    "results": ("a.py", repeated("for f in as_completed(x):\n    rows.append(f.result())\n", DONE)),
    "results in a function": (
        "a.py",
        repeated(
            "    for f in as_completed(x):\n        rows.append(f.result())\n",
            f"{DONE}def h(x):\n    rows = []\n",
        ),
    ),
    "results in a dict": (
        "a.py",
        repeated(
            "    for f in as_completed(x):\n        rows[f.name] = f.result()\n",
            f"{DONE}def h(x):\n    rows = {{}}\n",
        ),
    ),
    "results in lists of a dict": (
        "a.py",
        repeated(
            "    for f in as_completed(x):\n        k, v = f.result()\n        d[k].append(v)\n",
            f"{DONE}def h(x):\n    d = {{}}\n",
        ),
    ),
    "results in an attribute": (
        "a.py",
        repeated(
            "    def h{i}(self, x):\n"
            "        for f in as_completed(x): self.rows.append(f.result())\n",
            f"{DONE}class A:\n",
        ),
    ),
    "results one by one": (
        "a.py",
        repeated(
            "    while c:\n        r.append(next(as_completed(x)))\n", f"{DONE}def h(x, r):\n"
        ),
    ),
    "results of functions in a function": (
        "a.py",
        repeated("    def g{i}():\n        return list(as_completed(x))\n", f"{DONE}def h(x):\n"),
    ),
    "results in globals": ("a.py", repeated("g{i} = list(as_completed(x))\n", DONE)),
    "sets": ("a.py", repeated("s = set(a)\nfor x in s:\n    out.append(x)\n")),
    "hashes": ("a.py", repeated("h = hash(name)\nd[h % 3] = name\n")),
    "sums of hashes": (
        "a.py",
        repeated("    h = (h + hash(name)) % 7\n", "def f(h, name: str):\n"),
    ),
    "seeds": ("a.py", repeated("seed{i} = int(time.time())\nrandom.seed(seed{i})\n", RANDOM)),
    "a chain of seeds": ("a.py", repeated("seed = seed + 1\n", f"{RANDOM}seed = time.time()\n")),
    "seeds by functions": (
        "a.py",
        repeated("def f{i}(): return time.time()\ndef g{i}(): random.seed(f{i}())\n", RANDOM),
    ),
    "generators": ("a.py", repeated("rng{i} = np.random.default_rng()\n", RANDOM)),
    "generators of one field": (
        "a.py",
        repeated("  def f{i}(self): self.r = random.Random()\n", f"{RANDOM}class A:\n"),
    ),
    "estimators": ("a.py", repeated("m{i} = KMeans(3)\n", RANDOM)),
    "data sets shuffled in a chain": (
        "a.py",
        repeated("d = d.shuffle().map(f)\n", f"{RANDOM}d = load_dataset('x')\n"),
    ),
    "samplers": (
        "a.py",
        repeated(
            "s{i} = DistributedSampler(x)\nfor epoch in range(3):\n"
            "  for b in DataLoader(x, sampler=s{i}): pass\n",
            RANDOM,
        ),
    ),
    "hash seeds that are set": ("a.py", repeated("os.environ['PYTHONHASHSEED'] = '0'\n", RANDOM)),
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

_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
# What Python and torch call by its name.
_CALLED = re.compile(r"__\w+__|forward|backward|step|training_step|test_\w+|collate_fn")


def numbered(text: str, number: int) -> str:
    """With functions and classes that are called otherwise than those of another number."""
    for name in dict.fromkeys(_DEFINED.findall(text)):
        if not _CALLED.fullmatch(name):
            text = re.sub(rf"\b{name}\b", f"{name}{number}", text)
    return text


def examples() -> Iterator[tuple[str, tuple[str, Callable[[int], str]]]]:
    """Each example of each rule, again and again."""
    for rule in every_rule():
        for place, each in enumerate(rule.examples, 1):
            text = f"{dedent(each.bad).strip()}\n"
            if each.path.endswith((".py", ".sh", ".cu")):
                yield f"{rule.code}, example {place}", (each.path, _again(text))


def _again(text: str) -> Callable[[int], str]:
    return lambda times: "".join(numbered(text, number) for number in range(times))


EXAMPLES = dict(examples())
