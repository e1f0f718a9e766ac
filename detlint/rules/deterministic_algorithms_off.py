"""DET303 deterministic-algorithms-off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.branches import in_teardown, other_side
from detlint.analysis.command_options import is_trainer
from detlint.analysis.config_findings import report_setting
from detlint.analysis.launches import switched
from detlint.analysis.lightning import trainer_argument
from detlint.analysis.switches import code
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.documents.document import Command

_SWITCHES = {
    "torch.use_deterministic_algorithms": "mode",
    "torch.set_deterministic": "d",  # its name until torch 1.8
    "torch._C._set_deterministic_algorithms": "",
}
_ADVICE = "leave it on, and let nondeterministic operations raise"
# On command lines, by name.
_OPTIONS = frozenset(
    {
        "deterministic",
        "deterministic_mode",
        "full_determinism",
        "use_deterministic_algorithms",
        "deterministic_algorithms",
        "torch_deterministic",
    }
)
_DEBUG_MODE = "torch.set_deterministic_debug_mode"
_LEVELS = {0: "2", 1: "2", "default": '"error"', "warn": '"error"'}
_MSPROBE = frozenset({"msprobe", "ptdbg_ascend"})

if TYPE_CHECKING:
    from detlint.documents.document import Entry


class _Weakening(NamedTuple):
    value: cst.BaseExpression  # what to replace …
    strict: str  # … by this
    shown: str  # how the source says it
    warns: bool = False  # nondeterministic operations warn instead of passing in silence


class DeterministicAlgorithmsOff(Rule):
    """Why runs differ: With deterministic algorithms off, torch takes the fastest kernel of each
    operator. Several add up with atomics, in whatever order threads finish. With `warn_only=True`,
    an operator without a deterministic kernel runs all the same, with a warning. The backward of
    flash and memory-efficient attention then stays nondeterministic, too.

    Reported:
    - `torch.use_deterministic_algorithms(False)`, and `(True, warn_only=True)`
    - `torch.set_deterministic_debug_mode("default")`, and `"warn"`
    - `Trainer(deterministic="warn")` of Lightning, and `seed_all(mode=False)` of msprobe
    - the same in configurations and on command lines

    Not reported:
    - values that are not literals, and a saved value that is put back
    - a reset in teardown: `finally`, `__exit__`, `tearDown`
    - one side of an `if` whose other side turns it on

    What to do: Call `torch.use_deterministic_algorithms(True)`, and replace the operators that then
    raise. Do not switch it off around a forward pass whose backward raises. The flag is read when
    the backward runs.

    Fix safety: safe. Results change only as they do from run to run. An operator without a
    deterministic kernel raises.
    """

    code = "DET303"
    summary = "deterministic algorithms are off, or only warn"
    triggers = (
        "use_deterministic_algorithms",
        "set_deterministic",
        "_set_deterministic_algorithms",
        "deterministic",
        "seed_all",
    )
    mentions = ("deterministic", "full_determinism")
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch

                torch.use_deterministic_algorithms(False)  # DET303
            """,
            fixed="""
                import torch

                torch.use_deterministic_algorithms(True)
            """,
        ),
        Example(
            bad="""
                import torch

                torch.use_deterministic_algorithms(True, warn_only=True)  # DET303
            """,
            fixed="""
                import torch

                torch.use_deterministic_algorithms(True, warn_only=False)
            """,
        ),
        Example(
            bad="""
                from torch import set_deterministic_debug_mode

                set_deterministic_debug_mode("warn")  # DET303
            """,
            fixed="""
                from torch import set_deterministic_debug_mode

                set_deterministic_debug_mode("error")
            """,
        ),
    )

    def visit_Command(self, node: Command) -> None:
        for option in switched(self.document, node):
            if is_trainer(option, "deterministic") and option.value == "warn":
                what, strict = "only warns where an operation has no deterministic kernel", "true"
            elif option.name not in _OPTIONS or is_trainer(option, "deterministic"):
                continue
            elif option.on is False:
                what, strict = "leaves deterministic algorithms off", "true"
            else:
                continue
            self.report(
                option.word,
                f"{option.shown} {what}",
                advice=_ADVICE,
                edits=option.turned(strict),
                confidence=Confidence.LIKELY,  # what the program makes of it is not seen
            )

    def visit_Entry(self, node: Entry) -> None:
        report_setting(self, node)

    def visit_Call(self, node: cst.Call) -> None:
        found = self._weakening(node)
        if found is None or in_teardown(self.module, node):
            return
        if other_side(self.module, node, self._turns_on) and not found.warns:
            return
        what = (
            "only warns where an operation has no deterministic kernel"
            if found.warns
            else "switches deterministic algorithms off"
        )
        edits = (self.module.replace(found.value, found.strict),)
        self.report(node, f"{found.shown} {what}", advice=_ADVICE, edits=edits)

    def _weakening(self, call: cst.Call) -> _Weakening | None:
        name = self.module.called(call)
        if name in _SWITCHES:
            return self._switch(call, _SWITCHES[name])
        if name == _DEBUG_MODE:
            return self._debug_mode(call)
        if name is not None and name.endswith(".seed_all") and name.split(".")[0] in _MSPROBE:
            mode = self.module.argument(call, "mode", 1)
            if mode is not None and self.module.literal(mode) is False:
                return _Weakening(mode, "True", f"{code(call.func)}(mode=False)")
        given = trainer_argument(self.module, call, "deterministic")
        if given is not None and self.module.literal(given.value) == "warn":
            shown = f'{code(call.func)}(deterministic="warn")'
            return _Weakening(given.value, "True", shown, warns=True)
        return None

    def _switch(self, call: cst.Call, keyword: str) -> _Weakening | None:
        mode = self.module.argument(call, keyword, 0)
        warn = self.module.argument(call, "warn_only")
        if mode is None:
            return None
        if self.module.literal(mode) is False:
            return _Weakening(mode, "True", f"{code(call.func)}(False)")
        if (
            warn is not None
            and self.module.literal(mode) is True
            and self.module.literal(warn) is True
        ):
            return _Weakening(warn, "False", f"{code(call.func)}(True, warn_only=True)", warns=True)
        return None

    def _debug_mode(self, call: cst.Call) -> _Weakening | None:
        mode = self.module.argument(call, "debug_mode", 0)
        level = self.module.literal(mode)
        if mode is None or not isinstance(level, (int, str)) or level not in _LEVELS:
            return None
        shown = f'"{level}"' if isinstance(level, str) else str(level)
        warns = level in (1, "warn")
        return _Weakening(mode, _LEVELS[level], f"{code(call.func)}({shown})", warns=warns)

    def _turns_on(self, node: cst.CSTNode) -> bool:
        if not isinstance(node, cst.Call):
            return False
        name = self.module.called(node)
        if name in _SWITCHES:
            mode = self.module.argument(node, _SWITCHES[name], 0)
            return self.module.literal(mode) is True
        if name == _DEBUG_MODE:
            mode = self.module.argument(node, "debug_mode", 0)
            return self.module.literal(mode) in (1, 2, "warn", "error")
        if name is not None and name.endswith(".seed_all"):
            return self.module.literal(self.module.argument(node, "mode", 1)) is True
        given = trainer_argument(self.module, node, "deterministic")
        return given is not None and self.module.literal(given.value) in (True, "warn")
