"""Two runs, compared by their traces: where they part first, why, and what follows from it.

``compare`` gives the difference, ``examine`` all that a report shows; ``text``, ``as_json`` and
``page`` render it. A ``Comparer`` is fed while both runs still write.
"""

from guard.diff.comparer import Comparer, compare, examine
from guard.diff.differences import (
    Cause,
    Change,
    Comparison,
    Confidence,
    Difference,
    Explanation,
    Link,
    Operator,
    Source,
    Suspect,
)
from guard.diff.page import page
from guard.diff.report import as_json, text

__all__ = [
    "Cause",
    "Change",
    "Comparer",
    "Comparison",
    "Confidence",
    "Difference",
    "Explanation",
    "Link",
    "Operator",
    "Source",
    "Suspect",
    "as_json",
    "compare",
    "examine",
    "page",
    "text",
]
