"""The process in which a program is rehearsed: ``python -m guard.rehearsal.script``."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
import warnings
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn

from guard.program import Program

if TYPE_CHECKING:
    from guard.rehearsal.arguments import Arguments
    from guard.rehearsal.recorder import Recorder
    from guard.rehearsal.side_effects import Written

_ALERT = r"[\s\S]* does not have a deterministic implementation, but you set"


class Rehearsal:
    """One program, from its start to its last step, and the report of it."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._recorder: Recorder | None = None
        self._written: Written | None = None
        self._arguments: Arguments | None = None
        self._lock = threading.Lock()

    def run(self) -> NoReturn:
        """Run the program, and end this process with it."""
        told = self._told
        program = Program(told["program"], told["arguments"], module=told["module"])
        with ExitStack() as stack:
            arguments = self._prepare(stack, program)
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
        from guard.rehearsal.arguments import Arguments
        from guard.rehearsal.rehearsal import rehearsing
        from guard.setup.flags import held

        program.prepare()
        self._arguments = arguments = Arguments(self._told)
        arguments.follow(stack)
        stack.enter_context(held())
        warnings.filterwarnings("ignore", message=_ALERT)
        stack.enter_context(verdicts.repairing(bool(self._told["repair"])))
        self._recorder, mode = stack.enter_context(
            rehearsing(self._told["gpu"], max(1, self._told["ranks"]), seeded=False)
        )
        scripted.install(stack, self._recorder, mode, self._enough, self._told["ranks"])
        self._recorder.finish = self.done
        self._written = side_effects.Written(self._told["scratch"])
        side_effects.guard_files(stack, self._written)
        arguments.follow_counts(stack)
        return arguments

    def _enough(self, steps: int) -> bool:
        """Whether so many steps of an optimizer are what was asked for."""
        return steps >= int(self._told["steps"])

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
        return "1 optimizer step" if steps == 1 else f"{steps} optimizer steps"

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
        from guard.rehearsal import switches
        from guard.rehearsal.fake_cuda import everything_real
        from guard.rehearsal.outcome import report_of

        if recorder.steps and not recorder.operators:
            recorder.notes.append(arguments.on_cpu())
        if not recorder.steps and not why:
            why = arguments.of_end()
        recorder.stopped = recorder.stopped or why
        with everything_real():
            report = report_of(recorder, switches.sources(self._told["gpu"]))
        text = json.dumps(report.as_dict())
        descriptor = os.open(self._told["target"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, text.encode("utf-8", "surrogateescape"))
        os.close(descriptor)
        return 0

    def done(self) -> NoReturn:
        """All steps are done."""
        self._end("")


def _without_ours(error: BaseException) -> tuple[Any, BaseException, Any]:
    found = error.__traceback__
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    while found and found.tb_frame.f_code.co_filename.startswith(folder) and found.tb_next:
        found = found.tb_next
    return type(error), error, found


if __name__ == "__main__":
    Rehearsal(json.loads(sys.argv[1])).run()
