"""Every example of every rule: marked lines are found, fixes give what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from detlint.finding import Confidence
from detlint.rules import every_rule
from detlint.sources.source import Source
from detlint.testing import check_clean, check_fix, check_found, dedented, doubtful, expected

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.engine import Engine
    from detlint.rule import Example, Rule

EXAMPLES = [
    pytest.param(rule, example, id=f"{rule.code}-{number}")
    for rule in every_rule()
    for number, example in enumerate(rule.examples, start=1)
]
CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_the_marked_lines_of_an_example_are_found(rule: type[Rule], example: Example) -> None:
    check_found(rule, dedented(example.bad), example.path)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_fixed_and_good_forms_are_clean(rule: type[Rule], example: Example) -> None:
    for text in filter(None, (example.fixed, example.good)):
        check_clean(rule, dedented(text), example.path)


@pytest.mark.parametrize(("rule", "example"), EXAMPLES)
def test_fixing_bad_gives_fixed_and_fixing_twice_changes_nothing(
    rule: type[Rule], example: Example
) -> None:
    check_fix(rule, example)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@pytest.mark.parametrize("narrowed", [True, False], ids=["narrowed", "whole"])
def test_cases_are_found_on_exactly_the_marked_lines(
    path: Path, engine: Callable[..., Engine], *, narrowed: bool
) -> None:
    rule = next(rule for rule in every_rule() if rule.name().replace("-", "_") == path.stem)
    text = path.read_text(encoding="utf-8")
    found = engine(rule.code, narrowed=narrowed).lint(Source(path.name, text))
    assert [(each.row, each.code) for each in found] == expected(text)
    possible = {each.row for each in found if each.confidence == Confidence.POSSIBLE}
    assert doubtful(text) <= possible


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_higher_bar_takes_away_what_is_below_it_and_nothing_else(
    path: Path, engine: Callable[..., Engine]
) -> None:
    rule = next(rule for rule in every_rule() if rule.name().replace("-", "_") == path.stem)
    source = Source(path.name, path.read_text(encoding="utf-8"))
    everything = engine(rule.code).lint(source)
    for least in Confidence:
        kept = [each for each in everything if each.confidence >= least or each.code == "DET001"]
        assert engine(rule.code, least=least).lint(source) == kept


def test_every_rule_has_a_file_of_cases() -> None:
    assert {path.stem for path in CASES} == {
        rule.name().replace("-", "_") for rule in every_rule() if rule.triggers
    }
