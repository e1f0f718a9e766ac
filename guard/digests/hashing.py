"""Hashes of bytes: XXH3, or those of hashlib where xxhash is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    import xxhash

    HASH = "xxh3_128"
    hashed: Callable[[Any, int], bytes] = xxhash.xxh3_128_digest
    short: Callable[[Any], int] = xxhash.xxh3_64_intdigest
except ModuleNotFoundError:  # pragma: no cover - tested in a process without it
    import hashlib

    HASH = "sha256"

    def hashed(content: Any, seed: int = 0) -> bytes:  # noqa: ANN401 - a buffer
        """16 bytes over a buffer."""
        found = hashlib.sha256(seed.to_bytes(8, "little"))
        found.update(content)
        return found.digest()[:16]

    def short(content: Any) -> int:  # noqa: ANN401 - a buffer
        """Eight bytes over a buffer, as a number."""
        return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def combined(kind: str, digests: list[int]) -> int:
    """One digest for those of the parts of something."""
    return short(kind.encode() + b"".join(each.to_bytes(8, "little") for each in digests))
