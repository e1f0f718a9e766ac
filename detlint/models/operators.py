"""For which arguments operators of the tables give the same in each run all the same."""

from __future__ import annotations

from detlint.models.model import words
from detlint.models.names import says

COUNTS = "torch.histc"
# They give values and the places of these; of equal values, any place may be meant.
SELECTIONS = words("torch.median torch.kthvalue")
SCANS = words("torch.cumprod torch.cumsum torch.logcumsumexp")
REDUCTION = "torch.Tensor.index_reduce_"
ORDERLESS = words("amax amin")
# Windows that do not overlap give each input one gradient; averages in steps of one, without
# padding, have a kernel of their own that needs no atomics.
POOLS = words(
    """AvgPool3d avg_pool3d MaxPool1d MaxPool2d MaxPool3d max_pool1d max_pool2d max_pool3d
    max_pool2d_with_indices max_pool3d_with_indices"""
)
DILATION = 3  # arguments after the size
MAXIMA = ("MaxPool", "max_pool")
UNPOOLS = "torch.nn.functional.max_unpool"
GRIDS = words("grid_sample grid_sampler")
ADAPTIVE = "torch.nn.functional.adaptive_"
# The grid and the weights can have a gradient of their own.
SECOND = {"grid_sample": "grid", "grid_sampler": "grid", "embedding_bag": "weight"}
OWN = ("EmbeddingBag", ".Mamba")  # the gradient is that of their own weights
NO_GRADIENT = ("none", "seems none")

# Sums by index of torch, by how their names begin.
ADDING = ("index_add", "scatter_add")

# Of operators that take an index: they reach places by it.
INDEXED = words("gather index_select index_copy index_add scatter_add")
KEEPING = words("clone contiguous cpu cuda detach int long to type clamp clip round floor")
SHAPING = (KEEPING - words("clamp clip round floor")) | words(
    "expand expand_as flatten repeat reshape squeeze unsqueeze view"
)
# Each element differs from the others, along the dimension that is indexed.
DISTINCT = words("arange argsort nonzero randperm sort topk where")
FINDING = words("nonzero where")  # of these, all coordinates together
PLACED = words("sort topk")  # of these, the second of what they give
# What was distinct in each row may occur in several, and only of these no row is another's.
JOINING = words("flatten reshape view")
OF_ALL = words("arange nonzero randperm where")
LINING_UP = words("cat concat concatenate stack")
BEST = words("argsort sort topk")  # they give each place of a row once
ZEROS = ("zeros", "new_zeros")
PARTS = words("data indices values")
# They leave one place of a dimension, if it is to be kept, or as many as they are told.
REDUCING = words("all amax amin any argmax argmin max mean median min mode prod sum")
CHOOSING = words("multinomial topk")
LAYING_OUT = words("expand repeat reshape view")
# Made of a size, by its place, or of numbers that are written out.
SIZED = {"randint": 2, "full": 0, "ones": 0, "zeros": 0}
FROM_NUMBERS = words("LongTensor Tensor array as_tensor from_numpy tensor")
# Whether what has this name compares what it is given place by place: ``smooth_l1_loss``.
COMPARING = says("criterion loss")

# Without one of these words, code calls none of the operators without a deterministic kernel, …
REFUSED = words(
    """AdaptiveAvgPool adaptive_avg_pool AdaptiveMaxPool adaptive_max_pool AvgPool3d avg_pool3d
    LPPool3d lp_pool3d FractionalMaxPool fractional_max_pool MaxPool3d max_pool3d MaxUnpool
    max_unpool interpolate Upsample upsample( pad( stft( ReflectionPad Conv1d Conv3d grid_sample
    CTCLoss ctc_loss CrossEntropyLoss cross_entropy NLLLoss nll_loss EmbeddingBag embedding_bag
    put_( put( take( scatter( scatter_( scatter_reduce index_reduce bincount( histc( median(
    nanmedian( kthvalue( cumsum( cumsum_( segment_coo segment_sum_coo segment_add_coo
    segment_mean_coo gather_coo scatter_mul roi_pool RoIPool PSRoI ps_roi_ deform_conv2d
    DeformConv2d spectrogram( Spectrogram( MelSpectrogram( Mamba( selective_scan_fn
    mamba_inner_fn"""
)
# … and none of those that have one that is off by default.
SWITCHED = words(
    """index_add scatter_add scatter_reduce index_put index_copy gather( index_select ConvTranspose
    conv_transpose interpolate upsample( upsample_bilinear Upsample UpsamplingBilinear2d pad(
    ReplicationPad ReflectionPad2d cumsum( cumsum_( scatter( scatter_sum scatter_mean
    scatter_softmax scatter_log scatter_std global_add_pool global_mean_pool spmm( roi_align(
    RoIAlign( MultiScaleRoIAlign("""
)
