"""Operators of torch without a deterministic implementation: one table for linter and guard.

What torch 2.13.0 does, read from its binaries and sources: its documentation names operators
that have become deterministic and misses others. ``tests/test_operations.py`` compares the
table with the torch that is installed, and on a GPU with what that does: done with torch 2.11.0
on an H100.
"""

from __future__ import annotations

from detlint.operations.images import IMAGES
from detlint.operations.indexing import INDEXING
from detlint.operations.libraries import LIBRARIES
from detlint.operations.losses import LOSSES
from detlint.operations.pooling import POOLING
from detlint.operations.rows import ABSENT, Alternative, Argument, Operation, Usage, completed
from detlint.operations.scans import SCANS
from detlint.operations.selection import SELECTION

__all__ = ["ABSENT", "OPERATIONS", "Alternative", "Argument", "Operation", "Usage"]

OPERATIONS = completed((*POOLING, *IMAGES, *LOSSES, *INDEXING, *SELECTION, *SCANS, *LIBRARIES))
