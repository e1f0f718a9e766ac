"""DET802 tf-data-order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.callgraph.tensorflow import seeding
from detlint.dataflow.arguments.settings import is_left_open, keeps_order, names_tested, options
from detlint.dataflow.calls import said, word_of
from detlint.dataflow.control import exclude
from detlint.dataflow.numerics import pipelines
from detlint.dataflow.origins import owner_of
from detlint.dataflow.randomness.workers import Workers
from detlint.models import tf_data as rows
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.arguments.settings import Setting
    from detlint.dataflow.ir import Op
    from detlint.dataflow.randomness.workers import Draw
    from detlint.finding import Edit, Finding
    from detlint.settings import Settings

_SEED_IT = "seed it here, or call "
_QUEUES = tuple(sorted(f"{each.rpartition('.')[2]}(" for each in rows.QUEUES))
_CALLS = (".shuffle(", "list_files(", *_QUEUES)
_KEEP_IT = "keep the order: it is the default"


class TfDataOrder(Rule):
    """Why runs differ: With `deterministic=False`, a dataset hands on each element as soon as some
    thread has it. Threads then decide the order of the data. `shuffle` and `Dataset.list_files`
    without a seed draw one from the operating system, unless `tf.random.set_seed` gave a global
    one.

    Reported:
    - `options.deterministic = False`, and `deterministic=False` in `map`, `interleave` and similar
      methods
    - `shuffle` and `list_files` of tf.data without a seed, where the program sets no global one
    - `tfds.load(…, shuffle_files=True)` without a `read_config`, whatever global seed there is
    - `map(…, num_parallel_calls=…)` of a `tf.py_function` or `tf.numpy_function` that draws from a
      generator which all calls share, seeded or not
    - queues of TensorFlow 1 that several threads fill: `tf.train.batch(…, num_threads=4)`

    Lowers the confidence:
    - a shuffle in what no program runs, where the project has some, and nothing but tests names

    Not reported:
    - values that are not literals, but for the number of such threads
    - `map` and `interleave` without `num_parallel_calls`: `deterministic` has no effect there
    - `shuffle` of what is not certainly a dataset of tf.data
    - files that call `enable_op_determinism()`: TensorFlow keeps the order, and raises without a
      seed

    What to do: Leave `deterministic` at its default, which keeps the order. Call
    `tf.keras.utils.set_random_seed(0)` at the start of the program, or pass `seed=0` here. In
    TensorFlow 1 that is `tf.set_random_seed(0)`.

    Fix safety: unsafe. Keeping the order can be slower, and a seed changes the order.
    """

    code = "DET802"
    summary = "a tf.data pipeline gives its elements in varying order"
    triggers = (
        *("deterministic", "experimental_deterministic", "sloppy"),
        *_CALLS,
        "shuffle_files",
        rows.PARALLEL_CALLS,
    )
    needs = ("tensorflow",)
    source = "https://www.tensorflow.org/api_docs/python/tf/data/Dataset"
    shown = "CPU"
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
        """Of parallel calls, only those of Python count."""
        parallel = text.startswith(rows.PARALLEL_CALLS, offset)
        return not parallel or rows.CALLS_PYTHON in text

    @cached_property
    def _is_determined(self) -> bool:
        return keeps_order(self.unit)

    @cached_property
    def _is_seeded(self) -> bool:
        return self._is_determined or self.unit.seeding.seeds(rows.LIBRARY)

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        """Another file of the program keeps the order, or seeds what shuffles."""
        seeded = finding.advice.startswith(_SEED_IT) and program.has("seeds", rows.LIBRARY)
        return seeded or program.has("enables", rows.LIBRARY)

    @classmethod
    def is_left_to_callers(cls, finding: Finding) -> bool:
        return finding.advice.startswith(_SEED_IT)

    def examine(self, offsets: Sequence[int]) -> None:
        for outer in self.unit.functions_at(offsets):
            for function in outer.everything():
                for option in options(function, rows.SWITCHES):
                    self._check_option(option)
                for op in function.coded("call"):
                    self._check_call(op)

    # What gives up the order

    def _check_option(self, option: Setting) -> None:
        op = option.op
        if option.constant is not False:
            return
        if option.form == "attribute" and op.code == "store_attr" and self._is_options(op):
            self._report_order(op, option.node, option.shown("False"), option.replaced("True"))
        elif option.form == "keyword" and _runs_in_parallel(op):
            shown = f".{op.args[0].name}(…, deterministic=False)"
            self._report_order(op, option.node, shown, option.replaced("True"))

    def _is_options(self, store: Op) -> bool:
        """``experimental_deterministic`` is tf.data's by its name."""
        made = {
            rows.plain_name(name)
            for each in store.args[0].origins
            for name in (each.names if each is not None else ())
        }
        own = store.name == "experimental_deterministic"
        return rows.OPTIONS in made or (own and all(x.startswith(rows.LIBRARY) for x in made))

    def _check_call(self, op: Op) -> None:
        called = pipelines.called(op)
        place = next((rows.QUEUES[each] for each in called if each in rows.QUEUES), None)
        sloppy = next(filter(None, map(rows.SLOPPY.get, called)), None)
        if sloppy is not None:
            self._check_sloppy(op, sloppy)
        elif any(map(rows.lists_files, called)):
            self._check_listing(op)
        elif place is not None:
            self._check_queue(op, place)
        elif rows.TFDS in called:
            self._check_loading(op)
        elif op.args[0].code == "attr" and op.args[0].name == "shuffle":
            self._check_shuffle(op)
        elif op.args[0].code == "attr" and op.args[0].name in rows.MAPPING:
            self._check_mapping(op)

    def _check_sloppy(self, call: Op, sloppy: rows.Sloppy) -> None:
        given = call.given(*sloppy)
        written = call.written(*sloppy)
        if given is not None and written and self.unit.values.constant(given) is True:
            shown = f"{said(call)}({sloppy.parameter}=True)"
            self._report_order(call, written, shown, (self.unit.replace(written, "False"),))

    def _check_queue(self, call: Op, place: int) -> None:
        """``tf.train.batch(rows, 32, num_threads=4)``, which takes what some thread has ready."""
        threads, written = call.given(rows.THREADS, place), call.written(rows.THREADS, place)
        if threads is not None and written and self.unit.values.constant(threads) != 1:
            shown = f"{said(call)}({rows.THREADS}={self.unit.text_of(written)})"
            edits = (self.unit.replace(written, "1"),)
            self._report_order(call, written, shown, edits, "let one thread fill the queue")

    def _check_loading(self, call: Op) -> None:
        """``tfds.load(…, shuffle_files=True)`` reads files as threads come to them, unless its
        ``read_config`` has a seed; a global one does not count."""
        shuffles, written = call.given("shuffle_files"), call.written("shuffle_files")
        if shuffles is None or self.unit.values.constant(shuffles) is not True:
            return
        if written and call.given("read_config") is None and not call.unpacks:
            edits = (self.unit.replace(written, "False"),)
            advice = "pass read_config=tfds.ReadConfig(shuffle_seed=0), or shuffle after it"
            self._report_order(call, written, f"{said(call)}(shuffle_files=True)", edits, advice)

    def _check_mapping(self, call: Op) -> None:
        """``data.map(lambda i: tf.py_function(draw, [i], tf.int64), num_parallel_calls=4)``."""
        mapped = call.given("map_func", 0)
        if mapped is None or self._is_determined or not _runs_in_parallel(call):
            return
        draw = next(self._draws(mapped), None)
        if draw is not None and pipelines.holds(call):
            start, _ = draw.op.function.unit.span(draw.op.node)
            where = draw.op.function.unit.source.spoken_place(start)
            self.report(
                call.node,
                f".{call.args[0].name}(…, {rows.PARALLEL_CALLS}=…) calls Python that draws "
                f"({where}), in the order in which threads get to it",
                advice="make a generator for each element, np.random.default_rng([seed, number]), "
                f"or leave {rows.PARALLEL_CALLS} out",
            )

    def _draws(self, mapped: Op) -> Iterator[Draw]:
        """What a mapped function draws in Python; what TensorFlow traces draws once."""
        workers = Workers(self.unit.origins, ("numpy", "random"))
        for made in mapped.origins:
            if made is None or made.function is None:
                continue
            frame = self.unit.origins.frame(made.function, owner=owner_of(made))
            for each in made.function.all_coded("call"):
                run = each.given("func", 0)
                if run is not None and not rows.CALLING_PYTHON.isdisjoint(pipelines.called(each)):
                    yield from workers.of_callable(run, frame)

    def _report_order(
        self,
        op: Op,
        node: ast.AST,
        shown: str,
        edits: tuple[Edit, ...],
        advice: str = _KEEP_IT,
    ) -> None:
        if not (self._is_determined or _is_left_open(op)):
            message = f"{shown} lets threads decide the order of the data"
            self.report(node, message, advice=advice, edits=edits, safe=False)

    # What shuffles

    def _check_listing(self, call: Op) -> None:
        shuffles = call.given("shuffle", 1)
        if shuffles is None or self.unit.values.constant(shuffles) is True:
            self._check_seed(call, 2, f"{said(call)}() shuffles and")

    def _check_shuffle(self, call: Op) -> None:
        if len(call.args) == 1 or any(each.code == "drop" for each in call.uses):
            return  # a dataset takes a size, and is not changed in place
        if self._is_unseeded(call, 1) and pipelines.holds(call):
            dataset = said(call).removesuffix(".shuffle")
            self._check_seed(call, 1, f"{'' if '(' in dataset else dataset}.shuffle()")

    def _is_unseeded(self, call: Op, place: int) -> bool:
        seed = call.given("seed", place)
        missing = seed is None or self.unit.values.constant(seed) is None
        return missing and not call.unpacks and not self._is_seeded

    def _check_seed(self, call: Op, place: int, shown: str) -> None:
        if self._is_unseeded(call, place):
            self.report(
                call.node,
                f"{shown} has no seed, and the file sets no global one",
                advice=f"{_SEED_IT}{seeding(self.unit.source)} first",
                edits=self._seed(call, place),
                safe=False,
            )

    def _seed(self, call: Op, place: int) -> tuple[Edit, ...]:
        written = call.written("seed", place) if call.given("seed", place) else None
        if written is not None:
            return (self.unit.replace(written, "0"),)
        return (self.unit.add_argument(call.call_node, "seed=0"),)


def _is_left_open(op: Op) -> bool:
    """Whether a setting decides that the order is given up. A condition that decides whether a
    dataset has a stage at all, as one that augments, says nothing of the order of that stage."""
    if op.code != "call" or not is_left_open(op):
        return is_left_open(op)
    return any(map(rows.names_order, names_tested(op))) or any(
        word_of(each) == word_of(op) and exclude(each, op)
        for each in op.function.coded("call")
        if each is not op
    )


def _runs_in_parallel(call: Op) -> bool:
    """Whether a method of a dataset works on several elements at a time."""
    calls = call.given(rows.PARALLEL_CALLS)
    if call.args[0].code != "attr" or call.args[0].name not in rows.PARALLEL or calls is None:
        return False
    return call.function.unit.values.constant(calls) not in (None, 1)
