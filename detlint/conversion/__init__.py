"""Python's own syntax tree, made into libcst's.

Python's parser is ten times as fast as libcst's, and libcst's nodes are what rules are written
for. What is made here holds all that rules read of a node, and neither blanks nor punctuation;
what Python's tree cannot say (parentheses, the parts of an f-string) is asked of libcst.
"""

from __future__ import annotations

from detlint.conversion.literals import UnsupportedError
from detlint.conversion.module import Converted

__all__ = ["Converted", "UnsupportedError"]
