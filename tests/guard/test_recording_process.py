"""``python -m guard record``: programs run as ever, whatever becomes of them and their children."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import pytest
from programs import python, write

pytest.importorskip("torch")

import guard
from guard.__main__ import main
from guard.recording.session import check_empty
from guard.trace import REPLACED, open_run

if TYPE_CHECKING:
    from pathlib import Path

RECORD = ("-m", "guard", "record", "--out", "run")
TRAINING = """
    import os, sys
    assert "torch" not in sys.modules
    os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __init__(self):
            self.scale = torch.nn.Sequential(torch.nn.Linear(4, 4))
        def __len__(self):
            return 8
        def __getitem__(self, index):
            with torch.no_grad():
                return self.scale(torch.full((4,), float(index)))

    if __name__ == "__main__":
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in DataLoader(Data(), batch_size=4, num_workers=2):
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()
        print(torch.get_num_threads(), sys.argv, __name__, sorted(vars()))
        print(type(torch.__spec__.loader).__name__)
        print([each.tolist() for each in model.parameters()])
        if "--kill" in sys.argv:
            os.kill(os.getpid(), 9)
        sys.exit(3 if "--exit" in sys.argv else 0)
    """


def test_a_program_runs_as_ever_with_its_workers(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", TRAINING)
    plain = python(script, "--exit", cwd=tmp_path)
    seen = python(*RECORD, script, "--exit", cwd=tmp_path)
    assert (seen.returncode, seen.stdout, seen.stderr) == (3, plain.stdout, plain.stderr)
    assert plain.stdout.startswith("1 ")
    (trace,) = open_run(tmp_path / "run")
    assert trace.end is not None
    assert (trace.end.status, trace.end.message) == ("raised", "SystemExit: 3")
    assert [each.kind for each in trace.steps()] == ["training", "training", "end"]
    assert {each.name for each in trace.step(0).events if each.kind == "output"} == {"Linear"}
    assert [each.phase for each in trace.step(0).events if each.kind == "batch"] == ["workers", ""]
    assert trace.header.command == (str(script), "--exit")
    assert trace.header.folder == str(tmp_path)
    assert trace.header.environment["fingerprint"] in trace.header.environment["digest"]
    assert trace.header.environment["items"]["torch: torch"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_killed_run_can_be_read(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", TRAINING)
    assert python(*RECORD, script, "--kill", cwd=tmp_path).returncode == -9
    (trace,) = open_run(tmp_path / "run")
    assert not trace.complete
    assert [each.kind for each in trace.steps()] == ["training", "training"]


RANKS = """
    import os, sys, torch
    import torch.distributed as dist

    def work(rank, size, port):
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("gloo", rank=rank, world_size=size)
        torch.manual_seed(0)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(2):
            optimizer.zero_grad()
            model(torch.full((2, 4), float(rank + step))).sum().backward()
            optimizer.step()
        dist.destroy_process_group()

    if __name__ == "__main__":
        import socket
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = torch.multiprocessing.get_context(sys.argv[1])
        children = [context.Process(target=work, args=(rank, 2, port)) for rank in range(2)]
        for each in children:
            each.start()
        for each in children:
            each.join()
        sys.exit(max(each.exitcode for each in children))
    """


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_children_that_become_ranks_have_traces_of_their_own(tmp_path: Path) -> None:
    script = write(tmp_path / "ranks.py", RANKS)
    done = python(*RECORD, script, "fork", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    traces = open_run(tmp_path / "run")
    assert [(each.header.rank, each.header.world_size) for each in traces] == [(0, 2), (1, 2)]
    for each in traces:
        assert [step.kind for step in each.steps()][:2] == ["training", "training"]
    first, second = (each.step(1) for each in traces)
    assert [each.name for each in first.events if each.kind == "gradient"] == ["bias", "weight"]
    assert [
        left.kind
        for left, right in zip(first.events, second.events, strict=True)
        if left.digest != right.digest
    ] == ["batch", "output", "output", "loss"]


def test_wrong_usage_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "--out", str(tmp_path), str(tmp_path / "none.py")]) == 2
    assert "guard record: cannot open" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["record", "--out", str(tmp_path), "--operators", "x", "train.py"])
    assert "--operators" in capsys.readouterr().err


def test_what_was_recorded_before_is_replaced_only_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "run" / "rank0.trace"
    write(tmp_path / "train.py", "print('ran')")
    given = ["-m", "guard", "record", "--out", "run"]
    assert python(*given, "train.py", cwd=tmp_path).returncode == 0
    before = trace.read_bytes()
    again = python(*given, "train.py", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == (
        "guard record: 'run/rank0.trace' has been recorded before; --overwrite, or "
        "overwrite=True, puts this one in its place\n"
    )
    with pytest.raises(guard.GuardError, match="has been recorded before"):
        guard.record(tmp_path / "run").__enter__()
    assert trace.read_bytes() == before
    with guard.record(tmp_path / "run", overwrite=True):
        pass
    assert trace.read_bytes() != before
    assert python(*given, "--overwrite", "train.py", cwd=tmp_path).stdout == "ran\n"
    monkeypatch.setenv("RANK", "1")  # whose trace is not there
    check_empty(tmp_path / "run")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    check_empty(tmp_path / "run")


@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends a process by its number")
def test_torch_is_not_imported_again_where_its_import_was_interrupted(tmp_path: Path) -> None:
    write(tmp_path / "torch.py", "print('begins')\nraise KeyboardInterrupt")
    seen = python(*RECORD, write(tmp_path / "train.py", "import torch"), cwd=tmp_path)
    assert (seen.returncode, seen.stdout) == (-signal.SIGINT, "begins\n")
    assert seen.stderr.endswith("KeyboardInterrupt\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a new process is begun there")
@pytest.mark.parametrize("exists", [True, False])
def test_where_a_program_puts_another_one_in_its_place_is_noted(
    exists: bool, tmp_path: Path
) -> None:
    code = """
        import contextlib, os, sys
        with contextlib.suppress(OSError):
            os.execl(sys.executable if len(sys.argv) > 1 else "none", "python", "-c", "print(5)")
        print(6)
    """
    script = write(tmp_path / "train.py", code)
    seen = python(*RECORD, script, *["--exists"] * exists, cwd=tmp_path)
    assert (seen.returncode, seen.stdout) == (0, "5\n" if exists else "6\n")
    noted = tmp_path / "run" / REPLACED
    assert noted.exists() is exists
    assert not exists or noted.read_text() == f"{script}:3"
