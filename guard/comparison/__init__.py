"""Two runs, compared by their traces: where they part first, why, and what follows from it.

``compare`` gives the difference, ``examine`` all that a report shows; ``text``, ``as_json`` and
``page`` render it. A ``Comparer`` is fed while both runs still write.
"""

from guard.comparison.comparer import Comparer, compare
from guard.comparison.differences import (
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
from guard.comparison.examination import examine
from guard.comparison.json_form import as_json
from guard.comparison.page import page
from guard.comparison.text import text

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
