"""Libraries that bring kernels or generators of their own: one row each, plain to read.

What torch's switches and guard's seeds do not reach is said here, and what to do instead.
Each row was read in the library's source or documentation, as ``source`` has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.dependencies import loaded
from guard.inventory.reports import MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, Entry, Level
from guard.inventory.situation import version_of

if TYPE_CHECKING:
    from guard.inventory.situation import Situation

_IN_FORCE = ("set by guard", "set by user")


class Library(NamedTuple):
    """A library, and what it does to a run."""

    module: str  # as it is imported
    meaning: str  # what it does, and what to do
    source: str  # where this is known from
    # names that pip may know it by, where that is not the module's with dashes
    distributions: tuple[str, ...] = ()
    # where the library is used, and guard is on; "ok" holds under guard only
    verdict: Level = MAY_DIFFER
    variable: str = ""  # of guard's table: where that is in force, the verdict is "ok"
    is_seeded: bool = False  # whether guard.enable seeds it: with guard on, the verdict is "ok"

    @property
    def packages(self) -> tuple[str, ...]:
        """Names that pip may know it by."""
        return self.distributions or (self.module.replace("_", "-"),)


LIBRARIES: tuple[Library, ...] = (
    # Attention and sequence models
    Library(
        "flash_attn",
        "its backward adds up in any order: pass deterministic=True where you call it (2.4.1 and "
        "newer); its forward repeats. FLASH_ATTENTION_DETERMINISTIC is for calls by transformers",
        "https://github.com/Dao-AILab/flash-attention",
    ),
    Library(
        "flash_attn_interface",
        "its backward adds up in any order: pass deterministic=True where you call it",
        "https://github.com/Dao-AILab/flash-attention/blob/main/hopper/flash_attn_interface.py",
        distributions=("flash-attn-3", "flash_attn_3"),
    ),
    Library(
        "xformers",
        "memory_efficient_attention asks torch, and under guard takes a backward that repeats, or "
        "refuses (0.0.22 and newer)",
        "https://github.com/facebookresearch/xformers/blob/main/CHANGELOG.md",
        verdict=OK,
    ),
    Library(
        "transformer_engine",
        "its attention takes kernels that repeat only with NVTE_ALLOW_NONDETERMINISTIC_ALGO=0",
        "https://docs.nvidia.com/deeplearning/transformer-engine/user-guide/envvars.html",
        variable="NVTE_ALLOW_NONDETERMINISTIC_ALGO",
    ),
    Library(
        "mamba_ssm",
        "MAMBA_DETERMINISTIC=1 has it add up gradients in a fixed order (2.3.0 and newer)",
        "https://github.com/state-spaces/mamba/pull/827",
        variable="MAMBA_DETERMINISTIC",
    ),
    Library(
        "causal_conv1d",
        "CAUSAL_CONV1D_DETERMINISTIC=1 has it add up gradients in a fixed order (1.6.0 and newer)",
        "https://github.com/Dao-AILab/causal-conv1d/pull/88",
        variable="CAUSAL_CONV1D_DETERMINISTIC",
    ),
    Library(
        "natten",
        "asks torch, and under guard takes kernels that repeat, or refuses (0.21.6 and newer)",
        "https://github.com/SHI-Labs/NATTEN/blob/main/CHANGELOG.md",
        verdict=OK,
    ),
    Library(
        "fla",
        "its Triton kernels are chosen by timing them, and some add up in any order, whatever "
        "torch is told",
        "https://github.com/fla-org/flash-linear-attention",
        distributions=("flash-linear-attention", "fla-core"),
    ),
    Library(
        "liger_kernel",
        "its attention residuals add up gradients in any order; torch's switches do not reach its "
        "Triton kernels",
        "https://github.com/linkedin/Liger-Kernel/blob/main/src/liger_kernel/ops/attn_res.py",
    ),
    # Optimisers and parallel training
    Library(
        "apex",
        "apex.contrib's group_norm and focal_loss add up in any order, and do not ask torch: use "
        "torch's own",
        "https://github.com/NVIDIA/apex/tree/master/apex/contrib/csrc",
    ),
    Library(
        "bitsandbytes",
        "with max_unorm above 0, as LAMB and LARS have it, its optimizers add up the norm of an "
        "update in any order: use others, or max_unorm=0",
        "https://github.com/bitsandbytes-foundation/bitsandbytes/blob/main/csrc/kernels.cu",
    ),
    Library(
        "deepspeed",
        "its transformer kernel differs with stochastic_mode=True: leave it False, the default",
        "https://www.deepspeed.ai/tutorials/transformer_kernel/",
    ),
    Library(
        "horovod",
        "sums gradients together as they happen to become ready: set HOROVOD_FUSION_THRESHOLD=0",
        "https://github.com/horovod/horovod/blob/master/docs/tensor-fusion.rst",
    ),
    Library(
        "torch_npu",
        "HCCL_DETERMINISTIC=true has ranks add up in a fixed order; guard's table of operators is "
        "not of NPUs",
        "https://www.hiascend.com/document/detail/en/canncommercial/800/apiref/hcclapiref/"
        "hcclcpp_07_0013.html",
        variable="HCCL_DETERMINISTIC",
    ),
    Library(
        "composer",
        "its Trainer seeds everything from the clock, after guard, unless it is given one: "
        "Trainer(seed=0, …)",
        "https://docs.mosaicml.com/projects/composer/en/stable/api_reference/"
        "composer.utils.reproducibility.html",
        distributions=("mosaicml",),
    ),
    Library(
        "detectron2",
        "its default_setup seeds everything from the clock, after guard, unless cfg.SEED is set",
        "https://github.com/facebookresearch/detectron2/blob/main/detectron2/utils/env.py",
    ),
    # Graphs, points and images
    Library(
        "dgl",
        "samples from generators of its own: call dgl.seed(0) (and dgl.graphbolt.seed(0)); some "
        "of its sums on a GPU are in any order, and do not ask torch",
        "https://github.com/dmlc/dgl/issues/7241",
    ),
    Library(
        "torch_scatter",
        "scatter and segment_coo add up in any order on a GPU, and do not ask torch: sort, and "
        "use segment_csr, or torch's index_add",
        "https://github.com/rusty1s/pytorch_scatter/blob/master/csrc/cuda/scatter_cuda.cu",
    ),
    Library(
        "torch_sparse",
        "spmm adds up in any order on a GPU, and does not ask torch: multiply a "
        "SparseTensor with @",
        "https://github.com/rusty1s/pytorch_sparse/issues/82",
    ),
    Library(
        "torch_cluster",
        "random_walk with p or q on a GPU is seeded from the clock, and on the CPU draws from C's "
        "rand(), which guard does not seed",
        "https://github.com/rusty1s/pytorch_cluster/blob/master/csrc/cuda/rw_cuda.cu",
    ),
    Library(
        "pyg_lib",
        "draws from torch's generator but for fps and the edge sampler on the CPU, which draw from "
        "C's rand(): guard does not seed it",
        "https://github.com/pyg-team/pyg-lib/tree/master/pyg_lib/csrc",
    ),
    Library(
        "pytorch3d",
        "most of its backwards on a GPU ask torch, and refuse under guard; those of compositing "
        "and of graph convolutions add up in any order without a word",
        "https://github.com/facebookresearch/pytorch3d/tree/main/pytorch3d/csrc",
    ),
    Library(
        "MinkowskiEngine",
        "coordinates come in another order in each run within a batch",
        "https://github.com/NVIDIA/MinkowskiEngine/blob/master/MinkowskiEngine/MinkowskiTensor.py",
    ),
    Library(
        "gsplat",
        "its backward adds up in any order, and does not ask torch",
        "https://github.com/nerfstudio-project/gsplat/tree/main/gsplat/cuda/csrc",
    ),
    Library(
        "tinycudann",
        "gradients of its grid encodings add up in any order, and do not ask torch",
        "https://github.com/NVlabs/tiny-cuda-nn/blob/master/include/tiny-cuda-nn/encodings/grid.h",
    ),
    Library(
        "mmcv",
        "the backwards of its deformable convolutions and RoI pools add up in any order on a GPU, "
        "and do not ask torch; leave Voxelization(deterministic=True), the default",
        "https://github.com/open-mmlab/mmcv/tree/main/mmcv/ops/csrc/common/cuda",
        distributions=("mmcv", "mmcv-full"),
    ),
    Library(
        "torchvision",
        "draws from torch's generator; the backwards of its deformable convolutions and RoI pools "
        "add up in any order on a GPU, and not every release refuses; under guard roi_align takes "
        "a form that repeats, and takes much memory",
        "https://github.com/pytorch/vision/issues/7579",
    ),
    # Data
    Library(
        "monai",
        "each random transform has a generator of its own: call monai.utils.set_determinism(0) "
        "before they are made, or set_random_state(0) on the outermost Compose",
        "https://github.com/Project-MONAI/MONAI/blob/dev/monai/transforms/transform.py",
    ),
    Library(
        "albumentations",
        "since 1.4.21 a pipeline has a generator of its own, which no global seed reaches: "
        "Compose([…], seed=0)",
        "https://github.com/albumentations-team/albumentations/releases/tag/1.4.21",
        distributions=("albumentations", "albumentationsx"),
    ),
    Library(
        "imgaug",
        "has a generator of its own, which begins where NumPy's global one is when it is first "
        "used: call guard.enable before that, or imgaug.random.seed(0)",
        "https://github.com/aleju/imgaug/blob/master/imgaug/random.py",
    ),
    Library(
        "webdataset",
        "shuffle() takes its seed from the clock: pass shuffle(…, rng=random.Random(0)); so do "
        "resampled shards: ResampledShards(…, deterministic=True)",
        "https://github.com/webdataset/webdataset/blob/main/src/webdataset/filters.py",
    ),
    Library(
        "nvidia.dali",
        "a pipeline has generators of its own, seeded at random: Pipeline(seed=0, …)",
        "https://docs.nvidia.com/deeplearning/dali/user-guide/docs/pipeline.html",
        distributions=tuple(f"nvidia-dali-cuda{number}0" for number in (11, 12, 13)),
    ),
    Library(
        "gymnasium",
        "each environment and each space has a generator of its own: env.reset(seed=0) and "
        "env.action_space.seed(0)",
        "https://gymnasium.farama.org/api/env/#gymnasium.Env.reset",
    ),
    # Other frameworks
    Library(
        "cupy",
        "guard.enable seeds its global generator once it is imported; cupyx.scatter_add and "
        "weighted histograms add up in any order",
        "https://docs.cupy.dev/en/stable/reference/generated/cupyx.scatter_add.html",
        distributions=("cupy", *(f"cupy-cuda{number}x" for number in (11, 12, 13))),
    ),
    Library(
        "tensorflow",
        "guard.enable seeds it and calls enable_op_determinism, if it is imported before that",
        "https://www.tensorflow.org/api_docs/python/tf/config/experimental/enable_op_determinism",
        is_seeded=True,
        distributions=("tensorflow", "tensorflow-cpu"),
    ),
    Library(
        "jax",
        "draws from keys that the program passes along; on a GPU its kernels repeat only with "
        "XLA_FLAGS=--xla_gpu_deterministic_ops=true",
        "https://github.com/openxla/xla/pull/12520",
        variable="XLA_FLAGS",
    ),
    Library(
        "vllm",
        "what it gives for a prompt can depend on the rest of the batch; VLLM_BATCH_INVARIANT=1 is "
        "its own remedy; guard does not reach its kernels",
        "https://docs.vllm.ai/en/latest/features/batch_invariance/",
        verdict=UNKNOWN,
    ),
)


def entries(situation: Situation) -> list[Entry]:
    """Each that is imported or installed."""
    found = ((each, version_of(each.module, *each.packages)) for each in LIBRARIES)
    return [_entry(each, version, situation) for each, version in found if version is not None]


def _entry(library: Library, version: str, situation: Situation) -> Entry:
    imported = "imported" if loaded(library.module) else "installed, not imported"
    meaning = f"{imported}: {library.meaning}"
    verdict = _verdict(library, situation)
    return Entry(library.module, version, verdict, meaning, decides=True)


def _verdict(library: Library, situation: Situation) -> Level:
    state = situation.state(library.variable)
    if state in _IN_FORCE:
        return OK
    if state == "not applicable":  # JAX without a GPU
        return NOT_APPLICABLE
    if library.verdict == OK and not situation.is_active:  # it asks torch, and torch says no
        return MAY_DIFFER
    is_seeded = library.is_seeded and situation.is_active and loaded(library.module)
    return OK if is_seeded else library.verdict
