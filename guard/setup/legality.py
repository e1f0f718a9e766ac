"""Which values of a variable give the same results in each run, and when one is set too late.

A function on legality takes a value that is not empty, and says True, False, or None where the
value leaves the matter open, so that guard may still add to it.

One on lateness takes the value of the variable that was found, "" if there was none. None of them
imports or starts anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.dependencies import loaded, process_group
from guard.settings import LARGEST_SEED
from guard.setup.hash_seed import hash_seed

if TYPE_CHECKING:
    from collections.abc import Callable

XLA_FLAG = "--xla_gpu_deterministic_ops"
# Their order of summation follows from the topology; that of NVLS is left to the switch.
_ORDERED = {"ring", "tree", "collnetdirect", "collnetchain", "pat"}
_NCCL_ALGORITHMS = _ORDERED | {"nvls", "nvlstree"}


def one_of(*values: str) -> Callable[[str], bool]:
    """Exactly these."""
    return lambda value: value in values


def not_random(value: str) -> bool:
    """What ``PYTHONHASHSEED`` may be, but for ``random``; Python refuses the rest itself."""
    return value.isascii() and value.isdigit() and int(value) <= LARGEST_SEED


def zero(value: str) -> bool:
    """What ``int`` makes 0 of, as Transformer Engine reads its variable."""
    return value.strip().isdigit() and int(value) == 0


def ordered_algorithms(value: str) -> bool:
    """A value of ``NCCL_ALGO`` that asks for no NVLS; ``^`` excludes, ``name:`` is for one call.

    ``^NVLS`` alone leaves NVLSTree, which NCCL_NVLS_ENABLE=0 takes away.
    """
    for entry in value.lower().split(";"):
        names = entry.rpartition(":")[2]
        wanted = _NCCL_ALGORITHMS if names.startswith("^") else _ORDERED
        if not wanted.issuperset(names.removeprefix("^").split(",")):
            return False
    return True


def true_or_strict(value: str) -> bool:
    """What HCCL takes for deterministic, in any case; it refuses numbers."""
    return value.upper() in ("TRUE", "STRICT")


def deterministic_xla(value: str) -> bool | None:
    """Flags of XLA, or the name of a file of flags; the last of several counts.

    A file that lacks the flag is not legal: guard changes no files.
    """
    if value.lstrip().startswith("-"):
        return _switch(value)
    try:
        with open(value, encoding="utf-8") as file:
            return _switch(file.read()) is True
    except (OSError, UnicodeDecodeError):
        return False


def _switch(flags: str) -> bool | None:
    given = None
    for flag in flags.split():
        name, _, value = flag.partition("=")
        if name == XLA_FLAG:
            given = value.strip("'\"").lower() in ("", "1", "true")
    return given


def never(_: str) -> bool:
    """It is read at each use."""
    return False


def random_hashes(_: str) -> bool:
    """Python drew a hash seed when it started, whatever the variable has become since."""
    return hash_seed() is None


def cuda_started(value: str) -> bool:
    """CUDA runs, and cuBLAS with it, perhaps."""
    torch: Any = loaded("torch")
    return not value and torch is not None and bool(torch.cuda.is_initialized())


def connected_by(backend: str) -> Callable[[str], bool]:
    """torch.distributed runs on this backend, which reads its variables when it connects."""
    return lambda value: not value and backend in _backends()


def _backends() -> str:
    connected = process_group()
    return "" if connected is None else str(connected.distributed_c10d.get_backend_config())


def jax_started(value: str) -> bool:
    """JAX has its backends, which have parsed XLA_FLAGS without the flag."""
    if value and deterministic_xla(value) is not None:
        return False
    bridge: Any = loaded("jax._src.xla_bridge")
    ready = getattr(bridge, "backends_are_initialized", None)
    return ready is not None and bool(ready())


def transformers_read_it(value: str) -> bool:
    """Transformers 4.46 to 4.50 read the variable when imported, later ones at the first use."""
    module = loaded("transformers.modeling_flash_attention_utils")
    return not value and getattr(module, "deterministic_g", None) is False
