"""What a program is for, by its name, its folders and what its text calls."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.learning.roles import only_draws
from detlint.index.entrypoints import main_line
from detlint.index.imports import without_imports
from detlint.models import roles as rows
from detlint.models.purposes import NOTHING, Purpose, purpose, trains
from detlint.syntax.layout import code_of, plain_of, says_in_code
from detlint.syntax.mentions import is_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["trains"]

# A call as it is written: its word and the first word that it is given.
_CALL = re.compile(r"\b(\w+)\((?=[ \t\n]*(\w+|\))|)")
_WORKERS = re.compile(r"[\"']num_workers[\"'][ \t]*:[ \t]*[1-9]")
_NO_WORKERS = re.compile(r"workers[\"'][^()]*\bdefault[ \t]*=[ \t]*0\b")
# Data that a model is trained or measured on.
_DATA = re.compile(
    r"(?<![^\W_])(?:train|training|val|valid|validation|dev|test)(?:[._/]\w*)?[\"']"
    r"|data_?set|fine_?tun|corpus|synthetic",
    re.IGNORECASE,
)
_FILES, _OF_FILES = "|".join(rows.OF_FILES), "|".join(rows.MODULES_OF_FILES)
# A call or an option, and not what a program reads: `self.saved`, `def load(save_dir)`.
_CALLS_WRITING = re.compile(
    rf"(?<!\w)(def\s+)?\w*?(?:{'|'.join(rows.WRITES)})(?!d)\w*(?:\s*\(|=(?!=))"
)
_MOVES = re.compile(
    rf"\b(?:{_OF_FILES})\.(?:{_FILES})\("
    rf"|\bfrom[ \t]+(?:{_OF_FILES})[ \t]+import[^\n]*\b(?:{_FILES})\b"
)
# Programs whose random numbers are inputs on which something is tried, or are no result.
_CHECKS = Purpose.TESTS | Purpose.SERVES | Purpose.MEASURES


class _Call(NamedTuple):
    is_method: bool
    word: str
    given: str
    defined: bool  # def train(…)


def _calls(text: str) -> Iterator[_Call]:
    text = code_of(text)
    for match in _CALL.finditer(text):
        start = match.start()
        is_method = text[start - 1 : start] == "."
        yield _Call(is_method, match[1], match[2] or "", is_head(text, start))


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0]


def starts(name: str) -> bool:
    """Whether a program may start training, by its name."""
    stem = _stem(name).lower()
    return stem in rows.STARTERS or stem.startswith(rows.STARTER_BEGINS)


def calls_training(text: str) -> bool:
    """Whether something is called that may train: ``launch(…)``, ``fit_model(…)``; not
    ``demo.launch()`` of gradio, which shows a page."""
    page = says_in_code(text, ["gradio"])
    return any(
        _may_train(each.word) and not (page and each.is_method and each.word == "launch")
        for each in _calls(text)
    )


def _may_train(word: str) -> bool:
    plain = word.lower()
    return "run_exp" in plain or any(
        each.startswith(rows.TRAINING_BEGINS) for each in plain.split("_")
    )


def trains_here(text: str) -> bool:
    """Whether a program's own text calls what trains, and not only a mode: ``net.train(False)``,
    or in a file that has to do with torch ``net.train()``."""
    modes = (*rows.MODES, "self", *([")"] if says_in_code(text, ["torch"]) else []))
    return says_in_code(text, [".optimize_parameters("]) or any(
        each.word in rows.TRAINING_CALLS and not each.defined and each.given not in modes
        for each in _calls(text)
    )


def has_workers(text: str) -> bool:
    """Whether a text gives loaders of torch workers in settings."""
    return _WORKERS.search(code_of(text)) is not None


def lacks_workers(text: str) -> bool:
    """Whether a text says that loaders have none."""
    return _NO_WORKERS.search(code_of(text)) is not None


def changes_items(name: str, text: str) -> bool:
    """Whether the name of a file or a class says that it changes items of a data set, or the
    file's text that it changes pictures."""
    lower = name.lower()
    return any(each in lower for each in rows.CHANGES) or says_in_code(text, rows.PICTURES)


def collates(name: str) -> bool:
    """Whether a name is of what makes batches of items."""
    return "collat" in name.lower()


def is_other_tool(name: str, shown: str) -> bool:
    """Whether it uses a model, makes its data, or is a test; ``shown`` is its path."""
    return bool(purpose(_stem(name))) or _is_below(shown, rows.TESTS)


def exports(text: str) -> bool:
    """Whether a program writes a model in another form."""
    return says_in_code(text, rows.EXPORTS)


def is_test(shown: str) -> bool:
    """Whether the path of a program says that it is a test, which may have a backward of its
    own."""
    return _is_below(shown, rows.TESTS) or Purpose.TESTS in purpose(_stem(shown))


def is_below_tests(shown: str) -> bool:
    """Whether a program lies in a folder of tests."""
    return _is_below(shown, rows.TESTS)


def measures(name: str, text: str) -> bool:
    """Whether it is a benchmark that takes times: others train models and say how good they are."""
    return Purpose.MEASURES in purpose(_stem(name)) and says_in_code(text, rows.TAKES_TIMES)


def checks(shown: str, text: str, libraries: Iterable[str]) -> bool:
    """Whether it is a test, a benchmark or a server, compares two of a thing, or only shows
    something: its random numbers are no result. ``libraries`` are those that its file imports."""
    named = frozenset(libraries)
    block = text[main_line(text) or 0 :]
    if says_in_code(block, rows.LOOKS) and not says_in_code(block, rows.WRITES):
        return True
    if not rows.INTERFACES.isdisjoint(named) or says_in_code(text, rows.TRIES):
        return True
    if only_draws(text, lambda libraries: not named.isdisjoint(libraries)):
        return True
    if _is_below(shown, rows.APART - rows.TESTS):
        return True
    of_name = _CHECKS & purpose(_stem(shown))
    if of_name not in (Purpose.TESTS, NOTHING):
        return True
    tests = bool(of_name) or _is_below(shown, rows.TESTS)
    return tests and not _tests_no_code(shown, text, named)


def _tests_no_code(shown: str, text: str, libraries: frozenset[str]) -> bool:
    """Whether a program asks a model that was trained, on data for tests, or makes such data, and
    is no test of code: it has a main block, loads weights or takes options, and asserts nothing."""
    if main_line(text) is None or not libraries.isdisjoint(rows.TESTING):
        return False
    data = _stem(shown).startswith("test_") and not _is_below(shown, rows.TESTS)
    does = says_in_code(text, (*rows.LOADS, *(rows.OPTIONS if data else ())))
    return does and "assert" not in code_of(text)


def _is_below(shown: str, folders: frozenset[str]) -> bool:
    return not folders.isdisjoint(shown.split("/")[:-1])


@lru_cache(maxsize=8)  # asked for each library of a program
def keeps(text: str) -> bool:
    """Whether a program writes something: its code, not what it imports or says, tells so."""
    return _writes(text) or _shares_files_out(text)


def _writes(text: str) -> bool:
    if not says_in_code(text, (*rows.KEPT, *rows.MODES_OF_WRITING)):
        return False
    code = without_imports(plain_of(text))
    beside = any(map(code.__contains__, rows.KEPT_BESIDE))
    calls = (each for each in _CALLS_WRITING.finditer(code) if each[1] is None)
    return beside or any(calls) or says_in_code(text, rows.MODES_OF_WRITING)


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


def tries(name: str, main_block: str) -> bool:
    """Whether the main block of a module only tries what that defines: it calls no program, and
    the file's name does not say that it makes something."""
    if any(each in name for each in rows.MAKES):
        return False
    calls = list(_calls(main_block))
    if any(
        each.is_method and each.word in ("fit", "train") and not _is_mode(each) for each in calls
    ):
        return False
    if any(not each.is_method and each.word.lstrip("_").startswith(rows.TRIALS) for each in calls):
        return True
    return not says_in_code(main_block, ["argv"]) and not any(
        _is_program(each.word) for each in calls
    )


def takes_options(main_block: str) -> bool:
    """Whether a main block reads the command line, as no try does."""
    return says_in_code(main_block, ["argv"]) or any(
        each.word.startswith(rows.TAKES_OPTIONS) for each in _calls(main_block)
    )


def _is_mode(call: _Call) -> bool:
    """``net.train()``, ``net.train(False)``."""
    return call.given in (*rows.MODES, ")")


def _is_program(word: str) -> bool:
    return word.startswith(rows.PROGRAMS)
