"""torch's switches: every row can be read and set, and is put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import python, write

torch = pytest.importorskip("torch")

from guard.settings import Settings  # noqa: E402
from guard.setup import flags  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

ALL_OFF = Settings(fill=False, reduced_precision=False, cudnn=False)


def test_names_are_attributes_of_torch() -> None:
    import torch._inductor.config

    for flag in flags.FLAGS:
        owner = torch
        for part in flag.name.split(".")[1:]:
            owner = getattr(owner, part)


@pytest.mark.parametrize("settings", [Settings(), ALL_OFF], ids=["default", "all off"])
def test_each_is_set_and_put_back(settings: Settings) -> None:
    before = flags.states(settings)
    with flags.applied(settings):
        assert all(state.is_set for state in flags.states(settings))
    assert flags.states(settings) == before


def test_each_has_a_reason_and_a_price() -> None:
    for flag in flags.FLAGS:
        assert flag.why
        assert flag.cost
        assert flag.since


def test_inductor_follows_though_it_is_imported_later() -> None:
    import torch._inductor.config as inductor

    with flags.applied(Settings()):
        assert inductor.deterministic
    assert not inductor.deterministic


NEWER = """
import torch
from guard.setup import flags
from guard.settings import Settings
matmul, conv, rnn = torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.cudnn.rnn
matmul.fp32_precision = conv.fp32_precision = "tf32"
rnn.fp32_precision = "ieee"
with flags.applied(Settings(reduced_precision=False)):
    print(matmul.fp32_precision, conv.fp32_precision, rnn.fp32_precision)
print(matmul.fp32_precision, conv.fp32_precision, rnn.fp32_precision)
"""


def test_a_program_that_uses_the_newer_precision_switches(tmp_path: Path, forks: Forks) -> None:
    """In a process of its own: torch remembers which of the two a program has used."""
    done = forks.python(write(tmp_path / "run.py", NEWER), cwd=tmp_path)
    assert done.stdout == "ieee ieee ieee\ntf32 tf32 ieee\n"


IMPORTED_MEANWHILE = """
    import sys

    import torch

    import guard

    assert "torch._inductor.config" not in sys.modules
    with guard.deterministic():
        with guard.deterministic():
            import torch._inductor.config as config
        print(config.deterministic)
    print(config.deterministic)
    """


def test_what_inductor_reads_under_guard_ends_with_it(tmp_path: Path) -> None:
    """Not in a fork of what may have imported it."""
    done = python(write(tmp_path / "run.py", IMPORTED_MEANWHILE), cwd=tmp_path)
    assert done.stdout.split() == ["True", "False"], done.stderr
