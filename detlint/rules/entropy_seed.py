"""DET103 entropy-seed."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.by_default import ByDefault
from detlint.dataflow.arguments.settings import names_tested
from detlint.dataflow.importers import Importers
from detlint.dataflow.origins import Origins
from detlint.dataflow.randomness import entropy
from detlint.dataflow.randomness.fallbacks import fallback, with_kept
from detlint.dataflow.randomness.fresh_values import gives_fresh
from detlint.dataflow.randomness.seed_places import (
    Place,
    SeedPlaces,
    Told,
    constant_for,
)
from detlint.documents.seeds import MENTIONS, seeds, unseeded_job
from detlint.documents.settings import report_setting
from detlint.finding import Edit
from detlint.index.entrypoints import says_so
from detlint.models.randomness import GENERATORS
from detlint.rule import Confidence, Example, Rule
from detlint.syntax.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.randomness.entropy import Entropy
    from detlint.documents.document import Text
    from detlint.finding import Finding
    from detlint.settings import Settings

_LONGEST = 50
_MOST_NAMES = 40  # under which a file keeps entropy, and which are looked up elsewhere in it
_UNSEEDED_JOB = "no seed is set, so torchtitan takes another one in every run"
_ADVICE = "take it from the configuration, with a fixed default"
_SEEDS = (
    *("seed", "Seed", "SEED", "random_state", "PRNGKey", "random.key", "Rngs", "default_rng"),
    *("Random(", "RandomState("),
)
_ELSEWHERE = "if it is one, "  # what a finding begins with that another file has to confirm
_UNSEEDED = ", which nothing here seeds first"
_DIFFERS = "so it differs from run to run"


class EntropySeed(Rule):
    """Why runs differ: A seed from the clock, the process or the operating system is another one in
    each run. Nothing that it seeds can be repeated, unless the seed was written down. Python salts
    `hash()` of strings anew in each process, and an object's address differs as well.

    Reported:
    - a seed taken from the clock, also from a time as text or by a default (`clock=time.time`), a
      process id, `os.urandom`, `secrets` or `uuid`
    - a seed drawn from a global generator that nothing has seeded, also for a function of another
      file that seeds with it
    - what a function takes from the clock, the process or the system, where another file seeds with
      that
    - calls that mean entropy: `random.seed()`, `torch.seed()`, `generator.seed()`
    - `np.random.seed = 0`, which seeds nothing
    - a seed made of `hash()` of a string, or of `id()`
    - arguments in scripts, also through a variable: `--seed $RANDOM`, `seed=$(date +%s)`
    - a configuration of torchtitan without a seed: each run then takes another one

    Lowers the confidence:
    - a script's program is a test, a benchmark or a server by its name
    - code that no program runs which has its file, and functions that nothing names: *possible*.
      So is a seed where all calls of a project, which is no package, pass one. So is one that is
      only taken where an option asks for that (`--seed -1`)

    Not reported:
    - a value that only names a run, a file or a port, or measures time
    - a state of the generator that is put back afterwards
    - a seed that nothing reads, and those of `pytest` and its like

    What to do: Take the seed from the configuration, with a fixed default, and log it:
    `parser.add_argument("--seed", type=int, default=0)`.

    Fix safety: unsafe. It puts 0 in the place of the entropy. Code that wants other numbers in each
    process or worker has to add the rank. A function that only gives such a number has no fix: it
    would give the same one always.
    """

    code = "DET103"
    summary = "a seed differs from run to run"
    triggers = (
        *("time()", "time as", "=time.time", "= time.time", "time_ns", "perf_counter", "monotonic"),
        *("default_timer", "process_time", "now(", "utcnow", "today()", '("now"', "('now'"),
        *('("today"', "('today'", "time.strftime(", "import strftime", "localtime()", "gmtime()"),
        *("ctime()", "urandom", "getrandom", "getpid", "getppid", "current_process", "get_ident"),
        *("uuid1", "uuid4", "secrets", "token_bytes", "randbits", "randbelow", "SystemRandom"),
        *("hash(", "= id(", "=id(", "(id(", "randint", "randrange", "getrandbits", "random()"),
        *("rand()", "random_integers", "random.choice", "random.sample", "random.random", "seed()"),
        *("seed(None", "seed(seed=None", "seed(a=None", "seed_all()", "random.seed ="),
        *("random.seed=", "manual_seed =", "set_seed ="),
    )
    mentions = (*MENTIONS, "seed", "SEED", "[training]")
    # Without one of these, a function of another file may still seed with a number.
    needs = (*_SEEDS, "random.randint(", "randrange(", "getrandbits(", "strftime(", "now():%")
    crosses_files = True
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#controlling-sources-of-randomness"
    shown = "CPU"
    lowered_where_dead = True
    examples = (
        Example(
            bad="""
                import time

                import torch

                seed = int(time.time()) % 2**32  # DET103
                torch.manual_seed(seed)
            """,
            fixed="""
                import time

                import torch

                seed = 0
                torch.manual_seed(seed)
            """,
        ),
        Example(
            bad="""
                import random

                def set_up(seed=None):
                    seed = seed or random.randint(0, 2**32 - 1)  # DET103
                    random.seed(seed)
            """,
            fixed="""
                import random

                def set_up(seed=None):
                    seed = seed or 0
                    random.seed(seed)
            """,
        ),
        Example(
            bad="""
                import random

                import numpy as np
                import torch

                random.seed()  # DET103
                np.random.seed = 0  # DET103
                generator = torch.Generator()
                generator.seed()  # DET103
            """,
            fixed="""
                import random

                import numpy as np
                import torch

                random.seed(0)
                np.random.seed(0)
                generator = torch.Generator()
                generator.manual_seed(0)
            """,
        ),
    )

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        """The program seeds the generator of which a seed is drawn before it gets there."""
        drawn = (x for x, named in GENERATORS.items() if f"{named}{_UNSEEDED}" in finding.message)
        library = next(drawn, "")
        path = os.path.realpath(finding.path)
        return bool(library) and program.seed_order.seeds_before(library, path, finding.row)

    def visit_Text(self, _node: Text) -> None:
        for seed in seeds(self.document):
            self.report(
                seed.place,
                seed.message,
                advice=_ADVICE,
                edits=seed.edits,
                safe=False,
                confidence=Confidence.POSSIBLE if seed.doubtful else None,
            )
        job = unseeded_job(self.document)
        if job is not None:
            self.report(job, _UNSEEDED_JOB, advice="set seed to a number")

    visit_Entry = report_setting  # noqa: N815 - named as its node

    def examine(self, offsets: Sequence[int]) -> None:
        here = list(with_kept(self.unit.functions_at(offsets)))
        outer = dict.fromkeys([*here, *self._where_read(_kept_by(here))])
        functions = [function for each in outer for function in each.everything()]
        self._told = Told(self.unit)
        for place in sorted(self._places.named(functions), key=Place.start):
            self._check(place)
        calls = (op for function in functions for op in function.coded("call"))
        opened = Origins(self.others.find) if self.others is not None else None
        elsewhere: list[Place] = []
        for call in sorted(calls, key=lambda op: (op.node.lineno, op.node.col_offset)):  # type: ignore[attr-defined]
            if entropy.reseeds_torch(call) or entropy.reseeds(call):
                self._report_reseeding(call)
            elif not self.unit.rng_states.is_undone(call):
                places = list(self._places.given(call, opened))
                if any(map(self._entropies.of, call.args[1:])):  # else no need to find the callee
                    places += self._places.handed(call, opened)
                    elsewhere += self._places.handed_on(call) if opened is None else ()
                for place in places:
                    self._check(place)
        for place in elsewhere:
            self._check(place, _ELSEWHERE)
        self._follow_out(functions)
        stores = (op for function in functions for op in function.coded("store_attr"))
        for each in filter(entropy.replaces_seeding, stores):
            self._report_replaced(each)

    def _where_read(self, names: set[str]) -> Iterator[Function]:
        """The functions that mention one of some names, and a seed."""
        for name in sorted(names)[:_MOST_NAMES]:
            for place in mentions(self.unit.text, name):
                piece = self.unit.piece_at(place)
                if piece is not None and _speaks_of_seeds(self.unit.text[piece.start : piece.end]):
                    function = self.unit.function_of(piece)
                    yield from [function] if function is not None else []

    def _report_reseeding(self, call: Op) -> None:
        if self._told.holds(call.node, call) or self.unit.rng_states.is_undone(call):
            return
        self.report(
            call.node,
            f"`{self._shown(call.node)}` seeds from the operating system",
            advice="Pass the seed of the run.",
            edits=self._seeded(call),
            safe=False,
        )

    def _report_replaced(self, store: Op) -> None:
        node, edits = store.node, tuple[Edit, ...]()
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = self.unit.text_of(node.targets[0]), self.unit.text_of(node.value)
            edits = (self.unit.replace(node, f"{target}({value})"),)
        self.report(
            node,
            f"`{self.unit.text_of(node)}` replaces the function that seeds, and seeds nothing",
            advice="Call the function.",
            edits=edits,
            safe=False,
        )

    def _seeded(self, call: Op) -> tuple[Edit, ...]:
        """``random.seed(None)`` → ``random.seed(0)``; ``x.seed()`` → ``x.manual_seed(0)``, where
        nothing uses the seed that it returns."""
        node = call.call_node
        if call.given_nodes:
            return (self.unit.replace(call.given_nodes[0], "0"),)
        seed = self.unit.add_argument(node, "0")
        if not entropy.reseeds_torch(call):
            return (seed,)
        if not isinstance(node.func, ast.Attribute) or not call.is_dropped:
            return ()
        end = self.unit.span(node.func)[1]
        start = end - len(node.func.attr)
        return (Edit(start, end, f"manual_{node.func.attr}"), seed)

    def _check(self, place: Place, prefix: str = "") -> None:
        found = self._entropies.of(place.value)
        if found is None or self._told.holds(place.node, found.call) or place.only_labels():
            return
        what, result = found.what, _DIFFERS
        if found.library:
            if place.is_for_a_kernel(found) or not (
                place.may_be_drawn(found.call) and self._is_unseeded(found, place.name)
            ):
                return
            what = f"{what}{_UNSEEDED}"
            if not self._is_of_program(found.call):
                result = f"so it changes unless the caller has seeded `{found.library}`"
        edits: tuple[Edit, ...] = ()
        if not gives_fresh(found.call):
            edits = constant_for(self.unit, place.value, place.node, found.call)
        self._tell(
            place.node, found.call, f"{prefix}{place.subject} comes from {what}", edits, result
        )

    def _tell(
        self, node: ast.expr, call: Op, claim: str, edits: tuple[Edit, ...], result: str
    ) -> None:
        self._told.add(node, call)
        self.report(
            node,
            f"{claim} (`{self._shown(call.node)}`), {result}",
            advice=_ADVICE,
            edits=edits,
            safe=False,
            confidence=Confidence.POSSIBLE if self._is_asked_for(call) else None,
        )

    def _follow_out(self, functions: Sequence[Function]) -> None:
        """What other files seed with, of what functions of this one give them."""
        for function in (each for each in functions if each.outer is None and each.returns):
            for call in function.coded("call"):
                found = entropy.source(call)
                if found is None or found.library or self._told.holds(call.node, call):
                    continue
                if not entropy.is_returned(call):
                    continue
                if self.others is None:
                    self.leave(call.node)
                else:
                    self._tell_out(found, Importers(self.unit, self.others).calls(function))

    def _tell_out(self, found: Entropy, uses: Iterable[Op]) -> None:
        pairs = ((use.function.unit, self._seeded_with(use, found)) for use in uses)
        unit, place = next(((u, x) for u, x in pairs if x is not None), (self.unit, None))
        if place is None:
            return
        node = found.call.call_node
        self._told.add(node, found.call)
        self.report(
            node,
            f"{place.subject} at {unit.path}:{place.node.lineno} comes from {found.what} "
            f"(`{self._shown(node)}`), {_DIFFERS}",
            advice=_ADVICE,
            confidence=self.lowered(place.node, None, unit),
            way=[(node, "given to other files here")],
            there=[(place.node, "it seeds here")],
            unit=unit,
        )

    def _seeded_with(self, use: Op, found: Entropy) -> Place | None:
        """What is a seed and made of what a call of a function gives, in the one around it."""
        function = use.function
        opened = Origins(self.others.find) if self.others is not None else None
        entropies = entropy.Entropies({use: found})
        places = [*self._places.named([function])]
        for call in function.coded("call"):
            places += [*self._places.given(call, opened), *self._places.handed(call, opened)]
        of_it = (x for x in places if entropies.of(x.value) is found and not x.only_labels())
        return min(of_it, key=Place.start, default=None)

    def _is_unseeded(self, found: Entropy, name: str) -> bool:
        """Whether nothing seeds the generator first: a library's caller may have."""
        optional = fallback(found.call) is not None
        if not optional and not self._is_of_program(found.call):
            return False
        own = {name, name.rpartition(".")[2]} - {""}
        return not self.unit.seeding.seeds_apart(found.library, found.call, own, last=optional)

    def _shown(self, node: ast.AST) -> str:
        text = self.unit.text_of(node)
        if (len(text) <= _LONGEST and "\n" not in text) or not isinstance(node, ast.Call):
            return text
        return f"{self.unit.text_of(node.func)}(…)"

    @cached_property
    def _entropies(self) -> entropy.Entropies:
        return entropy.Entropies()

    def _is_asked_for(self, call: Op) -> bool:
        """Whether a call only runs with an option about seeds that is off by default."""
        about_seeds = any("seed" in name.lower() for name in names_tested(call))
        return about_seeds and not self._by_default.may_run(call)

    @cached_property
    def _by_default(self) -> ByDefault:
        return ByDefault(self.unit, self.all_callers)

    @cached_property
    def _places(self) -> SeedPlaces:
        return SeedPlaces()

    def _is_of_program(self, call: Op) -> bool:
        """Whether it runs for a program, as far as the file tells: also as a statement of a file,
        where that seeds for whoever imports it."""
        return self._is_program or call.function.node is None

    @cached_property
    def _is_program(self) -> bool:
        return says_so(self.unit.source.path, self.unit.text)


def _speaks_of_seeds(text: str) -> bool:
    return any(map(text.__contains__, _SEEDS))


def _kept_by(functions: Sequence[Function]) -> set[str]:
    """The names under which functions keep or return entropy, other than draws."""
    found: set[str] = set()
    for outer in functions:
        for function in outer.everything():
            for op in function.ops:
                taken = entropy.source(op) if op.code == "call" else None
                if taken is not None and not taken.library:
                    found.update(entropy.kept_as(op))
    return found
