"""DET702 nccl-algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.launches import launched, program
from detlint.documents.options import options
from detlint.documents.training import asks_for_determinism, for_ascend, sureness
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from detlint.documents.document import Command
    from detlint.documents.launches import Launch

_VARIABLE = "NCCL_ALGO"
_BACKENDS = frozenset({"backend", "dist_backend", "distributed_backend", "ddp_backend"})


class NcclAlgorithm(Rule):
    """Why runs differ: For each size of message, NCCL decides whether GPUs add up along a ring, a
    tree or in the switch. It decides by the links that it finds, and each way adds up in another
    order. The same nodes give the same choice; the nodes that a scheduler hands out may not. Sums
    in the switch (NVLS) do not repeat with every driver; under deterministic algorithms, torch
    keeps NCCL from them.

    Reported:
    - a launch of several processes or nodes that asks for determinism and does not set `NCCL_ALGO`
    - it asks by a flag, or by a variable that is set for nothing else

    Lowers the confidence:
    - the name of a program that is launched says that it does not train

    Not reported:
    - a launch whose number of processes is not known
    - other backends
    - a script that reads other scripts, which may set it
    - Megatron's `--deterministic-mode`, which sets it

    What to do: Write `export NCCL_ALGO=Ring` above the launch. This fixes the algorithm, not the
    order of the ring. So run on the same nodes, or on nodes that are linked in the same way.
    """

    code = "DET702"
    summary = "NCCL is free to choose how it adds up, in a run that is to be deterministic"
    triggers = ()
    mentions = ("etermini", "DETERMINISTIC", "CUBLAS_WORKSPACE_CONFIG")
    source = "https://github.com/NVIDIA/nccl/issues/754"
    examples = (
        Example(
            path="train.sh",
            bad="""
                export CUBLAS_WORKSPACE_CONFIG=:4096:8
                torchrun --nproc-per-node 8 train.py --deterministic  # DET702
            """,
            good="""
                export CUBLAS_WORKSPACE_CONFIG=:4096:8
                export NCCL_ALGO=Ring
                torchrun --nproc-per-node 8 train.py --deterministic
            """,
        ),
    )

    def visit_Command(self, node: Command) -> None:
        launch = launched(node)
        if launch is None or not ((launch.processes or 1) > 1 or (launch.nodes or 1) > 1):
            return
        if _VARIABLE in launch.environment or node.sourced or for_ascend(self.document):
            return
        asked = asks_for_determinism(self.document, launch)
        if not asked or asked == "--deterministic-mode" or not self._uses_nccl(launch):
            return
        self.report(
            launch.script or launch.module or node,
            f"{_shown(launch)} asks for determinism ({asked}) and leaves {_VARIABLE} to NCCL, "
            "which may add up in another order on other nodes",
            advice=f"export {_VARIABLE}=Ring, and run on nodes that are linked in the same way",
            confidence=min(self.confidence, sureness(launch)),
        )

    def _uses_nccl(self, launch: Launch) -> bool:
        given = options(self.document.source, launch.arguments)
        return not any(
            each.value != "nccl" if each.name in _BACKENDS else each.name in ("cpu", "use_cpu")
            for each in given
        )


def _shown(launch: Launch) -> str:
    name = program(launch) or "the program"
    if (launch.processes or 1) > 1:
        return f"{name} in {launch.processes} processes"
    return f"{name} on {launch.nodes} nodes"
