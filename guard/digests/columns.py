"""Fingerprints of tensors that are read together, again and again: column by column, which takes
half the time of one tensor after the other."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import torch

from guard.digests.hashing import hashed
from guard.digests.structures import fingerprint
from guard.digests.tensors import form_of

if TYPE_CHECKING:
    from guard.digests.tensors import Digest

_Tensor = torch.Tensor
_PLAIN = {torch.Tensor, torch.nn.Parameter}
_shape, _dtype, _is_on_cpu = attrgetter("shape"), attrgetter("dtype"), attrgetter("is_cpu")


class Columns:
    """What was found when the tensors were read last.

    details  what they were: "float32[2, 3]"
    """

    def __init__(self) -> None:
        self.details: list[str] = []
        self._shapes: list[Any] = []
        self._dtypes: list[Any] = []
        self._seeds: list[int] = []
        self._at: list[Any] = []
        self._single: list[int] = []  # those of one element, by their places
        self._addresses: list[int] = []
        self._contents: list[Any] = []

    def read(self, tensors: list[Any]) -> list[Digest]:
        """The fingerprints of tensors, in their order."""
        addresses = self._addresses_of(tensors)
        if addresses is None:
            found = [fingerprint(each) for each in tensors]
            self.details = [each.detail for each in found]
            self._look(tensors)
            return [each.digest for each in found]
        if addresses != self._addresses:
            self._contents = [at(address) for at, address in zip(self._at, addresses, strict=True)]
            self._addresses = addresses
        return list(map(hashed, self._contents, self._seeds))

    def _addresses_of(self, tensors: list[Any]) -> list[int] | None:
        """Where they lie, if each is what it was, in memory and in one piece."""
        try:
            if (
                self._at
                and _PLAIN.issuperset(map(type, tensors))
                and all(map(_is_on_cpu, tensors))
                and list(map(_shape, tensors)) == self._shapes
                and list(map(_dtype, tensors)) == self._dtypes
                and all(map(_Tensor.is_contiguous, tensors))
                and not any(tensors[each].is_neg() for each in self._single)
            ):
                found = list(map(_Tensor.data_ptr, tensors))
                return None if 0 in found else found
        except RuntimeError:  # one is sparse, nested, or wrapped by a transformation
            pass
        return None

    def _look(self, tensors: list[Any]) -> None:
        """What is known of them for the next time; nothing where their bytes are not all."""
        self._at, self._addresses = [], []
        if not _PLAIN.issuperset(map(type, tensors)):
            return
        forms = list(map(form_of, tensors))
        if any(each.at is None for each in forms):
            return
        self._at = [each.at for each in forms]
        self._seeds = [each.seed for each in forms]
        self._shapes = [each.shape for each in forms]
        self._dtypes = [each.dtype for each in forms]
        self._single = [number for number, each in enumerate(forms) if each.is_single]
