"""What a difference comes from, as far as it was shown: plain data."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Source(Enum):
    """What is another in each run, and a difference begins with; for a person to read."""

    CLOCK = "a clock"
    ENTROPY = "entropy of the operating system"
    PROCESS = "the number of a process or a thread"
    LOAD = "the load of the machine"
    DRAWN_NAME = "a name that is drawn anew in each run"
    STRING_HASH = "hashes of strings"
    OBJECT_ADDRESS = "addresses of objects"
    LISTING = "the order of a directory listing"
    THREAD_ORDER = "the order in which threads or processes come to it"
    READINESS = "how far another thread or process has come"
    COLLECTION = "when the garbage collector runs"
    UNWRITTEN_MEMORY = "memory that nothing has written"
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
    """A statement of a slice."""

    file: str
    line: int
    text: str


class Explanation(NamedTuple):
    """What a difference comes from.

    what      reads it: "time.time()"; "" where that is not known
    slice     statements from the source to the first difference; empty where they are not known
    excluded  what was shown not to make the difference; sentences
    """

    source: Source
    confidence: Confidence
    what: str = ""
    slice: tuple[Link, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """In a line: "a clock: time.time() (certain)"."""
        source: str = self.source.value
        if self.source is Source.NOT_SHOWN:
            return source
        told = f"{source}: {self.what}" if self.what else source
        return f"{told} ({self.confidence.value})"
