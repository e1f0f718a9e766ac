"""An optimizer's parameters, which are read at each of its steps."""

from __future__ import annotations

from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from guard.digests.columns import Columns
from guard.recording.labels import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

    from guard.digests.tensors import Digest
    from guard.observe.places import Place
    from guard.recording.events import Events, Row
    from guard.recording.labels import Source
    from guard.recording.naming import Names

    Optimizer = torch.optim.Optimizer

_gradient = attrgetter("grad")


class Plan:
    """An optimizer's parameters in about the order in which backward reaches them."""

    def __init__(self, parameters: list[tuple[Any, Source]], key: tuple[int, ...]) -> None:
        self.key = key
        self.values: list[Any] = []  # of its hyperparameters
        self.digests: dict[str, Digest] = {}
        self.digest: Digest = b""  # over them
        self.place: Place | None = None  # that set them
        self._parameters = [each for each, _ in parameters]
        self._sources = [of for _, of in parameters]
        self._left, self._read = Columns(), Columns()
        self._rows: list[Row] = []  # of the gradients' events
        self._made_of: tuple[Any, ...] = ()

    def keep(self, old: Plan) -> None:
        """What was known of the hyperparameters."""
        self.values, self.digests, self.digest = old.values, old.digests, old.digest
        self.place = old.place

    def left(self) -> list[Digest]:
        """The fingerprints of all the parameters."""
        return self._left.read(self._parameters)

    def gradients(self) -> tuple[list[Source], list[Any]]:
        """Those that are there."""
        found: list[Any] = list(map(_gradient, self._parameters))
        if type(None) not in set(map(type, found)):
            return self._sources, found
        present = [each is not None for each in found]
        return list(compress(self._sources, present)), list(compress(found, present))

    def add_gradients(self, events: Events, place: Place | None) -> None:
        """Append an event for each of them."""
        sources, gradients = self.gradients()
        events.digests += self._read.read(gradients)
        made_of = sources, self._read.details, place
        if made_of != self._made_of:
            both = zip(sources, self._read.details, strict=True)
            self._rows = [(of, detail, place, "", ()) for of, detail in both]
            self._made_of = made_of
        events.rows += self._rows


def key_of(optimizer: Optimizer, names: Names) -> tuple[int, ...]:
    """Another one where an optimizer may have other parameters, or these other names."""
    groups = optimizer.param_groups
    firsts = (id(each["params"][0]) if each["params"] else 0 for each in groups)
    return (names.count, *(len(each["params"]) for each in groups), *firsts)


def parameters_of(optimizer: Optimizer, names: Names) -> Iterator[tuple[Any, Source]]:
    """Those of an optimizer, the last of the model first, with the sources of their gradients."""
    names.refresh()
    known = []
    for index, group in enumerate(optimizer.param_groups):
        for number, each in enumerate(group["params"]):
            unnamed = f"{names.of_optimizer(optimizer)}.param_groups[{index}][{number}]"
            known.append((*(names.of_parameter(each) or (-1, unnamed)), each))
    known.sort(key=lambda found: -found[0])
    for _, name, each in known:
        yield each, source("gradient", name)
