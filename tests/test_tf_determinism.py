"""DET801: what has TensorFlow work deterministically by variables of the environment."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from linted_places import levels

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

_TRAINS = """\
import os
import tensorflow as tf

{line}
{seed}
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(x, y)
"""
_SEED = "tf.keras.utils.set_random_seed(0)"


@pytest.mark.parametrize(
    ("line", "seed", "found"),
    [
        ('os.environ["TF_DETERMINISTIC_OPS"] = "1"', _SEED, 0),
        ('os.environ["TF_DETERMINISTIC_OPS"] = "true"', _SEED, 0),
        ('os.environ["TF_DETERMINISTIC_OPS"] = "1"', "", 1),
        ('os.environ["TF_DETERMINISTIC_OPS"] = "0"', _SEED, 1),
        ('os.environ["TF_CUDNN_DETERMINISTIC"] = "1"', _SEED, 1),
        ("", _SEED, 1),
    ],
)
def test_a_variable_has_operators_repeat(
    project: Project, capsys: Capture, line: str, seed: str, found: int
) -> None:
    project({"train.py": _TRAINS.format(line=line, seed=seed)})
    assert levels(capsys, "DET801") == ["likely"] * found


_OF_OTHERS = "tf.random.set_seed(0); np.random.seed(0)"


@pytest.mark.parametrize(
    ("seed", "required", "found"),
    [
        (_OF_OTHERS, "", 1),
        (_OF_OTHERS, "tensorflow>=2.13", 1),
        (_OF_OTHERS, "tensorflow<2.16", 0),
        (_OF_OTHERS, "keras==2.15.0", 0),
        (f"{_OF_OTHERS}; random.seed(0)", "", 0),
        (f'os.environ["TF_USE_LEGACY_KERAS"] = "1"; {_OF_OTHERS}', "", 0),
    ],
)
def test_keras_3_takes_seeds_from_pythons_generator(
    project: Project, capsys: Capture, seed: str, required: str, found: int
) -> None:
    line = "import random, numpy as np; tf.config.experimental.enable_op_determinism()"
    text = _TRAINS.format(line=line, seed=seed)
    project({"train.py": text, "requirements.txt": required})
    assert levels(capsys, "DET801") == ["likely"] * found


_ASKS = """\
import os
import tensorflow as tf
from tensorflow.python.framework.config import is_op_determinism_enabled

os.environ["{}"] = "{}"
print(is_op_determinism_enabled())
"""


@pytest.mark.parametrize(
    ("name", "value", "on"),
    [
        ("TF_DETERMINISTIC_OPS", "1", True),
        ("TF_DETERMINISTIC_OPS", "true", True),
        ("TF_DETERMINISTIC_OPS", "0", False),
        ("TF_CUDNN_DETERMINISTIC", "1", False),
    ],
)
def test_what_tensorflow_makes_of_it(name: str, value: str, *, on: bool) -> None:
    pytest.importorskip("tensorflow")
    environment = {x: y for x, y in os.environ.items() if not x.startswith("TF_")}
    command = [sys.executable, "-c", _ASKS.format(name, value)]
    said = subprocess.check_output(command, env=environment, stderr=subprocess.DEVNULL, text=True)
    assert said.split()[-1] == str(on)


_EITHER = """\
if hasattr(tf.random, "set_seed"):
    tf.random.set_seed(0)
else:
    tf.set_random_seed(0)
"""


@pytest.mark.parametrize(
    ("seed", "says"),
    [
        ("tf.set_random_seed(0)", "the gradient of `tf.keras.layers.Dense` at train.py:6"),
        ("tf.app.run(main)", "the gradient of `tf.keras.layers.Dense` at train.py:6"),
        ("tf.compat.v1.app.run(main)", "never calls tf.config.experimental"),
        ("tf.random.set_seed(0)", "never calls tf.config.experimental.enable_op_determinism()"),
        (_EITHER, "never calls tf.config.experimental.enable_op_determinism()"),
    ],
)
def test_a_program_of_version_1_is_told_by_how_it_seeds(
    project: Project, capsys: Capture, seed: str, says: str
) -> None:
    project({"train.py": _TRAINS.format(line="", seed=seed)})
    main(["--no-cache", "--output-format", "concise", "--select", "DET801", "."])
    told = capsys.readouterr().out
    assert told.count("DET801") == told.count(says) == 1


_SESSION = """\
import os
import tensorflow as tf
{line}
x = tf.placeholder(tf.float32, [None, 7, 6])
out = {layer}
step = tf.train.AdamOptimizer(0.01).minimize(tf.reduce_mean(out))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step, {{x: rows}})
"""


@pytest.mark.parametrize(
    ("layer", "line", "found"),
    [
        ("tf.layers.conv1d(x, 8, 3)", "", ["likely"]),
        ("tf.nn.bias_add(tf.nn.conv1d(x, w, 1, 'SAME'), b)", "", ["likely"]),
        ("tf.compat.v1.layers.dense(x, 8)", "", ["likely"]),
        ("tf.layers.dense(x, 8, use_bias=False)", "", []),
        ("tf.matmul(x, tf.get_variable('w', [6, 1]))", "", []),
        ("tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)", "", ["likely"]),
        ("tf.compat.v1.losses.sparse_softmax_cross_entropy(y, x)", "", ["likely"]),
        ("tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)", "", []),
        ("tf.layers.conv1d(x, 8, 3)", 'os.environ["TF_DETERMINISTIC_OPS"] = "1"', []),
        ("tf.layers.conv1d(x, 8, 3)", 'os.environ["TF_CUDNN_DETERMINISTIC"] = "1"', []),
        ("tf.layers.conv1d(x, 8, 3)", "from tfdeterminism import patch; patch()", []),
        ("tf.layers.conv1d(x, 8, 3)", 'place = tf.device("/cpu:0")', ["possible"]),
    ],
)
def test_the_gradient_of_a_layer_differs_in_a_session_on_a_gpu(
    project: Project, capsys: Capture, layer: str, line: str, found: list[str]
) -> None:
    project({"train.py": _SESSION.format(layer=layer, line=line)})
    assert levels(capsys, "DET801") == found


@pytest.mark.parametrize(
    ("line", "found"),
    [("Model(); print('done')", "possible"), ("main()", "likely")],
)
def test_a_main_block_that_only_builds_a_graph_runs_no_gradient(
    project: Project, capsys: Capture, line: str, found: str
) -> None:
    body = _SESSION.format(layer="tf.layers.dense(x, 8)", line="")
    head, _, rest = body.partition("x = ")
    made, _, runs = rest.partition("with tf")
    text = f"{head}class Model:\n    def __init__(self):\n"
    text += textwrap.indent(f"x = {made}self.step, self.x = step, x\n", " " * 8)
    text += "\ndef main():\n    model = Model()\n"
    text += textwrap.indent(f"with tf{runs}".replace("step, {x:", "model.step, {model.x:"), "    ")
    project({"train.py": f"{text}\nif __name__ == '__main__':\n    {line}\n"})
    assert levels(capsys, "DET801") == [found]


def test_version_2_has_another_name_for_the_seed() -> None:
    code = "import tensorflow as tf; print(hasattr(tf, 'set_random_seed'), tf.random.set_seed)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if "No module named 'tensorflow'" in done.stderr:
        pytest.skip("TensorFlow is not installed")
    assert done.stdout.startswith("False <function set_seed")


_NET = """\
import tensorflow as tf
from tensorflow import keras

class Net({base}):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.layers.Dense(8)

    def {step}(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self(data))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return loss
"""
_USES_NET = """\
import tensorflow as tf
from net import Net

net = Net()
{use}
"""


@pytest.mark.parametrize(
    ("step", "use", "found"),
    [
        ("train_step", "net.compile()\nnet.fit(x)", 1),
        ("train_step", "net.train_on_batch(x)", 1),
        ("train_step", "net.train_step(x)", 1),
        ("train_step", 'net.load_weights("w")\nprint(net(x))', 0),
        ("one_step", "net.one_step(x)", 1),
        ("one_step", "print(net.predict(x))", 0),
    ],
)
def test_a_step_of_a_model_of_keras_runs_where_something_fits_it(
    project: Project, capsys: Capture, step: str, use: str, found: int
) -> None:
    uses = {"run.py": _USES_NET.format(use=use)}
    for base in ("keras.Model", "tf.keras.Model"):
        project({"net.py": _NET.format(base=base, step=step), **uses})
        assert levels(capsys, "DET801") == ["likely"] * found


_GRAPH = """\
import tensorflow as tf

class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 8])
        h = tf.nn.dropout(self.x, 0.5)
        self.loss = tf.reduce_mean({summed})
        self.step = tf.train.AdamOptimizer(1e-3).minimize(self.loss)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())

    def train(self, x):
        return self.session.run([self.step, self.loss], {{self.x: x}})

if __name__ == "__main__":
    model = Model()
    {use}
"""


@pytest.mark.parametrize(
    ("summed", "use", "expected"),
    [
        ("h", "print(model.train(x))", ["likely"]),
        ("h", "print('built')", ["possible"]),
        ("self.x", "print(model.train(x))", []),  # no part of what runs
        ("tf.layers.dense(self.x, 1)", "print(model.train(x))", ["likely"]),
        ("tf.layers.dense(self.x, 1)", "print('built')", ["possible"]),
    ],
)
def test_a_graph_of_tensorflow_1_draws_where_a_session_runs_it(
    project: Project, capsys: Capture, summed: str, use: str, expected: list[str]
) -> None:
    project({"run.py": _GRAPH.format(summed=summed, use=use)})
    assert levels(capsys, "DET102") == expected


@pytest.mark.parametrize(
    ("use", "expected"), [("print(model.train(x))", "likely"), ("print('built')", "possible")]
)
def test_a_graph_that_is_only_built_adds_up_nothing(
    project: Project, capsys: Capture, use: str, expected: str
) -> None:
    project({"run.py": _GRAPH.format(summed="tf.layers.dense(self.x, 1)", use=use)})
    assert levels(capsys, "DET801") == [expected]
