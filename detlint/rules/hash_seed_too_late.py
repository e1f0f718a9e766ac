"""DET106 hash-seed-too-late."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.hash_seeds import faults
from detlint.analysis.launches import launches
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Text, Variable

_VARIABLE = "PYTHONHASHSEED"
_CALLS = {"os.environ.setdefault": "setdefault", "os.putenv": "putenv"}
_STARTING = re.compile(
    r"subprocess\.(?:run|Popen|call|check_call|check_output)|os\.(?:system|popen|spawn\w+|posix_spawnp?)"
    r"|asyncio\.create_subprocess_\w+|torch\.(?:multiprocessing\.spawn|distributed\.run\.\w+)(?:\.\w+)*"
    r"|(?:torch\.)?multiprocessing\.(?:Process|Pool|set_start_method|get_context)"
)
_SEEDING = re.compile(r"random\.seed|numpy\.random\.seed|torch\.(?:cuda\.)?manual_seed(?:_all)?")


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

    def visit_Assign(self, node: cst.Assign) -> None:
        if any(self._is_variable(target.target) for target in node.targets):
            self._judge(node, node.value)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """``os.environ |= {…}``."""
        if self.module.qualified_name(node.target) == "os.environ" and self._holds(node.value):
            self._judge(node, node.value)

    def visit_Call(self, node: cst.Call) -> None:
        name = self.module.called(node)
        if name in _CALLS:
            given = [argument.value for argument in node.args]
            if given and self.module.literal(given[0]) == _VARIABLE:
                self._judge(node, given[-1])
        elif name == "os.environ.update":
            keyword = self.module.argument(node, _VARIABLE)
            if keyword is not None or any(self._holds(each.value) for each in node.args):
                self._judge(node, keyword or node)

    def _is_variable(self, target: cst.CSTNode) -> bool:
        """``os.environ["PYTHONHASHSEED"]``."""
        if not isinstance(target, cst.Subscript):
            return False
        if self.module.qualified_name(target.value) not in ("os.environ", "os.environb"):
            return False
        key = target.slice[0].slice
        named = self.module.literal(key.value) if isinstance(key, cst.Index) else None
        return named in (_VARIABLE, _VARIABLE.encode())

    def _holds(self, node: cst.CSTNode) -> bool:
        """``{"PYTHONHASHSEED": "0"}``, ``dict(PYTHONHASHSEED="0")``."""
        value = self.module.names.value_of(node)
        if isinstance(value, cst.Call) and self.module.called(value) == "builtins.dict":
            return self.module.argument(value, _VARIABLE) is not None
        keys = (each.key for each in getattr(value, "elements", ()) if hasattr(each, "key"))
        return any(self.module.literal(key) == _VARIABLE for key in keys)

    def _judge(self, node: cst.CSTNode, value: cst.CSTNode) -> None:
        if self._is_put_back(value) or self._is_for_children(node):
            return
        self._report(node)

    def _report(self, node: cst.CSTNode | Variable) -> None:
        self.report(
            node,
            f"{_VARIABLE} is set here after Python has read it: this process keeps its hashes",
            advice="set it before Python starts, or start the program with python -m guard run",
        )

    def _is_put_back(self, value: cst.CSTNode) -> bool:
        """Whether a value was read from the environment before."""
        value = self.module.names.value_of(value)
        if isinstance(value, cst.Subscript):
            return self.module.qualified_name(value.value) == "os.environ"
        return self.module.called(value) in ("os.environ.get", "os.getenv", "os.environ.pop")

    def _is_for_children(self, node: cst.CSTNode) -> bool:
        called = list(self._called_around(node))
        starts = any(_STARTING.fullmatch(name) for name in called)
        return starts and not any(_SEEDING.fullmatch(name) for name in called)

    def _called_around(self, node: cst.CSTNode) -> Iterator[str]:
        """What the function around a node calls, or the code outside of functions."""
        function = self.module.enclosing_function(node)
        for each in self.module.tree.descendants(function or self.module.tree.module):
            name = self.module.called(each)
            if name is not None and self.module.enclosing_function(each) is function:
                yield name
