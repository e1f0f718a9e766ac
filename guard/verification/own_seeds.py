"""Samplers of libraries that take their seed from the operating system where they are given none.

What seeds the generators of the whole process does not reach them. Read, never executed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.names import imported, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.verification.passages import Line

_QMC = "scipy.stats.qmc."
_SAMPLERS = {
    _QMC: (
        *("Sobol", "Halton", "LatinHypercube", "PoissonDisk", "MultinomialQMC"),
        "MultivariateNormalQMC",
    ),
    "optuna.samplers.": (
        *("TPESampler", "RandomSampler", "CmaEsSampler", "NSGAIISampler", "NSGAIIISampler"),
        *("QMCSampler", "GPSampler"),
    ),
}
_KNOWN = {f"{start}{name}" for start, names in _SAMPLERS.items() for name in names}
_FROM = {
    *("secrets.randbelow", "secrets.choice", "secrets.randbits", "secrets.token_bytes"),
    "os.urandom",
}
_GIVEN = ("seed", "rng", "random_state", "engine")


def own_seeds(tree: ast.AST) -> Iterator[Line]:
    """What takes its seed, or what it gives, from the operating system."""
    for call, name in named(tree, imported(tree)):
        if name in _FROM:
            yield 0, call.lineno, f"{name}() draws from the operating system and cannot be seeded"
        elif name in _KNOWN and not _is_fixed(call):
            text = "is given no seed: it takes one from the operating system"
            yield 0, call.lineno, f"{name}() {text}"


def _is_fixed(call: ast.Call) -> bool:
    """Whether it is given a seed or a generator, or draws nothing."""
    for each in call.keywords:
        value = each.value.value if isinstance(each.value, ast.Constant) else each
        if each.arg is None or (each.arg in _GIVEN and value is not None):
            return True
        if each.arg == "scramble" and value is False:
            return True
    return False
