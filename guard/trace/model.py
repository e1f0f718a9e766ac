"""What a trace holds: plain data, that knows nothing of files and of torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from guard.errors import GuardError

if TYPE_CHECKING:
    from guard.observe.places import Place

Kind = Literal[
    "batch",  # what a DataLoader gave; or what entered the outermost module, where there is none
    "output",  # of a module's forward
    "loss",  # what backward was called on
    "gradient",  # of a parameter, as the optimizer reads it
    "parameter",
    "buffer",
    "optimizer",  # its state
    "hyperparameter",
    "generator",
    "operator",  # an aten operator's outputs, and its inputs
    "held",  # by a program as it ends, beside what is recorded: in no trace
]
Phase = Literal["forward", "backward", "workers", ""]
StepKind = Literal[
    "training",  # what an optimizer's step ended
    "evaluation",  # an outermost forward without gradients, and what belongs to it
    "end",  # the state in which the recording left everything: the last one
]
Status = Literal["finished", "raised", "stopped", "failed"]


class TraceError(GuardError):
    """A file that is no trace, or one that this release cannot read."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a tensor's numbers were like, in a recording with values."""

    min: float
    max: float
    mean: float
    absmax: float
    # up to 64 of them, spread evenly over the tensor, the first one first
    sample: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """What an event is of, without what it held; the same object for the same thing, if made once.

    has_value, has_summary, has_inputs  which parts its events have besides the digest
    """

    kind: Kind
    name: str
    call: int = 0
    detail: str = ""
    place: Place | None = None
    phase: Phase = ""
    module: str = ""
    has_value: bool = False
    has_summary: bool = False
    has_inputs: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A fingerprint of one thing at one time."""

    kind: Kind
    name: str  # "encoder.layers.0", "head.weight", "torch.cpu", "aten.index_put_.default"
    call: int  # how many events of this kind and name were before it in the step
    detail: str  # "float32[2, 3]", or ""
    # the line of the user's code that called the module, drew the batch, called backward
    place: Place | None
    digest: bytes  # ``Header.digest_size`` bytes in a file: equal means equal
    # of a loss or a hyperparameter; of an operator: the first Python float it was given
    value: float | None = None
    summary: Summary | None = None
    phase: Phase = ""  # of an operator or a module's output; of a batch, by whom it was made
    module: str = ""  # of an operator: the module it ran in
    # of an operator: the digest of its inputs; of a batch: the sum over its samples, the lowest
    # bytes first; b"" for anything else
    inputs: bytes = b""


@dataclass(frozen=True, slots=True)
class Step:
    """The events of one step, in the order in which they happened."""

    number: int  # from ``Header.first_step``
    kind: StepKind
    events: tuple[Event, ...]
    # 16 bytes over the full fingerprints of all events but generators, which may differ where
    # nobody draws from them: equal means an equal step
    digest: bytes


@dataclass(frozen=True, slots=True)
class End:
    """How the recording ended.

    finished  the program, or the block, came to its end
    raised    it ended with an exception, which ``message`` names
    stopped   the recording ended first, at the last step that was asked for
    failed    the recording ended first, for want of disk space or for an error of its own
    """

    status: Status
    message: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What was recorded, and where."""

    digest_size: int = 4  # bytes of an event's digest in this file
    rank: int = 0
    world_size: int = 1
    command: tuple[str, ...] = ()  # the program and its arguments, as they were started
    folder: str = ""  # of the program's files
    started: float = 0.0  # in seconds since 1970
    seed: int | None = None
    # "fingerprint", "digest" and "items", as ``guard.report`` gives them; "later": the items as
    # training began, where evaluations came before
    environment: dict[str, Any] = field(default_factory=dict)
    # what the steps hold; "operators" where some have them
    detail: Literal["steps", "operators"] = "steps"
    first_step: int = 0  # the number of the first step, in a run that was resumed
    options: dict[str, Any] = field(default_factory=dict)  # of the recording
    version: int = 1

    @property
    def has_gpu(self) -> bool:
        """Whether there was a GPU of NVIDIA's or AMD's, or that is not known."""
        items: dict[str, Any] = self.environment.get("items") or {}
        is_amd = str(items.get("gpu: cuda")).startswith("rocm")
        return not items or is_amd or "gpu: devices" in items

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Header:
        """From what ``as_dict`` gave, here or in a release that knew more."""
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in found.items() if name in known}
        return cls(**{**given, "command": tuple(given.get("command", ()))})
