"""DET801 tf-determinism-never-enabled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.callgraph.start import start_of
from detlint.callgraph.tensorflow import (
    backend_is_open,
    hints_at_jax,
    imported,
    in_sessions,
    only_builds,
    training,
)
from detlint.models.settings import KERAS_2, KERAS_3_SINCE, SWITCHED_SINCE
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.finding import Edit, Finding
    from detlint.settings import Settings

_CPU = ('"/cpu', "'/cpu", '"/device:CPU', "'/device:CPU")
# What has TensorFlow ask for determinism when it first needs to know (2.21), and what no longer
# does.
_VARIABLE, _OLD = "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC"
_ON = ("1", "true")
_BY_PYTHON = ": layers of Keras 3 take their seeds from Python's generator, which nothing seeds"
# Of TensorFlow 1.
_SWITCHING = ("fwr13y", "fwd9m", "tfdeterminism")
_SWITCH = (
    "call fwr13y.d9m.tensorflow.enable_determinism(), of the package framework-reproducibility, "
    "before the graph is built (TensorFlow 1.14 or later)"
)
_OF_OLDER = (
    "move to TensorFlow 2.8 or later, which has these: what the project requires is older; or set "
    f"{_VARIABLE}=1 (TensorFlow 2.1 or later), and seed by tf.random.set_seed(0)"
)
_WITHOUT_SWITCH = (
    'call it in `with tf.device("/cpu:0"):`, or move to TensorFlow 2.8 or later and call '
    "tf.config.experimental.enable_op_determinism()"
)


class TfDeterminismNeverEnabled(Rule):
    """Why runs differ: TensorFlow's operators may use several threads, or a GPU's atomics, in
    whatever order they come. `tf.config.experimental.enable_op_determinism()` stops that, since
    TensorFlow 2.8, and needs a seed. `TF_DETERMINISTIC_OPS=1` does the same, if it is set before
    the first operator. The older `TF_CUDNN_DETERMINISTIC` reaches fewer operators.

    Reported:
    - a program that trains with TensorFlow or Keras, while nothing that it imports turns
      determinism on, nor does `TF_DETERMINISTIC_OPS=1`
    - the same where nothing sets the seed
    - one that trains with Keras 3, where nothing seeds Python's `random`. Keras takes the seeds of
      weights and dropout from it
    - one that trains with TensorFlow 1 and calls `unsorted_segment_sum` or its like, or a cross
      entropy of logits. These add up by atomics on a GPU, and there is no switch for them
    - the same of the gradients of biases and convolutions, if nothing asks for determinism:
      `TF_DETERMINISTIC_OPS`, or NVIDIA's framework-reproducibility
    - one finding for each program

    Lowers the confidence:
    - the program is for something else by its name, such as a benchmark: reported as *possible*
    - it names no backend of Keras, and sets a variable of JAX, as `XLA_PYTHON_CLIENT_PREALLOCATE`:
      *possible*. So is what adds up in TensorFlow 1 in a file that names the CPU as a device. So it
      is where a main block only builds a graph

    Not reported:
    - Keras that runs on torch or JAX
    - `model.fit(x, y)` of something unseen, in a file that imports estimators as scikit-learn's
    - the seed of a program whose file needs TensorFlow 1: `tf.Session`, `tf.placeholder`,
      `tf.compat.v1.Session`, or `tf.set_random_seed` alone (DET102 asks for it)

    What to do: Call `tf.keras.utils.set_random_seed(0)` and
    `tf.config.experimental.enable_op_determinism()` at the start of the program. The first seeds
    Python, NumPy and TensorFlow.

    Fix safety: unsafe. It seeds with 0. Operators without a deterministic implementation raise, and
    others may take longer.
    """

    code = "DET801"
    summary = "a program trains with TensorFlow, and determinism or the seed is missing"
    triggers = ()
    source = (
        "https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_op_determinism"
    )
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import tensorflow as tf

                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(loss="mse")
                model.fit(x, y)  # DET801
            """,
            fixed="""
                import tensorflow as tf

                tf.keras.utils.set_random_seed(0)
                tf.config.experimental.enable_op_determinism()

                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(loss="mse")
                model.fit(x, y)
            """,
        ),
    )

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:
        first, sure = training(program), cls.confidence
        if first is None and settings.bar(cls.code) == Confidence.POSSIBLE:
            first, sure = training(program, apart=True), Confidence.POSSIBLE
        if first is None:
            yield from cls._of_sessions(program)
            return
        if hints_at_jax(program):
            sure = Confidence.POSSIBLE
        library = "Keras, on TensorFlow by default" if backend_is_open(program) else "TensorFlow"
        missing = []
        asked = (each.fact.text.lower() for each in program.facts("sets", _VARIABLE))
        if not (program.has("enables", "tensorflow") or any(map(_ON.__contains__, asked))):
            missing.append("tf.config.experimental.enable_op_determinism()")
        beside = program.seed_order.unseeded_branches("tensorflow")
        python = cls._seeds_by_python(program) and not program.has("seeds", "random")
        seeds = program.has("seeds", "tensorflow") and not any(holds(first) for _, holds in beside)
        if python or not seeds:
            missing.append("tf.keras.utils.set_random_seed(seed)")
        if missing:
            advice = f"call {' and '.join(missing)} at the start of {program.title}"
            edits = cls._fix(program, missing)
            if program.asks_for_older("tensorflow", SWITCHED_SINCE["tensorflow"]):
                advice, edits = _OF_OLDER, ()
            also = f" ({_OLD} reaches fewer operators)" if program.has("sets", _OLD) else ""
            also += _BY_PYTHON if python and seeds else ""
            yield program.finding(
                cls,
                first,
                f"{program.title} trains with {library} ({program.shown(first)}) and never "
                f"calls {' nor '.join(missing)}{also}",
                advice,
                edits,
                confidence=sure,
            )

    @classmethod
    def _of_sessions(cls, program: Program) -> Iterator[Finding]:
        """A sum that differs on a GPU in TensorFlow 1, which has no switch for it, or a gradient,
        for which a library has one."""
        first = in_sessions(program)
        if first is None:
            return
        adds, of, advised = program.first("atomics", "tensorflow"), "", _WITHOUT_SWITCH
        if adds is None and not cls._is_switched(program):
            adds, of, advised = program.first("atomics", "gradient"), "the gradient of ", _SWITCH
        if adds is None:
            return
        builds = only_builds(program)
        on_cpu = any(each == adds.path for each in program.holding(*_CPU))
        yield program.finding(
            cls,
            first,
            f"{program.title} trains with TensorFlow 1 ({program.shown(first)}), and "
            f"{of}`{adds.fact.text.partition('(')[0]}` at {program.place_of(adds)} adds up in "
            "another order in each run on a GPU",
            advised,
            confidence=Confidence.POSSIBLE if on_cpu or builds else cls.confidence,
        )

    @staticmethod
    def _seeds_by_python(program: Program) -> bool:
        """Whether layers take their seeds from Python's global generator."""
        older = any(program.asks_for_older(*each) for each in KERAS_3_SINCE)
        return program.has("trains", "keras") and not (older or any(program.holding(*KERAS_2)))

    @staticmethod
    def _is_switched(program: Program) -> bool:
        """Whether it asks for determinism by a variable or by a library."""
        asks = any(program.has("sets", each) for each in (_VARIABLE, _OLD))
        return asks or program.has("enables", "tensorflow") or program.imports(*_SWITCHING)

    @staticmethod
    def _fix(program: Program, missing: Sequence[str]) -> tuple[Edit, ...]:
        """The calls where the program starts, the seed first; none where TensorFlow has no name
        there."""
        row, name = imported(program.source)
        if not name.isidentifier():
            return ()
        lines = (each.replace("tf.", f"{name}.", 1).replace("(seed)", "(0)") for each in missing)
        place = start_of(program, row)
        return (place.insert(*reversed(list(lines))),) if place else ()
