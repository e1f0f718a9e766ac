"""How a program trains with TensorFlow: as version 2 does, or in the sessions of version 1."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from detlint.fixes.insertions import imports_of
from detlint.index.facts import OF_JAX
from detlint.models.training import INITIALIZING

if TYPE_CHECKING:
    from detlint.callgraph.fact_base import Located
    from detlint.callgraph.program import Program
    from detlint.sources.source import Source

_BACKENDS = ("torch", "jax")
_ITSELF = ("tensorflow", "tensorflow.compat.v2")
_OLD = "tensorflow.compat.v1"
# What TensorFlow 2 has no more, but below ``compat.v1``.
_SESSIONS = re.compile(
    r"\btf\.(compat\.v1\.)?(?:Session|InteractiveSession|placeholder|get_variable|variable_scope"
    r"|contrib|layers|disable_(?:eager_execution|v2_behavior)|train\.\w+(?:Optimizer|Session)"
    r"|read_file|py_func|global_variables_initializer|image\.resize_images"
    r"|(?<!v1\.)(?:app|flags))\b"
)
_SEEDS = re.compile(r"\btf\.set_random_seed\(")  # which TensorFlow 2 has under …
_SEEDS_OF_2 = "random.set_seed("
_STEP = re.compile(r"\.(?:minimize|apply_gradients)\(")  # which a graph holds until it runs


def training(program: Program, *, apart: bool = False) -> Located | None:
    """Where a program trains with TensorFlow 2 or Keras on it; None for another backend, or for
    TensorFlow 1."""
    first = _training(program, apart=apart)
    return None if first is None or needs_sessions(program, first) else first


def backend_is_open(program: Program) -> bool:
    """Whether a program names Keras alone, which may run on another backend than TensorFlow."""
    return not program.imports("tensorflow")


def hints_at_jax(program: Program) -> bool:
    """Whether a program of which the backend is open sets a variable of JAX."""
    return backend_is_open(program) and any(program.has("sets", each) for each in OF_JAX)


def in_sessions(program: Program) -> Located | None:
    """Where a program trains with TensorFlow 1."""
    first = _training(program)
    return first if first is not None and needs_sessions(program, first) else None


def only_restores(program: Program) -> bool:
    """Whether a program of TensorFlow 1 gets all variables from a checkpoint: it runs nothing that
    gives them their first values."""
    if in_sessions(program) is None or next(program.holding(".restore("), None) is None:
        return False
    return next(program.holding(*INITIALIZING), None) is None


def _training(program: Program, *, apart: bool = False) -> Located | None:
    tensorflow = program.imports("tensorflow")
    if not tensorflow and (not program.imports("keras") or program.imports(*_BACKENDS)):
        return None
    trains = partial(program.first, "trains", apart=apart)
    first = trains("tensorflow") or trains("keras")
    return None if first is None or program.has("sets", "KERAS_BACKEND") else first


def only_builds(program: Program) -> bool:
    """Whether a program only makes a graph of TensorFlow 1, and trains nothing by it: it runs no
    session, but to give variables their first values."""
    steps = list(program.facts("trains", "tensorflow", apart=True))
    built = bool(steps) and all(_STEP.search(each.fact.text) for each in steps)
    return built and needs_sessions(program, steps[0]) and not program.has("graph_runs")


def needs_sessions(program: Program, located: Located) -> bool:
    """Whether the file of a program, or of a fact, needs TensorFlow 1."""
    return any(
        imported(source)[1] == "tf" and _names_sessions(source.text)
        for source in (program.source, program.source_of(located.path))
    )


def _names_sessions(text: str) -> bool:
    if _SESSIONS.search(text) is not None:
        return True
    return _SEEDS.search(text) is not None and _SEEDS_OF_2 not in text


def seeding(source: Source) -> str:
    """The call that seeds TensorFlow globally, by the version that a file is written for."""
    if any(module.startswith(_OLD) for _, module, _ in imports_of(source, "tensorflow")):
        return "tf.set_random_seed()"
    found = _SESSIONS.search(source.text)
    if imported(source)[1] != "tf" or not _names_sessions(source.text):
        return "tf.keras.utils.set_random_seed()"
    return f"tf.{(found and found[1]) or ''}set_random_seed()"


def imported(source: Source) -> tuple[int, str]:
    """Where a file imports TensorFlow, and the name that it has there; "" for none."""
    found = imports_of(source, "tensorflow")
    return next(((row, name) for row, module, name in found if name and module in _ITSELF), (0, ""))
