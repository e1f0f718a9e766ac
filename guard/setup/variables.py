"""The environment variables that decide whether two runs agree: one row each, plain to read.

A function on legality takes a value that is not empty, and says True, False, or None where the
value leaves the matter open, so that guard may still add to it. One on lateness takes the value of
the variable that was found, "" if there was none. None of them imports or starts anything: what is
here (libraries, ranks, a GPU for JAX) is looked up.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.dependencies import loaded, process_group
from guard.settings import LARGEST_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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


XLA_FLAG = "--xla_gpu_deterministic_ops"
# Their order of summation follows from the topology; that of NVLS is left to the switch.
_ORDERED = {"ring", "tree", "collnetdirect", "collnetchain", "pat"}
_NCCL_ALGORITHMS = _ORDERED | {"nvls", "nvlstree"}


def one_of(*values: str) -> Callable[[str], bool]:
    """Exactly these."""
    return lambda value: value in values


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


class Variable(NamedTuple):
    """A variable that something reads, often only once."""

    name: str  # of the variable
    wanted: str  # the value that guard gives it where the user gave none
    legal: str  # the values that the user may have given it, in words
    # whether a value that is not empty is legal; None: guard adds ``wanted`` to it
    judge: Callable[[str], bool | None]
    why: str  # what it does for a run
    since: str  # the release that reads it first
    cost: str  # what it costs
    source: str  # where the facts come from
    when: str = "always"  # where it matters, in words that follow "matters"
    applies: Callable[[Mapping[str, str]], bool] = lambda _: True  # whether it matters here
    # what being too late means, and what to do
    late: str = "it is read at each use: never too late"
    is_late: Callable[[str], bool] = never  # whether it is, given the value found ("" for none)
    refuses: bool = False  # whether being too late is an error; else it is a warning
    warns: bool = True  # whether guard.enable tells it, and not only the doctor


def _with(*libraries: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda _: installed(*libraries)


_START = "start the program with `python -m guard run`"
_CONNECTED = (
    "torch.distributed has connected the ranks over {library} already, which then read its "
    "variables: call guard.enable before init_process_group, or " + _START + ", or export {fix}"
)
_OF_RANKS: dict[str, Any] = {
    "when": "in runs of several ranks",
    "applies": several_ranks,
    "late": _CONNECTED.format(library="NCCL", fix="NCCL_ALGO=Ring and NCCL_NVLS_ENABLE=0"),
    "is_late": connected_by("nccl"),
    "refuses": True,
}

VARIABLES: tuple[Variable, ...] = (
    Variable(
        "PYTHONHASHSEED",
        wanted="0",
        legal="an integer from 0 to 4294967295",
        # Not ``random``; Python refuses the rest itself.
        judge=lambda value: value.isascii() and value.isdigit() and int(value) <= LARGEST_SEED,
        why="sets of strings, and what hashes strings, are iterated in the same order in each run",
        since="Python 3.2.3",
        cost="none; but hashes can be foreseen, so do not serve strangers with it",
        source="https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
        late="Python drew a random seed for hash(str) when it started, so sets of strings are "
        f"iterated in another order in each run: {_START}, or with PYTHONHASHSEED=0 in the "
        "environment and neither -E, -I nor -R. It holds in processes started from here on",
        is_late=lambda _: hash_seed() is None,  # whatever the variable has become since
        warns=False,  # most programs go through no set of strings, and no call can mend it
    ),
    Variable(
        "CUBLAS_WORKSPACE_CONFIG",
        wanted=":4096:8",
        legal=":4096:8 or :16:8",
        judge=one_of(":4096:8", ":16:8"),
        why="cuBLAS takes the same kernels, whatever runs beside it in other streams",
        since="CUDA 10.2",
        cost="about 24 MiB of GPU memory; :16:8 takes little, and can be slower",
        source="https://docs.nvidia.com/cuda/cublas/#results-reproducibility",
        late="CUDA had started before CUBLAS_WORKSPACE_CONFIG was set, so cuBLAS may have gone "
        "without. torch's own matrix products have a workspace for each stream, and repeat all "
        "the same; those of other libraries may not, and torch before 2.10 refuses to go on: "
        f"call guard.enable before anything uses the GPU, or {_START}",
        is_late=cuda_started,
    ),
    Variable(
        "TORCHINDUCTOR_DETERMINISTIC",
        wanted="1",
        legal="1",
        judge=one_of("1"),
        why="torch.compile does not choose kernels by timing them",
        since="torch 2.10",
        cost="compiled code can be slower, as nothing is tuned by timing that could change results",
        source="https://github.com/pytorch/pytorch/pull/165950",
        late="read when torch.compile is first used; guard sets torch._inductor.config as well",
    ),
    Variable(
        "NCCL_ALGO",
        wanted="Ring",
        legal="any of Ring, Tree, CollnetDirect, CollnetChain, PAT; or ^ and what to leave out",
        judge=ordered_algorithms,
        why="ranks are summed in an order that the topology fixes, in rings for every message size",
        since="NCCL 2.5",
        cost="slower than trees on many nodes, and than NVLS behind NVLink switches",
        source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-algo",
        **_OF_RANKS,
    ),
    Variable(
        "NCCL_NVLS_ENABLE",
        wanted="0",
        legal="0",
        judge=zero,
        why="sums are not left to NVLink switches, which add up in no fixed order; NCCL_ALGO does "
        "not reach NCCL's symmetric kernels, and ^NVLS leaves NVLSTree",
        since="NCCL 2.17",
        cost="slower reductions behind NVLink switches (Hopper and newer); none elsewhere",
        source="https://github.com/NVIDIA/nccl/issues/1497",
        **_OF_RANKS,
    ),
    Variable(
        "HCCL_DETERMINISTIC",
        wanted="true",
        legal="true or strict",
        judge=lambda value: value.upper() in ("TRUE", "STRICT"),  # it refuses numbers
        why="HCCL adds up ranks in the same order in each run, on Ascend NPUs",
        since="CANN 8.0; strict since 8.2",
        cost="slower reductions",
        source="https://www.hiascend.com/document/detail/zh/canncommercial/latest/maintenref/"
        "envvar/envref_07_0099.html",
        when="with torch_npu",
        applies=_with("torch_npu"),
        late=_CONNECTED.format(library="HCCL", fix="HCCL_DETERMINISTIC=true"),
        is_late=connected_by("hccl"),
        refuses=True,
    ),
    Variable(
        "FLASH_ATTENTION_DETERMINISTIC",
        wanted="1",
        legal="1",
        judge=one_of("1"),
        why="Hugging Face transformers asks flash-attn for its deterministic backward; "
        "code that calls flash-attn itself has to pass deterministic=True",
        since="transformers 4.43, with flash-attn 2.4.1",
        cost="a slower backward that takes more memory",
        source="https://github.com/huggingface/transformers/pull/31961",
        when="with transformers",
        applies=_with("transformers"),
        late="transformers has read FLASH_ATTENTION_DETERMINISTIC already, and keeps to what it "
        f"found: call guard.enable before transformers is imported, or {_START}",
        is_late=transformers_read_it,
    ),
    Variable(
        "NVTE_ALLOW_NONDETERMINISTIC_ALGO",
        wanted="0",
        legal="0",
        judge=zero,
        why="Transformer Engine takes attention kernels whose backward repeats",
        since="Transformer Engine 0.6",
        cost="slower attention, or another backend for it",
        source="https://docs.nvidia.com/deeplearning/transformer-engine/user-guide/envvars.html",
        when="with Transformer Engine",
        applies=_with("transformer_engine"),
        late="read when an attention module is made; modules made before keep what they found",
    ),
    Variable(
        "MAMBA_DETERMINISTIC",
        wanted="1",
        legal="1",
        judge=lambda value: value.startswith("1"),
        why="mamba-ssm adds up gradients in a fixed order and does not tune kernels by timing",
        since="mamba-ssm 2.3.0",
        cost="a slower backward that takes more memory",
        source="https://github.com/state-spaces/mamba/pull/827",
        when="with mamba-ssm",
        applies=_with("mamba_ssm"),
    ),
    Variable(
        "CAUSAL_CONV1D_DETERMINISTIC",
        wanted="1",
        legal="1",
        judge=lambda value: not value.startswith("0"),  # it follows torch's flag for the rest
        why="causal-conv1d adds up the gradients of its weights in a fixed order",
        since="causal-conv1d 1.6.0",
        cost="a backward up to a fifth slower on short sequences, and next to nothing on long ones",
        source="https://github.com/Dao-AILab/causal-conv1d/pull/88",
        when="with causal-conv1d",
        applies=_with("causal_conv1d"),
    ),
    Variable(
        "XLA_FLAGS",
        wanted=f"{XLA_FLAG}=true",
        legal=f"flags, or a file of flags, with {XLA_FLAG}=true",
        judge=deterministic_xla,
        why="XLA takes kernels that repeat; guard adds the flag to those that are there",
        since="XLA of 2021",
        cost="slower scatters and convolutions, and no choice of kernels by timing",
        source="https://github.com/openxla/xla/pull/12520",
        when="with JAX on a GPU",
        applies=jax_on_gpu,
        late="JAX had started before XLA_FLAGS was set, and has parsed it: call guard.enable "
        f"before JAX computes anything, or {_START}",
        is_late=jax_started,
    ),
)


_SECRET_BYTES = 24  # _Py_HashSecret_t


def hash_seed() -> int | None:
    """The ``PYTHONHASHSEED`` that this interpreter runs with, or None if it drew one.

    The variable itself does not tell: a program may have set it after the start, which
    changes nothing (https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED).
    """
    if not sys.flags.hash_randomization:
        return 0
    text = os.environ.get("PYTHONHASHSEED", "")
    if not (text.isascii() and text.isdigit()):
        return None
    return int(text) if _secret() in (b"", expanded(int(text))) else None


@cache
def _secret() -> bytes:
    """What the interpreter hashes with; empty where it does not say, as outside CPython."""
    try:
        import ctypes

        return bytes((ctypes.c_ubyte * _SECRET_BYTES).in_dll(ctypes.pythonapi, "_Py_HashSecret"))
    except (ImportError, AttributeError, ValueError):
        return b""


def expanded(seed: int) -> bytes:
    """The secret that CPython makes of a seed, by a linear congruential generator."""
    secret = bytearray()
    for _ in range(_SECRET_BYTES):
        seed = (seed * 214013 + 2531011) & 0xFFFFFFFF
        secret.append(seed >> 16 & 0xFF)
    return bytes(secret)
