"""How long the sentences of a page are."""

from __future__ import annotations

import re

LONGEST = 25
_FENCE = re.compile(r"^ *(```+|~~~+)[^\n]*\n.*?^ *\1[ ]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +", re.MULTILINE)


def items(text: str) -> list[str]:
    """The points of a list, else the paragraphs, each as one line."""
    return [" ".join(each.removeprefix("- ").split()) for each in re.split(r"\n(?=- )|\n\n", text)]


def sentences(text: str) -> list[str]:
    return [each for line in items(text) for each in re.split(r"(?<=[.!?]) ", line)]


def too_long(text: str) -> list[str]:
    """The sentences that cannot be read at once."""
    return [each for each in sentences(text) if len(each.split()) > LONGEST]


def without_markup(page: str) -> str:
    """The prose of a page of Markdown: paragraphs, points, headings and the cells of tables."""
    text = _LINK.sub(r"\1", _COMMENT.sub("", _FENCE.sub("\n\n", page)))
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            cells = line.strip().strip("|").replace("\\|", "/").split("|")
            lines.append("\n\n" + "\n\n".join(cells) + "\n\n")
        elif line.startswith(("#", "!!!", "???")):
            lines.append(f"\n{line}\n")
        else:
            lines.append(line.removeprefix("    ") if line.startswith("    ") else line)
    return _ITEM.sub("\n", "\n".join(lines))
