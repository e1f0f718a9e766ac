"""Formats for GitLab, reviewdog and CI servers, and reports in files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from detlint.cli import main
from detlint.finding import Confidence, Edit, Finding
from detlint.reporters import Report, load
from detlint.sources.source import Source

if TYPE_CHECKING:
    from pathlib import Path

TEXT = 's = "é🎲"; torch.backends.cudnn.benchmark = True\n'
START = TEXT.index("torch")
VALUE = TEXT.index("True")
FOUND = Finding(
    "src/train.py",
    1,
    START + 1,
    1,
    len(TEXT),
    code="DET301",
    name="cudnn-benchmark",
    message="cuDNN <times> its kernels\x1b",
    advice="set it to False",
    edits=(Edit(VALUE, VALUE + 4, "False"),),
)


def rendered(name: str, *findings: Finding, root: str, text: str | None = TEXT) -> str:
    def read(path: str) -> Source | None:
        return None if text is None else Source(path, text)

    return "".join(load(name)(Report(findings, files=1, sources=read, root=lambda: root)))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project; the run begins in a folder of it."""
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")
    return os.path.realpath(tmp_path)


@pytest.mark.parametrize(
    ("confidence", "severity"),
    [
        (Confidence.CERTAIN, "major"),
        (Confidence.LIKELY, "minor"),
        (Confidence.POSSIBLE, "info"),
    ],
)
def test_gitlab_tells(root: str, confidence: Confidence, severity: str) -> None:
    (told,) = json.loads(rendered("gitlab", FOUND._replace(confidence=confidence), root=root))
    assert len(told.pop("fingerprint")) == 64
    assert told == {
        "description": "DET301 cuDNN <times> its kernels\x1b\nhelp: set it to False",
        "check_name": "DET301 cudnn-benchmark",
        "severity": severity,
        "location": {"path": "code/src/train.py", "lines": {"begin": 1, "end": 1}},
    }


def test_gitlab_takes_findings_of_one_fingerprint_for_one(root: str) -> None:
    told = json.loads(rendered("gitlab", FOUND, FOUND, root=root))
    assert len({each["fingerprint"] for each in told}) == 2
    assert json.loads(rendered("gitlab", root=root)) == []


def test_rdjson_tells(root: str) -> None:
    told = json.loads(rendered("rdjson", FOUND, root=root))
    assert told["source"] == {"name": "detlint"}
    (found,) = told["diagnostics"]
    assert found.pop("code")["value"] == "DET301"
    before = len(TEXT[:START].encode())
    value = len(TEXT[:VALUE].encode())
    assert found == {
        "message": f"{FOUND.message}\nhelp: {FOUND.advice}",
        "severity": "ERROR",
        "location": {
            "path": "code/src/train.py",
            "range": {
                "start": {"line": 1, "column": before + 1},
                "end": {"line": 1, "column": len(TEXT.encode())},
            },
        },
        "suggestions": [
            {
                "range": {
                    "start": {"line": 1, "column": value + 1},
                    "end": {"line": 1, "column": value + 5},
                },
                "text": "False",
            }
        ],
    }


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        pytest.param(FOUND._replace(safe=False), TEXT, id="an unsafe fix"),
        pytest.param(FOUND._replace(edits=()), TEXT, id="no fix"),
        pytest.param(FOUND, None, id="a file that has gone"),
        pytest.param(FOUND._replace(cell=2), TEXT, id="a cell of a notebook"),
    ],
)
def test_rdjson_suggests_nothing_for(root: str, finding: Finding, text: str | None) -> None:
    (told,) = json.loads(rendered("rdjson", finding, root=root, text=text))["diagnostics"]
    assert "suggestions" not in told
    assert told["location"]["range"]["start"]["line"] == 1


def test_junit_is_a_failure_a_finding_and_a_suite_a_file(root: str) -> None:
    other = FOUND._replace(path="b.py")
    suites = ET.fromstring(rendered("junit", FOUND, FOUND, other, root=root))  # noqa: S314 - ours
    assert suites.attrib == {"name": "detlint", "tests": "3", "failures": "3", "errors": "0"}
    assert [(each.get("name"), each.get("failures")) for each in suites] == [
        ("code/src/train.py", "2"),
        ("code/b.py", "1"),
    ]
    case: Any = suites.find("testsuite/testcase")
    assert case.get("line") == "1"
    assert case.get("file") == case.get("classname") == "code/src/train.py"
    failure = case.find("failure")
    assert failure.get("message") == "cuDNN <times> its kernels␛ [certain]"
    assert "set it to False" in failure.text
    assert "docs/rules.md#det301" in failure.text


def test_junit_of_nothing_is_a_test_that_passed(root: str) -> None:
    suites = ET.fromstring(rendered("junit", root=root))  # noqa: S314 - ours
    assert suites.get("failures") == "0"
    assert len(list(suites.iter("testcase"))) == 1


@pytest.fixture
def leaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "train.py").write_text("import torch\ntorch.backends.cudnn.benchmark = True\n")
    return tmp_path


RUN = ["--isolated", "--no-cache", "train.py"]


def test_several_formats_come_of_one_run(leaky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formats = ["--output-format", "text", "--output-format", "sarif=a.sarif"]
    assert main([*RUN, *formats, "--output-format", "junit=b.xml"]) == 1
    assert "train.py:2:1: DET301" in capsys.readouterr().out
    log = json.loads((leaky / "a.sarif").read_text(encoding="utf-8"))
    assert len(log["runs"][0]["results"]) == 1
    assert ET.parse(leaky / "b.xml").getroot().get("failures") == "1"  # noqa: S314 - ours


def test_a_report_goes_into_a_file(leaky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--output-format", "json", "--output-file", "found.json"]) == 1
    assert capsys.readouterr().out == ""
    (found,) = json.loads((leaky / "found.json").read_text(encoding="utf-8"))
    assert found["code"] == "DET301"


@pytest.mark.usefixtures("leaky")
def test_under_github_actions_findings_are_annotations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(RUN) == 1
    assert capsys.readouterr().out.startswith("::warning title=detlint (DET301)")
    assert main([*RUN, "--output-format", "text"]) == 1
    assert capsys.readouterr().out.startswith("train.py:2:1: DET301")


@pytest.mark.usefixtures("leaky")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--output-format", "xml"], "no such format: 'xml'; there are full, concise, text, json"),
        (["--output-format", "json", "--output-format", "text"], "two formats for standard"),
        (
            ["--output-format", "json=a", "--output-format", "text", "--output-file", "b"],
            "--output-file is for one format",
        ),
    ],
)
def test_what_cannot_be_written_at_once_is_told(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*RUN, *arguments])
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("leaky")
def test_a_file_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    place = os.path.join("missing", "found.json")
    assert main([*RUN, "--output-file", place]) == 2
    assert f"{place}: cannot be written: no such file or directory" in capsys.readouterr().err
