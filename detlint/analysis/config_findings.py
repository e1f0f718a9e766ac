"""What rules do with a setting of a configuration, the same for each of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.config_keys import setting
from detlint.documents.document import Word
from detlint.finding import Confidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.documents import Document
    from detlint.documents.document import Entry
    from detlint.rule import Rule

_TRAINING = re.compile(r"^[ \t]*\[training\]", re.MULTILINE)


def report_setting(
    rule: Rule, entry: Entry, unless: Callable[[Document], bool] = lambda _: False
) -> None:
    """Report a setting that the table has for a rule, once where aliases repeat it.

    ``unless`` says of what the whole document makes pointless; asked last.
    """
    if rule.findings:
        place = rule.document.source.location(entry.start)
        if any((each.row, each.column) == place for each in rule.findings):
            return
    found = setting(rule.document, entry, rule.code)
    if found is not None and not unless(rule.document):
        rule.report(
            entry,
            found.message,
            advice=found.advice,
            edits=found.edits,
            safe=found.safe,
            confidence=min(rule.confidence, Confidence.LIKELY),  # its kind is told by its keys
        )


def unseeded_job(document: Document) -> Word | None:
    """Where a whole job of torchtitan leaves its seed out, which it then takes from the
    generator of rank 0 as it happens to start (torchtitan.distributed.utils.set_determinism)."""
    if document.flavour != "torchtitan" or document.source.kind != "toml":
        return None
    paths = {entry.keys for entry in document.entries()}
    if {("training", "seed"), ("debug", "seed")} & paths:
        return None
    head = _TRAINING.search(document.source.text)
    return Word(head.start(), head.end(), None) if head else None
