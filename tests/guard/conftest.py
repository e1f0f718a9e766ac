"""For the tests of guard in pytest's own process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from forks import Forks

from guard.dependencies import loaded
from guard.setup import environment

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Runs programs in processes that do not have to import torch."""
    parent = Forks(tmp_path_factory.mktemp("forks"))
    yield parent
    parent.close()


@pytest.fixture(autouse=True)
def _nothing_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What guard tells once, it tells in each test; on a GPU, CUDA has started before them."""
    torch = loaded("torch")
    on_gpu = torch is not None and torch.cuda.is_available()
    told = {"CUBLAS_WORKSPACE_CONFIG"} if on_gpu else set()
    monkeypatch.setattr(environment, "_told", told)
