"""Switching on and off: everything is put back, and repeated and nested use is well defined."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import guard  # noqa: E402
from detlint.addresses import installation  # noqa: E402
from guard.errors import GuardError, LateWarning, SettingsError  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    yield
    guard.disable()


def found() -> list[Any]:
    """All that guard changes, as it stands."""
    numpys = np.random.get_state()
    # torch sets this one itself as soon as its compiler is imported.
    environ = {key: os.environ[key] for key in os.environ if key != "TORCHINDUCTOR_CACHE_DIR"}
    return [
        environ,
        random.getstate(),
        [numpys[0], numpys[1].tolist(), *numpys[2:]],
        torch.get_rng_state().tolist(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
        torch.backends.cudnn.deterministic,
        torch.backends.cudnn.benchmark,
        torch.backends.cudnn.enabled,
        torch.backends.cuda.matmul.allow_tf32,
        torch.backends.cudnn.allow_tf32,
        torch.get_float32_matmul_precision(),
        torch.Tensor.put_,
        torch.compile,
        sys.excepthook,
        threading.excepthook,
        torch.overrides._get_current_function_mode_stack(),
    ]


EVERYTHING = {"fill": False, "reduced_precision": False, "cudnn": False, "dropout": False}


@pytest.mark.parametrize("options", [{}, EVERYTHING, {"rng": "cpu"}], ids=repr)
def test_a_block_puts_everything_back(options: dict[str, Any]) -> None:
    torch.backends.cudnn.benchmark = True
    before = found()
    with guard.deterministic(seed=3, **options):
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.benchmark
        torch.rand(3), random.random(), np.random.rand()
    assert found() == before
    torch.backends.cudnn.benchmark = False


def test_a_block_puts_everything_back_when_it_raises() -> None:
    before = found()
    with pytest.raises(IndexError), guard.deterministic(seed=3, **EVERYTHING):
        torch.rand(3)[7]
    assert found() == before


def test_what_the_block_itself_changed_is_put_back_too() -> None:
    before = found()
    with guard.deterministic():
        torch.use_deterministic_algorithms(False)
        torch.backends.cudnn.benchmark = True
    assert found() == before


def test_enable_and_disable() -> None:
    before = found()
    assert guard.active() is None
    guard.enable(seed=5)
    settings = guard.active()
    assert settings is not None
    assert settings.seed == 5
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()
    guard.disable()
    assert guard.active() is None
    assert found() == before
    guard.disable()  # off already


def test_enabling_twice_does_not_seed_again() -> None:
    guard.enable(seed=5)
    first = torch.rand(3)
    guard.enable(seed=5)
    assert not torch.equal(torch.rand(3), first)


def test_enabling_twice_with_other_settings_is_an_error_that_names_them() -> None:
    guard.enable(seed=5)
    message = r"enabled with seed=5 already, and asked for seed=6: call guard.disable\(\) first"
    with pytest.raises(SettingsError, match=message):
        guard.enable(seed=6)
    with pytest.raises(SettingsError, match=r"fill=True already, and asked for fill=False"):
        guard.enable(seed=5, fill=False)


def test_what_a_second_call_leaves_out_is_in_force() -> None:
    guard.enable(seed=5, fill=False)
    guard.enable()
    guard.enable(fill=False)
    settings = guard.active()
    assert settings is not None
    assert (settings.seed, settings.fill) == (5, False)


def test_blocks_nest_and_stand_under_enable() -> None:
    guard.enable(seed=5)
    outer = torch.rand(3)
    with guard.deterministic(seed=6) as settings:
        assert guard.active() == settings
        inner = torch.rand(3)
        with guard.deterministic(seed=5):
            assert torch.equal(torch.rand(3), outer)
        with guard.deterministic(seed=6):
            assert torch.equal(torch.rand(3), inner)
    settings_after = guard.active()
    assert settings_after is not None
    assert settings_after.seed == 5
    following = torch.rand(3)
    guard.disable()
    guard.enable(seed=5)
    torch.rand(3)
    assert torch.equal(torch.rand(3), following)  # blocks draw nothing from outside


def test_enable_and_disable_inside_a_block_are_errors() -> None:
    with guard.deterministic(), pytest.raises(GuardError, match="call it before the block"):
        guard.enable(seed=5)
    guard.enable()
    with guard.deterministic(), pytest.raises(GuardError, match="leave the block first"):
        guard.disable()
    guard.disable()
    with guard.deterministic(), pytest.raises(GuardError, match="leave the block first"):
        guard.disable()


def test_a_torch_that_is_too_old_is_told_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.utils, "deterministic")  # what torch 2.1 lacks
    with pytest.raises(GuardError, match=r"guard needs torch 2.2 or newer, and this is 2\."):
        guard.enable()


def test_an_error_on_the_way_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2")
    before = found()
    with pytest.raises(SettingsError, match=r":4096:8"):
        guard.enable(seed=1)
    assert found() == before
    assert guard.active() is None


def _sleep() -> None:
    import time

    time.sleep(20)


def test_processes_that_run_already_are_told_of() -> None:
    process = multiprocessing.get_context("fork").Process(target=_sleep, name="Early", daemon=True)
    process.start()
    try:
        with pytest.warns(LateWarning, match=r"1 process was started before .* \(Early\)"):
            guard.enable(seed=1)
    finally:
        process.kill()
        process.join()


def test_in_a_thread() -> None:
    drawn: list[Any] = []

    def work() -> None:
        with guard.deterministic(seed=1):
            drawn.append(torch.rand(2))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with guard.deterministic(seed=1):
        assert torch.equal(drawn[0], torch.rand(2))


def run(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_forked_child_goes_on_under_guard() -> None:
    done = run(
        """
        import os, torch, guard
        guard.enable(seed=1)
        child = os.fork()
        if not child:
            assert guard.active().seed == 1
            assert torch.are_deterministic_algorithms_enabled()
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        PYTHONHASHSEED="0",
    )
    assert done.stdout.strip() == "7", done.stderr


# What differs between fresh processes on a CPU, each with a result of its own.
PROGRAM = """
import hashlib, random
import numpy, torch
import guard

def gradient_of_indexing():
    x = torch.zeros(1000, requires_grad=True)
    index = torch.arange(200_000) % 1000
    (x[index] * torch.linspace(0, 1, 200_000) ** 3 * 1e3).sum().backward()
    return x.grad

def accumulating_put():
    index = torch.arange(200_000) % 10
    values = torch.linspace(0, 1, 200_000) ** 3 * 1e3
    return torch.zeros(10).put_(index, values, accumulate=True)

def unwritten_memory():
    return torch.cat([torch.empty(3) for _ in range(50)])

def generators():
    return torch.tensor([random.random(), numpy.random.rand(), torch.rand(()).item()])

for _ in range(2):
    for source in (gradient_of_indexing, accumulating_put, unwritten_memory, generators):
        data = source().contiguous().view(torch.uint8).numpy().tobytes()
        print(source.__name__, hashlib.sha256(data).hexdigest())
    guard.enable(seed=0)
"""


def lines_of_runs(count: int) -> list[set[str]]:
    """The lines of the program's output, each with what fresh processes printed there."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    outputs = [run.communicate()[0].splitlines() for run in runs]
    assert all(len(output) == 8 for output in outputs)
    return [set(line) for line in zip(*outputs, strict=True)]


def test_fresh_processes_differ_and_agree_under_guard() -> None:
    found: list[set[str]] = [set() for _ in range(8)]
    for _ in range(5):  # two runs meet by chance once in a while
        found = [seen | new for seen, new in zip(found, lines_of_runs(4), strict=True)]
        assert [len(line) for line in found[4:]] == [1, 1, 1, 1]
        if all(len(line) > 1 for line in found[:4]):
            return
    pytest.fail(f"20 runs without guard agreed: {found}")


def test_importing_guard_imports_nothing_heavy() -> None:
    done = run(
        """
        import sys
        import guard
        print(sorted({"torch", "numpy", "libcst", "rich"} & sys.modules.keys()))
        """
    )
    assert done.stdout.strip() == "[]"


def test_without_torch_it_says_how_to_install_it() -> None:
    done = run(
        """
        import sys
        sys.modules["torch"] = None  # what an import finds where it is not installed
        import guard
        for function in (guard.enable, guard.rng_state, lambda: guard.seed_worker(0)):
            try:
                function()
            except ModuleNotFoundError as error:
                print(error)
        """
    )
    assert done.stdout.count(f"needs torch: {installation('guard')}") == 3, done
