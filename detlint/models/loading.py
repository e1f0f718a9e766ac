"""Loaders of data, what holds data, and what draws random numbers in their workers."""

from __future__ import annotations

from typing import NamedTuple

from detlint.models.model import Names, words
from detlint.models.randomness import DRAWS

# Classes that take the arguments of torch's DataLoader, at the same places.
LOADERS = words(
    """torch.utils.data.DataLoader torch.utils.data.dataloader.DataLoader
    torchdata.stateful_dataloader.StatefulDataLoader
    torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader"""
)
# The places of its parameters.
PLACES = {
    "dataset": 0,
    "shuffle": 2,
    "sampler": 3,
    "batch_sampler": 4,
    "num_workers": 5,
    "collate_fn": 6,
    "worker_init_fn": 10,
    "generator": 12,
}


class Drawing(NamedTuple):
    """A call that draws from torch's global generator: what messages call it, what it draws, and
    at which place it may be given ``generator``."""

    name: str
    drawn: str
    position: int | None


_DRAWING = {
    "RandomSampler": Drawing("RandomSampler()", "order", 3),
    "WeightedRandomSampler": Drawing("WeightedRandomSampler()", "choice", 3),
    "SubsetRandomSampler": Drawing("SubsetRandomSampler()", "order", 1),
    "random_split": Drawing("random_split()", "split", 2),
}
# What draws when it is called; what the others make, when something goes through it.
AT_ONCE = frozenset(("random_split()",))
# torch.utils.data has each of them under several.
_DRAWING_MODULES = ("torch.utils.data", "torch.utils.data.sampler", "torch.utils.data.dataset")
_OF_GRAPHS = """
    torch_geometric.{loader,data}.**.{Data,DataList,DenseData,TemporalData}Loader
    torch_geometric.{loader,data}.**.{Neighbor,LinkNeighbor,HGT,Cluster,RandomNode,Node}Loader
    torch_geometric.{loader,data}.**.{Link,Zip,IBMBBatch,IBMBNode}Loader
    torch_geometric.{loader,data}.**.GraphSAINT{,Node,Edge,RandomWalk}Sampler
    torch_geometric.{loader,data}.**.ShaDowKHopSampler
"""
# Those of other libraries that hand its keywords on, and leave the workers to torch.
_is_derived = Names(
    _OF_GRAPHS, "{litdata,lightning.data,lightning.pytorch.data}.**.StreamingDataLoader"
)
# Those that hand its keywords on; MONAI's and webdataset's seed what is in their workers.
_hands_on = Names(_OF_GRAPHS, "{monai,webdataset}.**.{DataLoader,ThreadDataLoader,WebLoader}")
BATCHES = words("torch.utils.data.BatchSampler torch.utils.data.sampler.BatchSampler")
# Samplers that shuffle to the same order in every epoch until they are told which it is.
EPOCH_SAMPLERS = words(
    """torch.utils.data.DistributedSampler torch.utils.data.distributed.DistributedSampler
    torchdata.stateful_dataloader.sampler.StatefulDistributedSampler"""
)
# What makes a generator object, by the words for it in messages.
GENERATORS = {
    "numpy.random.default_rng": "NumPy",
    "numpy.random.Generator": "NumPy",
    "numpy.random.RandomState": "NumPy",
    "numpy.random.mtrand.RandomState": "NumPy",
    "random.Random": "Python",
    "torch.Generator": "torch",
    "torch._C.Generator": "torch",
    "guard.generator": "guard",
}
# Methods of generators that draw nothing.
STATE_METHODS = words(
    """__getstate__ __setstate__ clone_state get_state getstate initial_seed jumped manual_seed seed
    set_state setstate spawn"""
)
# Those that start one anew.
RESEEDING = frozenset(["__setstate__", "manual_seed", "seed", "set_state", "setstate", "spawn"])
# Parameters through which a function is given what to draw from.
DRAWN_FROM = frozenset(("generator", "np_random", "random_generator", "random_state", "rng"))
# Objects of libraries that draw from generators of their own. Those of albumentations: 1.4.21 to
# 2.0.8, the last of that name; before, it drew from `random` and NumPy's global generator.
_owns_generator = Names(
    """
    {albumentations,imgaug.augmenters}.**.[A-Z]*
    monai.transforms.**.Rand[A-Z]*
    faker.Faker
    """
)
SINCE = {"albumentations": "1.4.21"}
# Those that draw nothing by themselves, but call what they are given.
_only_calls = Names(
    """
    albumentations.**.{Compose,Sequential,ReplayCompose,BboxParams,KeypointParams,Lambda}
    albumentations.**.{CenterCrop,CenterCrop3D,CropAndPad,Crop,FromFloat,LongestMaxSize,NoOp}
    albumentations.**.{Normalize,PadIfNeeded,Pad,Resize,SmallestMaxSize,ToFloat}
    albumentations.**.ToTensor{,V2,3D}
    imgaug.augmenters.**.{Sequential,Resize,Scale,CenterCrop*,CenterPad*,Identity,Noop}
    """
)
# Those that draw only whether they are applied.
is_fixed_if_applied = Names(
    "albumentations.**.{HorizontalFlip,VerticalFlip,Transpose,InvertImg,Equalize}",
    "albumentations.**.To{Gray,RGB,Sepia}",
)
# What pandas' ``sample`` takes; another keyword tells of another ``sample``.
SAMPLE = "sample"
FRAME = "pandas.DataFrame"
# What no other values have.
OF_FRAMES = words("loc iloc groupby drop_duplicates reset_index set_index sort_values")
# Methods of tables that give a function a table.
APPLYING = words("apply pipe")
OF_SAMPLE = words("n frac replace weights random_state axis ignore_index")
# Distributions, replay buffers, generators: not tables.
_NO_TABLES = words(
    """buffer chain dist distribution env generator gmm kde kernel memory model pipe policy pop
    population posterior prior process random replay rng sampler space study trial self cls p q
    rv pi"""
)
_NO_TABLE_ENDS = ("dist", "distribution", "space", "sampler", "buffer")
# Methods of Hugging Face's data sets that draw, and what they take.
SHUFFLES = {
    "shuffle": words(
        """seed seeds generator buffer_size max_buffer_input_shards keep_in_memory
    load_from_cache_file indices_cache_file_name writer_batch_size new_fingerprint"""
    ),
    "train_test_split": words(
        """test_size train_size shuffle stratify_by_column seed generator keep_in_memory
    load_from_cache_file train_indices_cache_file_name test_indices_cache_file_name
    writer_batch_size train_new_fingerprint test_new_fingerprint test_shuffle"""
    ),
}


class RowMethod(NamedTuple):
    """A method of tables that picks rows at random, and is seeded by the operating system where it
    gets no seed (Polars 2.1, Dask 2026.8; Spark's, which draws in its own machine).

    libraries  that have it, of which a file names one
    seed       the parameter, and its place
    needs      a parameter that other libraries' methods of that name lack
    """

    libraries: tuple[str, ...]
    seed: str
    place: int
    needs: str = ""


ROW_METHODS = {
    "randomSplit": RowMethod(("pyspark",), "seed", 1),
    "random_split": RowMethod(("dask",), "random_state", 1),
    SAMPLE: RowMethod(("polars", "pyspark"), "seed", 4, "fraction"),
}
# Of a stream.
STREAMED = frozenset(("buffer_size", "max_buffer_input_shards"))
# Methods that give such a data set again.
CHAINED = words(
    """add_column cast cast_column class_encode_column filter flatten map remove_columns
    rename_column rename_columns select select_columns shard shuffle skip sort take
    to_iterable_dataset train_test_split with_format with_transform repeat"""
)
_NAMED_DATA_SETS = words("data dataset datasets ds train test eval val valid split")
# Modules that are no part of any project that uses them.
_LIBRARIES = words(
    """PIL albumentations builtins collections copy cv2 faker functools guard imgaug itertools json
    lightning math monai numpy os pandas pathlib pytorch_lightning random scipy sklearn sys
    tensorflow torch torch_geometric torchaudio torchdata torchtext torchvision transformers typing
    webdataset"""
)
# Classes of data sets, and those of libraries whose loaders are others.
_is_known_dataset = Names(
    """
    {torch,torchvision,torchaudio,torchtext,torchdata,torch_geometric}.**.*{Dataset,Folder}
    {torchgeo,monai,fairseq,litdata,webdataset,avalanche,mmdet}.**.*{Dataset,Folder}
    {mmengine,recbole}.**.*{Dataset,Folder}
    {torchvision,torchaudio}.datasets.*
    """
)
_OTHERS = words("tensorflow tf keras paddle mindspore jittor oneflow megengine datasets")
# What a worker calls of a data set.
ENTRIES = ("__getitem__", "__getitems__", "__iter__", "__next__")


def is_loader(name: str) -> bool:
    """Whether a class, by its qualified name, is a loader that leaves the workers to torch."""
    return name in LOADERS or _is_derived(name)


def hands_on(name: str | None) -> bool:
    """Whether a class, by its qualified name, is a loader of torch, or hands its keywords on."""
    return name is not None and (name in LOADERS or _hands_on(name))


def drawing(name: str) -> Drawing | None:
    """What a sampler, or a function that splits data, draws."""
    module, _, last = name.rpartition(".")
    return _DRAWING.get(last) if module in _DRAWING_MODULES else None


# Whether the samples of what a function gives are those of its arguments.
wraps = Names(
    """
    torch.utils.data.**.{Subset,ConcatDataset,ChainDataset,StackDataset,random_split}
    copy.{,deep}copy
    builtins.{list,tuple,iter,next,reversed,sorted,zip,enumerate}
    """
)


def is_dataset(name: str) -> bool:
    """Whether a class, by its qualified name, is one of torch's data sets, or called one."""
    named = name.endswith("Dataset") and name.partition(".")[0] not in _OTHERS
    return named or _is_known_dataset(name)


# Whether a library's data set gives the same sample for the same index.
draws_nothing = Names(
    """
    torch.utils.data.**.TensorDataset
    datasets.load_{dataset,from_disk}
    {torchvision,torchaudio,torchtext,torch_geometric}.datasets.**.*
    """
)


# Whether an object of a class, or what it gives, is fed to a model of Keras by the number of each
# batch, in an order that ``fit`` shuffles by Python's generator, whatever ``shuffle`` that was made
# with (Keras 2.15, 3.15).
feeds_by_number = Names(
    """
    {tensorflow.**.,tf_,}keras.**.{PyDataset,Sequence,TimeseriesGenerator}
    {tensorflow.**.,tf_,}keras.**.{DataFrame,Directory,NumpyArray}Iterator
    {tensorflow.**.,tf_,}keras.**.ImageDataGenerator
    """
)
# By which methods these give that.
FLOWS = words("flow flow_from_dataframe flow_from_directory")
# How such a call is given that, by name or first.
FED = ("x", "generator")


# Whether a class or function gives a data set of Hugging Face.
makes_data_set = Names(
    """
    datasets.**.load_{dataset,from_disk}
    datasets.**.{concatenate,interleave}_datasets
    datasets.**.{Dataset,DatasetDict,IterableDataset,IterableDatasetDict}{,.from_*}
    """
)
# Whether one gives a stream of webdataset.
makes_stream = Names("webdataset.**.{WebDataset,WebPipeline,DataPipeline}")


def names_data_set(name: str) -> bool:
    """Whether a name is that of one."""
    return name in CHAINED or _last_word(name) in _NAMED_DATA_SETS


def is_no_table(name: str) -> bool:
    """Whether a name is of what has another ``sample`` than tables have."""
    last = _last_word(name)
    return bool({last, last.removesuffix("s")} & _NO_TABLES) or name.lower().endswith(
        _NO_TABLE_ENDS
    )


def _last_word(name: str) -> str:
    """Without the number behind it."""
    return name.rstrip("0123456789").rpartition("_")[2]


def keeps_generator(name: str) -> bool:
    """Whether a library's object draws from a generator of its own."""
    return _owns_generator(name) and not _only_calls(name)


# Whether a function draws from a generator of its library that torch does not seed.
draws_globally = Names(
    "{tensorflow,tf}.{,compat.v1.}random.{uniform,normal,shuffle,truncated_normal}",
    "{tensorflow,tf}.{,compat.v1.}random.{gamma,poisson,categorical}",
)


def draws_from_numpy(name: str) -> bool:
    """Whether a function draws from NumPy's global generator."""
    return DRAWS.get(name) == "numpy"


def is_known(name: str) -> bool:
    """Whether a function is of a library, which calls nothing of the project."""
    return name.partition(".")[0] in _LIBRARIES
