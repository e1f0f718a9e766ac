"""What functions and methods of torch do to the tensors that they are given."""

from __future__ import annotations

from detlint.models.model import words
from detlint.models.names import holds

# As dtypes are written, and methods and legacy classes: ``torch.int64``, ``x.long()``,
# ``torch.LongTensor``.
INTEGER_TYPES = words(
    "bool byte char int int16 int32 int64 int8 long short uint16 uint32 uint64 uint8"
)
FLOATING_TYPES = words("bfloat16 double float float16 float32 float64 half")
# What they give is of whole numbers or truth values, whatever they are given.
INTEGERS = words(
    """
    all any argmax argmin argsort argwhere bincount bucketize count_nonzero eq equal ge greater
    greater_equal gt isclose isfinite isin isinf isnan isneginf isposinf isreal le less less_equal
    logical_and logical_not logical_or logical_xor lt ne nonzero not_equal numel one_hot randint
    randint_like randperm searchsorted signbit size tril_indices triu_indices
    """
)
# And what these give is not; as functions alone, those that take their type from nothing else.
FLOATS = words(
    """
    cos exp linspace log log10 log1p log2 log_softmax logspace logsumexp mean norm normal normal_
    rand randn rsqrt sigmoid sin softmax sqrt std tanh uniform_ var
    """
)
DRAWS = words("rand_like randn_like")  # of floating point, or torch refuses
# They are filled with whole numbers, whatever the type.
WHOLE = words("new_ones new_zeros ones ones_like zeros zeros_like one_hot")
# They give the same numbers in another shape, or as another type.
SHAPING = words(
    """
    clone contiguous cpu cuda detach expand expand_as flatten permute repeat repeat_interleave
    reshape squeeze t to transpose type type_as unsqueeze view view_as
    """
)
# They give a tensor of the type of those that they are given.
SAME_TYPE = words(
    """
    abs add add_ broadcast_to cat chunk clamp clamp_ clip clone concat concatenate contiguous cpu
    cuda cumsum detach diagonal diff empty_like expand expand_as fill_ flatten flip full_like gather
    hstack index_add index_add_ index_select masked_fill masked_select max maximum median min
    minimum movedim mul mul_ narrow neg new_empty new_full new_ones new_zeros ones_like permute
    pin_memory prod ravel relu repeat repeat_interleave requires_grad_ reshape roll scatter_add
    scatter_add_ select sort split squeeze stack sub sub_ sum swapaxes swapdims t tile to topk
    transpose tril triu unbind unflatten unfold unique unsqueeze view view_as vstack where zero_
    zeros_like
    """
)
# Of these functions, the first two arguments tell the type, or all in a list.
MANY = words("add cat concat concatenate hstack maximum minimum mul stack sub vstack")
# They take values and the places of these: ``values, places = x.topk(3)``.
PLACED = words("cummax cummin kthvalue max median min mode nanmedian sort topk unique")
# They give as many dimensions as they are given.
SAME_DIMENSIONS = words(
    """
    abs bfloat16 clamp clone contiguous cpu cuda detach double exp float half log log_softmax long
    neg relu sigmoid softmax tanh to type type_as
    """
)
SIZED = words("zeros ones rand randn empty")  # by their arguments, which are the sizes
SWAPS = words("transpose swapaxes swapdims movedim moveaxis")
RESHAPES = words("permute view reshape")
# What these give has at least so many dimensions: without a batch, as they take it.
_AT_LEAST = {
    **dict.fromkeys(("interpolate", "upsample", "Upsample", "pixel_shuffle", "PixelShuffle"), 3),
    **dict.fromkeys(("upsample_bilinear", "grid_sample"), 4),
}
BY_MODE = {"bilinear": 4, "bicubic": 4, "trilinear": 5}  # of an interpolation
# Functions of torch that give tensors, besides those that read some.
FACTORIES = words(
    """
    arange as_tensor cat einsum empty empty_like eye from_numpy full full_like linspace logspace
    normal ones ones_like rand rand_like randint randint_like randn randn_like randperm scatter
    stack tensor where zeros zeros_like
    """
)
# Layers that give as many as they are given, and what calls the layers that it holds.
KEEPING_LAYERS = words(
    """BatchNorm Dropout ELU GELU GroupNorm Identity LayerNorm LeakyReLU Linear LogSoftmax Mish
    PReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax SyncBatchNorm Tanh"""
)
HOLDING_LAYERS = words("DataParallel DistributedDataParallel Sequential compile")
is_loss_of_images = holds("loss2d entropy2d nll2d loss_2d entropy_2d")  # by its name
NO_TENSORS = words("item tolist __bool__ __float__ __int__ size")  # of methods that read
ANNOTATIONS = words("torch.Tensor torch.FloatTensor torch.LongTensor")
# It makes legacy constructors, as torch.Tensor(2, 3), give what lies elsewhere.
DEFAULT_DEVICE = "set_default_tensor_type"


def at_least(word: str) -> int:
    """How many dimensions what a function or a class of torch.nn gives has at least: what is of
    images, or of volumes, says so in its name. 0 where that is not known."""
    of = word[-2:-1] if word.endswith("d") else ""
    return _AT_LEAST.get(word) or (int(of) + 1 if of.isdigit() else 0)
