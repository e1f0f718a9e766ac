"""A program of the user's, run as Python itself would run it."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from importlib.util import MAGIC_NUMBER
from pkgutil import get_importer
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING

from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType

# They start others and compute nothing themselves. The names of modules, and of scripts.
_LAUNCHERS = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "torchrun": "torchrun",
    "accelerate.commands.launch": "accelerate launch",
    "accelerate": "accelerate launch",
    "deepspeed": "deepspeed",
}
before_running: list[Callable[[], None]] = []  # right before a program begins
begun: list[Program] = []  # the program that this process runs, once it has begun


class Program:
    """A script, a folder or an archive with a ``__main__``, or a module; and its arguments."""

    def __init__(self, name: str, arguments: list[str], *, module: bool) -> None:
        self.name = name
        self.arguments = arguments
        self.module = module

    @property
    def launcher(self) -> str:
        """Its name, if it only starts other processes; else ""."""
        return _LAUNCHERS.get(self.name if self.module else os.path.basename(self.name), "")

    def check(self) -> None:
        """Raise GuardError for a file that is not there, a notebook, or a launcher of other
        processes.

        Modules are found when they are run.
        """
        if self.launcher:
            raise GuardError(
                f"{self.launcher} would start its ranks without guard: write it first, as in "
                f"`{self.launcher} -m guard run train.py`"
            )
        self.check_file()

    def check_file(self) -> None:
        """As ``check``, whether it starts others or not."""
        if self.module:
            return
        if self.name.endswith(".ipynb"):
            raise GuardError(
                f"{self.name!r} is a notebook. Make a script of it: jupyter nbconvert --to script "
                f"{self.name}. Or turn guard on in it: %load_ext guard, then %guard on"
            )
        try:
            with open(self.name, "rb"):
                pass
        except IsADirectoryError:
            pass
        except PermissionError as error:  # what Windows says of a folder
            if not os.path.isdir(self.name):
                raise self._unreadable(error) from None
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from None

    def check_text(self) -> None:
        """Raise GuardError for a script that Python cannot compile, for those that would have to
        start a process to see it."""
        if self.module or self._is_container:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._code({})
        except SyntaxError as error:
            raise GuardError(
                f"{self.name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
            ) from None
        except (ImportError, ValueError) as error:  # compiled by another Python; zero bytes
            raise GuardError(f"{self.name}: {error}") from None

    def _unreadable(self, error: Exception) -> GuardError:
        return GuardError(f"cannot open {self.name!r}: {getattr(error, 'strerror', error)}")

    def prepare(self) -> None:
        """Give the program its ``sys.argv``, ``sys.path`` and ``__main__``."""
        sys.argv = ["-m" if self.module else self.name, *self.arguments]
        if not self.module:
            self._set_path()
        main = ModuleType("__main__")
        main.__dict__["__builtins__"] = builtins
        if sys.version_info < (3, 14):
            main.__annotations__ = {}
        sys.modules["__main__"] = main

    @property
    def _is_container(self) -> bool:
        return get_importer(self.name) is not None

    def _set_path(self) -> None:
        """Replace the working folder, which ``python -m`` put first, unless it was told not to."""
        if getattr(sys.flags, "safe_path", sys.flags.isolated):
            if self._is_container:
                sys.path.insert(0, os.path.abspath(self.name))
            return
        if self._is_container:
            sys.path[0] = os.path.abspath(self.name)
        else:
            sys.path[0] = os.path.dirname(os.path.realpath(self.name))

    def run(self) -> None:
        """Run it to its end. Whatever it raises is shown without guard's own frames."""
        for each in before_running:
            each()
        begun.append(self)
        try:
            if self.module:
                _as_module(self.name)
            elif self._is_container:
                _as_module("__main__", alter_argv=False)
            else:
                main = sys.modules["__main__"].__dict__
                exec(self._code(main), main)  # noqa: S102 - it is what was asked for
        except SystemExit:
            raise
        except BaseException as error:
            _show_without_guard(error)
            raise

    def _code(self, main: dict[str, object]) -> CodeType:
        path = os.path.join(os.getcwd(), self.name)
        with open(path, "rb") as file:
            data = file.read()
        compiled = path.endswith(".pyc") or data.startswith(MAGIC_NUMBER)
        loader = (SourcelessFileLoader if compiled else SourceFileLoader)("__main__", path)
        main.update(__file__=path, __loader__=loader, __cached__=None)
        if compiled:
            code: CodeType = loader.get_code("__main__")  # type: ignore[assignment]
            return code
        return compile(data, path, "exec", dont_inherit=True)


def _as_module(name: str, *, alter_argv: bool = True) -> None:
    import runpy

    # What `python -m` calls. The public run_module takes __main__ away when the module ends,
    # while threads and functions registered with atexit still need it.
    runpy._run_module_as_main(name, alter_argv)  # type: ignore[attr-defined]  # noqa: SLF001


def _show_without_guard(error: BaseException) -> None:
    """Begin the traceback, if the error stays uncaught, at the program."""
    traceback = error.__traceback__
    while traceback and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    show = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, found: TracebackType | None) -> None:
        if value is error:
            value.__traceback__ = sys.last_traceback = found = traceback
        show(kind, value, found)

    sys.excepthook = hook


def text_of(path: str) -> str:
    """What a file holds; "" where it cannot be read."""
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def write_whole(path: str, text: str) -> None:
    """Write a file that never lies there half written. Raises OSError."""
    beside = f"{path}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)


def beside_guard(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process that finds guard, wherever it works."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = filter(None, (environ.get("PYTHONPATH"), folder))
    return {**environ, "PYTHONPATH": os.pathsep.join(paths)}


def flags() -> list[str]:
    """The options of this Python, for the one that it starts."""
    return subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined,no-any-return]  # noqa: SLF001
