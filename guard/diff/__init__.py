"""Two runs, compared by their traces: where they part first, why, and what follows from it.

``compare`` gives the difference, ``examine`` all that a report shows; ``text``, ``as_json`` and
``page`` render it. A ``Comparer`` is fed while both runs still write.
"""

from guard.diff.comparer import Comparer as Comparer
from guard.diff.comparer import compare as compare
from guard.diff.comparer import examine as examine
from guard.diff.differences import Cause as Cause
from guard.diff.differences import Change as Change
from guard.diff.differences import Comparison as Comparison
from guard.diff.differences import Confidence as Confidence
from guard.diff.differences import Difference as Difference
from guard.diff.differences import Explanation as Explanation
from guard.diff.differences import Link as Link
from guard.diff.differences import Operator as Operator
from guard.diff.differences import Source as Source
from guard.diff.differences import Suspect as Suspect
from guard.diff.page import page as page
from guard.diff.report import as_json as as_json
from guard.diff.report import text as text
