"""DET803 keras-multi-gpu."""

from __future__ import annotations

import re
from functools import cached_property

from detlint.analysis.branches import behind_setting
from detlint.analysis.switches import code
from detlint.analysis.tf_datasets import TensorFlowDatasets, plain_name
from detlint.models.names import words_of
from detlint.rule import Confidence, Example, Rule, cst

_MULTI_GPU = re.compile(
    r"(?:tensorflow\.|tensorflow\.contrib\.)?(?:keras|tf_keras)\.(?:[\w.]+\.)?multi_gpu_model$"
)
_LIST_DEVICES = frozenset({"tensorflow.client.device_lib.list_local_devices"})
_STRATEGIES = re.compile(
    r"tensorflow\.(?:distribute\.(?:experimental\.)?|contrib\.distribute\.)"
    r"(?:MirroredStrategy|MultiWorkerMirroredStrategy)$"
)
_BATCHES = frozenset({"batch", "padded_batch"})
# Data of which nothing may be dropped, since a model is measured on it.
_MEASURED = frozenset(
    {"dev", "eval", "evaluate", "evaluation", "infer", "inference", "predict", "prediction"}
    | {"test", "testing", "val", "valid", "validate", "validation"}
)


class KerasMultiGpu(Rule):
    """Why runs differ: On several GPUs each batch is split, and one that does not divide is split
    unevenly. Replicas average over what they got, so results depend on the number of GPUs. With
    `multi_gpu_model`, one GPU may get none, and BatchNormalization's moving variance becomes NaN.
    `device_lib.list_local_devices()` takes the memory of every GPU, from other processes too.

    Reported:
    - `multi_gpu_model(…)`, which Keras has removed; saving its model fails
    - `device_lib.list_local_devices()`
    - `.batch(n)` without `drop_remainder=True` under a `MirroredStrategy`

    Not reported:
    - datasets that repeat before they are batched
    - datasets that a name says are for validation or tests
    - a strategy that is chosen by a setting

    What to do: Use `tf.distribute.MirroredStrategy()`, and pass `drop_remainder=True` to `batch`.
    List GPUs with `tf.config.list_physical_devices("GPU")`, which opens nothing.
    """

    code = "DET803"
    summary = "Keras on several GPUs splits batches unevenly"
    triggers = ("multi_gpu_model", "list_local_devices", "MirroredStrategy", ".batch(")
    needs = ("multi_gpu_model", "list_local_devices", "MirroredStrategy(")
    source = "https://github.com/keras-team/keras/issues/11858"
    confidence = Confidence.LIKELY
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
    def _datasets(self) -> TensorFlowDatasets:
        return TensorFlowDatasets(self.module)

    @cached_property
    def _has_strategy(self) -> bool:
        """Whether the file trains on several devices, whatever its settings say."""
        return any(
            isinstance(node, cst.Call)
            and _STRATEGIES.match(plain_name(self.module.called(node))) is not None
            and not self._has_one_device(node)
            and not behind_setting(self.module, node)
            for node in self.module.tree.nodes
        )

    def _has_one_device(self, strategy: cst.Call) -> bool:
        devices = self.module.literal(self.module.argument(strategy, "devices", 0))
        return isinstance(devices, (list, tuple)) and len(devices) == 1

    def visit_Call(self, node: cst.Call) -> None:
        name = plain_name(self.module.called(node))
        if _MULTI_GPU.match(name):
            self.report(
                node,
                "multi_gpu_model() may leave a GPU without data: its BatchNormalization turns NaN",
                advice="use tf.distribute.MirroredStrategy and drop the remainder of the data",
            )
        elif name in _LIST_DEVICES and not node.args:
            self.report(
                node,
                f"{code(node.func)}() takes the memory of every GPU, to list them",
                advice='list them by tf.config.list_physical_devices("GPU")',
            )
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value in _BATCHES:
            self._check_batch(node, node.func)

    def _check_batch(self, call: cst.Call, function: cst.Attribute) -> None:
        given = self.module.argument(call, "drop_remainder", self._position(function))
        if self.module.has_unpacking(call) or not call.args or not self._has_strategy:
            return
        dropped = given is not None and self.module.literal(given) is not False
        if (
            dropped
            or self._divides(call, function)
            or self._datasets.repeats_before(call)
            or self._is_measured(call)
        ):
            return
        if self._datasets.holds(call):
            self.report(
                call,
                f".{function.attr.value}() keeps the remainder, "
                "which this file's MirroredStrategy splits unevenly over the GPUs",
                advice="pass drop_remainder=True",
            )

    def _divides(self, call: cst.Call, function: cst.Attribute) -> bool:
        batch = self.module.literal(self.module.argument(call, "batch_size", 0))
        size = self._datasets.size(function.value)
        return batch == 1 or (isinstance(batch, int) and size is not None and size % batch == 0)

    @staticmethod
    def _position(function: cst.Attribute) -> int:
        return 1 if function.attr.value == "batch" else 3

    def _is_measured(self, call: cst.Call) -> bool:
        """Whether a name around it says that a model is measured on the data."""
        for above in self.module.ancestors(call):
            names: list[cst.CSTNode] = []
            if isinstance(above, cst.Assign):
                names = [each.target for each in above.targets]
            elif isinstance(above, cst.FunctionDef):
                names = [above.name]
            elif isinstance(above, cst.Arg) and above.keyword is not None:
                names = [above.keyword]
            texts = (code(each) for each in names if isinstance(each, cst.BaseExpression))
            if any(_MEASURED & set(words_of(text)) for text in texts):
                return True
        return False
