"""DET101 unseeded-generator."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.by_default import ByDefault
from detlint.dataflow.arguments.need import Need
from detlint.dataflow.arguments.options import option_of
from detlint.dataflow.arguments.passed_arguments import entry
from detlint.dataflow.arguments.required_arguments import looked_up, taken_by
from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.outputs import keeps
from detlint.dataflow.randomness.fallbacks import fallback, with_kept
from detlint.dataflow.randomness.fresh_values import gives_fresh
from detlint.dataflow.randomness.generators import (
    Fate,
    is_seeded,
    is_shared,
    only_names,
    seeding,
)
from detlint.finding import Edit
from detlint.models import randomness
from detlint.models.model import words
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Function, Op
    from detlint.finding import Finding
    from detlint.settings import Settings

# Libraries whose functions draw from the generator that they are given, and never seed it.
_CONSUMERS = ("torch.", "torchvision.", "torchaudio.", "diffusers.", "torch_geometric.")
_DRAWS = words(
    """normal_ uniform_ random_ bernoulli_ bernoulli exponential_ geometric_ log_normal_ cauchy_
    multinomial randn_tensor"""
)
# Methods after which a generator does not start from torch's default seed.
_SEEDING_TORCH = words("clone_state graphsafe_set_state manual_seed seed set_state")
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
    - the same as the default of a parameter that is called without a seed: `draw=random.Random`.
      Where all calls of a project pass another function: *possible*
    - `default_rng(args.seed)` where the option `--seed` has no default
    - `default_rng(seed)` in a function or class of which no call in a program gives the parameter,
      which is None by default
    - the same where a call gives what is None on one branch, and no other a seed: *possible*
    - `default_rng(options.get("seed"))` where no dict that is seen has that key. Where the dict is
      not seen: *possible*

    Lowers the confidence:
    - code that no program runs which has its file: *possible*
    - the same where all calls of a project, which is no package, pass what it stands in for. Draws
      that are only timed, or drawn in a figure, are *possible*, too

    Not reported:
    - a seed that cannot be seen, as in `default_rng(config.seed)` or `default_rng(**options)`
    - a generator that is seeded later, or gets a saved state; not by a method that nothing calls
    - one that only makes identifiers, names or ports: those have to differ. One that nothing of
      the project draws from

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
        *("default_rng", "RandomState(", "RandomState)", "RandomState,", "RandomState as"),
        *("SeedSequence", "PCG64", "MT19937", "Philox", "SFC64", "XORWOW", "MRG32k3a", "Random("),
        *("Random)", "Random,", "Random as", "SystemRandom", "from_non_deterministic_state"),
        "SeedGenerator",
        # Not "Generator(", which is in the text of thousands of docstrings.
        *(".Generator(", "Generator()", "Generator(device", 'Generator("', "Generator('"),
        "Generator as",
    )
    crosses_files = True
    lowered_where_dead = True
    lowered_where_unused = False
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

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        """Generators whose seed is a parameter that is None by default, and that nothing gives."""
        if program.purpose.only_checks():
            return
        for made, sure in program.ungiven("generators"):
            need = Need.parse(made.fact.needs.splitlines()[0])
            seed = f"its `{need.parameter}`, which is None by default"
            if not (sure or need.key):
                seed = f"a `{need.parameter}` that is never None"
            elif need.key:
                seed = f"a `{need.parameter}` {'' if sure else 'that is seen '}with {need.key!r}"
            yield program.finding(
                cls,
                made,
                f"{program.shown(made)} takes its seed from the operating system: no call gives "
                f"{need.function}() {seed}",
                f"Pass {need.function}() the seed of the run.",
                confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
            )

    def examine(self, offsets: Sequence[int]) -> None:
        for function in with_kept(self.unit.functions_at(offsets)):
            for op in function.all_coded("call"):
                for name in self.unit.values.called(op):
                    self._check(op, name)
                self._check_factory(op)

    def _check(self, call: Op, name: str) -> None:
        if name == "torch.Generator":
            self._check_torch(call)
        elif name in randomness.SEED_PARAMETER:
            if _lacks_seed(call, name):
                edits = self._seed_edit(call, randomness.SEED_PARAMETER[name])
                self._tell(call, name, "its seed comes from the operating system", edits)
            else:
                self._check_option(call, name)
        elif name in randomness.SYSTEM:
            fate = Fate(call)
            if not (only_names(call, fate) or _is_only_seeded(fate)):
                reason = "draws from the operating system and cannot be seeded"
                self._report(call, reason, "Use `random.Random(seed)`, unless it makes secrets.")
        elif name in randomness.STATE_OF_SYSTEM:
            self._check_state(call, name)

    def _check_option(self, call: Op, name: str) -> None:
        """``default_rng(args.seed)``, where no option gives a seed by default."""
        seed = call.given(randomness.SEED_PARAMETER[name], 0)
        option = option_of(seed) if seed is not None and seed.node is not None else ""
        lacks, sure = f"--{option} is not given, which has no default", True
        advice = f"Give --{option} a default, such as `default=0`."
        by_default = ByDefault(self.unit, self.all_callers)
        if seed is None or not option or by_default.value(seed) is not None:
            if by_default.open and self.others is None:
                self.leave(call.node)
            held, key = looked_up(seed) if seed is not None and not option else (None, "")
            found = entry(held, key) if held is not None and taken_by(held) is None else []
            if found == [] or not (found is None or any(x is None or x.is_none for x in found)):
                return
            lacks, sure = f"there is no {key!r} to look up", found is not None
            advice = f"Give {key!r} a default, such as 0."
        fate = Fate(call)
        if is_seeded(fate) or is_shared(fate) or only_names(call, fate) or self._is_idle(fate):
            return
        self.report(
            call.node,
            f"`{self._shown(call.call_node)}` takes its seed from the operating system where "
            f"{lacks}",
            advice=advice,
            confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
        )

    def _check_factory(self, call: Op) -> None:
        """``field(default_factory=np.random.default_rng)``, ``defaultdict(random.Random)``."""
        is_dict = "collections.defaultdict" in self.unit.values.called(call)
        given = ("default_factory", 0 if is_dict else None)
        factory, node = call.given(*given), call.written(*given)
        names = self.unit.values.qualified(factory) if factory is not None else ()
        made = randomness.SYSTEM | randomness.SEED_PARAMETER.keys()
        if node is not None and not made.isdisjoint(names):
            self.report(
                node,
                f"`{self.unit.text_of(node)}` as a default factory is called without a seed: "
                "each one takes it from the operating system",
                advice="Build each from a seed and its key, where the key is new."
                if is_dict
                else "Build the generator from a seed field in `__post_init__`.",
            )

    def _check_state(self, call: Op, name: str) -> None:
        node = call.call_node
        assert isinstance(node.func, ast.Attribute)  # noqa: S101 - by its name
        end = self.unit.span(node.func)[1]
        edits = (
            Edit(end - len(node.func.attr), end, "from_seed"),
            self.unit.add_argument(node, "0" if not node.args else "seed=0"),
        )
        self._tell(call, name, "its state comes from the operating system", edits)

    def _seed_edit(self, call: Op, keyword: str) -> tuple[Edit, ...]:
        node, seed = call.call_node, call.written(keyword, 0)
        if seed is not None:
            return (self.unit.replace(seed, "0"),) if isinstance(seed, ast.Constant) else ()
        return (self.unit.add_argument(node, f"{keyword}=0" if node.args else "0"),)

    def _tell(self, call: Op, name: str, state: str, edits: tuple[Edit, ...]) -> None:
        """Report a generator of entropy, unless it is seeded afterwards or only names something."""
        fate = Fate(call)
        if is_seeded(fate):
            asked = {each.function.outermost for each in seeding(fate)}
            if fate.restored or not all(map(self._may_be_uncalled, asked)):
                return
            if self.others is None:
                self.leave(call.node)
                return
            if any(self.others.look_up(self.unit, each.word) for each in asked):
                return
        if is_shared(fate) or only_names(call, fate) or self._is_idle(fate):
            return
        if name.endswith("SeedGenerator"):
            state = "its seed is a draw from Python's global `random`"
        missing = fallback(call)
        advice = f"Require `{missing.subject}`." if missing else "Pass it the seed of the run."
        self._report(call, f"is given no seed: {state}", advice, edits)

    def _may_be_uncalled(self, method: Function) -> bool:
        """Whether nothing in the file looks up what has the name of a method, and no base out of
        sight may call it."""
        word, owner = method.word, method.class_name
        if not owner or word.startswith("__") or {*self.unit.bases(owner)} - {"object"}:
            return False
        reads = self.unit.reads("attr", word)
        return all(x.function.outermost is method or self.unit.values.qualified(x) for x in reads)

    def _is_idle(self, fate: Fate) -> bool:
        """Whether nothing of the project does anything with a generator."""
        if not fate.is_idle or (self.others is None and fate.names):
            return False
        return not any(self.others and self.others.name(self.unit, each) for each in fate.names)

    def _check_torch(self, call: Op) -> None:
        fate = Fate(call)
        if not any(name in _SEEDING_TORCH for name, _ in fate.methods) and not _gets_away(fate):
            self._report(
                call,
                f"is never seeded: it {randomness.REPEATS}, which all unseeded ones share",
                "Call `.manual_seed(seed)` on it; `.seed()` would draw from the system.",
                (self.unit.insert_after(call.node, ".manual_seed(0)"),),
            )

    def _report(self, call: Op, reason: str, advice: str, edits: tuple[Edit, ...] = ()) -> None:
        missing = fallback(call)
        shown = f"`{self._shown(call.call_node)}`"
        message = f"{missing} {shown}, which {reason}" if missing else f"{shown} {reason}"
        if gives_fresh(call, draws=True):
            edits = ()
        fate, clocks = Fate(call), not keeps(self.unit.text)
        timed = fate.is_only_timed(clocks=clocks)
        sure = Confidence.POSSIBLE if timed or fate.is_only_drawn() else None
        self.report(call.node, message, advice=advice, edits=edits, safe=False, confidence=sure)

    def _shown(self, call: ast.Call) -> str:
        text = self.unit.text_of(call)
        if len(text) <= _LONGEST and "\n" not in text:
            return text
        return f"{self.unit.text_of(call.func)}(…)"


def _lacks_seed(call: Op, name: str) -> bool:
    if call.unpacks:
        return False
    if name.rpartition(".")[2].startswith("Philox") and call.given("key", 2) is not None:
        return False
    return call.lacks(randomness.SEED_PARAMETER[name], position=0)


def _is_only_seeded(fate: Fate) -> bool:
    """``random.SystemRandom().seed(0)``, which has no effect, and from which nothing is drawn."""
    idle = bool(fate.methods) and all(name == "seed" for name, _ in fate.methods)
    return idle and not (fate.given or fate.escapes)


def _gets_away(fate: Fate) -> bool:
    """Whether a torch generator goes where the file does not show who seeds it."""
    if fate.escapes or not (fate.given or fate.methods):
        return fate.escapes
    return not all(_draws(call, keyword) for call, keyword in fate.given)


def _draws(call: Op, keyword: str) -> bool:
    """Whether a generator is given to a function that is known to draw from it."""
    if keyword != "generator":
        return False
    if word_of(call) in _DRAWS:
        return True
    values = call.function.unit.values
    names = [*values.called(call), *(one.of for one in values.types(call.args[0]))]
    return any(each.startswith(_CONSUMERS) for each in names)
