"""Tests that a rule's examples are true, for our rules and for those of plugins.

In a plugin's tests, with pytest:

    import pytest
    from detlint.testing import check_example
    from detlint_acme import GlobalSeed

    @pytest.mark.parametrize("example", GlobalSeed.examples)
    def test_example(example):
        check_example(GlobalSeed, example)

Each check raises AssertionError, which says what was found and what was expected.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from detlint.engine import Engine
from detlint.finding import Confidence
from detlint.fixes.applying import fix
from detlint.link import Linker
from detlint.rule import CODE
from detlint.rules import every_rule
from detlint.settings import Settings
from detlint.sources.cache import Cache
from detlint.sources.context import Context
from detlint.sources.kinds import kind_of
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.engine import AnyRule, Look
    from detlint.finding import Finding
    from detlint.rule import Example, Rule

__all__ = ["check_clean", "check_example", "check_fix", "check_found", "expected", "lint"]

_MARKER = re.compile(rf"[ \t]*# (possible )?((?:{CODE.pattern}[, ]*)+)$", re.MULTILINE)
# They report what cannot be read, and comments that silence nothing.
_ALWAYS = ("DET000", "DET001")


class Linter(Engine):
    """An engine that takes each source for all of its program, too."""

    def look_at(self, source: Source, data: bytes | None = None) -> Look:
        """What is found in it as a file, and as a program."""
        context = Context([source.path], self._settings, alone=True)
        linker = Linker(self, Cache.disabled(), context)
        found = super().look_at(source, data)
        return found._replace(findings=linker.link_one(source, found.findings))


def linter(
    rules: Sequence[AnyRule], *, narrowed: bool = True, least: Confidence = Confidence.POSSIBLE
) -> Linter:
    """Lints sources by some rules, and those that always run."""
    chosen = list(rules)
    chosen += [each for each in every_rule() if each.code in _ALWAYS and each not in rules]
    known = {each.code for each in (*every_rule(), *rules)}
    settings = Settings(min_confidence=least, select=tuple(each.code for each in chosen))
    return Linter(chosen, settings, known=known, narrowed=narrowed)


def lint(rule: type[Rule], text: str, path: str = "example.py") -> list[Finding]:
    """What a rule finds in a text, however unsure, in order of place."""
    return linter([rule]).lint(_source(path, text))


def check_example(rule: type[Rule], example: Example) -> None:
    """``bad`` is found on exactly the marked lines, ``good`` and ``fixed`` are clean, and the fix
    gives ``fixed``."""
    check_found(rule, dedented(example.bad), example.path)
    for text in filter(None, (example.fixed, example.good)):
        check_clean(rule, dedented(text), example.path)
    check_fix(rule, example)


def check_found(rule: type[Rule], text: str, path: str = "example.py") -> None:
    """A rule finds something on exactly the lines that end with its code: ``# ACME101``.

    Looked at twice: only what is around the triggers, as in a run, and the whole text.
    """
    marked = expected(text)
    _hold(marked, f"{rule.code}: an example that expects nothing shows nothing:\n{text}")
    for narrowed in (True, False):
        found = [
            (each.row, each.code)
            for each in linter([rule], narrowed=narrowed).lint(_source(path, text))
        ]
        where = "around the triggers" if narrowed else "in the whole text"
        _hold(found == marked, f"{rule.code} {where}: found {found}, marked {marked}:\n{text}")


def check_clean(rule: type[Rule], text: str, path: str = "example.py") -> None:
    """A rule finds nothing."""
    found = [(each.row, each.message) for each in lint(rule, text, path)]
    _hold(not found, f"{rule.code}: found {found} in what should be clean:\n{text}")


def check_fix(rule: type[Rule], example: Example) -> None:
    """Fixing ``bad`` gives ``fixed`` to the letter, or changes nothing where there is none; fixing
    that changes nothing."""
    source = _source(example.path, unmarked(dedented(example.bad)))
    look = linter([rule]).lint
    once = fix(source, look, unsafe=True).source.text
    wanted = dedented(example.fixed) if example.fixed else source.text
    _hold(once == wanted, f"{rule.code}: the fix gives\n{once}\nand not\n{wanted}")
    twice = fix(_source(example.path, once), look, unsafe=True).source.text
    _hold(twice == once, f"{rule.code}: fixing the fixed gives\n{twice}")


def _hold(condition: object, message: str) -> None:
    if not condition:  # also under `python -O`
        raise AssertionError(message)


def _source(path: str, text: str) -> Source:
    return Source(path, text, kind=kind_of(path))


def expected(text: str) -> list[tuple[int, str]]:
    """(row, code) for each marked line; a code stands as often as it is expected."""
    return sorted(
        (text.count("\n", 0, match.start()) + 1, code)
        for match in _MARKER.finditer(text)
        for code in CODE.findall(match[2])
    )


def doubtful(text: str) -> set[int]:
    """The rows marked ``# possible DET203``: what is found there is not reported by default."""
    return {
        text.count("\n", 0, match.start()) + 1
        for match in _MARKER.finditer(text)
        if match[1] is not None
    }


def unmarked(text: str) -> str:
    """The text without its markers."""
    return _MARKER.sub("", text)


def dedented(text: str) -> str:
    """An example as the file that it stands for."""
    return textwrap.dedent(text).strip("\n") + "\n"
