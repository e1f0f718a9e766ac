"""DET704 any-source-receive."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.orders.receives import Receives
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


class AnySourceReceive(Rule):
    """Why runs differ: `dist.recv` without `src`, and MPI's `ANY_SOURCE`, take the message that
    arrives first. Which process that is differs from run to run. Floats that are added up in this
    order round differently, and a list that is filled in it has another order.

    Reported:
    - messages of several senders whose floats are added up as they come
    - messages that are put in a list as they come

    Not reported:
    - messages that are stored by their sender, or sorted later
    - sums of whole numbers, which do not round
    - without `src`, a loop that is not over processes: there may be one sender

    What to do: Receive from one rank after the other: `dist.recv(part, src=rank)`. Or store each
    message by its sender and add up afterwards, or use a collective: `dist.all_reduce(total)`.
    """

    code = "DET704"
    summary = "messages are taken in the order in which they arrive"
    triggers = ("recv(", "irecv(", "recv_object_list(", "Recv(", "Irecv(")
    needs = ("torch.distributed", "from torch import distributed", "mpi4py")
    source = "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.recv"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch
                import torch.distributed as dist

                def total(part, world_size):
                    total = torch.zeros(10)
                    for _ in range(1, world_size):
                        dist.recv(part)  # DET704
                        total += part
                    return total
            """,
            good="""
                import torch
                import torch.distributed as dist

                def total(part, world_size):
                    total = torch.zeros(10)
                    for rank in range(1, world_size):
                        dist.recv(part, src=rank)
                        total += part
                    return total
            """,
        ),
        Example(
            bad="""
                from mpi4py import MPI

                def gather(comm, size):
                    losses = []
                    for _ in range(1, size):
                        losses.append(comm.recv(source=MPI.ANY_SOURCE))  # DET704
                    return losses
            """,
            good="""
                from mpi4py import MPI

                def gather(comm, size):
                    losses = {}
                    status = MPI.Status()
                    for _ in range(1, size):
                        loss = comm.recv(source=MPI.ANY_SOURCE, status=status)
                        losses[status.Get_source()] = loss
                    return [losses[rank] for rank in sorted(losses)]
            """,
        ),
    )

    @cached_property
    def _receives(self) -> Receives:
        return Receives(self.unit)

    def examine(self, offsets: Sequence[int]) -> None:
        for receive, how in self._receives.near(offsets):
            self.report(
                receive.call.node,
                f"{receive.shown} takes the message that arrives first, and here it is {how}",
                advice="receive from each rank in turn, or store what comes by its sender",
            )
