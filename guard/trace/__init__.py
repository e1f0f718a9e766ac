"""The fingerprints of a run: what they are, and the file they lie in."""

from guard.trace.model import (
    End,
    Event,
    Header,
    Kind,
    Label,
    Status,
    Step,
    StepKind,
    Summary,
    TraceError,
)
from guard.trace.reader import Trace, open_run, open_trace
from guard.trace.writer import TraceWriter

__all__ = [
    "End",
    "Event",
    "Header",
    "Kind",
    "Label",
    "Status",
    "Step",
    "StepKind",
    "Summary",
    "Trace",
    "TraceError",
    "TraceWriter",
    "open_run",
    "open_trace",
]
