"""Errors that tell what to do, raised for real on the CPU."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
from typing import TYPE_CHECKING

import pytest
from programs import write

torch = pytest.importorskip("torch")

import guard  # noqa: E402
from guard.errors import NondeterministicOperationError, SettingsError  # noqa: E402
from guard.refusals import watch  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forks import Forks

INDEX = torch.tensor([1])
LINE = "y.put_(INDEX, torch.ones(1))"


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        y.put_(INDEX, torch.ones(1))
        return y.sum()


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(4, 4), Inner())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoder(x)


def refusing_backward() -> torch.Tensor:
    """A loss whose backward refuses on the CPU, and whose forward does not."""
    x = torch.randn(4, requires_grad=True)
    values = torch.ones(1, requires_grad=True)
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(False)
    y = x.sin().put(INDEX, values)
    torch._C._set_deterministic_algorithms(before)
    return y.sum()


def caught(call: Callable[[], object]) -> NondeterministicOperationError:
    with pytest.raises(NondeterministicOperationError) as raised:
        call()
    return raised.value


def test_an_error_in_the_forward_names_operator_line_module_and_what_to_do() -> None:
    with guard.deterministic(seed=0):
        error = caught(lambda: Outer()(torch.randn(4)))
    text = str(error)
    assert "put_" in text.splitlines()[0]
    assert "has no deterministic implementation" in text.splitlines()[0]
    assert f"{__name__.rpartition('.')[2]}.py, line " in text
    assert "in forward" in text
    assert LINE in text
    assert "module:      encoder.1 (Inner)" in text
    assert "instead:     1. " in text
    assert 'allow=["put_"] where guard is switched on, guard run --allow put_' in text
    assert "put_ does not have a deterministic implementation" in text
    assert "turn off determinism just for this operation" not in text
    assert isinstance(error.__cause__, RuntimeError)
    assert error.operation is not None


def test_it_is_a_runtime_error_for_who_catches_those() -> None:
    with guard.deterministic(), pytest.raises(RuntimeError, match="put_"):
        Outer()(torch.randn(4))


def test_an_error_in_a_backward_names_the_forward_line() -> None:
    with guard.deterministic():
        loss = refusing_backward()
        error = caught(loss.backward)
    text = str(error)
    assert "y = x.sin().put(INDEX, values)" in text
    assert "in refusing_backward" in text
    assert "backward:" in text


def test_of_two_nodes_the_one_that_refuses_is_named() -> None:
    with guard.deterministic():
        first = refusing_backward()
        torch._C._set_deterministic_algorithms(False)
        second = first.expand(4).put(INDEX, torch.ones(1))
        torch._C._set_deterministic_algorithms(True)
        error = caught(second.sum().backward)
    assert "second = first.expand(4).put" in str(error)


def test_other_errors_pass_untouched() -> None:
    with guard.deterministic(), pytest.raises(RuntimeError) as raised:
        torch.ones(2) @ torch.ones(3)
    assert type(raised.value) is RuntimeError


def test_an_error_leaves_a_block_explained_where_no_wrapper_saw_it() -> None:
    with pytest.raises(NondeterministicOperationError) as raised, guard.deterministic():
        torch.ops.aten.put_(torch.zeros(4), INDEX, torch.ones(1))
    assert "torch.ops.aten.put_(torch.zeros(4)" in str(raised.value)


def test_an_allowed_operator_runs_and_is_counted() -> None:
    with guard.deterministic(allow=["put_"]):
        Outer()(torch.randn(4))
        Outer()(torch.randn(4))
        watcher = watch.current()
        assert watcher is not None
        (count,) = watcher.let_through.values()
        assert count == 2
        assert torch.are_deterministic_algorithms_enabled()


def test_a_backward_that_is_allowed_runs() -> None:
    with guard.deterministic(allow=["put_"]):
        refusing_backward().backward()
        assert torch.are_deterministic_algorithms_enabled()


def test_an_unknown_name_to_allow_lists_near_ones() -> None:
    with pytest.raises(SettingsError, match=r"'putt'; near ones: .*put_"):
        guard.enable(allow=["putt"])
    assert guard.active() is None


def test_everything_that_was_wrapped_is_put_back() -> None:
    places = [
        (torch, "compile"),
        (torch, "put"),
        (torch.Tensor, "put_"),
        (torch.autograd.Variable, "_execution_engine"),
        (torch._C._nn, "adaptive_avg_pool2d"),
        (sys, "excepthook"),
        (threading, "excepthook"),
    ]
    before = [getattr(owner, name) for owner, name in places]
    inherited = "put_" in vars(torch.Tensor)
    with pytest.raises(KeyError), guard.deterministic(), guard.deterministic(seed=1):
        raise KeyError
    assert [getattr(owner, name) for owner, name in places] == before
    assert ("put_" in vars(torch.Tensor)) is inherited


def test_in_a_thread() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            Outer()(torch.randn(4))
        except RuntimeError as error:
            errors.append(error)

    with guard.deterministic():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert isinstance(errors[0], NondeterministicOperationError)


class Refusing(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.zeros(4).put_(INDEX, torch.ones(1))


def test_in_a_worker_of_a_loader() -> None:
    with guard.deterministic():
        loader = torch.utils.data.DataLoader(
            Refusing(), num_workers=1, multiprocessing_context="fork"
        )
        text = str(caught(lambda: list(loader)))
    assert "in DataLoader worker process 0" in text
    assert "torch.zeros(4).put_(INDEX, torch.ones(1))" in text
    gc.collect()  # the error's traceback held the loader, and that its worker
    for worker in multiprocessing.active_children():
        worker.join(timeout=10)  # else the next test is warned of it


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_under_compile_where_tracing_fails(backend: str) -> None:
    torch.compiler.reset()
    with guard.deterministic():

        @torch.compile(backend=backend)
        def compiled(x: torch.Tensor) -> torch.Tensor:
            indices = torch.zeros(1, 1, 2, 2, dtype=torch.long)
            return torch.nn.functional.max_unpool2d(x, indices, 2)

        text = str(caught(lambda: compiled(torch.randn(1, 1, 2, 2))))
    assert text.startswith("torch.nn.functional.max_unpool2d has no deterministic implementation")
    assert "return torch.nn.functional.max_unpool2d(x, indices, 2)" in text


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_under_compile_where_the_code_runs(backend: str) -> None:
    torch.compiler.reset()
    with guard.deterministic():

        @torch.compile(backend=backend)
        def compiled(x: torch.Tensor) -> torch.Tensor:
            return x.put(INDEX, torch.ones(1))

        text = str(caught(lambda: compiled(torch.randn(4))))
    assert text.startswith("torch.Tensor.put_ has no deterministic implementation")
    assert "in what torch.compile made of " in text
    assert "in compiled" in text


def test_a_watched_function_compiles_and_scripts() -> None:
    torch.compiler.reset()

    def pooled(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_avg_pool2d(x, 2) + torch.median(x, dim=-1)[0].sum()

    x = torch.randn(1, 3, 8, 8)
    wanted = pooled(x)
    with guard.deterministic():
        assert torch.equal(torch.compile(pooled, backend="eager", fullgraph=True)(x), wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # deprecated since torch 2.13
            scripted = torch.jit.script(torch.nn.AdaptiveAvgPool2d(2))
        assert torch.equal(scripted(x), torch.nn.functional.adaptive_avg_pool2d(x, 2))
        traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(2)))
        assert torch.equal(traced(x), torch.nn.functional.adaptive_avg_pool2d(x, 2))


BLOCKS = """
import warnings
import torch
import guard

x = torch.randn(3, 4)
warnings.simplefilter("error")
for _ in range(2):  # torch.compile learns of torch's functions in the first block
    with guard.deterministic():
        torch.compiler.reset()
        torch.compile(lambda x: torch.median(x, dim=-1)[0], backend="eager", fullgraph=True)(x)
print("compiled")
"""


def test_functions_compile_in_one_block_after_another(tmp_path: Path) -> None:
    command = [
        sys.executable,
        write(tmp_path / "train.py", BLOCKS),
    ]  # a process that never compiled
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "compiled\n", done.stderr


PROGRAM = """
from torch import put
import torch
import guard
guard.enable(seed=0)
{body}
"""
UNCAUGHT = {
    "by the name that was imported before": "put(torch.zeros(4), torch.tensor([1]), torch.ones(1))",
    "in a thread": (
        "import threading\n"
        "work = lambda: put(torch.zeros(4), torch.tensor([1]), torch.ones(1))\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()"
    ),
}


@pytest.mark.parametrize("body", UNCAUGHT.values(), ids=UNCAUGHT)
def test_uncaught(tmp_path: Path, forks: Forks, body: str) -> None:
    script = write(tmp_path / "train.py", PROGRAM.format(body=body))
    done = forks.python(script, cwd=tmp_path)
    assert "NondeterministicOperationError: " in done.stderr
    assert "train.py, line " in done.stderr
    assert "instead:" in done.stderr


RANKS = """
import os, torch, guard
guard.enable(seed=0)
if os.environ["RANK"] == "1":
    torch.zeros(4).put_(torch.tensor([1]), torch.ones(1))
"""


def test_on_one_of_several_ranks(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(RANKS)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*command, script.name],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1
    assert "  rank:        1" in done.stderr
    assert "torch.zeros(4).put_(torch.tensor([1]), torch.ones(1))" in done.stderr
