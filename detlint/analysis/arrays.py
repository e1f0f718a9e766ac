"""What the functions and methods of NumPy and CuPy do with the values of an array."""

from __future__ import annotations

from detlint.analysis.tensors import TORCH
from detlint.analysis.uses import Vocabulary, words

# Pure functions by how many arrays they take; the argument that follows may be the output. Left
# out on purpose: those that may ignore what an array held (``where``, ``choose``, ``place``),
# and ``concatenate``, ``stack`` and their kin, which build buffers that are filled later.
_OF_ONE = words(
    """
    abs absolute all amax amin angle any arccos arccosh arcsin arcsinh arctan arctanh argmax argmin
    argsort argwhere around average bincount cbrt ceil conj conjugate corrcoef cos cosh
    count_nonzero cov cumprod cumsum deg2rad degrees diff exp exp2 expm1 fabs fix flatnonzero floor
    gradient histogram isfinite isinf isnan log log10 log1p log2 logical_not max mean median min
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar negative nonzero percentile positive
    prod ptp quantile rad2deg radians real_if_close reciprocal rint round sign signbit sin sinh
    sort sqrt square std sum take tan tanh trace tril triu trunc unique var
    """
)
_OF_TWO = words(
    """
    add allclose arctan2 array_equal bitwise_and bitwise_or bitwise_xor convolve copysign cross
    digitize divide divmod dot equal float_power floor_divide fmax fmin fmod greater greater_equal
    histogram2d hypot inner isclose isin kron less less_equal logaddexp logical_and
    logical_or logical_xor matmul maximum minimum mod multiply not_equal outer power remainder
    searchsorted setdiff1d subtract tensordot true_divide vdot
    """
)
_OF_MORE = words("einsum interp trapezoid")
_PREFIXES = ("numpy.", "cupy.")
_DEEPER = ("linalg.", "fft.")
_BUILTINS = words(
    "abs all any bool complex float format int max min print repr round sorted str sum"
)


def _name(function: str) -> str:
    """``sum`` for ``numpy.sum``, ``linalg.norm`` for ``cupy.linalg.norm``."""
    library, _, name = function.partition(".")
    return name if f"{library}." in _PREFIXES else ""


def _reads(function: str) -> bool:
    if function.startswith("builtins."):
        return function.rpartition(".")[2] in _BUILTINS
    name = _name(function)
    if name.startswith(_DEEPER):
        return not name.endswith("freq")
    return name in _OF_ONE or name in _OF_TWO or name in _OF_MORE


def _inputs(function: str) -> int:
    name = _name(function)
    if name in _OF_ONE:
        return 1
    return 2 if name in _OF_TWO else 99


NUMPY = Vocabulary(
    reads=_reads,
    is_module=TORCH.is_module,
    module_prefix=TORCH.module_prefix,
    # Not ``sort`` and ``partition``: they write.
    readers=words(
        """
        all any argmax argmin argsort choose clip conj conjugate cumprod cumsum dot item max mean
        min nonzero prod ptp round searchsorted std sum take tobytes tolist trace var
        __bool__ __float__ __int__
        """
    ),
    operand_readers=words("dot matmul"),
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
        """
        builtins.len builtins.isinstance builtins.type builtins.id builtins.hasattr
        builtins.callable numpy.shape numpy.ndim numpy.size numpy.result_type numpy.empty_like
        numpy.zeros_like numpy.ones_like numpy.full_like numpy.iscomplexobj numpy.isrealobj
        numpy.isfortran numpy.may_share_memory numpy.shares_memory numpy.can_cast
        cupy.shape cupy.ndim cupy.size cupy.result_type cupy.empty_like cupy.zeros_like
        cupy.ones_like cupy.full_like numpy.empty numpy.zeros numpy.ones numpy.full
        """
    ),
    shape_arguments=frozenset(),
    inputs=_inputs,
)
