"""What kind of source a file is, by its name or its first line."""

from __future__ import annotations

from itertools import pairwise

PYTHON = "python"
NOTEBOOK = "notebook"
CUDA = "cuda"
# Kinds other than Python and notebooks are read by the module of that name in detlint.documents.
SUFFIXES = {
    ".py": PYTHON,
    ".pyw": PYTHON,
    ".ipynb": NOTEBOOK,
    ".sh": "shell",
    ".bash": "shell",
    ".sbatch": "shell",
    ".slurm": "shell",
    ".dockerfile": "dockerfile",
    ".mk": "makefile",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".json": "json",
    ".cu": CUDA,
    ".cuh": CUDA,
    ".cpp": CUDA,
}
# Names without a suffix, or before any: Dockerfile.gpu.
NAMES = {
    "Dockerfile": "dockerfile",
    "Containerfile": "dockerfile",
    "Makefile": "makefile",
    "makefile": "makefile",
    "GNUmakefile": "makefile",
}
# Dockerfile_2024.rocm, Dockerfile-dev, and no Dockerfile-notes.md.
_IMAGES = ("Dockerfile_", "Dockerfile-", "Containerfile_", "Containerfile-")
_OTHERS = frozenset(("md", "rst", "html", "patch", "diff", "encrypted", "enc", "gpg", "orig"))
_ATTRIBUTES = "._"  # of a file on a Mac, kept beside it where a disk or an archive has none
# Programs that run sources, without their releases.
_INTERPRETERS = {
    **dict.fromkeys(("python", "ipython", "pypy"), PYTHON),
    **dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh"), "shell"),
}
_RELEASE = "0123456789."
# Beyond this a configuration, or a script, is data. A notebook's size is that of its pictures.
_LARGEST = 1_000_000


def kind_of_name(name: str) -> str | None:
    """The kind that a file's name says; None where the name says nothing."""
    if name.startswith(_ATTRIBUTES):
        return None
    stem, dot, suffix = name.rpartition(".")
    if dot and (kind := SUFFIXES.get(f".{suffix}")):
        return kind
    if suffix in _OTHERS:
        return None
    if name.startswith(_IMAGES):
        return "dockerfile"
    return NAMES.get(stem.partition(".")[0] if dot else name)


def kind_of_line(line: bytes) -> str | None:
    """The kind that a file's first line says: ``#!/usr/bin/env python``."""
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode("latin-1").split()
    if ("uv", "run") in pairwise(word.rpartition("/")[2] for word in words):
        return PYTHON
    return next(filter(None, map(interpreted_by, words)), None)


def interpreted_by(program: str) -> str | None:
    """The kind of source that a program runs, by its name or path: ``/usr/bin/python3.12``."""
    name = program.rpartition("/")[2].removesuffix(".exe").removesuffix("w")
    return _INTERPRETERS.get(name.rstrip(_RELEASE))


def kind_of(path: str, data: bytes = b"") -> str:
    """The kind of a file that is to be linted, Python unless it says otherwise."""
    name = path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
    return kind_of_name(name) or kind_of_line(data[:512].partition(b"\n")[0]) or PYTHON


def is_data(path: str, size: int) -> bool:
    """Whether a file is too large for what its name says that it is."""
    return size > _LARGEST and kind_of(path) not in (PYTHON, NOTEBOOK)
