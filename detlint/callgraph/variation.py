"""What of the training of a program may differ from run to run, and where its models come from."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.callgraph.fact_base import ByFacts, Located
from detlint.callgraph.trained_parts import TrainedParts, makes_layers
from detlint.index.facts import THAWS, UNSEEN_NAMES
from detlint.models.loading import feeds_by_number
from detlint.models.training import OF_KERAS
from detlint.models.varying import (
    BY_SIZE,
    CONVOLVING,
    FROZEN,
    OF_CUDNN,
    QUOTED,
    brings,
    is_model,
    kind_of,
    ranked,
    repeats,
)
from detlint.syntax.layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.index.facts import Fact

_MOST = 3  # exhibits that a message names


class Varying(NamedTuple):
    """What may differ of what a program trains.

    at          the layer, operator or model; None where none is seen
    foreign     the model of a library of which nothing is known
    is_trained  it is of what is trained, and not of whatever the program makes
    others      more of that, where what was named first is made under a test
    """

    at: Located | None
    foreign: str
    is_trained: bool
    others: tuple[Located, ...] = ()


class Variation(ByFacts):
    """Answers for one program."""

    def of_training(self) -> Varying:
        """What may differ from run to run on a GPU: rather of what it trains and what computes a
        loss with that; else, where that is not seen, of what it runs."""
        trained = self._trained
        found, others = _surest(self._of_trained())
        if found is not None and found.fact.what != BY_SIZE:
            return Varying(found, "", is_trained=True, others=others)
        foreign = trained.foreign or self._unlocated()
        if trained.is_seen and not foreign:
            foreign = trained.brought
            if foreign or found is not None or not trained.hides():
                return Varying(None if foreign else found, foreign, is_trained=True)
        if not foreign:
            found, others = _surest(self._of_all())
            foreign = trained.brought if found is None else ""
        if foreign:
            return Varying(None, foreign, is_trained=True)
        return Varying(found, "", is_trained=False, others=others)

    def shows_training(self) -> bool:
        """Whether something trains, and some of the models that this is about are seen."""
        trained = self._trained
        made = trained.libraries or any(map(self._closure.is_class, trained.classes))
        return bool(self._near and (trained.is_seen or made))

    def takes_part(self, path: str, row: int) -> bool:
        """Whether a line is shown to take part in what it trains, with a gradient."""
        trained, part = self._trained, self._index.part_at(path, row)
        takes = (path, part) in self._near or trained.has(path, part)
        return takes and not trained.is_idle(path, part, row, among=trained.has)

    @cached_property
    def _near(self) -> set[tuple[str, str]]:
        """The parts of files in which something trains."""
        steps = self._base.facts("trains", "torch")
        return {(each.path, self._base.part_of(each)) for each in steps}

    def _unlocated(self) -> str:
        """A model of a library that it trains and of which no fact tells where."""
        kinds = {what for _, what in self._kinds if is_model(what)}
        named = (each for each in self._trained.libraries if kind_of([each[1]]) in kinds)
        return next((name for path, name in named if not any(self._naming(path, name))), "")

    def _of_trained(self) -> Iterator[Located]:
        """What may differ of what it trains, the surest first."""
        trained, near = self._trained, self._near
        named = [one for each in trained.libraries for one in self._naming(*each)]
        for kind, what in self._kinds:
            for path, part, fact in self._base.one_by_one(
                kind, what, among=lambda *each: each in near or trained.has(*each)
            ):
                # A layer that is made where a loss goes back is trained if an optimizer gets it.
                function = fact.text.rpartition(".")[2].islower()  # ``F.conv2d``
                part_of_it = trained.has(path, part) or kind == "operators" or function
                if part_of_it and not trained.is_idle(path, part, fact.row, among=trained.has):
                    yield Located(path, fact)
            kinds = (what, FROZEN) if is_model(what) else (what,)
            yield from (each for each in named if kind == "layers" and each.fact.what in kinds)

    def _naming(self, path: str, name: str) -> Iterator[Located]:
        """Where a file names what a library has."""
        word = name.rpartition(".")[2]
        found = self._base.standing("layers", paths=(path,))
        for _, _, fact in self._base.given("layers", found):
            if fact.text.rpartition(".")[2] == word:
                yield Located(path, fact)

    def _of_all(self) -> Iterator[Located]:
        """What may differ of all that it runs, rather what visibly runs."""
        for anywhere in (False, True) if self._base.hides_names else (False,):
            for kind, what in self._kinds:
                for path, part, fact in self._base.one_by_one(kind, what, anywhere=anywhere):
                    among = self._may_take_part
                    idle = partial(self._trained.is_idle, path, part, fact.row, among=among)
                    if among(path, part) and not idle():
                        yield Located(path, fact)

    def _may_take_part(self, path: str, part: str) -> bool:
        """Whether a part may take part in the training for all that one sees: not what workers of
        a loader alone run."""
        return not self._closure.reach.is_in_workers(self._path, path, part)

    @cached_property
    def _trained(self) -> TrainedParts:
        facts = self._base.facts("trained")
        told = [(each.path, each.fact.what) for each in facts]
        return TrainedParts(self._closure, told, self._frozen)

    def _frozen(self) -> Iterator[tuple[str, str]]:
        """What it freezes in any case, and what gets gradients in some."""
        for each in self._base.facts("freezes"):
            if not each.fact.doubt or each.fact.what.startswith(THAWS):
                yield each.path, each.fact.what

    @cached_property
    def _kinds(self) -> list[tuple[str, str]]:
        repeat = self._has("enables", "cudnn") and not self._has("times", "cudnn")
        return list(ranked(convolutions=not repeat))

    def _has(self, kind: str, what: str) -> bool:
        return next(self._base.facts(kind, what), None) is not None

    def fed_by_number(self) -> Iterator[Located]:
        """Where a model of Keras is trained on what its ``fit`` shuffles by Python's generator."""
        keras = self._closure.imports(*OF_KERAS)  # it is long to follow what others fit
        for each in self._base.facts("fed") if keras else ():
            fed = TrainedParts(self._closure, [(each.path, each.fact.what)])
            names = chain(fed.named, *map(self._project.bases, fed.classes))
            if any(map(feeds_by_number, names)):
                yield each

    def hides_models(self) -> bool:
        """Whether a model that it trains, of which not even the name is seen, likely convolves: it
        uses a library for pictures, or neither makes layers nor uses what may bring others."""
        pictures = not CONVOLVING.isdisjoint(self._brought)
        return pictures or not (self._makes_layers or self._brought)

    @cached_property
    def _makes_layers(self) -> bool:
        return "makes_unseen" not in self._base.holders and self._has("builds", "torch")

    @cached_property
    def _brought(self) -> set[str]:
        """The libraries that its files use which may bring models. What a file only imports, it may
        try, or have registered."""
        found = set()
        for path in self._closure.paths:
            if self._index.holds(path, QUOTED):
                found.add("torchvision")
            stars = (x.module for x in self._index.imports(path) if "*" in x.names and not x.level)
            uses = self._index.outline(path).uses.values()
            used = chain(stars, (each for one in uses for each in one.origins))
            foreign = filter(partial(self._is_foreign, path), used)
            found.update(each.replace(":", ".").partition(".")[0] for each in foreign)
        return found

    def needs_no_cudnn(self) -> bool:
        """Whether it shows its models, and none of its files names what the switches of cuDNN are
        about, nor calls by names that the text hides."""
        return self._closure.known("needs no cuDNN", self._names_no_cudnn)

    def _names_no_cudnn(self) -> bool:
        # It shows its models if it makes layers, and imports nothing that may bring others.
        if self._base.hides_names or not (self._makes_layers and not self._brought):
            return False
        ask = partial(self._index.told, question="names cuDNN", answer=_names_cudnn)
        return not self._project.telling(self._closure.members, "names cuDNN", ask)

    @cached_property
    def hands_model_on(self) -> Located | None:
        """Where a model with layers is given to what trains, in a module that is not there."""
        for path, _, fact in self._base.standing("trainees"):
            trains, *given = fact.what.split()
            if not self._project.defined(path, trains) and any(
                self._is_model(path, each) for each in given
            ):
                return Located(path, fact)
        return None

    def _is_model(self, path: str, marked: str) -> bool:
        """Whether a class that a file names has layers of torch: one of the project, or else one
        with a mark."""
        name = marked.removesuffix(UNSEEN_NAMES)
        found = self._project.defined(path, name)
        return makes_layers(self._closure, found) if found else marked != name

    def _is_foreign(self, path: str, origin: str) -> bool:
        """Whether a part of a file names something of a library that may bring models, of which
        it is not known that they repeat."""
        name = origin.replace(":", ".")
        library = name.partition(".")[0]
        if not library or not brings(name) or self._project.holds(path, library):
            return False
        kind = kind_of([name])
        return not repeats(name) and (not kind or ("layers", kind) in self._kinds)


def _surest(found: Iterator[Located]) -> tuple[Located | None, tuple[Located, ...]]:
    """The first of some, and where that is made under a test, some others like it: those under none
    go before it."""
    chosen: list[Located] = []
    for each in found:
        if not chosen or _is_like(chosen[0].fact, each.fact):
            if each.fact.text not in (one.fact.text for one in chosen):
                chosen.append(each)
        else:
            break
        if not each.fact.needs or len(chosen) == _MOST:
            break
    ordered = sorted(chosen, key=lambda each: bool(each.fact.needs))
    return (ordered[0], tuple(ordered[1:])) if ordered else (None, ())


def _is_like(first: Fact, other: Fact) -> bool:
    return first.what == other.what or (is_model(first.what) and is_model(other.what))


def _names_cudnn(text: str) -> bool:
    return any(not layout_of(text).hides(x.start()) for x in OF_CUDNN.finditer(text))
