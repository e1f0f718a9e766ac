"""The workflow for GitHub, and the issue forms, say what holds elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from detlint import configuration

ROOT = Path(__file__).resolve().parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))


def load(path: Path) -> Any:  # noqa: ANN401 - whatever YAML holds
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    found: dict[str, Any] = load(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    return found


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    found: dict[str, Any] = configuration.read(str(ROOT / "pyproject.toml")).content["project"]
    return found


@pytest.mark.parametrize("job", ["tests", "package"])
def test_every_release_of_python_is_tested_on_every_system(
    jobs: dict[str, Any], project: dict[str, Any], job: str
) -> None:
    said = [each.rpartition(" ")[2] for each in project["classifiers"] if " :: 3." in each]
    matrix = jobs[job]["strategy"]["matrix"]
    assert matrix["python"] == said
    assert matrix["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_what_is_installed_are_extras_that_there_are(
    jobs: dict[str, Any], project: dict[str, Any]
) -> None:
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    asked = {name for each in commands for name in re.findall(r"[\w]+(?=[,\]])", each)}
    assert asked == {"dev", "docs", "test"}
    assert asked <= project["optional-dependencies"].keys()


def test_all_that_is_checked_here_is_checked_there(jobs: dict[str, Any]) -> None:
    here = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    there = "\n".join(step.get("run", "") for step in jobs["checks"]["steps"])
    for command in (
        *("detlint.docs --check", "guard.docs --check", "mkdocs build --strict"),
        *("ruff check", "mypy"),
    ):
        assert command in here
        assert command in there
    assert "detlint --no-cache detlint guard benchmarks tests" in here
    assert "detlint --no-cache detlint guard benchmarks tests" in there


def test_the_second_command_of_the_readme_is_one_command(project: dict[str, Any]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 'pip install -e ".[test]" && pytest -n auto\n' in text
    assert "test" in project["optional-dependencies"]


@pytest.mark.parametrize("form", FORMS, ids=lambda each: each.stem)
def test_a_form_asks_what_is_needed(form: Path) -> None:
    content = load(form)
    assert {"name", "description", "body"} <= content.keys()
    ids = [each["id"] for each in content["body"]]
    assert len(ids) == len(set(ids)) >= 3
    assert any(each.get("validations", {}).get("required") for each in content["body"])


def test_there_are_forms() -> None:
    assert len(FORMS) == 3
