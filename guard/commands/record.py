"""``python -m guard record``: an unmodified program, and fingerprints of what it computes."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from guard.commands.options import (
    add_program,
    add_replicas,
    at_least,
    parsed,
    parser_of,
    with_hint,
)
from guard.observe.patching import when_imported
from guard.program import Program
from guard.recording.recording import running
from guard.recording.session import Options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_EPILOG = """\
The folder gets a file for each rank, rank0.trace. The program runs as it would by itself: it is
not seeded, nothing is switched on, and recording changes none of its results. `python -m guard
compare run1 run2` says where two runs part.

exit status: the program's; 2 when it could not begin
"""


def main(arguments: Sequence[str]) -> int:
    """Run the program; 0 when it has ended. Raises GuardError when it could not begin, and what
    the program raises."""
    options = parsed(_parser(), arguments)
    program = Program(options.program, options.arguments, module=options.module)
    stack = ExitStack()
    program.check()
    program.prepare()
    command = [options.program, *options.arguments]
    told = Options(
        values=options.values,
        state_every=options.state_every,
        until=options.until,
        operators=options.operators and options.operators[0],
        module=options.operators[1] if options.operators else "",
        first_step=options.first_step,
        lines=options.lines,
        held=options.held,
        lane=options.lane,
    )
    if options.guard:  # which imports torch, for which the program is now prepared
        import_module("guard.setup.activation").enable()
    stack.enter_context(running(options.out, told, command, overwrite=options.overwrite))
    if options.replicas is not None:
        stack.callback(when_imported("torch", partial(_watch, stack, options.replicas)))
    with with_hint(options, "record"), stack:
        program.run()
    return 0


def _watch(stack: ExitStack, every: int) -> None:
    from guard.replicas.watch import watch_replicas

    stack.enter_context(watch_replicas(every=every))


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "record",
        "Run an unmodified program and record fingerprints of its batches, module "
        "outputs, losses, gradients, parameters, generators and hyperparameters.",
        _EPILOG,
        "--out FOLDER [options] (script.py | -m module) [args ...]",
    )
    add = parser.add_argument
    add("--out", required=True, metavar="FOLDER", help="where the traces go")
    add("--overwrite", action="store_true", help="in place of those that are there")
    add("--values", action="store_true", help="keep summaries of the numbers as well")
    add("--until", type=at_least(0), metavar="STEP", help="the last step to record; the first is 0")
    add(
        "--operators", type=_step, metavar="STEP[:MODULE]", help="record a step's operators as well"
    )
    add(
        "--lines",
        type=at_least(0),
        metavar="STEP",
        help="record the program's own statements as well, up to that step",
    )
    add(
        "--held",
        type=at_least(0),
        metavar="STEP",
        help="tell what is held as that training step and the first one begin, and at the end",
    )
    add("--lane", default="", metavar="TASK", help="of whose threads the steps are counted")
    add(
        "--state-every", type=at_least(1), default=50, metavar="N", help="steps between full states"
    )
    add(
        "--first-step",
        type=at_least(0),
        default=0,
        metavar="STEP",
        help="of a run that was resumed",
    )
    add_replicas(parser)
    add("--guard", action="store_true", help="under guard, with the settings it finds")
    add_program(parser)
    return parser


def _step(text: str) -> tuple[int, str]:
    number, _, module = text.partition(":")
    return at_least(0)(number), module
