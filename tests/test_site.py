"""The documentation as a site: its addresses, and links that leave it."""

from __future__ import annotations

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
    found = hooks.on_config(SimpleNamespace())
    assert (found.site_url, found.repo_url) == ("https://s.example", "r")
    monkeypatch.setattr(hooks, "address", lambda _: "")
    found = hooks.on_config(SimpleNamespace())
    assert (found.site_url, found.repo_url) == ("", None)


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
