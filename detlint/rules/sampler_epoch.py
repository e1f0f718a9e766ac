"""DET206 sampler-epoch."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.loops.epochs import Epochs
from detlint.dataflow.randomness.samplers import SEED, Travel, is_inherited, shuffling
from detlint.models.names import evaluates
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Op
    from detlint.finding import Finding
    from detlint.settings import Settings

# They run the epochs, or call set_epoch from hooks of their own.
_LIBRARIES = (
    *("lightning", "pytorch_lightning", "lightning_fabric", "accelerate", "ignite", "composer"),
    *("fastai", "catalyst", "mmengine", "mmcv"),
)
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
    source = (
        "https://docs.pytorch.org/docs/stable/data.html"
        "#torch.utils.data.distributed.DistributedSampler"
    )
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

    def examine(self, offsets: Sequence[int]) -> None:
        if any(map(self._imports, _LIBRARIES)):
            return
        for op in self.unit.ops_at(offsets):
            kind = shuffling(op)
            if kind and self._is_never_told(op):
                self.report(op.node, _message(kind), advice=_ADVICE)

    def _imports(self, library: str) -> bool:
        names = (name for bound in self.unit.imported.values() for name in bound)
        return any(each.partition(".")[0] == library for each in names)

    def _is_never_told(self, call: Op) -> bool:
        """Whether a sampler is seen to run in several epochs, and nothing else gets hold of it."""
        travel = Travel(self.unit)
        if not travel.stays(call) or not travel.loops or any(map(evaluates, travel.names)):
            return False
        owners = {each.function.class_name for each in travel.loops}
        if any(is_inherited(self.unit, owner) for owner in owners):
            return False
        around = next(filter(None, map(self._epochs.around, travel.loops)), None)
        if around is None or self._epochs.hands_out_self(around):
            return False
        return not self._is_made_anew(call)

    def _is_made_anew(self, call: Op) -> bool:
        """Whether each epoch builds a sampler with a seed that may be its own."""
        seed = call.given("seed", SEED)
        if seed is None or isinstance(self.unit.values.constant(seed), int):
            return False
        return self._epochs.around(call) is not None

    @cached_property
    def _epochs(self) -> Epochs:
        return Epochs(self.unit.callers)

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


def _message(kind: str, where: str = "") -> str:
    which = f"the {kind}{where}" if where else f"this {kind}"
    return f"nothing calls set_epoch on {which}: it shuffles to the same order in every epoch"
