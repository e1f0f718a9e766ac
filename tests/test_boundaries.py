"""What may import what: start-up time and the linter's light dependencies depend on it."""

from __future__ import annotations

import subprocess
import sys

import pytest


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


def test_guard_does_not_import_the_linter_or_torch() -> None:
    assert loaded_after("import guard") & {"libcst", "torch", "numpy"} == set()
