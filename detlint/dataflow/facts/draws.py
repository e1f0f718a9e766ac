"""What draws from global generators, and what draws whenever data come by."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.required_arguments import Needs
from detlint.dataflow.calls import word_of
from detlint.dataflow.facts.found import FileFacts, Found
from detlint.dataflow.learning.trained import MODEL, Trained
from detlint.dataflow.randomness.idle_draws import is_unused
from detlint.dataflow.randomness.loaders import drawing, flag, may_be_positive
from detlint.dataflow.randomness.seeding import drawn_by_tensorflow, drawn_from
from detlint.dataflow.slices import closure
from detlint.models import loading
from detlint.models import training as trainers
from detlint.syntax.layout import says_in_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.arguments.need import Need
    from detlint.dataflow.ir import Function, Op


_FEW = 50  # operations between a transform and what it is given to
_FITS = trainers.FITS - {"train_on_batch"}
_GATHERING = frozenset(("choice", "declared", "free", "list", "phi", "tuple"))


class DrawFacts(FileFacts):
    """Answers for the functions of one file."""

    def of_draws(self, call: Op) -> str | None:
        """Calls that draw from a global generator, where something depends on that."""
        library = drawn_from(call) or drawn_by_tensorflow(call)
        if library == "tensorflow" and is_unused(call, alone=False):
            return None  # a node of a graph that nothing asks for never runs
        apart = library and self._unit.rng_states.is_seeded_apart(call, library)
        return None if apart else library or None

    def of_builds(self, call: Op) -> str | None:
        """Calls that draw weights."""
        return self._training.built(call) or None

    @staticmethod
    def orders(function: Function) -> Iterator[Found]:
        """Calls that draw an order, a choice or a split of data from torch's generator."""
        for op in function.coded("call"):
            found, shuffle = drawing(op), flag(op)
            if found is not None:
                yield Found(op, "torch", found[0].name)
            elif shuffle is not None and Needs.of_flag(shuffle):
                yield Found(op, "torch", f"{word_of(op)}(shuffle={shuffle.word})")

    def of_fed(self, call: Op) -> str | None:
        """Calls of Keras that train on what may shuffle its batches by Python's generator: of each,
        what names that which is fed, as ``trained_parts`` follows it."""
        if word_of(call) not in _FITS or self._training.library(call) != "keras":
            return None
        shuffle = call.given("shuffle")
        if shuffle is not None and self._values.constant(shuffle) is False:
            return None
        given = next(filter(None, (call.given(each, 0) for each in loading.FED)), None)
        return " ".join(sorted(Trained(self._unit).made_of(given, MODEL))) or None

    def perturbs(self, function: Function) -> Iterator[Found]:
        """Layers, functions and transforms that draw whenever data come by; UNSEEN of dropout of
        which one does not see how much it drops."""
        for call in function.coded("call"):
            called = self._training.called(call)
            name = next((x for x in called if trainers.DROPOUTS(x) or trainers.DROPS(x)), "")
            if name:
                yield from self._dropping(call, 0 if trainers.DROPOUTS(name) else 1)
                continue
            rows = trainers.TRANSFORMS.items()
            libraries = (x for name in called for x, has in rows if has(name))
            yield from (Found(call, each) for each in dict.fromkeys(libraries))
            if any(map(trainers.OF_TRAINING, called)):
                yield from self._transforming(call)
            if any(map(trainers.MASKING, called)) and self._is_set_to_train(call):
                yield Found(call, "numpy")

    def _is_set_to_train(self, made: Op) -> bool:
        """Whether a model that is loaded, and then only asked, is told to train, or is a part of
        one that may be."""
        calls = [x for use in made.uses if use.code == "attr" for x in use.calls]
        held = [made, *(each for each in calls if word_of(each) in ("cuda", "to"))]
        stores = (x for each in held for x in each.uses if x.code == "store_attr")
        parts = [str(each.name) for each in stores if each.args[0].is_self]
        names = [*parts, *(x for each in held for x in each.function.names_of(each))]
        says = partial(says_in_code, self._unit.text)
        asked = says([f"{each}.eval()" for each in parts])
        return says([f"{each}.train()" for each in names]) or (bool(parts) and not asked)

    def _transforming(self, call: Op) -> Iterator[Found]:
        """What makes transforms for training, if it is told to."""
        given = call.given(trainers.FOR_TRAINING, trainers.FOR_TRAINING_AT)
        needs = Needs.of_flag(given) if given is not None else []
        if needs or (given is not None and self._values.constant(given) is True):
            yield _needing(call, needs)

    def of_drops(self, call: Op) -> str | None:
        """Those that draw whether anything is trained or not: functions that drop something, and
        transforms that something is given to."""
        called = self._training.called(call)
        drops = any(map(trainers.DROPS, called)) and self._drops_always(call)
        transforms = any(map(trainers.TRANSFORMS["torch"], called)) and self._is_applied(call)
        return "torch" if drops or transforms else None

    def _is_applied(self, transform: Op) -> bool:
        """Whether a transform, or what it is a part of, is called or given to a data set, and no
        name says that it is for training."""
        held = list(closure([transform], self._transforms_with, _FEW))
        if any(trainers.says_training(x) for each in held for x in each.function.names_of(each)):
            return False
        return any(use.code == "call" and use not in held for each in held for use in each.uses)

    def _transforms_with(self, value: Op) -> Iterator[Op]:
        for use in value.uses:
            if use.code == "store_global":
                yield from self._unit.reads("global", str(use.name))
            elif use.code in _GATHERING or (use.code == "call" and self._makes_transform(use)):
                yield use

    def _makes_transform(self, call: Op) -> bool:
        return any(map(trainers.MAKES_TRANSFORM, self._training.called(call)))

    def _drops_always(self, call: Op) -> bool:
        share, training = call.given("p", 1), call.given("training", 2)
        drops = share is None or self._values.constant(share) not in (0, ...)
        return drops and (training is None or self._values.constant(training) is True)

    def _dropping(self, call: Op, place: int) -> Iterator[Found]:
        """Dropout, with what has to be passed so that it drops something."""
        given = call.given("p", place)
        share = 1.0 if given is None else self._values.constant(given)
        if share is ...:
            needs = Needs(call.function).of_share(given) if given is not None else None
            if needs is None:
                yield Found(call, trainers.UNSEEN)
            else:
                yield _needing(call, needs)
        elif isinstance(share, float) and share > 0:
            yield Found(call, "torch")

    @staticmethod
    def workers(function: Function) -> Iterator[Found]:
        """Loaders that may have workers, each with what has to be passed for that."""
        for op in function.coded("call"):
            given = op.given("num_workers") if word_of(op) == "DataLoader" else None
            if given is not None and may_be_positive(given):
                yield _needing(op, Needs.of_flag(given))


def _needing(call: Op, needs: Iterable[Need]) -> Found:
    """What is torch's, where calls or options give it what it needs."""
    return Found(call, "torch", need="\n".join(each.dump() for each in needs))
