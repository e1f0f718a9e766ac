"""What may differ from run to run on a GPU of layers and functions that no table of operators has,
and what a program may import without bringing such.

Seen with torch 2.11 and cuDNN 9.19 on an H200 (benchmarks/ON_GPU.md): convolutions of images of
one or three channels, transposed ones of sound, fused attention, gradients of small embeddings.
What did not differ there is no promise: cuDNN chooses kernels by shape and card.
"""

from __future__ import annotations

import sys

from detlint.models.model import Names, words

# How a text names them …
WORDS = (
    *("Conv1d", "Conv2d", "Conv3d", "ConvTranspose", "conv1d(", "conv2d(", "conv3d("),
    *("conv_transpose", "convolution(", "Embedding", "embedding(", "embedding_bag("),
    *("MultiheadAttention", "Transformer", "multi_head_attention_forward(", "flex_attention"),
    *("dot_product_attention", "AdaptiveLogSoftmaxWithLoss", "LocalResponseNorm"),
    *("cumprod(", "logcumsumexp(", "spmm(", "torch.sparse", "sparse_coo_tensor("),
    *("from_pretrained(", "from_config(", "hub.load(", "jit.load(", "create_model(", "models."),
)
# … and by which qualified names they are known.
VARYING = Names(
    """
    torch.nn.**.{Lazy,}Conv{Transpose,}{1d,2d,3d}
    torch.nn.**.{Embedding,EmbeddingBag,MultiheadAttention,Transformer*,LocalResponseNorm}
    torch.nn.**.AdaptiveLogSoftmaxWithLoss
    torch.{nn.functional.,}{conv1d,conv2d,conv3d,conv_transpose*,embedding,embedding_bag}
    torch.convolution
    torch.nn.functional.{scaled_dot_product_attention,multi_head_attention_forward}
    torch.nn.attention.**.flex_attention
    torch.{cumprod,logcumsumexp,spmm,hspmm,sparse_coo_tensor,sparse.*}
    """
)
# Models that are not seen.
MODELS = Names(
    """
    torch.hub.load torch.jit.load timm.**.create_model
    torchvision.models.**.[a-z]*
    transformers.**.*{Model,Model[A-Z]*,For[A-Z]*}.{from_pretrained,from_config}
    """
)
# Libraries that bring no layers, models and operators of torch.
PLAIN = sys.stdlib_module_names | words(
    """
    Cython IPython PIL SimpleITK absl accelerate addict aim albumentations attr attrs beartype
    braceexpand bs4 catboost chex clearml click cloudpickle colorama coloredlogs comet_ml
    configargparse cupy cv2 cython dask datasets dill dm_control docopt dotenv einops envpool
    evaluate fire flax fsspec ftfy gdown git google gpustat guard gym gymnasium h5pickle h5py
    haiku hdbscan huggingface_hub hydra icecream ignite igraph imageio imblearn imgaug ipdb
    ipywidgets jax jaxtyping jiwer joblib jsonlines librosa lightgbm lightning lmdb logging
    loguru lxml lz4 matplotlib medpy mido minari mlflow more_itertools moviepy mpi4py
    mpl_toolkits msgpack mujoco music21 natsort neptune networkx nibabel nltk nni numba numexpr
    numpy nvidia_smi omegaconf openpyxl openslide optax optuna orbax orjson overrides packaging
    pandas patsy pettingzoo pickle5 plotly polars pretty_midi prettytable psutil pudb pyarrow
    pycocotools pydantic pydicom pygame pylab pynvml pytest pytorch_lightning ray rdkit regex
    requests rich sacrebleu sacred scipy seaborn sentencepiece setproctitle setuptools shapely
    simple_parsing simplejson six skimage sklearn soundfile statsmodels structlog swanlab sympy
    tables tabulate tblib tenacity tensorboard tensorboardX tensorboard_logger termcolor
    test_tube thop tifffile tokenizers toml toolz torch torchdata torchinfo torchmetrics
    torchsummary torchvision torchviz tqdm trimesh typer typing_extensions tyro ujson umap
    unidecode visdom wandb xarray xgboost xlrd yacs yaml yapf zarr zstandard
    """
)
# Parts of libraries that bring none that do.
BRINGING = ("torchvision.models", "torchvision.ops", "torchvision.prototype")


def brings(name: str) -> bool:
    """Whether what has a qualified name is of a library that may bring layers and models."""
    own = name.startswith(".")
    return not own and (name.partition(".")[0] not in PLAIN or name.startswith(BRINGING))


def is_varying(name: str) -> bool:
    """Whether what has a qualified name may differ from run to run on a GPU, or is a model that is
    not seen."""
    return VARYING(name) or MODELS(name)
