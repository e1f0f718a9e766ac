"""Whether something has read a variable already, so that setting it comes too late.

Each function takes the value of the variable that was found, "" if there was none. None of
them imports or starts anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.dependencies import loaded
from guard.hash_seed import hash_seed
from guard.legality import deterministic_xla

if TYPE_CHECKING:
    from collections.abc import Callable


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
    distributed: Any = loaded("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return ""
    return str(distributed.distributed_c10d.get_backend_config())


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
