"""Codes are unique, names agree, and the documentation page is what the rules say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from prose import items, sentences, too_long

from detlint import docs
from detlint.rule import PARTS, WHY
from detlint.rules import every_rule

if TYPE_CHECKING:
    from detlint.rule import Rule

RULES = [pytest.param(rule, id=rule.code) for rule in every_rule()]
LIMITS = ("Lowers the confidence", "Not reported")


@pytest.mark.parametrize("rule", RULES)
def test_a_page_has_its_parts_in_order(rule: type[Rule]) -> None:
    found = rule.parts()
    assert rule.rationale().startswith(f"{WHY}: ")
    assert list(found) == [part for part in PARTS if part in found]
    assert {WHY, "Reported", "What to do"} <= set(found)
    assert any(part in found for part in LIMITS)
    assert all(found.values())


@pytest.mark.parametrize("rule", RULES)
def test_a_page_of_a_rule_with_a_fix_says_how_safe_that_is(rule: type[Rule]) -> None:
    said = rule.parts().get("Fix safety", "")
    if any(example.fixed for example in rule.examples):
        assert said.startswith(("safe", "unsafe"))


@pytest.mark.parametrize("rule", RULES)
def test_a_page_can_be_read_at_once(rule: type[Rule]) -> None:
    found = rule.parts()
    assert not [each for text in found.values() for each in too_long(text)]
    assert 2 <= len(sentences(found[WHY])) <= 4
    assert "- " not in found[WHY]
    lists = [found[part] for part in ("Reported", *LIMITS) if part in found]
    assert all(text.startswith("- ") for text in lists)
    assert sum(len(items(found[part])) for part in LIMITS if part in found) <= 5


def test_the_head_of_the_page_says_what_confidence_means_in_short_sentences() -> None:
    head, *_ = docs.page().partition("\n| code")
    assert not too_long(head)
    for word in ("*certain*", "*likely*", "*possible*", "`--min-confidence possible`"):
        assert word in head


def test_markdown_has_bold_headings_and_lists_that_stand_alone() -> None:
    (rule,) = (rule for rule in every_rule() if rule.code == "DET206")
    page = docs.markdown(rule)
    assert page.startswith("**Why runs differ:** A `DistributedSampler` shuffles with")
    assert "\n\n**Reported:**\n\n- a shuffling sampler" in page
    assert page.endswith(
        "\n\n**What to do:** Call `sampler.set_epoch(epoch)` at the start of each epoch."
    )


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
    assert rule.source.startswith("https://")
    assert rule.summary[-1] not in ".!"
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
        assert row.endswith(f"| on | likely | yes | {cell} |")


def test_a_finding_about_the_file_itself_claims_nothing_of_runs() -> None:
    (rule,) = (rule for rule in every_rule() if rule.code == "DET000")
    assert "\n\nSource: <https://" in docs.explain(rule)
    (row,) = (line for line in docs.page().splitlines() if line.startswith("| [DET000]"))
    assert row.endswith("| on | certain | none | - |")
