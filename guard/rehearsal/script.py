"""The process in which a program is rehearsed: ``python -m guard.rehearsal.script``.

What the program takes on its command line, and what to pass where it lacks data, ranks or GPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from guard.observe import places
from guard.observe.patching import around
from guard.program import Program
from guard.refusals.translation import WARNED
from guard.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from guard.rehearsal.recorder import Recorder
    from guard.rehearsal.side_effects import Written

_USAGE = 2  # the status of argparse and its like
_OF_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_WANTS_GPUS = (
    r"(?i)(at least|requires?|needs?|expected|than) (\d+|two|four|eight|one|multiple) "
    r"(GPU|accelerator|device)"
)
# Words of an option that may choose the device, or name data.
_DEVICES = ("cuda", "gpu", "device", "accel")
_DATA = ("data", "dir", "path", "root", "file", "folder", "train", "image", "corpus", "input")
_NAMED = 3  # options, at most
_OUTPUTS = ("out", "save", "log", "checkpoint", "ckpt", "resume", "cache")


@dataclass(frozen=True)
class _Option:
    """An argument of a program's parser: how it is written, and what it is."""

    name: str
    dest: str
    required: bool
    flag: bool
    value: Any = None

    def has(self, words: Iterable[str]) -> bool:
        return any(word in self.name.lower() for word in words)

    @property
    def names_data(self) -> bool:
        text = self.value is None or isinstance(self.value, (str, os.PathLike))
        return text and not self.flag and self.has(_DATA) and not self.has(_OUTPUTS)

    @property
    def usage(self) -> str:
        value = "PATH" if self.has(_DATA) else self.dest.upper()
        return f"{self.name} {value}" if self.name.startswith("-") else self.name

    def __str__(self) -> str:
        if self.value in (None, ""):
            return f"{self.name}, which is {self.value!r}"
        return f"{self.name}, which is {os.fspath(self.value)!r}"


class Arguments:
    """What the parsers of a program take, and what the program was given."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._options: dict[str, _Option] = {}
        self._counted = False  # whether the program asked how many GPUs there are

    def follow(self, stack: ExitStack) -> None:
        """Collect what a program's parser takes, and whether it asks for the number of GPUs."""

        @around(stack, argparse.ArgumentParser, "parse_known_args")
        def _(parse: Any, parser: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            self._note(parser, None)
            found = parse(parser, *args, **options)
            self._note(parser, found[0])
            return found

    def follow_counts(self, stack: ExitStack) -> None:
        """Note whether the program's own files ask how many GPUs there are."""

        def counting(count: Callable[[], int]) -> int:
            trail = places.here()
            if trail is not None and not places.is_installed(trail.place.filename):
                self._counted = True
            return count()

        for owner in (torch.cuda, getattr(torch, "accelerator", None)):
            if hasattr(owner, "device_count"):
                around(stack, owner, "device_count")(counting)

    def _note(self, parser: argparse.ArgumentParser, values: object) -> None:
        for each in parser._actions:  # noqa: SLF001 - argparse has no other way to ask
            if each.dest in ("help", "version"):
                continue
            name = max(each.option_strings, key=len, default=str(each.metavar or each.dest))
            value = getattr(values, each.dest, None)
            flag = bool(each.option_strings) and each.nargs == 0
            self._options[name] = _Option(name, each.dest, each.required, flag, value)

    def on_cpu(self) -> str:
        """Of a program whose steps ran no operator on the GPU."""
        why = "the program computed on the CPU alone"
        found = [
            each.name
            for each in self._options.values()
            if each.has(_DEVICES) and not each.name.startswith("--no")
        ]
        if not found:
            return (
                f'{why}: preflight sees what runs on "cuda", to which the program moves nothing. '
                "python -m guard verify looks at what it does on the CPU"
            )
        return f"{why}: it takes {' and '.join(found)}, which goes after its name"

    def of_exit(self, error: SystemExit) -> str:
        """Why a program left by itself."""
        if error.code in (None, 0):
            return ""
        why = f"the program ended with exit status {error.code}"
        if error.code == _USAGE:
            required = [each for each in self._options.values() if each.required]
            return f"{why}: it wants arguments, as it says above: {self._run(required)}"
        return why + (self._of_text(str(error.code)) or self._lacking())

    def of_end(self) -> str:
        """Of a program that came to its end without a step."""
        return f"the program ended before any optimizer had done a step{self._lacking()}"

    def of_error(self, error: BaseException) -> str:
        """Why a program failed."""
        place = places.own_of_error(error)
        where = "" if place is None else f"{place.filename}, line {place.line}: "
        text = str(error) or ("" if place is None else place.code)
        ended = f"the program ended with {type(error).__name__}{': ' if text else ''}{text}"
        return f"{where}{ended}{self._hint(error)}"

    def _hint(self, error: BaseException) -> str:
        text = str(error)
        if isinstance(error, KeyError) and text.strip("'") in _OF_RANKS:
            return f"; --ranks {max(2, self._told['ranks'])} sets what torchrun sets"
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return self._of_missing(str(error.filename or ""), text)
        if isinstance(error, AssertionError) and self._counted:
            return self._more_gpus()
        if isinstance(error, TypeError) and "NoneType" in text:
            return self._of_values(each for each in self._data() if each.value is None)
        return self._of_text(text)

    def _of_text(self, text: str) -> str:
        return self._more_gpus() if re.search(_WANTS_GPUS, text) else ""

    def _more_gpus(self) -> str:
        if self._told["ranks"] > 1:
            return ""
        return "; 1 GPU was there: --ranks 2 has it see two, and be the first rank"

    def _lacking(self) -> str:
        """What a program may have missed that says nothing of it, or only in words of its own."""
        return (self._more_gpus() if self._counted else "") + self._of_values(self._data())

    def _of_missing(self, path: str, text: str) -> str:
        """By the option whose value the missing path begins with; no other can be to blame."""
        named = [
            each
            for each in self._options.values()
            if isinstance(each.value, (str, os.PathLike))
            and os.fspath(each.value)
            and (os.fspath(each.value) in path or os.fspath(each.value) in text)
        ]
        if named:
            return self._of_values(named)
        if data := self._data():
            return f"; if that is its data: {self._run(data[:_NAMED])}"
        return (
            "; if that is its data, its path stands in the program, which takes no argument for it:"
            " run preflight where it is found"
        )

    def _of_values(self, options: Iterable[_Option]) -> str:
        found = list(options)[:_NAMED]
        if not found:
            return ""
        values = " and ".join(map(str, found))
        return f"; it takes its data from {values}: {self._run(found)}"

    def _data(self) -> list[_Option]:
        return [each for each in self._options.values() if each.names_data]

    def _run(self, options: list[_Option]) -> str:
        """The command with what is missing."""
        module = "-m " if self._told["module"] else ""
        missing = [each.usage for each in options] or ["ARGUMENTS"]
        given = [self._told["program"], *self._told["arguments"], *missing]
        return f"run python -m guard preflight {module}{' '.join(given)}"


class Rehearsal:
    """One program, from its start to its last step, and the report of it."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._recorder: Recorder | None = None
        self._written: Written | None = None
        self._arguments: Arguments | None = None
        self._lock = threading.RLock()  # a signal may come while it ends
        self._process = os.getpid()

    def run(self) -> NoReturn:
        """Run the program, and end this process with it."""
        told = self._told
        program = Program(told["program"], told["arguments"], module=told["module"])
        with ExitStack() as stack:
            arguments = self._prepare(stack, program)
            signal.signal(signal.SIGINT, self._interrupted)
            if hasattr(signal, "SIGALRM"):  # elsewhere the command ends it, without a report
                signal.signal(signal.SIGALRM, lambda *_: self._out_of_time())
                signal.alarm(told["seconds"])
            try:
                program.run()
                self._end("")
            except SystemExit as error:
                self._end(arguments.of_exit(error))
            except BaseException as error:  # noqa: BLE001 - whatever ends the program ends here
                traceback.print_exception(*_without_ours(error))
                self._end(arguments.of_error(error))

    def _prepare(self, stack: ExitStack, program: Program) -> Arguments:
        # First ours, as the program may shadow a name that they import.
        from guard.rehearsal import scripted, side_effects, verdicts
        from guard.rehearsal.rehearsal import rehearsing
        from guard.setup.flags import held

        program.prepare()
        self._arguments = arguments = Arguments(self._told)
        arguments.follow(stack)
        stack.enter_context(held())
        warnings.filterwarnings("ignore", message=WARNED)
        stack.enter_context(verdicts.repairing(bool(self._told["repair"])))
        self._recorder, mode = stack.enter_context(
            rehearsing(self._told["gpu"], max(1, self._told["ranks"]), seeded=False)
        )
        scripted.install(stack, self._recorder, mode, self._enough, self._told["ranks"])
        self._recorder.finish = lambda: self._end("")
        self._written = side_effects.Written(self._told["scratch"])
        side_effects.guard_files(stack, self._written)
        arguments.follow_counts(stack)
        return arguments

    def _enough(self, steps: int) -> bool:
        """Whether so many steps of an optimizer are what was asked for."""
        return steps >= int(self._told["steps"])

    def _interrupted(self, *_: object) -> None:
        if os.getpid() != self._process:  # a worker of a loader
            raise KeyboardInterrupt
        self._end(f"it was interrupted after {self._steps()}")

    def _out_of_time(self) -> NoReturn:
        self._end(
            f"{self._told['seconds']} seconds were over after {self._steps()}: {self._reached()}"
        )

    def _reached(self) -> str:
        if self._recorder is None or not self._recorder.backwards:
            return (
                "no backward had begun; have the program load and evaluate less before it trains, "
                "or give it more time by --seconds"
            )
        return "an optimizer was made that has done no further step; --seconds gives more time"

    def _steps(self) -> str:
        steps = 0 if self._recorder is None else self._recorder.steps
        return counted(steps, "optimizer step")

    def _end(self, why: str) -> NoReturn:
        """Write the report and end the process at once: what the program does when it ends, such
        as saving a last checkpoint, is not done."""
        with self._lock:
            status = self._report(why)
            if self._written is not None:
                self._written.clear()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _report(self, why: str) -> int:
        recorder, arguments = self._recorder, self._arguments
        if recorder is None or arguments is None:
            sys.stderr.write(f"guard preflight: {why}\n")
            return 2
        from guard.rehearsal import kernels
        from guard.rehearsal.fake_cuda import everything_real
        from guard.rehearsal.recorder import report_of

        if recorder.steps and not recorder.operators:
            recorder.notes.append(arguments.on_cpu())
        if not recorder.steps and not why:
            why = arguments.of_end()
        recorder.stopped = recorder.stopped or why
        with everything_real():
            report = report_of(recorder, kernels.sources(self._told["gpu"]))
        text = json.dumps(report.as_dict())
        descriptor = os.open(self._told["target"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, text.encode("utf-8", "surrogateescape"))
        os.close(descriptor)
        return 0


def _without_ours(error: BaseException) -> tuple[Any, BaseException, Any]:
    found = error.__traceback__
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    while found and found.tb_frame.f_code.co_filename.startswith(folder) and found.tb_next:
        found = found.tb_next
    return type(error), error, found


if __name__ == "__main__":
    Rehearsal(json.loads(sys.argv[1])).run()
