"""DET202 missing-loader-generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.randomness.loaders import drawing
from detlint.fixes.insertions import with_import
from detlint.models.randomness import SEEDING_TORCH
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.ir import Op
    from detlint.finding import Edit
    from detlint.models.loading import Drawing


class MissingLoaderGenerator(Rule):
    """Why runs differ: A shuffling `DataLoader` without a `generator` draws its order from torch's
    global generator. So do `RandomSampler` and `random_split`. One seed gives one order only if as
    many numbers were drawn before. One more layer, or one sample image shown, and the data comes in
    another order.

    Reported:
    - `DataLoader(shuffle=True)` without `generator`
    - `RandomSampler`, `WeightedRandomSampler`, `SubsetRandomSampler` and `random_split` without
      `generator`

    Not reported:
    - by default, none of this: a run that is repeated exactly, with its seed, repeats the order too
    - a loader with a `sampler` or `batch_sampler`, or whose `shuffle` is not known to be true
    - calls with `**kwargs`

    What to do: Tie the order to a seed of its own: `generator=guard.generator(seed)`. By name, it
    follows the seed of the run: `generator=guard.generator("train")`.

    Fix safety: unsafe. The order becomes another one. It writes the seed 0, to be replaced by the
    seed of the run or by a name.
    """

    code = "DET202"
    default = False
    summary = "a random order is drawn from torch's global generator"
    triggers = (
        "shuffle",
        "DataLoader",
        "StatefulDataLoader",
        "RandomSampler",
        "WeightedRandomSampler",
        "SubsetRandomSampler",
        "random_split",
    )
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader"
    crosses_files = True  # the project may have a guard of its own
    examples = (
        Example(
            bad="""
                from torch.utils.data import DataLoader

                loader = DataLoader(dataset, batch_size=32, shuffle=True)  # DET202
            """,
            fixed="""
                from torch.utils.data import DataLoader
                import guard

                loader = DataLoader(dataset, batch_size=32, shuffle=True, generator=guard.generator(0))
            """,  # noqa: E501
        ),
        Example(
            bad="""
                from torch.utils.data import random_split

                train, held_out = random_split(dataset, [0.9, 0.1])  # DET202
            """,
            fixed="""
                from torch.utils.data import random_split
                import guard

                train, held_out = random_split(dataset, [0.9, 0.1], generator=guard.generator(0))
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            found = drawing(op)
            if found is not None and not self._is_seeded_right_before(op):
                self._tell(op, *found)

    def _is_seeded_right_before(self, call: Op) -> bool:
        """Whether torch is seeded, and nothing runs between that may draw."""
        around = set(call.region.around())
        for place in range(call.place - 1, -1, -1):
            op = call.function.ops[place]
            names = self.unit.values.called(op)
            if not SEEDING_TORCH.isdisjoint(names):
                return op.region in around
            if op.code == "call" and not all(
                each.startswith("builtins.") for each in names or [""]
            ):
                return False
        return False

    def _tell(self, call: Op, found: Drawing, given: Op | None) -> None:
        own = self.has_own_guard
        seeded = "torch.Generator with a seed"
        self.report(
            call.node,
            f"{found.name} has no generator: its {found.drawn} depends on how many numbers "
            "were drawn before",
            advice=f"pass {'' if own else 'generator=guard.generator(seed), or '}a {seeded}",
            edits=() if own else self._fix(call, given),
            safe=False,
        )

    def _fix(self, call: Op, given: Op | None) -> tuple[Edit, ...]:
        made = "guard.generator(0)"
        if given is not None:
            edit = self.unit.replace(given.node, made)
        else:
            edit = self.unit.add_argument(call.call_node, f"generator={made}")
        return with_import(self.unit.source, "guard", edit)
