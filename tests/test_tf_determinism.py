"""DET801: what has TensorFlow work deterministically by variables of the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from linted_places import levels

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
    ("seed", "found"),
    [
        ("tf.set_random_seed(0)", 0),
        ("tf.random.set_seed(0)", 1),
        (_EITHER, 1),
    ],
)
def test_a_program_of_version_1_is_told_by_how_it_seeds(
    project: Project, capsys: Capture, seed: str, found: int
) -> None:
    project({"train.py": _TRAINS.format(line="", seed=seed)})
    assert levels(capsys, "DET801") == ["likely"] * found


def test_version_2_has_another_name_for_the_seed() -> None:
    code = "import tensorflow as tf; print(hasattr(tf, 'set_random_seed'), tf.random.set_seed)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if "No module named 'tensorflow'" in done.stderr:
        pytest.skip("TensorFlow is not installed")
    assert done.stdout.startswith("False <function set_seed")
