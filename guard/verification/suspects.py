"""What the linter finds in the program's own files that fits the cause of a difference.

And lines of the program that may be to blame, where running showed none and the linter has none.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.dataflow.arguments.process_state import saved_states, settings
from detlint.dataflow.orders.shared_changes import added_up
from detlint.models.randomness import REPEATS
from guard.diff import Cause, Confidence, Source, Suspect
from guard.diff.batches import SEEDING, WRITING
from guard.errors import GuardError
from guard.program import text_of
from guard.verification.plan import ADDRESSES, CLOCK, HASHES, LISTINGS, MEMORY, TIMING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.calls import Named
    from detlint.dataflow.orders.threads import Threads
    from guard.diff import Change, Difference, Link
    from guard.verification.lost_state import Loss
    from guard.verification.texts import Text

FROM_A_THREAD = "a generator that is drawn from at any time"
TOGETHER = "what threads or processes write beside each other"
ANY_RANK = "messages that are taken from any rank"
FIRST = "who comes first"
IN_A_TASK = "a generator of whichever process is given the task"
IN_A_QUERY = "what a database draws"
AMONG_PROCESSES = "what processes share, and change at any time"
BEGUN = "what is only begun"
UNFINISHED = "a file that another process is still writing"
SET = "the program sets it itself"
SAVED = "what becomes of the state that was lost"
WHOLE = " See that it is saved whole, and that nothing of it is left out or emptied there."
_RESULTS = (
    "Take results in the order in which the work was given out: map in the place of "
    'imap_unordered and as_completed, return_as="generator" for joblib, in_order=True for a '
    "DataLoader. Of a queue or a list that several fill, sort what comes by a number that the work "
    "has from the start: one that is drawn as it comes is another one in each run."
)
_PARTS = (
    "Let each thread or process keep its own part, or a copy or a file of its own; add or join "
    "the parts, and give out numbers, afterwards in a fixed order. Sums of floats hang on the "
    "order of their parts, under a lock as well; without one, a change can be lost between two. A "
    "generator is best one of each piece of work, and not of the thread that happens to take it."
)
REMEDIES = {
    Source.CLOCK: "Compute it from what is the same in each run, such as a count of steps or "
    "epochs in the place of seconds; of a file, from what it holds.",
    Source.ENTROPY: "Seed what draws with a fixed number, as in np.random.default_rng(seed) or "
    "random.Random(seed); a UUID, a free port or the system's entropy is another one in each run.",
    Source.GENERATOR: f"{SEEDING} Or give what draws there a seed of its own.",
    Source.PROCESS: "Take a fixed number, or the rank, in the place of the number of a process or "
    "a thread: the system gives another one in each run.",
    Source.LOAD: "Take a fixed number in the place of what is measured of the machine.",
    Source.DRAWN_NAME: "Name it by what is the same in each run, such as a running number: "
    "tempfile and SharedMemory draw another name in each.",
    Source.VARIABLE: "Take a fixed number in its place, such as an option of the program: what "
    "starts a job sets its port, its number or RANDOM anew in each run.",
    Source.STRING_HASH: "Sort what comes out of a set of strings, or of dates and objects that "
    "hash as strings do, and use zlib.crc32 or hashlib in the place of hash(); "
    "`python -m guard run` fixes PYTHONHASHSEED.",
    Source.OBJECT_ADDRESS: "Sort by, or compute from, what the objects hold: id() and the default "
    "hash(), also that of None before Python 3.12, are addresses, which no seed fixes. A dict or a "
    "list keeps the order of insertion, where a set does not.",
    Source.LISTING: "Sort what is listed by its whole path: sorted(folder.iterdir()). By a key, "
    "files that share it, as of one name in two folders, stay in the order of the listing. What "
    "os.scandir gives needs one: sorted(os.scandir(folder), key=lambda entry: entry.name).",
    Source.THREAD_ORDER: f"{_RESULTS} {_PARTS}",
    Source.READINESS: "Wait for it at a step that is fixed, as job.result(), work.wait() and "
    "join() do without a timeout, in the place of asking whether it is done by then.",
    Source.COLLECTION: "Let no result hang on when objects are freed: release them by name, with "
    "a context manager or close(), in the place of __del__ and weak references.",
    Source.PROGRAM: "Have the other program give the same in each run, by a seed or order of its "
    "own, or keep what it gave in a file.",
    Source.LEFT: "Have each run begin with the same files: write it where no other run looks, or "
    "delete it first. What is kept for later runs has to come back bit for bit, and the states of "
    "generators with it. A number or a name of a run is better given by an option.",
    Source.KERNEL: "Use another operator, as `operator` says. `python -m guard run` has torch keep "
    "one order by use_deterministic_algorithms(True), which raises where torch has no such kernel.",
    Source.UNWRITTEN_MEMORY: WRITING,
}
# By why a line is told: the words of what it reads, or one of those above.
ADVICE = {
    **{source.value: remedy for source, remedy in REMEDIES.items()},
    FROM_A_THREAD: "Give each thread, or what draws there, a generator of its own: "
    "random.Random(seed), np.random.default_rng([seed, number]) or "
    "torch.Generator().manual_seed(seed). Which thread draws first differs.",
    Source.THREAD_ORDER.value: _RESULTS,
    TOGETHER: _PARTS,
    FIRST: "Let the number of the thread or process decide, as in `if number == 0`: which comes "
    "first at a barrier or a lock, or writes a file last, is another one in each run.",
    ANY_RANK: "Name the rank to receive from: dist.recv(tensor, src=rank).",
    IN_A_TASK: "Let each task make its generator from its own number, as in "
    "np.random.default_rng([seed, task]), and not each process: which process is given which task "
    "differs.",
    IN_A_QUERY: "random() in a query draws in the database: order by a key, and draw with a "
    "generator of the program's.",
    AMONG_PROCESSES: "What processes or ranks count together, or ask of each other, is a race: "
    "compute it from the step, the rank or the index, or wait at a barrier until all have written.",
    BEGUN: "Call work.wait() before what it gives is read: async_op=True only begins it.",
    UNFINISHED: "Wait for it before its file is read, by .wait(), .communicate() or .join(), and "
    "check its return code; or have it write under another name, and rename that at its end.",
    SET: "The program sets it itself: give it the same value in each run there, and not one that "
    "is measured or read from the machine.",
}

# What is another in each run where a circumstance alone makes the difference.
OF_CIRCUMSTANCES = {
    HASHES.name: Source.STRING_HASH,
    MEMORY.name: Source.UNWRITTEN_MEMORY,
    TIMING.name: Source.THREAD_ORDER,
    LISTINGS.name: Source.LISTING,
    ADDRESSES.name: Source.OBJECT_ADDRESS,
    CLOCK.name: Source.CLOCK,
}
_SECONDS = 120
_MOST = 5  # suspects that are told
# What gives another value or order in each run, on whatever machine, and no loader is.
_VARYING = tuple(f"DET{each}" for each in (*range(101, 106), *range(203, 206), *range(401, 404)))
_NOTED = 3  # findings that an answer of identical runs has
_NOT_SHOWN = (
    "{code} {place} showed in nothing that was compared, or came out the same in these runs: "
    "{message}"
)
_MORE = "the linter has {} more like these: detlint --min-confidence possible"
_LINES = 3  # lines of the text that are told
_FILES = 400  # of the program's, at most
_FAR = 100  # lines within a file, from which on they all count as far
_FILE_COUNTS = 2  # as much as being so many codes further down the list
_GENERAL = ("DET303", "DET304", "DET306", "DET7", "DET80")  # codes about a program as a whole
# What happens on a GPU alone.
_OF_GPUS = ("DET301", "DET302", "DET303", "DET304", "DET306")
_SHUFFLES = ("DET202",)  # they draw from torch's generator, and are in order where it is seeded
_SEEDING = re.compile(r"\b(manual_seed|seed_everything|set_seed|seed_all)\s*\(")
_OWNER = re.compile(r"\b(\w+)'s global")  # in what the linter says
_OWNERS = {"python", "numpy", "torch"}
_OBJECTS = "DET101"  # of generators of the program's own
_GLOBALS = ("DET102", "DET104")
_ORDER, _UNSEEDED = "an order that nothing fixes", "a generator without a fixed seed"
# What differs, and why a code fits: a code covers those that begin with it, the first counts.
_OF_CODES: dict[str, tuple[Source | None, str]] = {
    "DET105": (Source.STRING_HASH, "a value that is another one in each run"),
    "DET203": (Source.LISTING, _ORDER),
    "DET204": (Source.STRING_HASH, _ORDER),
    **dict.fromkeys(("DET205", "DET206"), (Source.THREAD_ORDER, _ORDER)),
    "DET106": (Source.GENERATOR, _ORDER),
    "DET802": (None, _ORDER),
    **dict.fromkeys(("DET201", "DET207"), (Source.GENERATOR, "generators in the loader's workers")),
    **dict.fromkeys(("DET10", "DET202"), (Source.GENERATOR, _UNSEEDED)),
    **dict.fromkeys(
        ("DET301", "DET302", "DET307"), (None, "a kernel that is chosen anew in each run")
    ),
    "DET40": (Source.UNWRITTEN_MEMORY, "memory that is read before anything has written to it"),
    "DET305": (None, "memory that is read before anything has written to it"),
    **dict.fromkeys(
        ("DET5", "DET6"), (Source.KERNEL, "a kernel that adds or writes in no fixed order")
    ),
    "DET": (None, "a kernel that adds or writes in no fixed order"),
}
# Codes by cause, the likelier first.
_CODES = {
    Cause.INITIALISATION: "102 101 103 402 401 403 104 204 105 203 205",
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


# What the linter says of these circumstances: where it says it, nothing is to be added.
SAYS = {
    HASHES.name: ("DET204", "DET105"),
    LISTINGS.name: ("DET203",),
    MEMORY.name: ("DET40", "DET305"),
}
_DATA = (Cause.BATCH_ORDER, Cause.BATCH_CONTENT)
_COMPUTED = (Cause.KERNEL, Cause.OUTSIDE)
_OF_ORDER = ("DET203", "DET204", "DET205")
_SURE = 10  # ranks below are told before the linter's findings
# What threads and processes do beside each other.
_PUTS = "{}() in a thread or process: whichever comes first is first"
_TAKES = "{}() gives what a thread or process has put there first"
_PUTS_ALONE = "{}() in a thread or process, which may come before others ask for it or after"
_ASKS = "`{}` is asked here, and something is decided by it"
_WAITS = "`{}` waits for a limited time, and more or less may be done by then"
_WRITES = "a part of {} is written in a thread, where others may read or write it meanwhile"
_GROWS = "{} grows in threads, in the order they come to it"
_BEGUN = "{}(async_op=True) is begun, and nothing waits until it is done"
_TOGETHER = "{} changes what several processes share, in the order in which they come to it"
_SETS = "{} is set here"
# Of what saves and loads states and checkpoints, the likelier first.
_KEEPS = {
    "replaces": ("{}() is saved here, and something is put in the place of a part of it", 0),
    "saves": ("{}() is saved here", 1),
    "restores": ("{}() puts it back here", 2),
    "writes": ("{}(): the checkpoint is written here", 3),
    "reads": ("{}(): the checkpoint is read here", 5),
}
_CHANGED = "{} is changed here as an object is collected"
_COLLECTED = "{}() draws from the generator of the whole process as an object is collected"
_DRAWS = "{}() draws from the generator of the whole process, in a thread"


def meaning(code: str) -> tuple[Source | None, str]:
    """What is another in each run by a finding of that code, and in words why it fits."""
    return next((found for start, found in _OF_CODES.items() if code.startswith(start)), (None, ""))


def suspects(
    difference: Difference,
    files: Sequence[str],
    links: Sequence[Link] = (),
    *,
    has_gpu: bool = True,
) -> tuple[Suspect, ...]:
    """The linter's findings that fit, best first. Raises GuardError where it cannot be asked.

    files    the program's own, the one that was started first
    links    statements that running showed to lead to the difference
    has_gpu  whether there was a GPU where it ran
    """
    codes = [f"DET{each}" for each in _CODES.get(difference.cause, "").split()]
    codes = [each for each in codes if has_gpu or each not in _OF_GPUS]
    if not files or not codes:
        return ()
    if any(_SEEDING.search(text_of(each)) for each in files):
        codes = [each for each in codes if each not in _SHUFFLES]
    found = (each for each in findings(files, codes) if has_gpu or not _is_of_gpus(each))
    return rank(found, codes, difference, files, links)


def _is_of_gpus(finding: dict[str, Any]) -> bool:
    """Whether what is said of an operator holds on a GPU alone."""
    return " on CUDA" in finding["message"] and "CPU" not in finding["message"]


def not_shown(files: Sequence[str]) -> Iterator[str]:
    """A sentence for each place of the program that may differ in each run, although its runs are
    identical; the surest first."""
    if not files:
        return
    try:
        found = findings(files, _VARYING)
    except GuardError as error:
        yield str(error)
        return
    order = [each.value for each in Confidence]
    found.sort(key=lambda each: order.index(each["confidence"]))
    for each in found[:_NOTED]:
        place = f"{os.path.relpath(each['filename'])}:{each['location']['row']}"
        yield _NOT_SHOWN.format(code=each["code"], place=place, message=each["message"])
    if len(found) > _NOTED:
        yield _MORE.format(len(found) - _NOTED)


def findings(files: Sequence[str], codes: Sequence[str]) -> list[dict[str, Any]]:
    """What ``detlint`` finds by which runs may part, in a process of its own: guard does not import
    its parser."""
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
    return [each for each in found if REPEATS not in each["message"]]


def rank(
    found: Iterable[dict[str, Any]],
    codes: Sequence[str],
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
    here, line = _at(difference)
    known = {(os.path.realpath(each.file), each.line) for each in links} | {(here, line)}
    near = {
        os.path.realpath(each) for each in files if each == files[0] or "Dataset" in text_of(each)
    }
    ranked = []
    for each in found:
        code, row, name = each["code"], each["location"]["row"], os.path.realpath(each["filename"])
        order = next((at for at, start in enumerate(codes) if code.startswith(start)), None)
        if order is None:
            continue
        far = min(abs(row - line) / _FAR, 1) if name == here else 1 + (name not in near)
        key = (
            code.startswith(_GENERAL),
            _is_of_another(each, difference.generators),
            (name, row) not in known,
            each.get("confidence") == "possible",
            order + _FILE_COUNTS * far,
            name,
            row,
        )
        ranked.append(
            (key, Suspect(code, each["message"], each["filename"], row, meaning(code)[1]))
        )
    ranked.sort(key=lambda each: each[0])
    return tuple(suspect for _, suspect in ranked[:_MOST])


def _at(difference: Difference) -> tuple[str, int]:
    place = difference.place
    return ("", 0) if place is None else (os.path.realpath(place.filename), place.line)


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


class Line(NamedTuple):
    """A line of a file, and why it is told; the lower the rank, the likelier."""

    rank: int
    file: str
    line: int
    what: str
    fits: str


@dataclass(frozen=True)
class Asked:
    """What is known of a difference when the text is asked."""

    difference: Difference
    circumstance: str  # that makes the difference, "none", or "" where it is not known
    text: Text
    changes: Sequence[Change] = ()  # of the environment
    is_known: bool = False  # whether the operator is
    losses: Sequence[Loss] = ()  # what a resumed run did not get back


def with_possibilities(suspects: tuple[Suspect, ...], asked: Asked) -> tuple[Suspect, ...]:
    """The linter's suspects; lines that are surely of the cause come before them, others only if
    none of the linter's fits the circumstance."""
    fitting = SAYS.get(asked.circumstance, ("DET",))
    special = [each.code for each in suspects if not each.code.startswith(_GENERAL)]
    fits = any(each.startswith(fitting) for each in special)
    here, near = _at(asked.difference)
    exact = {(each.file, each.line): each for each in reversed(suspects)}
    numbers = {path: number for number, path in enumerate(asked.text.trees)}
    ranked = []
    for each in _possible(asked, special):
        if each.rank < _SURE or not fits:
            is_far = os.path.realpath(each.file) != here
            distance = abs(each.line - (0 if is_far else near))
            order = (each.rank, is_far, numbers[each.file], distance)
            told = Suspect("", each.what, each.file, each.line, each.fits)
            ranked.append((order, exact.get((each.file, each.line), told)))
    ranked.sort(key=lambda each: each[0])
    told_of: dict[tuple[str, int], Suspect] = {}
    for _, suspect in ranked:
        told_of.setdefault((suspect.file, suspect.line), suspect)
    lines = list(told_of.values())[:_LINES]
    lost = [*dict.fromkeys(each.suspect for each in asked.losses if each.counts)][:_LINES]
    return (*lost, *lines, *(each for each in suspects if each not in lines))


def advised(difference: Difference, suspects: Sequence[Suspect]) -> str:
    """What to do: what fits the first suspect, where it is a line of the text that tells."""
    fits = suspects[0].fits if suspects else ""
    if difference.cause is Cause.STATE and fits == SAVED:
        return difference.advice + WHOLE
    return ADVICE.get(fits, difference.advice)


def _possible(asked: Asked, codes: Sequence[str]) -> Iterator[Line]:
    """Lines of the program.

    codes  of what the linter found, but for what it says of a whole program
    """
    threads, cause = asked.text.threads, asked.difference.cause
    yield from _sure(asked)
    if asked.circumstance in SAYS:
        return
    if cause in _DATA:
        yield from _handed(threads, cause, codes)
    if cause in _COMPUTED:
        yield from _told(() if asked.is_known else added_up(threads), _GROWS, TOGETHER)
        yield from _told(threads.begun(), _BEGUN, BEGUN)
    if cause in (Cause.INITIALISATION, *_COMPUTED):
        yield from _told(threads.changed_together(), _TOGETHER, TOGETHER)
    if cause is not Cause.STATE:
        yield from _timed(asked.text, cause)


def _sure(asked: Asked) -> Iterator[Line]:
    """Lines that are told whatever the circumstance."""
    text, difference = asked.text, asked.difference
    for unit in text.units.values():
        if difference.cause is Cause.ENVIRONMENT:
            items = [each.name for each in asked.changes if each.decides]
            for found, is_fixed in settings(unit, items):
                yield from _told([found], _SETS, SET, int(is_fixed))
        elif difference.cause is Cause.STATE:
            for does, found in saved_states(unit, difference.lost):
                words, rank = _KEEPS[does]
                yield from _told([found], words, SAVED, rank)
    if difference.cause in (Cause.GENERATOR, *_DATA):
        yield from _drawn(text.threads, difference.generators)
    if difference.cause is not Cause.STATE:
        yield from _collected(text.threads, difference)


def _told(found: Iterable[Named], words: str, fits: str, rank: int = 0) -> Iterator[Line]:
    return (Line(rank, *each.place, words.format(each.named), fits) for each in found)


def _drawn(threads: Threads, generators: Sequence[str]) -> Iterator[Line]:
    """Draws of threads from one of some generators, as a trace names them; none: from any."""
    return _told(_of_generators(threads.draws(), generators), _DRAWS, FROM_A_THREAD)


def _of_generators(
    draws: Iterable[tuple[Named, str]], generators: Sequence[str]
) -> Iterator[Named]:
    owners = {each.partition(".")[0] for each in generators}
    for each, library in draws:
        if not owners or {"random": "python"}.get(library, library) in owners:
            yield each


def _collected(threads: Threads, difference: Difference) -> Iterator[Line]:
    """What finalizers draw and change: when they are called, the collector decides."""
    fits, drawn = Source.COLLECTION.value, threads.draws_as_collected()
    yield from _told(_of_generators(drawn, difference.generators), _COLLECTED, fits)
    if difference.cause is not Cause.GENERATOR:
        yield from _told(threads.changed_as_collected(), _CHANGED, fits, _SURE)


def _handed(threads: Threads, cause: Cause, codes: Sequence[str]) -> Iterator[Line]:
    """What threads hand over, and what they write that others have as well."""
    sure = cause is Cause.BATCH_ORDER and not any(each in _OF_ORDER for each in codes)
    rank, order = 0 if sure else _SURE + 1, Source.THREAD_ORDER.value
    if threads.is_one:
        yield from _told(threads.handed_over(), _PUTS_ALONE, Source.READINESS.value, _SURE + 1)
    else:
        yield from _told(threads.handed_over(), _PUTS, order, rank)
        yield from _told(threads.taken(), _TAKES, order, rank + 1)
    if cause is Cause.BATCH_CONTENT:
        yield from _told(threads.written(), _WRITES, TOGETHER, _SURE)
        yield from _told(added_up(threads), _GROWS, TOGETHER, _SURE)


def _timed(text: Text, cause: Cause) -> Iterator[Line]:
    """What the clock decides, how far a thread has come, and what is measured; first what ends by
    it, where one run is shorter."""
    for poll in text.polls:
        rank = _SURE + 2 * poll.is_in_thread
        yield Line(rank, poll.path, poll.line, _ASKS.format(poll.text), Source.READINESS.value)
    for path, line, call in text.measured:
        yield Line(_SURE, path, line, _ASKS.format(call), Source.LOAD.value)
    for path, line, call in text.limited:  # last: most limits are long enough
        yield Line(_SURE + 4, path, line, _WAITS.format(call), Source.READINESS.value)
    for path, line, name in text.timers:
        what = f"{name}() has a signal handled when a time is over, whatever runs then"
        yield Line(_SURE, path, line, what, Source.CLOCK.value)
    for path, each in text.timed_conditions:
        rank = _SURE + (cause is Cause.LENGTH and not each.ends)
        what = f"`{each.text}` is decided by the clock"
        yield Line(rank, path, each.line, what, Source.CLOCK.value)
