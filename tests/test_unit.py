"""A file as the engine sees it."""

from __future__ import annotations

from detlint.dataflow.unit import Unit
from detlint.source import Source


def test_imports_count_wherever_they_stand_in_the_module() -> None:
    text = '"""What it does."""\nimport os\nfrom torch.utils.data import DataLoader as Loader\n'
    unit = Unit(Source("example.py", text))
    assert unit.imported == {"os": ["os"], "Loader": ["torch.utils.data.DataLoader"]}
