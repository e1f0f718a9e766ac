"""What code is for, where that says that it trains nothing: tests, packages, a look at devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_TESTING = re.compile(
    r"^[ \t]*(?:import[ \t]+(?:pytest|unittest)\b(?!\.)|from[ \t]+pytest\b"
    r"|from[ \t]+unittest[ \t]+import[ \t]+(?!mock\b))",
    re.MULTILINE,
)
_PACKAGING = re.compile(r"^(?:import|from)[ \t]+(?:setuptools|distutils)\b", re.MULTILINE)
_SETUP = re.compile(r"^[ \t]*(?:setuptools\.)?setup\(", re.MULTILINE)


def is_tested(module: Module, node: cst.CSTNode) -> bool:
    """Whether code is that of a test, which passes or fails, and keeps nothing."""
    if _TESTING.search(module.source.text):
        return True
    above = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return any(each.name.value.startswith("test_") and not each.params.params for each in above)


def builds_package(module: Module) -> bool:
    """Whether a file is a ``setup.py``: it lists what to compile and to ship."""
    text = module.source.text
    return _PACKAGING.search(text) is not None and _SETUP.search(text) is not None


def lists_devices(module: Module, listing: cst.Call) -> bool:
    """``glob("/sys/devices/*/cpu*")``: what a machine has, and not data."""
    below = map(module.names.value_of, module.tree.descendants(listing))
    texts = (each.evaluated_value for each in below if isinstance(each, cst.SimpleString))
    return any(str(each).startswith(("/dev/", "/proc/", "/sys/")) for each in texts)
