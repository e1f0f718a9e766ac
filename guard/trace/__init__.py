"""The fingerprints of a run: what they are, and the file they lie in."""

from guard.trace.model import End as End
from guard.trace.model import Event as Event
from guard.trace.model import Header as Header
from guard.trace.model import Kind as Kind
from guard.trace.model import Label as Label
from guard.trace.model import Status as Status
from guard.trace.model import Step as Step
from guard.trace.model import StepKind as StepKind
from guard.trace.model import Summary as Summary
from guard.trace.model import TraceError as TraceError
from guard.trace.writer import REPLACED as REPLACED
from guard.trace.writer import UNRECORDED as UNRECORDED
from guard.trace.writer import Trace as Trace
from guard.trace.writer import TraceWriter as TraceWriter
from guard.trace.writer import open_run as open_run
from guard.trace.writer import open_trace as open_trace
