"""Text as a person or a log may read it: nothing in it gives a command to a terminal or to CI.

Names of files, keys and source can hold anything, and whoever sends a change chooses them.
"""

from __future__ import annotations

import re

# A terminal has pictures of these, each as wide as a letter.
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(32)} | {"\x7f": "\u2421", "\t": "    "}
_PICTURES |= {"\ufffe": r"\ufffe", "\uffff": r"\uffff"}  # no characters, which XML cannot hold
# Controls, what turns the direction of writing or cannot be seen, halves of pairs, line ends.
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
# GitHub's runner takes this for a command wherever it stands in a line (ActionCommand.TryParse).
_COMMAND = re.compile(r"##\[(?=[\w-]+[ \]])")


def visible(text: str) -> str:
    """The text on one line, with what a terminal or a runner would obey shown instead."""
    if not text.isprintable():
        text = "".join(map(_shown, text))
    return _COMMAND.sub(r"##\\[", text) if "##[" in text else text


def leading(text: str) -> str:
    """The text as it may begin a line, where ``::`` would begin a command of GitHub's runner:
    behind ``./``, which names the same file."""
    return visible(f"./{text}" if text.lstrip().startswith("::") else text)


def _shown(character: str) -> str:
    from unicodedata import category

    if character in _PICTURES:
        return _PICTURES[character]
    if category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode()
    return character
