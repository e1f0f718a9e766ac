"""Which script a command starts: ``bash run.sh``, ``sbatch run.sh``, ``./run.sh``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.sources.kinds import interpreted_by

if TYPE_CHECKING:
    from detlint.documents.document import Word
    from detlint.sources.source import Source

_QUEUES = frozenset({"sbatch", "qsub", "bsub"})
SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm")
# The end of a word that the text tells: /train.py of "$HERE/train.py".
_TAIL = re.compile(r"/([\w.@+-][\w./@+-]*)[\"']?$")


def script_of(words: tuple[Word, ...], source: Source) -> tuple[str, tuple[Word, ...]]:
    """The path of the script, "" for none, and the arguments that it gets."""
    if not words:
        return "", ()
    name = (words[0].text or "").rpartition("/")[2]
    runs_scripts = name in _QUEUES or interpreted_by(name) == "shell"
    places = range(1, len(words)) if runs_scripts else range(1)
    for place in places:
        path = path_of(words[place], source)
        if path.endswith(SCRIPTS):
            return path, words[place + 1 :]
    return "", ()


def takes_text(option: str) -> bool:
    """Whether an option of a shell is followed by the text that it runs: ``-c``, ``-lc``."""
    letters = option[1:]
    return option[:1] == "-" and letters.isalpha() and letters.islower() and letters[-1] == "c"


def path_of(word: Word, source: Source) -> str:
    """A path as it is written, or the end of one that is not all known."""
    if word.text is not None:
        return word.text
    tail = _TAIL.search(source.text[word.start : word.end])
    return tail[1] if tail else ""
