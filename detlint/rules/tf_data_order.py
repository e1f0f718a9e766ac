"""DET802 tf-data-order."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.branches import behind_setting
from detlint.analysis.switches import code
from detlint.analysis.tf_datasets import TensorFlowDatasets, plain_name
from detlint.lexer import uncommented
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.callgraph.program import Program
    from detlint.finding import Edit, Finding
    from detlint.settings import Settings

_PARALLEL = frozenset({"map", "interleave", "batch", "padded_batch"})
_ORDER = re.compile(r"(?:experimental_)?deterministic$")
_OPTIONS = frozenset({"tensorflow.data.Options"})
# Functions that may hand elements on as they come, with their parameter and its position.
_SLOPPY = {
    "tensorflow.data.experimental.parallel_interleave": ("sloppy", 3),
    "tensorflow.contrib.data.parallel_interleave": ("sloppy", 3),
    "tensorflow.data.experimental.make_csv_dataset": ("sloppy", None),
    "tensorflow.data.experimental.make_batched_features_dataset": ("sloppy_ordering", None),
    "tensorflow.contrib.data.make_batched_features_dataset": ("sloppy_ordering", None),
}
# By it TensorFlow gives elements in order whatever else is said, and refuses to shuffle unseeded.
_DETERMINISM = re.compile(r"\benable_op_determinism\s*\(")
_SEEDING = re.compile(
    r"(?<!def )\b(?:random\.set_seed|set_random_seed|set_seed|set_seeds|seed_everything|seed_all"
    r"|set_global_seeds?|set_all_seeds|enable_full_determinism|set_determinism|set_reproducibility"
    r"|reset_random_seeds|reset_seeds|guard\.enable|fix_seeds?|seed_everything_tf|seed_tf)\s*\("
)
_SEED_IT = "seed it here, or call tf.keras.utils.set_random_seed() first"


class TfDataOrder(Rule):
    """Why runs differ: With `deterministic=False`, a dataset hands on each element as soon as some
    thread has it. Threads then decide the order of the data. `shuffle` and `Dataset.list_files`
    without a seed draw one from the operating system, unless `tf.random.set_seed` gave a global
    one.

    Reported:
    - `options.deterministic = False`, and `deterministic=False` in `map`, `interleave` and similar
      methods
    - `shuffle` and `list_files` of tf.data without a seed, where the program sets no global one

    Not reported:
    - values that are not literals
    - `map` and `interleave` without `num_parallel_calls`: `deterministic` has no effect there
    - `shuffle` of what is not certainly a dataset of tf.data
    - files that call `enable_op_determinism()`: TensorFlow keeps the order, and raises without a
      seed

    What to do: Leave `deterministic` at its default, which keeps the order. Call
    `tf.keras.utils.set_random_seed(0)` at the start of the program, or pass `seed=0` here.

    Fix safety: unsafe. Keeping the order can be slower, and a seed changes the order.
    """

    code = "DET802"
    summary = "a tf.data pipeline gives its elements in varying order"
    triggers = ("deterministic", "experimental_deterministic", "sloppy", ".shuffle(", "list_files(")
    needs = ("tensorflow",)
    source = "https://www.tensorflow.org/api_docs/python/tf/data/Dataset"
    shown = "CPU"
    confidence = Confidence.LIKELY
    examples = (
        Example(
            bad="""
                import tensorflow as tf

                def load(paths, parse):
                    data = tf.data.Dataset.from_tensor_slices(paths)
                    return data.map(parse, num_parallel_calls=8, deterministic=False)  # DET802
            """,
            fixed="""
                import tensorflow as tf

                def load(paths, parse):
                    data = tf.data.Dataset.from_tensor_slices(paths)
                    return data.map(parse, num_parallel_calls=8, deterministic=True)
            """,
        ),
        Example(
            bad="""
                import tensorflow as tf

                options = tf.data.Options()
                options.deterministic = False  # DET802
            """,
            fixed="""
                import tensorflow as tf

                options = tf.data.Options()
                options.deterministic = True
            """,
        ),
        Example(
            bad="""
                import tensorflow as tf

                data = tf.data.Dataset.range(100).shuffle(100).batch(8)  # DET802
            """,
            fixed="""
                import tensorflow as tf

                data = tf.data.Dataset.range(100).shuffle(100, seed=0).batch(8)
            """,
            good="""
                import tensorflow as tf

                tf.keras.utils.set_random_seed(0)
                data = tf.data.Dataset.range(100).shuffle(100).batch(8)
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where a word is only read, passed on or put to True."""
        if text.startswith((".shuffle(", "list_files("), offset):
            return True
        after = text[offset : offset + 80]
        return not re.match(r"\w*deterministic *= *True\b|\w+ *[)\],.:]", after)

    @cached_property
    def _datasets(self) -> TensorFlowDatasets:
        return TensorFlowDatasets(self.module)

    @cached_property
    def _text(self) -> str:
        return uncommented(self.module.source.text)

    @cached_property
    def _is_determined(self) -> bool:
        return bool(_DETERMINISM.search(self._text))

    @cached_property
    def _is_seeded(self) -> bool:
        return self._is_determined or bool(_SEEDING.search(self._text))

    def visit_Assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            self._check_option(node, target.target, node.value)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        if node.value is not None:
            self._check_option(node, node.target, node.value)

    def _check_option(
        self, node: cst.CSTNode, target: cst.BaseExpression, value: cst.BaseExpression
    ) -> None:
        if not isinstance(target, cst.Attribute) or not _ORDER.match(target.attr.value):
            return
        if self.module.literal(value) is False and self._is_options(target):
            self._report_order(node, value, f"{code(target)} = False", "True")

    def _is_options(self, target: cst.Attribute) -> bool:
        """``experimental_deterministic`` is tf.data's by its name."""
        made = plain_name(self.module.instance_of(target.value))
        named = target.attr.value == "experimental_deterministic"
        return made in _OPTIONS or (named and (not made or made.startswith("tensorflow.")))

    def visit_Call(self, node: cst.Call) -> None:
        name = plain_name(self.module.called(node))
        if name.endswith(".Dataset.list_files") and name.startswith("tensorflow."):
            self._check_listing(node)
        elif name in _SLOPPY:
            parameter, position = _SLOPPY[name]
            given = self.module.argument(node, parameter, position)
            if given is not None and self.module.literal(given) is True:
                self._report_order(given, given, f"{code(node.func)}({parameter}=True)", "False")
        elif isinstance(node.func, cst.Attribute):
            method = node.func.attr.value
            if method in _PARALLEL:
                self._check_parallel(node, method)
            elif method == "shuffle":
                self._check_shuffle(node, node.func.value)

    def _check_parallel(self, call: cst.Call, method: str) -> None:
        given = self.module.argument(call, "deterministic")
        if given is None or self.module.literal(given) is not False:
            return
        calls = self.module.argument(call, "num_parallel_calls")
        if calls is not None and self.module.literal(calls) not in (None, 1):
            self._report_order(given, given, f".{method}(…, deterministic=False)", "True")

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        """Another file of the program keeps the order, or seeds what shuffles."""
        seeded = finding.advice == _SEED_IT and program.has("seeds", "tensorflow")
        return seeded or program.has("enables", "tensorflow")

    def _report_order(
        self, node: cst.CSTNode, value: cst.BaseExpression, shown: str, kept: str
    ) -> None:
        if self._is_determined or behind_setting(self.module, node):
            return
        self.report(
            node,
            f"{shown} lets threads decide the order of the data",
            advice="keep the order: it is the default",
            edits=(self.module.replace(value, kept),),
            safe=False,
        )

    def _check_listing(self, call: cst.Call) -> None:
        shuffle = self.module.argument(call, "shuffle", 1)
        seed = self.module.argument(call, "seed", 2)
        if shuffle is None or self.module.literal(shuffle) is True:
            self._check_seed(call, seed, f"{code(call.func)}() shuffles and")

    def _check_shuffle(self, call: cst.Call, dataset: cst.BaseExpression) -> None:
        seed = self.module.argument(call, "seed", 1)
        if isinstance(self.module.parent(call), cst.Expr):
            return  # a dataset is not changed in place
        if call.args and not self._is_seeded and self._datasets.holds(call):
            self._check_seed(call, seed, f"{self._shown(dataset)}.shuffle()")

    def _check_seed(self, call: cst.Call, seed: cst.BaseExpression | None, shown: str) -> None:
        if self.module.has_unpacking(call) or self._is_seeded:
            return
        if seed is None or self.module.literal(seed) is None:
            self.report(
                call,
                f"{shown} has no seed, and the file sets no global one",
                advice=_SEED_IT,
                edits=self._seed(call, seed),
                safe=False,
            )

    def _seed(self, call: cst.Call, seed: cst.BaseExpression | None) -> tuple[Edit, ...]:
        if seed is not None:
            return (self.module.replace(seed, "0"),)
        return (self.module.add_argument(call, "seed=0"),)

    @staticmethod
    def _shown(dataset: cst.BaseExpression) -> str:
        return code(dataset) if isinstance(dataset, (cst.Name, cst.Attribute)) else ""
