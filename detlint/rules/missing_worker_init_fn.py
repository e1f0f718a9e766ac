"""DET201 missing-worker-init-fn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.loaders import Loader, Loaders
from detlint.dataflow.origins import Origins
from detlint.dataflow.workers import Draw, Workers
from detlint.insertions import with_import
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.finding import Edit

_SEEDS_NUMPY = (1, 9)
_LONGEST = 50
_CURE = "worker_init_fn=guard.seed_worker"
_OWN = "pass a worker_init_fn that seeds it from torch.utils.data.get_worker_info().seed"


class MissingWorkerInitFn(Rule):
    """Why runs differ: Each worker of a `DataLoader` is a process with its own copy of the dataset.
    In it, torch seeds `random`, torch and, since 1.9, NumPy's global generator. It seeds no
    generator object that the dataset holds: each worker draws the same numbers from its copy. It
    seeds no other library either.

    Reported:
    - *certain*: the dataset's class is seen, and draws in a worker from a generator object that it
      holds
    - *certain*: the class is seen, and draws in a worker from a library that torch does not seed
    - *likely*: the class is not seen, and the loader shuffles

    Lowers the confidence:
    - the class is not seen, and the loader does not shuffle: reported as *possible*

    Not reported:
    - a dataset that draws nothing
    - one that draws only from `random`, torch and NumPy's global generator
    - a loader with a `worker_init_fn`, or without workers

    What to do: Ask for the generator in the worker: `guard.generator("augmentation")` in
    `__getitem__`. If the dataset holds such a generator, pass `worker_init_fn=guard.seed_worker`,
    which starts it anew in a forked worker. For other generators, pass a function that seeds them
    from `torch.utils.data.get_worker_info().seed`.

    Fix safety: unsafe. `guard.seed_worker` changes the numbers that the workers draw. It does not
    reach generator objects of another kind.
    """

    code = "DET201"
    summary = "a DataLoader with workers and no worker_init_fn"
    # The last three lie where a subclass is defined; the first is at the calls themselves.
    triggers = ("num_workers", "worker_init_fn", "DataLoader", "StatefulDataLoader")
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader"
    shown = "CPU"
    crosses_files = True
    examples = (
        Example(
            bad="""
                from torch.utils.data import DataLoader

                loader = DataLoader(dataset, batch_size=32, num_workers=4)  # DET201
            """,
            fixed="""
                from torch.utils.data import DataLoader
                import guard

                loader = DataLoader(dataset, batch_size=32, num_workers=4, worker_init_fn=guard.seed_worker)
            """,  # noqa: E501
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for loader in Loaders(self.unit, Origins(self.others.find if self.others else None)).near(offsets):
            given = loader.given("worker_init_fn")
            absent = given is None or (given.code == "const" and given.name is None)
            if absent and loader.has_workers and not loader.unpacks and not _is_set_later(loader):
                self._judge(loader)

    def _judge(self, loader: Loader) -> None:
        origins = Origins(self.others.find if self.others else None)
        workers = Workers(origins, numpy=self.settings.target_torch < _SEEDS_NUMPY)
        draw = next(self._draws(loader, workers), None)
        if draw is not None:
            self._tell(loader, draw)
        elif origins.is_cut:  # it may turn out to be certain
            self._tell_unseen(loader, Confidence.CERTAIN)
        elif workers.is_blind:
            self._tell_unseen(loader, Confidence.POSSIBLE)

    def _draws(self, loader: Loader, workers: Workers) -> Iterator[Draw]:
        data, collate = loader.given("dataset"), loader.given("collate_fn")
        found = [workers.of_dataset(data)] if data is not None else []
        if collate is not None:
            found.append(workers.of_callable(collate, None))
        # What a data set keeps on itself is told where it draws, as DET207.
        return (draw for draws in found for draw in draws if not draw.field)

    def _tell(self, loader: Loader, draw: Draw) -> None:
        cured = draw.is_numpys or draw.kind == "guard"
        left = "but not NumPy" if draw.is_numpys else f"but not {_left(draw)}"
        self.report(
            loader.node,
            f"{loader.name} has no worker_init_fn, and its workers draw by {self._shown(draw)}: "
            f"{self._seeded()}, {left}",
            advice=f"pass {_CURE}" if cured else _advice(draw),
            edits=self._fix(loader) if cured else (),
            safe=False,
            confidence=Confidence.CERTAIN if draw.kind or draw.is_global else Confidence.LIKELY,
        )

    def _seeded(self) -> str:
        """What torch does for a worker."""
        if self.settings.target_torch < _SEEDS_NUMPY:
            return "before 1.9 torch seeds random and torch in a worker"
        return "in a worker torch seeds random, torch and NumPy's global generator"

    def _tell_unseen(self, loader: Loader, confidence: Confidence) -> None:
        self.report(
            loader.node,
            f"{loader.name} has no worker_init_fn, and what its workers draw is not to be seen: "
            f"{self._seeded()}, but no generator objects and no other libraries",
            advice=f"pass {_CURE}, or a function that seeds the rest",
            edits=self._fix(loader),
            safe=False,
            confidence=confidence,
        )

    def _shown(self, draw: Draw) -> str:
        """The call and its place."""
        unit = draw.op.function.unit
        start, end = unit.span(draw.op.node)
        text = " ".join(unit.source.text[start:end].split())
        short = text if len(text) <= _LONGEST else f"{text.partition('(')[0]}(…)"
        row, _ = unit.source.location(start)
        where = f"line {row}" if unit is self.unit else f"{self.others.shown(unit)}:{row}"
        return f"`{short}` ({where})"

    def _fix(self, loader: Loader) -> tuple[Edit, ...]:
        given = loader.given("worker_init_fn")
        if given is not None:
            edit = self.unit.replace(given.node, "guard.seed_worker")
        else:
            edit = self.unit.add_argument(loader.node, _CURE)
        return with_import(self.unit.source, "guard", edit)


def _left(draw: Draw) -> str:
    """What torch leaves to the user."""
    if draw.kind:
        return f"this generator of {draw.kind}"
    return f"the generators of {draw.maker.partition('.')[0]}"


def _advice(draw: Draw) -> str:
    if draw.kind:
        return f'draw from guard.generator("name") and pass {_CURE}, or {_OWN}'
    return _OWN


def _is_set_later(loader: Loader) -> bool:
    """Whether the function assigns ``loader.worker_init_fn``."""
    return bool(loader.call.function.stores.get("worker_init_fn"))
