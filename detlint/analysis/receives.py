"""Messages that are received from whichever process sends first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.switches import code
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# torch's functions, with the position of `group_src`, which only today's releases have.
_TORCH = {
    f"torch.distributed.{place}{function}": position
    for place in ("", "distributed_c10d.")
    for function, position in (("recv", 4), ("irecv", 4), ("recv_object_list", 4))
}
_ANY_SOURCE = "mpi4py.MPI.ANY_SOURCE"
# mpi4py: methods that fill a buffer, and methods that return an object. (Mrecv takes a message.)
_INTO_BUFFER = {"Recv": 1, "Irecv": 1}
_RETURNED = {"recv": 1}
_COMMUNICATOR = re.compile(r"mpi4py\.MPI\.(?:COMM_WORLD|\w*comm)\b", re.IGNORECASE)


class Receive(NamedTuple):
    """A receive from any process.

    shown     how the source says it
    buffer    what it fills; None if it returns what was sent
    explicit  whether the source says that any process may have sent it
    """

    shown: str
    buffer: cst.BaseExpression | None
    explicit: bool


def receive(module: Module, call: cst.Call) -> Receive | None:
    """What a call receives, if it does so from any process."""
    if module.has_unpacking(call):
        return None
    name = module.called(call)
    if name in _TORCH:
        return _of_torch(module, call, _TORCH[name])
    if isinstance(call.func, cst.Attribute):
        return _of_mpi(module, call, call.func)
    return None


def _of_torch(module: Module, call: cst.Call, position: int) -> Receive | None:
    source = module.argument(call, "src", 1)
    group_source = module.argument(call, "group_src", position)
    given = [each for each in (source, group_source) if each is not None]
    if any(module.literal(each) is not None for each in given):
        return None
    buffer = call.args[0].value if call.args else None
    if buffer is None:
        return None
    said = f"{code(call.func)}()" if not given else f"{code(call.func)}(src=None)"
    return Receive(f"{said} without a sender" if not given else said, buffer, bool(given))


def _of_mpi(module: Module, call: cst.Call, function: cst.Attribute) -> Receive | None:
    method = function.attr.value
    position = {**_INTO_BUFFER, **_RETURNED}.get(method)
    if position is None:
        return None
    source = module.argument(call, "source", position)
    explicit = source is not None and module.qualified_name(source) == _ANY_SOURCE
    if source is not None and not explicit:
        return None
    if not explicit and not _is_communicator(module, function.value):
        return None
    said = f"{code(function)}(source=MPI.ANY_SOURCE)" if explicit else f"{code(function)}()"
    buffer = module.argument(call, "buf", 0) if method in _INTO_BUFFER else None
    if isinstance(buffer, (cst.List, cst.Tuple)) and buffer.elements:  # [data, MPI.DOUBLE]
        buffer = buffer.elements[0].value
    if method in _INTO_BUFFER and buffer is None:
        return None
    return Receive(said if explicit else f"{said} without a source", buffer, explicit)


def _is_communicator(module: Module, node: cst.BaseExpression) -> bool:
    """``MPI.COMM_WORLD``, or what its ``Dup()`` and ``Split()`` make."""
    name = module.qualified_name(node) or module.instance_of(node) or ""
    return bool(_COMMUNICATOR.match(name))


# Whether sums of what is received round: by what made it, or by what its name says.

_INEXACT_NAMES = re.compile(
    r"grad|loss|weight|param|delta|mean|avg|average|error|score|reward|logit|feature|energy",
    re.IGNORECASE,
)
_MADE_AS_FLOAT = re.compile(
    r"(?:torch|numpy)\.(?:zeros|ones|empty|full|rand|randn|random\.\w+|linspace|tensor)$"
)
_FLOATS = re.compile(r"float|double|half|bfloat|^[dfe]$|^[<>=]?f\d", re.IGNORECASE)


def is_inexact(module: Module, node: cst.CSTNode) -> bool:
    """Whether a number or array is certainly, or by its name, one of floats."""
    name = node.attr.value if isinstance(node, cst.Attribute) else getattr(node, "value", "")
    if isinstance(name, str) and _INEXACT_NAMES.search(name):
        return True
    bound = module.names.visible(node) if isinstance(node, cst.Name) else []
    values = [each.node for each in bound if each.kind == "value" and each.node is not None]
    return any(
        _makes_floats(module, each)
        if isinstance(each, cst.Call)
        else isinstance(module.literal(each), float)
        for each in values
    )


def _makes_floats(module: Module, call: cst.Call) -> bool:
    kind = module.argument(call, "dtype")
    name = module.called(call) or ""
    if kind is None and name.startswith("numpy."):
        kind = module.argument(call, "dtype", 1) if name != "numpy.full" else None
    if kind is not None:
        text = module.literal(kind)
        spelled = text if isinstance(text, str) else module.qualified_name(kind) or ""
        return bool(_FLOATS.search(spelled.rpartition(".")[2]))
    plain = not name.endswith((".full", ".tensor"))
    return plain and bool(_MADE_AS_FLOAT.match(name))
