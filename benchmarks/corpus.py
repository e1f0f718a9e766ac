"""The input: pinned wheels, unpacked, and a part of them that slow linters can finish."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

WHEELS = {"transformers": "5.23.0", "diffusers": "0.42.1"}
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
    sizes = [path.stat().st_size for path in folder.rglob("*.py")]
    return Corpus(folder, len(sizes), sum(sizes))


def wheel(name: str, work: Path) -> Corpus:
    """The unpacked wheel; downloaded the first time."""
    folder = work / f"{name}-{WHEELS[name]}"
    if not folder.exists():
        downloads = work / "downloads"
        requirement = f"{name}=={WHEELS[name]}"
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        options = ["--quiet", "--no-deps", "--only-binary=:all:", f"--dest={downloads}"]
        subprocess.run([*pip, *options, requirement], check=True)
        (archive,) = downloads.glob(f"{name}-{WHEELS[name]}-*.whl")
        unpacked = folder.with_suffix(".partial")
        shutil.rmtree(unpacked, ignore_errors=True)
        with zipfile.ZipFile(archive) as content:
            content.extractall(unpacked)
        unpacked.rename(folder)
    return measured(folder)


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
