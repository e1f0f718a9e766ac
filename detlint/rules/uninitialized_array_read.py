"""DET403 uninitialized-array-read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.allocation_text import looks_unwritten
from detlint.analysis.array_allocations import TOKENS, ZEROED, is_allocation, is_independent
from detlint.analysis.arrays import NUMPY
from detlint.analysis.partial_fills import PartialFills, looks_partial
from detlint.analysis.unwritten import Library, UnwrittenReads
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.partial_fills import Partial
    from detlint.module import Module
    from detlint.settings import Settings

_NUMPY = Library(NUMPY, is_allocation, is_independent, ZEROED)
# Another library's function of the same name.
_FOREIGN = re.compile(r"\b(?:torch|th|jnp|tf|mx|pl|q|queue|\w*_queue)\.$")


class UninitializedArrayRead(Rule):
    """Why runs differ: `np.empty` and similar calls return memory as an earlier owner left it. What
    a program computes from that differs between runs.

    Reported:
    - `np.empty`, `np.empty_like` and `np.ndarray(shape)`, of CuPy too, if read before anything is
      written
    - nothing has written on any path that leads to the read
    - a returned array whose rows a loop fills, if a `continue` skips rows or a `break` leaves the
      rest

    Not reported:
    - an array that is handed to unknown code: it may write it
    - arrays of objects: NumPy fills them with `None`

    What to do: Write every element first, or allocate with `np.zeros(…)`, `np.ones(…)` or
    `np.full(…)`.

    Fix safety: unsafe. Zeros make the runs equal, but may not be the values that were meant.
    """

    code = "DET403"
    summary = "an array is read that nothing has written"
    triggers = TOKENS
    needs = ("numpy", "cupy")
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

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where the text around a call shows that its memory is written, or kept."""
        if looks_unwritten(text, offset, _FOREIGN):
            return True
        return looks_partial(text, offset)

    def __init__(self, module: Module, settings: Settings) -> None:
        super().__init__(module, settings)
        self._reads = UnwrittenReads(module, _NUMPY)
        self._fills = PartialFills(module, NUMPY, is_allocation)

    def visit_Call(self, node: cst.Call) -> None:
        for allocation, name in self._reads.found(node):
            if self._is_near(allocation):
                self._report(allocation, self._reads.claim(allocation, name))
        partial = self._fills.found(node)
        if partial is not None and self._is_near(node):
            self._report(node, self._claim(partial))

    def _is_near(self, call: cst.Call) -> bool:
        """What narrowing leaves out is left out of whole files, too."""
        function = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        start, _ = self.module.tree.span(function)
        near = self.concerns(self.module.source.text, start)
        return near and not self._reads.is_muted(call)

    def _claim(self, partial: Partial) -> str:
        line = self.module.source.spoken_place(self.module.tree.span(partial.skip)[0])
        left = isinstance(partial.skip, cst.Break)
        what = "leaves the rest of it" if left else "leaves a part of it"
        word = "break" if left else "continue"
        return f"{partial.name} is returned, but the {word} on {line} {what} unwritten"

    def _report(self, call: cst.Call, claim: str) -> None:
        self.report(
            call,
            claim,
            advice=self._reads.advice(call),
            edits=self._reads.fix(call),
            safe=False,
        )
