"""What torch's functions and methods do with the values of a tensor."""

from __future__ import annotations

from detlint.analysis.uses import Vocabulary, words

# Pure functions of their tensors that exist both as ``torch.f(x)`` and as ``x.f()``. Left out
# on purpose: those that may ignore what the tensor held (``where``, ``masked_fill``, ``scatter``,
# ``index_copy``), and ``cat`` and ``stack``, which build buffers that are filled later.
_OPERATIONS = words(
    """
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
)
_ONLY_FUNCTIONS = words(
    """
    batch_norm bilinear bucketize cartesian_prod cdist celu chain_matmul conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity dropout einsum embedding
    group_norm instance_norm layer_norm max_pool1d max_pool2d max_pool3d pairwise_distance pdist
    pixel_shuffle poisson polar rms_norm searchsorted selu std_mean tensordot trapezoid var_mean
    """
)
# They read, unless ``beta=0`` tells them to ignore their first tensor.
_SCALED_BY_BETA = words("addbmm addmm addmv addr baddbmm")
_NAMESPACES = ("torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.fft.")
_BUILTINS = words(
    "abs all any bool complex float format int max min print repr round sorted str sum"
)
_MODULES = words("actor backbone critic discriminator generator model net network policy_net unet")


def _reads(function: str) -> bool:
    owner, _, name = function.rpartition(".")
    if owner == "builtins":
        return name in _BUILTINS
    if owner == "torch":
        return name in _OPERATIONS or name in _ONLY_FUNCTIONS
    return (
        function.startswith(_NAMESPACES)
        and name[0].islower()
        and not name.endswith("_")
        and name not in ("pad", "fftfreq", "rfftfreq")
    )


def _is_module(name: str) -> bool:
    return name in _MODULES or name.endswith(("_model", "_net"))


TORCH = Vocabulary(
    reads=_reads,
    is_module=_is_module,
    module_prefix="torch.nn.",
    readers=_OPERATIONS | frozenset(("item", "tolist", "__bool__", "__float__", "__int__")),
    operand_readers=words("bmm div dot eq matmul mm mul sub add_ addmm_ div_ mul_ sub_"),
    scaled_by_beta=_SCALED_BY_BETA,
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
        """
        builtins.len builtins.isinstance builtins.type builtins.id builtins.hasattr
        builtins.callable torch.is_tensor torch.numel torch.is_floating_point torch.is_complex
        torch.result_type torch.get_device torch.empty_like torch.zeros_like torch.ones_like
        torch.full_like torch.rand_like torch.randn_like torch.randint_like torch.is_same_size
        """
    ),
    shape_arguments=words("view_as expand_as reshape_as type_as to is_same_size"),
)
