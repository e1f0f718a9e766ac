"""The input: pinned releases, unpacked, and a part of one that slow linters can finish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

WHEELS = {"transformers": "5.23.0", "diffusers": "0.42.1"}
# Training code, as users have it: libraries with their programs, and recipes.
REPOSITORIES = {
    "deepspeed": "0.19.8",
    "espnet": "202511",
    "nnunetv2": "2.8.1",
    "ultralytics": "8.4.190",
    "monai": "1.6.1",
    "pytorch-lightning": "2.6.6",
    "fairseq2": "0.8.1",
    "speechbrain": "1.1.2",
    "torch_geometric": "2.8.1",
    "timm": "1.0.31",
    "diffusers": "0.35.2",
}
# deepspeed has no wheel, and espnet's leaves files out.
SDISTS = frozenset({"deepspeed", "espnet"})
# pip asks an sdist's build backend for its metadata, and setuptools would run setup.py for it.
# This one, found before the true one, hands over what the sdist says of itself.
BACKEND = """
import email, pathlib, shutil, sys

def prepare_metadata_for_build_wheel(folder, settings=None):
    said = email.message_from_string(pathlib.Path("PKG-INFO").read_text(encoding="utf-8"))
    made = pathlib.Path(folder, f"{said['Name']}-{said['Version']}.dist-info")
    made.mkdir()
    shutil.copy("PKG-INFO", made / "METADATA")
    return made.name

__legacy__ = sys.modules[__name__]
"""
# What makes a folder a project of its own, wherever it lies.
MARK = "pyproject.toml"
SUBSET_BYTES = 2_000_000
# A file of the usual length without a trigger of any rule: what a commit mostly holds.
CLEAN_FILE = Path("transformers", "models", "auto", "processing_auto.py")


class Corpus(NamedTuple):
    """A folder of Python files, and how much it holds."""

    folder: Path
    files: int
    bytes: int

    @property
    def megabytes(self) -> float:
        """Millions of bytes, as disks count them."""
        return self.bytes / 1e6


def measured(folder: Path) -> Corpus:
    sizes = [path.stat().st_size for path in folder.rglob("*.py") if path.is_file()]
    return Corpus(folder, len(sizes), sum(sizes))


def release(name: str, version: str, work: Path, *, sdist: bool = False) -> Corpus:
    """The unpacked release; downloaded the first time. None of its code is run."""
    folder = work / f"{name}-{version}"
    if not folder.exists():
        archive = _archive(name, version, work, sdist=sdist)
        unpacked = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(unpacked, ignore_errors=True)
        if sdist:
            shutil.unpack_archive(archive, unpacked, filter="data")
            (top,) = unpacked.iterdir()
        else:
            shutil.unpack_archive(archive, unpacked, "zip")
            top = unpacked
        (top / MARK).touch()
        top.rename(folder)
    return measured(folder)


def repository(folder: Path) -> Path:
    """The folder, a git repository as a user has one: what lies above it is no part of it."""
    if not (folder / ".git").exists():
        command = ["git", "init", "--quiet", str(folder)]
        subprocess.run(command, check=True)
    return folder


def copied(folder: Path, copy: Path, *, project: bool) -> Path:
    """A copy without what git knows of it: a repository of its own, or a folder of a larger one."""
    shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    if project:
        (copy / MARK).touch()
        repository(copy)
    else:
        (copy / MARK).unlink(missing_ok=True)
    return copy


def _archive(name: str, version: str, work: Path, *, sdist: bool) -> Path:
    downloads = work / "downloads" / f"{name}-{version}"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
    options = ["--quiet", "--no-deps", f"--dest={downloads}"]
    environment = dict(os.environ)
    if sdist:
        options += ["--no-binary=:all:", "--no-build-isolation", "--use-pep517"]
        environment["PYTHONPATH"] = str(_backend(work))
    else:
        options += ["--only-binary=:all:"]
    subprocess.run([*pip, *options, f"{name}=={version}"], check=True, env=environment)
    (archive,) = downloads.iterdir()
    return archive


def _backend(work: Path) -> Path:
    folder = work / "backend"
    (folder / "setuptools").mkdir(parents=True, exist_ok=True)
    (folder / "setuptools" / "__init__.py").touch()
    (folder / "setuptools" / "build_meta.py").write_text(BACKEND, encoding="utf-8")
    return folder


def subset(whole: Corpus, work: Path) -> Corpus:
    """Model packages in the order of their names until there are two megabytes.

    Nine tenths of the wheel are such packages, so they stand for it.
    """
    folder = work / "subset"
    shutil.rmtree(folder, ignore_errors=True)
    total = 0
    for package in sorted((whole.folder / "transformers" / "models").iterdir()):
        if package.is_dir() and total < SUBSET_BYTES:
            shutil.copytree(package, folder / package.name)
            total += measured(folder / package.name).bytes
    return measured(folder)


def clean_file(whole: Corpus, work: Path) -> Corpus:
    """One file in a folder of its own."""
    folder = work / "clean"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(whole.folder / CLEAN_FILE, folder)
    return measured(folder)
