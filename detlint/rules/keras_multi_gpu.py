"""DET803 keras-multi-gpu."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import is_left_open
from detlint.dataflow.calls import said, word_of
from detlint.dataflow.numerics import pipelines
from detlint.dataflow.randomness.generators import names_given
from detlint.dataflow.slices import closure
from detlint.models import tf_data as rows
from detlint.models.names import words_of
from detlint.models.roles import MEASURED
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Op

# The place of `drop_remainder`, by method.
_BATCHES = {"batch": 1, "padded_batch": 3}
_MOST = 30  # methods called on the data


class KerasMultiGpu(Rule):
    """Why runs differ: On several GPUs each batch is split, and one that does not divide is split
    unevenly. Replicas average over what they got, so results depend on the number of GPUs. With
    `multi_gpu_model`, one GPU may get none, and BatchNormalization's moving variance becomes NaN.
    `device_lib.list_local_devices()` takes the memory of every GPU, from other processes too.

    Reported:
    - `multi_gpu_model(…)`, which Keras has removed; saving its model fails
    - `device_lib.list_local_devices()`
    - `.batch(n)` without `drop_remainder=True` under a `MirroredStrategy`

    Lowers the confidence:
    - a name says that the data is for validation or tests: reported as *possible*

    Not reported:
    - datasets that repeat before they are batched
    - a strategy that is chosen by a setting

    What to do: Use `tf.distribute.MirroredStrategy()`, and pass `drop_remainder=True` to `batch`.
    List GPUs with `tf.config.list_physical_devices("GPU")`, which opens nothing.
    """

    code = "DET803"
    summary = "Keras on several GPUs splits batches unevenly"
    triggers = ("multi_gpu_model", "list_local_devices", "MirroredStrategy", ".batch(")
    needs = ("multi_gpu_model", "list_local_devices", "MirroredStrategy(")
    source = "https://github.com/keras-team/keras/issues/11858"
    examples = (
        Example(
            bad="""
                from keras.utils import multi_gpu_model

                def parallel(model):
                    return multi_gpu_model(model, gpus=4)  # DET803
            """,
        ),
        Example(
            bad="""
                from tensorflow.python.client import device_lib

                gpus = [each for each in device_lib.list_local_devices() if each.device_type == "GPU"]  # DET803
            """,  # noqa: E501
            good="""
                import tensorflow as tf

                gpus = tf.config.list_physical_devices("GPU")
            """,
        ),
        Example(
            bad="""
                import tensorflow as tf

                strategy = tf.distribute.MirroredStrategy()
                data = tf.data.Dataset.range(100).batch(8)  # DET803
            """,
            good="""
                import tensorflow as tf

                strategy = tf.distribute.MirroredStrategy()
                data = tf.data.Dataset.range(100).batch(8, drop_remainder=True)
            """,
        ),
    )

    @cached_property
    def _has_strategy(self) -> bool:
        """Whether the file trains on several devices, whatever its settings say."""
        return any(
            not rows.STRATEGIES.isdisjoint(pipelines.called(op))
            and not self._has_one_device(op)
            and not is_left_open(op)
            for outer in self.unit.functions_holding("MirroredStrategy")
            for function in outer.everything()
            for op in function.coded("call")
        )

    def _has_one_device(self, strategy: Op) -> bool:
        devices = strategy.given("devices", 0)
        return devices is not None and devices.code in ("list", "tuple") and len(devices.args) == 1

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            called = pipelines.called(op)
            if any(map(rows.is_multi_gpu, called)):
                self.report(
                    op.node,
                    "multi_gpu_model() may leave a GPU without data: its BatchNormalization turns "
                    "NaN",
                    advice="use tf.distribute.MirroredStrategy and drop the remainder of the data",
                )
            elif rows.LIST_DEVICES in called and len(op.args) == 1:
                self.report(
                    op.node,
                    f"{said(op)}() takes the memory of every GPU, to list them",
                    advice='list them by tf.config.list_physical_devices("GPU")',
                )
            elif op.args[0].code == "attr" and op.args[0].name in _BATCHES:
                self._check_batch(op, op.args[0].args[0])

    def _check_batch(self, call: Op, dataset: Op) -> None:
        if len(call.args) == 1 or call.unpacks or not self._has_strategy:
            return
        confidence = Confidence.POSSIBLE if _is_measured(call) else self.confidence
        if not self.wants(confidence) or self._is_even(call):
            return
        if not pipelines.is_endless(dataset) and pipelines.holds(call):
            self.report(
                call.node,
                f".{word_of(call)}() keeps the remainder, "
                "which this file's MirroredStrategy splits unevenly over the GPUs",
                advice="pass drop_remainder=True",
                confidence=confidence,
            )

    def _is_even(self, call: Op) -> bool:
        """Whether no batch is smaller than others: the rest is dropped, or each holds one."""
        size = call.given("batch_size", 0)
        drop = call.given("drop_remainder", _BATCHES[word_of(call)])
        constant = self.unit.values.constant
        of_one = size is not None and constant(size) == 1
        return of_one or (drop is not None and constant(drop) is not False)


def _is_measured(call: Op) -> bool:
    """Whether a name around it says that a model is measured on the data, of which nothing may be
    dropped."""
    return any(not MEASURED.isdisjoint(words_of(name)) for name in _names_around(call))


def _names_around(call: Op) -> Iterator[str]:
    """Of the functions, and of the variables and parameters that the data is handed to."""
    yield from (each.name for each in call.function.around())
    methods = closure([call], lambda x: (*x.calls, *(y for y in x.uses if y.code == "attr")), _MOST)
    yield from (name for each in methods for name in names_given(each))
