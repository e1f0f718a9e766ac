"""What a resumed run did not get back: objects whose state is not the same, and their lines.

The program's text says where each is made and changed, and whether anything reads it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.def_use import Variable
from guard.diff import Cause, Suspect
from guard.diff.names import listed
from guard.digests.values import OPAQUE
from guard.trace.statements import UNSAVED_BUFFER, held_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from guard.diff import Difference
    from guard.trace.statements import Held, Snapshots
    from guard.verification.texts import Text


LOST = "its state did not come back"
_TOLD = 8  # names
_HOOKS = ".hooks"
_BESIDE = (
    "{} agree, so that it is computed with something else that the program keeps, which the "
    "resumed run did not get back."
)
_AGREED = {"loss": "The outputs", "output": "The inputs of the model"}  # for sure
_WHOLE = " Not the same when it resumed: {}."
_SAVE = "Save it with the checkpoint, and load it before the first step: "
_SAVE_ALL = "Save all of it with the checkpoint, and load it before the first step: "
_AGAIN = "Set {} again before the first step: no state_dict() holds it."
_HOOKED = "Call register_hook() of `{}` again before the first step: no state_dict() holds hooks."
# Roles of what explains that an event differs, by its kind, or by the kind that was lost.
_FITTING = {
    "hyperparameter": {"scheduler", "scaler"},
    "optimizer": {"optimizer"},
    "batch": {"data", "generator"},
    "generator": {"generator"},
    "output": {"module", UNSAVED_BUFFER},
    "buffer": {"module", UNSAVED_BUFFER},
    "requires_grad": {"module"},
    "loss": {"module", UNSAVED_BUFFER, ""},
    "gradient": {"module", UNSAVED_BUFFER, ""},
}
_WITHIN = (
    "No checkpoint holds what the generator `{}` keeps in variables: {}. After loading, draw from "
    "it as often as before; or write a class that keeps all of it in attributes, and save and load "
    "these."
)
_ENCLOSED = (
    "No checkpoint reaches the variable `{}` of the function around `{}()`. Keep it where the "
    "checkpoint is written, or write a class with __call__ that keeps it in an attribute; and save "
    "and load that."
)
_STATES = {
    "torch.Generator": ("{}.get_state()", "{}.set_state({})"),
    "numpy.Generator": ("{}.bit_generator.state", "{}.bit_generator.state = {}"),
    "numpy.RandomState": ("{}.get_state()", "{}.set_state({})"),
    "random.Random": ("{}.getstate()", "{}.setstate({})"),
}
_OF_OBJECTS = ("{}.state_dict()", "{}.load_state_dict({})")
_PERSISTENT = (
    "Register the buffer {} without persistent=False: with that, no state_dict() holds it."
)
_OF_VALUES = ("{}", "{} = {}")


class Loss(NamedTuple):
    """Something that was lost, as a line that is to blame.

    fits     whether it explains the difference, as what it is
    is_read  whether anything of the program's reads it, but for what it prints or logs
    """

    suspect: Suspect
    advice: str
    fits: bool
    is_read: bool

    @property
    def counts(self) -> bool:
        """Whether it is to blame rather than beside the point."""
        return self.fits and self.is_read


def losses(
    traces: Sequence[str],
    text: Text,
    difference: Difference,
    things: Collection[Thing] | None = None,
) -> tuple[Loss, ...]:
    """All that was lost, what fits the difference first, as far as the runs told what they held.

    traces  of the whole run, of the resumed one, and of another one up to the same step, if any
    things  of which alone it is asked; None for all
    """
    first, second, *more = map(held_in, traces)
    if not first or not second:
        return ()
    again = next(iter(more), None)
    found = lost(first, second, again)
    if things is not None:
        found = [each for each in found if thing_of(each.like) in things]
    fitting = _fitting(found, difference)
    told = [_told(each, text, found, fits=each.like.role in fitting) for each in found]
    pairs = sorted(
        zip(told, found, strict=True),
        key=lambda each: (not each[0].fits, not each[0].is_read, not each[1].is_anew),
    )
    return tuple(loss for loss, _ in pairs)


def forgotten(traces: Sequence[str], text: Text) -> list[Loss]:
    """What was lost although all steps agree, and decides something beside them: which model counts
    as the best so far, what is written in the end. Only what has begun anew, and is read.

    traces  as for ``losses``
    """
    first, second, *more = map(held_in, traces)
    again = next(iter(more), None)
    found = lost(first, second, again) if first and second else []
    own = [each for each in found if each.is_anew and not each.like.role]
    told = (_told(each, text, own, fits=True) for each in own)
    return [each for each in told if each.is_read]


def _fitting(found: Sequence[Lost], difference: Difference) -> set[str]:
    """Roles of what explains a difference; any where none is of these, but for a generator."""
    event = difference.first or difference.second
    kinds = (*difference.lost, event.kind if event else "")
    fitting = set[str]().union(*(_FITTING.get(each, ()) for each in kinds))
    roles = {each.like.role for each in found}
    return fitting if roles & fitting or "generator" in difference.lost else roles


def _told(thing: Lost, text: Text, found: Sequence[Lost], *, fits: bool) -> Loss:
    like, below = thing.like, thing.parts[0].below
    variable, asked = Variable(like.name, like.owner, like.file, like.is_field), text.def_use
    made, changed = asked.made_and_changed(variable)
    line, more = changed or made, ""
    if like.kind:  # an object: its own class changes it
        line = asked.set_at(below.rpartition(".")[2]) or made or changed
    if changed and made and line == changed:
        more = f"; it changes here, and line {made[1]} begins it anew"
    elif line and line == made:
        more = "; it is made here"
    file, number = line or (like.file, 1)
    suspect = Suspect("", thing.words + more, file, number, LOST)
    return Loss(suspect, _advice(thing, text, found), fits=fits, is_read=asked.is_read(variable))


def _advice(thing: Lost, text: Text, found: Sequence[Lost]) -> str:
    """With what to write, where the state can be handed over; beside all that was lost."""
    like, below = thing.like, thing.parts[0].below
    if like.role == "module" and like.kind:
        if below.endswith(_HOOKS):
            return _HOOKED.format(f"{like.path}{below}".removesuffix(_HOOKS))
        if below.endswith((".requires_grad", ".training")):
            return _AGAIN.format(f"`{like.path}{below}`")
    if like.role == UNSAVED_BUFFER:  # of a library's module it is not registered in the program
        return (_AGAIN if below else _PERSISTENT).format(f"`{like.path}{below}`")
    if not like.path:
        beside = (each.like for each in found if not each.like.path)
        own = [each for each in beside if (each.owner, each.file) == (like.owner, like.file)]
        return _WITHIN.format(f"{like.owner}()", listed([f"`{each.name}`" for each in own]))
    if text.def_use.is_enclosed(Variable(like.name, like.owner, like.file, like.is_field)):
        return _ENCLOSED.format(like.name, like.owner)
    kept = [each.like for each in found if _is_kept_beside(each.like, like)]
    pairs = list(dict.fromkeys(map(_handed_over, [like, *kept[:_TOLD]])))
    return f"{_SAVE if len(pairs) == 1 else _SAVE_ALL}{'; '.join(pairs)}."


def _is_kept_beside(other: Held, like: Held) -> bool:
    """Whether another value is lost with one, as the same object keeps it."""
    held = {each.path.rpartition(".")[0] for each in (other, like)}
    is_same = len(held) == 1 and (other.owner, other.file) == (like.owner, like.file)
    return is_same and like.is_field and other.role == like.role


def _handed_over(like: Held) -> str:
    """How a value gets into a checkpoint, and back."""
    save, load = _OF_OBJECTS if like.saved_in else _STATES.get(like.kind, _OF_VALUES)
    path = like.saved_in or like.path
    item = f'checkpoint["{like.name if path == like.path else "model"}"]'
    return f"`{item} = {save.format(path)}` and `{load.format(path, item)}`"


def with_losses(difference: Difference, found: Sequence[Loss]) -> Difference:
    """A difference that what was lost explains; or of which a kernel was thought.

    Before the interruption the program has agreed with itself, so that a kernel is unlikely.
    """
    read = [each for each in found if each.is_read]  # what fits comes first
    if not any(each.counts for each in read) or difference.cause not in (Cause.KERNEL, Cause.STATE):
        return difference
    why = difference.why
    if difference.cause is Cause.KERNEL:
        event = difference.first or difference.second
        agreed = _AGREED.get(event.kind if event else "", "The inputs, the parameters and the loss")
        why = f"{why.partition('. ')[0].removesuffix('.')}. {_BESIDE.format(agreed)}"
    names = [*dict.fromkeys(each.suspect.message.partition(";")[0] for each in read)]
    more = [f"{len(names) - _TOLD} more"] if len(names) > _TOLD else []
    why += _WHOLE.format(listed([*names[:_TOLD], *more]))
    return replace(difference, cause=Cause.STATE, why=why, advice=read[0].advice)


_SHOWN = 2  # parts of an object that are told


class Part(NamedTuple):
    """A value that is not as it was.

    below  where in the object it is: ".last_epoch"; "" for the value itself
    was, found  as texts; "" for what is no number or short text, and where there is nothing
    """

    below: str
    was: str
    found: str


class Lost(NamedTuple):
    """Something of the program's of which a resumed run did not get the state back.

    like        a value of it: what it is, and where
    parts       values that are not as they were
    is_anew     whether all of these are as at the beginning of the program, or not there
    """

    like: Held
    parts: tuple[Part, ...]
    is_anew: bool

    @property
    def name(self) -> str:
        """For a person: "Engine.scheduler"."""
        return f"{self.like.owner}.{self.like.name}" if self.like.is_field else self.like.name

    @property
    def words(self) -> str:
        """What it had, and what it has in the resumed run."""
        start = f"{self.name} ({self.like.kind})" if self.like.kind else ""
        told = [each for each in self.parts if each.was and each.found]
        shown = (told or self.parts)[:_SHOWN]
        names = [each.below.lstrip(".") if start else self.name + each.below for each in shown]
        if told:
            pairs = zip(names, shown, strict=True)
            names = [f"{name} was {each.was} and is {each.found}".strip() for name, each in pairs]
        if more := len(self.parts) - len(shown):
            names.append(f"{more} more")
        start += ": " if start and shown[0].below else " " if start else ""
        does = "in the resumed run" if told else "did not come back"
        return f"{start}{listed(names)} {does}".replace("  ", " ")


def lost(whole: Snapshots, resumed: Snapshots, again: Snapshots | None) -> list[Lost]:
    """Things whose state moved up to a step of one run, and is not what a resumed one has there; of
    objects of a known role, what did not move as well.

    What moves by itself is none: it is told by another run up to that step. Nor is a generator that
    had its state again before the first step drew from it.

    again  of another run up to that step, or None
    """
    first, now = _by_place(whole.first), _by_place(resumed.later)
    saved = _by_place(whole.saved)
    loaded = {(*_named(each), each.digest) for each in resumed.loaded}
    other = None if again is None else _by_place(again.later)
    known = {key[:3] for key in now}
    groups: dict[tuple[str, ...], list[tuple[Held, Held | None]]] = {}
    for key, each in _by_place(whole.later).items():
        found, before = now.get(key), first.get(key)
        moved = before is None or before.digest != each.digest
        steady = other is None or (key in other and other[key].digest == each.digest)
        differs = found.digest != each.digest if found else key[:3] in known
        came_back = key in saved and (*key[:4], saved[key].digest) in loaded
        counts = each.digest and not each.digest & OPAQUE and not came_back
        if (moved or each.role) and steady and differs and counts:
            groups.setdefault(key[:3], []).append((each, found))
    return [_lost(pairs, first) for pairs in groups.values()]


def left_apart(whole: str, resumed: str) -> dict[Thing, Held]:
    """Things of which a tensor or an array is not the same at the end of two runs, and the first of
    these each; the nearest first.

    Not of another shape: what is cached grows with what was seen. A single number with which
    nothing trains is a count, or a metric.

    whole, resumed  their traces
    """
    first, second = held_in(whole), held_in(resumed)
    if not first or not second:
        return {}
    now = _by_place(second.last)
    found: dict[Thing, Held] = {}
    for key, each in _by_place(first.last).items():
        other = now.get(key)
        is_alike = other is not None and each.shape == other.shape and prod(each.shape or [1]) > 1
        if is_alike and other and 0 != each.digest != other.digest != 0:
            found.setdefault(thing_of(each), each)
    return found


def thing_of(held: Held) -> Thing:
    """What a value is a part of: a variable, or an attribute of the program's own."""
    return held.file, held.owner, held.name


Thing = tuple[str, str, str]
_Key = tuple[str, str, str, str, int]


def _by_place(found: Iterable[Held]) -> dict[_Key, Held]:
    """By what has it; of several objects of a class, by their number."""
    return dict(_numbered(found))


def _numbered(found: Iterable[Held]) -> Iterator[tuple[_Key, Held]]:
    counted = Counter[tuple[str, ...]]()
    for each in found:
        key = _named(each)
        yield (*key, counted[key]), each
        counted[key] += 1


def _named(held: Held) -> tuple[str, str, str, str]:
    return held.file, held.owner, held.name, held.below


def _lost(pairs: list[tuple[Held, Held | None]], first: dict[_Key, Held]) -> Lost:
    parts = tuple(Part(each.below, each.text, found.text if found else "") for each, found in pairs)
    begun = {(key[:4], each.digest) for key, each in first.items()}
    anew = (found is None or (_named(each), found.digest) in begun for each, found in pairs)
    return Lost(pairs[0][0], parts, all(anew))
