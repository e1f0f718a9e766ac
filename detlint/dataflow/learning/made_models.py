"""What becomes of a model that a call makes: trained, frozen, or only asked for answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.learning.inference import last_word, records_none
from detlint.models import attention as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op

_SAME = frozenset(("phi", "choice", "declared", "free", "global", "await"))
_MOST = 200  # operations on one model


class Fate(NamedTuple):
    """What is done with a model, and the names that it has.

    facts    "evaluated" (put in evaluation mode) · "frozen" (its parameters get no gradient) ·
             "asked" (for answers, where no gradients are recorded) · "reference" (a trainer takes
             it for its reference or teacher) · "trained" (or given to what may train it)
    handled  the words of all that is done with it
    """

    names: tuple[str, ...]
    facts: frozenset[str]
    handled: tuple[str, ...]


def fate_of(made: Op) -> Fate:
    """What becomes of what an operation makes, as far as its file shows."""
    return _Follower(made).fate()


class _Follower:
    def __init__(self, made: Op) -> None:
        self._models = [made]
        self._seen = {made}
        self._words: list[str] = []
        self._facts: set[str] = set()

    def fate(self) -> Fate:
        names: list[str] = []
        for model in self._models:  # grows
            if len(self._models) > _MOST:
                break
            found = [each.rpartition(".")[2] for each in model.function.names_of(model)]
            names += [each for each in found if each not in names]
            for read in self._reads(model, found):
                self._add(read)
            for use in model.uses:
                self._note(model, use)
        return Fate(tuple(names), frozenset(self._facts), tuple(self._words))

    def _add(self, op: Op) -> None:
        if op not in self._seen:
            self._seen.add(op)
            self._models.append(op)

    @staticmethod
    def _reads(model: Op, names: list[str]) -> Iterator[Op]:
        """Where functions read a name of the module that is bound to a model last."""
        module = model.function
        if module.name or module.outer is not None:
            return
        for name in names:
            if module.bindings.get(name, [None])[-1] is model:
                reads = module.unit.reads("global", name)
                yield from (read for read in reads if read.function is not module)

    def _note(self, model: Op, use: Op) -> None:
        if use.code in _SAME:
            self._add(use)
        elif use.code == "attr":
            self._note_member(use)
        elif use.code == "call":
            self._note_call(model, use)
        elif use.code in ("store_attr", "store_global", "change", "enter", "drop", "test"):
            return
        elif use.code not in ("return", "compare", "not", "unpack"):
            self._words.append("")

    def _note_member(self, member: Op) -> None:
        word = str(member.name)
        calls = member.calls
        if word == "module":  # of a wrapper
            self._add(member)
        if word in ("parameters", "named_parameters"):
            self._note_parameters(calls)
            return
        self._words.append(word)
        for call in calls:
            off = len(call.args) > 1 and call.args[1].constant is False
            if word == "eval" or (word == "train" and off):
                self._facts.add("evaluated")
            elif word == "requires_grad_" and off:
                self._facts.add("frozen")
            elif word in ("train", "requires_grad_", "zero_grad", "fit"):
                self._facts.add("trained")
            if word in rows.MOVES or word == "requires_grad_":
                self._add(call)

    def _note_parameters(self, calls: list[Op]) -> None:
        for use in (use for call in calls for use in call.uses):
            if use.code == "iter":
                words = list(_words_on(use))
                if any(word == "frozen" for word in words):
                    self._facts.add("frozen")
                elif not rows.LOOKS.isdisjoint(words):
                    continue
            elif use.code == "call" and last_word(use) in ("zip", "len", "list"):
                continue
            if use.code == "iter" and "frozen" in self._facts:
                continue
            self._facts.add("trained")
            self._words.append("")

    def _note_call(self, model: Op, call: Op) -> None:
        word = last_word(call)
        if call.args[0] is model:
            self._words.append("answers" if records_none(call) else "")
            if records_none(call):
                self._facts.add("asked")
            return
        given = next((name, at) for at, (name, x) in enumerate(call.arguments()) if x is model)
        name, place = given
        if name in rows.REFERENCE_KEYWORDS or (place == 1 and name is None and _pairs(call)):
            self._facts.add("reference")
        elif _trains(word, name, place):
            self._facts.add("trained")
        if word in rows.WRAPS or name == "model":
            self._add(call)
            for use in call.uses:
                if use.code == "unpack" and use.name[0] == 0:
                    self._add(use)
        self._words.append(word)


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
