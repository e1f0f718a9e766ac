"""Eight bytes for some bytes, as a number; and one number for several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    import xxhash

    hashed: Callable[[Any], int] = xxhash.xxh3_64_intdigest
except ModuleNotFoundError:
    import hashlib

    def hashed(content: Any) -> int:  # noqa: ANN401 - a buffer
        """Eight bytes over a buffer."""
        found = hashlib.blake2b(content, digest_size=8).digest()
        return int.from_bytes(found, "little")


def combined(kind: str, digests: list[int]) -> int:
    """One digest for those of the parts of something."""
    return hashed(kind.encode() + b"".join(each.to_bytes(8, "little") for each in digests))
