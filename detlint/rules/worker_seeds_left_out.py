"""DET209 worker-seeds-left-out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.randomness.seeding import drawn_from
from detlint.finding import Edit
from detlint.index.facts import IDLE
from detlint.models import loading
from detlint.models.settings import LIGHTNING
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.fact_base import Located
    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Op
    from detlint.dataflow.origins import Made
    from detlint.finding import Finding
    from detlint.settings import Settings

_DRAWN = ("random", "numpy", "torch")
_LOADERS = frozenset(
    f"torchdata.stateful_dataloader.{module}StatefulDataLoader"
    for module in ("", "stateful_dataloader.")
)
_STATELESS = frozenset(
    f"torch.utils.data.{module}{name}Sampler"
    for module in ("", "sampler.")
    for name in ("Random", "WeightedRandom", "SubsetRandom")
)
_RANKS_ADVICE = "pass workers=True: Lightning then mixes the rank into the seed of each worker"
_STATE_ADVICE = (
    "pass shuffle=True, with generator=… if it is to have one of its own, or a sampler with "
    "state_dict() and load_state_dict()"
)


class WorkerSeedsLeftOut(Rule):
    """Why runs differ: A resumed run goes on in another order if the state leaves out a sampler. A
    `StatefulDataLoader` of torchdata saves its own sampler, generator included, but none of
    torch's samplers. Lightning's `seed_everything(0)` seeds the workers of all ranks alike. Runs
    then repeat each other, but each rank adds the same noise.

    Reported:
    - a program that calls `seed_everything` without `workers`, trains with several devices or a
      distributed strategy, and draws in the workers of a loader
    - `StatefulDataLoader` with torch's `RandomSampler`, `WeightedRandomSampler` or
      `SubsetRandomSampler`, or a sampler of the file that draws and has no `state_dict`

    Not reported:
    - `workers=False`, which someone has decided, and `Fabric.seed_everything`, which gives it
    - a number of devices that cannot be seen, and one device
    - samplers of torchdata, and `shuffle=True`, whose state is saved

    What to do: Pass `workers=True`, which Lightning takes since 1.3: `L.seed_everything(0,
    workers=True)`. Let the loader shuffle, or give the sampler `state_dict` and `load_state_dict`.

    Fix safety: unsafe. With `workers=True`, workers draw other numbers than before.
    """

    code = "DET209"
    summary = "a seed or a state leaves out workers or samplers that draw"
    triggers = ("StatefulDataLoader(",)
    source = "https://github.com/Lightning-AI/pytorch-lightning/pull/6960"
    examples = (
        Example(
            bad="""
                import lightning as L
                import numpy as np
                from torch.utils.data import DataLoader, Dataset

                class Noisy(Dataset):
                    def __len__(self):
                        return 100

                    def __getitem__(self, index):
                        return index + np.random.rand()

                if __name__ == "__main__":
                    L.seed_everything(0)  # DET209
                    trainer = L.Trainer(devices=2, strategy="ddp")
                    trainer.fit(model, DataLoader(Noisy(), num_workers=4))
            """,
            fixed="""
                import lightning as L
                import numpy as np
                from torch.utils.data import DataLoader, Dataset

                class Noisy(Dataset):
                    def __len__(self):
                        return 100

                    def __getitem__(self, index):
                        return index + np.random.rand()

                if __name__ == "__main__":
                    L.seed_everything(0, workers=True)
                    trainer = L.Trainer(devices=2, strategy="ddp")
                    trainer.fit(model, DataLoader(Noisy(), num_workers=4))
            """,
        ),
        Example(
            bad="""
                from torch.utils.data import RandomSampler
                from torchdata.stateful_dataloader import StatefulDataLoader

                loader = StatefulDataLoader(rows, sampler=RandomSampler(rows))  # DET209
            """,
            good="""
                from torchdata.stateful_dataloader import StatefulDataLoader

                loader = StatefulDataLoader(rows, shuffle=True)
            """,
        ),
    )

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        """A program of Lightning whose workers draw the same in each rank."""
        if not program.imports(*LIGHTNING) or program.has("worker_seeds", "given"):
            return
        seeding = program.first("worker_seeds", "left out")
        if seeding is None or program.first("ranks") is None:
            return
        drawn = next(_drawn_by_workers(program), None)
        if drawn is not None:
            message = (
                f"{program.shown(seeding)} seeds the workers of all ranks alike: "
                f"{program.shown(drawn)} draws the same numbers in each rank"
            )
            yield program.finding(cls, seeding, message, _RANKS_ADVICE, _passed(program, seeding))

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            if not _LOADERS.isdisjoint(self.unit.values.called(op)):
                for name in ("sampler", "batch_sampler"):
                    given = op.given(name, loading.PLACES[name])
                    sampler = _stateless(given) if given is not None else ""
                    if sampler:
                        self._tell(op, sampler)

    def _tell(self, loader: Op, sampler: str) -> None:
        self.report(
            loader.node,
            f"the state of this loader leaves out what {sampler} has drawn: "
            "a resumed run goes on in another order",
            advice=_STATE_ADVICE,
        )


def _stateless(given: Op) -> str:
    """The class of a sampler that draws and has no state to save; "" for any other."""
    for made in given.origins:
        if made is None or not made.called:
            continue
        if not loading.BATCHES.isdisjoint(made.names):
            inner = made.op.given("sampler", 0)
            return _stateless(inner) if inner is not None else ""
        name = next(filter(_STATELESS.__contains__, made.names), "")
        if name:
            return name.rpartition(".")[2]
        if made.place is not None and _draws_without_state(made):
            return made.place.name
    return ""


def _draws_without_state(made: Made) -> bool:
    """The same of a class of the project, whose bases all are torch's."""
    origins = made.op.function.unit.origins
    bases = origins.foreign(made)
    if not bases or not all(each.startswith("torch.utils.data.") for each in bases):
        return False
    if origins.method(made, "state_dict") is not None:
        return False
    running = (
        function
        for place in origins.lineage(made)
        for function in place.unit.everything_of(place.name)
    )
    return any(drawn_from(op) for function in running for op in function.ops)


def _drawn_by_workers(program: Program) -> Iterator[Located]:
    for library in _DRAWN:
        drawn = (each for each in program.facts("draws", library) if each.fact.doubt < IDLE)
        yield from filter(program.is_in_workers, drawn)


def _passed(program: Program, seeding: Located) -> tuple[Edit, ...]:
    """``workers=True`` at the end of the call, where that is in the program's own file."""
    if seeding.path != program.path:
        return ()
    source, fact = program.source_of(seeding.path), seeding.fact
    end = source.line_starts[fact.end_row - 1] + fact.end_column - 2  # before the bracket
    before = source.text[:end].rstrip()
    comma = "" if before.endswith(("(", ",")) else ", "
    return (Edit(end, end, f"{comma}workers=True"),)
