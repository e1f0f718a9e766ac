"""What ``guard.preflight`` gives: plain data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from guard.observe.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.observe import places

Verdict = Literal[
    "raises", "silent", "unknown", "repaired", "deterministic if enabled", "deterministic"
]

RAISES: Verdict = "raises"  # torch refuses it with determinism on
SILENT: Verdict = "silent"  # it differs from run to run, and torch does not say so
UNKNOWN: Verdict = "unknown"  # of another library: nobody has looked at its kernel
REPAIRED: Verdict = "repaired"  # it would, and guard runs a replacement
SWITCH: Verdict = "deterministic if enabled"  # and else it differs from run to run
DETERMINISTIC: Verdict = "deterministic"
VERDICTS = (RAISES, SILENT, UNKNOWN, REPAIRED, SWITCH, DETERMINISTIC)
FOUND = (RAISES, SILENT, UNKNOWN)  # what a run has to be rid of before it repeats

_CAPABILITIES = {
    (6, 0): "p100",
    (7, 0): "v100",
    (7, 5): "t4 rtx2080",
    (8, 0): "a100",
    (8, 6): "a10 a40 a6000 rtx3090",
    (8, 9): "l4 l40 l40s rtx4090",
    (9, 0): "h100 h200 gh200",
    (10, 0): "b200 gb200",
    (10, 3): "b300",
    (12, 0): "rtx5090",
}
# compute capabilities, by the name of the GPU
GPUS = {name: found for found, names in _CAPABILITIES.items() for name in names.split()}

FORMAT = 1  # of as_dict; another number when a key goes, or means something else


def where(trail: places.Trail | None, models: Iterable[Any] = ()) -> Place | None:
    """A place, with the path of its module.

    A checkpoint calls a part of a model by itself; its path is that in one of the models.
    """
    if trail is None:
        return None
    place = trail.resolve()
    for model in models:
        if trail.modules and model is not trail.modules[0]:
            resolved = trail._replace(modules=(model, trail.modules[-1])).resolve()
            place = resolved if resolved.module else place
    return place


class Finding(NamedTuple):
    """An operator on the GPU, at one line.

    operator     as torch writes it: "aten::median.dim"
    verdict      one of VERDICTS
    direction    "forward" or "backward"
    times        how often it ran in the steps that were rehearsed
    where        the line that called it, for a backward the line of the forward; None where that
                 is not known, and for what is deterministic
    node         the node of the graph whose backward called it, or ""
    name         what people call it, if it stands in the table of operators: "torch.median"
    reason       why it differs, or is refused
    condition    when, in words; "" for always
    alternative  what to use instead, or ""
    """

    operator: str
    verdict: Verdict
    direction: str
    times: int
    where: Place | None = None
    node: str = ""
    name: str = ""
    reason: str = ""
    condition: str = ""
    alternative: str = ""


class OtherSource(NamedTuple):
    """What makes runs differ and is no operator: a flag, a draw without a seed, unwritten memory.

    counts  whether runs on the same machine differ by it; else it is worth knowing, no more
    times   how often it was met in the steps that were rehearsed
    """

    name: str
    text: str
    advice: str
    where: Place | None = None
    counts: bool = True
    times: int = 1


class Attention(NamedTuple):
    """Which kernel ``scaled_dot_product_attention`` takes on a GPU, by torch's own rules."""

    backend: str
    gpu: str
    verdict: Verdict
    reason: str
    source: str
    times: int
    where: Place | None = None


class Report(NamedTuple):
    """What a rehearsal of a training step on a GPU found. ``str`` of it is the text.

    findings   the worst first
    sources    what is no operator
    attention  which kernels it takes
    limits     what could not be seen, or had to be guessed
    unjudged   what a rehearsal does not look at, and may differ all the same
    steps      how many optimizer steps were rehearsed
    operators  how many operators ran on the GPU
    torch      the release that was asked
    complete   whether all that was to be rehearsed was seen, to its end
    """

    findings: tuple[Finding, ...] = ()
    sources: tuple[OtherSource, ...] = ()
    attention: tuple[Attention, ...] = ()
    limits: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    steps: int = 0
    operators: int = 0
    torch: str = ""
    complete: bool = True

    @property
    def found(self) -> tuple[Finding, ...]:
        """What has to go before runs repeat: what raises, is silent, or is unknown."""
        return tuple(each for each in self.findings if each.verdict in FOUND)

    @property
    def is_clean(self) -> bool:
        """Whether all was seen, and nothing found that keeps a run from repeating."""
        others = any(each.counts for each in self.sources)
        return self.complete and bool(self.operators) and not self.found and not others

    def counts(self) -> dict[Verdict, int]:
        """How many operators ran with each verdict, in the order of VERDICTS."""
        counted: Counter[Verdict] = Counter()
        for each in self.findings:
            counted[each.verdict] += each.times
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; docs/preflight.md describes the keys."""
        plain = {name: _plain(value) for name, value in self._asdict().items()}
        return {"format": FORMAT, "counts": self.counts(), **plain}

    def __str__(self) -> str:
        from io import StringIO

        from guard.rehearsal.reports import render

        return render(self, StringIO()).rstrip("\n")


def from_dict(data: dict[str, Any]) -> Report:
    """The report that ``as_dict`` took apart."""
    fields: dict[str, Any] = {
        name: tuple(_entry(name, each) for each in value) if isinstance(value, list) else value
        for name, value in data.items()
        if name in Report._fields
    }
    return Report(**fields)


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field, or an entry of one
    if hasattr(value, "_asdict"):
        named = value._asdict().items()  # code that is compiled is left out of a rehearsal
        return {name: _plain(each) for name, each in named if name != "traced"}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _entry(name: str, data: Any) -> Any:  # noqa: ANN401
    kind = {"findings": Finding, "sources": OtherSource, "attention": Attention}.get(name)
    if kind is None:
        return data
    where = data["where"]
    return kind(**{**data, "where": where and Place(**where)})
