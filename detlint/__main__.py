"""``python -m detlint``."""

from __future__ import annotations

from detlint.cli import run

run()
