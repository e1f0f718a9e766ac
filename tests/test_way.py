"""The way of a value, where its steps lie apart: in text, in SARIF and in the cache."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from detlint.cli import main
from detlint.sources.cache import dump, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from detlint.finding import Finding

CODE = """\
def number(rows):
    words = set()
    for row in rows:
        words.update(row.split())
    found = list(words)
    print(len(found))
    index = {}
    for word in found:
        index[word] = len(index)
    return index
"""
STEPS = [
    (2, "the set is made here"),
    (5, "gone through here"),
    (9, "here its order shows: numbered"),
]


def test_the_steps_of_a_value_are_told_with_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(CODE)
    main(["--no-cache", "--isolated", "--select", "DET204", "--show-source", "a.py"])
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("way:")]
    assert told == [
        "way: a.py:2:13: the set is made here",
        "way: a.py:5:18: gone through here",
        "way: a.py:9:9: here its order shows: numbered",
    ]


def test_sarif_has_them_as_a_code_flow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(CODE)
    main(["--no-cache", "--isolated", "--select", "DET204", "--output-format", "sarif", "a.py"])
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    (flow,) = result["codeFlows"]
    locations = [each["location"] for each in flow["threadFlows"][0]["locations"]]
    assert [
        (each["physicalLocation"]["region"]["startLine"], each["message"]["text"])
        for each in locations
    ] == STEPS


def test_a_way_within_a_line_is_not_told(findings: Callable[..., list[Finding]]) -> None:
    (found,) = findings("def f(names: list[str]):\n    return list(set(names))\n", "DET204")
    assert found.way == ()


def test_the_cache_keeps_it(findings: Callable[..., list[Finding]]) -> None:
    found = findings(CODE, "DET204")
    assert load(found[0].path, json.loads(json.dumps(dump(found)))) == found
    assert [(step.row, step.text) for step in found[0].way] == STEPS


def test_a_set_that_a_function_is_given_is_made_at_its_parameter(
    findings: Callable[..., list[Finding]],
) -> None:
    code = "def f(\n    names: set[str],\n):\n    return list(names)\n"
    (found,) = findings(code, "DET204")
    assert [(step.row, step.text) for step in found.way] == [
        (2, "the set is made here"),
        (4, "here its order shows: returned"),
    ]
