"""What may import what: start-up time and the linter's light dependencies depend on it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import detlint
import guard

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from types import ModuleType


def loaded_after(statement: str) -> set[str]:
    """Top-level modules in memory after a statement, in a fresh interpreter."""
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")[-2].split())


@pytest.mark.parametrize(
    "statement",
    [
        "import detlint.cli",
        "import detlint.rules; detlint.rules.every_rule()",
        "import detlint.engine",
        "import detlint.runner",
    ],
)
def test_nothing_heavy_is_imported_before_there_is_something_to_parse(statement: str) -> None:
    heavy = {"torch", "numpy", "libcst", "rich", "pathspec", "multiprocessing", "dataclasses"}
    assert loaded_after(statement) & heavy == set()


def test_a_clean_file_is_linted_without_libcst(tmp_path: object) -> None:
    path = f"{tmp_path}/clean.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write("def f(x):\n    return x + 1\n")
    statement = f"import detlint.cli; detlint.cli.main([{path!r}, '--isolated', '--no-cache'])"
    assert loaded_after(statement) & {"libcst", "rich", "pathspec", "torch"} == set()


def test_programs_notebooks_scripts_and_configurations_are_judged_without_libcst(
    tmp_path: Path,
) -> None:
    files = {
        "train.py": "import random\nimport torch\nfrom data import rows\n\ntorch.manual_seed(0)\n"
        "def main():\n    loss(rows(random.random())).backward(); optimizer.step()\n\n"
        "if __name__ == '__main__':\n    main()\n",
        "data.py": "import numpy as np\n\ndef rows(x):\n    return np.random.rand(x)\n",
        "try.ipynb": json.dumps(
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "source": ["import torch\n", "%env X=1\n", "torch.rand(2).backward()"],
                        "outputs": [],
                        "metadata": {},
                        "execution_count": 1,
                    }
                ],
                "metadata": {},
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        ),
        "run.sh": "CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py --benchmark\n",
        "config.yaml": "trainer:\n  benchmark: true\n  deterministic: false\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    options = [str(tmp_path), "--isolated", "--no-cache", "--min-confidence", "possible"]
    lint = f"import detlint.cli; detlint.cli.main({options!r})"
    assert "libcst" not in loaded_after(lint)
    found = subprocess.run(
        [sys.executable, "-c", lint], capture_output=True, text=True, check=False
    )
    for code in ("DET102", "DET304"):
        assert code in found.stdout


def test_guard_does_not_import_the_linter_or_torch() -> None:
    assert loaded_after("import guard") & {"libcst", "torch", "numpy"} == set()


def test_what_has_programs_run_and_compares_them_does_not_import_torch() -> None:
    assert "torch" not in loaded_after("import guard.verification.inquiry")


# Which part of the linter may import which, but for types: these before those.
_LAYERS = (
    "detlint.rules",
    "detlint.link",
    "detlint.callgraph",
    "detlint.index",
    "detlint.sources",
)


@cache
def _imports(package: ModuleType = detlint, *, late: bool = True) -> dict[str, set[str]]:
    """The modules that each module imports; not those that only type checkers read.

    late  also those that are imported within functions
    """
    root = Path(package.__file__ or "").parent
    paths = {_module(path.relative_to(root.parent)): path for path in root.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = _running(tree) if late else tree.body
        used = {module for node in nodes for module in _imported(node, paths)}
        found[name] = (used & paths.keys()) - {name}
    return found


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    pending = [tree]
    for node in pending:
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
        else:
            pending += ast.iter_child_nodes(node)


def _imported(node: ast.AST, known: Container[str]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        for each in node.names:
            module = f"{node.module}.{each.name}"
            yield module if module in known else node.module
    elif isinstance(node, ast.Import):
        yield from (each.name for each in node.names)


@pytest.mark.parametrize(("package", "late"), [(detlint, True), (guard, False)])
def test_no_modules_import_each_other_in_a_circle(package: ModuleType, late: bool) -> None:
    imports = dict(_imports(package, late=late))
    assert len(imports) > 100
    while leaves := [name for name, used in imports.items() if not used & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert {name: used & imports.keys() for name, used in imports.items()} == {}


def test_imports_lead_downwards() -> None:
    imports = _imports()
    for place, above in enumerate(_LAYERS):
        for below in _LAYERS[place + 1 :]:
            lower = [name for name in imports if name == below or name.startswith(f"{below}.")]
            assert lower
            for name in lower:
                assert not {each for each in imports[name] if each.startswith(above)}, name


# Packages of guard that import nothing of those behind them, but for types.
_READING = ("guard.recording", "guard.verification", "guard.rehearsal", "guard.commands")
_BELOW = {
    "guard.trace": ("guard.diff", *_READING),
    "guard.diff": ("guard.digests.tensors", "guard.digests.structures", *_READING),
    "guard.digests": ("guard.diff", *_READING),
    "guard.observe": ("guard.diff", "guard.digests", *_READING),
    "guard.recording": ("guard.verification", "guard.rehearsal", "guard.commands"),
    "guard.setup": ("guard.diff", "guard.refusals", *_READING),
    "guard.refusals": ("guard.diff", *_READING),
    "guard.repairs": ("guard.diff", *_READING),
    "guard.inventory": ("guard.diff", *_READING),
}


@pytest.mark.parametrize("below", _BELOW)
def test_packages_of_guard_import_nothing_above_them(below: str) -> None:
    imports = _imports(guard, late=False)
    for name in (each for each in imports if each.startswith(f"{below}.")):
        assert not [each for each in imports[name] if each.startswith(_BELOW[below])], name
