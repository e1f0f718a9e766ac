"""What code leaves behind: weights, files, what it sends; and not what it only shows.

It is told from the text, which proves nothing: findings in code that leaves nothing are *possible*.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import said, word_of
from detlint.index.imports import without_imports
from detlint.models import roles as rows
from detlint.models.cells import COMMANDS, only_drives
from detlint.notebooks.magics import shell_start
from detlint.notebooks.notebook import Notebook
from detlint.syntax.layout import code_of, plain_of, says_in_code
from detlint.syntax.mentions import is_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.notebooks.magics import Magic
    from detlint.sources.source import Source

# A call as it is written: its word and the first word that it is given.
_CALL = re.compile(r"\b(\w+)\((?=[ \t\n]*(\w+|\))|)")
# Data that a model is trained or measured on.
_DATA = re.compile(
    r"(?<![^\W_])(?:train|training|val|valid|validation|dev|test)(?:[._/]\w*)?[\"']"
    r"|data_?set|fine_?tun|corpus|synthetic",
    re.IGNORECASE,
)
_FILES, _OF_FILES = "|".join(rows.OF_FILES), "|".join(rows.MODULES_OF_FILES)
# A call or an option, and not what a program reads: `self.saved`, `def load(save_dir)`.
_CALLS_WRITING = re.compile(
    rf"(?<!\w)(def\s+)?(\w*?(?:{'|'.join(rows.WRITES)})(?!d)\w*)(?:\s*\(|=(?!=))"
)
_MOVES = re.compile(
    rf"\b(?:{_OF_FILES})\.(?:{_FILES})\("
    rf"|\bfrom[ \t]+(?:{_OF_FILES})[ \t]+import[^\n]*\b(?:{_FILES})\b"
)


class Call(NamedTuple):
    """A call as it is written; ``def train(…)`` is ``defined``."""

    is_method: bool
    word: str
    given: str
    defined: bool


def calls_in(text: str) -> Iterator[Call]:
    """What looks like a call in the code of a text."""
    text = code_of(text)
    for match in _CALL.finditer(text):
        start = match.start()
        is_method = text[start - 1 : start] == "."
        yield Call(is_method, match[1], match[2] or "", is_head(text, start))


def calls_training(text: str) -> bool:
    """Whether something is called that may train: ``launch(…)``, ``fit_model(…)``; not
    ``demo.launch()`` of gradio, which shows a page."""
    page = says_in_code(text, ["gradio"])
    return any(
        _may_train(each.word) and not (page and each.is_method and each.word == "launch")
        for each in calls_in(text)
    )


def _may_train(word: str) -> bool:
    plain = word.lower()
    return "run_exp" in plain or any(
        each.startswith(rows.TRAINING_BEGINS) for each in plain.split("_")
    )


def calls_measuring(text: str) -> bool:
    """Whether something is called that may measure a model: ``evaluate(net)``."""
    return any(each in call.word.lower() for call in calls_in(text) for each in rows.MEASURES)


def only_shows(source: Source, imported: Callable[[Iterable[str]], bool]) -> bool:
    """Whether a file shows or keeps pictures and nothing else, or is a notebook that shows
    something, and trains, measures, writes and sends nothing; ``imported``: whether it imports one
    of some libraries."""
    text = source.text
    if isinstance(source, Notebook) and _shows(source) and not _leaves(source):
        return True
    plots, shows = imported(rows.DRAWING), imported(rows.OF_PICTURES)
    if not (plots or shows) or imported(rows.LEARNING) or keeps(text, figures=False):
        return False
    shown = plots and says_in_code(text, rows.SHOWS)
    return shown or (shows and says_in_code(text, rows.DISPLAYS))


def _shows(notebook: Notebook) -> bool:
    shown = any(each.cell.shows for each in notebook.cells)
    return shown or says_in_code(notebook.text, (*rows.SHOWS, *rows.PRINTS, *rows.DISPLAYS))


def _leaves(notebook: Notebook) -> bool:
    """Whether a notebook may leave something behind, or measure a model, also by what it calls or
    has a shell run."""
    text = notebook.text
    if keeps(text, figures=False) or calls_training(text):
        return True
    if says_in_code(text, (*rows.TRAINS, *rows.ANSWERS, *rows.SENDS)):
        return True
    if calls_measuring(text) or any(x.word.lower().startswith(rows.STARTS) for x in calls_in(text)):
        return True
    return any(_runs(notebook.written, each) for each in notebook.magics)


def _runs(text: str, magic: Magic) -> bool:
    """Whether a magic runs what may leave something behind: ``!python train.py``."""
    start = shell_start(text, magic)
    command = text[start : magic.end].split() if start is not None else []
    return not only_drives(magic.name) or not COMMANDS.issuperset(command[:1])


@lru_cache(maxsize=8)  # asked for each library of a program
def keeps(text: str, *, figures: bool = True) -> bool:
    """Whether a program writes something, or something besides ``figures``: its code, not what it
    imports or says, tells so."""
    return _writes(text, figures=figures) or _shares_files_out(text)


def _writes(text: str, *, figures: bool) -> bool:
    if not says_in_code(text, (*rows.KEPT, *rows.MODES_OF_WRITING)):
        return False
    code = without_imports(plain_of(text))
    beside = any(map(code.__contains__, rows.KEPT_BESIDE))
    calls = (each[2] for each in _CALLS_WRITING.finditer(code) if each[1] is None)
    written = any(figures or not each.startswith(rows.FIGURES) for each in calls)
    return beside or written or says_in_code(text, rows.MODES_OF_WRITING)


def left_of_trial(calls: Iterable[Op]) -> tuple[str, set[str]] | None:
    """The calls of a block that tries something, but those that write what it removes, and the
    functions that do: ``save("a")``, ``os.remove("a")``; None if one trains by its name."""
    named = [(each, set(map(ast.dump, each.call_node.args))) for each in calls]
    if any(each.args[0].code != "attr" and _may_train(word_of(each)) for each, _ in named):
        return None
    gone = {x: each.row for each, given in named if said(each) in rows.REMOVES for x in given}
    removed = [each for each, given in named if any(gone.get(x, 0) >= each.row for x in given)]
    kept = [ast.unparse(each.node) for each, _ in named if each not in removed]
    return "\n".join(kept), set(map(word_of, removed))


def writes_rows(text: str) -> bool:
    """Whether a program writes rows, or whatever it opens a file for, or shares files out."""
    written = says_in_code(text, (*rows.OF_ROWS, *rows.MODES_OF_WRITING)) and keeps(text)
    return written or _shares_files_out(text)


def makes_data(text: str) -> bool:
    """Whether a program writes data for a model: rows, of which it says what they are for."""
    written = keeps(text) and says_in_code(text, rows.OF_ROWS) and _is_of_data(text)
    return written or _shares_files_out(text)


def _is_of_data(text: str) -> bool:
    return _DATA.search(code_of(text)) is not None


def _shares_files_out(text: str) -> bool:
    """Whether a program moves or copies files, of which it says what they are for."""
    named = [each for each in rows.OF_FILES if f"{each}(" in text]
    return bool(named) and _MOVES.search(code_of(text)) is not None and _is_of_data(text)
