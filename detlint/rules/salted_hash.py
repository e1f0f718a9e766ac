"""DET105 salted-hash."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.element_kinds import Kinds
from detlint.analysis.hash_uses import HashUses
from detlint.analysis.kinds import Kind
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.hash_uses import HashUse

_LONGEST = 50


class SaltedHash(Rule):
    """Why runs differ: Python adds a random salt to the hashes of strings and bytes, another one in
    each process. Most other objects are hashed by their address. A bucket, a split or a file name
    that is computed from such a hash differs in each run.

    Reported:
    - `hash()` of a string, of bytes, or of a tuple that holds one, where it picks a bucket, a shard
      or a split
    - the same in a seed, or in the name of a file

    Not reported:
    - hashes of numbers
    - hashes in `__hash__`, or only compared or used as keys within one process
    - a value of which it is not known whether it is a string

    What to do: Use a hash without a salt: `zlib.crc32(text.encode())`, or
    `hashlib.sha256(text.encode()).hexdigest()`.
    """

    code = "DET105"
    summary = "the hash of a string differs from run to run"
    triggers = ("hash(",)
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
    def concerns(cls, text: str, offset: int) -> bool:
        """No where a method of that name is called, or a function defined."""
        before = text[max(offset - 9, 0) : offset]
        return before.endswith("builtins.") or not before.endswith((".", "def "))

    @cached_property
    def _kinds(self) -> Kinds:
        return Kinds(self.module)

    @cached_property
    def _uses(self) -> HashUses:
        return HashUses(self.module)

    def visit_Call(self, node: cst.Call) -> None:
        if len(node.args) != 1 or self.module.called(node) != "builtins.hash":
            return
        kind = self._kind(node.args[0].value)
        use = self._uses.of(node) if kind.varies else None
        if use is not None:
            self._tell(node, kind, use)

    def _kind(self, node: cst.BaseExpression) -> Kind:
        func = node.func if isinstance(node, cst.Call) else None
        if isinstance(func, cst.Attribute) and func.attr.value in ("encode", "tobytes"):
            return Kind.BYTES  # a list of tokens has no hash
        return self._kinds.value(node) or Kind.UNKNOWN

    def _tell(self, node: cst.Call, kind: Kind, use: HashUse) -> None:
        text = " ".join(self.module.tree.text(node).split())
        shown = f"`{text}`" if len(text) <= _LONGEST else "`hash(…)`"
        what = " (of a string, it seems)" if kind is Kind.LIKELY else ""
        self.report(
            node,
            f"{shown}{what} differs from run to run, and here it is {use.how}",
            advice="Use zlib.crc32 or hashlib, which have no salt.",
            confidence=Confidence.LIKELY if kind is Kind.LIKELY else Confidence.CERTAIN,
        )
