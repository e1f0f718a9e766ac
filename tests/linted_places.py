"""Where the linter finds something in the working folder."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

_NAMED = re.compile(r"\(([\w./-]+:\d+)\)")


def place_told(finding: Mapping[str, Any]) -> str:
    """``path:row`` of what a finding is about, which its message names where that is another
    file than the program's."""
    named = _NAMED.search(finding["message"])
    return named[1] if named else place_of(finding)


def place_of(finding: Mapping[str, Any]) -> str:
    """``path:row`` of a finding."""
    return f"{os.path.relpath(finding['filename'])}:{finding['location']['row']}"


def places(capsys: pytest.CaptureFixture[str], code: str, path: str = ".") -> list[str]:
    """``path:row`` of what each finding of a rule is about."""
    main(["--no-cache", "--output-format", "json", "--select", code, path])
    found = json.loads(capsys.readouterr().out)
    return [place_told(each) for each in found]


def levels(capsys: pytest.CaptureFixture[str], code: str) -> list[str]:
    """The confidence of each finding of a rule."""
    asked = ["--output-format=json", "--min-confidence=possible", f"--select={code}"]
    main(["--no-cache", *asked, "."])
    return [each["confidence"] for each in json.loads(capsys.readouterr().out)]
