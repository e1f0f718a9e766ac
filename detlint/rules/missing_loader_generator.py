"""DET202 missing-loader-generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.random_orders import drawing
from detlint.insertions import with_import
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.finding import Edit


_SEEDING = frozenset({"torch.manual_seed", "torch.random.manual_seed"})


def _is_line(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine)


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
    confidence = Confidence.LIKELY
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

    def visit_Call(self, node: cst.Call) -> None:
        found = drawing(self.module, node)
        if found is None or self._is_seeded_right_before(node):
            return
        self.report(
            node,
            f"{found.name} has no generator: its {found.drawn} depends on how many numbers "
            "were drawn before",
            advice="pass generator=guard.generator(seed), or a torch.Generator with a seed",
            edits=self._fix(node, self.module.argument(node, "generator", found.position)),
            safe=False,
        )

    def _is_seeded_right_before(self, call: cst.Call) -> bool:
        """Whether the statement above seeds torch: ``torch.manual_seed(0)``."""
        line = next((each for each in self.module.ancestors(call) if _is_line(each)), None)
        above = self.module.tree.before(line) if line is not None else None
        small = above.body[0] if isinstance(above, cst.SimpleStatementLine) else None
        value = small.value if isinstance(small, cst.Expr) else None
        return self.module.called(value) in _SEEDING

    def _fix(self, call: cst.Call, given: cst.BaseExpression | None) -> tuple[Edit, ...]:
        made = "guard.generator(0)"
        if given is not None:
            return with_import(self.module.source, "guard", self.module.replace(given, made))
        edit = self.module.add_argument(call, f"generator={made}")
        return with_import(self.module.source, "guard", edit)
