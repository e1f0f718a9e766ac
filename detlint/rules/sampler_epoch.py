"""DET206 sampler-epoch."""

from __future__ import annotations

import re
from functools import cached_property

from detlint.analysis.epochs import Epochs
from detlint.analysis.reads import Reads
from detlint.analysis.seeding import words_of
from detlint.analysis.travels import Travels
from detlint.analysis.uses import words
from detlint.rule import Example, Rule, cst

_SAMPLERS = re.compile(
    r"torch\.utils\.data\.(?:distributed\.)?DistributedSampler"
    r"|torchdata\.stateful_dataloader\.sampler\.StatefulDistributedSampler"
)
_SHUFFLE, _SEED = 3, 4
_EVALUATION = words("dev eval evaluation infer inference predict test testing val valid validation")
# They run the epochs, or call set_epoch from hooks of their own.
_DRIVERS = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:lightning|pytorch_lightning|lightning_fabric|accelerate|ignite"
    r"|composer|fastai|catalyst|mmengine|mmcv)\b",
    re.MULTILINE,
)
_HARMLESS_BASES = ("builtins.object", "abc.ABC", "torch.nn.Module", "typing.Generic")


class SamplerEpoch(Rule):
    """A ``DistributedSampler`` shuffles with a generator that it seeds from its ``seed`` and
    its epoch, which is 0 until ``set_epoch`` says otherwise. Without that call it gives the
    same order in every epoch: the run repeats, but it is not the one that ``shuffle=True`` asks
    for, and one that does call it, or runs on a single process with ``shuffle=True``, is
    trained on other batches.

    It judges one file, and only where it sees all: the sampler, the loop over epochs, the
    loop over the loader inside it, and every place to which sampler and loader go. Silent with
    ``shuffle=False`` or a value that is not known, for data that is evaluated on, in files
    that mention ``set_epoch`` at all, and where Lightning, Accelerate, Ignite or the like
    run the epochs.
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
        name = self.module.called(node)
        if name is None or not _SAMPLERS.fullmatch(name) or self._is_driven:
            return
        if not self._shuffles(node) or self._evaluates(node):
            return
        travels = Travels(self.module, self._reads, node)
        if travels.escapes or not travels.loops or self._is_inherited(travels):
            return
        if any(map(_evaluates, travels.names)):
            return
        epochs = Epochs(self.module, travels.own)
        found = [epochs.around(loop) for loop in travels.loops]
        around = next(filter(None, found), None)
        if around is None or epochs.hands_out_self(around) or self._is_made_anew(node, epochs):
            return
        self.report(
            node,
            f"nothing calls set_epoch on this {name.rpartition('.')[2]}: it shuffles to the same "
            "order in every epoch",
            advice="call its set_epoch(epoch) at the start of each epoch",
        )

    def _shuffles(self, call: cst.Call) -> bool:
        if self.module.has_unpacking(call):
            return False
        shuffle = self.module.argument(call, "shuffle", _SHUFFLE)
        return shuffle is None or self.module.literal(shuffle) is True

    def _evaluates(self, call: cst.Call) -> bool:
        """``DistributedSampler(val_dataset)``."""
        data = self.module.argument(call, "dataset", 0)
        named = self.module.tree.descendants(data) if data is not None else []
        return any(_evaluates(each.value) for each in named if isinstance(each, cst.Name))

    def _is_made_anew(self, call: cst.Call, epochs: Epochs) -> bool:
        """Whether each epoch builds a sampler with a seed that may be its own."""
        seed = self.module.argument(call, "seed", _SEED)
        if seed is None or isinstance(self.module.literal(seed), int):
            return False
        return epochs.around(call) is not None

    def _is_inherited(self, travels: Travels) -> bool:
        """Whether a class that holds the loader has a base out of sight, which may tell it."""
        owners = {self.module.enclosing_class(loop) for loop in travels.loops}
        for owner in owners - {None}:
            for base in owner.bases if owner is not None else ():
                known = isinstance(self.module.names.definition(base.value), cst.ClassDef)
                if not known and self.module.qualified_name(base.value) not in _HARMLESS_BASES:
                    return True
        return False

    @cached_property
    def _is_driven(self) -> bool:
        return _DRIVERS.search(self.module.source.text) is not None

    @cached_property
    def _reads(self) -> Reads:
        return Reads(self.module)


def _evaluates(name: str) -> bool:
    return not _EVALUATION.isdisjoint(words_of(name))
