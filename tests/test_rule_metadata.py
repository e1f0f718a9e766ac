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


def test_a_rule_says_how_its_claim_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = (rule for rule in every_rule() if rule.code == "DET203")
    proof = "`tests/proofs/unordered_listing`"
    for shown, said, cell in (
        ("CPU", f"Shown on the CPU: {proof}. Source: <https://", "CPU"),
        (
            "CUDA (H100, torch 2.13.0, 2026-11)",
            f"Shown on CUDA (H100, torch 2.13.0, 2026-11): {proof}. Source: <",
            "CUDA",
        ),
        ("source", "Taken from its source, not from runs of ours. Source: <https://", "source"),
    ):
        monkeypatch.setattr(rule, "shown", shown)
        assert f"\n\n{said}" in docs.explain(rule)
        (row,) = (line for line in docs.page().splitlines() if line.startswith("| [DET203]"))
        assert row.endswith(f"| on | yes | {cell} |")


def test_a_finding_about_the_file_itself_claims_nothing_of_runs() -> None:
    (rule,) = (rule for rule in every_rule() if rule.code == "DET000")
    assert "\n\nSource: <https://" in docs.explain(rule)
    (row,) = (line for line in docs.page().splitlines() if line.startswith("| [DET000]"))
    assert row.endswith("| on | none | - |")
