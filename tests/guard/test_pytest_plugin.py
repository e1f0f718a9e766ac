"""The pytest plugin, in real sessions of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections import Counter
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pytest
import torch
from programs import python

from detlint.integrations.pytest_plugin import seed_torch
from guard.integrations import pytest_blocks
from guard.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forks import Forks

needs_entry_points = pytest.mark.skipif(
    not any(each.name == "detlint" for each in entry_points(group="pytest11")),
    reason="installed before the plugin was: pip install -e . again",
)
pytestmark = needs_entry_points

PYTEST = ("-m", "pytest", "-rA", "--tb=short")
CONFTEST = """
import json, os
import pytest

@pytest.fixture
def note(request):
    def write(*values):
        with open(os.environ["NOTES"], "a") as file:
            print(json.dumps([request.node.name, *values]), file=file)
    return write
"""

DRAWS = """
import random
import numpy as np
import pytest
import torch

@pytest.fixture(scope="module")
def weights():
    return torch.rand(1).item()

@pytest.fixture(scope="module")
def others():
    return torch.rand(1).item()

@pytest.fixture
def batch():
    return torch.rand(1).item()

def draws(*values):
    return *values, torch.rand(1).item(), random.random(), np.random.rand()

def test_one(weights, batch, note):
    note(*draws(weights, batch))

def test_two(batch, weights, others, note):
    note(*draws(weights, batch, others))
"""


class Session:
    """What a session of pytest told and noted."""

    def __init__(self, folder: Path, done: subprocess.CompletedProcess[str]) -> None:
        self.status = done.returncode
        self.told = done.stdout + done.stderr
        notes = folder / "notes.jsonl"
        lines = notes.read_text().splitlines() if notes.exists() else []
        notes.unlink(missing_ok=True)
        self.notes: dict[str, list[Any]] = {line[0]: line[1:] for line in map(json.loads, lines)}

    @classmethod
    def started(cls, folder: Path, *options: str, **variables: str) -> Session:
        """One whose process begins without torch."""
        given = variables | {"NOTES": str(folder / "notes.jsonl")}
        return cls(folder, python(*PYTEST, *options, cwd=folder, environ=given))

    def outcome(self, test: str) -> str:
        """PASSED, FAILED or ERROR; the last that the summary has of a test."""
        found = [line.split()[0] for line in self.told.splitlines() if f"::{test}" in line]
        return found[-1] if found else "absent"


@pytest.fixture
def session(folder: Path, forks: Forks) -> Callable[..., Session]:
    """Runs one whose process has torch."""

    def run(*options: str) -> Session:
        environ = {"NOTES": str(folder / "notes.jsonl")}
        return Session(folder, forks.python(*PYTEST, *options, cwd=folder, environ=environ))

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project whose pytest is as strict as it can be, without plugins of others."""
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\nxfail_strict = true\n"
        "addopts = --strict-markers --strict-config -p no:cacheprovider\n"
    )
    (tmp_path / "conftest.py").write_text(CONFTEST)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "test_sample.py").write_text(textwrap.dedent(text))


def test_guarded_tests_draw_the_same_numbers_whatever_ran_before(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(folder, DRAWS)
    options = ("-p", "no:randomly")
    both = session(*options, "--guard")
    assert both.status == 0, both.told
    assert "LateWarning" not in both.told
    assert "guard: every test, seed 0" in both.told
    torch.manual_seed(0)
    assert both.notes["test_one"][1:3] == [torch.rand(1).item(), torch.rand(1).item()]
    one, two = both.notes["test_one"], both.notes["test_two"]
    assert one[:2] == two[:2]
    assert one[0] not in one[1:]  # shared fixtures have seeds of their own,
    assert two[2] not in [*two[:2], *two[3:]]  # each another
    alone = session(*options, "--guard", "-k", "test_two")
    assert alone.notes == {"test_two": two}
    other = session(*options, "--guard", "--guard-seed", "1")
    assert not set(other.notes["test_one"]) & set(one)


def test_gradients_that_race_and_unseeded_draws_agree_under_guard_only(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(
        folder,
        """
        import random
        import torch

        def test_gradient(note):
            x = torch.arange(1000.0).sin().requires_grad_()
            index = torch.arange(200_000) % 1000
            weight = torch.arange(200_000.0).cos() * torch.rand(1)  # races may end alike
            for _ in range(20):
                (x[index] * weight).sum().backward()
            note(x.grad.tolist(), random.random())
        """,
    )
    guarded = [session("-p", "no:randomly", "--guard").notes for _ in range(2)]
    assert guarded[0] == guarded[1] != {}
    free = [session("-p", "no:randomly").notes for _ in range(2)]
    for first, second in zip(*(each["test_gradient"] for each in free), strict=True):
        assert first != second


def test_workers_of_xdist_draw_as_one_process_does(
    folder: Path, session: Callable[..., Session]
) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    write(folder, DRAWS)
    one = session("-p", "no:randomly", "--guard")
    several = session("-p", "no:randomly", "--guard", "-n", "2")
    assert several.status == 0, several.told
    assert several.notes == one.notes


class TestRandomly:
    """pytest-randomly shuffles the tests and seeds before each, from another seed each time."""

    @pytest.fixture(autouse=True)
    def _needs_it(self) -> None:
        pytest.importorskip("pytest_randomly", reason="pytest-randomly is not installed")

    def test_under_guard_it_seeds_from_guards_seed(
        self, folder: Path, session: Callable[..., Session]
    ) -> None:
        write(folder, DRAWS)
        first, second = (session("--guard", f"--randomly-seed={n}") for n in (1, 2))
        assert first.status == second.status == 0, first.told
        assert first.notes == second.notes
        other = session("--guard", "--guard-seed=1", "--randomly-seed=1")
        assert other.notes["test_one"] != first.notes["test_one"]

    def test_without_guard_torch_draws_as_if_detlint_were_not_there(
        self, folder: Path, session: Callable[..., Session]
    ) -> None:
        write(
            folder,
            """
            import torch

            torch.manual_seed(5)

            def test_draws(note):
                note(torch.rand(1).item())
            """,
        )
        done = session("--randomly-seed=7")
        assert done.status == 0, done.told
        torch.manual_seed(5)
        assert done.notes["test_draws"] == [torch.rand(1).item()]

    def test_its_seed_returns_after_a_guarded_test(
        self, folder: Path, session: Callable[..., Session]
    ) -> None:
        write(
            folder,
            """
            import pytest
            from random import random

            @pytest.fixture(params=[1, 2])
            def seed(request):
                return request.config.option.randomly_seed

            @pytest.mark.guard(seed=3)
            def test_guarded(seed):
                assert seed == 3

            def test_free(seed):
                assert seed == 77
            """,
        )
        done = session("--randomly-seed=77")
        assert done.status == 0, done.told


def test_marker_and_fixture_switch_it_on_for_their_tests_only(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(
        folder,
        """
        import guard
        import pytest
        import torch

        @pytest.fixture
        def early():
            return guard.active()

        def is_on():
            return torch.are_deterministic_algorithms_enabled()

        @pytest.mark.guard(seed=3, fill=False)
        def test_marked(early):
            assert early == guard.Settings(seed=3, fill=False) == guard.active()
            assert torch.initial_seed() == 3

        def test_with_fixture(early, deterministic):
            assert early is deterministic is guard.active()
            assert deterministic.seed == 5 and is_on()

        def test_asks_late(request):
            assert guard.active() is None and not is_on()
            assert request.getfixturevalue("deterministic") is guard.active() and is_on()

        def test_unmarked(early):
            assert early is guard.active() is None and not is_on()

        @pytest.mark.guard(seed=1, fill=False)
        class TestMarked:
            @pytest.mark.guard(seed=2)
            def test_nearest_wins(self, deterministic):
                assert deterministic == guard.Settings(seed=2, fill=False)

            @pytest.mark.guard(False)
            def test_left_out(self):
                assert guard.active() is None
        """,
    )
    done = session("-p", "no:randomly", "--guard-seed=5")
    assert done.status == 0, done.told
    assert "guard: tests that ask for it, seed 5" in done.told


def test_a_fixture_of_the_projects_own_by_that_name_is_its_own(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(
        folder,
        """
        import sys
        import pytest

        order = []

        @pytest.fixture
        def first():
            order.append("first")

        @pytest.fixture
        def deterministic():
            order.append("deterministic")

        def test_order(first, deterministic):
            assert order == ["first", "deterministic"]
            assert "guard.setup.activation" not in sys.modules
        """,
    )
    done = session("-p", "no:randomly")
    assert done.status == 0, done.told


def test_everything_is_put_back_after_a_failure(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(
        folder,
        """
        import os, random
        import guard, pytest, torch

        before = {}

        def state():
            return torch.get_rng_state().tolist(), random.getstate(), dict(os.environ)

        def test_before():
            os.environ.pop("PYTEST_CURRENT_TEST")
            before["state"] = state()

        @pytest.mark.guard
        @pytest.mark.xfail(raises=ZeroDivisionError)
        def test_fails():
            torch.rand(1)
            1 / 0

        def test_after():
            os.environ.pop("PYTEST_CURRENT_TEST")
            assert state() == before["state"]
            assert guard.active() is None
            assert not torch.are_deterministic_algorithms_enabled()
        """,
    )
    done = session("-p", "no:randomly")
    assert done.status == 0, done.told


def test_refusal_that_no_wrapper_saw_is_explained(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(
        folder,
        """
        import pytest
        import torch
        from torch import put  # before guard could wrap it

        @pytest.fixture
        def broken():
            put(torch.zeros(3), torch.tensor([0, 0]), torch.ones(2))

        def test_refused():
            put(torch.zeros(3), torch.tensor([0, 0]), torch.ones(2))

        def test_refused_in_fixture(broken):
            pass

        @pytest.mark.guard(allow=["put_"])
        def test_allowed():
            torch.zeros(3).put_(torch.tensor([0, 0]), torch.ones(2))
        """,
    )
    done = session("-p", "no:randomly", "--guard")
    assert done.outcome("test_refused") == "FAILED", done.told
    assert done.outcome("test_refused_in_fixture") == "ERROR"
    assert done.outcome("test_allowed") == "PASSED"
    assert "NondeterministicOperationError: torch.Tensor.put_ has no determ" in done.told
    assert "where:       test_sample.py, line 11, in test_refused" in done.told
    assert "where:       test_sample.py, line 8, in broken" in done.told


def test_the_hash_seed_that_no_plugin_can_set_is_no_warning_of_each_run(folder: Path) -> None:
    write(folder, DRAWS)
    done = Session.started(folder, "-p", "no:randomly", "--guard")
    assert done.status == 0, done.told
    assert "2 passed" in done.told
    assert "LateWarning" not in done.told


def test_wrong_settings_are_told_where_they_stand(
    folder: Path, session: Callable[..., Session]
) -> None:
    write(
        folder,
        """
        import pytest

        @pytest.mark.guard(sed=3)
        def test_unknown():
            pass

        @pytest.mark.guard(seed=-1)
        def test_negative():
            pass

        def test_other():
            pass
        """,
    )
    done = session("-p", "no:randomly")
    assert Counter(map(done.outcome, ["test_unknown", "test_negative"])) == {"ERROR": 2}, done.told
    assert done.outcome("test_other") == "PASSED"
    assert "guard knows no setting 'sed'; it knows seed, fill," in done.told
    assert "a seed is an integer from 0 to 4294967295, not -1; write 4294967295" in done.told
    usage = session("--guard", "--guard-seed=first")
    assert usage.status == pytest.ExitCode.USAGE_ERROR
    assert "a seed is an integer from 0 to 4294967295, not 'first'" in usage.told


def test_session_that_ends_within_a_test_leaves_no_block_open(folder: Path) -> None:
    write(folder, "def test_interrupted():\n    raise KeyboardInterrupt\n")
    script = (
        "import guard, pytest; pytest.main(['--guard', '-p', 'no:randomly']); "
        "print('active:', guard.active())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert "KeyboardInterrupt" in done.stdout
    assert "active: None" in done.stdout


def test_nothing_is_imported_before_a_test_asks(folder: Path) -> None:
    write(
        folder,
        """
        import sys

        def test_modules():
            ours = {name for name in sys.modules if name.partition(".")[0] in ("guard", "detlint")}
            modules = ("presence", "pytest_hooks", "pytest_plugin")
            names = {f"detlint.integrations.{each}" for each in modules}
            assert ours == {"detlint", "detlint.integrations", *names}
            assert not {"torch", "libcst"} & sys.modules.keys()
        """,
    )
    done = Session.started(folder)
    assert done.status == 0, done.told


def test_seeder_does_not_import_torch() -> None:
    script = "import sys; from guard.integrations import pytest_blocks; "
    script += "pytest_blocks.OPEN.append(1); "
    script += "from detlint.integrations.pytest_plugin import seed_torch; seed_torch(1); "
    check = "sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", script + check], check=True, timeout=60)


@pytest.mark.parametrize("seed", [0, 2**32, 2**33 + 1, 2**64 - 1, -1, 10**30])
def test_seeder_takes_any_integer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_blocks, "OPEN", [Settings()])
    before = torch.get_rng_state()
    try:
        seed_torch(seed)
        drawn = torch.rand(1)
        torch.manual_seed(seed % 2**64)
        assert torch.equal(drawn, torch.rand(1))
    finally:
        torch.set_rng_state(before)


def test_pytest_may_be_started_by_guard_run(folder: Path) -> None:
    """It rewrites the asserts of packages that bring plugins, and warns of those that are imported
    already: where warnings are errors, it would not start."""
    write(folder, "def test_nothing():\n    pass\n")
    record = folder / "sample-1.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: sample\nVersion: 1\n")
    plugin = "[pytest11]\ndetlint = detlint.integrations.pytest_plugin\n"
    (record / "entry_points.txt").write_text(plugin)
    (record / "RECORD").write_text("guard/__init__.py,,\ndetlint/__init__.py,,\n")
    done = subprocess.run(
        [sys.executable, "-m", "guard", "run", "-m", "pytest", "-p", "no:randomly"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
