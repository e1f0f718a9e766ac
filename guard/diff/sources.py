"""Calls that give another value in each run, wherever they stand: one table for all who ask."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.models import differing, files, randomness
from detlint.models.completions import ASKING
from detlint.models.listings import FUNCTIONS, METHODS
from detlint.models.randomness import CLOCKS_BY_WORD, ENTROPY, NOW, TORCH_RESEEDING
from guard.diff import Source
from guard.digests import traits
from guard.digests.values import Digests
from guard.observe.statements import CHANGING_FIRST, asked_of, is_changing, path_of, statements

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from guard.observe.statements import Path, Statement

LISTING = {each.rpartition(".")[2] for each in (*FUNCTIONS, *METHODS)}
_UNIQUE = {"uuid1", "uuid4"}
_SAY_LITTLE = {"time", "clock", "now", "utcnow", "today", "choice", "seed"}
_OBJECTS = {"multiprocessing.current_process"}  # of which but some attributes differ
_NUMBERS = {"ident", "native_id", "pid"}  # of a process or a thread


def _of(origin: str) -> set[str]:
    """The linter's functions of an origin: the last two parts of each, and the last if it tells."""
    found = [name for name, each in ENTROPY.items() if each == origin and name not in _OBJECTS]
    names = [each.split(".") for each in found if each not in TORCH_RESEEDING]
    return {".".join(each[-2:]) for each in names} | {each[-1] for each in names} - _SAY_LITTLE


# By the last part of a call's name, or the last two where one says little.
VARYING: dict[Source, set[str]] = {Source[name]: {*each} for name, each in differing.CALLS.items()}
VARYING[Source.CLOCK] |= {*_of("the clock"), *randomness.CLOCKS_BY_DEFAULT}
VARYING[Source.ENTROPY] |= _of("the operating system")
VARYING[Source.PROCESS] |= _of("the process")
VARYING[Source.READINESS] |= ASKING
# What gives up after some time, where it is given one; numbers by place mean that in the second.
_WAITING = {
    *("get", "put", "join", "result", "exception", "recv", "wait", "wait_for", "acquire"),
    *("select", "communicate", "get_message", "as_completed", "asyncio.timeout"),
}
STATES = {"empty", "full"}  # of a queue
_OF_OTHERS = {"wait", "wait_for", "as_completed", "select", "put"}  # about their first argument
_PLACES = dict.fromkeys(("wait", "wait_for", "as_completed"), 1)  # of their limits
_PLACES |= {"join": 0, "result": 0, "timeout": 0, "select": 3}
_AMBIGUOUS = {"join", "select"}  # also of texts and of tables, whose first argument is no number
_LOCKING = {"wait", "acquire"}  # what waits for others, or asks whether it has to
# What reads the state of a generator.
KEEPING = {each.rpartition(".")[2] for names in randomness.STATES.values() for each in names}
KEEPING |= {"get_rng_state_all", "initial_seed"}
# What writes all of the tensors that it is given first, on each rank, whatever these held.
RECEIVING = {
    *("recv", "irecv", "all_gather", "all_gather_into_tensor", "reduce_scatter"),
    *("reduce_scatter_tensor", "all_to_all", "all_to_all_single"),
}
FILLING_PARTLY = {"readinto", "recv_into"}  # where less has come
# What writes all of the tensor that it is given.
FILLING = {
    *(*RECEIVING, *FILLING_PARTLY, "broadcast", "scatter", "gather"),
    *("copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_"),
}
_REDUCING = {"sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "any", "all"}
_ANY_RANK = {"dist.recv", "dist.irecv", "distributed.recv", "distributed.irecv"}
_SENDERS = ("src", "group_src")
_BY_WORD = {each.rpartition(".")[2] for each in CLOCKS_BY_WORD}
OF_FILES = {bit: Source[name] for name, bit in traits.TOLD.items()}
BUILTINS = {"id": Source.OBJECT_ADDRESS, "hash": Source.STRING_HASH}
_ATTRIBUTES = {Source[name]: each for name, each in differing.ATTRIBUTES.items()}
_SETS = {"set", "frozenset"}
_OF_SETS = {"union", "intersection", "difference", "symmetric_difference"}
VALUES = {  # those of which a call gives another value in each run by itself
    *(Source.CLOCK, Source.LOAD, Source.ENTROPY, Source.PROCESS, Source.OBJECT_ADDRESS),
    Source.STRING_HASH,
}
_KEPT = 4096  # statements of which it is kept
_ENVIRONMENT = ("environ", "getenv", "putenv")
_TELLING = {*files.TELLING, "executemany"}
_TABLE = re.compile(r"(?i)\b(?:FROM|INTO)\s+(\w+)")
_NAME = re.compile(r"(?<![.\w])\w{3,}")
_MODE = 3  # characters that say how a file is opened, at most
PRESENT = {"exists", "lexists", "isfile", "is_file", "isdir", "is_dir"}
OPENING = {"open"}  # gives a file to read from or to write to
READING = {
    *("read", "readline", "readlines", "read_text", "read_bytes", "load", "loads", *_TELLING),
    *({each.rpartition(".")[2] for each in files.READERS} - OPENING),
}
PROGRAMS = VARYING[Source.PROGRAM]  # which may write files
COLLECTING = VARYING[Source.COLLECTION]  # the garbage, there and then
DRAWN_FILES = differing.DRAWN_FILES | _UNIQUE  # names that no other run has, of files
DRAWN_NAMES = VARYING[Source.DRAWN_NAME] | _UNIQUE  # those, and of folders
_WRITING = {  # by the last part of a call's name, or the last two where one says little
    *(*(each.rpartition(".")[2] for each in files.WRITERS), *files.LOGS),
    *("write", "writelines", "writerow", "writerows", "write_text", "write_bytes", "tofile"),
    *("savez_compressed", "to_csv", "to_parquet", "to_pickle", "to_json", "touch", "mkdir"),
    *("makedirs", "unlink", "rmtree", "copytree", "os.remove", "os.link", "os.symlink"),
}
_MOVING = {"rename", "copyfile", "os.replace", "shutil.copy", "shutil.copy2", "shutil.move"}
LOCKS = {"flock", "lockf", "acquire", "FileLock", "SoftFileLock", "Lock"}
_SEEDING = {
    *("manual_seed", "manual_seed_all", "seed", "seed_all", "seed_everything", "set_seed"),
    *("set_rng_state", "setstate", "set_state"),
}
# By the first word of a call: functions of the program's own may seed all of them.
_OWNERS = {"torch": "torch", "np": "numpy", "numpy": "numpy", "random": "python"}


def source_of(call: str) -> Source | None:
    """What a call of this dotted name gives, that is another in each run."""
    if call in BUILTINS:
        return BUILTINS[call]
    found = next((each for each, names in VARYING.items() if _is_one(call, names)), None)
    is_measuring = found is None and call.startswith(differing.MEASURING_LIBRARIES)
    return Source.LOAD if is_measuring and not _is_one(call, differing.SAME) else found


def calls(statement: Statement, names: Collection[str]) -> bool:
    """Whether a statement calls one of some names."""
    return any(_is_one(each, names) for each in statement.calls)


def gives(statement: Statement, *given: Source) -> bool:
    """Whether a statement calls what gives something that is another in each run."""
    return any(source_of(each) in given for each in statement.calls)


def handed(statement: Statement) -> Iterator[tuple[Source, str]]:
    """The names of functions that a statement hands on, as a key or a task, or asks for by name,
    and what these give."""
    for name in statement.hands:
        source = source_of(name)
        if source in {*VALUES, Source.PROGRAM} and name not in BUILTINS:  # no `done`
            yield source, name


def of_part(part: ast.AST) -> Source | None:
    """What an attribute tells that is another in each run, a file of the system, by its name, or a
    function that is handed on, of the time of a file."""
    if isinstance(part, ast.Constant):
        return OF_FILES.get(traits.told_by(part.value))
    if isinstance(part, ast.Name):
        return Source.CLOCK if part.id in differing.FILE_TIMES else None
    asked = asked_of(part)
    if asked is None or isinstance(getattr(part, "ctx", None), ast.Store):
        return None
    if isinstance(asked[0], ast.Call) and is_number(part):
        return Source.PROCESS
    name = ".".join((ast.unparse(asked[0]), asked[1]))
    return next((each for each, names in _ATTRIBUTES.items() if _is_one(name, names)), None)


def makes_set(call: str) -> bool:
    """Whether a call of this dotted name gives a set; ``set()`` of an object sets a flag."""
    return call in _SETS or call.rpartition(".")[2] in _OF_SETS


def tells_date(call: str) -> bool:
    """Whether a call of this dotted name gives a date or a time of day, and not only what passes
    between two calls."""
    return source_of(call) is Source.CLOCK and not _is_one(call, differing.MEASURING)


def measures_machine(call: ast.Call, name: str) -> bool:
    """Whether a call of this dotted name measures the machine or the process, or opens a file in
    which the system tells what these use, or asks for a part of it that varies."""
    return Source.LOAD in (source_of(name), *map(of_part, call.args)) or _is_one(
        name, differing.OF_GPUS
    )


def is_clock(statement: Statement) -> bool:
    """Whether a statement asks a clock."""
    is_read = gives(statement, Source.CLOCK)
    return is_read or (calls(statement, _BY_WORD) and any(map(reads_now, calls_of(statement))))


@lru_cache(_KEPT)
def tells_file_time(statement: Statement) -> bool:
    """Whether a statement asks when a file was written or read last."""
    named = (each.attr for each in parts_of(statement.text) if isinstance(each, ast.Attribute))
    return not differing.FILE_TIMES.isdisjoint(named)


def reads_now(call: ast.Call) -> bool:
    """Whether a call of a library's is given the word for the time of now: np.datetime64("now")."""
    given = call.args[0] if call.args else None
    is_now = isinstance(given, ast.Constant) and given.value in NOW
    return is_now and _is_one(ast.unparse(call.func), _BY_WORD)


def varies(statement: Statement) -> bool:
    """Whether a statement asks for what is another value in each run: a clock, a process id."""
    if is_clock(statement) or gives(statement, *VALUES):
        return True
    return any(of_part(each) in VALUES for each in parts_of(statement.text))


def is_number(part: ast.AST) -> bool:
    """Whether an expression reads what may be the number of a process or a thread."""
    return isinstance(part, ast.Attribute) and part.attr in _NUMBERS


@lru_cache(_KEPT)
def is_fresh(statement: Statement) -> bool:
    """Whether what it gives is another in each run by itself: a time, an unseeded generator."""
    if varies(statement) or stamps(statement):
        return True
    bare = (each for each in calls_of(statement) if not each.args and not each.keywords)
    return any(ast.unparse(each.func).rpartition(".")[2] in differing.UNSEEDED for each in bare)


def stamps(statement: Statement) -> bool:
    """Whether a statement puts the time into bytes that it makes, or into the lines of a log."""
    if files.LOGGED_TIME in statement.text:
        return True
    names = calls(statement, files.STAMPED | files.STAMPED_OPEN)
    return names and any(is_stamped(each, ast.unparse(each.func)) for each in calls_of(statement))


def is_stamped(call: ast.Call, name: str) -> bool:
    """Whether a call of this dotted name does."""
    given = {each.arg: each.value for each in call.keywords}
    mode = getattr(given.get("mode", call.args[1] if call.args[1:] else None), "value", "")
    is_written = isinstance(mode, str) and mode.startswith(("w", "x", "a"))
    is_one = _is_one(name, files.STAMPED) or (_is_one(name, files.STAMPED_OPEN) and is_written)
    return is_one and "mtime" not in given


def calls_of(statement: Statement) -> Iterator[ast.Call]:
    """The calls that stand in a statement."""
    yield from (each for each in parts_of(statement.text) if isinstance(each, ast.Call))


def asks(statement: Statement) -> bool:
    """Whether a statement asks how far others have come, or who comes first."""
    if statement.kind == "Expr" or not calls(statement, ASKING | STATES | _LOCKING | {"select"}):
        return False
    named = ((each, ast.unparse(each.func)) for each in calls_of(statement))
    return any(asks_others(*each) or is_arrival(*each) for each in named)


def awaits(statement: Statement) -> bool:
    """Whether a statement goes on when what it waits for is done, others meanwhile."""
    is_async = statement.kind in ("AsyncFor", "AsyncWith")
    return is_async or any(isinstance(each, ast.Await) for each in parts_of(statement.text))


def has_factory(statement: Statement) -> bool:
    """Whether it declares a field of a class of which each object gets another value, or makes a
    dict of which each new key does."""
    is_given = "factory=" in statement.text or calls(statement, {"defaultdict"})
    if statement.kind not in ("AnnAssign", "Assign") or not is_given:
        return False
    given = (
        source_of(e) in VALUES or e.rpartition(".")[2] in differing.UNSEEDED
        for e in (*statement.calls, *statement.hands)
    )
    return bool(statement.writes) and any(given)


def seeds(statement: Statement, state: str = "") -> bool:
    """Whether a statement puts a generator into a state, whatever it was in before; ``state``:
    that of one library, as ``states.NAMES`` has it."""
    return any(seeds_by_name(call, state) for call in statement.calls)


def seeds_by_name(call: str, state: str = "") -> bool:
    """Whether a call of this dotted name does."""
    owner = state.partition(".")[0]
    is_of_it = not state or _OWNERS.get(call.partition(".")[0], owner) == owner
    return is_of_it and call.rpartition(".")[2] in _SEEDING


@lru_cache(_KEPT)
def writes_file(statement: Statement) -> bool:
    """Whether a statement writes into a file, makes, moves or removes one, or starts a program."""
    if calls(statement, _WRITING | PROGRAMS) or moves_file(statement) or stamps(statement):
        return True
    is_told = calls(statement, _TELLING) and any(map(files.inserts, _texts(statement)))
    return is_told or _opens(statement, "wax+")


@lru_cache(_KEPT)
def moves_file(statement: Statement) -> bool:
    """Whether a statement gives a file another name, or copies it: ``replace`` of a text takes more
    than one argument."""
    if calls(statement, _MOVING) or ".replace(" not in statement.text:
        return calls(statement, _MOVING)
    found = calls_of(statement)
    return any(len(e.args) == 1 and ast.unparse(e.func).endswith(".replace") for e in found)


def _opens(statement: Statement, modes: str) -> bool:
    """Whether a statement opens a file in one of some modes."""
    if not calls(statement, OPENING):
        return False
    found = calls_of(statement)
    given = (part for call in found for part in (*call.args, *(e.value for e in call.keywords)))
    texts = (each.value for each in given if isinstance(each, ast.Constant))
    return any(isinstance(e, str) and len(e) <= _MODE and {*e} & {*modes} for e in texts)


@lru_cache(_KEPT)
def file_names(statement: Statement) -> frozenset[object]:
    """Constants of a statement that may name a file, and not only say of which kind; tables of a
    database; and their digests, as of a variable with such a text."""
    found: set[str] = set()
    for each in _texts(statement):  # of a command, each of its words
        words = (word for word in each.split() if "." in word or "/" in word)
        found.update(word for word in words if _NAME.search(word))
        found.update(f"table {name}" for name in _TABLE.findall(each))
    return frozenset((*found, *map(Digests().of, found)))


def _texts(statement: Statement) -> Iterator[str]:
    """The texts that stand in a statement."""
    held = (each.value for each in parts_of(statement.text) if isinstance(each, ast.Constant))
    yield from (each for each in held if isinstance(each, str))


@lru_cache(_KEPT)
def variable_names(statement: Statement) -> frozenset[str]:
    """Constants of a statement that asks for variables of the environment, or sets some."""
    if not any(each in statement.text for each in _ENVIRONMENT):
        return frozenset()
    given = (each.arg for each in parts_of(statement.text) if isinstance(each, ast.keyword))
    return frozenset((*_texts(statement), *filter(None, given)))


def counts(statement: Statement) -> bool:
    """Whether a statement goes through a range of numbers."""
    return statement.kind == "For" and {"range"} <= {*statement.calls} <= {"range", "len"}


@lru_cache(_KEPT)
def values_of(statement: Statement) -> tuple[Statement, ...]:
    """Of ``return a, b`` and ``x, y = a, b``, what makes each of the values."""
    made = [e.value for e in parts_of(statement.text) if isinstance(e, (ast.Return, ast.Assign))]
    parts = made[0].elts if made and isinstance(made[0], ast.Tuple) else []
    found: list[Statement] = []
    end = len(statement.calls)
    for each in () if any(isinstance(e, ast.Starred) for e in parts) else reversed(parts):
        value = statements(ast.unparse(each))[1]
        named = slice(end - len(value.calls), end)  # in full, as all of it has them
        end = named.start
        found.append(replace(value, calls=statement.calls[named], lines=statement.lines[named]))
    return tuple(reversed(found))


@lru_cache(_KEPT)
def call_on(statement: Statement, path: Path) -> Statement | None:
    """The one call of a method of what a path leads to, whose arguments call nothing."""
    found = [e for e in calls_of(statement) if path_of(getattr(e.func, "value", None)) == path]
    made = [replace(statements(ast.unparse(e))[1], lines=(statement.line,)) for e in found]
    return made[0] if len(made) == 1 and len(made[0].calls) == 1 else None


@lru_cache(_KEPT)
def targets_of(statement: Statement) -> tuple[Path | None, ...]:
    """The paths that a statement binds to one value each, of several that a call or it makes."""
    (made,) = [e for e in parts_of(statement.text) if isinstance(e, ast.Assign)] or (None,)
    targets = made.targets[0] if made and isinstance(made.value, (ast.Call, ast.Tuple)) else None
    return tuple(map(path_of, targets.elts)) if isinstance(targets, ast.Tuple) else ()


def changes(statement: Statement) -> bool:
    """Whether a statement changes something in place."""
    last = {each.rpartition(".")[2] for each in statement.calls}
    is_both = statement.kind == "AugAssign" or bool({*statement.writes} & {*statement.reads})
    return is_both or any(map(is_changing, last)) or not CHANGING_FIRST.isdisjoint(last)


def adds(statement: Statement) -> bool:
    """Whether a statement changes something in place, and asks for nothing of it."""
    return statement.kind in ("AugAssign", "Expr") and changes(statement)


@lru_cache(_KEPT)
def fills_item(statement: Statement) -> bool:
    """Whether a statement binds an item of what it asks nothing else of: ``a[k] = f(k)``."""
    if statement.kind != "Assign" or {*statement.writes}.isdisjoint(statement.reads):
        return False
    (path,), parts = statement.writes[:1], parts_of(statement.text)
    mentions = [each for each in parts if path_of(each) == path]
    targets = (target for each in parts if isinstance(each, ast.Assign) for target in each.targets)
    return len(mentions) == 1 and all(isinstance(each, ast.Subscript) for each in targets)


def parts_of(text: str) -> list[ast.AST]:
    """What a statement is made of; nothing for a head that does not stand by itself."""
    with suppress(SyntaxError):
        return list(ast.walk(ast.parse(f"{text} pass" if text.endswith(":") else text)))
    return []


@lru_cache(_KEPT)
def waits(statement: Statement) -> bool:
    """Whether a statement waits for another thread or process, and for a limited time only."""
    if not calls(statement, _WAITING):
        return False
    found = parts_of(statement.text)
    alone = {each.value for each in found if isinstance(each, ast.Expr)}
    limited = (e for e in found if isinstance(e, ast.Call))
    return any(is_limited(each, ast.unparse(each.func), alone=each in alone) for each in limited)


def is_limited(call: ast.Call, name: str, *, alone: bool = False) -> bool:
    """Whether a call waits for another thread or process, and for a limited time or not at all.

    alone  whether it is all of a statement, which says that ``join`` is none of a text's
    """
    last = name.rpartition(".")[2]
    found = _limits(call, last, alone) if _is_one(name, _WAITING) else []
    return any(not isinstance(each, ast.Constant) or each.value is not None for each in found)


def _limits(call: ast.Call, last: str, alone: bool) -> list[ast.expr]:
    """What says how long a call waits: a number of seconds, or that it does not."""
    first = call.args[0] if call.args else None
    is_flag = isinstance(first, ast.Constant) and isinstance(first.value, bool)
    is_plain = all(isinstance(each, ast.Constant) for each in call.args) or last in _OF_OTHERS
    found = [each.value for each in call.keywords if each.arg == "timeout" and is_plain]
    found += [e.value for e in call.keywords if e.arg == "block" and not _is_true(e.value)]
    if last == "get" and is_flag:  # a dict has one as well
        found += call.args[1:2] if _is_true(first) else call.args[:1]
    elif last in _PLACES:
        at = 0 if last == "select" and len(call.args) == 1 else _PLACES[last]  # of a selector
        is_sure = at or last not in _AMBIGUOUS or alone
        is_number = isinstance(getattr(first, "value", None), (int, float))
        found += call.args[at : at + 1] if is_sure or is_number else []
    return found


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def asks_others(call: ast.Call, name: str) -> bool:
    """Whether a call of an object asks whether another thread or process is done, or how much it
    has put in a queue, and does not wait for that."""
    owner, _, last = name.rpartition(".")
    is_bare = not call.args and not call.keywords
    if last in _LOCKING or last == "select":
        first = call.args[0] if last in _LOCKING and call.args else None
        return bool(owner) and (isinstance(first, ast.Constant) or is_limited(call, name))
    return bool(owner) and (last in ASKING or (is_bare and last in STATES))


def is_arrival(call: ast.Call, name: str) -> bool:
    """Whether what a call gives tells who comes first: a barrier's ``wait()``, which counts, or an
    ``acquire`` that does not wait."""
    owner, _, last = name.rpartition(".")
    given = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "blocking")]
    if last == "acquire":
        return bool(owner) and any(getattr(each, "value", True) is False for each in given)
    return bool(owner) and last == "wait" and not call.args and not call.keywords


def leaves_out(call: ast.Call, name: str) -> bool:
    """Whether a function of NumPy's writes only part of an array that it makes: ``where=`` without
    ``out=``. What reduces an array takes ``where=`` as well, and leaves nothing unwritten."""
    start, _, last = name.rpartition(".")
    given = {each.arg for each in call.keywords}
    is_part = "where" in given and "out" not in given
    return is_part and start in ("np", "numpy") and last not in _REDUCING


def takes_any(call: ast.Call, name: str) -> bool:
    """Whether a call takes what comes first, from whichever rank."""
    given = [each.arg for each in call.keywords]
    is_sent = len(call.args) > 1 or any(each in given for each in _SENDERS)
    return _is_one(name, _ANY_RANK) and not is_sent


def is_unordered(call: ast.Call) -> bool:
    """Whether a call has a library give results in the order in which they are done."""
    given = {each.arg: getattr(each.value, "value", None) for each in call.keywords}
    return given.get("return_as") == "generator_unordered" or given.get("in_order") is False


def of_arguments(call: ast.Call, *, alone: bool = False) -> tuple[Source, str] | None:
    """What the arguments of a call say that is another in each run, and in words; ``alone`` as for
    ``is_limited``."""
    name = ast.unparse(call.func)
    for source, says, does in (
        (Source.CLOCK, reads_now(call), ""),
        (Source.CLOCK, is_stamped(call, name), "writes the time into what it makes"),
        (Source.UNWRITTEN_MEMORY, leaves_out(call, name), "with where= and without out="),
        (Source.THREAD_ORDER, is_arrival(call, name) and not alone, "tells who comes first"),
        (Source.READINESS, is_limited(call, name, alone=alone), "waits for a limited time"),
        (Source.THREAD_ORDER, is_unordered(call), "gives first what is done first"),
        (Source.THREAD_ORDER, takes_any(call, name), "takes what comes first, from any rank"),
        (Source.READINESS, is_asynchronous(call), "is only begun by async_op=True"),
        (Source.READINESS, name.rpartition(".")[2] in _LOCKING, ""),
    ):
        if says:
            return source, f"{name}() {does}" if does else ast.unparse(call)
    return None


def is_asynchronous(call: ast.Call) -> bool:
    """Whether a collective is only begun: what it gives is there once somebody has waited."""
    return any(e.arg == "async_op" and getattr(e.value, "value", False) for e in call.keywords)


def _is_one(call: str, names: Collection[str]) -> bool:
    """Whether a dotted name is one of some, by its last part or its last two."""
    return call.rpartition(".")[2] in names or ".".join(call.split(".")[-2:]) in names


def is_begun(statement: Statement) -> bool:
    """Whether it only keeps what the clock says, as the start of something."""
    return (
        is_clock(statement)
        and statement.kind in ("Assign", "AnnAssign")
        and len(statement.calls) == 1
        and not any(each in statement.text for each in "+-*/%<>")
    )
