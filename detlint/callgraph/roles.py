"""What a program is for, by its name, its folders and what its text calls."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from detlint.dataflow.learning.outputs import calls_in, calls_training, keeps
from detlint.index.entrypoints import main_line
from detlint.models import roles as rows
from detlint.models.purposes import NOTHING, Purpose, purpose
from detlint.syntax.layout import code_of, says_in_code

if TYPE_CHECKING:
    from collections.abc import Iterable

_NO_WORKERS = re.compile(r"workers[\"'][^()]*\bdefault[ \t]*=[ \t]*0\b")
# Programs whose random numbers are inputs on which something is tried, or are no result.
_CHECKS = Purpose.TESTS | Purpose.SERVES | Purpose.MEASURES


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0]


def starts(name: str) -> bool:
    """Whether a program may start training, by its name."""
    stem = _stem(name).lower()
    return stem in rows.STARTERS or stem.startswith(rows.STARTER_BEGINS)


def trains_here(text: str) -> bool:
    """Whether a program's own text calls what trains, and not only a mode: ``net.train(False)``,
    or in a file that has to do with torch ``net.train()``."""
    modes = (*rows.MODES, "self", *([")"] if says_in_code(text, ["torch"]) else []))
    found = (x for x in calls_in(text) if x.word in rows.TRAINING_CALLS and not x.defined)
    trains = any(not (each.is_method and each.given in modes) for each in found)
    return trains or says_in_code(text, [".optimize_parameters("])


def lacks_workers(text: str) -> bool:
    """Whether a text says that loaders have none."""
    return _NO_WORKERS.search(code_of(text)) is not None


def changes_items(name: str, text: str) -> bool:
    """Whether the name of a file or a class says that it changes items of a data set, or the
    file's text that it changes pictures."""
    lower = name.lower()
    return any(each in lower for each in rows.CHANGES) or says_in_code(text, rows.PICTURES)


def is_other_tool(name: str, shown: str) -> bool:
    """Whether it uses a model, makes its data, or is a test; ``shown`` is its path."""
    return bool(purpose(_stem(name))) or _is_below(shown, rows.TESTS)


def is_test(shown: str) -> bool:
    """Whether the path of a program says that it is a test, which may have a backward of its
    own."""
    return _is_below(shown, rows.TESTS) or Purpose.TESTS in purpose(_stem(shown))


def is_below_tests(shown: str) -> bool:
    """Whether a program lies in a folder of tests."""
    return _is_below(shown, rows.TESTS)


def measures(name: str, text: str) -> bool:
    """Whether it is a benchmark that takes times: others train models and say how good they are, or
    train and leave something behind, whatever they are called."""
    named = Purpose.MEASURES in purpose(_stem(name)) and says_in_code(text, rows.TAKES_TIMES)
    return named and not (calls_training(text) and keeps(text, figures=False))


def checks(shown: str, text: str, libraries: Iterable[str]) -> bool:
    """Whether it is a test, a benchmark or a server, compares two of a thing, or only shows
    something: its random numbers are no result. ``libraries`` are those that its file imports."""
    named = frozenset(libraries)
    block = text[main_line(text) or 0 :]
    if says_in_code(block, rows.LOOKS) and not says_in_code(block, rows.WRITES):
        return True
    if not rows.INTERFACES.isdisjoint(named) or says_in_code(text, rows.TRIES):
        return True
    if _is_below(shown, rows.APART - rows.TESTS):
        return True
    of_name = _CHECKS & purpose(_stem(shown))
    if says_in_code(text, rows.MEASURES) and not measures(shown, text):
        of_name &= ~Purpose.MEASURES  # it compares how good things are
    if of_name not in (Purpose.TESTS, NOTHING):
        return True
    tests = bool(of_name) or _is_below(shown, rows.TESTS)
    return tests and not _tests_no_code(shown, text, named)


def _tests_no_code(shown: str, text: str, libraries: frozenset[str]) -> bool:
    """Whether a program trains a model or asks one that was, on data for tests, or makes such data,
    and is no test of code: it has a main block, trains, loads weights or takes options, and asserts
    nothing."""
    if main_line(text) is None or not libraries.isdisjoint(rows.TESTING):
        return False
    data = _stem(shown).startswith("test_") and not _is_below(shown, rows.TESTS)
    does = says_in_code(text, (*rows.LOADS, *(rows.OPTIONS if data else ())))
    return (does or (data and trains_here(text))) and "assert" not in code_of(text)


def _is_below(shown: str, folders: frozenset[str]) -> bool:
    return not folders.isdisjoint(shown.split("/")[:-1])


def tries(name: str, main_block: str) -> bool:
    """Whether the main block of a module only tries what that defines: it calls no program, and
    the file's name does not say that it makes something."""
    if any(each in name for each in rows.MAKES):
        return False
    calls, modes = list(calls_in(main_block)), (*rows.MODES, ")")  # ``net.train(False)``
    if any(
        each.is_method and each.word in ("fit", "train") and each.given not in modes
        for each in calls
    ):
        return False
    if any(not each.is_method and each.word.lstrip("_").startswith(rows.TRIALS) for each in calls):
        return True
    return not says_in_code(main_block, ["argv"]) and not any(
        each.word.startswith(rows.PROGRAMS if each.is_method else (*rows.PROGRAMS, *rows.APPS))
        for each in calls
    )


def takes_options(main_block: str) -> bool:
    """Whether a main block reads the command line, as no try does."""
    return says_in_code(main_block, ["argv"]) or any(
        each.word.startswith(rows.TAKES_OPTIONS) for each in calls_in(main_block)
    )
