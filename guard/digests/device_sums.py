"""Fingerprints that a GPU works out by itself: keyed sums of 32-bit words.

Each word is multiplied by an odd 64-bit key of its place, and the products are added up, modulo
2**64. Integers add up to the same in any order, so that the sum is deterministic. Two tensors that
differ by chance have the same sum once in 2**64. The worst differences known, in the highest bits
of two words only (signs), have it once in 2**32, as often as the 4 bytes that a trace keeps. It is
no protection against forgery.

Launching a kernel takes longer than what it does to a small tensor, and waiting longer still. So a
tensor costs one kernel, which lays its products behind those of others; these are added up
together, and nothing waits until the sums are read, all at once. Of a large tensor, laid as a
table, the sums of the rows and of the columns are taken like that: differences that leave all of
these as they are do not show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.digests.hashing import hashed
from guard.observe.modes import plainly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_BLOCK = 256  # products to each sum that is read; what is laid begins a block
_LAID = 1 << 20  # products that lie there before they are added up: 8 MB
_LARGE = 1 << 18  # words: from here on a tensor is read twice, and no product of it is written
_COLUMNS = 1 << 12
_BESIDE = 1 << 14  # words: tensors up to here are copied side by side
_STAGED = 1 << 19  # words that lie side by side: 2 MB, and 4 MB of keys
_ALL = (1 << 64) - 1
_KEPT = 10_000  # places whose views are kept
_INTEGERS = {4: torch.int32, 2: torch.int16, 1: torch.uint8}
_KEY = 0x9E3779B97F4A7C15  # odd, of no pattern: the golden ratio's

_products: dict[tuple[torch.device, int], Products] = {}


def pending(tensor: torch.Tensor, seed: int) -> Pending:
    """The fingerprint of a plain tensor. Call it without grad, and past modes."""
    words = words_of(tensor)
    count = words.numel()
    if not count:
        return Pending([bytes(8)], seed)  # read at once
    held = _on(tensor.device)
    if held is None:
        return Pending([b"no data"], seed)
    if count <= _LARGE:
        return held.lay(words, seed)
    return Pending([pending(each, 0) for each in _margins(words.reshape(-1))], seed)


def number(tensor: torch.Tensor) -> Sum | None:
    """A tensor's one number, as the bits of a float64."""
    held = _on(tensor.device)
    return None if held is None else held.lay_number(tensor)


def words_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's bytes as integers of 32 bits, or as the widest that divide them."""
    tensor = tensor.contiguous()
    size = tensor.element_size()
    width = _width(tensor)
    if size < width and tensor.storage_offset() * size % width:
        tensor = tensor.clone()
    if not tensor.dim() or tensor.shape[-1] * size % width:
        tensor = tensor.view(-1)
    return tensor.view(_INTEGERS[width])


def _width(tensor: torch.Tensor) -> int:
    total = tensor.numel() * tensor.element_size()
    return next(each for each in _INTEGERS if not total % each)


def _margins(words: torch.Tensor) -> Iterator[torch.Tensor]:
    """The sums of the columns and of the rows of a table that many words make, and the rest."""
    rows = words.numel() // _COLUMNS
    table = words[: rows * _COLUMNS].view(rows, _COLUMNS)
    if table.dtype == torch.int32:  # as half as many numbers
        table = (table.clone() if words.storage_offset() % 2 else table).view(torch.int64)
    yield table.sum(0, dtype=torch.int64)
    yield table.sum(1, dtype=torch.int64)
    yield words[rows * _COLUMNS :]


class Lot:
    """Products that are added up together."""

    __slots__ = ("blocks", "products")

    def __init__(self, products: Products, blocks: torch.Tensor | None = None) -> None:
        self.products = products
        self.blocks = blocks  # their sums on the device, once that has been done


class Products:
    """Where the products of a stream of a device are laid, one tensor's behind the other's."""

    def __init__(self, device: torch.device, stream: Any) -> None:  # noqa: ANN401 - torch.cuda.Stream
        self.stream = stream
        with torch.inference_mode(mode=False):  # or nothing outside of that could write there
            self.keys = _odd(_LAID, device)
            self._laid = torch.zeros(_LAID, dtype=torch.int64, device=device)
            self.staged = torch.zeros(4 * _STAGED, dtype=torch.uint8, device=device)
        self._used = 0
        self._lot = Lot(self)
        self._views: dict[Any, tuple[torch.Tensor, torch.Tensor]] = {}

    def lay(self, words: torch.Tensor, seed: int) -> Sum:
        """The sum of words."""
        shape = words.shape
        at = self._place(words.numel())
        found = self._views.get((at, shape))
        if found is None:
            count = words.numel()
            both = (self.keys[:count].view(shape), self._laid[at : at + count].view(shape))
            found = self._keep((at, shape), both)
        torch.mul(words, found[0], out=found[1])
        return Sum(seed, self._lot, at // _BLOCK, self._used // _BLOCK)

    def lay_number(self, tensor: torch.Tensor) -> Sum:
        """The bits of a number."""
        at = self._place(1)
        found = self._views.get(at)
        if found is None:
            place = self._laid[at : at + 1]
            found = self._keep(at, (place, place.view(torch.float64)))
        found[1].copy_(tensor.reshape(1))
        return Sum(0, self._lot, at // _BLOCK, self._used // _BLOCK)

    def lay_beside(self, words: torch.Tensor, keys: torch.Tensor) -> tuple[Lot, int]:
        """Words that have keys of their own; the lot, and the first of their blocks."""
        at = self._place(words.numel())
        torch.mul(words, keys, out=self._laid[at : at + words.numel()])
        return self._lot, at // _BLOCK

    def _place(self, count: int) -> int:
        if self._used + count > _LAID:
            self._add_up()
        at = self._used
        self._used += -(-count // _BLOCK) * _BLOCK
        return at

    def _keep(self, key: Any, views: tuple[torch.Tensor, torch.Tensor]) -> Any:  # noqa: ANN401
        if len(self._views) > _KEPT:
            self._views.clear()
        self._views[key] = views
        return views

    def _add_up(self) -> None:
        laid = self._laid[: self._used]
        self._lot.blocks = laid.view(-1, _BLOCK).sum(1)
        laid.zero_()  # so that what fills up a block counts nothing
        self._lot, self._used = Lot(self), 0

    def read(self, lots: dict[Lot, list[Sum]]) -> None:
        """Read sums, by their lots: one copy for all of them."""
        with plainly(), torch.cuda.stream(self.stream):  # which does nothing for None
            if self._lot in lots:
                self._add_up()
            blocks: list[Any] = [each.blocks for each in lots]
            running = [0, *torch.cat(blocks).cpu().cumsum(0).tolist()]
        before = 0
        for sums, each in zip(lots.values(), blocks, strict=True):
            for one in sums:
                total = running[before + one.last] - running[before + one.first]
                one.take((total & _ALL).to_bytes(8, "little"))
            before += len(each)


class Beside:
    """Tensors of the same forms, again and again: a call copies them side by side, another one
    multiplies them, however many there are."""

    def __init__(self, tensors: Sequence[torch.Tensor], seeds: Sequence[int]) -> None:
        self._seeds = seeds
        self._others: list[int] = []
        self._groups: list[_Group] = []
        last: dict[tuple[Products, torch.dtype], _Group] = {}
        for index, each in enumerate(tensors):
            size = each.numel() * each.element_size()
            held = _on(each.device)
            if held is None or not 0 < size <= 4 * _BESIDE or _width(each) != 4:
                self._others.append(index)
                continue
            key = (held, each.dtype)
            if key not in last or not last[key].has_room(size):
                last[key] = _Group(held)
                self._groups.append(last[key])
            last[key].add(index, each, size)
        for group in self._groups:
            group.finish()

    def read(self, tensors: Sequence[torch.Tensor]) -> list[bytes | Pending]:
        """The fingerprints of tensors, in their order."""
        found: dict[int, Pending] = {}
        others = list(self._others)
        for group in self._groups:
            if _on(group.words.device) is group.held:
                found.update(group.read(tensors, self._seeds))
            else:  # another stream is in use
                others += group.indices
        found.update((each, pending(tensors[each], self._seeds[each])) for each in others)
        return [found[each] for each in range(len(tensors))]


class _Group:
    """Tensors of one dtype that are copied side by side.

    indices  which they are
    words    where they are copied to, as a whole
    """

    def __init__(self, held: Products) -> None:
        self.held = held
        self.indices: list[int] = []
        self._copies: list[torch.Tensor] = []
        self._bounds: list[int] = [0]  # in blocks
        self._keys: list[torch.Tensor] = []

    def has_room(self, size: int) -> bool:
        """For so many bytes."""
        return self._bounds[-1] * _BLOCK * 4 + size <= self.held.staged.numel()

    def add(self, index: int, tensor: torch.Tensor, size: int) -> None:
        """One more, which begins a block."""
        start, count = self._bounds[-1] * _BLOCK, size // 4
        place = self.held.staged[4 * start : 4 * start + size].view(tensor.dtype)
        blocks = -(-count // _BLOCK)
        nothing = self.held.keys.new_zeros(blocks * _BLOCK - count)  # up to the next one
        self.indices.append(index)
        self._copies.append(place.view(tensor.shape))
        self._bounds.append(self._bounds[-1] + blocks)
        self._keys += [self.held.keys[:count], nothing]

    def finish(self) -> None:
        """No more is added."""
        self.words = self.held.staged[: 4 * _BLOCK * self._bounds[-1]].view(torch.int32)
        self._all_keys = torch.cat(self._keys)
        self._keys.clear()

    def read(
        self, tensors: Sequence[torch.Tensor], seeds: Sequence[int]
    ) -> Iterator[tuple[int, Sum]]:
        """The fingerprint of each, with its index."""
        torch._foreach_copy_(self._copies, [tensors[each] for each in self.indices])
        lot, start = self.held.lay_beside(self.words, self._all_keys)
        for index, first, last in zip(
            self.indices, self._bounds[:-1], self._bounds[1:], strict=True
        ):
            yield index, Sum(seeds[index], lot, start + first, start + last)


def _on(device: torch.device) -> Products | None:
    """Of the stream that is in use; None where what it is given is only noted for a graph."""
    if device.type != "cuda":
        return _of(device, 0)
    if torch._C._cuda_isCurrentStreamCapturing():  # noqa: SLF001 - a third of the public call's time
        return None
    return _of(device, torch._C._cuda_getCurrentRawStream(device.index))  # noqa: SLF001 - likewise


def _of(device: torch.device, stream: int) -> Products:
    found = _products.get((device, stream))
    if found is None:
        own = torch.cuda.current_stream(device) if device.type == "cuda" else None
        found = _products[device, stream] = Products(device, own)
    return found


def _odd(count: int, device: torch.device) -> torch.Tensor:
    """Odd numbers without a pattern (splitmix64)."""
    mixed = torch.arange(1, count + 1, dtype=torch.int64, device=device) * _signed(_KEY)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> shift)) * _signed(factor)
    return (mixed ^ (mixed >> 31)) | 1


def _signed(number: int) -> int:
    number &= _ALL
    return number - (1 << 64) if number >> 63 else number


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
        return hashed(b"".join(len(each).to_bytes(4, "little") + each for each in parts), self.seed)


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
