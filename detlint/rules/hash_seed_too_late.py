"""DET106 hash-seed-too-late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.hash_seeds import faults
from detlint.analysis.launches import launches
from detlint.dataflow.environment import Environment
from detlint.dataflow.settings import options
from detlint.models import randomness
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from detlint.dataflow.ir import Function
    from detlint.documents.document import Text, Variable

_VARIABLE = "PYTHONHASHSEED"


class HashSeedTooLate(Rule):
    """Why runs differ: Python reads `PYTHONHASHSEED` once, when it starts. A program that sets it
    in `os.environ` keeps its own random hashes, and with them the order of its sets. Only
    interpreters that it starts later see the value.

    Reported:
    - `os.environ["PYTHONHASHSEED"] = …`, every other way to set it, and `%env` in a notebook
    - in a script: a value that is not exported, or is exported only after Python has run
    - in a script: the value `random`, or one that differs in each run

    Not reported:
    - a file that starts itself anew with `os.exec…`
    - code that sets it for other programs or spawned processes, and seeds nothing of its own
    - an earlier value that is put back

    What to do: Export the variable before Python starts: `PYTHONHASHSEED=0 python train.py`. Or
    start the program with `python -m guard run train.py`, which starts Python anew with it.

    Fix safety: safe. In a script, it exports the variable before Python starts.
    """

    code = "DET106"
    summary = "PYTHONHASHSEED is set after Python has read it"
    triggers = (_VARIABLE,)
    mentions = (_VARIABLE,)
    silencers = ("execv", "execl")
    source = "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import os
                import random

                def set_seed(seed):
                    random.seed(seed)
                    os.environ["PYTHONHASHSEED"] = str(seed)  # DET106
            """,
            good="""
                import random

                def set_seed(seed):
                    random.seed(seed)  # started as: PYTHONHASHSEED=0 python train.py
            """,
        ),
        Example(
            bad="""
                import os

                os.environ.setdefault("PYTHONHASHSEED", "0")  # DET106
            """,
            good="""
                import os
                import sys

                if os.environ.get("PYTHONHASHSEED") != "0":
                    os.environ["PYTHONHASHSEED"] = "0"
                    os.execv(sys.executable, sys.orig_argv)
            """,
        ),
        Example(
            path="train.sh",
            bad="""
                PYTHONHASHSEED=0  # DET106
                python train.py
            """,
            fixed="""
                export PYTHONHASHSEED=0
                python train.py
            """,
        ),
    )

    def visit_Text(self, _node: Text) -> None:
        for fault in faults(self.document):
            self.report(fault.node, fault.message, advice=fault.advice, edits=fault.edits)

    def visit_Variable(self, node: Variable) -> None:
        """``%env PYTHONHASHSEED=0`` in a notebook, whose kernel is running."""
        if node.name != _VARIABLE or not self.document.source.text.startswith("%", node.start):
            return
        if not any(command.start > node.start for command, _ in launches(self.document)):
            self._report(node)

    def examine(self, offsets: Sequence[int]) -> None:
        for outer in self.unit.functions_at(offsets):
            for function in outer.everything():
                found = [
                    each for each in options(function, (_VARIABLE,)) if each.form == "environment"
                ]
                if found and not _is_for_children(function):
                    environment = Environment(function)
                    for each in found:
                        if each.value is None or not environment.is_read(each.value):
                            self._report(each.op.node)

    def _report(self, node: ast.AST | Variable) -> None:
        self.report(
            node,
            f"{_VARIABLE} is set here after Python has read it: this process keeps its hashes",
            advice="set it before Python starts, or start the program with python -m guard run",
        )


def _is_for_children(function: Function) -> bool:
    """Whether a function starts other programs, and seeds nothing of its own."""
    called = [name for op in function.ops for name in function.unit.values.called(op)]
    starts = any(name in randomness.STARTING for name in called)
    return starts and not any(name in randomness.SEEDING for name in called)
