"""What a comparison of two runs gives: plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from guard.observe.places import Place
    from guard.trace import Event


class Source(Enum):
    """What is another in each run, and a difference begins with; for a person to read."""

    CLOCK = "a clock"
    ENTROPY = "entropy of the operating system"
    PROCESS = "the number of a process or a thread"
    LOAD = "the load of the machine"
    DRAWN_NAME = "a name that is drawn anew in each run"
    VARIABLE = "a variable of the environment that is set anew in each run"
    STRING_HASH = "hashes of strings"
    OBJECT_ADDRESS = "addresses of objects"
    LISTING = "the order of a directory listing"
    THREAD_ORDER = "the order in which threads or processes come to it"
    READINESS = "how far another thread or process has come"
    COLLECTION = "when the garbage collector runs"
    UNWRITTEN_MEMORY = "memory that nothing has written"
    PROGRAM = "what another program gives"
    LEFT = "a file that an earlier run had left"
    KERNEL = "a kernel that adds or writes in no fixed order"
    GENERATOR = "a generator that is not seeded alike"
    STATE = "state that a resumed run did not get back"
    ENVIRONMENT = "the environment of kernels"
    NOT_SHOWN = "not shown"


class Confidence(Enum):
    """How far a cause was shown; the words are those of the linter's findings."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Link(NamedTuple):
    """A statement of a slice; whether it follows the one before, with none left out."""

    file: str
    line: int
    text: str
    follows: bool = True


class Explanation(NamedTuple):
    """What a difference comes from."""

    source: Source
    confidence: Confidence
    what: str = ""  # reads it: "time.time()"; "" where that is not known
    # statements from the source to the first difference; empty where they are not known
    slice: tuple[Link, ...] = ()
    excluded: tuple[str, ...] = ()  # what was shown not to make the difference; sentences

    @property
    def words(self) -> str:
        """In a line: "a clock: time.time() (certain)"."""
        source: str = self.source.value
        if self.source is Source.NOT_SHOWN:
            return source
        told = f"{source}: {self.what}" if self.what else source
        return f"{told} ({self.confidence.value})"


class Cause(Enum):
    """Why two runs part. The value is what a person reads."""

    ENVIRONMENT = "environment"
    INITIALISATION = "initialisation"
    BATCH_ORDER = "order of the batches"
    BATCH_CONTENT = "content of the batches"
    GENERATOR = "random numbers"
    KERNEL = "kernel"
    UNWRITTEN_MEMORY = "unwritten memory"
    OUTSIDE = "a value from outside torch"
    HYPERPARAMETER = "hyperparameter"
    STATE = "state lost on resume"
    CONTROL_FLOW = "control flow"
    LENGTH = "length"


class Change(NamedTuple):
    """Something that is not the same for both runs: an item of the environment, an argument."""

    name: str
    first: str
    second: str
    decides: bool = True  # whether numbers can depend on it


class Size(NamedTuple):
    """How far apart the recorded values of two tensors are: the largest differences."""

    absolute: float
    ulps: float | None  # in units in the last place; None where the type is not known


@dataclass(frozen=True)
class Difference:
    """Where two runs part first, and why."""

    # rank, step: of the process and of the step, from 0; ``step`` is its number in the traces
    rank: int
    step: int
    step_kind: str  # "training" or "evaluation"
    # first, second: the event in each run; None where a run has no such event
    first: Event | None
    second: Event | None
    cause: Cause
    why: str  # a sentence or two for a person
    agreed: tuple[str, ...] = ()  # what still agreed just before
    since: str = ""  # for a generator: since which event it was consumed differently
    place: Place | None = None  # the user's line where the differing value entered
    # how many later events differ too, by kind
    consequences: dict[str, int] = field(default_factory=dict)
    advice: str = ""  # what to do next
    # names of events that only one run has there (control flow): "+ output block.3"
    parted: tuple[str, ...] = ()
    size: Size | None = None  # how far apart the values are, where both traces hold some
    lost: tuple[str, ...] = ()  # kinds of events of which a resumed run did not get the state back
    generators: tuple[str, ...] = ()  # names of those that explain it, as the traces have them
    lane: str = ""  # the task of the program's threads whose step it is; "" of its first thread


@dataclass(frozen=True)
class Operator:
    """The operator that recording a step in detail named."""

    name: str  # as torch writes it: "aten.index_put_.default"
    phase: str = ""  # "forward" or "backward"
    # the user's line that called it, for a backward the line of the forward
    place: Place | None = None
    module: str = ""  # path of the module it ran in, "" for the outermost or none
    alternative: str = ""  # what to use instead, or to do
    row: str | None = None  # the name of its row in the table of operators, or None


@dataclass(frozen=True)
class Suspect:
    """A finding of the linter in the program's own files that fits the cause."""

    code: str  # "DET204"; "" for a line that the linter says nothing of, and is possibly to blame
    message: str  # of the finding
    file: str
    line: int
    fits: str = ""  # why it fits, in words


class Row(NamedTuple):
    """A module, or a kind of event, over time."""

    name: str  # "encoder.layers.0", "batch"
    group: str  # "modules" or "other"
    # of each column, how many of its events differ and how many there are
    parts: tuple[tuple[int, int], ...]
    since: int | None  # number of the first step in which it differs, or None


class Timeline(NamedTuple):
    """What differs in which step, of one rank."""

    rank: int
    # of each, the number of its first step; several steps are one column where there are too many
    # to be shown
    columns: tuple[int, ...]
    rows: tuple[Row, ...]
    # the column and the row in which the first difference entered, or None
    entered: tuple[int, int] | None
    width: int  # how many steps a column stands for, at most
    last: int


class Growth(NamedTuple):
    """How far apart the runs are in one step: the largest of all tensors whose values are there."""

    step: int
    absolute: float
    ulps: float | None  # None for a loss whose values alone are known
    name: str  # of the tensor or loss that is furthest apart


@dataclass(frozen=True)
class Comparison:
    """Two runs, compared as far as they go; what every report is made from."""

    difference: Difference | None  # the first one, or None: identical, bit for bit
    names: tuple[str, str]  # of the two runs
    ranks: tuple[int, ...] = ()  # compared
    steps: int = 0  # compared on each of them, training and evaluation
    trainings: int = 0  # of these, training steps (of the first rank)
    # that both hold, and so were compared: in the order of ``guard.trace``
    kinds: tuple[str, ...] = ()
    differing: int = 0  # how many steps differ, from the first on (of the rank that differs first)
    changes: tuple[Change, ...] = ()  # what of environment, seed and command is not the same
    has_gpu: bool = True  # whether one of the runs had a GPU, or that is not known
    limits: tuple[str, ...] = ()  # what was not compared, or could not be; sentences
    # how many events of each kind stand in the steps after the first difference
    totals: dict[str, int] = field(default_factory=dict)
    timeline: Timeline | None = None  # of the rank with the first difference
    # by step, as far as values were recorded; sampled evenly in a long run
    growth: tuple[Growth, ...] = ()
    operators: tuple[Operator, ...] = ()  # from recording in detail, if that was done
    suspects: tuple[Suspect, ...] = ()  # from the linter, best first, if it was asked
    explanation: Explanation | None = None  # what the difference comes from, if that was asked
    notes: tuple[str, ...] = ()  # further sentences from who asked for the comparison


# Bits of the significand (the leading one counted) and the smallest normal exponent, by type.
_PRECISIONS = {
    "float16": (11, -14),
    "bfloat16": (8, -126),
    "float32": (24, -126),
    "float64": (53, -1022),
    "complex64": (24, -126),
    "complex128": (53, -1022),
}


def apart(first: Event, second: Event) -> Size | None:
    """The largest differences of all recorded values; None where there are none.

    NaN and infinities on one side alone count as infinitely far.
    """
    pairs = _values(first, second)
    if not pairs:
        return None
    kind = first.detail.partition("[")[0]
    absolute = max(_distance(a, b) for a, b in pairs)
    if not kind:
        return Size(absolute, None)
    ulps = max(_distance(a, b) / _unit(max(abs(a), abs(b)), kind) for a, b in pairs)
    return Size(absolute, ulps)


def _values(first: Event, second: Event) -> list[tuple[float, float]]:
    if first.summary is not None and second.summary is not None:
        ones, others = (
            (each.min, each.max, *each.sample) for each in (first.summary, second.summary)
        )
        return list(zip(ones, others, strict=False))
    if first.kind == "operator":  # its value went in
        return []
    if first.value is not None and second.value is not None:
        return [(first.value, second.value)]
    return []


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance


def _unit(size: float, kind: str) -> float:
    """What one unit in the last place is worth at a size; 1 for whole numbers."""
    if kind not in _PRECISIONS:
        return 1.0
    bits, smallest = _PRECISIONS[kind]
    exponent = smallest if size == 0 or not math.isfinite(size) else math.frexp(size)[1] - 1
    return math.ldexp(1.0, max(exponent, smallest) - bits + 1)
