"""tf.data: what makes a dataset, what a dataset has, and what gives up its order."""

from __future__ import annotations

from typing import NamedTuple

from detlint.models.model import Names, words
from detlint.models.names import holds

LIBRARY = "tensorflow"
# The modules by which TensorFlow gives the same names once more.
_VERSIONS = ("compat.v1.", "compat.v2.", "_api.v1.", "_api.v2.", "python.", "contrib.")

OPTIONS = "tensorflow.data.Options"
TFDS = "tensorflow_datasets.load"
# Switches of a dataset's options; the second is theirs alone by its name.
SWITCHES = words("deterministic experimental_deterministic")
ORDERS = "enable_op_determinism"
# Methods that take `deterministic`, which counts where they run in parallel.
PARALLEL = words("batch interleave map padded_batch")

# What calls a function of Python for each element, and how it is written. Several calls at a time
# draw from one generator in the order in which threads get to it; with deterministic operators,
# TensorFlow 2.21 makes one call after the other.
CALLING_PYTHON = frozenset(
    ("tensorflow.numpy_function", "tensorflow.py_function", "tensorflow.py_func")
)
CALLS_PYTHON = "py_func"
PARALLEL_CALLS = "num_parallel_calls"
MAPPING = words("interleave map")

# Parts of the names of settings that decide about the order.
# Whether a setting is of the order in which elements come, or of speed, by its name.
names_order = holds("determin sloppy order repro fast speed")


class Sloppy(NamedTuple):
    """By which parameter a function may hand elements on as they come, and its place."""

    parameter: str
    place: int | None = None


SLOPPY = {
    "tensorflow.data.experimental.parallel_interleave": Sloppy("sloppy", 3),
    "tensorflow.data.parallel_interleave": Sloppy("sloppy", 3),
    "tensorflow.data.experimental.make_csv_dataset": Sloppy("sloppy"),
    "tensorflow.data.experimental.make_batched_features_dataset": Sloppy("sloppy_ordering"),
    "tensorflow.data.make_batched_features_dataset": Sloppy("sloppy_ordering"),
}

# Queues of TensorFlow 1 that several threads fill, each with the place of their number.
QUEUES = {
    "tensorflow.train.batch": 2,
    "tensorflow.train.maybe_batch": 3,
    "tensorflow.train.shuffle_batch": 4,
    "tensorflow.train.maybe_shuffle_batch": 5,
    "tensorflow.training.bucket": 4,
    "tensorflow.training.bucket_by_sequence_length": 4,
}
THREADS = "num_threads"

# What no other library's data sets have.
METHODS = words(
    """as_numpy_iterator bucket_by_sequence_length cache interleave padded_batch prefetch
    ragged_batch sparse_batch with_options"""
)
KEYWORDS = words(
    "cycle_length drop_remainder num_parallel_calls padded_shapes reshuffle_each_iteration"
)
# Methods of other libraries by which they give a dataset.
GIVING = words("as_dataset to_tf_dataset")

STRATEGIES = frozenset(
    f"tensorflow.distribute.{place}{name}"
    for place in ("", "experimental.")
    for name in ("MirroredStrategy", "MultiWorkerMirroredStrategy")
)
LIST_DEVICES = "tensorflow.client.device_lib.list_local_devices"
_OF_KERAS = ("keras", "tf_keras", "tensorflow.keras")


def plain_name(name: str) -> str:
    """``tensorflow.compat.v1.data.Options`` → ``tensorflow.data.Options``, also of what a library
    that imports TensorFlow late hands out."""
    _, found, rest = f".{name}".partition(".tensorflow.")
    if not found:
        return name
    for each in _VERSIONS:
        rest = rest.removeprefix(each)
    return f"{LIBRARY}.{rest}"


def makes_dataset(name: str) -> bool:
    """Whether a function gives a dataset, or a dict of them, by its plain name."""
    owner, _, word = name.rpartition(".")
    if name == TFDS or is_dataset(owner):
        return True
    if owner.startswith(_OF_KERAS):
        return word.endswith(("_dataset_from_directory", "_dataset_from_array"))
    made = word.startswith("make_") and word.endswith("_dataset")
    return is_dataset(name) or (made and name.startswith("tensorflow.data."))


# Whether it is a class of datasets: ``tensorflow.data.TFRecordDataset``.
is_dataset = Names("tensorflow.data.**.*Dataset{,V2}")
# Whether it is ``Dataset.list_files``, also where TensorFlow itself has it from.
lists_files = Names("tensorflow.**.Dataset.list_files")


def is_multi_gpu(name: str) -> bool:
    """Whether it is Keras' ``multi_gpu_model``."""
    return name.startswith(_OF_KERAS) and name.endswith(".multi_gpu_model")
