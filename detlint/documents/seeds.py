"""Seeds that a script takes from the clock, the process or the system, and those that a job
leaves out."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.document import Word
from detlint.documents.entropy import Entropy, entropy, variable_of
from detlint.documents.launches import launches
from detlint.documents.options import options
from detlint.documents.training import is_tester, runs_tests
from detlint.finding import Edit
from detlint.models.names import means_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Document, Variable
    from detlint.documents.options import Option

MENTIONS = (
    *("RANDOM", "EPOCHSECONDS", "EPOCHREALTIME", "$(date", "`date", "$$", "BASHPID", "PPID"),
    *("JOB_ID", "JOBID", "/dev/random", "urandom", "openssl rand", "uuidgen", "shuf"),
)
# Read by Lightning's seed_everything() where it is given no seed.
_READ = ("PL_GLOBAL_SEED",)


_JOB = "[training]"


class Seed(NamedTuple):
    """A seed that differs from run to run, and where."""

    place: Word
    message: str
    edits: tuple[Edit, ...]
    doubtful: bool  # the program's name says that it is a test, a benchmark or a server


def seeds(document: Document) -> Iterator[Seed]:
    """The seeds that programs of Python are given by a script."""
    told: set[int] = set()
    for command, launch in launches(document):
        if is_tester(launch):
            continue
        doubtful = runs_tests(launch)
        for option in options(document.source, launch.arguments):
            if option.value is not None or not means_seed(option.name):
                continue
            subject = f"`{'.'.join(option.keys)}`"
            found = _entropy(document, option.raw)
            if found is not None:
                word = _place(document, option)
                if word.start not in told:
                    told.add(word.start)
                    subject = f"`{word.text}`" if word.text else subject
                    seed = _seed(document, word, option.place, found, subject)
                    yield seed._replace(doubtful=doubtful)
                continue
            variable = _variable(document, option.raw, command.start)
            if variable is not None and variable.start not in told:
                told.add(variable.start)
                yield from (each._replace(doubtful=doubtful) for each in _of(document, variable))
    yield from _read(document)


def unseeded_job(document: Document) -> Word | None:
    """Where a whole job of torchtitan leaves its seed out, which it then takes from the
    generator of rank 0 as it happens to start (torchtitan.distributed.utils.set_determinism)."""
    if document.flavour != "torchtitan" or document.source.kind != "toml":
        return None
    paths = {entry.keys for entry in document.entries()}
    if {("training", "seed"), ("debug", "seed")} & paths:
        return None
    place = 0
    for line in document.source.text.splitlines(keepends=True):
        if line.lstrip(" \t").startswith(_JOB):
            end = place + line.index(_JOB) + len(_JOB)
            return Word(place, end, None)
        place += len(line)
    return None


def _read(document: Document) -> Iterator[Seed]:
    """The seeds that programs take from their environment."""
    for node in chain.from_iterable(document.assignments.get(name, ()) for name in _READ):
        if node.exported:
            yield from _of(document, node)


def _of(document: Document, variable: Variable) -> Iterator[Seed]:
    raw = document.source.text[variable.value_start : variable.value_end]
    found = _entropy(document, raw) if variable.value is None else None
    if found is not None:
        word = Word(variable.start, variable.end, None)
        yield _seed(document, word, variable.value_start, found, f"`{variable.name}`")


def _place(document: Document, option: Option) -> Word:
    """Where an option is given its value. In a command that is kept in a string, that may be
    the assignment of a variable, whose name the word has for its text."""
    if option.start <= option.place <= option.end:
        return Word(option.start, option.end, None)
    node = _by_value(document).get(option.place)
    if node is not None:
        return Word(node.start, node.end, node.name)
    return Word(option.place, option.place + len(option.raw), None)


@lru_cache(maxsize=1)
def _by_value(document: Document) -> dict[int, Variable]:
    """The first variable whose value begins at each place."""
    variables = (each for named in document.assignments.values() for each in named)
    found: dict[int, Variable] = {}
    for each in sorted(variables):
        found.setdefault(each.value_start, each)
    return found


def _entropy(document: Document, raw: str) -> Entropy | None:
    if document.source.kind == "makefile":
        raw = raw.replace("$$", " $")  # of the same length
    return entropy(raw, seeded="RANDOM" in document.assignments)


def _variable(document: Document, raw: str, before: int) -> Variable | None:
    """The last value of the variable that a value consists of."""
    named = document.assignments.get(variable_of(raw), [])
    index = bisect_left(named, before, key=lambda each: each.start)
    return named[index - 1] if index else None


def _seed(document: Document, word: Word, place: int, found: Entropy, subject: str) -> Seed:
    start, end = place + found.start, place + found.end
    shown = document.source.text[start:end].strip()
    unless = ", unless it is given another" if found.optional else ""
    message = (
        f"{subject} comes from {found.what} (`{shown}`){unless}, so it differs from run to run"
    )
    return Seed(word, message, (Edit(start, end, "0"),), doubtful=False)
