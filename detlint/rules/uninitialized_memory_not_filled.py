"""DET305 uninitialized-memory-not-filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import flags_at, switched_off
from detlint.models.settings import FILL
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


class UninitializedMemoryNotFilled(Rule):
    """Why runs differ: While deterministic algorithms are on, torch 2.2 and later fills new memory.
    `torch.empty`, `empty_like`, `resize_` and similar calls then give NaN, or the largest integer.
    With `fill_uninitialized_memory = False` they hold whatever lay in memory. Any result that reads
    them before they are written differs in each run.

    Reported:
    - `torch.utils.deterministic.fill_uninitialized_memory = False`, and every other way to say it

    Not reported:
    - values that are not literals
    - a reset in teardown: `finally`, `__exit__`, `tearDown`
    - one side of an `if` whose other side sets True

    What to do: Leave it at True. Where the time that it costs matters, check first that results do
    not change with it. Then suppress the finding, with that reason.

    Fix safety: safe. Results change only if something reads uninitialized memory.
    """

    code = "DET305"
    summary = "uninitialized memory is not filled"
    triggers = ("fill_uninitialized_memory", "_set_deterministic_fill_uninitialized_memory")
    source = "https://docs.pytorch.org/docs/stable/deterministic.html"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch

                torch.utils.deterministic.fill_uninitialized_memory = False  # DET305
            """,
            fixed="""
                import torch

                torch.utils.deterministic.fill_uninitialized_memory = True
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for each in switched_off(flags_at(self.unit, offsets), (FILL,)):
            self.report(
                each.node,
                f"{each.shown('False')} leaves new tensors holding whatever lay in memory",
                advice="set it to True",
                edits=each.replaced("True"),
            )
