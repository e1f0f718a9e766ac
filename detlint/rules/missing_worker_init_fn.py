"""DET201 missing-worker-init-fn."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.callers import AllCallers
from detlint.dataflow.origins import Origins
from detlint.dataflow.randomness.loaders import Loader, Loaders
from detlint.dataflow.randomness.workers import Draw, Workers
from detlint.fixes.insertions import with_import
from detlint.models import loading
from detlint.models.settings import SEEDS_NUMPY
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.finding import Edit

_SEEDS_NUMPY = (1, 9)
_LONGEST = 50
_CURE = "worker_init_fn=guard.seed_worker"
_REST = "a function that seeds the rest"
_OWN = "pass a worker_init_fn that seeds it from torch.utils.data.get_worker_info().seed"


class MissingWorkerInitFn(Rule):
    """Why runs differ: Each worker of a `DataLoader` is a process with its own copy of the dataset.
    In it, torch seeds `random`, torch and, since 1.9, NumPy's global generator. It seeds no
    generator object, such as one that a transform holds: each worker draws the same numbers from
    its copy. It seeds no other library either.

    Reported:
    - *certain*: the dataset, a transform that it holds or `collate_fn` draws from a generator
      object that was made before the workers started
    - *certain*: one of them draws from the global generator of TensorFlow, or of NumPy for torch
      below 1.9, which `target-torch` or the project's requirements tell
    - *likely*: a transform of albumentations, imgaug or MONAI, or a `Faker`, which have generators
      of their own

    Lowers the confidence:
    - the dataset's class is not seen, the file is a test, or what loads asks a model for answers:
      reported as *possible*. In published packages, no loader of unseen data that was read drew
      anything else than torch seeds

    Not reported:
    - a dataset that draws nothing but from `random`, torch and NumPy's global generator, as
      albumentations does before 1.4.21, if the project's requirements ask for that
    - a generator that the dataset keeps on `self`: DET207 reports it where it is drawn from
    - a generator that code outside of `__init__` makes anew or seeds
    - a loader with a `worker_init_fn`, or without workers

    What to do: Ask for the generator in the worker: `guard.generator("augmentation")` in
    `__getitem__`. If the dataset holds such a generator, pass `worker_init_fn=guard.seed_worker`,
    which starts it anew in a forked worker. For other generators, pass a function that seeds them
    from `torch.utils.data.get_worker_info().seed`.

    Fix safety: unsafe. `guard.seed_worker` changes the numbers that the workers draw. The fix is
    offered where it reaches the generator, or where the dataset is not seen.
    """

    code = "DET201"
    summary = "a DataLoader with workers and no worker_init_fn"
    triggers = ("num_workers", "DataLoader(")
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader"
    shown = "CPU"
    crosses_files = True
    lowered_by = (*Rule.lowered_by, "test", "inference")
    examples = (
        Example(
            bad="""
                import numpy as np
                from torch.utils.data import DataLoader, Dataset

                class Noise:
                    def __init__(self, seed):
                        self.rng = np.random.default_rng(seed)

                    def __call__(self, image):
                        return image + self.rng.normal(size=image.shape)

                class Images(Dataset):
                    def __init__(self, images):
                        self.images = images
                        self.transform = Noise(0)

                    def __getitem__(self, index):
                        return self.transform(self.images[index])

                def load(images):
                    return DataLoader(Images(images), num_workers=4)  # DET201
            """,
            good="""
                import numpy as np
                from torch.utils.data import DataLoader, Dataset, get_worker_info

                class Noise:
                    def __init__(self, seed):
                        self.rng = np.random.default_rng(seed)

                    def __call__(self, image):
                        return image + self.rng.normal(size=image.shape)

                class Images(Dataset):
                    def __init__(self, images):
                        self.images = images
                        self.transform = Noise(0)

                    def __getitem__(self, index):
                        return self.transform(self.images[index])

                def seed_worker(worker):
                    info = get_worker_info()
                    info.dataset.transform.rng = np.random.default_rng(info.seed)

                def load(images):
                    return DataLoader(Images(images), num_workers=4, worker_init_fn=seed_worker)
            """,
        ),
        Example(
            bad="""
                import guard
                import torch
                from torch.utils.data import DataLoader, Dataset

                class Images(Dataset):
                    def __init__(self, images):
                        self.images = images
                        self.stream = guard.generator("augmentation")

                    def __getitem__(self, index):
                        return self.images[index] + torch.randn(1, generator=self.stream)

                def load(images):
                    return DataLoader(Images(images), num_workers=4)  # DET201
            """,
            fixed="""
                import guard
                import torch
                from torch.utils.data import DataLoader, Dataset

                class Images(Dataset):
                    def __init__(self, images):
                        self.images = images
                        self.stream = guard.generator("augmentation")

                    def __getitem__(self, index):
                        return self.images[index] + torch.randn(1, generator=self.stream)

                def load(images):
                    return DataLoader(Images(images), num_workers=4, worker_init_fn=guard.seed_worker)
            """,  # noqa: E501
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for loader in Loaders(self.unit, self._opened or Origins()).near(offsets):
            given = loader.given("worker_init_fn")
            absent = given is None or given.is_none
            if (
                absent
                and loader.has_workers
                and not loader.call.unpacks
                and not _is_set_later(loader)
            ):
                self._judge(loader)

    @cached_property
    def _opened(self) -> Origins | None:
        """What is followed into other files, once for all loaders: these share much."""
        others = self.others
        return Origins(others.find, AllCallers(others.importing).of) if others else None

    @cached_property
    def _seeds_numpy(self) -> bool:
        """Whether torch seeds NumPy in workers, by what the project asks for, if that is open."""
        older = self.others is not None and self.others.lacks(self.unit, "torch", SEEDS_NUMPY)
        return self.settings.target_torch >= _SEEDS_NUMPY and not older

    def _judge(self, loader: Loader) -> None:
        origins = self._opened or Origins()
        workers = Workers(origins, () if self._seeds_numpy else ("numpy",))
        draw = next(self._draws(loader, workers), None)
        if draw is not None:
            self._tell(loader, draw)
        elif origins.is_cut or workers.is_blind or origins.is_spent:
            self._tell_unseen(loader)
        elif self.others is None and any(self._draws(loader, Workers(origins, ("numpy",)))):
            self.leave(loader.call.call_node)

    def _draws(self, loader: Loader, workers: Workers) -> Iterator[Draw]:
        data, collate = loader.given("dataset"), loader.given("collate_fn")
        found = [workers.of_dataset(data)] if data is not None else []
        if collate is not None:
            found.append(workers.of_callable(collate, None))
        # What a data set keeps on itself is told where it draws, as DET207.
        return (x for draws in found for x in draws if not (x.field or self._is_seeded(x)))

    def _is_seeded(self, draw: Draw) -> bool:
        """Whether the project has a release of a library that draws from what torch seeds."""
        library = draw.maker.partition(".")[0]
        since = loading.SINCE.get(library)
        others = self.others if since and self._seeds_numpy and not draw.kind else None
        return others is not None and others.lacks(self.unit, library, since or "")

    def _tell(self, loader: Loader, draw: Draw) -> None:
        cured = not self.has_own_guard and (draw.is_numpys or draw.kind == "guard")
        left = "but not NumPy" if draw.is_numpys else f"but not {_left(draw)}"
        self.report(
            loader.call.call_node,
            f"{loader.name} has no worker_init_fn, and its workers draw by {self._shown(draw)}: "
            f"{self._seeded()}, {left}",
            advice=f"pass {_CURE}" if cured else self._advice(draw),
            edits=self._fix(loader) if cured else (),
            safe=False,
            confidence=Confidence.CERTAIN if draw.kind or draw.is_global else Confidence.LIKELY,
        )

    def _seeded(self) -> str:
        """What torch does for a worker."""
        if not self._seeds_numpy:
            return "before 1.9 torch seeds random and torch in a worker"
        return "in a worker torch seeds random, torch and NumPy's global generator"

    def _tell_unseen(self, loader: Loader) -> None:
        self.report(
            loader.call.call_node,
            f"{loader.name} has no worker_init_fn, and what its workers draw is not to be seen: "
            f"{self._seeded()}, but no generator object and no other library",
            advice=f"pass {'' if self.has_own_guard else f'{_CURE}, or '}{_REST}",
            edits=self._fix(loader),
            safe=False,
            confidence=Confidence.POSSIBLE,
        )

    def _shown(self, draw: Draw) -> str:
        """The call and its place."""
        unit = draw.op.function.unit
        start, end = unit.span(draw.op.node)
        text = " ".join(unit.source.text[start:end].split())
        short = text if len(text) <= _LONGEST else f"{text.partition('(')[0]}(…)"
        where = unit.source.spoken_place(start)
        if unit is not self.unit and self.others is not None:
            where = f"{self.others.shown(unit)}:{unit.source.location(start)[0]}"
        return f"`{short}` ({where})"

    def _advice(self, draw: Draw) -> str:
        if draw.kind and not self.has_own_guard:
            return f'draw from guard.generator("name") and pass {_CURE}, or {_OWN}'
        return _OWN

    def _fix(self, loader: Loader) -> tuple[Edit, ...]:
        if self.has_own_guard:
            return ()
        given = loader.given("worker_init_fn")
        if given is not None:
            edit = self.unit.replace(given.node, "guard.seed_worker")
        else:
            edit = self.unit.add_argument(loader.call.call_node, _CURE)
        return with_import(self.unit.source, "guard", edit)


def _left(draw: Draw) -> str:
    """What torch leaves to the user."""
    if draw.kind:
        return f"this generator of {draw.kind}"
    library = draw.maker.partition(".")[0]
    since = f" (since {loading.SINCE[library]})" if library in loading.SINCE else ""
    return f"the generators of {library}{since}"


def _is_set_later(loader: Loader) -> bool:
    """Whether the function assigns ``loader.worker_init_fn``."""
    return bool(loader.call.function.stores.get("worker_init_fn"))
