"""``detlint rules``: a line a rule."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from detlint.cli.status import CLEAN
from detlint.errors import UsageError
from detlint.plugins import all_rules
from detlint.streams import write

if TYPE_CHECKING:
    from detlint.rule import Rule

_USAGE = "usage: detlint rules [--output-format json]"


def run(arguments: list[str]) -> int:
    """Print them as a table, or as JSON."""
    if arguments in (["-h"], ["--help"]):
        write(sys.stdout, [f"{_USAGE}\n"])
    elif arguments in (["--output-format", "json"], ["--output-format=json"]):
        import json

        listed = json.dumps([_entry(rule) for rule in all_rules()], indent=2)
        write(sys.stdout, [f"{listed}\n"])
    elif arguments:
        raise UsageError(f"{_USAGE} (to lint a folder of that name: `detlint ./rules`)")
    else:
        write(sys.stdout, map(_listed, all_rules()))
    return CLEAN


def _listed(rule: type[Rule]) -> str:
    state = "on " if rule.default else "off"
    return f"{rule.code}  {state}  {rule.confidence!s:<7}  {rule.name():<32}  {rule.summary}\n"


def _entry(rule: type[Rule]) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name(),
        "summary": rule.summary,
        "default": rule.default,
        "confidence": str(rule.confidence),
        "explanation": rule.rationale(),
        "source": rule.source,
        "shown": rule.shown,
    }
