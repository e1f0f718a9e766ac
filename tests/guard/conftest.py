"""For the tests of guard in pytest's own process."""

from __future__ import annotations

import pytest

from guard import environment


@pytest.fixture(autouse=True)
def _only_the_hash_seed_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash seed was drawn when pytest started: guard would warn of it, here an error."""
    monkeypatch.setattr(environment, "_told", {"PYTHONHASHSEED"})
