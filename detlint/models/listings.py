"""What lists files in the order in which the file system keeps them."""

from __future__ import annotations

import re
from typing import NamedTuple

from detlint.models.model import Names, words


class Listing(NamedTuple):
    """A call that lists files.

    name      as a message writes it
    key       what sorts its elements, "" where they sort as they are; None where it is not known
    iterator  whether it gives an iterator, so that ``next`` works on it
    walk      whether its elements are (folder, folders, files)
    samples   of a data set: its attribute that holds the files of its samples, in the same order
    numbered  of a data set: whether its labels number what it lists
    """

    name: str
    key: str | None = ""
    iterator: bool = False
    walk: bool = False
    samples: str = ""
    numbered: bool = False


_WALKS = ("walk", "Walk")
# Measured with TensorFlow 2.21: none of them sorts, unlike tf.io.matching_files.
_OF_TENSORFLOW = tuple(
    Listing(f"tensorflow.{module}.{word}", walk=word in _WALKS, iterator=word in _WALKS)
    for module, words in (
        ("io.gfile", ("glob", "listdir", "walk")),
        ("compat.v1.io.gfile", ("glob", "listdir", "walk")),
        ("compat.v2.io.gfile", ("glob", "listdir", "walk")),
        ("gfile", ("Glob", "ListDirectory", "Walk")),
        ("compat.v1.gfile", ("Glob", "ListDirectory", "Walk")),
        ("python.platform.gfile", ("Glob", "ListDirectory", "Walk")),
    )
    for word in words
)
# Read in the source of blobfile 3.3: of a local folder they give what os.scandir gives.
_OF_BLOBFILE = (
    Listing("blobfile.glob", iterator=True),
    Listing("blobfile.listdir", iterator=True),
    Listing("blobfile.scandir", "lambda e: e.name", iterator=True),
    Listing("blobfile.scanglob", "lambda e: e.path", iterator=True),
)
# Data sets whose samples stand as their folders list them, by what holds these; and such as number
# their classes so. Read in the source of torchvision 0.28.0; its other data sets sort, or read
# lists. Each lies in a module of its own.
_SAMPLES = {
    "cityscapes.Cityscapes": "images",
    "inaturalist.INaturalist": "index",
    "kitti.Kitti": "images",
    "omniglot.Omniglot": "_flat_character_images",
    "sun397.SUN397": "_image_files",
    "_optical_flow.Sintel": "_image_list",
}
_NUMBERED = frozenset(("omniglot.Omniglot",))
DATA_SETS = {
    f"torchvision.datasets.{name}": Listing(
        f"torchvision's {where.rpartition('.')[2]}",
        key=None,
        samples=samples,
        numbered=where in _NUMBERED,
    )
    for where, samples in _SAMPLES.items()
    for name in (where, where.rpartition(".")[2])
}
DATA_SET_WORDS = tuple(sorted(f"{where.rpartition('.')[2]}(" for where in _SAMPLES))
FUNCTIONS = DATA_SETS | {
    each.name: each
    for each in (
        Listing("os.listdir"),
        Listing("os.scandir", "lambda e: e.name", iterator=True),
        Listing("glob.glob"),
        Listing("glob.iglob", iterator=True),
        Listing("glob2.glob"),  # 0.7: os.listdir, folder by folder
        Listing("glob2.iglob", iterator=True),
        Listing("os.walk", iterator=True, walk=True),
        *_OF_BLOBFILE,
        Listing("speechbrain.utils.data_utils.get_all_files"),  # os.listdir, folder by folder
        *_OF_TENSORFLOW,
    )
}
_WALK = Listing("Path.walk", iterator=True, walk=True)
METHODS = {
    "iterdir": Listing("Path.iterdir", iterator=True),
    "glob": Listing("Path.glob", iterator=True),
    "rglob": Listing("Path.rglob", iterator=True),
    "walk": _WALK,
}
# The qualified names of pathlib's methods: `Path.iterdir(folder)`, `Path("a").iterdir()`.
PATH_CLASSES = ("pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath")
# What gives a file system of fsspec, whose `glob` sorts and whose `ls` does not.
is_file_system = Names(
    """
    fsspec.{,core.}url_to_fs{,.*}
    fsspec.{,core.}get_fs_token_paths{,.*}
    fsspec.{filesystem,AbstractFileSystem,spec.AbstractFileSystem,implementations.*.*}{,.*}
    huggingface_hub.{,hf_file_system.}HfFileSystem
    s3fs.{,core.}S3FileSystem
    gcsfs.{,core.}GCSFileSystem
    adlfs.{,spec.}AzureBlobFileSystem
    {lightning.fabric,lightning_fabric}.utilities.cloud_io.get_filesystem
    {lightning.pytorch,pytorch_lightning}.utilities.cloud_io.get_filesystem
    """
)

# What tells Python, or the loader of libraries, where to look for code.
FINDING_CODE = words(
    """ctypes.CDLL ctypes.cdll.LoadLibrary os.add_dll_directory site.addsitedir sys.path.append
    sys.path.extend sys.path.insert"""
)
# What a variable is called that may hold a wildcard.
may_be_pattern = re.compile(
    r"pattern|glob|wild|regex|expr|search|match|mask|template|query|(?:^|_)(?:names|files|paths)$",
    re.IGNORECASE,
).search
# What is saved again and again while a model trains.
is_saved = re.compile(
    r"best|ckpt|checkpoint|epoch|iter|last|model|param|run|snapshot|step|weight"
    r"|(?:^|\.|_)(?:bin|gguf|h5|hdf5|index|keras|meta|msgpack|npz|onnx|pickle|pkl|pth?|safetensors"
    r"|tar|zip)$",
    re.IGNORECASE,
).search
is_library = re.compile(r"\.(?:so|pyd|dll|dylib)\*?$").search  # a pattern for those
# `tmp_dir`, `temp_dir_path`, `tmpdir`: made by the code itself.
is_temporary = re.compile(r"(?:^|_)te?mp(?:orary)?_?(?:dir|folder|path|root)", re.IGNORECASE).search
# Where programs are installed, that is: what a machine has, and no data.
is_installed = re.compile(
    r"[\\/](?:dev|proc|sys)[\\/]"
    r"|(?:[A-Z]:)?[\\/](?:Program Files|usr[\\/](?:lib|local[\\/](?:cuda|lib)))"
).match
opens = re.compile(r"(?:^|_)(?:im)?(?:open|load|read)", re.IGNORECASE).search
