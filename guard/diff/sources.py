"""Calls that give another value in each run, wherever they stand: one table for all who ask."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from detlint.models.files import TELLING, WRITERS, inserts
from detlint.models.listings import FUNCTIONS, METHODS
from detlint.models.randomness import CLOCKS_BY_WORD, ENTROPY, NOW, TORCH_RESEEDING
from guard.diff import Source
from guard.digests.traits import ASKED, MEASURED, of_file
from guard.observe.statements import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.observe.statements import Statement

LISTING = {each.rpartition(".")[2] for each in (*FUNCTIONS, *METHODS)}
FILES = {"mkstemp", "mktemp", "NamedTemporaryFile", "SharedMemory"}
_UNIQUE = {"uuid1", "uuid4"}
_SAY_LITTLE = {"time", "clock", "now", "utcnow", "today", "choice", "seed"}
_OBJECTS = {"multiprocessing.current_process"}  # of which but some attributes differ
_NUMBERS = {"ident", "native_id", "pid"}  # of a process or a thread
_WORKERS = {"current_process", "parent_process", "current_thread"}


def _of(origin: str) -> set[str]:
    """The linter's functions of an origin: the last two parts of each, and the last if it tells."""
    found = [name for name, each in ENTROPY.items() if each == origin and name not in _OBJECTS]
    names = [each.split(".") for each in found if each not in TORCH_RESEEDING]
    return {".".join(each[-2:]) for each in names} | {each[-1] for each in names} - _SAY_LITTLE


# What asks whether another thread or process is done; ``queue.empty()`` and others say that as
# well, but mean something else in most programs.
ASKING = {
    *("done", "is_set", "is_alive", "running", "qsize", "locked", "poll", "successful"),
    *("wait", "acquire"),
}
# By the last part of a call's name, or the last two where one says little.
VARYING: dict[Source, set[str]] = {
    Source.CLOCK: {
        *_of("the clock"),
        *("time.strftime", "time.ctime", "time.asctime", "time.localtime", "time.gmtime"),
        *("os.times", "thread_time", "clock_gettime"),
    },
    Source.LOAD: {
        *("getloadavg", "cpu_percent", "cpu_times", "cpu_times_percent", "virtual_memory"),
        *("memory_info", "memory_full_info", "memory_percent", "getrusage", "get_traced_memory"),
        *("cuda.mem_get_info", "shutil.disk_usage", "statvfs"),
    },
    Source.DRAWN_NAME: {*FILES, "mkdtemp", "TemporaryDirectory"},
    Source.ENTROPY: {*_of("the operating system"), "getrandbits", "torch.seed"},
    Source.PROCESS: {*_of("the process"), "gethostname"},
    Source.COLLECTION: {"gc.collect"},
    Source.READINESS: {*ASKING, "get_nowait"},
    Source.THREAD_ORDER: {"as_completed", "imap_unordered"},
    Source.PROGRAM: {
        *("subprocess.run", "subprocess.Popen", "subprocess.call", "check_output", "check_call"),
        *("getoutput", "getstatusoutput", "os.system", "os.popen", "create_subprocess_exec"),
        *("create_subprocess_shell", "urlopen", "urlretrieve", "requests.get", "requests.post"),
    },
    Source.UNWRITTEN_MEMORY: {
        *("empty_like", "new_empty", "empty_strided", "torch.empty", "np.empty", "numpy.empty"),
    },
}
# What gives up after some time, where it is given one; numbers by place mean that in the second.
_WAITING = {
    *("get", "put", "join", "result", "exception", "recv", "wait", "wait_for", "acquire"),
    *("select", "communicate", "get_message"),
}
STATES = {"empty", "full"}  # of a queue
_OF_OTHERS = {"wait", "wait_for", "select", "put"}  # whose first argument is what they are about
# Whose first argument is the limit; of a text's ``join`` it is no number.
_FIRST = {"join", "result"}
# What writes all of the tensors that it is given first, on each rank, whatever these held.
RECEIVING = {
    *("recv", "irecv", "all_gather", "all_gather_into_tensor", "reduce_scatter"),
    *("reduce_scatter_tensor", "all_to_all", "all_to_all_single"),
}
# What writes all of the tensor that it is given.
_FILLING = {
    *(*RECEIVING, "broadcast", "scatter", "gather", "readinto", "recv_into"),
    *("copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_"),
}
_REDUCING = {"sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "any", "all"}
_ANY_RANK = {"dist.recv", "dist.irecv", "distributed.recv", "distributed.irecv"}
_SENDERS = ("src", "group_src")
UNSEEDED = {  # where they are given nothing
    *("seed", "seed_all", "default_rng", "Random", "RandomState", "SeedSequence"),
    *("Sobol", "Halton", "LatinHypercube", "PoissonDisk", "MultinomialQMC"),
    *("MultivariateNormalQMC", "TPESampler", "RandomSampler", "CmaEsSampler", "NSGAIISampler"),
    *("NSGAIIISampler", "QMCSampler", "GPSampler"),
}
# When a file was written or read last, as ``os.stat`` and ``os.path`` name it.
FILE_TIMES = {
    *(f"st_{at}time{unit}" for at in "mcab" for unit in ("", "_ns")),
    *("getmtime", "getctime", "getatime"),
}
_BY_WORD = {each.rpartition(".")[2] for each in CLOCKS_BY_WORD}
# Clocks that tell nothing but what has passed between two calls.
_MEASURING = {
    *(f"{name}{unit}" for name in ("perf_counter", "monotonic") for unit in ("", "_ns")),
    *(f"{name}_time{unit}" for name in ("process", "thread") for unit in ("", "_ns")),
    *("default_timer", "times", "clock", "clock_gettime"),
}
# What torch tells of a GPU's memory, which hangs on what was computed, and not on the load alone.
_OF_GPUS = {
    *(f"cuda.{most}memory_{what}" for most in ("", "max_") for what in ("allocated", "reserved")),
    *("cuda.memory_stats", "cuda.memory_usage", "cuda.utilization"),
}
_SAME = {"cpu_affinity", "cpu_count", "disk_partitions", "Process"}  # on one machine
_OF_USE = (  # files in which the system tells what is in use
    *("/proc/self/", "/proc/meminfo", "/proc/loadavg", "/proc/stat", "/proc/pressure/"),
    *("/proc/vmstat", "/sys/fs/cgroup/"),
)
OF_FILES = {MEASURED: Source.LOAD, ASKED: Source.ENTROPY}
_BUILTINS = {"id": Source.OBJECT_ADDRESS, "hash": Source.STRING_HASH}
_SETS = {"set", "frozenset"}
_OF_SETS = {"union", "intersection", "difference", "symmetric_difference"}
VALUES = {  # those of which a call gives another value in each run by itself
    *(Source.CLOCK, Source.LOAD, Source.ENTROPY, Source.PROCESS, Source.OBJECT_ADDRESS),
    Source.STRING_HASH,
}
_KEPT = 4096  # statements of which it is kept
_ENVIRONMENT = ("environ", "getenv", "putenv")
_TELLING = {*TELLING, "executemany"}
_TABLE = re.compile(r"(?i)\b(?:FROM|INTO)\s+(\w+)")
_NAME = re.compile(r"(?<![.\w])\w{3,}")
_MODE = 3  # characters that say how a file is opened, at most
_PRESENT = {"exists", "lexists", "isfile", "is_file", "isdir", "is_dir"}
_READING = {"read", "readline", "readlines", "read_text", "read_bytes", "load", "loads"}
_WRITING = {  # by the last part of a call's name, or the last two where one says little
    *(each.rpartition(".")[2] for each in WRITERS),
    *("write", "writelines", "writerow", "writerows", "write_text", "write_bytes", "tofile"),
    *("savez_compressed", "to_csv", "to_parquet", "to_pickle", "to_json", "touch", "mkdir"),
    *("makedirs", "unlink", "rmtree", "copytree", "os.remove", "os.link", "os.symlink"),
}
_MOVING = {"rename", "copyfile", "os.replace", "shutil.copy", "shutil.copy2", "shutil.move"}
_LOCKING = {"flock", "lockf", "acquire", "FileLock", "SoftFileLock", "Lock"}
_SEEDING = {
    *("manual_seed", "manual_seed_all", "seed", "seed_all", "seed_everything", "set_seed"),
    *("set_rng_state", "setstate", "set_state"),
}
# By the first word of a call: functions of the program's own may seed all of them.
_OWNERS = {"torch": "torch", "np": "numpy", "numpy": "numpy", "random": "python"}


def source_of(call: str) -> Source | None:
    """What a call of this dotted name gives, that is another in each run."""
    if call in _BUILTINS:
        return _BUILTINS[call]
    if call.startswith("psutil."):
        return Source.LOAD
    return next((each for each, names in VARYING.items() if _is_one(call, names)), None)


def makes_set(call: str) -> bool:
    """Whether a call of this dotted name gives a set; ``set()`` of an object sets a flag."""
    return call in _SETS or call.rpartition(".")[2] in _OF_SETS


def tells_date(call: str) -> bool:
    """Whether a call of this dotted name gives a date or a time of day, and not only what passes
    between two calls."""
    return source_of(call) is Source.CLOCK and call.rpartition(".")[2] not in _MEASURING


def measures_machine(call: ast.Call, name: str) -> bool:
    """Whether a call of this dotted name measures the machine or the process, or opens a file in
    which the system tells what these use."""
    if source_of(name) is Source.LOAD or _is_one(name, _OF_GPUS):
        return name.rpartition(".")[2] not in _SAME
    texts = (getattr(each, "value", None) for each in call.args)
    return any(isinstance(each, str) and each.startswith(_OF_USE) for each in texts)


def is_clock(statement: Statement) -> bool:
    """Whether a statement asks a clock."""
    if any(source_of(each) is Source.CLOCK for each in statement.calls):
        return True
    if not _calls(statement, _BY_WORD):
        return False
    calls = (each for each in parts_of(statement.text) if isinstance(each, ast.Call))
    return any(reads_now(each) for each in calls)


def reads_now(call: ast.Call) -> bool:
    """Whether a call of a library's is given the word for the time of now: np.datetime64("now")."""
    given = call.args[0] if call.args else None
    is_now = isinstance(given, ast.Constant) and given.value in NOW
    return is_now and _is_one(ast.unparse(call.func), _BY_WORD)


def varies(statement: Statement) -> bool:
    """Whether a statement asks for what is another value in each run: a clock, a process id."""
    if is_clock(statement) or any(source_of(each) in VALUES for each in statement.calls):
        return True
    is_of_worker = not _WORKERS.isdisjoint(each.rpartition(".")[2] for each in statement.calls)
    return is_of_worker and any(map(is_number, parts_of(statement.text)))


def is_number(part: ast.AST) -> bool:
    """Whether an expression reads what may be the number of a process or a thread."""
    return isinstance(part, ast.Attribute) and part.attr in _NUMBERS


def measures(statement: Statement) -> bool:
    """Whether a statement measures the machine."""
    return any(source_of(each) is Source.LOAD for each in statement.calls)


def is_fresh(statement: Statement) -> bool:
    """Whether what it gives is another in each run by itself: a time, an unseeded generator."""
    if varies(statement):
        return True
    calls = (each for each in parts_of(statement.text) if isinstance(each, ast.Call))
    bare = (each for each in calls if not each.args and not each.keywords)
    return any(ast.unparse(each.func).rpartition(".")[2] in UNSEEDED for each in bare)


def has_factory(statement: Statement) -> bool:
    """Whether it declares a field of a class of which each object gets another value, or makes a
    dict of which each new key does."""
    is_given = "factory=" in statement.text or _calls(statement, {"defaultdict"})
    if statement.kind not in ("AnnAssign", "Assign") or not is_given:
        return False
    given = (source_of(e) in VALUES or e.rpartition(".")[2] in UNSEEDED for e in statement.calls)
    return bool(statement.writes) and any(given)


def draws_name(statement: Statement) -> bool:
    """Whether a statement draws a name that no other run has: of a file, a UUID."""
    return _calls(statement, VARYING[Source.DRAWN_NAME] | _UNIQUE)


def draws_file(statement: Statement) -> bool:
    """Whether a statement draws a name that a file may have."""
    return _calls(statement, FILES | _UNIQUE)


def seeds(statement: Statement, state: str = "") -> bool:
    """Whether a statement puts a generator into a state, whatever it was in before; ``state``:
    that of one library, as ``states.NAMES`` has it."""
    return any(seeds_by_name(call, state) for call in statement.calls)


def seeds_by_name(call: str, state: str = "") -> bool:
    """Whether a call of this dotted name does."""
    owner = state.partition(".")[0]
    is_of_it = not state or _OWNERS.get(call.partition(".")[0], owner) == owner
    return is_of_it and call.rpartition(".")[2] in _SEEDING


def lists(statement: Statement) -> bool:
    """Whether a statement lists a folder."""
    return _calls(statement, LISTING)


def looks_for_files(statement: Statement) -> bool:
    """Whether a statement asks whether a file is there."""
    return _calls(statement, _PRESENT)


def reads_file(statement: Statement) -> bool:
    """Whether a statement reads what is in a file, or asks a database."""
    return _calls(statement, _READING) or _calls(statement, _TELLING)


@lru_cache(_KEPT)
def writes_file(statement: Statement) -> bool:
    """Whether a statement writes into a file, or makes, moves or removes one."""
    if _calls(statement, _WRITING) or moves_file(statement) or _opens(statement, "wax+"):
        return True
    return _calls(statement, _TELLING) and any(map(inserts, _texts(statement)))


@lru_cache(_KEPT)
def moves_file(statement: Statement) -> bool:
    """Whether a statement gives a file another name, or copies it: ``replace`` of a text takes more
    than one argument."""
    if _calls(statement, _MOVING) or ".replace(" not in statement.text:
        return _calls(statement, _MOVING)
    calls = (each for each in parts_of(statement.text) if isinstance(each, ast.Call))
    return any(len(e.args) == 1 and ast.unparse(e.func).endswith(".replace") for e in calls)


def opens_file(statement: Statement) -> bool:
    """Whether a statement gives a file to read from or to write to."""
    return _calls(statement, {"open"})


def _opens(statement: Statement, modes: str) -> bool:
    """Whether a statement opens a file in one of some modes."""
    if not opens_file(statement):
        return False
    calls = (each for each in parts_of(statement.text) if isinstance(each, ast.Call))
    given = (part for call in calls for part in (*call.args, *(e.value for e in call.keywords)))
    texts = (each.value for each in given if isinstance(each, ast.Constant))
    return any(isinstance(e, str) and len(e) <= _MODE and {*e} & {*modes} for e in texts)


@lru_cache(_KEPT)
def file_names(statement: Statement) -> frozenset[str]:
    """Constants of a statement that may name a file, and not only say of which kind; tables of a
    database."""
    found = set()
    for each in _texts(statement):
        if ("." in each or "/" in each) and _NAME.search(each):
            found.add(each)
        found.update(f"table {name}" for name in _TABLE.findall(each))
    return frozenset(found)


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


def locks(statement: Statement) -> bool:
    """Whether a statement takes a lock, for others not to write meanwhile."""
    return _calls(statement, _LOCKING)


def counts(statement: Statement) -> bool:
    """Whether a statement goes through a range of numbers."""
    return statement.kind == "For" and {"range"} <= {*statement.calls} <= {"range", "len"}


def collects(statement: Statement) -> bool:
    """Whether a statement has the garbage collected there and then."""
    return _calls(statement, VARYING[Source.COLLECTION])


def fills(statement: Statement) -> bool:
    """Whether a statement writes all of a tensor: what was in it before is not read."""
    return _calls(statement, _FILLING)


@lru_cache(_KEPT)
def fills_item(statement: Statement) -> bool:
    """Whether a statement binds an item of what it asks nothing else of: ``a[k] = f(k)``."""
    if statement.kind != "Assign" or {*statement.writes}.isdisjoint(statement.reads):
        return False
    (path,), parts = statement.writes[:1], parts_of(statement.text)
    mentions = [each for each in parts if path_of(each) == path]
    targets = (target for each in parts if isinstance(each, ast.Assign) for target in each.targets)
    return len(mentions) == 1 and all(isinstance(each, ast.Subscript) for each in targets)


def allocates(statement: Statement) -> bool:
    """Whether a statement gives memory that nothing has written."""
    return any(source_of(each) is Source.UNWRITTEN_MEMORY for each in statement.calls)


def told_by(name: str) -> Source | None:
    """What a file of the system tells, that is another in each run."""
    return OF_FILES.get(of_file(name))


def parts_of(text: str) -> list[ast.AST]:
    """What a statement is made of; nothing for a head that does not stand by itself."""
    with suppress(SyntaxError):
        return list(ast.walk(ast.parse(f"{text} pass" if text.endswith(":") else text)))
    return []


def waits(statement: Statement) -> bool:
    """Whether a statement waits for another thread or process, and for a limited time only."""
    if not _calls(statement, _WAITING):
        return False
    found = parts_of(statement.text)
    alone = {each.value for each in found if isinstance(each, ast.Expr)}
    calls = (each for each in found if isinstance(each, ast.Call))
    return any(is_limited(each, ast.unparse(each.func), alone=each in alone) for each in calls)


def is_limited(call: ast.Call, name: str, *, alone: bool = False) -> bool:
    """Whether a call waits for another thread or process, and for a limited time or not at all.

    alone  whether it is all of a statement, which says that ``join`` is none of a text's
    """
    last = name.rpartition(".")[2]
    found = _limits(call, last, alone) if last in _WAITING else []
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
    elif last in _FIRST and (last != "join" or alone or isinstance(first, ast.Constant)):
        found += call.args[:1]
    elif last == "wait_for":
        found += call.args[1:2]
    return found


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def asks_others(call: ast.Call, name: str) -> bool:
    """Whether a call of an object asks whether another thread or process is done, or how much it
    has put in a queue, and does not wait for that."""
    owner, _, last = name.rpartition(".")
    is_bare = not call.args and not call.keywords
    if last in ASKING & _WAITING:
        first = call.args[0] if call.args else None
        return bool(owner) and (isinstance(first, ast.Constant) or is_limited(call, name))
    return bool(owner) and (last in ASKING or (is_bare and last in STATES))


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
    if reads_now(call):
        return Source.CLOCK, ast.unparse(call)
    if leaves_out(call, name):
        return Source.UNWRITTEN_MEMORY, f"{name}() with where= and without out="
    if is_limited(call, name, alone=alone):
        return Source.READINESS, f"{name}() waits for a limited time"
    if is_unordered(call) or takes_any(call, name):
        first = "gives first what is done first"
        does = first if is_unordered(call) else "takes what comes first, from any rank"
        return Source.THREAD_ORDER, f"{name}() {does}"
    if is_asynchronous(call):
        return Source.READINESS, f"{name}() with async_op=True goes on before it is done"
    return None


def is_asynchronous(call: ast.Call) -> bool:
    """Whether a collective is only begun: what it gives is there once somebody has waited."""
    return any(e.arg == "async_op" and getattr(e.value, "value", False) for e in call.keywords)


def _calls(statement: Statement, names: set[str]) -> bool:
    return any(_is_one(each, names) for each in statement.calls)


def _is_one(call: str, names: set[str]) -> bool:
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
