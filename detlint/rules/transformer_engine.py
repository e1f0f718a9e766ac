"""DET604 transformer-engine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.callgraph.start import setting
from detlint.documents.training import only_infers
from detlint.documents.variables import replaced
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.program import Program
    from detlint.documents.document import Variable
    from detlint.finding import Finding
    from detlint.settings import Settings

# Those of its modules that attend; without one of them, as with Linear under fp8_autocast, the
# variable decides nothing.
_ATTENDS = re.compile(
    r"(?<!nn\.)\b(?:DotProductAttention|TransformerLayer|Multi[hH]eadAttention|fused_attn\w*)\b"
)
_VARIABLE = "NVTE_ALLOW_NONDETERMINISTIC_ALGO"
_LIBRARY = "transformer_engine"


class TransformerEngine(Rule):
    """Why runs differ: Transformer Engine may take attention kernels whose backward adds up in
    varying order. `NVTE_ALLOW_NONDETERMINISTIC_ALGO` allows them unless it is 0, and its default is
    1.

    Reported:
    - a program that trains and takes Transformer Engine's attention, while nothing sets the
      variable to 0
    - a script that sets it to 1

    Lowers the confidence:
    - the names of all programs that a script starts say that they do not train

    Not reported:
    - a value that is not a literal
    - a program in which `guard.enable` sets it

    What to do: Set it before Transformer Engine is imported:
    `os.environ["NVTE_ALLOW_NONDETERMINISTIC_ALGO"] = "0"`. Or export it in the script that starts
    the run, or call `guard.enable(seed=0)`.

    Fix safety: safe. Only the choice of kernels changes; it can cost speed.
    """

    code = "DET604"
    summary = "Transformer Engine may take nondeterministic attention kernels"
    triggers = ()
    mentions = (_VARIABLE,)
    source = "https://docs.nvidia.com/deeplearning/transformer-engine/user-guide/envvars.html"
    examples = (
        Example(
            bad="""
                import transformer_engine.pytorch as te

                layer = te.TransformerLayer(64, 256, 4)
                layer(batch).sum().backward()  # DET604
                optimizer.step()
            """,
            fixed="""
                import os

                os.environ.setdefault("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0")

                import transformer_engine.pytorch as te

                layer = te.TransformerLayer(64, 256, 4)
                layer(batch).sum().backward()
                optimizer.step()
            """,
        ),
    )

    def visit_Variable(self, node: Variable) -> None:
        value = node.value or ""
        if node.name != _VARIABLE or not value.isdigit() or not int(value):
            return
        self.report(
            node,
            f"{_VARIABLE}={value} lets Transformer Engine take attention kernels whose backward "
            "adds up in varying order",
            advice="set it to 0",
            edits=replaced(self.document, node, "0"),
            confidence=Confidence.POSSIBLE if only_infers(self.document) else None,
        )

    @classmethod
    def judge(cls, program: Program, settings: Settings) -> Iterator[Finding]:  # noqa: ARG003
        if not program.imports(_LIBRARY):
            return
        trains = program.first("trains", "torch")
        if trains is not None and not program.shows(_LIBRARY, _ATTENDS):
            return
        given = list(program.facts("sets", _VARIABLE))
        if trains is None or program.is_guarded() or any(each.fact.text != "1" for each in given):
            return
        said = f"leaves {_VARIABLE} at its default, 1"
        if given:
            said = f"sets {_VARIABLE}=1{program.where(given[0])}"
        yield program.finding(
            cls,
            given[0] if given else trains,
            f"{program.title} trains with Transformer Engine and {said}: its attention may "
            "take kernels whose backward adds up in varying order",
            f"set {_VARIABLE}=0 before it is imported, or in the script that launches the run",
            () if given else setting(program.source, _VARIABLE, "0", _LIBRARY),
            safe=True,
        )
