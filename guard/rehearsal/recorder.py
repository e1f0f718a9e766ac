"""What ran on the fake device, and which line of the program called it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from guard.observe import places
from guard.rehearsal import verdicts
from guard.rehearsal.findings import DETERMINISTIC, REPAIRED, Finding, Where
from guard.rehearsal.generators import Draws
from guard.rehearsal.host_draws import HostDraws
from guard.rehearsal.memory import Unwritten
from guard.repairs.table import HOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from guard.observe.modes import Run
    from guard.rehearsal.findings import Attention
    from guard.rehearsal.verdicts import Judgement

    Node = Any

_NODES = 4  # that one operator makes, at most
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
        self.host = HostDraws(seeded=seeded)
        self.attention_of: Callable[[], Iterable[Attention]] = tuple
        self.stopped = ""
        self.notes: list[str] = []
        self.finish: Callable[[], None] = lambda: None
        self.starts: Callable[[], None] = lambda: None
        self._counts: Counter[_Key] = Counter()
        self._made: dict[int, places.Trail | None] = {}
        self._models: dict[int, Any] = {}
        self._last = -1

    def enter(self, node: Node) -> None:
        """The backward of a node begins."""
        self.node = node

    def before(self, run: Run) -> None:
        """An operator is about to run: note the line, if a node of the graph was made for it."""
        self.draws.follow(run, self.here)
        self.mark()

    def mark(self) -> None:
        """Note the line that runs now for the nodes of the graph that it has made."""
        made = torch._C._autograd._get_sequence_nr() - 1  # noqa: SLF001
        if made != self._last and torch.is_grad_enabled():
            here = self.here()
            # An operator in place makes a node for the copy that it keeps as well.
            for each in range(max(self._last + 1, made - _NODES), made + 1):
                self._made[each] = here
            self._last = made

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
        return self._made.get(self.node._sequence_nr())  # noqa: SLF001

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
        counted: Counter[tuple[str, str, str, Judgement, Where | None]] = Counter()
        for key, count in self._counts.items():
            place = where(key.trail, self.models)
            counted[key.operator, key.node, key.direction, key.judgement, place] += count
        for (operator, node, direction, judgement, place), count in counted.items():
            yield finding(operator, node, direction, judgement, place)._replace(times=count)


def where(trail: places.Trail | None, models: Iterable[Any] = ()) -> Where | None:
    """A place as plain data.

    A checkpoint calls a part of a model by itself; its path is that in one of the models.
    """
    if trail is None:
        return None
    place = trail.resolve()
    for model in models:
        if trail.modules and model is not trail.modules[0]:
            resolved = trail._replace(modules=(model, trail.modules[-1])).resolve()
            place = resolved if resolved.module else place
    return Where(place.filename, place.line, place.function, place.module, place.kind)


def finding(
    operator: str, node: str, direction: str, judgement: Judgement, place: Where | None
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
