"""What receives messages from whichever process sends first, in torch and mpi4py."""

from __future__ import annotations

from detlint.models.model import Names, words

# torch's functions, with the position of `group_src`, which only today's releases have.
TORCH = {
    f"torch.distributed.{place}{function}": position
    for place in ("", "distributed_c10d.")
    for function, position in (("recv", 4), ("irecv", 4), ("recv_object_list", 4))
}
ANY = "mpi4py.MPI.ANY_SOURCE"
# mpi4py's methods, and whether they fill a buffer. (Mrecv takes a message.)
METHODS = {"Recv": True, "Irecv": True, "recv": False}

_FLOATS = ("float", "double", "half")
_SHORT_FLOATS = words("d f e f2 f4 f8")
# A loop over processes receives once from each.
_PROCESSES = words(
    "world rank worker client peer nproc num_proc size slave node agent actor replica"
)


def is_communicator(name: str) -> bool:
    """``MPI.COMM_WORLD``, or what its ``Dup()`` and ``Split()`` make."""
    return name.startswith("mpi4py.MPI.") and name.split(".")[2].lower().endswith(
        ("comm", "comm_world")
    )


def are_processes(text: str) -> bool:
    """``range(world_size)``."""
    return any(each in text.lower() for each in _PROCESSES)


# Whether a function makes floats unless it is told otherwise.
makes_floats = Names("{torch,numpy}.{zeros,ones,empty,rand,randn,random.*,linspace}")


def is_float(kind: str) -> bool:
    """``torch.float32``, ``f8``."""
    kind = kind.rpartition(".")[2].lower()
    return any(each in kind for each in _FLOATS) or kind.lstrip("<>=") in _SHORT_FLOATS
