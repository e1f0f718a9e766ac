import keras
import tensorflow as tf
from keras.utils import multi_gpu_model
from keras.utils.training_utils import multi_gpu_model as parallelise
from tensorflow.keras import utils
from tensorflow.python.client import device_lib
from tensorflow.python.client.device_lib import list_local_devices
from tensorflow.python.keras.utils.multi_gpu_utils import multi_gpu_model as third

# A model for several GPUs


def parallel(model, gpus, cfg):
    yield multi_gpu_model(model, gpus=gpus)  # DET803
    yield parallelise(model, 2)  # DET803
    yield third(model, 2)  # DET803
    yield utils.multi_gpu_model(model, gpus=gpus)  # DET803
    yield keras.utils.multi_gpu_model(model)  # DET803
    yield tf.keras.utils.multi_gpu_model(model)  # DET803
    yield tf.compat.v1.keras.utils.multi_gpu_model(model, gpus)  # DET803
    if gpus > 1:
        yield multi_gpu_model(model, gpus=gpus)  # DET803


# Devices


def gpus():
    devices = device_lib.list_local_devices()  # DET803
    return [each.name for each in list_local_devices()] + devices  # DET803


# Batches under a strategy

strategy = tf.distribute.MirroredStrategy()
train = tf.data.Dataset.range(100).shuffle(100).batch(8)  # DET803
with strategy.scope():
    inside = tf.data.Dataset.range(100).batch(8, drop_remainder=False)  # DET803


def batches(images, size, pipeline, decode, rows):
    images = tf.data.Dataset.from_tensor_slices(images)
    images = images.map(decode, num_parallel_calls=4)
    images = images.batch(size * strategy.num_replicas_in_sync)  # DET803
    images = images.padded_batch(8, padded_shapes=[None])  # DET803
    pipeline = pipeline.batch(size).prefetch(tf.data.AUTOTUNE)  # DET803
    return images, pipeline


# Possible: a model is measured on them


def validation(images, size):
    return tf.data.Dataset.from_tensor_slices(images).batch(size)  # DET803


def split(images, size):
    test_data = tf.data.Dataset.from_tensor_slices(images).batch(size)  # DET803
    model = keras.Sequential()
    model.fit(train, validation_data=tf.data.Dataset.from_tensor_slices(images).batch(size))  # DET803
    return test_data


# Silent


def complete(images, size, drop, rows, loader, endless, options):
    images = tf.data.Dataset.from_tensor_slices(images)
    yield images.batch(size, drop_remainder=True)
    yield images.batch(size, True)
    yield images.batch(size, drop_remainder=drop)
    yield images.padded_batch(8, [None], None, True)
    yield images.batch(1)
    yield images.batch(size, **options)
    yield images.repeat().batch(size)
    yield images.repeat().map(str).batch(size)
    yield rows.batch(size)
    yield loader.batch()
    endless = tf.data.Dataset.from_tensor_slices(endless)
    endless = endless.repeat()
    endless = endless.batch(size)
    yield endless


def own(multi_gpu_model, device_lib, model):
    device_lib.list_local_devices()
    return multi_gpu_model(model)


def with_config(config):
    return device_lib.list_local_devices(config)


tf.config.list_physical_devices("GPU")
