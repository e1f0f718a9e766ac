"""DET001 unused-suppression: reported with the suppressions, documented here."""

from __future__ import annotations

from detlint.rule import Rule


class UnusedSuppression(Rule):
    """A suppression that suppresses nothing hides the next finding on its line. Only
    codes of rules that are switched on are judged; a code that detlint does not have
    is always reported.

    Fix safety: the fix removes the code, or the comment when it was the last one."""

    code = "DET001"
    summary = "a suppression names a code that it does not suppress"
    triggers = ()
    source = "https://github.com/detlint/detlint#suppressing-a-finding"
    examples = ()
