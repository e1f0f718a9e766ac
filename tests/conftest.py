"""Shared by the tests: one way to lint a piece of text, and one to write a project."""

from __future__ import annotations

import gc
import os
import signal
import textwrap
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

import pytest

from detlint.finding import Confidence
from detlint.rules import every_rule
from detlint.sources.source import Source
from detlint.testing import linter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.engine import Engine
    from detlint.finding import Finding

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread():
    # A job in the background is started so, and so are its children; some tests interrupt them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("GITHUB_ACTIONS", "CI", "PRE_COMMIT"):  # they choose another format, also for runs of
    os.environ.pop(name, None)  # their own


gc.disable()  # half a million objects that are collected are no garbage


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def engine() -> Callable[..., Engine]:
    """An engine over all rules, or over the given codes, that asks for all that is possible."""

    def make(*codes: str, narrowed: bool = True, least: Confidence = Confidence.POSSIBLE) -> Engine:
        chosen = [rule for rule in every_rule() if not codes or rule.code in codes]
        return linter(chosen, narrowed=narrowed, least=least)

    return make


@pytest.fixture
def findings(engine: Callable[..., Engine]) -> Callable[..., list[Finding]]:
    """Findings of indented text, for all rules or the given codes."""

    def lint(text: str, *codes: str, narrowed: bool = True) -> list[Finding]:
        source = Source("example.py", textwrap.dedent(text).lstrip("\n"))
        return engine(*codes, narrowed=narrowed).lint(source)

    return lint


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], Path]:
    """Writes the files of a project, and works in it."""
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return tmp_path

    return write
