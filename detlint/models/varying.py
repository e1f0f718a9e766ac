"""What may differ from run to run on a GPU of layers and functions that no table of operators has,
and what a program may import without bringing such.

Seen with torch 2.11 and cuDNN 9.19 on an H200 (benchmarks/ON_GPU.md): convolutions of images of
one or three channels, transposed ones of sound, fused attention, gradients of small embeddings.
What did not differ there is no promise: cuDNN chooses kernels by shape and card.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from detlint.models.model import Names, words
from detlint.models.names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# How a text names them …
WORDS = (
    *("Conv1d", "Conv2d", "Conv3d", "ConvTranspose", "conv1d(", "conv2d(", "conv3d("),
    *("conv_transpose", "convolution(", "Embedding", "embedding(", "embedding_bag("),
    *("MultiheadAttention", "Transformer", "multi_head_attention_forward(", "flex_attention"),
    *("dot_product_attention", "AdaptiveLogSoftmaxWithLoss", "LocalResponseNorm"),
    *("cumprod(", "logcumsumexp(", "spmm(", "torch.sparse", "sparse_coo_tensor("),
    *("from_pretrained(", "from_config(", "hub.load(", "jit.load(", "create_model(", "models."),
    *("Node2Vec", "Path2Vec", "SEModule", "SqueezeExcite", "EcaModule", "ConvMlp", "atomic_add("),
)
# … and by which qualified names they are known, the surest first: "seen" differed on a GPU, a
# "model" is one that is not seen. `cudnn.deterministic = True` has what is of convolutions repeat.
# What is "by size" differed for some sizes alone: what of it is seen of none may well repeat.
_OF_CONVOLUTIONS = "of convolutions"
BY_SIZE = "by size"
OF_FACTORS = "factors"  # sparse matrices, whose products may differ however these are written
KINDS = {
    f"seen {_OF_CONVOLUTIONS}": Names("torch.nn.**.{Lazy,}Conv2d torch.{nn.functional.,}conv2d"),
    "seen": Names(
        """
        torch.nn.**.{MultiheadAttention,Transformer*}
        torch.nn.functional.{scaled_dot_product_attention,multi_head_attention_forward}
        torch.{spmm,hspmm,sparse.[a-z]*}
        torch.nn.attention.**.flex_attention
        """
    ),
    f"deep {_OF_CONVOLUTIONS}": Names(
        "timm.**.{SEModule,SqueezeExcite,EffectiveSEModule,EcaModule,ConvMlp}"
    ),
    f"model {_OF_CONVOLUTIONS}": Names(
        """
        torchvision.models.{resnet,resnext,wide_resnet,densenet,mobilenet,efficientnet,mnasnet}*
        torchvision.models.{shufflenet,squeezenet,regnet,convnext,googlenet,inception}*
        """
    ),
    _OF_CONVOLUTIONS: Names(
        """
        torch.nn.**.{Lazy,}Conv{Transpose,}{1d,3d} torch.nn.**.{Lazy,}ConvTranspose2d
        torch.{nn.functional.,}{conv1d,conv3d,conv_transpose*} torch.convolution
        """
    ),
    "others": Names(
        """
        torch.nn.**.{EmbeddingBag,LocalResponseNorm,AdaptiveLogSoftmaxWithLoss}
        torch.{nn.functional.,}embedding_bag
        triton.language.atomic_add
        """
    ),
    OF_FACTORS: Names("torch.sparse_{coo,csr}_tensor torch.sparse.*Tensor"),
    "model": Names(
        """
        torch.hub.load torch.jit.load timm.**.create_model
        torchvision.models.**.[a-z]*
        transformers.**.*{Model,Model[A-Z]*,For[A-Z]*}.{from_pretrained,from_config}
        """
    ),
    BY_SIZE: Names(
        """
        torch.nn.**.Embedding torch.{nn.functional.,}embedding torch.{cumprod,logcumsumexp}
        torch_geometric.nn.**.{Node2Vec,MetaPath2Vec}
        """
    ),
}
# Models of texts whose attention, if it is not fused, is of products and a softmax, which repeat.
UNFUSED = Names(
    """
    transformers.**.*For{CausalLM,MaskedLM,MultipleChoice,QuestionAnswering}.{from_pretrained,from_config}
    transformers.**.*For{Sequence,Token}Classification.{from_pretrained,from_config}
    """
)
ATTENTION, EAGER = "attn_implementation", "eager"  # how such are told not to fuse it
FUSED_SINCE = "4.36"  # of transformers
# Nor is it fused where its weights are asked for, too, which this parameter says by default.
WEIGHING = Names("torch.nn.**.MultiheadAttention")
WEIGHTS, WEIGHTS_AT = "need_weights", 4
# How code names what the switches of cuDNN are about, with recurrent layers and models that are
# read from a file. `f"Conv{number}d"` is such a name.
OF_CUDNN = re.compile(
    r"\b(?:Lazy)?Conv(?:Transpose)?(?:[1-3]d\b|\W)|\bconv(?:_transpose)?[1-3]d\b|\bconvolution\("
    r"|\b(?:RNN|LSTM|GRU|CTCLoss|ctc_loss)\b|\b(?:hub|jit)\.load\(|\bfrom_pretrained\("
)
# Rows of a table whose gradient differed, and channels of images: those between, and these.
_FEW_ROWS = range(3, 512)
_OF_IMAGES = (1, 3)
_OF_LAYERS = frozenset(("layers", "model", "models", "modules", "nn", "transformers"))
FROZEN = "model frozen"  # which gets no gradient where it is made
BY_INDEX, BY_ROW = "torch by index", "torch by row"
_OPERATORS = {  # which go before
    f"model {_OF_CONVOLUTIONS}": "torch",
    _OF_CONVOLUTIONS: BY_INDEX,
    OF_FACTORS: BY_ROW,
}
# Libraries that bring no layers, models and operators of torch.
PLAIN = sys.stdlib_module_names | words(
    """
    Box2D Cython IPython PIL SimpleITK absl accelerate addict aim albumentations ale_py attr
    attrs beartype bpy braceexpand bs4 casadi catboost chex clearml click cloudpickle colorama
    coloredlogs comet_ml configargparse cupy cv2 cvxpy cython d4rl dask datasets dill distutils
    dm_control docopt dotenv einops envpool evaluate face_recognition fire flax fsspec ftfy
    gdown geopy git google gpustat guard gurobipy gym gym_minigrid gymnasium h5pickle h5py
    haiku hdbscan highway_env huggingface_hub hydra icecream ignite igraph imageio imblearn
    imgaug ipdb ipywidgets jax jaxtyping jiwer joblib jsonlines keplergl librosa lightgbm
    lightning lmdb logging loguru lxml lz4 mathutils matlab matplotlib medpy mido minari
    minigrid mlflow mne more_itertools moviepy mpi4py mpl_toolkits msgpack mujoco mujoco_py
    music21 natsort neptune netCDF4 networkx nibabel nltk nni numba numexpr numpy nvidia_smi
    omegaconf openpyxl openslide optax optuna orbax orjson overrides packaging pandas patsy
    pettingzoo pickle5 plotly polars pretty_midi prettytable procgen psutil pudb pyarrow
    pybullet pybullet_envs pycocotools pydantic pydicom pygame pyglet pylab pynvml pytest
    pytorch_lightning rasterio ray rdkit regex requests rich sacrebleu sacred scipy seaborn
    sentencepiece setproctitle setuptools shapely simple_parsing simplejson six skimage sklearn
    soundfile statsmodels structlog supersuit swanlab sympy tables tabulate tblib tenacity
    tensorboard tensorboardX tensorboard_logger termcolor test_tube thop tifffile tokenizers
    toml tomli tomli_w tomlkit toolz torch torchdata torchinfo torchmetrics torchsummary
    torchvision torchviz tqdm trimesh typer typing_extensions tyro ujson umap unidecode visdom
    vizdoom wandb wfdb xarray xgboost xlrd yacs yaml yapf yfinance zarr zstandard
    """
)
# What other libraries have that repeats: made of linear layers, norms and arithmetic alone.
_REPEATING = Names(
    """
    timm.{data,loss,optim,scheduler,utils}.**.*
    timm.**.{DropPath,drop_path,calculate_drop_path_rates,Mlp,GluMlp,SwiGLU,LayerScale,LayerScale2d}
    timm.**.{GroupNorm,GroupNorm1,LayerNorm,LayerNorm2d,LayerNormFp32,RmsNorm,RmsNorm2d,SimpleNorm}
    timm.**.{trunc_normal_,trunc_normal_tf_,lecun_normal_,variance_scaling_,make_divisible}
    timm.**.{to_1tuple,to_2tuple,to_3tuple,to_4tuple,to_ntuple}
    torchvision.ops.**.{MLP,Permute,FrozenBatchNorm2d,StochasticDepth,stochastic_depth}
    torchvision.ops.**.{sigmoid_focal_loss,box_area,box_convert,box_iou,generalized_box_iou}
    imitation.algorithms.bc.BC imitation.{data,util}.**.*
    transformers.**.*{FeatureExtractor,Processor,ProcessorFast,Tokenizer,TokenizerFast}.from_pretrained
    transformers.**.{PreTrainedModel,GenerationMixin,*Config}
    """
)
# The last words of names that say that a class or function of any library is none of these.
_NO_LAYERS = words("dataset datasets env environment environments envs logger")
# Parts of libraries that bring none that do.
BRINGING = ("torchvision.models", "torchvision.ops", "torchvision.prototype")
# Libraries for pictures, whose models convolve.
CONVOLVING = words(
    """basicsr detectron2 diffusers escnn fastai kornia mmcv mmdet mmseg monai open_clip
    segmentation_models_pytorch timm torchvision ultralytics"""
)
QUOTED = tuple(f"{quote}{each}" for quote in "\"'" for each in BRINGING)  # by a configuration


def brings(name: str) -> bool:
    """Whether what has a qualified name is of a library that may bring layers and models."""
    own = name.startswith(".")
    if own or not _NO_LAYERS.isdisjoint(words_of(name.rpartition(".")[2])[-1:]):
        return False
    return name.partition(".")[0] not in PLAIN or name.startswith(BRINGING)


def may_be_layer(name: str) -> bool:
    """Whether what has a qualified name is a class of a module of layers or models."""
    module, _, word = name.rpartition(".")
    return word[:1].isupper() and not _OF_LAYERS.isdisjoint(module.split("."))


def repeats(name: str) -> bool:
    """Whether what a library has is known to repeat, or only tells of trained weights."""
    return name.endswith("_Weights") or "_Weights." in name or _REPEATING(name)


def kind_of(names: Iterable[str]) -> str:
    """Which of ``KINDS`` has one of some qualified names; "" of what repeats."""
    return next((kind for kind, known in KINDS.items() if any(map(known, names))), "")


def sized(kind: str, sizes: Iterable[object]) -> str:
    """The kind of layers whose first sizes, the rows of a table or the channels of images, are
    known, ``...`` if not; "" of what repeats."""
    known = list(sizes)
    if not known or ... in known:
        return kind
    if kind == BY_SIZE:
        return "seen" if any(each in _FEW_ROWS for each in known) else ""
    of_images = any(each in _OF_IMAGES for each in known)
    deep = kind == f"seen {_OF_CONVOLUTIONS}" and not of_images
    return f"deep {_OF_CONVOLUTIONS}" if deep else kind


def is_model(kind: str) -> bool:
    """Whether it is a model that is not seen."""
    return kind.startswith("model")


def ranked(*, convolutions: bool) -> Iterator[tuple[str, str]]:
    """The kinds of facts that tell of what may differ, and what these are about, the surest first;
    of convolutions only where these may. What takes an index may reach no place twice, and a scan
    have short rows, but what holds convolutions of images differed."""
    for each in KINDS:
        if each in _OPERATORS:
            yield "operators", _OPERATORS[each]
        if convolutions or not each.endswith(_OF_CONVOLUTIONS):
            yield "layers", each
