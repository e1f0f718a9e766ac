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


def test_a_statement_is_read_with_all_its_clauses() -> None:
    code = """
if a:
    x = 1
elif b:
    y = 2
else:
    z = 3
for i in a:
    u = i
else:
    v = 4
"""
    assert set(Unit(Source("example.py", code)).module.bindings) == {"i", "u", "v", "x", "y", "z"}
