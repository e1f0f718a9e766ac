"""What ran on the fake device, which line of the program called it, and the report of it.

Memory that nothing has written yet is followed: who reads it reads what was there before.
"""

from __future__ import annotations

import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from guard.observe import places
from guard.observe.modes import Nodes
from guard.rehearsal import verdicts
from guard.rehearsal.draws import Draws
from guard.rehearsal.findings import (
    DETERMINISTIC,
    REPAIRED,
    VERDICTS,
    Finding,
    OtherSource,
    Report,
    where,
)
from guard.repairs.table import HOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch._ops import OpOverload

    from guard.observe.modes import Run
    from guard.observe.places import Place
    from guard.rehearsal.findings import Attention
    from guard.rehearsal.verdicts import Judgement

    Node = Any

_EMPTY = {
    "aten::empty.memory_format", "aten::empty_strided", "aten::empty_like", "aten::new_empty",
    "aten::new_empty_strided", "aten::empty_permuted", "aten::empty_quantized",
}  # fmt: skip
# They overwrite all, or look at shapes alone.
_FILLS = (
    "zero_", "fill_", "copy_", "normal_", "uniform_", "random_", "exponential_", "geometric_",
    "log_normal_", "cauchy_", "bernoulli_", "set_", "resize_", "resize_as_", "eye_",
)  # fmt: skip
_SHAPES = ("_like", "new_", "detach", "record_stream", "is_pinned", "expand_as", "view_as", "_pin")


class Unwritten:
    """Follows memory from ``torch.empty`` to the first operator that writes to it.

    A write to a part counts as one to the whole.
    """

    def __init__(self) -> None:
        self.reads: Counter[places.Trail | None] = Counter()
        self._storages: weakref.WeakValueDictionary[int, _Owner] = weakref.WeakValueDictionary()

    def follow(self, run: Run, result: Any, here: Callable[[], places.Trail | None]) -> None:  # noqa: ANN401
        """An operator has run: note what it read and wrote."""
        name = run.name
        if name in _EMPTY:
            if isinstance(result, torch.Tensor) and result.numel():
                self._begin(result)
            return
        if not self._storages:
            return
        written = run.written
        fills = name.partition(".")[0].endswith(_FILLS)
        for each in run.tensors:
            key = _key(each)
            if key not in self._storages:
                continue
            is_written = any(each is other for other in written)
            if (not is_written or not (fills or "out" in name)) and _reads(run.func, name):
                # What writes some elements and keeps the others fills memory that way.
                if not (is_written and any(each in name for each in _PLACING)):
                    self.reads[here()] += 1
                self._storages.pop(key, None)
            elif is_written:
                self._storages.pop(key, None)

    def fill(self, values: Iterable[Any]) -> None:
        """What is no operator may have written to these."""
        for each in values:
            if isinstance(each, torch.Tensor):
                self._storages.pop(_key(each), None)

    def _begin(self, tensor: torch.Tensor) -> None:
        owner = _Owner()
        storage = tensor.untyped_storage()
        # It goes when the last tensor of the memory goes.
        tensor._guard_owner = owner  # type: ignore[attr-defined]  # noqa: SLF001
        self._storages[storage._cdata] = owner  # noqa: SLF001


class _Owner:
    """Lives as long as the tensor that was made empty."""


def _key(tensor: torch.Tensor) -> int:
    if tensor.layout is not torch.strided:
        return 0
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001


def _reads(func: OpOverload, name: str) -> bool:
    """Whether an operator reads what it is given: a view does not."""
    if any(each in name for each in _SHAPES):
        return False
    return not any(
        result.alias_info is not None and not result.alias_info.is_write
        for result in func._schema.returns  # noqa: SLF001
    )


_PLACING = ("index", "scatter", "put", "slice", "masked_fill", "tri")
_QUIET = {"aten::detach", "aten::lift_fresh", "prim::device", "prim::layout"}  # no kernel runs


class _Key(NamedTuple):
    operator: str
    node: str
    direction: str
    judgement: Judgement
    trail: places.Trail | None


class Recorder:
    """Counts operators with their places.

    seeded    whether the global generators are taken to be seeded before the program begins
    node      the node whose backward runs, or None
    compiled  whether the program asked for torch.compile
    stopped   why nothing more was seen, or ""
    notes     what else the report says of what was seen
    finish    what to do when the steps are done
    starts    what to do when a backward pass begins
    """

    def __init__(self, *, seeded: bool = True) -> None:
        self.node: Node = None
        self.creates_graph = False
        self.compiled = False
        self.steps = 0
        self.backwards = 0
        self.guesses: Counter[tuple[str, places.Trail | None]] = Counter()
        self.unwritten = Unwritten()
        self.draws = Draws(seeded=seeded)
        self.attention_of: Callable[[], Iterable[Attention]] = tuple
        self.stopped = ""
        self.notes: list[str] = []
        self.finish: Callable[[], None] = lambda: None
        self.starts: Callable[[], None] = lambda: None
        self._counts: Counter[_Key] = Counter()
        self._nodes: Nodes[places.Trail | None] = Nodes()
        self._models: dict[int, Any] = {}

    def enter(self, node: Node) -> None:
        """The backward of a node begins."""
        self.node = node

    def before(self, run: Run) -> None:
        """An operator is about to run: note the line, if a node of the graph was made for it."""
        self.draws.follow(run, self.here)
        self.mark()

    def mark(self) -> None:
        """Note the line that runs now for the nodes of the graph that it has made."""
        self._nodes.note(self.here)

    def after(self, run: Run, result: Any) -> None:  # noqa: ANN401
        """An operator has run: count it."""
        name = run.name
        if name in _QUIET or not _on_gpu(run.tensors, result):
            return
        self.unwritten.follow(run, result, self.here)
        node = "" if self._is_forward else self.node.name()
        judgement = verdicts.judge(run, node, compiled=self.compiled)
        self.count(name, judgement, node)

    def count(self, name: str, judgement: Judgement, node: str = "") -> None:
        """Count an operator that runs now."""
        if judgement.verdict == DETERMINISTIC:
            key = _Key(name, "", self._direction, judgement, None)
        else:
            key = _Key(name, node, self._direction, judgement, self.here())
        self._counts[key] += 1

    def here(self) -> places.Trail | None:
        """The line that runs now; in a backward, that of the forward."""
        if self._is_forward:
            trail = places.here()
            if self.node is None and trail is not None and trail.modules:
                self._models[id(trail.modules[0])] = trail.modules[0]
            return trail
        return self._nodes.of(self.node)

    def guessed(self, what: str) -> int:
        """A value that the program reads is not known. How often that was so at its line."""
        key = what, places.here()
        self.guesses[key] += 1
        return self.guesses[key]

    @property
    def _is_forward(self) -> bool:
        """Checkpoints run the forward again within the backward."""
        return self.node is None or (torch.is_grad_enabled() and not self.creates_graph)

    @property
    def _direction(self) -> str:
        return "forward" if self._is_forward else "backward"

    @property
    def models(self) -> tuple[Any, ...]:
        """The outermost modules that were called."""
        return tuple(self._models.values())

    @property
    def operators(self) -> int:
        """How many ran."""
        return sum(self._counts.values())

    def findings(self) -> Iterable[Finding]:
        """What ran, counted by operator, line and direction."""
        counted: Counter[tuple[str, str, str, Judgement, Place | None]] = Counter()
        for key, count in self._counts.items():
            place = where(key.trail, self.models)
            counted[key.operator, key.node, key.direction, key.judgement, place] += count
        for (operator, node, direction, judgement, place), count in counted.items():
            yield finding(operator, node, direction, judgement, place)._replace(times=count)


def finding(
    operator: str, node: str, direction: str, judgement: Judgement, place: Place | None
) -> Finding:
    row = judgement.row
    reason = "" if row is None else row.reason
    return Finding(
        operator=operator,
        verdict=judgement.verdict,
        direction=direction,
        times=0,
        where=place,
        node=node,
        name="" if row is None else row.name,
        reason=reason,
        condition=getattr(row, "condition", ""),
        alternative=_instead(judgement),
    )


def _instead(judgement: Judgement) -> str:
    row = judgement.row
    if row is not None and judgement.verdict == REPAIRED:
        return HOW[row.name]
    alternatives = getattr(row, "alternatives", ())
    return alternatives[0].text if alternatives else ""


def _on_gpu(tensors: list[torch.Tensor], result: Any) -> bool:  # noqa: ANN401
    if any(each.device.type == "cuda" for each in tensors):
        return True
    results = result if isinstance(result, (tuple, list)) else (result,)
    return any(isinstance(each, torch.Tensor) and each.device.type == "cuda" for each in results)


_LINES = 3  # at which the same was guessed, that are told
# What runs beside the process, or below Python.
_UNJUDGED = (
    "other processes and threads (DataLoader workers, ranks)",
    "what libraries draw in C++",
)


def report_of(
    recorder: Recorder, sources: Iterable[OtherSource] = (), unjudged: Iterable[str] = ()
) -> Report:
    """Everything that a rehearsal has found, the worst first."""
    findings = sorted(recorder.findings(), key=_rank)
    return Report(
        findings=tuple(findings),
        sources=(
            *_unwritten(recorder),
            *recorder.draws.sources(),
            *sources,
        ),
        attention=tuple(recorder.attention_of()),
        limits=tuple(_limits(recorder)),
        unjudged=(*recorder.draws.unjudged(), *unjudged, *_UNJUDGED),
        steps=recorder.steps,
        operators=recorder.operators,
        torch=torch.__version__,
        complete=not recorder.stopped,
    )


def _rank(finding: Finding) -> tuple[object, ...]:
    place = finding.where
    line = ("", 0) if place is None else (place.filename, place.line)
    return VERDICTS.index(finding.verdict), line, finding.operator, finding.direction, finding.node


def _unwritten(recorder: Recorder) -> Iterator[OtherSource]:
    for trail, count in recorder.unwritten.reads.items():
        yield OtherSource(
            "unwritten memory",
            "a tensor made by torch.empty or its like is read here before anything wrote to it: "
            "it holds what was in that memory before",
            "write to all of it first, or use torch.zeros; guard.enable fills such memory",
            where(trail),
            times=count,
        )


def _guesses(recorder: Recorder) -> Iterator[str]:
    """One sentence for all lines at which the same was guessed."""
    lines: dict[str, dict[str, None]] = {}
    times: Counter[str] = Counter()
    for (what, trail), count in recorder.guesses.items():
        times[what] += count
        held = lines.setdefault(what, {})
        if trail is not None:
            held[f"{trail.place.filename}, line {trail.place.line}"] = None
    for what, held in lines.items():
        more = len(held) - _LINES
        rest = "" if more <= 0 else " and 1 more line" if more == 1 else f" and {more} more lines"
        at = "; ".join(list(held)[:_LINES]) + rest
        counted = "" if times[what] == 1 else f" ({times[what]} times)"
        yield (
            f"{at}{': ' if at else ''}{what}{counted}, which is a guess: where the program decides "
            "by it, only one way was seen"
        )


def _limits(recorder: Recorder) -> Iterator[str]:
    if recorder.stopped:
        yield recorder.stopped
    yield from _guesses(recorder)
    yield from recorder.notes
    if recorder.compiled:
        yield (
            "torch.compile was left out: what was seen are the operators that it starts from, not "
            "the kernels that it makes of them"
        )
