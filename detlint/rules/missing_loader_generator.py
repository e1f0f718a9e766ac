"""DET202 missing-loader-generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.guard_calls import with_guard
from detlint.analysis.random_orders import drawing
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from detlint.finding import Edit


_SEEDING = frozenset({"torch.manual_seed", "torch.random.manual_seed"})


def _is_line(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine)


class MissingLoaderGenerator(Rule):
    """A shuffling ``DataLoader`` without a ``generator`` draws its order from torch's global
    generator, as ``RandomSampler`` and ``random_split`` do. The same seed then gives the same
    order only if the same number of values was drawn before: one layer more, one sample image
    shown, a different weight initialisation, and the run sees its data in another order.
    A generator of its own ties the order to a seed, and to nothing else.

    It is off by default: a run that is repeated exactly, with its seed set, repeats the order
    too. Silent where a ``sampler`` or ``batch_sampler`` is given, where ``shuffle`` is not
    known to be true, and on calls with ``**kwargs``.

    Fix safety: unsafe. The order becomes another one. The fix writes the seed 0, which a
    person should replace by the seed of the run, or by a name: ``guard.generator("train")``.
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
            return with_guard(self.module, self.module.replace(given, made))
        return with_guard(self.module, self.module.add_argument(call, f"generator={made}"))
