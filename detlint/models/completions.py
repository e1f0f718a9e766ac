"""What gives results in the order in which work that runs at the same time finishes."""

from __future__ import annotations

from typing import NamedTuple

from detlint.models.model import Names, words

FINISHED = "gives results in the order in which they finish"


class Completion(NamedTuple):
    """A call whose results nobody put in order.

    name    as a message writes it
    says    what is true of the order
    advice  what keeps it
    gives   what has the order: "results" (what the call gives), "done" (the first of the two sets
            that it gives), "one" (one result a call), "calls" (what calling its result gives),
            "rows" (those of a table of polars) or "object" (whatever becomes of it)
    """

    name: str
    says: str
    advice: str
    gives: str = "results"


_AS_SUBMITTED = "read the futures as submitted, or put each result at its index"
_GATHERED = "await asyncio.gather(…), or put each result at its index"


def _each(modules: str, name: str, made: Completion) -> dict[str, Completion]:
    return {f"{module}.{name}": made for module in modules.split()}


_AS_COMPLETED = Completion("as_completed()", FINISHED, _AS_SUBMITTED)
_OF_TASKS = Completion("asyncio.as_completed()", FINISHED, _GATHERED)
_BY_ADDRESS = "returns sets, in which futures stand by their addresses"
_MADE = "go through the futures in the order in which they were made"

STOPPING = ("ASHAScheduler", "AsyncHyperBandScheduler", "MedianStoppingRule")
FUNCTIONS = {
    **_each(
        """concurrent.futures concurrent.futures._base concurrent.futures.thread
        concurrent.futures.process distributed dask.distributed loky joblib.externals.loky""",
        "as_completed",
        _AS_COMPLETED,
    ),
    **_each(
        """asyncio asyncio.tasks tqdm.asyncio.tqdm tqdm.asyncio.tqdm_asyncio tqdm.auto.tqdm
        tqdm.auto.tqdm_asyncio""",
        "as_completed",
        _OF_TASKS,
    ),
    **_each(
        "concurrent.futures concurrent.futures._base",
        "wait",
        Completion("wait()", _BY_ADDRESS, _MADE, "done"),
    ),
    **_each(
        "asyncio asyncio.tasks",
        "wait",
        Completion("asyncio.wait()", _BY_ADDRESS, _MADE, "done"),
    ),
    # By what the others have reported until then (Ray 2.60).
    **{
        f"ray.tune.schedulers.{made}": Completion(
            f"{made}()",
            "stops trials by what those reported that were faster: which survive depends on time",
            "run one trial after the other, TuneConfig(max_concurrent_trials=1), or stop none",
            "object",
        )
        for made in STOPPING
    },
    "p_tqdm.p_uimap": Completion("p_uimap()", FINISHED, "use p_imap(), which keeps the order"),
    "p_tqdm.p_umap": Completion("p_umap()", FINISHED, "use p_map(), which keeps the order"),
}
HOGWILD = Completion(
    "share_memory()",
    "lets several processes take steps with one model, in the order in which they get to it",
    "give each process a model of its own and average their gradients, as DistributedDataParallel",
    "object",
)


# Methods that ask how far work beside the rest has come: of futures, tasks, events, locks, queues,
# processes, the results of pools, and collectives.
ASKING = words(
    "done is_set is_alive running cancel cancelled qsize locked poll successful ready is_completed"
)


class Threaded(NamedTuple):
    """What runs in several threads unless it is told otherwise: by which parameter, its place, and
    what the threads do."""

    parameter: str
    place: int | None
    does: str = "trains one model"


_INDEX = "hnswlib.Index"
# Measured, with a seed and PYTHONHASHSEED: three runs gave three results by several threads, and
# one by one (gensim 4.4, fasttext 0.9.2, implicit 0.7.3, hnswlib 0.8).
_THREADED = {
    "gensim.models.**.{Word2Vec,FastText,Doc2Vec}": Threaded("workers", None),
    "fasttext.**.train_unsupervised": Threaded("thread", None),
    "implicit.**.BayesianPersonalizedRanking": Threaded("num_threads", 6),
    f"{_INDEX}.add_items": Threaded("num_threads", 2, "adds to one index"),
}
_KNOWN = {names.partition(".")[0]: (Names(names), row) for names, row in _THREADED.items()}
METHODS_OF = {"add_items": _INDEX}  # of these, what is a method, and of which class
# The libraries, and how the calls are written.
THREADED = tuple(_KNOWN)
THREADING = (
    *("Word2Vec", "FastText", "Doc2Vec", "train_unsupervised(", "BayesianPersonalizedRanking"),
    "add_items(",
)


def threaded(name: str) -> Threaded | None:
    """The row of a function or class, by its qualified name."""
    known, row = _KNOWN.get(name.partition(".")[0], (None, None))
    return row if known and known(name) else None


def of_threads(word: str, row: Threaded) -> Completion:
    """What a call does that runs several threads."""
    return Completion(
        f"{word}()",
        f"{row.does} by several threads, in the order in which they get to it, whatever the seed",
        f"pass {row.parameter}=1",
        "object",
    )


# Of ``return_when``: which futures are in the sets differs, too.
FIRST_SAYS = "returns what happens to have finished first"

# What Flower hands the methods of a strategy: it reads the futures of the clients out of a set
# (flwr 1.42, server/server.py). The place of the parameter, with ``self``.
COLLECTED = {"aggregate_fit": 2, "aggregate_evaluate": 2}
OF_CLIENTS = Completion(
    "results",
    "come out of a set of futures, by their addresses",
    "sort them by a number of each client",
)
is_strategy = Names("flwr.server.strategy.**")

# Methods of pools; those of no other class have these names.
METHODS = {
    name: Completion(f"{name}()", FINISHED, f"use {kept}(), which keeps the order", gives)
    for name, kept, gives in (
        ("imap_unordered", "imap", "results"),
        ("map_unordered", "map", "results"),
        ("uimap", "imap", "results"),
        ("get_next_unordered", "get_next", "one"),
    )
}

JOBLIB = words("joblib.Parallel joblib.parallel.Parallel sklearn.utils.parallel.Parallel")
UNORDERED = Completion(
    "Parallel(return_as='generator_unordered')", FINISHED, "use return_as='generator'", "calls"
)

_BATCHES = "gives batches in the order in which its workers finish them"


def of_loader(name: str) -> Completion:
    """What a class with ``in_order=False`` gives, by its qualified name."""
    shown = f"{name.rpartition('.')[2]}(in_order=False)"
    return Completion(shown, _BATCHES, "leave in_order=True, the default", "object")


# Whether a class is a node of torchdata that has workers.
is_node = Names("torchdata.nodes.**.{ParallelMapper,Mapper}")


# How calls that start tasks are written, and what a file that has one mentions.
MANAGER, ASYNC = "Manager", "async def"
STARTED_BY = {
    "Thread(": ("Thread",),
    "Process(": (MANAGER,),
    ".submit(": ("ThreadPool", MANAGER),
    **dict.fromkeys(
        (".apply_async(", ".map(", ".imap", ".starmap", ".map_async("),
        ("ThreadPool", "dummy", MANAGER),
    ),
    "gather(": (ASYNC,),
    "create_task(": (ASYNC,),
}
# Without one of which a function starts one at most.
SEVERAL = ("for ", "while ", "map")
# How a file is opened to add lines to it.
APPENDING = tuple(f"{quote}{mode}{quote}" for quote in "\"'" for mode in ("a", "a+"))
# Of these, what a file that has any of them holds.
STARTING = (
    *("ThreadPool", "Thread(", "dummy", "Process(", "gather(", "create_task("),
    *APPENDING,
)
# Methods of pools that call a function with each of many values.
MAPPING = words("imap imap_unordered map map_async starmap starmap_async")
THREAD = "Thread"
WORKERS = ("Process", THREAD)
# Whether a class or function gives a pool whose workers share the memory of the program.
is_thread_pool = Names(
    "concurrent.futures.{,thread.}ThreadPoolExecutor",
    "multiprocessing.pool.ThreadPool",
    "multiprocessing.dummy.Pool",
)


def of_tasks(start: str, added: str) -> Completion:
    """What the tasks that a call starts add to a list or a dict."""
    return Completion(
        f"tasks of {start}()",
        f"add to {added} in the order in which they get to it",
        "return what each has found, and read the tasks as they were started",
    )


def of_file(start: str, added: str) -> Completion:
    """What the tasks that a call starts add to a file."""
    return Completion(
        f"tasks of {start}()",
        f"add to one file, {added}, in the order in which they get to it",
        "return what each has found, and write it where the tasks are started",
        "object",
    )


is_manager = Names("{,torch.}multiprocessing.{Manager,get_context}")
# What runs a function that it is given, at the same time as the rest.
_STARTING = words("submit apply_async create_task ensure_future start_new_thread")


# Whether a class is a queue, by its qualified name.
is_queue = Names(
    "{queue,multiprocess,asyncio}.{,Simple,Joinable,Lifo}Queue",
    "{multiprocessing,multiprocessing.queues,torch.multiprocessing}.{,Simple,Joinable,Lifo}Queue",
)


def is_context(name: str) -> bool:
    """Whether a function gives a context that has pools of processes, by its qualified name."""
    return name.endswith("multiprocessing.get_context")


def starts_worker(word: str) -> bool:
    """Whether a call of this name starts work that runs at the same time."""
    return word in _STARTING or word.endswith(WORKERS)


# Of what starts work beside the rest of the program, how it is written; and what has memory that
# several processes share.
BESIDE = (
    *("Thread", "Timer(", "submit(", "run_in_executor(", "apply_async(", "map("),
    *("Process(", "spawn(", "start_new_thread(", "add_done_callback("),
)
# What is called when an object goes, how that is written, and which argument is called then.
FINALIZER = "__del__"
GOING = ("finalize(", "ref(", "WeakMethod(", "proxy(")
ON_GOING = {"finalize": 2, "ref": 2, "WeakMethod": 2, "proxy": 2}
SHARING = ("share_memory", "share_memory_", "Value", "Array", "RawArray", "SharedMemory")
SUBMITTING = words("apply_async run_in_executor submit")  # to a pool
_IN_THREADS = SUBMITTING | {"Timer", "add_done_callback"}
_IN_PROCESSES = words("spawn start_new_thread")


def starts_thread(word: str) -> bool:
    """Whether a call of this name, or a class with such a base, runs a function in a thread."""
    return word in _IN_THREADS or word.endswith(THREAD)


def starts_beside(word: str) -> bool:
    """The same, in a thread or a process."""
    return starts_thread(word) or word in _IN_PROCESSES or word.endswith("Process")
