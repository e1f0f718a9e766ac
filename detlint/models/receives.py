"""What receives messages from whichever process sends first, in torch and mpi4py."""

from __future__ import annotations

import re

# torch's functions, with the position of `group_src`, which only today's releases have.
TORCH = {
    f"torch.distributed.{place}{function}": position
    for place in ("", "distributed_c10d.")
    for function, position in (("recv", 4), ("irecv", 4), ("recv_object_list", 4))
}
ANY = "mpi4py.MPI.ANY_SOURCE"
# mpi4py's methods, and whether they fill a buffer. (Mrecv takes a message.)
METHODS = {"Recv": True, "Irecv": True, "recv": False}

_COMMUNICATOR = re.compile(r"mpi4py\.MPI\.(?:COMM_WORLD|\w*comm)\b", re.IGNORECASE)
_MADE_AS_FLOAT = re.compile(
    r"(?:torch|numpy)\.(?:zeros|ones|empty|rand|randn|random\.\w+|linspace)"
)
_FLOATS = re.compile(r"float|double|half|bfloat|^[dfe]$|^[<>=]?f\d", re.IGNORECASE)
# A loop over processes receives once from each.
_PROCESSES = re.compile(
    r"world|rank|worker|client|peer|nproc|num_proc|size|slave|node|agent|actor|replica",
    re.IGNORECASE,
)


def is_communicator(name: str) -> bool:
    """``MPI.COMM_WORLD``, or what its ``Dup()`` and ``Split()`` make."""
    return _COMMUNICATOR.match(name) is not None


def are_processes(text: str) -> bool:
    """``range(world_size)``."""
    return _PROCESSES.search(text) is not None


def makes_floats(function: str) -> bool:
    """Whether a function makes floats unless it is told otherwise."""
    return _MADE_AS_FLOAT.fullmatch(function) is not None


def is_float(kind: str) -> bool:
    """``torch.float32``, ``f8``."""
    return _FLOATS.search(kind.rpartition(".")[2]) is not None
