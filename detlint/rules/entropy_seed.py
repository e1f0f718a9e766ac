"""DET103 entropy-seed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.config_findings import report_setting, unseeded_job
from detlint.analysis.entropy import Origin, conversion, origin, source
from detlint.analysis.fresh_values import gives_fresh
from detlint.analysis.launch_seeds import MENTIONS, seeds
from detlint.analysis.reseeding import reseeds, reseeds_torch, seeded_by_hand, seeded_with_zero
from detlint.analysis.seed_places import (
    is_never_read,
    is_undone,
    key_of_seed,
    may_be_seed,
    only_labels,
    takes_seed,
)
from detlint.analysis.seeding import (
    fallback,
    is_only_written,
    means_seed,
    seeds_elsewhere,
    target_name,
    uncommented,
)
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.documents.document import Entry, Text
    from detlint.finding import Edit

_LONGEST = 50
_UNSEEDED_JOB = "no seed is set, so torchtitan takes another one in every run"
_ADVICE = "take it from the configuration, with a fixed default"
_DIFFERS = "so it differs from run to run"


class EntropySeed(Rule):
    """Why runs differ: A seed from the clock, the process or the operating system is another one in
    each run. Nothing that it seeds can be repeated, unless the seed was written down. Python salts
    `hash()` of strings anew in each process, and an object's address differs as well.

    Reported:
    - a seed taken from the clock, a process id, `os.urandom`, `secrets` or `uuid`
    - a seed drawn from a global generator that nothing has seeded
    - calls that mean entropy: `random.seed()`, `torch.seed()`, `generator.seed()`
    - a seed made of `hash()` of a string, or of `id()`
    - arguments in scripts, also through a variable: `--seed $RANDOM`, `seed=$(date +%s)`
    - a configuration of torchtitan without a seed: each run then takes another one

    Not reported:
    - a value that only names a run, a file or a port, or measures time
    - a state of the generator that is put back afterwards
    - a seed that nothing reads

    What to do: Take the seed from the configuration, with a fixed default, and log it:
    `parser.add_argument("--seed", type=int, default=0)`.

    Fix safety: unsafe. It puts 0 in the place of the entropy. Code that wants other numbers in each
    process or worker has to add the rank. A function that only gives such a number has no fix: it
    would give the same one always.
    """

    code = "DET103"
    summary = "a seed differs from run to run"
    triggers = (
        "time()",
        "time as",
        "time_ns",
        "perf_counter",
        "monotonic",
        "default_timer",
        "process_time",
        "now(",
        "utcnow",
        "today()",
        "urandom",
        "getrandom",
        "getpid",
        "getppid",
        "current_process",
        "get_ident",
        "uuid1",
        "uuid4",
        "secrets",
        "token_bytes",
        "randbits",
        "randbelow",
        "SystemRandom",
        "hash(",
        "= id(",
        "=id(",
        "(id(",
        "randint",
        "randrange",
        "getrandbits",
        "random()",
        "rand()",
        "random_integers",
        "random.choice",
        "random.sample",
        "random.random",
        "seed()",
        "seed(None",
        "seed(seed=None",
        "seed(a=None",
        "seed_all()",
    )
    mentions = (*MENTIONS, "seed", "SEED", "[training]")
    needs = ("seed", "Seed", "SEED", "random_state", "PRNGKey", "random.key", "Rngs", "default_rng")
    source = "https://docs.pytorch.org/docs/stable/notes/randomness.html#controlling-sources-of-randomness"
    shown = "CPU"
    confidence = Confidence.LIKELY
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

                import torch

                random.seed()  # DET103
                generator = torch.Generator()
                generator.seed()  # DET103
            """,
            fixed="""
                import random

                import torch

                random.seed(0)
                generator = torch.Generator()
                generator.manual_seed(0)
            """,
        ),
    )

    def visit_Text(self, _node: Text) -> None:
        for seed in seeds(self.document):
            self.report(
                seed.place,
                seed.message,
                advice=_ADVICE,
                edits=seed.edits,
                safe=False,
            )
        job = unseeded_job(self.document)
        if job is not None:
            self.report(job, _UNSEEDED_JOB, advice="set seed to a number")

    def visit_Entry(self, node: Entry) -> None:
        report_setting(self, node)

    def visit_Call(self, node: cst.Call) -> None:
        if reseeds_torch(self.module, node):
            self._report_reseeding(node, seeded_by_hand(self.module, node))
        elif reseeds(self.module, node):
            self._report_reseeding(node, seeded_with_zero(self.module, node))
        elif not is_undone(self.module, node):
            self._check_arguments(node)

    def _report_reseeding(self, call: cst.Call, edits: tuple[Edit, ...]) -> None:
        if call not in self._told and not is_undone(self.module, call):
            self.report(
                call,
                f"`{self._shown(call)}` seeds from the operating system",
                advice="Pass the seed of the run.",
                edits=edits,
                safe=False,
                confidence=Confidence.CERTAIN,
            )

    def _check_arguments(self, call: cst.Call) -> None:
        seeding = takes_seed(self.module, call)
        key = key_of_seed(self.module, call)
        for argument in call.args:
            keyword = argument.keyword.value if argument.keyword else ""
            if means_seed(keyword):
                self._check(argument.value, f"`{keyword}`", keyword)
            elif seeding and not keyword:
                self._check(argument.value, f"the seed that `{self._text(call.func)}` gets")
            elif key and keyword in {"", "default"}:
                self._check(argument.value, f"`{key}`", key)

    def visit_Assign(self, node: cst.Assign) -> None:
        for each in node.targets:
            target = each.target
            if (
                means_seed(target_name(self.module, target))
                and not is_only_written(self.module, target)
                and not is_never_read(self.module, target, node)
            ):
                self._check_target(target, node.value)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        value = node.value
        factory = None
        if not means_seed(target_name(self.module, node.target)):
            return
        if isinstance(value, cst.Call):
            factory = self.module.argument(value, "default_factory")
        if isinstance(factory, cst.Lambda):
            self._check_target(node.target, factory.body)
        elif factory is not None:
            self._check_factory(node.target, factory)
        elif value is not None and not is_never_read(self.module, node.target, node):
            self._check_target(node.target, value)

    def _check_factory(self, target: cst.BaseExpression, factory: cst.BaseExpression) -> None:
        known = source(self.module.qualified_name(factory) or "")
        if known and means_seed(target_name(self.module, target)):
            self._tell(factory, factory, f"`{self._text(target)}` comes from {known[0]}", ())

    def _check_target(self, target: cst.CSTNode, value: cst.BaseExpression) -> None:
        if means_seed(target_name(self.module, target)):
            found = origin(self.module, value)
            if found is None or not found.library or may_be_seed(self.module, found.call):
                text = self._text(target)
                self._check(value, f"`{text}`", text)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._check_target(node.target, node.value)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._check_target(node.target, node.value)

    def visit_For(self, node: cst.For) -> None:
        self._check_target(node.target, node.iter)

    def visit_Param(self, node: cst.Param) -> None:
        if node.default is not None and means_seed(node.name.value):
            self._check(node.default, f"the default of `{node.name.value}`", node.name.value)

    def visit_DictElement(self, node: cst.DictElement) -> None:
        key = self.module.literal(node.key)
        if isinstance(key, str) and means_seed(key):
            self._check(node.value, f"`{key}`", key)

    def visit_Return(self, node: cst.Return) -> None:
        function = self.module.enclosing_function(node)
        if node.value is None or not isinstance(function, cst.FunctionDef):
            return
        if means_seed(function.name.value):
            self._check(node.value, f"what `{function.name.value}` returns")

    def _check(self, value: cst.BaseExpression, subject: str, name: str = "") -> None:
        found = origin(self.module, value)
        if found is None or self._is_told(value, found.call) or only_labels(self.module, value):
            return
        what, result = found.what, _DIFFERS
        if found.library == "torch" and found.call is value and self._is_for_a_kernel(value):
            return
        if found.library:
            if not self._is_unseeded(found, name):
                return
            what = f"{what}, which nothing here seeds first"
            if not self._is_program:
                result = f"so it changes unless the caller has seeded `{found.library}`"
        place = conversion(self.module, found, value)
        fresh = gives_fresh(self.module, found.call)
        edits = (self.module.replace(*place),) if place and not fresh else ()
        self._tell(value, found.call, f"{subject} comes from {what}", edits, result)

    def _tell(
        self,
        node: cst.CSTNode,
        call: cst.CSTNode,
        claim: str,
        edits: tuple[Edit, ...],
        result: str = _DIFFERS,
    ) -> None:
        self._told |= {node, call}
        self.report(
            node,
            f"{claim} (`{self._shown(call)}`), {result}",
            advice=_ADVICE,
            edits=edits,
            safe=False,
        )

    def _is_told(self, value: cst.CSTNode, call: cst.CSTNode) -> bool:
        """Whether a finding is there already: at the entropy, or around this use of it."""
        above = self.module.ancestors(value)
        return bool(self._told & {value, call}) or any(node in self._told for node in above)

    def _is_for_a_kernel(self, call: cst.CSTNode) -> bool:
        """A tensor on a device, as dropout in a kernel takes it: torch's own seed decides."""
        return isinstance(call, cst.Call) and self.module.argument(call, "device") is not None

    def _is_unseeded(self, found: Origin, name: str) -> bool:
        """Whether nothing seeds the generator first: a library's caller may have."""
        own = {name, name.rpartition(".")[2], self._shown(found.call).partition("(")[0]}
        optional = fallback(self.module, found.call) is not None
        if not optional and not self._is_program:
            return False
        return not seeds_elsewhere(self._code, found.library, own, dotted=not optional)

    def _text(self, node: cst.CSTNode) -> str:
        return self.module.tree.text(node)

    def _shown(self, node: cst.CSTNode) -> str:
        text = self._text(node)
        if (len(text) <= _LONGEST and "\n" not in text) or not isinstance(node, cst.Call):
            return text
        return f"{self._text(node.func)}(…)"

    @cached_property
    def _told(self) -> set[cst.CSTNode]:
        return set()

    @cached_property
    def _is_program(self) -> bool:
        return "__main__" in self._code or self.module.source.path.endswith("__main__.py")

    @cached_property
    def _code(self) -> str:
        return uncommented(self.module.source.text)
