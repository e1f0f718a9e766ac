"""DET206 sampler-epoch."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.distributed_samplers import (
    evaluates,
    has_unknown_base,
    shuffling_sampler,
)
from detlint.analysis.epochs import Epochs
from detlint.analysis.reads import Reads
from detlint.analysis.travels import Travels
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.program import Program
    from detlint.finding import Finding
    from detlint.settings import Settings

_SEED = 4
# They run the epochs, or call set_epoch from hooks of their own.
_LIBRARIES = (
    *("lightning", "pytorch_lightning", "lightning_fabric", "accelerate", "ignite", "composer"),
    *("fastai", "catalyst", "mmengine", "mmcv"),
)
_DRIVERS = re.compile(rf"^[ \t]*(?:from|import)[ \t]+(?:{'|'.join(_LIBRARIES)})\b", re.MULTILINE)
# Of a program that has a loop of its own, these may take the loader apart all the same.
_TAKING = ("colossalai", "horovod", "opacus", "ray")


_ADVICE = "call its set_epoch(epoch) at the start of each epoch"


class SamplerEpoch(Rule):
    """Why runs differ: A `DistributedSampler` shuffles with a generator that it seeds from its
    `seed` and its epoch. The epoch is 0 until `set_epoch` is called, so without that every epoch
    repeats one order. The run repeats, but it is not the run that `shuffle=True` asks for.

    Reported:
    - a shuffling sampler in a file that is seen to loop over epochs and never calls `set_epoch`
    - a sampler made in one file for a loop over epochs in another, in a program without `set_epoch`

    Not reported:
    - `shuffle=False`, or a value that is not known
    - a sampler or loader that is passed to code that is not seen
    - data that is evaluated on
    - programs in which Lightning, Accelerate, Ignite or the like run the epochs

    What to do: Call `sampler.set_epoch(epoch)` at the start of each epoch.
    """

    code = "DET206"
    summary = "a shuffling DistributedSampler is never told the epoch"
    triggers = ("DistributedSampler", "StatefulDistributedSampler")
    needs = ("epoch", "Epoch", " ep ")
    silencers = ("set_epoch",)
    scope = "module"
    source = (
        "https://docs.pytorch.org/docs/stable/data.html"
        "#torch.utils.data.distributed.DistributedSampler"
    )
    confidence = Confidence.LIKELY
    examples = (
        Example(
            bad="""
                from torch.utils.data import DataLoader, DistributedSampler

                sampler = DistributedSampler(dataset)  # DET206
                loader = DataLoader(dataset, batch_size=32, sampler=sampler)
                for epoch in range(10):
                    for batch in loader:
                        step(batch)
            """,
            good="""
                from torch.utils.data import DataLoader, DistributedSampler

                sampler = DistributedSampler(dataset)
                loader = DataLoader(dataset, batch_size=32, sampler=sampler)
                for epoch in range(10):
                    sampler.set_epoch(epoch)
                    for batch in loader:
                        step(batch)
            """,
        ),
    )

    def visit_Call(self, node: cst.Call) -> None:
        kind = shuffling_sampler(self.module, node)
        if not kind or self._is_driven:
            return
        travels = Travels(self.module, self._reads, node)
        if travels.escapes or not travels.loops or self._is_inherited(travels):
            return
        if any(map(evaluates, travels.names)):
            return
        epochs = Epochs(self.module, travels.own)
        found = [epochs.around(loop) for loop in travels.loops]
        around = next(filter(None, found), None)
        if around is None or epochs.hands_out_self(around) or self._is_made_anew(node, epochs):
            return
        self.report(node, _message(kind), advice=_ADVICE)

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        """A sampler made in one file for a loop over epochs in another."""
        if program.imports(*_LIBRARIES, *_TAKING):
            return
        made = next(program.facts("samplers"), None)
        if made is None or program.has("tells"):
            return
        loops = list(program.facts("rounds"))
        apart = all(each.path != made.path for each in loops)
        if loops and apart and program.has("trains", "torch"):
            shown = program.shown(loops[0])
            where = program.where(made)
            told = f"{program.title} loops over epochs: {shown}"
            message = f"{_message(made.fact.what, where)}, and {told}"
            yield program.finding(cls, made, message, _ADVICE)

    def _is_made_anew(self, call: cst.Call, epochs: Epochs) -> bool:
        """Whether each epoch builds a sampler with a seed that may be its own."""
        seed = self.module.argument(call, "seed", _SEED)
        if seed is None or isinstance(self.module.literal(seed), int):
            return False
        return epochs.around(call) is not None

    def _is_inherited(self, travels: Travels) -> bool:
        """Whether a class that holds the loader has a base out of sight, which may tell it."""
        owners = {self.module.enclosing_class(loop) for loop in travels.loops}
        return any(has_unknown_base(self.module, each) for each in owners if each is not None)

    @cached_property
    def _is_driven(self) -> bool:
        return _DRIVERS.search(self.module.source.text) is not None

    @cached_property
    def _reads(self) -> Reads:
        return Reads(self.module)


def _message(kind: str, where: str = "") -> str:
    which = f"the {kind}{where}" if where else f"this {kind}"
    return f"nothing calls set_epoch on {which}: it shuffles to the same order in every epoch"
