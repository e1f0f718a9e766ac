"""Fingerprints whose numbers are still on a device: read together, once, at the end of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.digests.hashing import hashed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.digests.device_sums import Lot, Products


class Pending:
    """A fingerprint over parts of which some are sums on a device."""

    __slots__ = ("parts", "seed")

    def __init__(self, parts: Sequence[bytes | Pending], seed: int) -> None:
        self.parts = parts
        self.seed = seed

    def sums(self) -> Iterator[Sum]:
        """Those that have to be read first."""
        for part in self.parts:
            if isinstance(part, Pending):
                yield from part.sums()

    def digest(self) -> bytes:
        """The fingerprint, once that is done."""
        parts = (each if isinstance(each, bytes) else each.digest() for each in self.parts)
        return hashed(b"".join(map(_framed, parts)), self.seed)


class Sum(Pending):
    """A fingerprint over one sum.

    lot          of products that the sum is part of
    first, last  of the lot's blocks: from one to before the other
    bits         8 bytes, once it has been read
    """

    __slots__ = ("bits", "first", "last", "lot")

    def __init__(self, seed: int, lot: Lot, first: int, last: int) -> None:
        self.seed = seed
        self.lot: Lot | None = lot
        self.first = first
        self.last = last
        self.bits = b""

    def sums(self) -> Iterator[Sum]:
        """Itself."""
        yield self

    def take(self, bits: bytes) -> None:
        """It has been read."""
        self.bits, self.lot = bits, None

    def digest(self) -> bytes:
        """The fingerprint, once it has been read."""
        return hashed(self.bits, self.seed)


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(4, "little") + part


def joined(parts: Sequence[bytes | Pending], seed: int) -> bytes | Pending:
    """One fingerprint over several, or over bytes."""
    pending = Pending(parts, seed)
    if any(isinstance(each, Pending) for each in parts):
        return pending
    return pending.digest()


def read(sums: Iterable[Sum]) -> None:
    """Read the sums that have not been read: one copy for each stream of a device."""
    waiting: dict[Products, dict[Lot, list[Sum]]] = {}
    for each in sums:
        if each.lot is not None:
            waiting.setdefault(each.lot.products, {}).setdefault(each.lot, []).append(each)
    for products, lots in waiting.items():
        products.read(lots)


def known(digests: Iterable[bytes | Pending]) -> list[bytes]:
    """Fingerprints, with what is on devices read from there."""
    found = list(digests)
    read(part for each in found if isinstance(each, Pending) for part in each.sums())
    return [each if isinstance(each, bytes) else each.digest() for each in found]
