"""DET207 copied-generator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.datasets import family, is_self, may_follow_dataset, methods, run_in_workers
from detlint.analysis.kept_generators import BUILDING, kept_generators
from detlint.analysis.uses import words
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterator

# Methods of generators that draw nothing.
_STATE = words(
    """__getstate__ __setstate__ clone_state get_state getstate initial_seed jumped manual_seed seed
    set_state setstate spawn"""
)
_RESEEDING = (
    r"(?:seed|manual_seed|set_?state|__setstate__|spawn|bit_generator)\b|=[^=]|:[^=\n]+=[^=]"
)
# Parameters through which a function is given what to draw from.
_PASSED = frozenset(("generator", "rng", "random_state", "random_generator", "np_random"))


class CopiedGenerator(Rule):
    """Why runs differ: A `DataLoader` gives each worker a copy of the dataset, with the generators
    that it holds. All copies are in one state, so all workers draw the same numbers for different
    samples. Which sample gets which numbers depends on `num_workers`. Workers that start anew for
    each epoch begin again with the same copy.

    Reported:
    - a draw in the methods of a dataset from a generator that it keeps on `self`
    - NumPy's, `random.Random` and `torch.Generator` alike: torch seeds none of them in a worker

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
    scope = "class"
    source = (
        "https://docs.pytorch.org/docs/stable/notes/faq.html"
        "#my-data-loader-workers-return-identical-random-numbers"
    )
    confidence = Confidence.LIKELY
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

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Only below the head of a class that may be a dataset."""
        return may_follow_dataset(text, offset)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        kept = dict(kept_generators(self.module, node))
        classes = family(self.module, node) if kept else []
        if not classes:
            return
        running = list(run_in_workers(self.module, methods(classes)))
        for name, made in kept.items():
            draw = next(self._draws(running, name), None)
            if draw is not None and not self._is_renewed(classes, name):
                self._report(node, name, made, draw)

    def _draws(self, running: list[cst.FunctionDef], name: str) -> Iterator[cst.Call]:
        """``self.rng.random()``, ``torch.randperm(n, generator=self.rng)``."""
        for function in running:
            for each in self.module.tree.descendants(function):
                if not isinstance(each, cst.Call):
                    continue
                func = each.func
                if isinstance(func, cst.Attribute) and self._is_it(func.value, name):
                    if func.attr.value not in _STATE:
                        yield each
                elif any(self._is_passed(argument, name) for argument in each.args):
                    yield each

    def _is_passed(self, argument: cst.Arg, name: str) -> bool:
        keyword = argument.keyword
        named = keyword is not None and keyword.value in _PASSED
        return named and self._is_it(argument.value, name)

    def _is_it(self, node: cst.CSTNode, name: str) -> bool:
        """Whether an expression is the attribute, or a local that stands for it."""
        node = self.module.names.value_of(node)
        return isinstance(node, cst.Attribute) and is_self(node.value) and node.attr.value == name

    def _is_renewed(self, classes: list[cst.ClassDef], name: str) -> bool:
        """Whether anything but the code that builds the dataset assigns or seeds the attribute."""
        text, span = self.module.source.text, self.module.tree.span
        own = [span(each) for each in classes]
        building = [span(function) for each in classes for function in _builders(each)]
        pattern = rf"(?<!\w)(\w+)\.{name}\s*(?:\.\s*)?(?:{_RESEEDING})"
        for match in re.finditer(pattern, text):
            place = match.start()
            # The same name in another class is another attribute.
            if (match[1] != "self" or _holds(own, place)) and not _holds(building, place):
                return True
        return re.search(rf"setattr\([^()]*[\"']{name}[\"']", text) is not None

    def _report(self, owner: cst.ClassDef, name: str, made: str, draw: cst.Call) -> None:
        kind = {"numpy": "NumPy", "torch": "torch", "random": "Python"}[made.partition(".")[0]]
        self.report(
            draw,
            f"{owner.name.value} draws from self.{name}, a {kind} generator of which every "
            "DataLoader worker has the same copy: what is drawn depends on num_workers",
            advice="build it in the worker from torch.utils.data.get_worker_info().seed, "
            "or for each sample from the index",
        )


def _builders(owner: cst.ClassDef) -> Iterator[cst.FunctionDef]:
    for each in owner.body.body:
        if isinstance(each, cst.FunctionDef) and each.name.value in BUILDING:
            yield each


def _holds(spans: list[tuple[int, int]], place: int) -> bool:
    return any(start <= place < end for start, end in spans)
