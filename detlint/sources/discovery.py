"""Paths as given to files to lint: sorted, each once, nothing outside what was asked for.

A path that is named is read whatever excludes or ignores it; only what a walk finds below
a folder is filtered. What git tracks it does not ignore. ``force_exclude`` is for pre-commit,
which names every changed file.
Of git's ignore files, the user's global one and those of linked worktrees are not read.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from detlint.errors import UsageError
from detlint.models.model import words
from detlint.sources.gitignore import Ignore, read_lines
from detlint.sources.kinds import NAMES, SUFFIXES, kind_of_line, kind_of_name
from detlint.sources.paths import is_within, relative, repository_of
from detlint.sources.tracked import Tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.settings import Settings

# Folders of tools, of builds and of installed packages: code that nobody edits in place.
DEFAULT_EXCLUDES = words(
    """.git .hg .svn .bzr .jj .venv venv .direnv .pyenv .conda site-packages __pypackages__ .tox
    .nox .eggs build _build dist buck-out node_modules __pycache__ .detlint_cache .mypy_cache
    .ruff_cache .pytest_cache .pytype .pyre .ipynb_checkpoints .idea .vscode"""
)
# The file that makes a folder of any name a virtual environment.
_ENVIRONMENT = "pyvenv.cfg"
# A file of another name may be one of Dockerfile.gpu's kind, or have a first line that says.
_ENDINGS = (*SUFFIXES, "*")


def discover(paths: Sequence[str], settings: Settings, warn: Callable[[str], None]) -> list[str]:
    """The files to lint, as the user would name them. Raises UsageError, a line a problem."""
    search = _Search(settings)
    problems = [problem for path in paths if (problem := search.add(path))]
    if problems:
        raise UsageError(*problems)
    search.settle_links()
    for warning in sorted(search.warnings):
        warn(warning)
    return sorted(search.found.values())


class _Search:
    """What was found so far, by real path, so that each file comes once."""

    def __init__(self, settings: Settings) -> None:
        self.found: dict[str, str] = {}
        self.warnings: set[str] = set()
        self.settings = settings
        self.cwd = os.path.realpath(os.getcwd())
        self.root = os.path.realpath(settings.root) if settings.root else self.cwd
        self.names = frozenset[str]() if settings.exclude else DEFAULT_EXCLUDES
        self._links: list[tuple[str, str]] = []
        self._trees: list[str] = []
        self._compiled: dict[str, Ignore] = {}

    def add(self, path: str) -> str | None:
        """Take a path that the user named; or say, in a line, why it cannot be."""
        shown = _tidy(path)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            return f"{shown}: {_reason(path, error)}"
        real = os.path.realpath(path)
        if os.path.islink(path.rstrip(os.sep)) and not self._stays(path, real):
            return f"{shown}: a link out of the tree (-> {_target(path)}); name the file itself"
        if self.settings.force_exclude and self._force_excludes(real, is_folder=stat.S_ISDIR(mode)):
            return None
        if stat.S_ISDIR(mode):
            return self._add_folder(real, shown)
        if not stat.S_ISREG(mode):
            return f"{shown}: not a regular file, but {_sort_of_file(mode)}"
        return self._add_file(real, shown)

    def settle_links(self) -> None:
        """Judge the links that the walks met, once it is known what else was found."""
        for shown, path in sorted(self._links):
            is_source = kind_of_name(os.path.basename(path)) is not None
            try:
                target = os.path.realpath(path, strict=True)
            except OSError as error:
                # Data stores hold many broken links, which are not code that goes unread.
                if is_source or "." not in os.path.basename(path):
                    self.warnings.add(f"{shown}: {_reason(path, error)}; not followed")
                continue
            if not is_source and not os.path.isdir(target):
                continue
            if not any(is_within(target, tree) for tree in self._trees):
                where = f"a link out of the tree (-> {_target(path)})"
                self.warnings.add(f"{shown}: {where}; not followed")
            elif is_source and os.path.isfile(target) and kind_of_name(target) is None:
                # The walk took the target for something else, so it is met here only.
                self.found.setdefault(target, shown)

    def _stays(self, path: str, real: str) -> bool:
        folder = os.path.realpath(os.path.dirname(path.rstrip(os.sep)) or os.curdir)
        return any(is_within(real, tree) for tree in (self.cwd, self.root, folder))

    def _add_file(self, real: str, shown: str) -> str | None:
        if kind_of_name(os.path.basename(shown)) is None:
            try:
                kind = kind_of_line(_first_line(real))
            except OSError as error:
                return f"{shown}: {_reason(real, error)}"
            if kind is None:
                kinds = ", ".join((*SUFFIXES, *NAMES))
                return (
                    f"{shown}: not a kind of file that detlint reads: {kinds}, "
                    "or a script whose first line names python or a shell"
                )
        self.found.setdefault(real, shown)
        return None

    def _add_folder(self, real: str, shown: str) -> str | None:
        if not os.access(real, os.R_OK | os.X_OK):
            return f"{shown}: permission denied"
        self._trees.append(real)
        self._walk(real, "" if shown == os.curdir else os.path.join(shown, ""))
        return None

    def _walk(self, top: str, prefix: str) -> None:
        base = self._base(top)
        excludes = self._excludes(top if base == os.sep else base)
        # A stack and not recursion: the depth of a tree is not ours to limit.
        stack = [(top, prefix, self._ignores_above(top), False)]
        tracked = Tracked(repository_of(top)) if self.settings.respect_gitignore else Tracked(None)
        while stack:
            folder, shown, ignore, ignored = stack.pop()
            try:
                with os.scandir(folder) as scan:
                    entries = {entry.name: entry for entry in scan}
                if _ENVIRONMENT in entries and self.names and folder != top:
                    continue
                if ".gitignore" in entries and self.settings.respect_gitignore:
                    ignore = self._read_ignore(folder, ".gitignore", ignore)
                kept = _Kept(excludes, ignore, tracked, ignored)
                stack.extend(
                    (x.path, f"{shown}{x.name}{os.sep}", ignore, kept.ignores(x.path, x.name))
                    for x in self._enter(entries.values(), shown, kept)
                )
            except OSError as error:
                name = shown.rstrip(os.sep) or os.curdir
                self.warnings.add(f"{name}: {_reason(folder, error)}; not searched")

    def _enter(
        self, entries: Iterable[os.DirEntry[str]], shown: str, kept: _Kept
    ) -> Iterator[os.DirEntry[str]]:
        """Take a folder's files and yield the folders to walk."""
        for entry in entries:
            name, path = entry.name, entry.path
            if entry.is_symlink() or entry.is_dir(follow_symlinks=False):
                if name in self.names or not kept.holds(path, name, is_folder=True):
                    continue
                if entry.is_symlink():
                    self._links.append((shown + name, path))
                else:
                    yield entry
            elif kind_of_name(name) or _is_script(entry):
                if not kept.holds(path, name, is_folder=False):
                    continue
                if entry.is_file(follow_symlinks=False):
                    self.found.setdefault(path, shown + name)
                else:
                    sort = _sort_of_file(entry.stat(follow_symlinks=False).st_mode)
                    self.warnings.add(f"{shown}{name}: {sort}, not a regular file; skipped")

    def _force_excludes(self, real: str, *, is_folder: bool) -> bool:
        base = self._base(real)
        parts = relative(real, base).split(os.sep) if real != base else []
        folders = parts if is_folder else parts[:-1]
        if not self.names.isdisjoint(folders):
            return True
        excludes = self._excludes(base)
        if excludes is None:
            return False
        path = base
        for name in folders:
            path = os.path.join(path, name)
            if excludes.ignores(path, name, is_folder=True):
                return True
        return not is_folder and excludes.ignores(real, parts[-1], is_folder=False)

    def _base(self, path: str) -> str:
        """The folder to which exclude patterns are relative when they judge ``path``."""
        return next((each for each in (self.root, self.cwd) if is_within(path, each)), os.sep)

    def _excludes(self, base: str) -> Ignore | None:
        lines = (*self.settings.exclude, *self.settings.extend_exclude)
        if not lines:
            return None
        if base not in self._compiled:
            self._compiled[base] = Ignore(base, lines, _ENDINGS)
        return self._compiled[base]

    def _ignores_above(self, top: str) -> Ignore | None:
        """What git would ignore in ``top``, from its repository's root down to it."""
        if not self.settings.respect_gitignore:
            return None
        repository = repository_of(top)
        if repository is None:
            base, ignore = self.root if is_within(top, self.root) else top, None
        else:
            base = repository
            ignore = self._read_ignore(base, os.path.join(".git", "info", "exclude"), None)
        folder = base
        for part in relative(top, base).split(os.sep):
            if folder == top:
                break
            ignore = self._read_ignore(folder, ".gitignore", ignore)
            folder = os.path.join(folder, part)
        return ignore

    def _read_ignore(self, folder: str, name: str, above: Ignore | None) -> Ignore | None:
        path = os.path.join(folder, name)
        try:
            lines = read_lines(path)
        except OSError as error:
            self.warnings.add(f"{relative(path)}: {_reason(path, error)}; not applied")
            return above
        return Ignore(folder, lines, _ENDINGS, above) if lines else above


class _Kept(NamedTuple):
    """What of a folder is searched; ``ignored``: git ignores the folder itself."""

    excludes: Ignore | None
    ignore: Ignore | None
    tracked: Tracked
    ignored: bool

    def holds(self, path: str, name: str, *, is_folder: bool) -> bool:
        excludes, tracked = self.excludes, self.tracked
        if excludes is not None and excludes.ignores(path, name, is_folder=is_folder):
            return False
        if not self.ignores(path, name, is_folder=is_folder):
            return True
        return tracked.is_below(path) if is_folder else tracked.holds(path)

    def ignores(self, path: str, name: str, *, is_folder: bool = True) -> bool:
        """Whether git ignores a folder or a file, but for what it tracks there."""
        ignore = self.ignore
        return self.ignored or (
            ignore is not None and ignore.ignores(path, name, is_folder=is_folder)
        )


def _tidy(path: str) -> str:
    """How to show a path: as given, without the ``./`` that shells and people put before it."""
    shown = path
    while shown.startswith(os.path.join(os.curdir, "")):
        shown = shown[2:].lstrip(os.sep)
    return shown or (os.curdir if path else "''")


def _first_line(path: str) -> bytes:
    """Raises OSError."""
    with open(path, "rb") as file:
        return file.readline(512)


def _is_script(entry: os.DirEntry[str]) -> bool:
    """Whether a file without a suffix is a program: looked into only if it may be run."""
    if "." in entry.name:
        return False
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) and mode & 0o111):
            return False
        return kind_of_line(_first_line(entry.path)) is not None
    except OSError:
        return False


def _target(link: str) -> str:
    return os.readlink(link.rstrip(os.sep))


def _reason(path: str, error: Exception) -> str:
    """What a failed call says of a path, in words."""
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.ELOOP:
        return "a link that leads back to itself"
    if code == errno.ENOENT and os.path.islink(path.rstrip(os.sep)):
        return f"a broken link (-> {_target(path)})"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def _sort_of_file(mode: int) -> str:
    sorts = {
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return sorts.get(stat.S_IFMT(mode), "something else")
