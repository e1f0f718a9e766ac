"""DET000 unreadable-source: reported by the engine, documented here."""

from __future__ import annotations

from detlint.rule import Rule


class UnreadableSource(Rule):
    """A file that cannot be read, decoded or parsed is not linted, so nothing is
    known about it. The message says where reading stopped and why; the other files
    are linted all the same.

    Every file is decoded, and what a rule has to see of it is parsed. The rest is only
    looked over for what truncation, a merge or Python 2 leaves behind: a syntax error
    of another kind, away from anything that a rule looks for and from what a program does
    (seeds, draws, training), is left to Python. A file
    over 4 MB is reported only if a rule would have to parse it. To leave a file out,
    add it to `extend-exclude`."""

    code = "DET000"
    summary = "the file cannot be read, decoded or parsed"
    triggers = ()
    source = "https://docs.python.org/3/reference/lexical_analysis.html#encoding-declarations"
    examples = ()
