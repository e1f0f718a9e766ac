"""DET207 copied-generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.randomness.idle_draws import tries_again
from detlint.dataflow.randomness.workers import Workers
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.randomness.workers import Draw


class CopiedGenerator(Rule):
    """Why runs differ: A `DataLoader` gives each worker a copy of the dataset, with the generators
    that it holds. All copies are in one state, so all workers draw the same numbers for different
    samples. Which sample gets which numbers depends on `num_workers`. Workers that start anew for
    each epoch begin again with the same copy.

    Reported:
    - a draw in the methods of a dataset from a generator that it keeps on `self`
    - NumPy's, `random.Random` and `torch.Generator` alike: torch seeds none of them in a worker

    Lowers the confidence:
    - another sample is drawn only where one failed, as in a loop that returns what it could read:
      *possible*

    Not reported:
    - a generator that the class, or a `worker_init_fn` in the file, seeds anew outside `__init__`
    - draws while the dataset is built
    - samplers: they run in the main process

    What to do: Build the generator for each sample, from seed, epoch and index:
    `np.random.default_rng((seed, epoch, index))`. Then the number of workers does not matter. Or
    build it in the worker, from `torch.utils.data.get_worker_info().seed`.
    """

    code = "DET207"
    summary = "a dataset draws from a generator that every worker has a copy of"
    triggers = (
        "default_rng",
        "RandomState(",
        "random.RandomState",
        "random.Generator",
        "random.Random",
        "Random(",
        "torch.Generator",
        "Generator(",
    )
    needs = ("Dataset", "datasets.")
    source = (
        "https://docs.pytorch.org/docs/stable/notes/faq.html"
        "#my-data-loader-workers-return-identical-random-numbers"
    )
    examples = (
        Example(
            bad="""
                import numpy as np
                from torch.utils.data import Dataset

                class Noisy(Dataset):
                    def __init__(self, images, seed):
                        self.images = images
                        self.rng = np.random.default_rng(seed)

                    def __getitem__(self, index):
                        image = self.images[index]
                        return image + self.rng.normal(size=image.shape)  # DET207
            """,
            good="""
                import numpy as np
                from torch.utils.data import Dataset

                class Noisy(Dataset):
                    def __init__(self, images, seed):
                        self.images = images
                        self.seed = seed

                    def __getitem__(self, index):
                        image = self.images[index]
                        rng = np.random.default_rng((self.seed, index))
                        return image + rng.normal(size=image.shape)
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        pieces = map(self.unit.piece_at, offsets)
        near = {each.owner for each in pieces if each is not None and each.owner}
        told: set[object] = set()
        for owner in self.unit.classes if near else ():
            fields: set[str] = set()
            for draw in self._draws(owner, near):
                if draw.op not in told and draw.field not in fields:
                    told.add(draw.op)
                    fields.add(draw.field)
                    self._tell(owner, draw)

    def _draws(self, owner: str, near: set[str]) -> Iterator[Draw]:
        """Draws in a class of data sets, if it or a base of it makes a generator."""
        origins = self.unit.origins
        made = origins.object_of(self.unit, owner)
        if near.isdisjoint(each.name for each in origins.lineage(made)):
            return
        for each in Workers(origins).of_object(made):
            if each.field and each.kind and each.op.function.unit is self.unit:
                yield each

    def _tell(self, owner: str, draw: Draw) -> None:
        self.report(
            draw.op.node,
            f"{owner} draws from self.{draw.field}, a {draw.kind} generator of which every "
            "DataLoader worker has the same copy: what is drawn depends on num_workers",
            advice="build it in the worker from torch.utils.data.get_worker_info().seed, "
            "or for each sample from the index",
            confidence=Confidence.POSSIBLE if tries_again(draw.op) else None,
        )
