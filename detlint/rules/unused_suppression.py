"""DET001 unused-suppression: reported with the suppressions, documented here."""

from __future__ import annotations

from detlint.rule import Confidence, Rule


class UnusedSuppression(Rule):
    """Why runs differ: A suppression that suppresses nothing hides the next finding on its line.
    Then something makes runs differ, and nobody has looked at it.

    Reported:
    - a code in `# detlint: ignore[…]`, `# detlint: off[…]` or `# noqa: …` that suppresses nothing
    - a code that detlint does not have, and a directive that is not written as one

    Not reported:
    - a code whose rule is switched off in this run: only a rule that ran can tell

    What to do: Remove the code, correct it, or switch on the rule that it names.

    Fix safety: safe. It removes a code that suppresses nothing, and the comment if that was its
    last one. A mistake in a comment stays, and so does all that the comment may be meant for.
    """

    code = "DET001"
    summary = "a suppression names a code that it does not suppress"
    triggers = ()
    confidence = Confidence.CERTAIN
    source = "https://docs.astral.sh/ruff/rules/unused-noqa/"
    examples = ()
