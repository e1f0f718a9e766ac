"""What a rehearsed program must not do: overwrite files, save checkpoints, call trackers."""

from __future__ import annotations

import builtins
import io
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from guard.observe.patching import Scan, around, replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    Function = Callable[..., Any]

# Read by the trackers when they start.
QUIET = {
    "WANDB_MODE": "disabled",
    "WANDB_DISABLED": "true",
    "MLFLOW_TRACKING_URI": "file:" + os.path.join(os.devnull, "guard-preflight"),
    "HF_MLFLOW_LOG_ARTIFACTS": "0",
    "DISABLE_MLFLOW_INTEGRATION": "TRUE",
    "COMET_MODE": "disabled",
    "COMET_START_MODE": "disabled",
    "NEPTUNE_MODE": "debug",
    "CLEARML_OFFLINE_MODE": "1",
    "TRACKIO_OFFLINE": "1",
    "SWANLAB_MODE": "disabled",
    "AIM_DISABLED": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
_rmdir = os.rmdir  # before it is replaced
_WRITES = frozenset("wax+")


class Written:
    """Files that the program writes: they lie in a folder of ours, where it finds them again."""

    def __init__(self, scratch: str) -> None:
        self._scratch = os.path.abspath(scratch)
        self._places: dict[str, str] = {}
        self.folders: list[str] = []

    def redirect(self, path: Any, mode: str) -> Any:  # noqa: ANN401 - a path, or a number
        """Where a file is opened instead."""
        if not (isinstance(path, (str, bytes, os.PathLike)) and isinstance(mode, str)):
            return path  # a number; what is no path is refused by open itself
        full = os.path.abspath(os.fsdecode(path))
        if self.is_free(full):
            return path
        if not _WRITES.isdisjoint(mode):
            return self._of(full, keeps="a" in mode or "r" in mode)
        return self._places.get(full, path)

    def is_free(self, path: Any) -> bool:  # noqa: ANN401
        """Whether it may be written: what is ours, temporary files, and what is on no disk."""
        full = os.path.abspath(os.fsdecode(path))
        return full.startswith((self._scratch, "/dev/", "/proc/"))

    def moved(self, path: Any, target: Any = None) -> None:  # noqa: ANN401
        """A file that the program wrote has gone, or has another name."""
        found = self._places.pop(os.path.abspath(os.fsdecode(path)), None)
        if found is not None and isinstance(target, (str, bytes, os.PathLike)):
            self._places[os.path.abspath(os.fsdecode(target))] = found

    def _of(self, full: str, *, keeps: bool) -> str:
        if full not in self._places:
            os.makedirs(self._scratch, exist_ok=True)
            name = f"{len(self._places)}-{os.path.basename(full)}"
            self._places[full] = os.path.join(self._scratch, name)
            if keeps and os.path.isfile(full):
                shutil.copyfile(full, self._places[full])
        return self._places[full]

    def where(self, path: Any) -> Any:  # noqa: ANN401
        """Where a file lies that the program wrote, or the path itself."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return path
        return self._places.get(os.path.abspath(os.fsdecode(path)), path)

    def names_in(self, folder: Any) -> dict[str, str]:  # noqa: ANN401
        """The files that the program wrote to a folder, and where they lie."""
        if isinstance(folder, (int, bytes)):
            return {}
        full = os.path.abspath(folder)
        return {
            os.path.basename(name): place
            for name, place in self._places.items()
            if os.path.dirname(name) == full
        }

    def made(self, path: Any) -> None:  # noqa: ANN401
        """A folder was made: it goes at the end, if nothing lies in it."""
        full = os.path.abspath(os.fsdecode(path))
        if not self.is_free(full):
            self.folders.append(full)

    def clear(self) -> None:
        """Remove the folders that the program made."""
        for folder in reversed(self.folders):
            with suppress(OSError):
                _rmdir(folder)


def guard_files(stack: ExitStack, written: Written) -> None:
    """Redirect what is opened for writing, and leave undone what moves or removes."""
    _list_written(stack, written)

    @around(stack, builtins, "open")
    def open_(original: Function, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:  # noqa: ANN401
        return original(written.redirect(file, mode), mode, *args, **options)

    @around(stack, os, "mkdir")
    def _(original: Function, path: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401
        original(path, *args, **options)
        written.made(path)

    def undone(original: Function, path: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        paths = [each for each in (path, *args[:1]) if isinstance(each, (str, bytes, os.PathLike))]
        if all(written.is_free(each) for each in paths):
            return original(path, *args, **options)
        written.moved(path, *args[:1])
        return args[0] if original.__name__ in ("move", "copyfile", "copytree") else None

    replace(stack, io, "open", open_)
    for name in ("remove", "unlink", "rename", "replace", "rmdir", "link", "symlink"):
        around(stack, os, name)(undone)
    for name in ("rmtree", "move", "copyfile", "copytree"):
        around(stack, shutil, name)(undone)


def _list_written(stack: ExitStack, written: Written) -> None:
    """Have the program find what it wrote, where it looks into folders."""

    @around(stack, os, "listdir")
    def _(original: Function, path: Any = ".") -> list[Any]:  # noqa: ANN401
        names: list[Any] = original(path)
        return names + [each for each in written.names_in(path) if each not in names]

    @around(stack, os, "scandir")
    def _(original: Function, path: Any = ".") -> Scan:  # noqa: ANN401
        with original(path) as entries:
            found = list(entries)
        names = {each.name for each in found}
        more = {name: at for name, at in written.names_in(path).items() if name not in names}
        return Scan([*found, *(_Entry(path, name, at) for name, at in more.items())])

    @around(stack, os, "stat")
    def _(original: Function, path: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        return original(written.where(path), *args, **options)


class _Entry:
    """As ``os.DirEntry``, of a file that lies elsewhere."""

    def __init__(self, folder: Any, name: str, at: str) -> None:  # noqa: ANN401
        self.name, self.path, self._at = name, os.path.join(folder, name), at

    def __fspath__(self) -> str:
        return self.path

    def is_dir(self, **_: bool) -> bool:
        return False

    def is_symlink(self) -> bool:
        return False

    def is_file(self, **_: bool) -> bool:
        return True

    def stat(self, **_: bool) -> os.stat_result:
        return os.stat(self._at)
