"""What to do about what differs, by why a line of a program's text fits it."""

from guard.diff import Source

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
