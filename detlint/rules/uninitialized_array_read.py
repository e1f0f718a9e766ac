"""DET403 uninitialized-array-read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.memory.fills import partial_fill
from detlint.dataflow.memory.initialisation import Initialisation
from detlint.models.memory import NUMPY
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.ir import Op


class UninitializedArrayRead(Rule):
    """Why runs differ: `np.empty` and similar calls return memory as an earlier owner left it. What
    a program computes from that differs between runs.

    Reported:
    - `np.empty`, `np.empty_like` and `np.ndarray(shape)`, of CuPy too, if read before anything is
      written
    - nothing has written on any path that leads to the read, through other names, dicts, fields
      and functions of the file
    - a returned array whose rows a loop fills, if a `continue` skips rows or a `break` leaves the
      rest
    - one that is only written from some element on: `out[1:] = x`

    Lowers the confidence:
    - what reads it is only named like a network: `model(x)`
    - rows that a `continue` or `break` leaves: whoever takes the array may know which

    Not reported:
    - an array that is handed to unknown code: it may write it
    - arrays of objects: NumPy fills them with `None`

    What to do: Write every element first, or allocate with `np.zeros(…)`, `np.ones(…)` or
    `np.full(…)`.

    Fix safety: unsafe. Zeros make the runs equal, but may not be the values that were meant.
    """

    code = "DET403"
    summary = "an array is read that nothing has written"
    triggers = ("empty(", "empty_like(", "ndarray(")
    needs = ("numpy", "cupy")
    confidence = Confidence.CERTAIN
    source = "https://numpy.org/doc/stable/reference/generated/numpy.empty.html"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import numpy as np

                def total(batches, size):
                    losses = np.empty(size)  # DET403
                    for batch in batches:
                        losses += batch
                    return losses
            """,
            fixed="""
                import numpy as np

                def total(batches, size):
                    losses = np.zeros(size)
                    for batch in batches:
                        losses += batch
                    return losses
            """,
        ),
        Example(
            bad="""
                import numpy as np

                def features(images, size):
                    rows = np.empty((len(images), size))  # DET403
                    for index, image in enumerate(images):
                        if image is None:
                            continue
                        rows[index] = encode(image)
                    return rows
            """,
            good="""
                import numpy as np

                def features(images, size):
                    rows = np.full((len(images), size), np.nan)
                    for index, image in enumerate(images):
                        if image is None:
                            continue
                        rows[index] = encode(image)
                    return rows
            """,
            fixed="""
                import numpy as np

                def features(images, size):
                    rows = np.zeros((len(images), size))
                    for index, image in enumerate(images):
                        if image is None:
                            continue
                        rows[index] = encode(image)
                    return rows
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        memory = Initialisation(self.unit, NUMPY)
        for allocation in memory.allocations(offsets):
            read = memory.read(allocation)
            if read is not None:
                self._tell(memory, read.allocation, memory.claim(read), assumed=read.assumed)
            elif (partial := partial_fill(memory, allocation)) is not None:
                self._tell(memory, partial.allocation, partial.claim(self.unit), assumed=True)

    def _tell(self, memory: Initialisation, made: Op, claim: str, *, assumed: bool) -> None:
        call = made.call_node
        self.report(
            call,
            claim,
            advice=memory.advice(call),
            edits=memory.fix(call),
            safe=False,
            confidence=Confidence.LIKELY if assumed else Confidence.CERTAIN,
        )
