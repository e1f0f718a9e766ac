"""Where the linter finds something in the working folder."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from detlint.cli import main

if TYPE_CHECKING:
    import pytest


def places(capsys: pytest.CaptureFixture[str], code: str) -> list[str]:
    """``path:row`` of each finding of a rule."""
    main(["--no-cache", "--output-format", "json", "--select", code, "."])
    found = json.loads(capsys.readouterr().out)
    return [f"{os.path.relpath(x['filename'])}:{x['location']['row']}" for x in found]
