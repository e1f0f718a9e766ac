"""How a setting of a configuration is written, in findings and in fixes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from detlint.finding import Edit

if TYPE_CHECKING:
    from detlint.documents import Document
    from detlint.documents.document import Entry

    Value: TypeAlias = bool | int | str

_SIGNS = {"yaml": "{}: {}", "toml": "{} = {}", "json": '"{}": {}'}
# In YAML, a value that an alias elsewhere repeats, or that its own tag describes.
_MARKED = re.compile(r"[&!][^\s,\[\]{}]*\s+\Z")
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
_SHORTEST = 60


def shown(document: Document, entry: Entry) -> str:
    """The key and the value as they are written: ``benchmark: true``."""
    written = document.source.text[entry.start : entry.end]
    value = written if len(written) <= _SHORTEST and "\n" not in written else "…"
    form = _SIGNS.get(document.source.kind, "{}: {}")
    return form.format(entry.keys[-1], value or "null")


def replacement(
    document: Document, entry: Entry, value: bool | int | str
) -> tuple[Edit, ...]:  # a value
    """The edit that sets another value and keeps the way in which the old one is written."""
    text = document.source.text
    written = text[entry.start : entry.end]
    # At most a tag and an anchor and their spaces.
    before = text[max(0, entry.start - 200) : entry.start]
    if not written or written.startswith("*") or _MARKED.search(before):
        return ()
    return (Edit(entry.start, entry.end, _like(written, value)),)


def _like(written: str, value: bool | int | str) -> str:  # as above
    if isinstance(value, bool):
        return _boolean(written, value)
    if isinstance(value, int):
        return str(value)
    quote = written[0] if written[0] in "\"'" else ""
    return f"{quote}{value}{quote}"


def _boolean(written: str, value: bool) -> str:  # as above
    words = {"yes": "no", "no": "yes", "on": "off", "off": "on", "y": "n", "n": "y"}
    word = words.get(written.lower(), "true" if value else "false")
    if written.isupper():
        return word.upper()
    return word.capitalize() if written[:1].isupper() else word
