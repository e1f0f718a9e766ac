"""DET105 salted-hash."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.randomness.entropy import names_text, source
from detlint.dataflow.randomness.hash_uses import HashUses
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.ir import Op
    from detlint.dataflow.randomness.hash_uses import HashUse
    from detlint.finding import Finding

_LONGEST = 50


class SaltedHash(Rule):
    """Why runs differ: Python adds a random salt to the hashes of strings and bytes, another one in
    each process. Most other objects are hashed by their address. A bucket, a split or a file name
    that is computed from such a hash differs in each run.

    Reported:
    - `hash()` of a string, of bytes, or of a tuple that holds one, where it picks a bucket, a shard
      or a split
    - the same in a seed, in the name of a file, in a text that is given as `id=…`, or in a column

    Lowers the confidence:
    - what is hashed is a string by its name alone, as in `hash(path)`
    - the hash goes into a column, or into what identifies something; only returned or kept under a
      name, it is *possible*
    - a script or an image that starts the program sets `PYTHONHASHSEED`, or no program runs it

    Not reported:
    - hashes of numbers, and of what is not known to be a string
    - hashes in `__hash__`, or only compared or used as keys within one process

    What to do: Use a hash without a salt: `zlib.crc32(text.encode())`, or
    `hashlib.sha256(text.encode()).hexdigest()`.
    """

    code = "DET105"
    summary = "the hash of a string differs from run to run"
    triggers = ("hash(",)
    lowered_where_dead = True
    source = "https://docs.python.org/3/reference/datamodel.html#object.__hash__"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                def is_held_out(path):
                    return hash(path) % 10 == 0  # DET105
            """,
            good="""
                import zlib

                def is_held_out(path):
                    return zlib.crc32(path.encode()) % 10 == 0
            """,
        ),
        Example(
            bad="""
                def cache_file(folder, query: str):
                    return f"{folder}/{hash(query)}.pt"  # DET105
            """,
            good="""
                import hashlib

                def cache_file(folder, query: str):
                    return f"{folder}/{hashlib.sha256(query.encode()).hexdigest()}.pt"
            """,
        ),
    )

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:  # noqa: ARG003
        """Of a string, whose hash may be fixed."""
        return program.keeps_hashes()

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            if len(op.args) == 2 and "builtins.hash" in self.unit.values.called(op):
                sure = varies(op)
                uses = filter(self._is_ours(op), self._uses.of(op)) if sure else ()
                found = max(uses, key=lambda use: use.sure, default=None)
                if sure and found is not None:
                    self._tell(op, sure, found)

    def _is_ours(self, call: Op) -> Callable[[HashUse], bool]:
        """Whether it is not DET103 that tells of a use."""
        told = source(call) is not None

        def is_ours(use: HashUse) -> bool:
            undone = [by is not None and self.unit.rng_states.is_undone(by) for by in use.seeds]
            return not (told and undone) or all(undone)

        return is_ours

    def _tell(self, call: Op, sure: Confidence, use: HashUse) -> None:
        text = " ".join(self.unit.text_of(call.node).split())
        shown = f"`{text}`" if len(text) <= _LONGEST else "`hash(…)`"
        what = " (of a string, it seems)" if sure is Confidence.LIKELY else ""
        self.report(
            call.node,
            f"{shown}{what} differs from run to run, and here it is {use.how}",
            advice="Use zlib.crc32 or hashlib, which have no salt.",
            confidence=min(sure, use.sure),
        )

    @cached_property
    def _uses(self) -> HashUses:
        return HashUses(self.unit)


def varies(call: Op) -> Confidence | None:
    """How sure it is that what is hashed has another hash in another process."""
    types = lattice.joined(
        *(
            lattice.container("tuple", *one.holds) if one.name == "list" else frozenset((one,))
            for one in call.function.unit.values.types(call.args[1])  # of tuples, it is tuple(…)
        )
    )
    if lattice.hash_varies(types):
        return Confidence.CERTAIN if lattice.is_known(types) else Confidence.LIKELY
    return Confidence.LIKELY if names_text(call) else None
