"""What a resumed run did not get back: objects whose state is not the same, and their lines.

The program's text says where each is made and changed, and whether anything reads it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause, Suspect
from guard.diff.names import listed
from guard.diff.snapshots import lost
from guard.trace import statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.diff import Difference
    from guard.diff.snapshots import Lost
    from guard.verification.texts import Text

LOST = "its state did not come back"
_TOLD = 8  # names
_BESIDE = (
    "{} agree, so that it is computed with something that the program keeps beside the model and "
    "the optimizer, which the resumed run did not get back."
)
_WHOLE = " Not the same when it resumed: {}."
_SAVE = "Save it with the checkpoint, and load it before the first step: "
_AGAIN = "Set {} again before the first step: no state_dict() holds it."
# Roles of what explains that an event differs, by its kind, or by the kind that was lost.
_FITTING = {
    "hyperparameter": {"scheduler", "scaler"},
    "optimizer": {"optimizer"},
    "batch": {"data", "generator"},
    "generator": {"generator"},
    "output": {"module"},
    "buffer": {"module"},
    "requires_grad": {"module"},
    "loss": {"module", ""},
    "gradient": {"module", ""},
}
_SAVES_ITSELF = {"optimizer", "scheduler", "scaler", "module"}
_STATES = {
    "torch.Generator": ("{}.get_state()", "{}.set_state({})"),
    "numpy.Generator": ("{}.bit_generator.state", "{}.bit_generator.state = {}"),
    "numpy.RandomState": ("{}.get_state()", "{}.set_state({})"),
    "random.Random": ("{}.getstate()", "{}.setstate({})"),
}
_OF_OBJECTS = ("{}.state_dict()", "{}.load_state_dict({})")
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


def losses(traces: Sequence[str], text: Text, difference: Difference) -> tuple[Loss, ...]:
    """All that was lost, what fits the difference first, as far as the runs told what they held.

    traces  of the whole run, of the resumed one, and of another one up to the same step, if any
    """
    first, second, *more = map(statements.held_in, traces)
    if not first or not second:
        return ()
    again = next(iter(more), None)
    found = lost(first, second, again)
    fitting = _fitting(found, difference)
    told = [_told(each, text, fits=each.like.role in fitting) for each in found]
    pairs = sorted(
        zip(told, found, strict=True),
        key=lambda each: (not each[0].fits, not each[0].is_read, not each[1].is_anew),
    )
    return tuple(loss for loss, _ in pairs)


def _fitting(found: Sequence[Lost], difference: Difference) -> set[str]:
    """Roles of what explains a difference; any where none is of these, but for a generator."""
    event = difference.first or difference.second
    kinds = (*difference.lost, event.kind if event else "")
    fitting = set[str]().union(*(_FITTING.get(each, ()) for each in kinds))
    roles = {each.like.role for each in found}
    return fitting if roles & fitting or "generator" in difference.lost else roles


def _told(thing: Lost, text: Text, *, fits: bool) -> Loss:
    like, below = thing.like, thing.parts[0].below
    made, changed = text.stores(like)
    line, more = changed or made, ""
    if like.kind:  # an object: its own class changes it
        line = text.sets(below.rpartition(".")[2]) or made or changed
    if changed and made and line == changed:
        more = f"; it changes here, and line {made[1]} begins it anew"
    elif line and line == made:
        more = "; it is made here"
    file, number = line or (like.file, 1)
    suspect = Suspect("", thing.words + more, file, number, LOST)
    return Loss(suspect, _advice(thing), fits=fits, is_read=text.reads(like))


def _advice(thing: Lost) -> str:
    """With what to write, where the state can be handed over."""
    like, below = thing.like, thing.parts[0].below
    if like.role == "module" and like.kind and below.endswith((".requires_grad", ".training")):
        return _AGAIN.format(f"`{like.path}{below}`")
    save, load = _STATES.get(like.kind, _OF_VALUES)
    if like.kind and like.role in _SAVES_ITSELF:
        save, load = _OF_OBJECTS
    item = f'checkpoint["{like.name}"]'
    saved, loaded = save.format(like.path), load.format(like.path, item)
    return f"{_SAVE}`{item} = {saved}` and `{loaded}`."


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
        is_loss = event is not None and event.kind == "loss"
        agreed = "The outputs" if is_loss else "The inputs, the parameters and the loss"
        why = f"{why.partition('. ')[0]}. {_BESIDE.format(agreed)}"
    names = [each.suspect.message.partition(";")[0] for each in read[:_TOLD]]
    more = [f"{len(read) - _TOLD} more"] if len(read) > _TOLD else []
    why += _WHOLE.format(listed([*names, *more]))
    return replace(difference, cause=Cause.STATE, why=why, advice=read[0].advice)
