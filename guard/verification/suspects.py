"""What the linter finds in the program's own files that fits the cause of a difference.

And lines of the program that may be to blame, where running showed none and the linter has none.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.diff import Cause, Source, Suspect
from guard.errors import GuardError
from guard.verification.circumstances import HASHES, LISTINGS, MEMORY
from guard.verification.texts import Text, setters, states

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.diff import Change, Difference, Link
    from guard.verification.texts import Line

FROM_A_THREAD = "a generator that is drawn from at any time"
SET = "the program sets it itself"
KEPT = "what the program keeps and does not save"
SAVED = "what becomes of the state that was lost"
WHOLE = " See that it is saved whole, and that nothing of it is left out or emptied there."
REMEDIES = {
    Source.CLOCK: "Compute it from what is the same in each run, such as a count of steps or "
    "epochs in the place of seconds.",
    Source.ENTROPY: "Seed what draws with a fixed number, as in np.random.default_rng(seed) or "
    "random.Random(seed); a UUID or the system's entropy is another one in each run.",
    Source.PROCESS: "Take a fixed number, or the rank, in the place of the number of a process or "
    "a thread: the system gives another one in each run.",
    Source.LOAD: "Take a fixed number in the place of what is measured of the machine.",
    Source.DRAWN_NAME: "Name it by what is the same in each run, such as a running number: "
    "tempfile draws another name in each.",
    Source.STRING_HASH: "Sort what comes out of a set of strings, and use zlib.crc32 or hashlib in "
    "the place of hash(); `python -m guard run` fixes PYTHONHASHSEED.",
    Source.OBJECT_ADDRESS: "Sort by, or compute from, what the objects hold, such as a number or a "
    "name: id() and the default hash() are addresses, which no seed fixes. A dict or a list keeps "
    "the order of insertion, where a set does not.",
    Source.LISTING: "Sort what is listed: sorted(os.listdir(folder)).",
    Source.THREAD_ORDER: "Let each thread keep its own part, and add or join the parts afterwards "
    "in a fixed order, as with pool.map: sums of floats hang on the order of their parts, and what "
    "threads hand over on which is first.",
    Source.READINESS: "Wait for it at a step that is fixed, as job.result() and join() do without "
    "a timeout, in the place of asking whether it is done by then.",
    Source.COLLECTION: "Let no result hang on when objects are freed: release them by name, with "
    "a context manager or close(), in the place of __del__ and weak references.",
    Source.UNWRITTEN_MEMORY: "Write every element before it is read: torch.zeros in the place of "
    "torch.empty.",
}
# By why a line is told: the words of what it reads, or one of those above.
ADVICE = {
    **{source.value: remedy for source, remedy in REMEDIES.items()},
    FROM_A_THREAD: "Give what draws there a generator of its own, random.Random(seed), "
    "np.random.default_rng(seed) or torch.Generator(): which thread draws first differs.",
    KEPT: "Save it with the checkpoint, and load it before the first step: what the program keeps "
    "from step to step in Python is in no state_dict() of the model or the optimizer.",
    SET: "The program sets it itself: give it the same value in each run there, and not one that "
    "is measured or read from the machine.",
}

_SECONDS = 120
_MOST = 5  # suspects that are told
_FILES = 400  # of the program's, at most
_FAR = 100  # lines within a file, from which on they all count as far
_FILE_COUNTS = 2  # as much as being so many codes further down the list

GENERAL = ("DET303", "DET304", "DET306", "DET7", "DET80")  # codes about a program as a whole

_SHUFFLES = ("DET202",)  # they draw from torch's generator, and are in order where it is seeded
_SEEDING = re.compile(r"\b(manual_seed|seed_everything|set_seed|seed_all)\s*\(")

_OWNER = re.compile(r"\b(\w+)'s global")  # in what the linter says
_OWNERS = {"python", "numpy", "torch"}
_OBJECTS = "DET101"  # of generators of the program's own
_GLOBALS = ("DET102", "DET104")

# Why a code fits; a code covers those that begin with it, and the first that covers one counts.
_WHY = {
    ("DET101", "DET102", "DET103", "DET104", "DET202"): "a generator without a fixed seed",
    ("DET106", "DET203", "DET204", "DET205", "DET206", "DET802"): "an order that nothing fixes",
    ("DET201", "DET207"): "generators in the loader's workers",
    ("DET301", "DET302", "DET307"): "a kernel that is chosen anew in each run",
    (
        "DET305",
        "DET401",
        "DET402",
        "DET403",
    ): "memory that is read before anything has written to it",
    ("DET105",): "a value that is another one in each run",
    ("DET",): "a kernel that adds or writes in no fixed order",
}
# Codes by cause, the likelier first.
_CODES_OF = {
    Cause.INITIALISATION: "102 101 103 402 401 403 104 204 105 203",
    Cause.BATCH_ORDER: "204 203 205 101 103 102 104 105 206 202 802 207 201 106",
    Cause.BATCH_CONTENT: "101 103 102 104 204 203 205 105 207 201 403 401 206 202 106",
    Cause.GENERATOR: "103 102 101 104 204 205 105 207 202",
    Cause.KERNEL: "501 502 60 401 402 205 101 103 204 105 301 302 307 303 304 306 7 80",
    Cause.UNWRITTEN_MEMORY: "401 402 403 305",
    Cause.HYPERPARAMETER: "101 103 102 104 105 204 205",
    Cause.OUTSIDE: "101 103 102 104 105 204 205",
    Cause.STATE: "101 102 206 202",
    # How data is shuffled decides nothing of what is done.
    Cause.CONTROL_FLOW: "101 103 102 104 204 203 205 105 207 201 403 401 206 106",
    Cause.LENGTH: "101 103 102 104 204 203 205 105 207 201 403 401 206 106",
}


def _fitting(cause: Cause) -> tuple[tuple[str, str], ...]:
    """The codes of a cause, each with why it fits."""
    codes = (f"DET{each}" for each in _CODES_OF.get(cause, "").split())
    return tuple(
        (code, next(why for starts, why in _WHY.items() if code.startswith(starts)))
        for code in codes
    )


def suspects(
    difference: Difference, files: Sequence[str], links: Sequence[Link] = ()
) -> tuple[Suspect, ...]:
    """The linter's findings that fit, best first. Raises GuardError where it cannot be asked.

    files  the program's own, the one that was started first
    links  statements that running showed to lead to the difference
    """
    fitting = _fitting(difference.cause)
    if not files or not fitting:
        return ()
    if any(_SEEDING.search(_read(each)) for each in files):
        fitting = tuple(each for each in fitting if each[0] not in _SHUFFLES)
    codes = [code for code, _ in fitting]
    found = findings(files, codes)
    return rank(found, fitting, difference, files, links)


def findings(files: Sequence[str], codes: Sequence[str]) -> list[dict[str, Any]]:
    """What ``detlint`` finds, in a process of its own: guard does not import its parser."""
    command = [sys.executable, "-m", "detlint", "--output-format", "json", "--isolated"]
    command += ["--no-cache", "--min-confidence", "possible"]
    command += ["--select", ",".join(codes), "--", *files[:_FILES]]
    try:
        done = subprocess.run(  # noqa: S603 - this Python
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise GuardError(f"the linter took more than {_SECONDS} s over the program") from None
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)
    except ValueError:
        raise GuardError(f"the linter could not be asked: {done.stderr.strip()}") from None
    return found


def rank(
    found: Iterable[dict[str, Any]],
    fitting: Sequence[tuple[str, str]],
    difference: Difference,
    files: Sequence[str],
    links: Sequence[Link] = (),
) -> tuple[Suspect, ...]:
    """Best first: on the line itself, or in the slice; then what is no mere possibility; then how
    well the code fits, and how near it lies, weigh.

    What is said of other generators than the one that differs comes later, and what is said of
    the whole program last: the line it is said at is of no consequence. The file of the place is
    the nearest; then those that define a dataset, and the one that was started; then the others.
    """
    place = difference.place
    here = os.path.realpath(place.filename) if place is not None else ""
    line = place.line if place is not None else 0
    known = {(os.path.realpath(each.file), each.line) for each in links} | {(here, line)}
    near = {os.path.realpath(each) for each in files if each == files[0] or _has_data(each)}

    def key(each: dict[str, Any]) -> tuple[Any, ...]:
        name, row = os.path.realpath(each["filename"]), each["location"]["row"]
        distance = abs(row - line)
        far = min(distance / _FAR, 1) if name == here else 1 + (name not in near)
        weight = _fit(each["code"], fitting)[0] + _FILE_COUNTS * far
        is_general = each["code"].startswith(GENERAL)
        is_other = _is_of_another(each, difference.generators)
        is_possible = each.get("confidence") == "possible"
        return is_general, is_other, (name, row) not in known, is_possible, weight, name, row

    fit = sorted((each for each in found if _fit(each["code"], fitting)[1]), key=key)
    return tuple(_suspect(each, fitting) for each in fit[:_MOST])


def _is_of_another(each: dict[str, Any], generators: Sequence[str]) -> bool:
    """Whether a finding is about another generator than those that are known to differ."""
    held = {name.partition(".")[0] for name in generators}
    if not held or not held <= _OWNERS:  # generator objects as well
        return False
    code = each["code"]
    if code.startswith(_SHUFFLES):
        return "torch" not in held
    owner = _OWNER.search(each["message"]) if code.startswith(_GLOBALS) else None
    return code == _OBJECTS or (owner is not None and owner[1].lower() not in held)


def _has_data(path: str) -> bool:
    return "Dataset" in _read(path)


def _read(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _fit(code: str, fitting: Sequence[tuple[str, str]]) -> tuple[int, str]:
    for order, (start, why) in enumerate(fitting):
        if code.startswith(start):
            return order, why
    return len(fitting), ""


def _suspect(each: dict[str, Any], fitting: Sequence[tuple[str, str]]) -> Suspect:
    return Suspect(
        code=each["code"],
        message=each["message"],
        file=each["filename"],
        line=each["location"]["row"],
        fits=_fit(each["code"], fitting)[1],
    )


_LINES = 3  # lines that are told
# What the linter says of these circumstances: where it says it, nothing is to be added.
_CODES = {
    HASHES.name: ("DET204", "DET105"),
    LISTINGS.name: ("DET203",),
    MEMORY.name: ("DET40", "DET305"),
}
_CONDITIONS = (Cause.CONTROL_FLOW, Cause.LENGTH)
_DATA = (Cause.BATCH_ORDER, Cause.BATCH_CONTENT)
_COMPUTED = (Cause.KERNEL, Cause.OUTSIDE)
_OF_ORDER = ("DET203", "DET204", "DET205")
_SURE = 10  # ranks below are told before the linter's findings


class _Found(NamedTuple):
    """A line; the lower the rank, the likelier."""

    rank: int
    line: int
    what: str
    fits: str = ""


@dataclass(frozen=True)
class Asked:
    """What is known of a difference when the text is asked.

    circumstance  that makes the difference, "none", or "" where it is not known
    changes       of the environment
    is_known      whether the operator is
    """

    difference: Difference
    circumstance: str
    text: Text
    changes: Sequence[Change] = ()
    is_known: bool = False


def with_possibilities(suspects: tuple[Suspect, ...], asked: Asked) -> tuple[Suspect, ...]:
    """The linter's suspects; lines that are surely of the cause come before them, others only if
    none of the linter's fits the circumstance."""
    fitting = _CODES.get(asked.circumstance, ("DET",))
    special = [each.code for each in suspects if not each.code.startswith(GENERAL)]
    fits = any(each.startswith(fitting) for each in special)
    place = asked.difference.place
    here, near = (os.path.realpath(place.filename), place.line) if place is not None else ("", 0)
    ranked = []
    for number, path in enumerate(asked.text.trees):
        is_far = os.path.realpath(path) != here
        for rank, line, what, why in _possible(path, asked, special):
            if rank < _SURE or not fits:
                order = (rank, is_far, number, abs(line - (0 if is_far else near)))
                ranked.append((order, Suspect("", what, path, line, why)))
    told_of: dict[tuple[str, int], Suspect] = {}
    exact = {(each.file, each.line): each for each in reversed(suspects)}
    for _, suspect in sorted(ranked, key=lambda each: each[0]):
        at = (suspect.file, suspect.line)
        told_of.setdefault(at, exact.get(at, suspect))
    lines = list(told_of.values())[:_LINES]
    return (*lines, *(each for each in suspects if each not in lines))


def advised(difference: Difference, circumstance: str, suspects: Sequence[Suspect]) -> str:
    """What to do: what fits the first suspect, where it is a line of the text that tells."""
    fits = suspects[0].fits if suspects else ""
    if difference.cause is Cause.STATE and fits == SAVED:
        return difference.advice + WHOLE
    if circumstance in _CODES and difference.cause not in _CONDITIONS:
        return difference.advice
    return ADVICE.get(fits, difference.advice)


def _possible(path: str, asked: Asked, codes: Sequence[str]) -> Iterator[_Found]:
    """Lines of a file.

    codes  of what the linter found, but for what it says of a whole program
    """
    tree, difference, cause = asked.text.trees[path], asked.difference, asked.difference.cause
    if cause is Cause.ENVIRONMENT:
        items = [each.name for each in asked.changes if each.decides]
        yield from _lines(setters(tree, items), SET)
    elif cause is Cause.STATE:
        yield from _lines(states(tree, difference.lost), SAVED)
        yield from _kept(path, asked)
    elif cause in (Cause.GENERATOR, *_DATA):
        drawn = asked.text.threads.draws(tree, difference.generators)
        yield from _lines(drawn, FROM_A_THREAD)
    if asked.circumstance not in _CODES:
        yield from _of_threads(path, asked, codes)


def _lines(lines: Iterable[Line], fits: str = "", rank: int = 0) -> Iterator[_Found]:
    return (_Found(rank + each.rank, each.line, each.what, fits) for each in lines)


def _kept(path: str, asked: Asked) -> Iterator[_Found]:
    """What is not saved; later, where it is known what else was lost."""
    lost = asked.difference.lost
    rank = 0 if not lost else 2 if "hyperparameter" in lost else _LINES + 1
    for each in asked.text.kept.get(path, ()):
        what = f"{each.name} changes here, nothing of that name is saved, and line {each.begun}"
        yield _Found(rank, each.line, f"{what} begins it anew in a resumed run", KEPT)


def _of_threads(path: str, asked: Asked, codes: Sequence[str]) -> Iterator[_Found]:
    """What threads or names that are drawn put in an order, or add up in one."""
    tree, cause, text = asked.text.trees[path], asked.difference.cause, asked.text
    by_threads = Source.THREAD_ORDER.value
    if cause in _DATA:
        sure = cause is Cause.BATCH_ORDER and not any(each in _OF_ORDER for each in codes)
        first = 0 if sure else _SURE
        yield from _lines(text.threads.handed_over(tree), by_threads, first)
    elif cause in _COMPUTED and not asked.is_known:
        yield from _lines(text.threads.added_up(tree), by_threads)
