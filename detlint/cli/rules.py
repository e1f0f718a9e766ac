"""``detlint rules``: a line a rule."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from detlint.cli.status import CLEAN
from detlint.cli.streams import write
from detlint.errors import UsageError
from detlint.plugins import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.cli.arguments import Parser
    from detlint.rule import Rule


def parser() -> Parser:
    """Its options."""
    from detlint.cli.arguments import Parser

    made = Parser(
        prog="detlint rules",
        description="All rules, a line each: code, whether it is on by default, how sure it mostly "
        "is, name, and what it finds.",
        epilog="`detlint explain CODE` says more of one.",
        allow_abbrev=False,
    )
    add_format(made)
    return made


def add_format(made: Parser) -> None:
    """The option that rules and explain share."""
    made.add_argument(
        "--output-format",
        choices=("text", "json"),
        default="text",
        help="text, or json: an array of objects, one a rule (default: text)",
    )


def run(arguments: list[str]) -> int:
    """Print them as a table, or as JSON."""
    options, others = parser().parse_known_args(arguments)
    if others:
        raise UsageError(
            f"`detlint rules` takes no {others[0]!r} (to lint a folder of that name: "
            "`detlint ./rules`)"
        )
    if options.output_format == "json":
        write_json(map(entry, all_rules()))
    else:
        write(sys.stdout, map(_listed, all_rules()))
    return CLEAN


def _listed(rule: type[Rule]) -> str:
    state = "on " if rule.default else "off"
    return f"{rule.code}  {state}  {rule.confidence!s:<7}  {rule.name():<32}  {rule.summary}\n"


def entry(rule: type[Rule]) -> dict[str, object]:
    """What is told of a rule."""
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


def write_json(entries: Iterable[dict[str, object]]) -> None:
    """An array of objects."""
    write(sys.stdout, [json.dumps(list(entries), indent=2, ensure_ascii=False) + "\n"])
