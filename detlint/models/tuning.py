"""Triton's tuners, configurations and language, and what torch.compile is told about timing."""

from __future__ import annotations

from detlint.models.model import words
from detlint.models.names import says

TUNERS = words(
    """triton.autotune triton.runtime.autotune triton.runtime.autotuner.autotune
    triton.runtime.autotuner.Autotuner"""
)
CONFIGURATIONS = words("triton.Config triton.runtime.Config triton.runtime.autotuner.Config")
WARPS = "num_warps"
_LANGUAGE = "triton.language."

# What rounds differently with another number of warps; a dot only with another size of blocks.
ACROSS_WARPS = words("sum reduce cumsum cumprod associative_scan softmax atomic_add")
BY_BLOCKS = frozenset(("dot", "dot_scaled"))
# Methods and functions that give a block of the shape of what they get …
LIKE = frozenset(("to", "cast", "load", "advance", "abs", "exp", "exp2", "log", "log2"))
# … of a shape that they are told, at this place where it is a list …
SHAPED = frozenset(("zeros", "full", "reshape", "view"))
DESCRIPTORS = frozenset(("make_tensor_descriptor", "make_block_ptr"))
BLOCK_SHAPE = 4
# … a single number …
NUMBERS = frozenset(("program_id", "num_programs", "cdiv", "range", "static_range"))
# … with its axes turned, or of all that they get.
TURNS = frozenset(("trans", "permute"))
BROADCASTS = frozenset(("where", "maximum", "minimum", "min", "max"))

INDUCTOR = "torch._inductor.config"
# In spite of its name, max_autotune_pointwise also times how sums are cut into blocks.
TIMING = (
    "max_autotune",
    "max_autotune_gemm",
    "max_autotune_pointwise",
    "coordinate_descent_tuning",
)
TIMING_VARIABLES = tuple(f"TORCHINDUCTOR_{option.upper()}" for option in TIMING)
TIMING_MODE = "max-autotune"
MODES = ("mode", "torch_compile_mode")


# Of torch, torch.nn.functional and tensors: none adds up, draws, or calls what it is given.
_POINTWISE = frozenset(
    """
    abs add addcdiv addcmul bitwise_and bitwise_or ceil clamp clamp_max clamp_min clip cos cosh
    div eq erf exp exp2 expm1 floor floor_divide fmod frac ge gelu gt hardtanh heaviside isfinite
    isinf isnan le leaky_relu lerp log log10 log1p log2 logical_and logical_not logical_or
    logical_xor logit lt masked_fill maximum minimum mish mul multiply ne neg nan_to_num polar pow
    reciprocal relu relu6 remainder round rsqrt sgn sigmoid sign silu sin sinh softplus sqrt square
    sub tan tanh true_divide trunc where xlogy
    arange as_tensor cat chunk complex concat empty_like expand expand_as flatten flip full
    full_like linspace narrow ones ones_like pad permute repeat reshape roll select split squeeze
    stack swapaxes t tensor tile transpose triu tril unbind unflatten unsqueeze view view_as zeros
    zeros_like view_as_complex view_as_real
    bfloat16 bool clone contiguous cpu cuda detach double float half int long to type type_as
    dim get_device is_complex is_cuda is_floating_point numel size
    """.split()  # noqa: SIM905 - easier to read
)
_PLACES = frozenset({"torch", "torch.nn.functional", "torch.special"})
_PLAIN = frozenset(
    f"builtins.{name}"
    for name in (
        *("abs", "bool", "enumerate", "float", "hasattr", "int", "isinstance", "len", "list"),
        *("max", "min", "print", "range", "round", "slice", "tuple", "zip", "ValueError"),
    )
)


# Whether what has this name is a test or a benchmark: ``test_forward``.
tries = says("test tests bench benchmark benchmarks")


def is_pointwise(called: str) -> bool:
    """Whether a function adds no elements up; of a method, its word alone."""
    place, _, last = called.rpartition(".")
    if place:
        return called in _PLAIN or place == "math" or (place in _PLACES and last in _POINTWISE)
    return last in _POINTWISE or (last.endswith("_") and last[:-1] in _POINTWISE)


def names(called: list[str]) -> list[str]:
    """The functions that a call calls, also where a package hands triton on:
    ``from vllm.triton_utils import tl, triton``."""
    return list(map(_own_name, called))


def _own_name(name: str) -> str:
    if name.startswith("triton."):
        return name
    _, handed_on, rest = name.rpartition(".triton.")
    if handed_on:
        return f"triton.{rest}"
    _, handed_on, rest = name.rpartition(".tl.")
    return f"{_LANGUAGE}{rest}" if handed_on else name


def operation(called: list[str]) -> str:
    """The function of triton's language among some names: ``dot``; "" for none."""
    own = (each for each in names(called) if each.startswith(_LANGUAGE))
    return next(own, "").removeprefix(_LANGUAGE)
