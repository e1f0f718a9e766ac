"""The files of an earlier commit, as git keeps them: to tell what a branch adds."""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from detlint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

# What pre-commit says of the commits that it is about; without them, of what is staged.
_FROM = "PRE_COMMIT_FROM_REF"


class Commit:
    """One that a branch began at, unpacked in a folder of its own.

    top     the root of the repository
    folder  where its files lie while this is in use
    """

    def __init__(self, top: str, name: str, folder: str) -> None:
        self.top = top
        self.name = name
        self.folder = folder

    def earlier(self, path: str) -> str:
        """Where the file, or folder, of a path lies as it was then."""
        return os.path.join(self.folder, os.path.relpath(os.path.realpath(path), self.top))

    def now(self, path: str) -> str:
        """The other way round."""
        return os.path.join(self.top, os.path.relpath(path, self.folder))

    def gone(self) -> list[str]:
        """The files that it has and the working tree has not: they may be renamed."""
        given = _git(self.top, "diff", "--name-only", "--no-renames", "--diff-filter=D", self.name)
        return [os.path.join(self.folder, each) for each in given.split("\0") if each]


def began_at(root: str, name: str) -> tuple[str, str]:
    """The root of a working tree, and the commit at which its branch began that goes to another
    one, ``name``. Raises UsageError where there is no repository or no such commit."""
    top = _git(root, "rev-parse", "--show-toplevel").rstrip("\n")
    _git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    try:
        return top, _git(root, "merge-base", name, "HEAD").strip()
    except UsageError:
        raise UsageError(
            f"no commit of this branch is one of {name}, as far as this clone has them: fetch more "
            "of its history (`git fetch --unshallow`; actions/checkout: `fetch-depth: 0`)"
        ) from None


@contextmanager
def unpacked(top: str, started: str) -> Iterator[Commit]:
    """The files of a commit of the repository with a root, in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="detlint-") as made:
        # Real, as paths are compared; a project of its own, as the working tree is one.
        folder = os.path.realpath(made)
        os.mkdir(os.path.join(folder, ".git"))
        _unpack(top, started, folder)
        yield Commit(os.path.realpath(top), started, folder)


def staged_on(root: str) -> str:
    """The commit that what is staged builds on, or that pre-commit compares with; "" where
    nothing differs from it, as in CI, or there is none yet. Raises UsageError where there is no
    repository."""
    if given := os.environ.get(_FROM):
        return given
    differs = _git(root, "status", "--porcelain", "--untracked-files=no")
    try:
        _git(root, "rev-parse", "--verify", "HEAD")
    except UsageError:
        return ""
    return "HEAD" if differs else ""


def _unpack(top: str, commit: str, folder: str) -> None:
    """Write the files of a commit; links are left out, as linting leaves them."""
    process = subprocess.Popen(  # noqa: S603 - a commit that git itself named
        ["git", "-C", top, "archive", "--format=tar", commit],  # noqa: S607
        stdout=subprocess.PIPE,
    )
    with process, tarfile.open(fileobj=process.stdout, mode="r|") as archive:
        for member in archive:
            target = os.path.normpath(os.path.join(folder, member.name))
            content = archive.extractfile(member) if member.isfile() else None
            if content is None or not target.startswith(os.path.join(folder, "")):
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content.read())


def _git(folder: str, *arguments: str) -> str:
    command = ["git", "-C", folder, *arguments]
    if arguments[0] == "diff":
        command.append("-z")
    try:
        done = subprocess.run(  # noqa: S603 - names of commits, which git checks
            command, capture_output=True, text=True, errors="surrogateescape", check=False
        )
    except OSError as error:
        raise UsageError(f"git is needed, and cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.partition("fatal: ")[2].split())
        raise UsageError(said or f"git knows no commit {arguments[-1].removesuffix('^{commit}')!r}")
    return done.stdout
