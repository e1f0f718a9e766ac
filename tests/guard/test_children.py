"""Processes that multiprocessing starts afresh begin under guard, with the same settings."""

from __future__ import annotations

import os
from multiprocessing import spawn
from typing import TYPE_CHECKING

import pytest
from programs import python, write

import guard

pytest.importorskip("torch")

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
    import multiprocessing
    import sys

    print(__name__, "torch" in sys.modules)

    def show():
        import guard, torch
        print(guard.active().seed, torch.initial_seed(), guard.active().allow)
        print(torch.are_deterministic_algorithms_enabled(), hash("x"), flush=True)

    if __name__ == "__main__":
        import guard
        with guard.deterministic(seed=5, allow="put_"):
            for method in sys.argv[1:]:
                process = multiprocessing.get_context(method).Process(target=show)
                process.start()
                process.join()
                print(process.exitcode, flush=True)
    """


def test_they_have_the_settings_of_the_parent_before_its_module_is_imported(
    tmp_path: Path,
) -> None:
    methods = ["spawn"] * 2 if os.name == "nt" else ["spawn", "forkserver"]
    script = write(tmp_path / "train.py", PROGRAM)
    done = python("-u", script, *methods, cwd=tmp_path, environ={"PYTHONHASHSEED": "0"})
    lines = [line for line in done.stdout.splitlines() if not line.startswith("__mp_main__ False")]
    assert done.stderr == ""
    assert lines[0] == "__main__ False"
    assert lines.count("__mp_main__ True") == 2
    results = [line for line in lines if not line.startswith("__")]
    assert results[:3] == results[3:]
    assert results[0] == "5 5 ('put_',)"
    assert results[1].startswith("True ")
    assert results[2] == "0"


def test_it_is_undone() -> None:
    before = spawn.get_preparation_data
    with guard.deterministic():
        assert "guard" in spawn.get_preparation_data("name")
    assert spawn.get_preparation_data is before
    assert "guard" not in spawn.get_preparation_data("name")
