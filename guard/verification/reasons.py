"""Why a line of a program's text fits a difference, and what to do about it."""

from guard.comparison import Source

FROM_A_CLOCK = "a value that is another one in each run"
READY = "what another thread or process has done by then"
NAMED = "a name by which files are put in order"
AS_OFTEN = "a generator that is drawn from as often as something else lets it"
FROM_A_THREAD = "a generator that is drawn from at any time"
UNSEEDED = "a generator without a fixed seed"
SET = "the program sets it itself"
FIRST = "an order that threads decide"
KEPT = "what the program keeps and does not save"
SAVED = "what becomes of the state that was lost"
ADVICE = {
    FROM_A_CLOCK: "Compute it from what is the same in each run, such as a count of steps or "
    "epochs in the place of seconds, or a fixed number in the place of hash() or a process id.",
    FROM_A_THREAD: "Give what draws there a generator of its own, random.Random(seed), "
    "np.random.default_rng(seed) or torch.Generator(): which thread draws first differs.",
    READY: "Wait for it at a step that is fixed, as job.result() and join() do without a timeout, "
    "in the place of asking whether it is done by then.",
    NAMED: "Name the files by what is the same in each run, such as a running number, in the "
    "place of a name that is drawn: sorting them by it gives another order in each run.",
    AS_OFTEN: "Give what draws there a generator of its own, random.Random(seed) or "
    "np.random.default_rng(seed): how often it is asked for a number differs.",
    FIRST: "Take what threads or processes make in the order in which the work was given out: "
    "keep it with its number and sort it, or use map in the place of a queue.",
    UNSEEDED: "Give it a seed or a generator of its own, as in rng=np.random.default_rng(seed): "
    "what seeds the generators of the whole process does not reach it.",
    KEPT: "Save it with the checkpoint, and load it before the first step: what the program keeps "
    "from step to step in Python is in no state_dict() of the model or the optimizer.",
    SET: "The program sets it itself: give it the same value in each run there, and not one that "
    "is measured or read from the machine.",
}
WHOLE = " See that it is saved whole, and that nothing of it is left out or emptied there."

# By the source that was shown.
REMEDIES = {
    Source.CLOCK: "Compute it from what is the same in each run, such as a count of steps, in the "
    "place of the time.",
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
    "in a fixed order, as with pool.map: sums of floats hang on the order of their parts.",
    Source.READINESS: ADVICE[READY],
    Source.COLLECTION: "Let no result hang on when objects are freed: release them by name, with "
    "a context manager or close(), in the place of __del__ and weak references.",
    Source.UNWRITTEN_MEMORY: "Write every element before it is read: torch.zeros in the place of "
    "torch.empty.",
}
