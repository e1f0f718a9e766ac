"""``detlint explain CODE``: what a rule finds, why, and what to do instead."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from detlint.cli.rules import add_format, entry, write_json
from detlint.cli.status import CLEAN
from detlint.cli.streams import write
from detlint.docs import explain
from detlint.errors import UsageError
from detlint.plugins import all_rules

if TYPE_CHECKING:
    from detlint.cli.arguments import Parser
    from detlint.rule import Rule


def parser() -> Parser:
    """Its options."""
    from detlint.cli.arguments import Parser

    made = Parser(
        prog="detlint explain",
        description="Say what a rule finds, why it makes runs differ, and what to do instead, "
        "with examples.",
        epilog="example: detlint explain DET203 cudnn-benchmark; `detlint rules` lists all",
        allow_abbrev=False,
    )
    made.add_argument(
        "rules", nargs="*", metavar="CODE", help="a rule's code, its beginning, or its name"
    )
    add_format(made)
    return made


def run(arguments: list[str]) -> int:
    """Print the pages of rules, by their codes or names."""
    options = parser().parse_args(arguments)
    if not options.rules:
        raise UsageError(
            "give the code of a rule: `detlint explain DET301`; `detlint rules` lists them"
        )
    rules = list(dict.fromkeys(rule for word in options.rules for rule in _chosen(word)))
    if options.output_format == "json":
        write_json(entry(rule) | {"examples": _examples(rule)} for rule in rules)
    else:
        write(sys.stdout, map(explain, rules))
    return CLEAN


def _chosen(word: str) -> list[type[Rule]]:
    rules = all_rules()
    named = [rule for rule in rules if word.lower() == rule.name()]
    if not named and any(each.isdigit() for each in word):
        named = [rule for rule in rules if rule.code.startswith(word.upper())]
    if named:
        return named
    import difflib

    close = difflib.get_close_matches(word.lower(), [rule.name() for rule in rules], n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise UsageError(f"no rule {word!r}{hint}; there are {', '.join(each.code for each in rules)}")


def _examples(rule: type[Rule]) -> list[dict[str, str]]:
    parts = ("path", "bad", "fixed", "good")
    return [{part: str(getattr(each, part) or "") for part in parts} for each in rule.examples]
