"""Find what makes two runs of the same training code differ.

PYTEST_DONT_REWRITE: pytest rewrites assertions of packages that bring a plugin, and warns if
they are there already, as under ``python -m guard run -m pytest``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.api import lint_paths, lint_source
    from detlint.errors import DetlintError
    from detlint.finding import Confidence, Finding

__all__ = ["Confidence", "DetlintError", "Finding", "__version__", "lint_paths", "lint_source"]
__version__ = "0.1.0"

_HOMES = {
    "Confidence": "detlint.finding",
    "DetlintError": "detlint.errors",
    "Finding": "detlint.finding",
    "lint_paths": "detlint.api",
    "lint_source": "detlint.api",
}


def __getattr__(name: str) -> object:
    # Imported when asked for: the command line starts in the time that this would take.
    if name not in _HOMES:
        raise AttributeError(f"module 'detlint' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
