"""Draws from a generator of the whole process in a program's text: read, never executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.verification.names import imported, named

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

# How such a draw begins, by the first letters of the name that a trace has for its generator.
_DRAWN_BY = {
    "pytho": ("random.",),
    "numpy": ("numpy.random.",),
    "torch": ("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial"),
}
_NO_DRAWS = (
    *("seed", "getstate", "setstate", "get_state", "set_state", "Random", "SystemRandom"),
    *("default_rng", "Generator", "RandomState", "SeedSequence", "PCG64"),
)


def global_draws(tree: ast.AST, generators: Iterable[str] = ()) -> dict[ast.Call, str]:
    """The calls of a file that draw, and what they call.

    generators  names of those that it can be, as a trace has them; none where it can be any
    """
    held = list(generators)
    groups = [_DRAWN_BY.get(each[:5], ()) for each in held] if held else _DRAWN_BY.values()
    wanted = tuple(start for group in groups for start in group)
    return {
        call: name
        for call, name in named(tree, imported(tree))
        if wanted and name.startswith(wanted) and not _seeds(call, name)
    }


def _seeds(call: ast.Call, name: str) -> bool:
    own = any(each.arg == "generator" for each in call.keywords)
    return own or name.rpartition(".")[2] in _NO_DRAWS
