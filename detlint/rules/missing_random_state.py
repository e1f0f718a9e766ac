"""DET104 missing-random-state."""

from __future__ import annotations

import ast
import os
import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.ends import End, ends_of
from detlint.dataflow.orders.order import Orders
from detlint.dataflow.randomness import data_sets
from detlint.dataflow.randomness.estimators import Estimators, drawn_by, draws
from detlint.dataflow.slices import behind
from detlint.models import estimators
from detlint.models.loading import ROW_METHODS, SAMPLE, SHUFFLES, SINCE
from detlint.models.names import means_seed
from detlint.models.randomness import DRAWS, DRAWS_IN_QUERY, QUERYING, SELECTS
from detlint.models.roles import LEARNING
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.dataflow.ir import Op
    from detlint.finding import Edit, Finding
    from detlint.models.estimators import Drawing

_SOURCES = {
    "numpy": "draws from NumPy's global generator, ",
    "random": "draws from Python's global generator, ",
    "cdlib": "draws from cdlib's generator, ",
    "system": "is seeded by the operating system, whatever else is seeded",
    "environment": "leaves its environment, and the space of its actions, to the operating system",
    "threads": "gives something else in each run, whatever else is seeded",
}
_GLOBAL = ("numpy", "random", "cdlib")
_SINCE, _BEFORE = " (since ", " before "
_UNSEEDED = "which this file does not seed"
_LATER = "which this file seeds only later"
_ASIDE = "which only {}() seeds in this file, and nothing here calls that"

# Parameters that take more than a seed: what is done without one, if its source does not say that,
# and what to pass.
_OWN = {
    "rstate": ("draws from the operating system", "np.random.default_rng(seed)"),
    "sampler": (
        "takes one that is seeded by the operating system",
        "optuna.samplers.TPESampler(seed=seed)",
    ),
    "search_alg": ("", "BasicVariantGenerator(random_state=seed)"),
}
_RNG = "rng"
_METHODS = frozenset((*ROW_METHODS, SAMPLE, *SHUFFLES))
# Words that other libraries have as well.
_COMMON = frozenset(name.rpartition(".")[2] for name in DRAWS)
_LIBRARIES = tuple(sorted({x for row in ROW_METHODS.values() for x in row.libraries}))
_QUERIES = ("RANDOM()", "random()", "RAND()", "rand()", "NEWID()")
_OF_DATA = frozenset((*LEARNING, "datasets", "numpy", "pandas", "polars"))
_MOST = 50  # operations behind a query
_OWN_NAME = re.compile(r"\bself\.(\w+)")


class MissingRandomState(Rule):
    """Why runs differ: Without `random_state`, scikit-learn draws from NumPy's global generator.
    Each run gets another split, another start of the clusters, another forest, unless that
    generator is seeded. Even then the result depends on how many numbers were drawn before. A
    decision tree draws too: it visits the features in random order, which settles ties.

    Reported:
    - estimators and splitters of scikit-learn and imbalanced-learn that draw, without
      `random_state`; those of umap-learn, openTSNE, PaCMAP and PHATE; surfaces that trimesh samples
    - a score that draws and that scikit-learn calls: `SelectKBest(mutual_info_classif)`
    - stochastic optimizers, `bootstrap` and random matrices of SciPy, its quasi-random engines such
      as `Sobol`; random graphs and communities of networkx
    - `eigsh` and `svds` of SciPy without `v0`: since SciPy 1.17, signs of eigenvectors differ
    - what draws in scikit-image, scikit-optimize, bayesian-optimization, implicit, surprise, LIME,
      LightFM, leidenalg, cdlib, the evolution of cmaes, pygad and pymoo, and samples of PyMC
    - environments of Procgen without `rand_seed`, and a `Compose` of albumentations without `seed`
      that has a transform which draws
    - tuners of KerasTuner and shuffling loaders of ffcv without `seed`, which they take from the
      global generator of Python or NumPy
    - `sample` of pandas without `random_state`; `sample` and `randomSplit` of Spark, `sample` of
      Polars and `random_split` of Dask without a seed
    - `shuffle` and `train_test_split` of Hugging Face datasets without `seed`
    - `shuffle` of a streamed dataset without `seed`, which takes entropy in any case
    - `shuffle` of webdataset without `seed`, which it makes of the clock and the process
    - `ORDER BY RANDOM()` and the like in a query: the database draws
    - `tune.run` and `TuneConfig` of Ray without `search_alg`, beside `tune.uniform` and the like
    - studies and samplers of Optuna, and `fmin` of hyperopt, without a seed, which they take from
      the operating system
    - algorithms of Stable Baselines3 without a seed, on an environment that has none either

    Lowers the confidence:
    - all programs that get there have seeded NumPy's global generator before, or there are
      programs, and none of them runs it. Of what the system seeds, only those count that have
      its file
    - what `sample` picks only shows in figures, a shuffled list in messages, or a file with a
      query has nothing to do with learning

    Not reported:
    - a file that seeds NumPy's global generator, itself or by a helper such as `seed_everything`.
      It is reported if nothing calls the function that does, or the draw certainly comes first
    - `shuffle=False`. If the requirements ask for it: `eigsh` of SciPy before 1.17, pygad before
      3.8, pymoo before 0.6.1.6. So is albumentations before 1.4.21 in a loader's workers, and where
      Python's generator is seeded
    - estimators that draw only with some solver, or only for large data. What AdaBoost, bagging or
      `RANSACRegressor` is given: they seed it anew, and are reported themselves

    What to do: Pass the seed of the run: `random_state=seed`, or `seed=seed` for datasets.

    Fix safety: unsafe. It passes 0, to be replaced by the seed of the run.
    """

    code = "DET104"
    summary = "a random choice is given no seed"
    triggers = (
        *(
            f"{each}(" if each in _COMMON else estimators.written(each)
            for each in estimators.short_names()
        ),
        *(f"{each}(" for each in (*sorted(_METHODS), *sorted(QUERYING))),
    )
    needs = (*sorted(estimators.libraries()), "sample(", "datasets", *_LIBRARIES, *_QUERIES)
    crosses_files = True  # the project may ask for an older release
    lowered_where_dead = True
    lowered_where_unused = False
    source = "https://scikit-learn.org/stable/common_pitfalls.html#controlling-randomness"
    shown = "CPU"
    judged_where_it_runs = True
    examples = (
        Example(
            bad="""
                from sklearn.ensemble import RandomForestClassifier
                from sklearn.model_selection import KFold, train_test_split

                train, test = train_test_split(samples, test_size=0.2)  # DET104
                folds = KFold(5, shuffle=True, random_state=None)  # DET104
                model = RandomForestClassifier()  # DET104
            """,
            fixed="""
                from sklearn.ensemble import RandomForestClassifier
                from sklearn.model_selection import KFold, train_test_split

                train, test = train_test_split(samples, test_size=0.2, random_state=0)
                folds = KFold(5, shuffle=True, random_state=0)
                model = RandomForestClassifier(random_state=0)
            """,
        ),
        Example(
            bad="""
                import pandas as pd
                from datasets import load_dataset

                frame = pd.read_csv("samples.csv").sample(frac=1)  # DET104
                texts = load_dataset("imdb", split="train").shuffle()  # DET104
            """,
            fixed="""
                import pandas as pd
                from datasets import load_dataset

                frame = pd.read_csv("samples.csv").sample(frac=1, random_state=0)
                texts = load_dataset("imdb", split="train").shuffle(seed=0)
            """,
        ),
        Example(
            bad="""
                import optuna
                from stable_baselines3 import PPO

                study = optuna.create_study(sampler=optuna.samplers.TPESampler())  # DET104
                model = PPO("MlpPolicy", "CartPole-v1")  # DET104
            """,
            fixed="""
                import optuna
                from stable_baselines3 import PPO

                study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
                model = PPO("MlpPolicy", "CartPole-v1", seed=0)
            """,
        ),
    )

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:
        """Where the program has seeded NumPy when it gets there. What draws from the generator of
        Python is seeded by torch in workers."""
        path = os.path.realpath(finding.path)
        older = any(f"{each}{_BEFORE}" in finding.message for each in SINCE)
        return (older and program.has("workers")) or any(
            _SOURCES[each] in finding.message
            and program.seed_order.seeds_before(each, path, finding.row, finding.column)
            for each in _GLOBAL
        )

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        return _SINCE in finding.message

    @classmethod
    def is_left_to_callers(cls, finding: Finding) -> bool:
        return any(_SOURCES[each] in finding.message for each in _GLOBAL)

    @classmethod
    def doubted_by_all(
        cls, finding: Finding, programs: Sequence[Program], linted: PythonFiles
    ) -> bool:
        """The same where no program is to be seen that could call what seeds in the file."""
        aside = _ASIDE.partition("{}()")[2] in finding.message
        path = os.path.realpath(finding.path)
        left = aside and not any(path in each for each in programs)
        return left or super().doubted_by_all(finding, programs, linted)

    def examine(self, offsets: Sequence[int]) -> None:
        for op in dict.fromkeys(self._calls(offsets)):
            names = self.unit.values.called(op)
            row = next(filter(None, map(self._row, names)), None)
            if row is not None:
                self._check_row(op, row)
            elif any(map(estimators.calls_score, names)):
                self._check_score(op)
            elif op.args[0].code == "attr" and op.args[0].name in _METHODS and not op.unpacks:
                self._check_method(op)
            elif word_of(op) in QUERYING and op.args[1:]:
                self._check_query(op)

    def _calls(self, offsets: Sequence[int]) -> Iterator[Op]:
        """The calls of the functions that some offsets lie in, and of the classes whose heads
        they lie in."""
        yield from self.unit.ops_at(offsets)
        pieces = dict.fromkeys(filter(None, map(self.unit.piece_at, offsets)))
        for name in dict.fromkeys(each.name for each in pieces if each.kind == "class"):
            for outer in self.unit.functions_naming(name):
                for function in outer.everything():
                    yield from (x for x in function.coded("call") if word_of(x) == name)

    def _row(self, name: str) -> Drawing | None:
        """The row of a function or class, or of the base of a class of the file that leaves the
        seed to its callers."""
        owner = name[1:] if name.startswith(".") else ""
        if owner not in self.unit.classes:
            return estimators.drawing(name)
        named = map(estimators.drawing, self.unit.qualified_bases(owner))
        row = next(filter(None, named), None)
        pieces = self.unit.classes[owner]
        texts = [self.unit.text[each.start : each.end] for each in pieces]
        if row is None or any(each in text for each in row.parameters for text in texts):
            return None
        init = self.unit.method(owner, "__init__")
        hands_on = init is None or any(each.name[0] == "**" for each in init.params.values())
        return row if hands_on else None

    def _check_row(self, call: Op, row: Drawing) -> None:
        missing = call.lacks(*row.parameters, position=row.position)
        if not (missing and draws(call, row) and self._draws_beside(row)):
            return
        if row.source == "environment" and _is_seeded(call.given("env", 1)):
            return
        made = word_of(call)[:1].isupper()  # an object, which may get its state later
        keyword = next(filter(call.given, row.parameters), row.parameter)
        # None as `rng` asks NumPy for a generator (SPEC 7), where a seed that is left out need not.
        how = self._how(call, "system" if call.given(_RNG) else row.source)
        older = ""
        if row.source == "system" and row.since:
            library = self.unit.values.called(call)[0].partition(".")[0]
            if self.others is not None and self.others.lacks(self.unit, library, row.since):
                if library not in SINCE:  # what those releases draw from is not known
                    return
                older, how = f"{library}{_BEFORE}{row.since}", self._how(call, "random")
            else:
                how += f"{_SINCE}{library} {row.since})"
        if not how or (made and self._estimators.seeds(call)):
            return
        if older:
            told = f"{word_of(call)}() of {older} {how}; call random.seed(seed)"
            self.report(call.node, told, advice="call random.seed(seed)")
        elif keyword in _OWN:
            self._report_own(call, keyword, how)
        else:
            written = call.written(keyword, row.position)
            self._report(call, f"{word_of(call)}()", keyword, written, how)

    def _check_score(self, call: Op) -> None:
        """``SelectKBest(mutual_info_classif)``, which calls that."""
        given, node = call.given(estimators.SCORED_BY, 0), call.written(estimators.SCORED_BY, 0)
        is_named = given is not None and given.code != "call"
        names = self.unit.values.qualified(given) if given is not None and is_named else []
        row = next(filter(None, map(self._row, names)), None)
        how = self._how(call, row.source) if row and not (row.needs or row.keeps) else ""
        if row is not None and node is not None and how:
            function = names[0].rpartition(".")[2]
            taken = "" if self._has_seed(call) else "take a seed and "
            seeded = f"{taken}pass functools.partial({function}, {row.parameter}=seed)"
            message = f"{function}() has no {row.parameter}: it {how}; {seeded}"
            self.report(node, message, advice=seeded)

    def _how(self, call: Op, source: str) -> str:
        """How a call draws, of what it is seeded by; "" where the file seeds that."""
        seeding = self.unit.seeding
        if source not in _GLOBAL:
            return _SOURCES[source]
        if not seeding.seeds(source):
            return f"{_SOURCES[source]}{_UNSEEDED}"
        if aside := seeding.aside(source, call):
            return f"{_SOURCES[source]}{_ASIDE.format(aside)}"
        later = any(seeding.is_drawn_before(source, each) for each in drawn_by(call))
        return f"{_SOURCES[source]}{_LATER}" if later else ""

    def _is_only_shown(self, call: Op) -> bool:
        """Whether rows are picked to be looked at, or a shuffle of one list gives an order that
        nothing but messages shows."""
        if word_of(call) == SAMPLE:
            return End.FIGURE in ends_of(call, picks=True)
        if word_of(call) != "shuffle" or sum(name is None for name, _ in call.arguments()) != 1:
            return False
        orders = Orders(self.unit.across)
        return next(orders.uses(call), None) is None and not orders.leaves

    def _report_own(self, call: Op, keyword: str, how: str) -> None:
        """What takes more than a seed."""
        does, one = _OWN[keyword]
        self.report(
            call.node,
            f"{word_of(call)}() has no {keyword}: it {does or how}",
            advice=f"pass one with the seed of the run: {keyword}={one}",
        )

    def _draws_beside(self, row: Drawing) -> bool:
        """Whether the file has what makes it draw: ``tune.uniform(0, 1)``."""
        words = {each.rpartition(".")[2] for each in row.beside}
        calls = (x for word in sorted(words) for x in self.unit.ops_naming(word))
        return not row.beside or any(not row.beside.isdisjoint(each.called) for each in calls)

    def _check_query(self, call: Op) -> None:
        """``cursor.execute("SELECT * FROM rows ORDER BY RANDOM()")``."""
        given = (x.name for x in behind(call.args[1], most=_MOST) if x.code in ("const", "text"))
        texts = [each for each in given if isinstance(each, str)]
        drawn = next(filter(None, map(DRAWS_IN_QUERY.search, texts)), None)
        if drawn is None or not any(map(SELECTS.search, texts)) or "setseed" in self.unit.text:
            return
        names = (name for bound in self.unit.imported.values() for name in bound)
        learns = not {each.partition(".")[0] for each in names}.isdisjoint(_OF_DATA)
        self.report(
            call.node,
            f"`{drawn[0]}` in a query draws in the database, which no seed here reaches",
            advice="order the rows by a column, and shuffle them with a generator that is seeded",
            confidence=None if learns else Confidence.POSSIBLE,
        )

    def _check_method(self, call: Op) -> None:
        if row := data_sets.picks_rows(call):
            how, written = self._how(call, "system"), call.written(row.seed, row.place)
            self._report(call, f"{word_of(call)}()", row.seed, written, how)
        elif keyword := data_sets.sampled(call):
            how = self._how(call, "numpy")
            if call.lacks("random_state") and how:
                written = call.written("random_state")
                self._report(call, f"sample({keyword})", "random_state", written, how)
        elif data_sets.is_of_webdataset(call):
            if call.lacks("seed", _RNG):
                written = call.written("seed")
                self._report(call, "shuffle()", "seed", written, self._how(call, "system"))
        elif data_sets.shuffled(call):
            self._check_data_set(call)

    def _check_data_set(self, call: Op) -> None:
        streamed = data_sets.draws_from_system(call)
        how = self._how(call, "system" if streamed else "numpy")
        if not (call.lacks("seed", "seeds", "generator") and how):
            return
        ordered = call.given("shuffle", 2) if word_of(call) == "train_test_split" else None
        if ordered is None or self.unit.values.constant(ordered) is True:
            self._report(call, f"{word_of(call)}()", "seed", call.written("seed"), how)

    def _report(
        self, call: Op, function: str, keyword: str, given: ast.expr | None, how: str
    ) -> None:
        edits: tuple[Edit, ...] = ()
        if given is None:
            edits = (self.unit.add_argument(call.call_node, f"{keyword}=0"),)
        elif isinstance(given, ast.Constant):
            edits = (self.unit.replace(given, "0"),)
        lacks = f"has no {keyword}" if given is None else f"gets None as its {keyword}"
        taken = "" if self._has_seed(call) else "take a seed and "
        self.report(
            call.node,
            f"{function} {lacks}: it {how}; {taken}pass {keyword}=seed",
            advice=f"{taken}pass the seed of the run: {keyword}=seed",
            edits=edits,
            safe=False,
            confidence=Confidence.POSSIBLE if self._is_only_shown(call) else None,
        )

    def _has_seed(self, call: Op) -> bool:
        """Whether a seed can be had at a call: a name of a function around it, of its object or of
        the file; the statements of a file can write one."""
        within = [each for each in call.function.around() if each.is_defined]
        pieces = self.unit.classes.get(call.function.class_name, ())
        own = _OWN_NAME.findall("".join(self.unit.text[each.start : each.end] for each in pieces))
        names = (name for each in within for name in (*each.params, *each.bindings))
        return not within or any(map(means_seed, (*names, *own, *self.unit.module.bindings)))

    @cached_property
    def _estimators(self) -> Estimators:
        return Estimators(self.unit)


def _is_seeded(environment: Op | None) -> bool:
    """``make_vec_env("CartPole-v1", seed=0)``, ``env.seed(0)``."""
    parts = list(behind(environment, most=_MOST)) if environment is not None else []
    calls = (use for each in parts for use in each.uses if use.code == "attr" and use.calls)
    given = any(each.code == "call" and each.given("seed") is not None for each in parts)
    return given or any(each.name == "seed" for each in calls)
