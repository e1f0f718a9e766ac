"""What the engine knows of a file before it looks at any function."""

from __future__ import annotations

from detlint.dataflow.unit import Unit
from detlint.source import Source

IMPORTS = """
import asyncio
import concurrent.futures
from os import path as p

try:
    import numpy as np
except ImportError:
    np = None
"""


def test_each_import_says_what_its_name_stands_for() -> None:
    assert Unit(Source("example.py", IMPORTS)).imported == {
        "asyncio": ["asyncio"],
        "concurrent": ["concurrent"],
        "p": ["os.path"],
        "np": ["numpy"],
    }
