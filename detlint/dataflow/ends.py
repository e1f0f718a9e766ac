"""What becomes of a value in the end: figures, messages and pauses, or what results are made of."""

from __future__ import annotations

import ast
from enum import Flag, auto
from typing import TYPE_CHECKING

from detlint.dataflow.calls import owner_word, owner_written, path_of, word_of
from detlint.dataflow.forwards import Forwards
from detlint.dataflow.slices import LEAVING, SAME, ahead, closure, states_before
from detlint.models import figures, names, randomness
from detlint.models.containers import HOLDING
from detlint.models.memory import TORCH
from detlint.models.model import words
from detlint.models.roles import TRAINING_STEPS
from detlint.syntax.layout import says_in_code

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Op, Region
    from detlint.dataflow.unit import Unit

_CONVERTING = frozenset(
    f"builtins.{each}" for each in words("abs chr float format hex int max min range round str")
)
# The same for all that is drawn, as `torch.rand(5).cuda().is_cuda` is.
_ASKING = frozenset(f"builtins.{each}" for each in words("hasattr isinstance len type"))
_RESEEDING = frozenset(("manual_seed", "seed"))  # with what differs each time, which DET103 tells
_GETTING = frozenset(("attr", "call", "declared", "free", "item", "iter", "unpack"))
STORES = ("store_attr", "store_item", "store_global")
_STREAMS = frozenset(("sys.stdout", "sys.stderr"))
_FOLDERS = frozenset(("makedirs", "mkdir"))
_FREEING = randomness.IDLE | {"gc.collect", "torch.cuda.empty_cache"}
_DEEPEST = 2  # functions that are called by each other, of which it is asked what they do
_SHARED = frozenset(("attr", "free", "global", "item", "param"))  # what holds a container
_OUTER = _SHARED | {"import"}
_MOST = 60  # what is made of one value


class End(Flag):
    """Where something that is made of a value goes.

    FIGURE   a picture that a person looks at
    MESSAGE  what is printed, logged or raised, a text, or the name of something
    PAUSE    how long something waits, or a colour
    TEST     whether something is as it was
    ELSE     anything else, also what is out of sight: results may depend on it
    """

    FIGURE = auto()
    MESSAGE = auto()
    PAUSE = auto()
    TEST = auto()
    ELSE = auto()


NOWHERE = End(0)


def ends_of(value: Op, *, picks: bool) -> End:
    """All that it goes to, of which ELSE comes alone. ``picks``: it is a number, or some of several
    things, which is shown for its own sake; what is made of a noise may be a result."""
    dropped = any(use.code == "drop" for use in value.uses)  # it is drawn in place
    return End.ELSE if dropped else _OfDraw(value, picks=picks).of(value)


def _is_kept(text: Op) -> bool:
    """Whether what is joined is no name, so that it may be a result: words with spaces between
    them, or lines that go into a file: ``file.write("".join(lines))``."""
    between = text.args[0].args[0].constant
    if isinstance(between, str) and between.isspace():
        return True
    calls = [x for each in ahead([text], SAME) for x in each.uses if x.code == "call"]
    return any(word_of(x) == "write" and not is_told(x) for x in calls)


def draws_figure(call: Op) -> bool:
    """``axes[0].imshow(image)``, ``visualize(image)``."""
    made = closure([call], _made_by, _MOST)
    if any(any(map(figures.draws, each.called)) for each in made if each.code == "call"):
        return True
    owner = path_of(call.args[0]).partition(".")[0] or owner_written(call)
    if owner in figures.OWNERS or word_of(call) in figures.SHOWS:
        return True
    return any(map(names.says_picture, (word_of(call), owner_word(call))))


def _made_by(op: Op) -> Sequence[Op]:
    """What an object is got from, on which a method is called: ``plt.subplots()[1].scatter``."""
    return op.args if op.code == "phi" else op.args[: op.code in _GETTING]


def decided(test: Op) -> Iterator[Op]:
    """The values that are one thing or another by a test."""
    for code in ("phi", "choice", "comprehension"):
        yield from (x for x in test.function.coded(code) if test.node in tested(x.node))


def tested(node: ast.AST) -> list[ast.expr]:
    """What decides which of several values there is after a statement or an expression."""
    if isinstance(node, (ast.If, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.Match):
        return [node.subject]
    return [test for each in getattr(node, "generators", ()) for test in each.ifs]


class Acts:
    """Whether code that runs or not by a test leaves anything but values, or leaves a loop or the
    function; not what only tells people something or raises an error."""

    def by(self, test: Op) -> bool:
        """The same of the code by a test."""
        after = test.function.ops[test.place :]
        sides = {side for op in after for side in op.region.around() if side.head is test}
        return any(self._leaves(op, sides) for op in after if any(map(op.within, sides)))

    def _leaves(self, op: Op, inside: Collection[Region], depth: int = 0) -> bool:
        """Whether an operation leaves anything outside of some regions; a call also by what its
        function does."""
        if op.code in ("leave", "return"):
            return _leaves(op, inside) and not depth
        if op.code == "store_global":
            return self.may_be_read(op) and not self.is_idle(op)
        if op.code in STORES:
            return not (is_made_in(op.args[0], inside) or self.is_idle(op))
        if op.code == "call":
            return not self.is_idle(op) and self._calls(op, inside, depth)
        return op.code in ("yield", "yield_from", "delete")

    def _calls(self, call: Op, inside: Collection[Region], depth: int) -> bool:
        if is_told(call) or _keeps_picture(call):
            return False
        callee = call.values.callee(call)
        if callee is not None and depth < _DEEPEST:
            return any(self._leaves(each, [callee.region], depth + 1) for each in callee.ops)
        dropped = any(use.code == "drop" for use in call.uses) and not _only_waits(call, inside)
        return dropped or names.is_network(word_of(call)) or self.may_do_more(call)

    def may_be_read(self, store: Op) -> bool:
        """Whether something reads a variable of the module: what nothing in its file reads may be
        for others, if nothing there takes the value either."""
        read = any(True for _ in store.function.unit.reads("global", str(store.name)))
        return read or not any(each.uses for each in store.args[-1].uses)

    def is_idle(self, op: Op) -> bool:
        """Whether a call or a store does not count."""
        return False

    def may_do_more(self, call: Op) -> bool:
        """Whether a function that is not seen may do more than to give what the call uses."""
        return False


def _leaves(op: Op, inside: Collection[Region]) -> bool:
    """Whether a function is left, or a loop around some regions that does more than to show
    things."""
    if op.code == "return" or op.name == "return":
        return True
    loop = op.loop
    return loop is not None and not any(map(loop.within, inside)) and not only_shows(loop)


def _only_waits(call: Op, inside: Collection[Region]) -> bool:
    """Whether a call waits, frees memory, makes a folder, or adds to what is gone afterwards."""
    if not _FREEING.isdisjoint(call.called) or word_of(call) in _FOLDERS:
        return True
    changed = [use.args[0] for use in call.uses if use.code == "change"]
    return bool(changed) and all(is_made_in(each, inside) for each in changed)


def is_made_in(value: Op, regions: Collection[Region]) -> bool:
    """Whether an object is made in some regions."""
    states = closure([value], states_before)
    return all(e.code not in _OUTER and any(map(e.within, regions)) for e in states)


def _keeps_picture(call: Op) -> bool:
    """``save_image(x, "a.png")``, which is for people to look at where something is trained."""
    if call.code != "call" or not names.keeps_picture(word_of(call)):
        return False
    return says_in_code(call.function.unit.text, TRAINING_STEPS)


def only_shows(loop: Region | None) -> bool:
    """Whether the rounds of a loop do no more than to show things."""
    ops = list(loop.ops()) if loop is not None else []
    shown = all(is_told(each.args[0]) for each in ops if each.code == "drop")
    kept = (use for each in ops for use in each.uses if loop and not use.within(loop))
    # What a loop of a script goes through is a variable of the module.
    leaves = any(each.code in LEAVING - {"store_global"} for each in ops)
    return shown and not leaves and not any(use.uses for use in kept)


def is_told(op: Op) -> bool:
    """Whether a call tells people something: it prints, logs or draws a figure."""
    return is_log(op) or (op.code == "call" and draws_figure(op))


def converts(call: Op) -> bool:
    """Whether a call gives what it is given in another form, or as another number."""
    return not _CONVERTING.isdisjoint(call.called) or any(map(figures.COMPUTES, call.called))


def is_log(op: Op) -> bool:
    """Whether a call prints or logs something, and not into a file of its own."""
    if op.code != "call":
        return False
    word, file = word_of(op), op.given("file")
    if file is not None and (word == "print" or "builtins.print" in op.called):
        return not _STREAMS.isdisjoint(op.values.qualified(file))
    return names.is_log(op.called, owner_word(op), word)


class Ends(Forwards):
    """Where all that is made of some values goes: ``end`` says whether a use is an end of the way.
    It ``escapes`` also where it decides something."""

    same = words(
        """attr binary boolean choice compare comprehension declared free item iter list phi slice
        tuple unary unpack"""
    )
    most = _MOST

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._found = NOWHERE

    def of(self, *values: Op) -> End:
        """All that these go to, of which ELSE comes alone."""
        return self._found if self.stays(*values) else End.ELSE

    def step(self, use: Op, value: Op) -> Iterable[Op]:
        end = self.end(use, value)
        self._found |= end
        return () if end else super().step(use, value)

    def end(self, use: Op, value: Op) -> End:
        """What a use is, unless it only makes something of a value."""
        raise NotImplementedError

    _to_store_attr = Forwards.escape

    def _to_change(self, state: Op, value: Op) -> Iterable[Op]:
        """The next state of a container, if nobody else holds that."""
        if state.code == "change" and value is not state.args[0]:
            return ()  # what the method gives
        made = [*closure([state], states_before, self.most)]
        shared = len(made) >= self.most or any(each.code in _SHARED for each in made)
        return self.escape() if shared else [state]

    _to_store_item = _to_change


class _OfDraw(Ends):
    """The same of what is drawn, or differs in each run by itself."""

    ends: Collection[str] = ("drop",)

    def __init__(self, start: Op, *, picks: bool) -> None:
        super().__init__(start.function.unit)
        self._picks = picks

    def end(self, use: Op, value: Op) -> End:
        if use.code != "call":  # `"run_%d" % draw`
            texts = [each.name for each in use.args if each.code in ("const", "text")]
            joins = use.code == "binary" and any(isinstance(each, str) for each in texts)
            asks = use.code == "attr" and not self._picks and use.name in TORCH.properties
            return End.MESSAGE if use.code == "format" or joins or asks else NOWHERE
        if draws_figure(use):
            return End.FIGURE
        called, word = use.called, word_of(use)
        if use.args[0] is value:
            return NOWHERE
        if not randomness.IDLE.isdisjoint(called) or word in _RESEEDING:
            return End.PAUSE
        told = is_log(use) if self._picks else not _ASKING.isdisjoint(called)
        joins = use.args[0].code == "attr" and word in ("format", "join")
        joins = joins and not (word == "join" and _is_kept(use))
        return End.MESSAGE if told or joins else NOWHERE

    def _to_test(self, use: Op, _: Op) -> Iterable[Op]:
        if use.name or Acts().by(use):  # a loop, or a part of another test
            return self.escape()
        self._found |= End.MESSAGE
        return decided(use)

    def _given(self, use: Op, value: Op) -> Iterable[Op]:
        states = [each for each in use.uses if each.code == "change"]
        if word_of(use) in HOLDING and use.args[0] is not value and states:
            return self._to_change(states[0], states[0].args[0])
        if use.is_dropped:  # it is called for what it does
            return self.escape()
        is_method = use.args[0] is value and value.code == "attr"  # `draw.item()`
        return [use] if self._picks or converts(use) or is_method else self.escape()
