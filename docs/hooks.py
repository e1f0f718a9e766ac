"""For mkdocs: addresses come from pyproject.toml alone, and links may leave the documentation."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from detlint.addresses import address  # noqa: E402 - from this clone, whatever is installed

# A file of the repository that is no page: ../README.md, ../../benchmarks/GUARD.md#figures.
_OUTSIDE = re.compile(r"\]\((?:\.\./)+((?:README|CONTRIBUTING|benchmarks|examples|tests)[^)]*)\)")


def on_config(config: Any) -> Any:  # noqa: ANN401 - mkdocs' own class, which types lack
    """Where the site and the repository are served: "" while that is not configured."""
    config.site_url = address("Site")
    if repository := address("Repository"):
        # Not as repo_url, for which the theme asks GitHub how many stars it has, in each browser.
        config.extra["social"] = [{"icon": "fontawesome/brands/git-alt", "link": repository}]
    return config


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links to files of the repository lead there; without an address of it, they are text."""
    repository = address("Repository")
    if repository:
        return _OUTSIDE.sub(rf"]({repository}/blob/main/\1)", markdown)
    return re.sub(r"\[([^\]]*)" + _OUTSIDE.pattern, r"\1", markdown)
