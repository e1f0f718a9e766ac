"""DET703 hccl-determinism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import options_at
from detlint.documents.launches import launches
from detlint.documents.training import only_infers
from detlint.documents.variables import replaced
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.documents.document import Variable

_VARIABLE = "HCCL_DETERMINISTIC"
_ON = frozenset({"true", "strict"})
_ADVICE = "set it to true, or leave it to torch_npu, which follows use_deterministic_algorithms()"


class HcclDeterminism(Rule):
    """Why runs differ: HCCL adds up among Ascend devices in varying order, unless
    `HCCL_DETERMINISTIC` is `true`. `strict` keeps the order of the ranks as well. It knows no other
    value but `false`, and refuses the rest, such as `1`.

    Reported:
    - a value that is neither `true` nor `strict`, in capitals or not, in Python, scripts and
      configurations

    Lowers the confidence:
    - `false` in a script that starts no program
    - the names of all programs that a script starts say that they do not train

    Not reported:
    - a value that is not known

    What to do: Set `HCCL_DETERMINISTIC=true`. Or leave it out and call
    `torch.use_deterministic_algorithms(True)`: today's torch_npu then turns it on, where it is not
    set.

    Fix safety: safe. Only the order of sums becomes fixed; it costs speed.
    """

    code = "DET703"
    summary = "HCCL adds up among Ascend devices in varying order"
    triggers = (_VARIABLE,)
    mentions = (_VARIABLE,)
    source = "https://www.hiascend.com/document/detail/zh/canncommercial/850/maintenref/envvar/envref_07_0099.html"
    examples = (
        Example(
            path="train.sh",
            bad="""
                export HCCL_DETERMINISTIC=false  # DET703
                torchrun --nproc-per-node 8 train_npu.py
            """,
            fixed="""
                export HCCL_DETERMINISTIC=true
                torchrun --nproc-per-node 8 train_npu.py
            """,
        ),
        Example(
            bad="""
                import os

                os.environ["HCCL_DETERMINISTIC"] = "1"  # DET703
            """,
            fixed="""
                import os

                os.environ["HCCL_DETERMINISTIC"] = "true"
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for each in options_at(self.unit, offsets, (_VARIABLE,)):
            given = each.constant
            if isinstance(given, str) and _is_off(given):
                edits = each.replaced('"true"')
                self.report(each.node, _told(given), advice=_ADVICE, edits=edits)

    def visit_Variable(self, node: Variable) -> None:
        if node.name != _VARIABLE or node.value is None or not _is_off(node.value):
            return
        # What only serves a model may leave it off; what starts nothing may be for that.
        idle = not launches(self.document) and node.value.lower() == "false"
        doubtful = idle or only_infers(self.document)
        self.report(
            node,
            _told(node.value),
            advice=_ADVICE,
            edits=replaced(self.document, node, "true"),
            confidence=Confidence.POSSIBLE if doubtful else None,
        )


def _is_off(value: str) -> bool:
    return bool(value) and value.lower() not in _ON


def _told(value: str) -> str:
    if value.lower() == "false":
        return f"{_VARIABLE}={value} has HCCL add up in varying order, whatever torch is told"
    return f"{_VARIABLE}={value} is none of HCCL's values, which are true, strict and false"
