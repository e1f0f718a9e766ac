"""DET000 unreadable-source: reported by the engine, documented here."""

from __future__ import annotations

from detlint.rule import Confidence, Rule


class UnreadableSource(Rule):
    """Why runs differ: What cannot be read, decoded or parsed is not linted. Nothing is known of
    it, so whatever makes runs differ there stays unseen. The other files are linted all the same.

    Reported:
    - a file that is not there, may not be read, or does not decode in the encoding that it declares
    - a file that a rule has to parse, and Python cannot
    - damage that shows without parsing: truncation, merge markers, Python 2
    - a file over 4 MB that a rule has to parse

    Not reported:
    - a syntax error of another kind, away from all that rules look for: Python itself reports it

    What to do: Mend the file where the message says that reading stopped. To leave a file out, add
    it to `extend-exclude` in `[tool.detlint]`.
    """

    code = "DET000"
    summary = "the file cannot be read, decoded or parsed"
    triggers = ()
    confidence = Confidence.CERTAIN
    source = "https://docs.python.org/3/reference/lexical_analysis.html#encoding-declarations"
    examples = ()
