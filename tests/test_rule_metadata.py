"""Codes are unique, names agree, and the documentation page is what the rules say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from detlint import docs
from detlint.narrowing import SCOPES
from detlint.rules import every_rule

if TYPE_CHECKING:
    from detlint.rule import Rule

RULES = [pytest.param(rule, id=rule.code) for rule in every_rule()]


def test_codes_and_names_are_unique() -> None:
    codes = [rule.code for rule in every_rule()]
    names = [rule.name() for rule in every_rule()]
    assert len(set(codes)) == len(codes)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rule", RULES)
def test_file_class_and_name_say_the_same(rule: type[Rule]) -> None:
    assert rule.__module__ == f"detlint.rules.{rule.name().replace('-', '_')}"
    assert re.fullmatch(r"DET\d{3}", rule.code)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_documents_itself(rule: type[Rule]) -> None:
    assert len(rule.rationale()) > 60
    assert rule.source.startswith("https://")
    assert rule.summary[-1] not in ".!"
    assert rule.scope in SCOPES
    assert len(rule.examples) <= 3
    assert rule.examples or not rule.triggers


@pytest.mark.parametrize("rule", RULES)
def test_every_trigger_is_worth_its_scan(rule: type[Rule]) -> None:
    bad = " ".join(example.bad for example in rule.examples)
    assert not rule.triggers or any(token in bad for token in rule.triggers)


def test_the_rules_page_is_current() -> None:
    assert docs.PAGE.read_text(encoding="utf-8") == docs.page()
