"""The environment variables that decide whether two runs agree: one row each, plain to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.setup import legality
from guard.setup.presence import installed, jax_on_gpu, several_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Variable(NamedTuple):
    """A variable that something reads, often only once.

    name     of the variable
    wanted   the value that guard gives it where the user gave none
    legal    the values that the user may have given it, in words
    judge    whether a value that is not empty is legal; None: guard adds ``wanted`` to it
    why      what it does for a run
    since    the release that reads it first
    cost     what it costs
    when     where it matters, in words that follow "matters"
    applies  whether it matters here
    late     what being too late means, and what to do
    is_late  whether it is, given the value found ("" for none)
    refuses  whether being too late is an error; else it is a warning
    warns    whether guard.enable tells it, and not only the doctor
    source   where the facts come from
    """

    name: str
    wanted: str
    legal: str
    judge: Callable[[str], bool | None]
    why: str
    since: str
    cost: str
    source: str
    when: str = "always"
    applies: Callable[[Mapping[str, str]], bool] = lambda _: True
    late: str = "it is read at each use: never too late"
    is_late: Callable[[str], bool] = legality.never
    refuses: bool = False
    warns: bool = True


def _with(*libraries: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda _: installed(*libraries)


_START = "start the program with `python -m guard run`"
_CONNECTED = (
    "torch.distributed has connected the ranks over {library} already, which then read its "
    "variables: call guard.enable before init_process_group, or " + _START + ", or export {fix}"
)
_NCCL = _CONNECTED.format(library="NCCL", fix="NCCL_ALGO=Ring and NCCL_NVLS_ENABLE=0")

VARIABLES: tuple[Variable, ...] = (
    Variable(
        "PYTHONHASHSEED",
        wanted="0",
        legal="an integer from 0 to 4294967295",
        judge=legality.not_random,
        why="sets of strings, and what hashes strings, are iterated in the same order in each run",
        since="Python 3.2.3",
        cost="none; but hashes can be foreseen, so do not serve strangers with it",
        source="https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED",
        late="Python drew a random seed for hash(str) when it started, so sets of strings are "
        f"iterated in another order in each run: {_START}, or with PYTHONHASHSEED=0 in the "
        "environment and neither -E, -I nor -R. It holds in processes started from here on",
        is_late=legality.random_hashes,
        warns=False,  # most programs go through no set of strings, and no call can mend it
    ),
    Variable(
        "CUBLAS_WORKSPACE_CONFIG",
        wanted=":4096:8",
        legal=":4096:8 or :16:8",
        judge=legality.one_of(":4096:8", ":16:8"),
        why="cuBLAS takes the same kernels, whatever runs beside it in other streams",
        since="CUDA 10.2",
        cost="about 24 MiB of GPU memory; :16:8 takes little, and can be slower",
        source="https://docs.nvidia.com/cuda/cublas/#results-reproducibility",
        late="CUDA had started before CUBLAS_WORKSPACE_CONFIG was set, so cuBLAS may have gone "
        "without. torch's own matrix products have a workspace for each stream, and repeat all "
        "the same; those of other libraries may not, and torch before 2.10 refuses to go on: "
        f"call guard.enable before anything uses the GPU, or {_START}",
        is_late=legality.cuda_started,
    ),
    Variable(
        "TORCHINDUCTOR_DETERMINISTIC",
        wanted="1",
        legal="1",
        judge=legality.one_of("1"),
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
        judge=legality.ordered_algorithms,
        why="ranks are summed in an order that the topology fixes, in rings for every message size",
        since="NCCL 2.5",
        cost="slower than trees on many nodes, and than NVLS behind NVLink switches",
        source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-algo",
        when="in runs of several ranks",
        applies=several_ranks,
        late=_NCCL,
        is_late=legality.connected_by("nccl"),
        refuses=True,
    ),
    Variable(
        "NCCL_NVLS_ENABLE",
        wanted="0",
        legal="0",
        judge=legality.zero,
        why="sums are not left to NVLink switches, which add up in no fixed order; NCCL_ALGO does "
        "not reach NCCL's symmetric kernels, and ^NVLS leaves NVLSTree",
        since="NCCL 2.17",
        cost="slower reductions behind NVLink switches (Hopper and newer); none elsewhere",
        source="https://github.com/NVIDIA/nccl/issues/1497",
        when="in runs of several ranks",
        applies=several_ranks,
        late=_NCCL,
        is_late=legality.connected_by("nccl"),
        refuses=True,
    ),
    Variable(
        "HCCL_DETERMINISTIC",
        wanted="true",
        legal="true or strict",
        judge=legality.true_or_strict,
        why="HCCL adds up ranks in the same order in each run, on Ascend NPUs",
        since="CANN 8.0; strict since 8.2",
        cost="slower reductions",
        source="https://www.hiascend.com/document/detail/zh/canncommercial/latest/maintenref/"
        "envvar/envref_07_0099.html",
        when="with torch_npu",
        applies=_with("torch_npu"),
        late=_CONNECTED.format(library="HCCL", fix="HCCL_DETERMINISTIC=true"),
        is_late=legality.connected_by("hccl"),
        refuses=True,
    ),
    Variable(
        "FLASH_ATTENTION_DETERMINISTIC",
        wanted="1",
        legal="1",
        judge=legality.one_of("1"),
        why="Hugging Face transformers asks flash-attn for its deterministic backward; "
        "code that calls flash-attn itself has to pass deterministic=True",
        since="transformers 4.43, with flash-attn 2.4.1",
        cost="a slower backward that takes more memory",
        source="https://github.com/huggingface/transformers/pull/31961",
        when="with transformers",
        applies=_with("transformers"),
        late="transformers has read FLASH_ATTENTION_DETERMINISTIC already, and keeps to what it "
        f"found: call guard.enable before transformers is imported, or {_START}",
        is_late=legality.transformers_read_it,
    ),
    Variable(
        "NVTE_ALLOW_NONDETERMINISTIC_ALGO",
        wanted="0",
        legal="0",
        judge=legality.zero,
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
        wanted=f"{legality.XLA_FLAG}=true",
        legal=f"flags, or a file of flags, with {legality.XLA_FLAG}=true",
        judge=legality.deterministic_xla,
        why="XLA takes kernels that repeat; guard adds the flag to those that are there",
        since="XLA of 2021",
        cost="slower scatters and convolutions, and no choice of kernels by timing",
        source="https://github.com/openxla/xla/pull/12520",
        when="with JAX on a GPU",
        applies=jax_on_gpu,
        late="JAX had started before XLA_FLAGS was set, and has parsed it: call guard.enable "
        f"before JAX computes anything, or {_START}",
        is_late=legality.jax_started,
    ),
)
