"""What kind of source a file is, by its name or its first line."""

from __future__ import annotations

from itertools import pairwise

PYTHON = "python"
NOTEBOOK = "notebook"
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
    ".cu": "cuda",
    ".cuh": "cuda",
    ".cpp": "cuda",
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
# Programs that a first line names, without their releases.
_INTERPRETERS = {
    **dict.fromkeys((b"python", b"ipython", b"pypy"), PYTHON),
    **dict.fromkeys((b"sh", b"bash", b"dash", b"zsh", b"ksh"), "shell"),
}
_RELEASE = b"0123456789."
# Beyond this a configuration, or a script, is data. A notebook's size is that of its pictures.
_LARGEST = 1_000_000


def kind_of_name(name: str) -> str | None:
    """The kind that a file's name says; None where the name says nothing."""
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
    words = [word.rpartition(b"/")[2] for word in line[2:].split()]
    if [b"uv", b"run"] in ([*pair] for pair in pairwise(words)):
        return PYTHON
    plain = (word.removesuffix(b"w").rstrip(_RELEASE) for word in words)
    return next(filter(None, map(_INTERPRETERS.get, plain)), None)


def kind_of(path: str, data: bytes = b"") -> str:
    """The kind of a file that is to be linted, Python unless it says otherwise."""
    name = path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
    return kind_of_name(name) or kind_of_line(data[:512].partition(b"\n")[0]) or PYTHON


def is_data(path: str, size: int) -> bool:
    """Whether a file is too large for what its name says that it is."""
    return size > _LARGEST and kind_of(path) not in (PYTHON, NOTEBOOK)
