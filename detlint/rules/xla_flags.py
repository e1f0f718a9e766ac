"""DET805 xla-flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.callgraph.start import setting
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.program import Program
    from detlint.documents.document import Variable
    from detlint.finding import Finding
    from detlint.settings import Settings

_FLAG = "--xla_gpu_deterministic_ops=true"
_OFF = ("--xla_gpu_deterministic_ops=false", "--xla_gpu_deterministic_ops=0")
# What TensorFlow reads, and JAX does not.
_TENSORFLOW_ONLY = ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TF_XLA_FLAGS")
_NEWER = "--xla_gpu_exclude_nondeterministic_ops=true"


class XlaFlags(Rule):
    """Why runs differ: On a GPU, XLA takes scatters that add with atomics, and picks some kernels
    by timing them. `--xla_gpu_deterministic_ops=true` in `XLA_FLAGS` stops both. It is read when
    the first computation starts. On a CPU it changes nothing.

    Reported:
    - a program that differentiates with JAX, asks for determinism somewhere, and does not set this
      flag
    - it asks in `XLA_FLAGS`, by `TF_DETERMINISTIC_OPS` (which JAX does not read), or in a helper
    - a script that sets another flag of determinism in `XLA_FLAGS`, and not this one
    - a script or program that sets this one to `false`

    Not reported:
    - values that are not literals
    - a program in which `guard.enable` sets it

    What to do: Set it before JAX is imported:
    `os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"`. Or export it in the script that
    starts the run, or call `guard.enable(seed=0)`.

    Fix safety: safe where nothing sets the variable. Only the choice of kernels changes; an
    operation without a deterministic one is refused.
    """

    code = "DET805"
    summary = "a JAX program asks for determinism, and XLA may still add up in varying order"
    triggers = ()
    mentions = ("XLA_FLAGS",)
    source = "https://github.com/google/jax/discussions/10674"
    shown = "CUDA (H100, torch 2.11.0, jax 0.11.2, 2026-11-26)"
    examples = (
        Example(
            bad="""
                import os

                flags = "--xla_gpu_deterministic_reductions=true"
                os.environ["XLA_FLAGS"] = flags  # DET805

                import jax


                def step(weights, batch):
                    return jax.grad(loss)(weights, batch)


                if __name__ == "__main__":
                    train(step)
            """,
            good="""
                import os

                os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"

                import jax


                def step(weights, batch):
                    return jax.grad(loss)(weights, batch)


                if __name__ == "__main__":
                    train(step)
            """,
        ),
    )

    def visit_Variable(self, node: Variable) -> None:
        if node.name != "XLA_FLAGS" or node.value is None or _holds(node.value):
            return
        if _turns_off(node.value):
            message = f"{_OFF[0]} lets XLA add up in varying order"
        elif _asks(node.value):
            message = f"XLA_FLAGS ask for determinism, and do not hold {_FLAG}"
        else:
            return
        self.report(node, message, advice=f"put {_FLAG} into XLA_FLAGS")

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        if not program.imports("jax"):
            return
        trains = program.first("trains", "jax")
        if trains is None or program.is_guarded():
            return
        given = list(program.facts("sets", "XLA_FLAGS"))
        wished = [name for name in _TENSORFLOW_ONLY if cls._is_wish(program, name)]
        asks = wished or program.has("enables")
        named = any(_asks(each.fact.text) for each in given)
        turned_off = any(_turns_off(each.fact.text) for each in given)
        if any(not each.fact.text or _holds(each.fact.text) for each in given):
            return
        if not (asks or named or turned_off):
            return
        unread = f"; JAX does not read {' or '.join(wished)}" if wished else ""
        told = program.where(given[0]) if given else ""
        if asks or named:
            lacks = f"and its XLA_FLAGS{told} do not hold {_FLAG}{unread}"
            said = f"{program.title} asks for determinism, {lacks}"
        else:
            said = f"{_OFF[0]}{told} lets XLA add up in varying order"
        yield program.finding(
            cls,
            given[0] if given else trains,
            said,
            f"put {_FLAG} into XLA_FLAGS before JAX is imported, or in the script that launches "
            "the run",
            () if given else setting(program.source, "XLA_FLAGS", _FLAG, "jax"),
            safe=True,
        )

    @staticmethod
    def _is_wish(program: Program, name: str) -> bool:
        """Whether a variable asks for determinism: not for another program that is imported."""
        return any(
            name == "TF_DETERMINISTIC_OPS"
            or (
                each.path == program.path
                and (name != "TF_XLA_FLAGS" or "determin" in each.fact.text)
            )
            for each in program.facts("sets", name)
        )


def _turns_off(value: str) -> bool:
    return not set(_OFF).isdisjoint(value.split())


def _asks(value: str) -> bool:
    """Whether flags ask for determinism, and do not only turn it off."""
    words = (each for each in value.split() if "deterministic" in each)
    return not all(each.endswith(("=false", "=0")) for each in words)


def _holds(text: str) -> bool:
    return _FLAG in text or _NEWER in text or "--xla_gpu_deterministic_ops " in f"{text} "
