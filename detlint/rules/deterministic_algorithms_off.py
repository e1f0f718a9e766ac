"""DET303 deterministic-algorithms-off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.arguments.settings import flags_at, is_reset, is_teardown
from detlint.dataflow.calls import said
from detlint.documents.options import is_trainer
from detlint.documents.settings import report_setting
from detlint.documents.training import switched
from detlint.models.model import words
from detlint.models.settings import ALGORITHMS, DEBUG_MODE, TRAINER, WARN_ONLY
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.arguments.settings import Setting
    from detlint.documents.document import Command

_TRAINER = f"{TRAINER}.deterministic"
_FLAGS = frozenset({ALGORITHMS, WARN_ONLY, DEBUG_MODE, _TRAINER})
# What turns each of them on.
_ON: dict[str, tuple[object, ...]] = {
    ALGORITHMS: (True,),
    WARN_ONLY: (),
    DEBUG_MODE: (1, 2, "warn", "error"),
    _TRAINER: (True, "warn"),
}
_ADVICE = "leave it on, and let nondeterministic operations raise"
# On command lines, by name.
_OPTIONS = words(
    """deterministic deterministic_mode full_determinism use_deterministic_algorithms
    deterministic_algorithms torch_deterministic"""
)
_LEVELS = {0: "2", 1: "2", "default": '"error"', "warn": '"error"'}


class _Weakening(NamedTuple):
    strict: str  # what the value should be
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

    Lowers the confidence:
    - the name of a program that is launched says that it does not train

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
        for option, sure in switched(self.document, node):
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
                confidence=sure,
            )

    visit_Entry = report_setting  # noqa: N815 - named as its node

    def examine(self, offsets: Sequence[int]) -> None:
        settings = [each for each in flags_at(self.unit, offsets) if each.name in _FLAGS]
        on = [each.op for each in settings if each.constant in _ON[each.name]]
        for each in settings:
            found = _weakening(each)
            if found is None or is_teardown(each.op) or (not found.warns and is_reset(each.op, on)):
                continue
            what = (
                "only warns where an operation has no deterministic kernel"
                if found.warns
                else "switches deterministic algorithms off"
            )
            edits = each.replaced(found.strict)
            self.report(each.op.node, f"{found.shown} {what}", advice=_ADVICE, edits=edits)


def _weakening(setting: Setting) -> _Weakening | None:
    value, name = setting.constant, said(setting.op)
    if setting.name == ALGORITHMS and value is False:
        return _Weakening("True", setting.shown("False"))
    if setting.name == WARN_ONLY and value is True:
        mode = setting.op.given("mode", 0)
        values = setting.op.function.unit.values
        if mode is not None and values.constant(mode) is True:
            return _Weakening("False", f"{name}(True, warn_only=True)", warns=True)
    if setting.name == DEBUG_MODE and isinstance(value, (int, str)) and value in _LEVELS:
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        return _Weakening(_LEVELS[value], f"{name}({shown})", warns=value in (1, "warn"))
    if setting.name == _TRAINER and value == "warn":
        return _Weakening("True", setting.shown('"warn"'), warns=True)
    return None
