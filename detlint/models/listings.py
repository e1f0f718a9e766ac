"""What lists files in the order in which the file system keeps them."""

from __future__ import annotations

from typing import NamedTuple

from detlint.models.model import Names


class Listing(NamedTuple):
    """A call that lists files.

    name      as a message writes it
    key       what sorts its elements, "" where they sort as they are; None where it is not known
    iterator  whether it gives an iterator, so that ``next`` works on it
    walk      whether its elements are (folder, folders, files)
    """

    name: str
    key: str | None = ""
    iterator: bool = False
    walk: bool = False


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
FUNCTIONS = {
    each.name: each
    for each in (
        Listing("os.listdir"),
        Listing("os.scandir", "lambda e: e.name", iterator=True),
        Listing("glob.glob"),
        Listing("glob.iglob", iterator=True),
        Listing("os.walk", iterator=True, walk=True),
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
FILE_SYSTEMS = Names(
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
