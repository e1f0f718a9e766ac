"""One run of an operator, and what its schema says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch._ops import OpOverload


class Run(NamedTuple):
    """An operator and what it was called with.

    tensors  those among the arguments, also within lists
    """

    func: OpOverload
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tensors: list[torch.Tensor]

    @property
    def name(self) -> str:
        return name_of(self.func)

    @property
    def draws(self) -> bool:
        """Whether it takes random numbers from a generator."""
        return torch.Tag.nondeterministic_seeded in self.func.tags

    @property
    def is_mutable(self) -> bool:
        return bool(self.func._schema.is_mutable)  # noqa: SLF001

    @property
    def written(self) -> list[torch.Tensor]:
        """The tensors among the arguments that the operator writes to."""
        if not self.is_mutable:
            return []
        found = []
        for position, argument in enumerate(self.func._schema.arguments):  # noqa: SLF001
            if argument.alias_info is not None and argument.alias_info.is_write:
                given = self.args[position : position + 1] or (self.kwargs.get(argument.name),)
                found += list(tensors_in(given))
        return found

    def named(self) -> dict[str, Any]:
        """The arguments by their names; those that are left out have their defaults."""
        given: dict[str, Any] = {}
        for position, argument in enumerate(self.func._schema.arguments):  # noqa: SLF001
            if position < len(self.args):
                given[argument.name] = self.args[position]
            else:
                given[argument.name] = self.kwargs.get(argument.name, argument.default_value)
        return given


def name_of(func: OpOverload) -> str:
    """An operator's name: "aten::median.dim"."""
    return str(func.name())  # type: ignore[no-untyped-call]  # torch's


def tensors_in(value: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - a tuple, or a list
    """The tensors in a sequence, and in sequences within it."""
    for each in value:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, (tuple, list)):
            yield from tensors_in(each)
