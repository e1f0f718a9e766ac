"""Names that are drawn anew in each run, of which the same is made in both.

The run's own folder, names that ``tempfile`` draws, and UUIDs: each is numbered as it came.
"""

from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_UUID = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27})(?![0-9a-f])")
_SHORTEST = 32  # characters of a text that may hold one


class Names:
    """Of one process.

    drawn  names that were drawn for files, and what stands for each
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self.drawn: dict[str, str] = {}
        self._named: dict[str, str] = {}

    def renamed(self, text: str, longest: int = 0) -> str:
        """A text with the names that are drawn anew in each run numbered in their place.

        longest  of what it is joined from, if it is
        """
        if self._folder and self._folder in text:
            text = text.replace(self._folder, "")
        for token, number in list(self.drawn.items()):
            if token in text:
                text = text.replace(token, number)
        return _UUID.sub(self._numbered, text) if (longest or len(text)) >= _SHORTEST else text

    def _numbered(self, match: re.Match[str]) -> str:
        return self._named.setdefault(match[0], f"#{len(self._named)}")

    def follow(self) -> Callable[[], None]:
        """Number each name that is drawn for a file; what this returns, ends it."""
        sequence: Any = tempfile._RandomNameSequence  # type: ignore[attr-defined]  # noqa: SLF001
        drawn, original = self.drawn, sequence.__next__

        def following(this: Any) -> str:  # noqa: ANN401
            name: str = original(this)
            drawn.setdefault(name, f"#{len(drawn)}")
            return name

        sequence.__next__ = following
        return lambda: setattr(sequence, "__next__", original)
