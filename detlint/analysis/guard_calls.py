"""What a fix needs that calls ``guard``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.finding import Edit
    from detlint.module import Module

# The text, not the tree: what binds the name may have been narrowed away.
_ANOTHER_GUARD = re.compile(
    r"^[ \t]*(?:guard[ \t]*[:=]|(?:def|class)[ \t]+guard\b"
    r"|from\b.*\bguard\b|import\b.*\bas[ \t]+guard\b)",
    re.MULTILINE,
)


def with_guard(module: Module, *edits: Edit) -> tuple[Edit, ...]:
    """Edits that mention ``guard``, with its import; none where that name means something else."""
    if _is_taken(module.source.text):
        return ()
    return (*edits, *module.add_import("import guard"))


@lru_cache(maxsize=4)  # of a file, for each of its findings
def _is_taken(text: str) -> bool:
    return _ANOTHER_GUARD.search(text) is not None
