"""The names of Triton's functions, also where a package hands them on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.rule import cst

AUTOTUNE = frozenset(
    {
        "triton.autotune",
        "triton.runtime.autotune",
        "triton.runtime.autotuner.autotune",
        "triton.runtime.autotuner.Autotuner",
    }
)
CONFIG = frozenset({"triton.Config", "triton.runtime.Config", "triton.runtime.autotuner.Config"})
LANGUAGE = "triton.language."


def called(module: Module, node: cst.CSTNode | None) -> str | None:
    """The function that a call calls, also where a package hands triton on:
    ``from vllm.triton_utils import tl, triton``."""
    name = module.called(node)
    if name is None or name.startswith("triton."):
        return name
    _, handed_on, rest = name.rpartition(".triton.")
    if handed_on:
        return f"triton.{rest}"
    _, handed_on, rest = name.rpartition(".tl.")
    return f"{LANGUAGE}{rest}" if handed_on else name
