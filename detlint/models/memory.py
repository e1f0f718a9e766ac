"""What functions of torch, NumPy and CuPy do with the memory of an array."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Mapping

_EVERY = 99


class Shape(Enum):
    """How a call that allocates memory is told its shape.

    SIZES   by lengths, or one tuple of them
    FIRST   by its first argument
    LIKE    by another array
    LEGACY  by lengths, where one argument that is no whole number is data
    GROWS   by lengths, for an array that is there: only what it grows by is new
    """

    SIZES = "sizes"
    FIRST = "first"
    LIKE = "like"
    LEGACY = "legacy"
    GROWS = "grows"


class Library(NamedTuple):
    """A library of arrays.

    allocations         functions that give memory as they find it, by qualified name
    allocating          methods that do
    factories           functions whose result has the elements that their arguments tell
    zeroed              what takes the same arguments and fills
    functions           functions that read: how many of their first arguments; the next is written
    namespaces          below which every other function reads all that it is given
    unread              functions below them that do not
    readers             methods that read their object
    in_place            methods that compute what they write from what was there
    operand_readers     methods that read their arguments
    scaled_by_beta      readers that ignore an array where ``beta=`` is zero
    views               methods and attributes whose result holds the same values
    properties          methods and attributes that do not look at values
    property_functions  functions that do not
    shape_arguments     methods that do not look at the values of their arguments
    """

    allocations: Mapping[str, Shape]
    allocating: Mapping[str, Shape]
    factories: frozenset[str]
    zeroed: Mapping[str, str]
    functions: Mapping[str, int]
    namespaces: tuple[str, ...]
    unread: frozenset[str]
    readers: frozenset[str]
    in_place: frozenset[str]
    operand_readers: frozenset[str]
    scaled_by_beta: frozenset[str]
    views: frozenset[str]
    properties: frozenset[str]
    property_functions: frozenset[str]
    shape_arguments: frozenset[str]

    def reads(self, function: str) -> int:
        """How many of its first arguments a function reads."""
        known = self.functions.get(function)
        if known is not None:
            return known
        word = function.rpartition(".")[2]
        below = function.startswith(self.namespaces) and function not in self.unread
        return _EVERY if below and word[:1].islower() and not word.endswith("_") else 0


def _of(prefixes: str, names: str, count: int = _EVERY) -> dict[str, int]:
    return {f"{prefix}.{name}": count for prefix in prefixes.split() for name in names.split()}


_BUILTINS = "abs all any bool complex float format int max min print repr round sorted str sum"
_ASKING = """
    builtins.len builtins.isinstance builtins.type builtins.id builtins.hasattr builtins.callable
"""

# Pure functions of their tensors that exist both as ``torch.f(x)`` and as ``x.f()``. Left out
# on purpose: those that may ignore what the tensor held (``where``, ``masked_fill``, ``scatter``,
# ``index_copy``), and ``cat`` and ``stack``, which build buffers that are filled later.
_OPERATIONS = """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr all allclose amax amin
    aminmax angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort
    argwhere asin asinh atan atan2 atanh baddbmm bernoulli bincount bitwise_and bitwise_not
    bitwise_or bitwise_xor bmm ceil cholesky clamp clamp_max clamp_min clip corrcoef cos cosh
    count_nonzero cov cross cummax cummin cumprod cumsum deg2rad det diff dist div divide dot eq
    equal erf erfc erfinv exp exp2 expm1 fix float_power floor floor_divide fmax fmin fmod frac
    gather ge greater greater_equal gt histc index_select inner inverse isclose isfinite isinf
    isnan isreal kron kthvalue ldexp le lerp less less_equal lgamma log log10 log1p log2
    log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or
    logical_xor logit logsumexp lt masked_select matmul matrix_exp matrix_power max maximum mean
    median min minimum mm mode msort mul multinomial multiply mv nan_to_num nanmean nanmedian
    nanquantile nansum ne neg negative nonzero norm not_equal outer pinverse pow prod quantile
    rad2deg reciprocal relu remainder renorm rsqrt sgn sigmoid sign signbit sin sinc sinh slogdet
    softmax sort sqrt square std sub subtract sum svd take take_along_dim tan tanh topk trace tril
    triu true_divide trunc unique unique_consecutive var vdot xlogy
"""
_ONLY_FUNCTIONS = """
    batch_norm bilinear bucketize cartesian_prod cdist celu chain_matmul conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity dropout einsum embedding
    group_norm instance_norm layer_norm max_pool1d max_pool2d max_pool3d pairwise_distance pdist
    pixel_shuffle poisson polar rms_norm searchsorted selu std_mean tensordot trapezoid var_mean
"""
_KINDS = ["BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"]

TORCH = Library(
    allocations={
        "torch.empty": Shape.SIZES,
        "torch.empty_like": Shape.LIKE,
        "torch.empty_strided": Shape.FIRST,  # the rest are strides
        "torch.Tensor": Shape.LEGACY,
        **{f"torch.{kind}Tensor": Shape.LEGACY for kind in _KINDS},
        **{f"torch.cuda.{kind}Tensor": Shape.LEGACY for kind in _KINDS},
    },
    allocating={"new_empty": Shape.SIZES, "resize_": Shape.GROWS},
    factories=words("torch.empty torch.ones torch.rand torch.randn torch.zeros torch.Tensor"),
    zeroed={"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"},
    functions={
        **_of("torch", _OPERATIONS),
        **_of("torch", _ONLY_FUNCTIONS),
        **_of("builtins", _BUILTINS),
    },
    namespaces=("torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.fft."),
    unread=words("torch.nn.functional.pad torch.fft.fftfreq torch.fft.rfftfreq"),
    readers=words(_OPERATIONS) | words("item tolist __bool__ __float__ __int__"),
    in_place=words(
        """
        abs_ add_ addcdiv_ addcmul_ addmm_ addmv_ addr_ baddbmm_ ceil_ clamp_ clamp_max_ clamp_min_
        clip_ cos_ cumprod_ cumsum_ div_ divide_ erf_ exp_ expm1_ floor_ fmod_ lerp_ log_ log1p_
        mul_ multiply_ neg_ negative_ pow_ reciprocal_ relu_ remainder_ round_ rsqrt_ sigmoid_ sign_
        sin_ sqrt_ square_ sub_ subtract_ tanh_ tril_ triu_ trunc_
        """
    ),
    operand_readers=words(
        "bmm div dot eq masked_fill masked_select matmul mm mul sub add_ addmm_ div_ mul_ sub_"
    ),
    # They read, unless ``beta=0`` tells them to ignore their first tensor.
    scaled_by_beta=words("addbmm addmm addmv addr baddbmm"),
    views=words(
        """
        T H mT mH data real imag to cpu cuda xpu type float double half bfloat16 int long short
        byte char bool detach contiguous clone view view_as reshape reshape_as flatten unflatten
        ravel expand expand_as broadcast_to permute transpose swapaxes swapdims t movedim moveaxis
        unsqueeze squeeze select narrow diagonal unfold repeat repeat_interleave tile flip roll
        requires_grad_ type_as
        """
    ),
    properties=words(
        """
        shape dtype device layout ndim itemsize nbytes grad_fn is_cuda is_cpu is_leaf is_meta
        is_mps is_xpu is_quantized is_sparse is_nested requires_grad size stride numel nelement
        dim ndimension element_size get_device is_contiguous is_complex is_floating_point is_signed
        is_pinned is_shared storage_offset record_stream register_hook __class__
        new_empty new_zeros new_ones new_full new_tensor
        """
    ),
    property_functions=words(
        f"""
        {_ASKING} torch.is_tensor torch.numel torch.is_floating_point torch.is_complex
        torch.result_type torch.get_device torch.empty_like torch.zeros_like torch.ones_like
        torch.full_like torch.rand_like torch.randn_like torch.randint_like torch.is_same_size
        """
    ),
    shape_arguments=words("view_as expand_as reshape_as type_as to is_same_size"),
)

# Left out on purpose: those that may ignore what an array held (``where``, ``choose``, ``place``),
# and ``concatenate``, ``stack`` and their kin, which build buffers that are filled later.
_OF_ONE = """
    abs absolute all amax amin angle any arccos arccosh arcsin arcsinh arctan arctanh argmax argmin
    argsort argwhere around average bincount cbrt ceil conj conjugate corrcoef cos cosh
    count_nonzero cov cumprod cumsum deg2rad degrees diff exp exp2 expm1 fabs fix flatnonzero floor
    gradient histogram isfinite isinf isnan log log10 log1p log2 logical_not max mean median min
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar negative nonzero percentile positive
    prod ptp quantile rad2deg radians real_if_close reciprocal rint round sign signbit sin sinh
    sort sqrt square std sum take tan tanh trace tril triu trunc unique var
"""
_OF_TWO = """
    add allclose arctan2 array_equal bitwise_and bitwise_or bitwise_xor convolve copysign cross
    digitize divide divmod dot equal float_power floor_divide fmax fmin fmod greater greater_equal
    histogram2d hypot inner isclose isin kron less less_equal logaddexp logical_and
    logical_or logical_xor matmul maximum minimum mod multiply not_equal outer power remainder
    searchsorted setdiff1d subtract tensordot true_divide vdot
"""
_NUMPY = "numpy cupy"

NUMPY = Library(
    allocations={
        f"{prefix}.{name}": shape
        for prefix in _NUMPY.split()
        for name, shape in (
            ("empty", Shape.FIRST),
            ("empty_like", Shape.LIKE),
            ("ndarray", Shape.FIRST),
        )
    },
    allocating={},
    factories=frozenset(),
    zeroed={"empty": "zeros", "empty_like": "zeros_like"},
    functions={
        **_of(_NUMPY, _OF_ONE, 1),
        **_of(_NUMPY, _OF_TWO, 2),
        **_of(_NUMPY, "einsum interp trapezoid"),
        **_of("builtins", _BUILTINS),
    },
    namespaces=tuple(
        f"{prefix}.{name}." for prefix in _NUMPY.split() for name in ("linalg", "fft")
    ),
    unread=words("numpy.fft.fftfreq numpy.fft.rfftfreq cupy.fft.fftfreq cupy.fft.rfftfreq"),
    readers=words(
        """
        all any argmax argmin argsort choose clip conj conjugate cumprod cumsum dot item max mean
        min nonzero prod ptp round searchsorted std sum take tobytes tolist trace var
        __bool__ __float__ __int__
        """
    ),
    in_place=words("partition sort"),
    operand_readers=words("dot"),
    scaled_by_beta=frozenset(),
    views=words(
        """
        T real imag flat astype byteswap copy diagonal flatten newbyteorder ravel repeat reshape
        squeeze swapaxes transpose view get
        """
    ),
    properties=words(
        "shape dtype device ndim size itemsize nbytes strides flags setflags __class__"
    ),
    property_functions=words(
        f"""
        {_ASKING} numpy.shape numpy.ndim numpy.size numpy.result_type numpy.empty_like
        numpy.zeros_like numpy.ones_like numpy.full_like numpy.iscomplexobj numpy.isrealobj
        numpy.isfortran numpy.may_share_memory numpy.shares_memory numpy.can_cast
        cupy.shape cupy.ndim cupy.size cupy.result_type cupy.empty_like cupy.zeros_like
        cupy.ones_like cupy.full_like numpy.empty numpy.zeros numpy.ones numpy.full
        """
    ),
    shape_arguments=frozenset(),
)

# Arithmetic with these tells nothing of an array: it is all NaN, or memory as before with a unit.
NOT_A_NUMBER = words("numpy.nan numpy.NaN numpy.NAN math.nan cupy.nan")
UNITS = ("astropy.units.", "unyt.")
# What keeps a tensor to be filled later, beside parameters.
BUFFERS = words("torch.nn.Buffer torch.nn.parameter.Buffer")
KEEPERS = words("Parameter Buffer register_buffer register_parameter")
