"""DET104 missing-random-state."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.data_sets import SAMPLES, SHUFFLES, draws_from_system, sampled, shuffled
from detlint.analysis.global_numpy import (
    is_asked,
    is_seeded_later,
    is_seeded_outside,
    seeds_numpy,
)
from detlint.analysis.scikit_learn import drawing, draws, short_names
from detlint.analysis.seeding import uncommented
from detlint.analysis.uses import last_name
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.scikit_learn import Drawing
    from detlint.finding import Edit

_GLOBAL = "draws from NumPy's global generator, which nothing in this file seeds"
_SYSTEM = "is seeded by the operating system, whatever else is seeded"

_NAMES = frozenset({*short_names(), *(each.rstrip("(") for each in (*SAMPLES, *SHUFFLES))})
_TOKEN = re.compile(r"(\w+)[ \t]*(?:\(|as\b|#|$)", re.MULTILINE)
_BY_KEYWORD = re.compile(r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*?\b(?:frac|n)\s*=(?!=)")


class MissingRandomState(Rule):
    """Why runs differ: Without `random_state`, scikit-learn draws from NumPy's global generator.
    Each run gets another split, another start of the clusters, another forest, unless that
    generator is seeded. Even then the result depends on how many numbers were drawn before. A
    decision tree draws too: it visits the features in random order, which settles ties.

    Reported:
    - estimators and splitters of scikit-learn and imbalanced-learn that draw, without
      `random_state`
    - `sample` of pandas without `random_state`
    - `shuffle` and `train_test_split` of Hugging Face datasets without `seed`
    - `shuffle` of a streamed dataset without `seed`, which takes entropy in any case

    Not reported:
    - a file that seeds NumPy's global generator, itself or by a helper such as `seed_everything`
    - `shuffle=False`
    - estimators that draw only with some solver, or only for large data

    What to do: Pass the seed of the run: `random_state=seed`, or `seed=seed` for datasets.

    Fix safety: unsafe. It passes 0, to be replaced by the seed of the run.
    """

    code = "DET104"
    summary = "a random choice is given no seed"
    triggers = (*short_names(), *SAMPLES, *SHUFFLES)
    needs = ("sklearn", "imblearn", "sample(", "datasets")
    source = "https://scikit-learn.org/stable/common_pitfalls.html#controlling-randomness"
    shown = "CPU"
    confidence = Confidence.LIKELY
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
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Only names that are called or renamed, in a file of their library."""
        found = _TOKEN.match(text, offset)
        if found is None or found[1] not in _NAMES:
            return False
        method = offset > 0 and text[offset - 1] == "."
        if found[1] == "sample":
            return method and _BY_KEYWORD.match(text, found.end()) is not None
        if f"{found[1]}(" in SHUFFLES and method and "datasets" in text:
            return True
        own = text.endswith("self.", 0, offset)
        return not own and ("sklearn" in text or "imblearn" in text)

    def visit_Call(self, node: cst.Call) -> None:
        name = self.module.called(node)
        row = drawing(name) if name is not None else None
        if row is not None:
            self._check_row(node, row)
        elif not isinstance(node.func, cst.Attribute) or not self._is_near(node.func.attr):
            return
        elif keyword := sampled(self.module, node):
            self._check_sample(node, keyword)
        elif shuffled(self.module, node):
            self._check_data_set(node)

    def _is_near(self, name: cst.Name) -> bool:
        """What narrowing leaves out is left out of whole files, too."""
        return self.concerns(self.module.source.text, self.module.tree.span(name)[0])

    def _check_row(self, call: cst.Call, row: Drawing) -> None:
        if isinstance(call.func, cst.Call) or not draws(self.module, call, row):
            return
        given = self.module.argument(call, "random_state", row.position)
        if self._is_missing(given) and not self._is_seeded(call):
            self._report(call, f"{last_name(call.func)}()", "random_state", given, _GLOBAL)

    def _is_seeded(self, call: cst.Call) -> bool:
        if self._seeds_numpy or is_seeded_later(self._code):
            return True
        return is_asked(self.module, call) or is_seeded_outside(self.module, call, self._code)

    def _check_sample(self, call: cst.Call, keyword: str) -> None:
        given = self.module.argument(call, "random_state")
        shown = isinstance(self.module.parent(call), cst.Expr)  # the last line of a notebook's cell
        if self._is_missing(given) and not self._seeds_numpy and not shown:
            self._report(call, f"sample({keyword}=…)", "random_state", given, _GLOBAL)

    def _check_data_set(self, call: cst.Call) -> None:
        seeds = [self.module.argument(call, each) for each in ("seed", "seeds", "generator")]
        streamed = draws_from_system(self.module, call)
        if not all(map(self._is_missing, seeds)) or (self._seeds_numpy and not streamed):
            return
        if last_name(call.func) == "train_test_split":
            ordered = self.module.argument(call, "shuffle", 2)
            if ordered is not None and self.module.literal(ordered) is not True:
                return
        draws_how = _SYSTEM if streamed else _GLOBAL
        self._report(call, f"{last_name(call.func)}()", "seed", seeds[0], draws_how)

    def _is_missing(self, value: cst.BaseExpression | None) -> bool:
        """Whether an argument is not given, or None: the word, or a local of the function."""
        if isinstance(value, cst.Name) and value.value != "None":
            here = self.module.bindings.scope_of(value)
            return value.value in here.bindings and self.module.literal(value) is None
        return value is None or self.module.literal(value) is None

    def _report(
        self,
        call: cst.Call,
        function: str,
        keyword: str,
        given: cst.BaseExpression | None,
        how: str,
    ) -> None:
        edits: tuple[Edit, ...] = ()
        if given is None:
            edits = (self.module.add_argument(call, f"{keyword}=0"),)
        elif self.module.tree.text(given) == "None":
            edits = (self.module.replace(given, "0"),)
        lacks = f"has no {keyword}" if given is None else f"gets None as its {keyword}"
        self.report(
            call,
            f"{function} {lacks}: it {how}",
            advice=f"pass the seed of the run: {keyword}=seed",
            edits=edits,
            safe=False,
        )

    @cached_property
    def _code(self) -> str:
        return uncommented(self.module.source.text)

    @cached_property
    def _seeds_numpy(self) -> bool:
        return seeds_numpy(self._code)
