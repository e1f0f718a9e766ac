"""What recording sees of a step is what torch's own DebugMode sees of it."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")
debugging = pytest.importorskip("torch.utils._debug_mode", reason="torch has no DebugMode")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from guard.recording.recording import running  # noqa: E402
from guard.recording.session import Options  # noqa: E402
from guard.trace import open_run  # noqa: E402

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

STEP = 1
READING = ["aten.detach.default", "aten._local_scalar_dense.default"]  # of the loss, by recording


class Net(nn.Module):
    def __init__(self, normed: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.rows = nn.GRU(8, 8, batch_first=True)
        self.norm = nn.LayerNorm(8) if normed else nn.BatchNorm1d(8)
        self.head = nn.Sequential(nn.Linear(8, 8), nn.Dropout(), nn.GELU(), nn.Linear(8, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.rows(self.embedding(x))[0][:, -1]))


OPTIMIZERS = {
    "sgd": lambda held: torch.optim.SGD(held, lr=0.1, momentum=0.9),
    "adam, one by one": lambda held: torch.optim.Adam(held, foreach=False),
    "adamw, all at once": lambda held: torch.optim.AdamW(held, foreach=True),
}


def train(optimizer: str, watch: AbstractContextManager[Any]) -> None:
    torch.manual_seed(0)
    model = Net(normed=optimizer == "sgd")
    updates = OPTIMIZERS[optimizer](model.parameters())
    for number in range(STEP + 1):
        with watch if number == STEP else nullcontext():
            x = torch.randint(20, (6, 5))
            loss = functional.cross_entropy(model(x), x[:, 0] % 3)
            updates.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            updates.step()


def told_by_debug_mode(optimizer: str) -> list[tuple[str, object]]:
    """The operators of the step and what they gave, as torch tells them."""
    with ExitStack() as stack:
        mode = debugging.DebugMode(record_profiler_context=False)
        stack.enter_context(debugging.DebugMode.log_tensor_hashes(_bytes))
        train(optimizer, mode)
    return [(str(each.op), (each.log or {}).get("hash")) for each in mode.logs]


def _is_told(name: str) -> bool:
    """Not what DebugMode leaves out (copies that autograd saves, the profiler's marks), nor the
    reading of the loss."""
    return not name.startswith("profiler.") and name not in READING


def _bytes(tensor: torch.Tensor) -> object:
    held = tensor.detach().contiguous()
    return held.dtype, tuple(held.shape), held.numpy().tobytes()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_operators_are_those_that_debug_mode_tells(tmp_path: Path, optimizer: str) -> None:
    with running(tmp_path / "run", Options(operators=STEP), ["program.py"]):
        train(optimizer, nullcontext())
    (trace,) = open_run(tmp_path / "run")
    events = (each for each in trace.step(STEP).events if each.kind == "operator")
    seen = [each for each in events if _is_told(each.name)]
    expected = [each for each in told_by_debug_mode(optimizer) if _is_told(each[0])]

    assert [each.name for each in seen] == [name for name, _ in expected]
    assert len(seen) > 40
    written = [
        (each.digest, held)
        for each, (_, held) in zip(seen, expected, strict=True)
        if "unwritten" not in each.detail and held is not None
    ]
    assert len(written) > 20
    by_digest: dict[object, object] = {}
    by_bytes: dict[str, object] = {}
    for digest, held in written:
        assert by_digest.setdefault(digest, held) == held
        assert by_bytes.setdefault(repr(held), digest) == digest


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_recording_runs_no_operator_of_its_own(tmp_path: Path, optimizer: str) -> None:
    """But for reading the loss, which computes nothing."""
    mode = debugging.DebugMode(record_profiler_context=False)
    with running(tmp_path / "run", Options(), ["program.py"]):
        train(optimizer, mode)

    expected = [name for name, _ in told_by_debug_mode(optimizer)]
    seen = [str(each.op) for each in mode.logs]
    begun = seen.index("aten.nll_loss_backward.default")
    at = begun - len(READING)
    assert sorted(seen[:begun]) == sorted(expected[:at] + READING)
    assert seen[begun:] == expected[at:]
