import random

import numpy as np
import tensorflow as tf
import tensorflow as renamed
import tensorflow.compat.v1 as tf1
import tensorflow_datasets as tfds
from keras.src.utils.module_utils import tensorflow as late
from tensorflow import keras
from tensorflow.data import AUTOTUNE, Dataset, Options

options = tf.data.Options()
options.deterministic = False  # DET802
options.experimental_deterministic = False  # DET802
other = Options()
other.deterministic = False  # DET802
old = tf1.data.Options()
old.experimental_deterministic = False  # DET802
tf.data.Dataset.range(8).options().experimental_deterministic = False  # DET802


def parallel(files, parse, ds):
    files = tf.data.Dataset.list_files(files, shuffle=False)
    records = files.interleave(
        tf.data.TFRecordDataset,
        cycle_length=4,
        num_parallel_calls=AUTOTUNE,
        deterministic=False,  # DET802
    )
    records = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)  # DET802
    records = records.batch(8, num_parallel_calls=4, deterministic=False)  # DET802
    records = records.apply(
        tf.data.experimental.parallel_interleave(tf.data.TFRecordDataset, 4, sloppy=True)  # DET802
    )
    records = records.apply(tf.data.experimental.parallel_interleave(parse, 4, 1, True))  # DET802
    records = records.apply(tf1.data.experimental.parallel_interleave(parse, sloppy=True))  # DET802
    tf.data.experimental.make_csv_dataset("a.csv", 8, sloppy=True)  # DET802
    return records


def shuffled(paths, ds, dataset, directory):
    first = tf.data.Dataset.from_tensor_slices(paths).shuffle(100)  # DET802
    second = Dataset.range(9).shuffle(9, reshuffle_each_iteration=True).batch(3)  # DET802
    third = renamed.data.TFRecordDataset(paths)
    third = third.map(str)
    third = third.shuffle(10, seed=None)  # DET802
    third = third.shuffle(10, None)  # DET802
    fourth = tfds.load("mnist", split="train")
    fourth = fourth.shuffle(1024)  # DET802
    splits = tfds.load("mnist")
    fifth = splits["train"].shuffle(1024)  # DET802
    sixth = keras.utils.image_dataset_from_directory(directory).shuffle(8)  # DET802
    ds = ds.shuffle(8)  # DET802
    ds = ds.batch(8).prefetch(AUTOTUNE)
    dataset = dataset.shuffle(buffer_size=8).map(str, num_parallel_calls=2)  # DET802
    seventh = late.data.Dataset.from_tensor_slices(paths).shuffle(3)  # DET802
    return first, second, third, fourth, seventh, fifth, sixth, ds


def annotated(data: tf.data.Dataset):
    return data.shuffle(16)  # DET802


def quoted(data: "tf.data.Dataset", other: tf.data.Dataset | None = None):
    yield data.shuffle(16)  # DET802
    yield other.shuffle(16)  # DET802


def from_files(config):
    first = tfds.load("mnist", split="train", shuffle_files=True)  # DET802
    second = tfds.load("mnist", shuffle_files=True, read_config=config)
    third = tfds.load("mnist", shuffle_files=config)
    return first, second, third, tfds.load("mnist", shuffle_files=False)


def built() -> tf.data.Dataset:
    return tf.data.Dataset.range(3)


def unannotated(paths):
    data = tf.data.TextLineDataset(paths)
    return data


ordered = built().shuffle(3)  # DET802
lines = unannotated(["a"])
lines = lines.shuffle(4)  # DET802

def sloppy(files, parse):
    return tf.data.experimental.make_batched_features_dataset(
        files,
        8,
        parse,
        sloppy_ordering=True,  # DET802
    )


# Silent

options.deterministic = True
options.experimental_deterministic = None
options.experimental_slack = False


def by_value(ds, parse, deterministic, seed, training, model, config):
    ds = ds.map(parse, num_parallel_calls=4, deterministic=deterministic)
    ds = ds.map(parse, num_parallel_calls=4, deterministic=True)
    ds = ds.map(parse, deterministic=False)  # no effect without parallel calls
    ds = ds.map(parse, num_parallel_calls=None, deterministic=False)
    ds = ds.shuffle(8, seed=seed)
    ds = ds.shuffle(8, seed)
    ds = ds.shuffle(8, seed=1)
    ds = ds.shuffle(8, 1)
    choice = tf.data.Options()
    choice.experimental_deterministic = not training
    choice.deterministic = deterministic
    if training:
        choice.experimental_deterministic = False
    model.deterministic = False
    config.deterministic = False
    tf.data.experimental.make_csv_dataset("a.csv", 8, sloppy=False)
    return ds.with_options(choice)


def listed(pattern, seed):
    yield tf.data.Dataset.list_files(pattern)  # DET802
    yield tf.data.Dataset.list_files(pattern, shuffle=True)  # DET802
    yield Dataset.list_files(pattern, True, None)  # DET802
    yield tf.data.Dataset.list_files(pattern, shuffle=False)
    yield tf.data.Dataset.list_files(pattern, False)
    yield tf.data.Dataset.list_files(pattern, shuffle=pattern)
    yield tf.data.Dataset.list_files(pattern, seed=seed)
    yield pattern.list_files("a")


def dropped(paths):
    data = tf.data.Dataset.from_tensor_slices(paths)
    data.shuffle(8)
    return data


def not_datasets(rows, hf_dataset, loader, args):
    random.shuffle(rows)
    np.random.shuffle(rows)
    rows.shuffle(3)
    hf_dataset.shuffle(seed=1)
    tf.random.shuffle(rows)
    loader.shuffle()
    args.shuffle(8)
    return Dataset.range(3).shuffle(3, **args)


class Batches:
    def __init__(self, paths):
        self.data = tf.data.TFRecordDataset(paths)
        self.rows = list(paths)

    def rounds(self):
        return self.data.map(str).shuffle(8)  # DET802

    def mixed(self):
        self.rows.shuffle(8)
        return self.rows.shuffle(8)


class Reader:
    deterministic = False

    def __init__(self, deterministic=False):
        self.deterministic = False


def a_stage_by_option(paths, augment, fast, parse):
    data = tf.data.Dataset.from_tensor_slices(paths)
    if augment:
        data = data.map(parse, num_parallel_calls=8, deterministic=False)  # DET802
    if fast:
        data = data.map(str, num_parallel_calls=8, deterministic=False)
    return data


def order_by_option(paths, training, parse):
    data = tf.data.Dataset.from_tensor_slices(paths)
    if training:
        return data.map(parse, num_parallel_calls=8, deterministic=False)
    return data.map(parse, num_parallel_calls=8)


def queues(rows, lengths, options):
    yield tf.train.batch([rows], 8, num_threads=4)  # DET802
    yield tf.train.batch([rows], 8, 4)  # DET802
    yield tf1.train.shuffle_batch([rows], 8, 100, 10, num_threads=2, seed=0)  # DET802
    yield tf.contrib.training.bucket_by_sequence_length(
        lengths,
        [rows],
        8,
        [10, 20],
        num_threads=options.threads,  # DET802
    )
    yield tf.train.batch([rows], 8)
    yield tf.train.batch([rows], 8, num_threads=1)
    yield tf1.train.batch([rows], 8, 1)
    yield rows.batch(8, num_threads=4)


# Python that threads call


def drawn(number):
    return np.random.choice(10, 3)


def drawn_by_number(number):
    return np.random.default_rng([0, number]).choice(10, 3)


def not_drawn(number):
    return number + 1


@tf.function
def wrapped(number):
    return tf.py_function(drawn, [number], tf.int64)


class Rows:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def load(self, number):
        return self.rng.choice(10, 3)

    def rows(self):
        data = tf.data.Dataset.range(100)
        return data.map(  # DET802
            lambda x: tf.numpy_function(self.load, [x], tf.int64), num_parallel_calls=8
        )


def in_threads(n):
    data = tf.data.Dataset.range(100)
    a = data.map(wrapped, num_parallel_calls=tf.data.AUTOTUNE)  # DET802
    b = data.map(lambda x: tf.py_function(drawn, [x], tf.int64), num_parallel_calls=n)  # DET802
    c = data.map(wrapped)
    d = data.map(wrapped, num_parallel_calls=1)
    e = data.map(lambda x: tf.py_function(drawn_by_number, [x], tf.int64), num_parallel_calls=4)
    f = data.map(lambda x: tf.py_function(not_drawn, [x], tf.int64), num_parallel_calls=4)
    g = data.map(lambda x: x + np.random.choice(10), num_parallel_calls=4)  # traced once
    return a, b, c, d, e, f, g
