"""``detlint explain CODE``: what a rule finds, why, and what to do instead."""

from __future__ import annotations

import sys

from detlint.cli.status import CLEAN
from detlint.docs import explain
from detlint.errors import UsageError
from detlint.plugins import all_rules
from detlint.streams import write

_USAGE = "usage: detlint explain CODE …; `detlint rules` lists the codes"


def run(arguments: list[str]) -> int:
    """Print the pages of rules, by their codes or names."""
    if arguments and arguments[0] in ("-h", "--help"):
        write(sys.stdout, [f"{_USAGE}\n"])
        return CLEAN
    rules = all_rules()
    known = {rule.code: rule for rule in rules}
    by_name = {rule.name(): rule for rule in rules}
    if not arguments:
        raise UsageError(_USAGE)
    for word in arguments:
        rule = known.get(word.upper()) or by_name.get(word)
        if rule is None:
            raise UsageError(f"no rule {word!r}; there are {', '.join(known)}")
        write(sys.stdout, [explain(rule)])
    return CLEAN
