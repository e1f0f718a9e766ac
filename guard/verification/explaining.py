"""What a difference comes from, and how far that was shown: from all that was found out.

A line that was found by running comes first, then an operator, then a circumstance that makes the
difference alone, then what the text of the program speaks for. Where none of these tells, the cause
is not shown, and what was shown not to be it is told.

What a line reads that is another in each run is told by its text, and by what it was given.
"""

from __future__ import annotations

import ast
import os
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import last_of
from detlint.models import differing
from guard.diff import Cause, Link, Suspect, sources
from guard.diff.differences import Confidence, Explanation, Source
from guard.diff.names import generator, listed
from guard.digests import traits as trait
from guard.digests.generators import NAMES
from guard.digests.values import OPAQUE
from guard.observe.places import Place
from guard.observe.statements import path_of
from guard.verification.attribution import NONE
from guard.verification.lost_state import LOST
from guard.verification.plan import HASHES, LISTINGS, MEMORY, TIMING, circumstance_named
from guard.verification.suspects import (
    AMONG_PROCESSES,
    ANY_RANK,
    BEGUN,
    FIRST,
    FROM_A_THREAD,
    IN_A_QUERY,
    IN_A_TASK,
    OF_CIRCUMSTANCES,
    SAVED,
    TOGETHER,
    UNFINISHED,
    meaning,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from guard.diff import Difference
    from guard.diff.statements import Node
    from guard.digests.traits import Traits
    from guard.observe.statements import Path, Statement
    from guard.verification.operators import Culprit

_HANDING = {"put", "put_nowait", "send"}
_TAKING = {"get", "recv"}
# What a file, or a lock, raises that another process has made, taken or removed before.
_TOO_LATE = {"FileExistsError", "FileNotFoundError", "BlockingIOError"}
_NOT_YET = {"Full", "Empty", "QueueFull", "QueueEmpty"}  # of a queue
_OWNERS = {"python": "Python", "numpy": "NumPy", "torch.cpu": "torch"}
_TEXTS = {"repr", "str", "ascii", "format", "pformat", "__repr__"}
_ORDERED = differing.IN_ORDER | _TEXTS
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension, ast.Starred, ast.YieldFrom)
_SETS = (ast.Set, ast.SetComp)
# Of what may all stand in a statement, what goes before and after the rest: a number is more likely
# part of the name of a file, or of what a program is given; the name of a folder is least.
_RANKS = {
    Source.CLOCK: -2,
    Source.LOAD: -1,
    Source.PROCESS: 1,
    Source.PROGRAM: 2,
    Source.DRAWN_NAME: 3,
}
_NAMED = 3  # of what it reads
_LONGEST = 60  # characters of a statement that are shown
RAN = "though all that is known of what it reads agrees"
_NO_KERNEL = "kernels: no operator before it gave another result for the same"
_UNKNOWN = "{}; what {} holds is not known"
_DIFFERS = "{} differs as well, and where that comes from is not known"


class Origin(NamedTuple):
    """What a statement reads, and the part of it that does."""

    source: Source
    what: str
    line: int = 0  # of that part, where it is known
    is_sure: bool = True  # whether that was seen, and not only what else it might be
    fits: str = ""  # how, where what to do hangs on that


def line_of(node: Node, traits: Traits) -> int:
    """The line of a statement that reads what is another in each run; else its first."""
    return origin_of(node, traits).line or node.statement.line


def origin_of(node: Node, traits: Traits, circumstance: str = "") -> Origin:
    """What a statement reads that is another in each run; else NOT_SHOWN."""
    unknown = Origin(Source.NOT_SHOWN, node.statement.text)
    return next(_origins(node, traits, circumstance), unknown)


def suspect(node: Node, traits: Traits, circumstance: str = "") -> Suspect:
    """A statement as a line that is to blame, and why by what it reads."""
    statement = node.statement
    text = statement.text
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    found = origin_of(node, traits, circumstance)
    does = "was decided otherwise" if node.branches else "gave something else"
    does = "had written more or less" if traits.read & trait.UNFINISHED else does
    message, fits = f"`{shown}` {does} in each run", found.fits or found.source.value
    if found.source is Source.NOT_SHOWN:
        return Suspect("", message, node.file, statement.line, _of_reads(node))
    if found.source is Source.THREAD_ORDER and draws(node, traits):
        fits = IN_A_TASK if traits.read & trait.TURNS else FROM_A_THREAD
    what = found.what.replace(f"`{text}`", "it")
    message += f": {what}" if what != "it" else ""
    return Suspect("", message, node.file, found.line or statement.line, fits)


def _of_reads(node: Node) -> str:
    """What is known of what a statement reads, where that explains nothing."""
    rans = [each.reads for each in (node.first, node.second) if each is not None]
    read = list(zip(node.statement.reads, *rans, strict=False))
    parted = [_named(path) for path, *found in read if all(found) and len({*found}) > 1]
    if parted:
        return _DIFFERS.format(listed(parted[:_NAMED]))
    unknown = [_named(path) for path, *found in read if any(e & OPAQUE for e in found)]
    return _UNKNOWN.format(RAN, listed(unknown[:_NAMED])) if unknown else RAN


def _named(path: Path) -> str:
    return f"`{'.'.join(path).replace('.[', '[')}`"


def _origins(node: Node, traits: Traits, circumstance: str) -> Iterator[Origin]:
    """What it may be that differs, the surest first."""
    statement, shown = node.statement, f"`{node.statement.text}`"
    if traits.read & trait.UNFINISHED:
        what = f"nothing waits for {shown} before a file is read that it may still write"
        yield Origin(Source.READINESS, what, is_sure=False, fits=UNFINISHED)
    if traits.read & trait.LATEST:
        what = f"{shown} asks which file was written last, of those that several write"
        yield Origin(Source.THREAD_ORDER, what, is_sure=False, fits=FIRST)
    yield from sorted((*_of_calls(statement), *_of_names(statement)), key=_rank)
    for bits, source in sources.OF_FILES.items():
        if traits.read & bits and not sources.waits(statement):
            yield Origin(source, f"{shown} reads it")
    yield from _of_arguments(statement)
    yield from _of_hashes(node, traits, circumstance)
    yield from _of_texts(node, traits)
    last = _last_names(node)
    if traits.read & trait.LEFT and circumstance != LISTINGS.name:
        yield Origin(Source.LEFT, f"{shown} finds it there", _line(statement, sources.LISTING))
    if last & sources.LISTING and "sorted" not in statement.calls:
        yield Origin(Source.LISTING, shown, _line(statement, sources.LISTING))
    for each in filter(sources.is_number, sources.parts_of(statement.text)):
        yield Origin(Source.PROCESS, ast.unparse(each), is_sure=sources.varies(statement))
    yield from _of_entropy(node, traits)
    yield from _of_memory(shown, traits)
    yield from _of_others(node, traits)
    if moved := drawn_from(node):
        names = [f"{_OWNERS[each]}'s" for each in moved if each in _OWNERS]
        what = f"{listed(names)} global one" if names else "it"
        yield Origin(Source.GENERATOR, f"{shown} draws from {what}")
    if sources.calls(statement, sources.KEEPING):
        yield Origin(Source.GENERATOR, f"{shown} keeps a state that nothing had seeded by then")
    yield from _of_the_rest(statement)


def _of_the_rest(statement: Statement) -> Iterator[Origin]:
    """What nothing else explains, and may be another in each run."""
    shown = f"`{statement.text}`"
    for source, name in sources.handed(statement):
        yield Origin(source, f"{name}, which {shown} hands on", is_sure=False)
    if sources.calls(statement, differing.STATS) and ".st_" not in statement.text:
        yield Origin(Source.CLOCK, f"the times of a file, in {shown}", is_sure=False)
    for name in sorted(sources.variable_names(statement) & differing.VARIABLES):
        yield Origin(Source.VARIABLE, name, is_sure=False)


def _of_memory(shown: str, traits: Traits) -> Iterator[Origin]:
    """What is freed, or written by others, whatever the program's statements do meanwhile."""
    if traits.read & trait.WEAK:
        what = f"{shown} asks for what is gone once it has been collected"
        yield Origin(Source.COLLECTION, what, is_sure=False)
    if traits.read & (trait.IN_MEMORY | trait.SHARED) == trait.IN_MEMORY:
        what = f"{shown} reads memory that other processes may write meanwhile"
        yield Origin(Source.THREAD_ORDER, what, is_sure=False, fits=TOGETHER)


def _of_entropy(node: Node, traits: Traits) -> Iterator[Origin]:
    """What the system has seeded, or a database draws by itself."""
    shown, parts = f"`{node.statement.text}`", sources.parts_of(node.statement.text)
    yield from _of_unseeded(node, parts)
    texts = (each.value for each in parts if isinstance(each, ast.Constant))
    drawn = any(isinstance(each, str) and trait.draws_in_query(each) for each in texts)
    if drawn or traits.read & trait.DRAWING:
        what = f"random() of a database, in the query of {shown}"
        yield Origin(Source.ENTROPY, what, fits=IN_A_QUERY)
    if traits.gave & trait.ASKED:
        yield Origin(Source.ENTROPY, f"{shown} asks for it", is_sure=False)


def _of_unseeded(node: Node, parts: list[ast.AST]) -> Iterator[Origin]:
    """What is another one for the same arguments: the system has seeded it."""
    calls = {path_of(each.func): each for each in parts if isinstance(each, ast.Call)}
    for name, line in zip(node.statement.calls, node.statement.lines, strict=True):
        last = name.rpartition(".")[2]
        call = next((each for path, each in calls.items() if path and path[-1] == last), None)
        if last not in differing.UNSEEDED or (call is not None and not _are_told(call, node)):
            continue
        given = [] if call is None else [*call.args, *(each.value for each in call.keywords)]
        is_sure = not any(isinstance(part, ast.Call) for each in given for part in ast.walk(each))
        yield Origin(Source.ENTROPY, f"{name}() without a seed, or with None", line, is_sure)


def _are_told(call: ast.Call, node: Node) -> bool:
    """Whether the arguments of a call are told by what they hold, and are the same in both runs.
    Of ``os.environ`` nothing is told."""
    given = (*call.args, *(each.value for each in call.keywords))
    paths = [path for each in given for part in ast.walk(each) if (path := path_of(part))]
    rans = [each.reads for each in (node.first, node.second) if each is not None]
    read = zip(node.statement.reads, *rans, strict=False)
    held = [digests for path, *digests in read if any(e[: len(path)] == path for e in paths)]
    is_told = not any(digest & OPAQUE or not digest for digests in held for digest in digests)
    return is_told and all(len({*digests}) == 1 for digests in held)


def _line(statement: Statement, names: Collection[str]) -> int:
    """Of the first of its calls of these names, by their last parts; 0 where it makes none."""
    pairs = zip(statement.calls, statement.lines, strict=True)
    return next((line for name, line in pairs if name.rpartition(".")[2] in names), 0)


def drawn_from(node: Node) -> list[str]:
    """Names of the states that have moved while it ran, and that differed before."""
    rans = [ran for ran in (node.first, node.second) if ran is not None]
    return [
        name
        for at, name in enumerate(NAMES)
        if any(ran.before[at] != ran.after[at] for ran in rans)
        and (len(rans) == 1 or rans[0].before[at] != rans[1].before[at])
    ]


def _of_others(node: Node, traits: Traits) -> Iterator[Origin]:
    """What other threads, processes and ranks do meanwhile."""
    statement, shown = node.statement, f"`{node.statement.text}`"
    if node.is_on_a_signal:
        yield Origin(Source.CLOCK, f"{shown} runs when a signal comes, whatever runs then")
    if traits.read & trait.SHARED and sources.adds(statement):
        what = f"{shown} changes what others change as well"
        yield Origin(Source.THREAD_ORDER, what, fits=TOGETHER)
    if traits.read & trait.SHARED:
        fits = "" if node.is_in_thread else AMONG_PROCESSES
        yield Origin(Source.READINESS, f"{shown} asks for what others write as well", fits=fits)
    if not node.raised.isdisjoint(_NOT_YET):
        yield Origin(Source.READINESS, f"{shown} fails where others have not come so far")
    if not node.raised.isdisjoint(_TOO_LATE):
        what = f"{shown} fails where others have come first"
        yield Origin(Source.THREAD_ORDER, what, fits=TOGETHER)
    if sources.awaits(statement):
        yield Origin(Source.READINESS, f"{shown} goes on when what it waits for is done")
    if traits.read & trait.TURNS:
        yield Origin(Source.THREAD_ORDER, f"{shown} draws in tasks that any process may be given")
    if traits.read & trait.HANDED and not sources.STATES.isdisjoint(_last_names(node)):
        yield Origin(Source.READINESS, f"{shown} asks how many others have put there by then")
    if traits.read & trait.HANDED and not _TAKING.isdisjoint(_last_names(node)):
        source = Source.READINESS if traits.read & trait.ALONE else Source.THREAD_ORDER
        yield Origin(source, f"{shown} takes what others have put there first")
    yield from _beside_others(node, traits)


def _beside_others(node: Node, traits: Traits) -> Iterator[Origin]:
    """What a thread or process writes and draws while others do."""
    shown, is_of_file = f"`{node.statement.text}`", sources.writes_file(node.statement)
    drawn, writes = draws(node, traits), bool(node.statement.writes)
    is_alone = node.is_in_thread and traits.read & trait.ALONE and not drawn
    # It writes, or it is all threads that hand over.
    if is_alone and (is_of_file or hands_over(node) is not writes):
        what = f"{shown} runs in a thread, while others read what it writes"
        yield Origin(Source.READINESS, what, is_sure=writes)
    elif node.is_beside_others and is_of_file:
        what = f"{shown} writes what others write as well"
        yield Origin(Source.THREAD_ORDER, what, is_sure=False, fits=TOGETHER)
    elif node.is_in_thread and (drawn or sources.changes(node.statement)):
        what = f"{shown} {'draws' if drawn else 'runs'} in a thread, beside others"
        is_sure = not sources.fills_item(node.statement)  # whose order may be nobody's
        fits = "" if hands_over(node) else TOGETHER
        yield Origin(Source.THREAD_ORDER, what, is_sure=is_sure, fits=fits)


def draws(node: Node, traits: Traits) -> bool:
    """Whether it draws, from a generator of the process or an object that does."""
    drawing = {path for path, bits in _by_path(node, traits).items() if bits & trait.DRAWS}
    return bool(traits.read & trait.MOVES) or not drawing.isdisjoint(node.statement.touches)


def _of_calls(statement: Statement) -> Iterator[Origin]:
    """What calls give."""
    for name, line in zip(statement.calls, statement.lines, strict=True):
        source = sources.source_of(name)
        is_limited = source is Source.THREAD_ORDER and sources.waits(statement)
        if source is not None and name not in sources.BUILTINS and not is_limited:
            yield Origin(source, f"{name}()", line)


def _of_names(statement: Statement) -> Iterator[Origin]:
    """What an attribute, or a file of the system, by its name, tells."""
    is_given = sources.calls(statement, sources.PROGRAMS)  # a text to another program
    for each in sources.parts_of(statement.text):
        told = sources.of_part(each)
        if told is not None and not (is_given and isinstance(each, ast.Constant)):
            yield Origin(told, ast.unparse(each))


def _rank(origin: Origin) -> tuple[bool, int]:
    """The name of the machine comes last, which is another one on another machine alone."""
    is_of_machine = origin.what.partition("(")[0].rpartition(".")[2] in differing.OF_MACHINE
    return is_of_machine, _RANKS.get(origin.source, 0)


def _of_arguments(statement: Statement) -> Iterator[Origin]:
    """What the arguments of calls say."""
    found = sources.parts_of(statement.text)
    alone = {each.value for each in found if isinstance(each, (ast.Expr, ast.Await))}
    for each in found:
        if not isinstance(each, ast.Call):
            continue
        by_arguments = sources.of_arguments(each, alone=each in alone)
        if by_arguments is not None:
            line, fits = _line(statement, [last_of(each.func)]), ""
            name = ast.unparse(each.func)
            if sources.takes_any(each, name):
                fits = ANY_RANK
            elif sources.is_arrival(each, name):
                fits = FIRST
            elif sources.is_asynchronous(each):
                fits = BEGUN
            yield Origin(*by_arguments, line, fits=fits)


def _of_hashes(node: Node, traits: Traits, circumstance: str) -> Iterator[Origin]:
    """Addresses and hashes."""
    held, parts = traits.read | traits.gave, sources.parts_of(node.statement.text)
    shown, last = f"`{node.statement.text}`", _last_names(node)
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    is_own = ("id",) in node.statement.writes or "id" in node.within.call.names
    if "id" in names and not is_own:
        yield Origin(Source.OBJECT_ADDRESS, f"id() in {shown}", _line(node.statement, ["id"]))
    is_set = held & trait.SETS or any(isinstance(each, _SETS) for each in parts)
    is_set = is_set or any(map(sources.makes_set, node.statement.calls))
    what = "hash()" if "hash" in names or "__hash__" in last else ""
    if is_set and (last & _ORDERED or any(isinstance(each, _LOOPS) for each in parts)):
        what = what or "the order of a set"
    line = _line(node.statement, ["hash", "__hash__"]) or node.statement.goes_through
    held = _hashed(node, traits, parts) or held
    is_open = circumstance != HASHES.name or not held & trait.STRINGS
    known = _by_path(node, traits)
    asked = reduce(or_, (known.get(each, 0) for each in node.statement.touches), 0)
    if traits.gave & ~asked & trait.NAMED:  # a loop over classes, which stand there by themselves
        held |= trait.OBJECTS
    if what and held & trait.OBJECTS and is_open:
        yield Origin(Source.OBJECT_ADDRESS, f"{what} in {shown}", line)
    elif what and held & trait.STRINGS:
        yield Origin(Source.STRING_HASH, f"{what} in {shown}", line)


def _of_texts(node: Node, traits: Traits) -> Iterator[Origin]:
    """Texts of objects that have no ``__repr__`` of their own: their address stands in them."""
    parts = sources.parts_of(node.statement.text)
    called = {path_of(each.func) for each in parts if isinstance(each, ast.Call)}
    held = {path: bits for path, bits in _by_path(node, traits).items() if path not in called}
    if any(_has_address(each, held) for each in _texts(parts)):
        what = f"the text of an object without a __repr__, in `{node.statement.text}`"
        yield Origin(Source.OBJECT_ADDRESS, what)


def _texts(parts: list[ast.AST]) -> Iterator[ast.AST | None]:
    """What a text is made of: what ``repr`` is given, or stands in braces; None where ``repr`` is
    handed on, as in ``json.dumps(a, default=repr)``."""
    called = {each.func: each for each in parts if isinstance(each, ast.Call)}
    for each in parts:
        if isinstance(each, ast.FormattedValue):
            yield each.value
        elif isinstance(each, (ast.Name, ast.Attribute)) and last_of(each) in _TEXTS:
            call = called.get(each)
            yield from call.args if call is not None else (None,)


def _has_address(value: ast.AST | None, held: Mapping[Path, int]) -> bool:
    """Whether a value's text has an address. Of one that is no path that the statement reads, such
    as the item of a loop, anything that it reads can be meant; of its attributes nothing is known.

    held  what the paths that it reads are made of
    """
    path = path_of(value)
    if path is not None and path in held:
        return bool(held[path] & trait.SHOWN)
    return not isinstance(value, ast.Attribute) and any(e & trait.SHOWN for e in held.values())


def _hashed(node: Node, traits: Traits, parts: list[ast.AST]) -> int:
    """What is hashed is made of: what ``hash`` is given, else what it reads that is a set; 0 where
    that has no name."""
    calls = [each for each in parts if isinstance(each, ast.Call)]
    given = {path_of(arg) for each in calls if last_of(each.func) == "hash" for arg in each.args}
    known = _by_path(node, traits)
    found = [known.get(each, 0) for each in given if each]
    if not given:
        found = [each for each in known.values() if each & trait.SETS]
    return reduce(or_, found, 0) if all(given) else 0


def _by_path(node: Node, traits: Traits) -> dict[Path, int]:
    """What each path that a statement reads is made of."""
    return dict(zip(node.statement.reads, traits.paths, strict=False))


def hands_over(node: Node) -> bool:
    """Whether it puts something where others take it from."""
    return not _HANDING.isdisjoint(_last_names(node))


def _last_names(node: Node) -> set[str]:
    return {each.rpartition(".")[2] for each in node.statement.calls}


OF_REASONS = {
    **{each.value: each for each in Source},
    **dict.fromkeys((FROM_A_THREAD, IN_A_TASK, TOGETHER, ANY_RANK, FIRST), Source.THREAD_ORDER),
    **dict.fromkeys((AMONG_PROCESSES, BEGUN, UNFINISHED), Source.READINESS),
    IN_A_QUERY: Source.ENTROPY,
    **dict.fromkeys((LOST, SAVED), Source.STATE),
}
# What a line may depend on, where the runs differ in equal circumstances: an order by hashes that
# does not hang on the seed of these hangs on addresses.
_IN_EQUAL_CIRCUMSTANCES: dict[Source | None, Source | None] = {
    Source.STRING_HASH: Source.OBJECT_ADDRESS,
    Source.LISTING: None,
    Source.UNWRITTEN_MEMORY: None,
}
_OF_OPERATORS = {Cause[e]: Source[e] for e in ("KERNEL", "GENERATOR", "UNWRITTEN_MEMORY")}
# What differs in each run, so that runs differ by it whatever the circumstances; of a clock, at
# least its seconds.
FREE = {*sources.VALUES, Source.DRAWN_NAME, Source.VARIABLE} - {Source.STRING_HASH}


def circumstance_of(shown: Shown | None) -> str:
    """The circumstance that a line depends on which running has shown from end to end; or ""."""
    if shown is None or not shown.is_whole:
        return ""
    return next((name for name, each in OF_CIRCUMSTANCES.items() if each is shown.source), "")


class Shown(NamedTuple):
    """What running the statements showed of the line with which a difference begins.

    is_whole  whether each statement of the slice was seen to lead to the next
    is_sure   whether that it reads this was seen
    """

    source: Source
    what: str
    slice: tuple[Link, ...]
    is_whole: bool
    is_sure: bool = True


class Known(NamedTuple):
    """All that was found out.

    operator      that recording in detail named, or None
    circumstance  that makes the difference alone, "none", or ""
    suspects      lines, the likeliest first
    shown         of the line that was found by running, or None
    left          files that the other run read as an earlier one had left them
    is_left       whether runs that both had these agreed
    is_timed      whether threads or clocks may decide when a generator is drawn from
    makers        files and lines of what made the things that the line uses
    is_one        whether one thread or process alone runs beside the main one
    """

    difference: Difference
    operator: Culprit | None
    circumstance: str
    suspects: tuple[Suspect, ...]
    shown: Shown | None
    left: tuple[str, ...] = ()
    is_left: bool = False
    is_timed: bool = False
    makers: tuple[tuple[str, range], ...] = ()
    is_one: bool = False


def explanation(known: Known) -> Explanation:
    """The cause of a difference, with its confidence."""
    found = (
        _of_state(known)
        or _of_statements(known)
        or _of_operator(known)
        or _of_circumstance(known)
        or (_of_left(known) if known.is_left else None)
        or _of_differing(known)
        or _of_left(known)
        or _of_text(known)
        or Explanation(Source.NOT_SHOWN, Confidence.POSSIBLE)
    )
    is_given = known.operator is not None and known.operator.cause is Cause.OUTSIDE
    is_open = found.confidence is not Confidence.CERTAIN  # of circumstances, a note tells
    return found._replace(excluded=(_NO_KERNEL,) * (is_given and is_open))


def worded_by(cause: Explanation, line: Suspect) -> Suspect:
    """A line; where nothing that it reads is known to differ, and the cause begins with it, why it
    is told is the cause."""
    begins = cause.slice and (line.file, line.line) == cause.slice[0][:2]
    is_told = begins and line.fits.startswith(RAN) and cause.source is not Source.NOT_SHOWN
    return replace(line, fits=cause.source.value) if is_told else line


def _of_state(known: Known) -> Explanation | None:
    if known.difference.cause is not Cause.STATE:
        return None
    lost = known.difference.lost
    first = known.suspects[0] if known.suspects else None
    event = known.difference.first  # of an output, they can be its parameters or something else
    is_seen = lost and (event is None or event.kind != "output" or "generator" in lost)
    sure = Confidence.CERTAIN if is_seen else Confidence.LIKELY
    of_object = first is not None and first.fits == LOST
    drawn = [generator(each) for each in known.difference.generators]
    kinds = [*(each for each in lost if each != "generator" or not drawn), *drawn]
    what = first.message.partition(";")[0] if first and of_object else ", ".join(kinds)
    return Explanation(Source.STATE, sure, what)


def _of_statements(known: Known) -> Explanation | None:
    shown = known.shown
    if shown is None:
        return None
    told = Explanation(shown.source, Confidence.CERTAIN, shown.what, shown.slice)
    if shown.source is Source.NOT_SHOWN:
        found = (
            *(_of_operator(known), _of_circumstance(known), _of_line(known), _of_left(known)),
            *(_of_signal(known), _of_slice(known, shown.slice), _of_globals(known)),
        )
        # What is seeded with another number differs by what that comes from.
        drawn = Source.GENERATOR if seeded_by(shown.slice) else None
        other = next((each for each in found if each and each.source is not drawn), None)
        if other is None:
            return told._replace(confidence=Confidence.POSSIBLE)
        told = other._replace(slice=shown.slice, what=shown.what or other.what)
        return _begun_by_rule(known, told)
    other_circumstance = OF_CIRCUMSTANCES.get(known.circumstance, shown.source)
    agrees = other_circumstance is shown.source or known.circumstance == TIMING.name
    # A finalizer may have drawn before, unseen.
    is_collected = any(each.fits == Source.COLLECTION.value for each in known.suspects)
    is_drawn = shown.source is Source.GENERATOR and is_collected
    sure = shown.is_whole and shown.is_sure and agrees and not is_drawn
    return told._replace(confidence=Confidence.CERTAIN if sure else Confidence.LIKELY)


def _begun_by_rule(known: Known, found: Explanation) -> Explanation:
    """With what the linter says of another line, which made what the first of the slice uses and
    reads what is another in each run: that line is told first, where it fits the cause."""
    first = known.suspects[0] if known.suspects else None
    if first is None or not first.code or _meant(known, first) is not found.source:
        return found
    links = [each._replace(follows=each is not found.slice[0]) for each in found.slice]
    if (first.file, first.line) in [(each.file, each.line) for each in links]:
        return found
    line = Link(first.file, first.line, Place(first.file, first.line, "").code)
    return found._replace(what=line.text, slice=(line, *links))


def seeded_by(links: Sequence[Link]) -> str:
    """Of a slice, what seeds a generator with a number that was computed before; or ""."""
    for each in links[1:]:
        calls = (part for part in sources.parts_of(each.text) if isinstance(part, ast.Call))
        if any(call.args and sources.seeds_by_name(ast.unparse(call.func)) for call in calls):
            return each.text
    return ""


def _of_left(known: Known) -> Explanation | None:
    """A file that one of the runs alone had found."""
    if not known.left:
        return None
    sure = Confidence.LIKELY if known.is_left else Confidence.POSSIBLE
    return Explanation(Source.LEFT, sure, ", ".join(known.left))


def _of_line(known: Known) -> Explanation | None:
    """What the linter, or the text, says of the very line that was found by running; or the linter
    of what made that which this uses."""
    found = _of_text(known)
    if found is None or not known.suspects or not known.shown or not known.shown.slice:
        return None
    first, begun = known.suspects[0], known.shown.slice[0]
    made = first.code and is_within(first, known.makers)
    if not made and (first.file, first.line) != (begun.file, begun.line):
        return None
    return found._replace(confidence=Confidence.LIKELY)


def is_within(suspect: Suspect, lines: Sequence[tuple[str, range]]) -> bool:
    """Whether a suspect stands in some lines."""
    file = os.path.realpath(suspect.file)
    return any(file == one and suspect.line in all_of_it for one, all_of_it in lines)


def _of_signal(known: Known) -> Explanation | None:
    """What sends a signal, where it is told before the line."""
    is_first = known.suspects and known.suspects[0].fits == Source.CLOCK.value
    return _of_text(known) if is_first else None


def _of_slice(known: Known, links: tuple[Link, ...]) -> Explanation | None:
    """What the linter says of a line by which the difference comes."""
    places = {(each.file, each.line) for each in links}
    for each in known.suspects:
        source = _meant(known, each)
        if each.code and source is not None and (each.file, each.line) in places:
            return Explanation(source, Confidence.POSSIBLE, each.message)
    return None


def _of_globals(known: Known) -> Explanation | None:
    """Generators of the whole process, which no line was seen to seed otherwise."""
    found = _of_differing(known)
    is_global = found is not None and set(known.difference.generators) <= set(_OWNERS)
    return found._replace(confidence=Confidence.POSSIBLE) if found and is_global else None


def _of_operator(known: Known) -> Explanation | None:
    if known.operator is None:
        return None
    operator, cause = known.operator.operator, known.operator.cause
    source = _OF_OPERATORS.get(cause)
    if source is None:
        return None
    sure = cause is Cause.GENERATOR or operator.row is not None
    sure = sure or known.circumstance == MEMORY.name
    return Explanation(source, Confidence.CERTAIN if sure else Confidence.LIKELY, operator.name)


def _of_circumstance(known: Known) -> Explanation | None:
    source = OF_CIRCUMSTANCES.get(known.circumstance)
    if source is None:
        return None
    what = circumstance_named(known.circumstance).what
    if known.circumstance != TIMING.name:
        return Explanation(source, Confidence.LIKELY, what)
    told = [OF_REASONS.get(each.fits) for each in known.suspects if not each.code]
    if known.is_one or told[:1] == [Source.READINESS]:
        is_open = not known.is_one and source in told
        sure = Confidence.POSSIBLE if is_open else Confidence.LIKELY
        asking = (e for e in known.suspects if OF_REASONS.get(e.fits) is Source.READINESS)
        asks = next(asking, None)
        return Explanation(Source.READINESS, sure, asks.message if asks else what)
    return Explanation(source, Confidence.LIKELY, what)


def _of_differing(known: Known) -> Explanation | None:
    difference = known.difference
    if difference.cause is not Cause.GENERATOR or not difference.generators:
        return None
    sure = Confidence.POSSIBLE if known.is_timed else Confidence.LIKELY
    return Explanation(Source.GENERATOR, sure, ", ".join(difference.generators))


def _of_text(known: Known) -> Explanation | None:
    for each in known.suspects[:1]:
        source = _meant(known, each)
        if source is not None:
            return Explanation(source, Confidence.POSSIBLE, each.message)
    return None


def _meant(known: Known, each: Suspect) -> Source | None:
    """What is another in each run, by what the linter or the text says of a line."""
    source = OF_REASONS.get(each.fits) or meaning(each.code)[0]
    if known.circumstance == NONE:
        return _IN_EQUAL_CIRCUMSTANCES.get(source, source)
    return source
