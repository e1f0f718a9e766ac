"""DET101 unseeded-generator."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.fresh_values import gives_fresh
from detlint.analysis.generators import escapes, holder, is_label, is_seeded, is_shared
from detlint.analysis.identifiers import makes_identifiers
from detlint.analysis.seeding import SEED_PARAMETER, fallback, uncommented
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.generators import Holder
    from detlint.finding import Edit

_SYSTEM = frozenset({"random.SystemRandom", "secrets.SystemRandom"})
_NON_DETERMINISTIC = re.compile(
    r"tensorflow(?:\.compat\.v[12])?\.random(?:\.experimental)?\.Generator"
    r"\.from_non_deterministic_state"
)
_LONGEST = 60


class UnseededGenerator(Rule):
    """Why runs differ: A generator object without a seed takes one from the operating system. Its
    numbers differ in each run, and seeding the global generators does not reach it.
    `torch.Generator()` is different: it starts from one fixed seed, whatever `torch.manual_seed`
    was given. Its draws repeat, but no seed of the run changes them.

    Reported:
    - generators and bit generators of NumPy and CuPy without a seed: `default_rng()`,
      `RandomState(None)`
    - `random.Random()`, and `random.SystemRandom()`, which cannot be seeded
    - `torch.Generator()` that is not seeded before it is used
    - `keras.random.SeedGenerator()`, which takes its seed from Python's global `random`

    Not reported:
    - a seed that cannot be seen, as in `default_rng(config.seed)` or `default_rng(**options)`
    - a generator that is seeded later, or gets a saved state
    - one that only makes identifiers, names or ports: those have to differ

    What to do: Pass the seed of the run: `np.random.default_rng(seed)`, `random.Random(seed)`,
    `torch.Generator().manual_seed(seed)`. `guard.generator("name")` gives a `torch.Generator` that
    follows the seed of `guard.enable(seed=0)`.

    Fix safety: unsafe. It writes the seed 0, to be replaced by the seed of the run. Generators of
    one kind then draw the same numbers. A function that only gives a drawn number, a fresh seed,
    has no fix: it would give the same one always.
    """

    code = "DET101"
    summary = "a generator is built without a seed"
    triggers = (
        "default_rng",
        "RandomState(",
        "RandomState)",
        "RandomState as",
        "SeedSequence",
        "PCG64",
        "MT19937",
        "Philox",
        "SFC64",
        "XORWOW",
        "MRG32k3a",
        "Random(",
        "Random)",
        "Random as",
        "SystemRandom",
        "from_non_deterministic_state",
        "SeedGenerator",
        # Not "Generator(", which is in the text of thousands of docstrings.
        ".Generator(",
        "Generator()",
        "Generator(device",
        'Generator("',
        "Generator('",
        "Generator as",
    )
    source = "https://numpy.org/doc/stable/reference/random/generator.html#numpy.random.default_rng"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import random

                import numpy as np

                rng = np.random.default_rng()  # DET101
                shuffler = random.Random(None)  # DET101
            """,
            fixed="""
                import random

                import numpy as np

                rng = np.random.default_rng(0)
                shuffler = random.Random(0)
            """,
        ),
        Example(
            bad="""
                from numpy.random import RandomState

                def augment(image, rng=None):
                    if rng is None:
                        rng = RandomState()  # DET101
                    return image + rng.normal(size=image.shape)
            """,
            fixed="""
                from numpy.random import RandomState

                def augment(image, rng=None):
                    if rng is None:
                        rng = RandomState(0)
                    return image + rng.normal(size=image.shape)
            """,
            good="""
                def augment(image, rng):
                    return image + rng.normal(size=image.shape)
            """,
        ),
        Example(
            bad="""
                import torch

                generator = torch.Generator(device="cuda")  # DET101
                order = torch.randperm(100, generator=generator)
            """,
            fixed="""
                import torch

                generator = torch.Generator(device="cuda").manual_seed(0)
                order = torch.randperm(100, generator=generator)
            """,
        ),
    )

    def visit_Call(self, node: cst.Call) -> None:
        name = self.module.called(node)
        if name is None:
            return
        if name == "torch.Generator":
            self._check_torch(node)
        elif name in SEED_PARAMETER:
            if self._lacks_seed(node, name):
                edits = self._seed_edit(node, name)
                self._check(node, "its seed comes from the operating system", edits)
        elif name in _SYSTEM:
            self._check_system(node)
        elif _NON_DETERMINISTIC.fullmatch(name) and isinstance(node.func, cst.Attribute):
            edits = (
                self.module.replace(node.func.attr, "from_seed"),
                self.module.add_argument(node, "0" if not node.args else "seed=0"),
            )
            self._check(node, "its state comes from the operating system", edits)

    def visit_Arg(self, node: cst.Arg) -> None:
        if node.keyword is None or node.keyword.value != "default_factory":
            return
        name = self.module.qualified_name(node.value)
        if name in SEED_PARAMETER or name in _SYSTEM:
            text = self.module.tree.text(node.value)
            self.report(
                node.value,
                f"`{text}` as a default factory is called without a seed: "
                "each one takes it from the operating system",
                advice="Build the generator from a seed field in `__post_init__`.",
            )

    def _lacks_seed(self, call: cst.Call, name: str) -> bool:
        if self.module.has_unpacking(call):
            return False
        if name.rpartition(".")[2].startswith("Philox") and self.module.argument(call, "key", 2):
            return False
        seed = self.module.argument(call, SEED_PARAMETER[name], 0)
        return seed is None or self._is_none(seed)

    def _is_none(self, node: cst.BaseExpression) -> bool:
        """``None``, or a local of the same function that is."""
        if isinstance(node, cst.Name) and node.value != "None":
            here = self.module.bindings.scope_of(node)
            return node.value in here.bindings and self.module.literal(node) is None
        return self.module.literal(node) is None

    def _seed_edit(self, call: cst.Call, name: str) -> tuple[Edit, ...]:
        seed = self.module.argument(call, SEED_PARAMETER[name], 0)
        if isinstance(seed, cst.Name):
            return (self.module.replace(seed, "0"),) if seed.value == "None" else ()
        keyword = SEED_PARAMETER[name]
        return (self.module.add_argument(call, f"{keyword}=0" if call.args else "0"),)

    def _check(self, call: cst.Call, state: str, edits: tuple[Edit, ...]) -> None:
        """Report a generator of entropy, unless it is seeded afterwards or only names something."""
        held = holder(self.module, call)
        if is_seeded(self._text(held), held) or is_label(self.module, call):
            return
        if is_shared(self.module, held) or makes_identifiers(self.module, held):
            return
        if "SeedGenerator" in self._shown(call):
            state = "its seed is a draw from Python's global `random`"
        missing = fallback(self.module, call)
        advice = f"Require `{missing.subject}`." if missing else "Pass it the seed of the run."
        self._report(call, f"is given no seed: {state}", advice, edits)

    def _check_system(self, call: cst.Call) -> None:
        held = holder(self.module, call)
        if not (is_label(self.module, call) or makes_identifiers(self.module, held)):
            reason = "draws from the operating system and cannot be seeded"
            self._report(call, reason, "Use `random.Random(seed)`, unless it makes secrets.")

    def _check_torch(self, call: cst.Call) -> None:
        held = holder(self.module, call)
        text = self._text(held)
        if not is_seeded(text, held, torch=True) and not escapes(self.module, held, text):
            self._report(
                call,
                "is never seeded: it starts from torch's fixed default seed, "
                "which all unseeded torch generators share",
                "Call `.manual_seed(seed)` on it; `.seed()` would draw from the system.",
                (self.module.insert_after(call, ".manual_seed(0)"),),
            )

    def _report(
        self, call: cst.Call, reason: str, advice: str, edits: tuple[Edit, ...] = ()
    ) -> None:
        missing = fallback(self.module, call)
        shown = f"`{self._shown(call)}`"
        message = f"{missing} {shown}, which {reason}" if missing else f"{shown} {reason}"
        if gives_fresh(self.module, call, draws=True):
            edits = ()
        self.report(call, message, advice=advice, edits=edits, safe=False)

    def _text(self, held: Holder) -> str:
        """The code that may use the generator: its function, or the file."""
        if held.function is None:
            return self._code
        return self.module.code(held.function)

    def _shown(self, call: cst.Call) -> str:
        text = self.module.tree.text(call)
        if len(text) <= _LONGEST and "\n" not in text:
            return text
        return f"{self.module.tree.text(call.func)}(…)"

    @cached_property
    def _code(self) -> str:
        return uncommented(self.module.source.text)
