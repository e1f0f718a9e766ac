"""The report for a person: coloured and wrapped on a terminal, plain elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from guard.comparison.differences import Comparison


def text(comparison: Comparison, stream: TextIO) -> str:
    """The verdict first, then why and what to do, then what followed and what was not compared.

    Colours follow the stream; nothing is written to it.
    """
    raise NotImplementedError
