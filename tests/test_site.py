"""The documentation as a site: its addresses, and links that leave it."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr("sys.path", [str(ROOT)])
    spec = spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_addresses_are_those_of_the_project(
    hooks: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert not {"site_url", "repo_url"} & set(settings)
    monkeypatch.setattr(hooks, "address", {"Site": "https://s.example", "Repository": "r"}.get)
    found = hooks.on_config(SimpleNamespace(extra={}))
    assert found.site_url == "https://s.example"
    assert [each["link"] for each in found.extra["social"]] == ["r"]
    monkeypatch.setattr(hooks, "address", lambda _: "")
    found = hooks.on_config(SimpleNamespace(extra={}))
    assert (found.site_url, found.extra) == ("", {})


@pytest.mark.parametrize(
    ("repository", "shown"),
    [
        ("", "[a](b.md) and figures"),
        ("https://r.example", "[a](b.md) and [figures](https://r.example/blob/main/{})"),
    ],
)
def test_a_link_to_a_file_of_the_repository_leads_there(
    hooks: ModuleType, monkeypatch: pytest.MonkeyPatch, repository: str, shown: str
) -> None:
    monkeypatch.setattr(hooks, "address", lambda _: repository)
    for above in ("../", "../../"):
        text = f"[a](b.md) and [figures]({above}benchmarks/GUARD.md#costs)"
        assert hooks.on_page_markdown(text) == shown.format("benchmarks/GUARD.md#costs")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_a_page_beside_the_site_links_to_what_there_is(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    linked = {each.partition("#")[0] for each in re.findall(r"\]\(([^)\s]+)\)", text)}
    files = {each for each in linked if each and "://" not in each}
    assert "docs/rules.md" in files or page != "README.md"
    assert [each for each in files if not (ROOT / each).exists()] == []
