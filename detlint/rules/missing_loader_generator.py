"""DET202 missing-loader-generator."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.guard_calls import with_guard
from detlint.analysis.loaders import TORCH, is_loader
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from detlint.finding import Edit


class _Drawing(NamedTuple):
    """A call that draws an order: what it is called, what it draws, where its generator goes."""

    name: str
    drawn: str
    position: int | None


# Without the module: torch.utils.data has each of them under several.
_DRAWING = {
    "RandomSampler": _Drawing("RandomSampler()", "order", 3),
    "WeightedRandomSampler": _Drawing("WeightedRandomSampler()", "choice", 3),
    "SubsetRandomSampler": _Drawing("SubsetRandomSampler()", "order", 1),
    "random_split": _Drawing("random_split()", "split", 2),
}
_MODULES = ("torch.utils.data", "torch.utils.data.sampler", "torch.utils.data.dataset")
# Their places in the signature of torch's DataLoader.
_SHUFFLE, _SAMPLER, _BATCH_SAMPLER, _GENERATOR = 2, 3, 4, 12
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
        drawing = self._drawing(node)
        if drawing is None or self.module.has_unpacking(node):
            return
        given = self.module.argument(node, "generator", drawing.position)
        if given is not None and self.module.literal(given) is not None:
            return
        if self._is_seeded_right_before(node):
            return
        self.report(
            node,
            f"{drawing.name} has no generator: its {drawing.drawn} depends on how many numbers "
            "were drawn before",
            advice="pass generator=guard.generator(seed), or a torch.Generator with a seed",
            edits=self._fix(node, given),
            safe=False,
        )

    def _is_seeded_right_before(self, call: cst.Call) -> bool:
        """Whether the statement above seeds torch: ``torch.manual_seed(0)``."""
        line = next((each for each in self.module.ancestors(call) if _is_line(each)), None)
        block = self.module.parent(line) if line is not None else None
        body = list(block.body) if isinstance(block, (cst.IndentedBlock, cst.Module)) else []
        above = next((one for one, other in pairwise(body) if other is line), None)
        small = above.body[0] if isinstance(above, cst.SimpleStatementLine) else None
        value = small.value if isinstance(small, cst.Expr) else None
        return self.module.called(value) in _SEEDING

    def _drawing(self, call: cst.Call) -> _Drawing | None:
        name = self.module.called(call)
        if name is None:
            return None
        module, _, last = name.rpartition(".")
        if module in _MODULES and last in _DRAWING:
            return _DRAWING[last]
        if is_loader(name) and self._shuffles(call, plain=name in TORCH):
            position = _GENERATOR if name in TORCH else None
            return _Drawing(f"{last}(shuffle=True)", "order", position)
        return None

    def _shuffles(self, call: cst.Call, *, plain: bool) -> bool:
        """Whether a loader certainly draws an order itself."""

        def value(keyword: str, position: int) -> cst.BaseExpression | None:
            return self.module.argument(call, keyword, position if plain else None)

        samplers = (value("sampler", _SAMPLER), value("batch_sampler", _BATCH_SAMPLER))
        if any(each is not None and self.module.literal(each) is not None for each in samplers):
            return False
        shuffle = value("shuffle", _SHUFFLE)
        return shuffle is not None and self.module.literal(shuffle) is True

    def _fix(self, call: cst.Call, given: cst.BaseExpression | None) -> tuple[Edit, ...]:
        made = "guard.generator(0)"
        if given is not None:
            return with_guard(self.module, self.module.replace(given, made))
        return with_guard(self.module, self.module.add_argument(call, f"generator={made}"))
