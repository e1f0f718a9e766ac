"""What becomes of a model that a call makes: trained, frozen, or only asked for answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.forwards import Forwards
from detlint.dataflow.learning.inference import last_word, records_none
from detlint.dataflow.slices import SAME
from detlint.models import attention as rows
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Op


class Fate(Forwards):
    """What is done with a model that an operation makes, and the names that it has.

    facts    "evaluated" (put in evaluation mode) · "frozen" (its parameters get no gradient) ·
             "asked" (for answers, where no gradients are recorded) · "reference" (a trainer takes
             it for its reference or teacher) · "trained" (or given to what may train it)
    handled  the words of all that is done with it
    """

    ends = words("change compare drop enter not return store_attr store_global test unpack")
    same = SAME - {"enter"}
    most = 200

    def __init__(self, made: Op) -> None:
        super().__init__(made.function.unit)
        self.names: list[str] = []
        self.facts: set[str] = set()
        self.handled: list[str] = []
        for _ in self.followed(made):
            pass

    def after(self, value: Op) -> Iterator[Op]:
        names = [each.rpartition(".")[2] for each in value.function.names_of(value)]
        self.names += names
        module = self.unit.module
        for name in names if value.function is module else ():
            if module.bindings.get(name, [None])[-1] is value:
                reads = self.unit.reads("global", name)
                yield from (read for read in reads if read.function is not module)
        yield from super().after(value)

    def escape(self, *_: object) -> Iterable[Op]:
        self.handled.append("")
        return ()

    def _to_attr(self, member: Op, _: Op) -> Iterator[Op]:
        word, calls = str(member.name), member.calls
        if word == "module":  # of a wrapper
            yield member
        if word in ("parameters", "named_parameters"):
            self._note_parameters(calls)
            return
        self.handled.append(word)
        for call in calls:
            off = len(call.args) > 1 and call.args[1].constant is False
            if word == "eval" or (word == "train" and off):
                self.facts.add("evaluated")
            elif word == "requires_grad_" and off:
                self.facts.add("frozen")
            elif word in ("train", "requires_grad_", "zero_grad", "fit"):
                self.facts.add("trained")
            if word in rows.MOVES or word == "requires_grad_":
                yield call

    def _note_parameters(self, calls: list[Op]) -> None:
        for use in (use for call in calls for use in call.uses):
            if use.code == "iter":
                words = list(_words_on(use))
                if any(word == "frozen" for word in words):
                    self.facts.add("frozen")
                elif not rows.LOOKS.isdisjoint(words):
                    continue
            elif use.code == "call" and last_word(use) in ("zip", "len", "list"):
                continue
            if use.code == "iter" and "frozen" in self.facts:
                continue
            self.facts.add("trained")
            self.handled.append("")

    def _to_call(self, call: Op, value: Op) -> Iterator[Op]:
        word = last_word(call)
        if call.args[0] is value:
            self.handled.append("answers" if records_none(call) else "")
            if records_none(call):
                self.facts.add("asked")
            return
        given = next((name, at) for at, (name, x) in enumerate(call.arguments()) if x is value)
        name, place = given
        if name in rows.REFERENCE_KEYWORDS or (place == 1 and name is None and _pairs(call)):
            self.facts.add("reference")
        elif _trains(word, name, place):
            self.facts.add("trained")
        if word in rows.WRAPS or name == "model":
            yield call
            yield from (use for use in call.uses if use.code == "unpack" and use.name[0] == 0)
        self.handled.append(word)


def _trains(word: str, name: str | None, place: int) -> bool:
    """Whether a call trains the model that it is given, or makes it ready for that."""
    if "Trainer" in word:
        return name == "model" or (name is None and not place)
    return word in ("get_peft_model", "prepare_model_for_kbit_training")


def _words_on(element: Op) -> Iterator[str]:
    """What is done with each of some parameters; "frozen" where they get no gradient."""
    for use in element.uses:
        if use.code == "attr":
            yield str(use.name)
            for call in use.uses:
                if use.name == "requires_grad_" and call.code == "call" and call.args[1:]:
                    yield "frozen" if call.args[1].constant is False else ""
        elif use.code == "store_attr" and use.name == "requires_grad":
            yield "frozen" if use.args[1].constant is False else ""


def _pairs(call: Op) -> bool:
    """Whether a trainer takes a reference for its second argument, also one that derives from
    such."""
    word, unit = last_word(call), call.function.unit
    if rows.takes_reference(word):
        return True
    return word in unit.classes and any(map(rows.takes_reference, unit.bases(word)))
