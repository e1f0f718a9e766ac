"""What is here: libraries, ranks, a GPU for JAX. Looked up without importing anything."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from guard.dependencies import process_group

if TYPE_CHECKING:
    from collections.abc import Mapping

# What torchrun, Open MPI, MPICH and Slurm tell each process that they start.
_SIZES = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_GPUS_OF_JAX = {"cuda", "rocm", "gpu"}


@cache
def installed(*names: str) -> bool:
    """Whether one of the packages can be imported."""
    return any(name in sys.modules or find_spec(name) is not None for name in names)


def several_ranks(environ: Mapping[str, str]) -> bool:
    """Whether this process is one of several that train together."""
    sizes = (environ.get(name, "") for name in _SIZES)
    connected = process_group()
    return any(size.isdigit() and int(size) > 1 for size in sizes) or (
        connected is not None and connected.get_world_size() > 1
    )


def jax_on_gpu(environ: Mapping[str, str]) -> bool:
    """Whether JAX is installed and would use a GPU.

    Since jaxlib 0.4.30 the GPU comes as a plugin; before, as a local version like ``+cuda12``.
    """
    if not installed("jax"):
        return False
    if platforms := environ.get("JAX_PLATFORMS"):
        return not _GPUS_OF_JAX.isdisjoint(platforms.lower().split(","))
    return installed("jax_plugins") or _has_gpu_build("jaxlib")


@cache
def _has_gpu_build(distribution: str) -> bool:
    from importlib import metadata

    try:
        _, _, local = metadata.version(distribution).partition("+")
    except metadata.PackageNotFoundError:
        return False
    return local.startswith(("cuda", "rocm"))
