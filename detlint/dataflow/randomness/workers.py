"""What the workers of a loader draw, of what torch does not seed in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.origins import owner_of
from detlint.models import loading
from detlint.models.randomness import DRAWS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Frame, Made, Origins

BUILDING = ("__init__", "__post_init__")
_CALLED = ("__call__", "forward", "transform")
_LONGEST_CHAIN = 12  # of calls from a sample's method to a draw
_MOST_RUNS = 400  # of functions, each for a call; beyond, what is left is not seen
_GUARD = "guard.generator"


class Draw(NamedTuple):
    """A place where a worker draws.

    op     the call
    maker  the qualified name of what made the generator, or of the library's object or function
    field  the attribute of the data set in which it keeps the generator, or ""
    """

    op: Op
    maker: str
    field: str = ""

    @property
    def kind(self) -> str:
        """Whose generator it is: "NumPy", "Python", "torch", "guard"; "" for a library's own."""
        return loading.GENERATORS.get(self.maker, "")

    @property
    def is_numpys(self) -> bool:
        """Whether it is from NumPy's global generator."""
        return not self.kind and loading.draws_from_numpy(self.maker)

    @property
    def is_global(self) -> bool:
        """Whether it is from the global generator of a library."""
        return self.is_numpys or loading.draws_globally(self.maker)


class Workers:
    """Follows what a worker calls. ``drawn``: libraries whose global generators count, too.

    ``is_blind``: a data set was not seen.
    """

    def __init__(self, origins: Origins, drawn: Collection[str] = ()) -> None:
        self._origins = origins
        self._drawn_from = drawn
        self._running: list[Function] = []
        self._met: set[tuple[object, ...]] = set()
        self._runs = 0
        self.is_blind = False

    def of_dataset(self, value: Op) -> Iterator[Draw]:
        """The draws of a data set, of those that it holds, and of what it is given to call."""
        for each in self._origins.of(value):
            if each is None:
                self.is_blind = True
            else:
                yield from self.of_object(each)

    def of_object(self, made: Made) -> Iterator[Draw]:
        """The same of one that is known by what made it."""
        methods = [self._origins.method(made, name) for name in loading.ENTRIES]
        running = [each for each in methods if each is not None]
        for each in running:
            yield from self._run(each, self._origins.frame(each, owner=made))
        if not running or made.place is None:
            named = (*made.names, *self._origins.foreign(made))
            self.is_blind |= not any(map(loading.draws_nothing, named))
            yield from self._given(made)

    def of_callable(self, value: Op, frame: Frame | None) -> Iterator[Draw]:
        """The draws of what a worker calls: a transform, ``collate_fn``."""
        for each in self._origins.of(value, frame):
            if each is not None:
                yield from self._called(each, value)

    def _called(self, made: Made, at: Op) -> Iterator[Draw]:
        if made.function is not None:
            frame = self._origins.frame(made.function, owner=owner_of(made))
            yield from self._run(made.function, frame)
        elif made.place is not None and made.called:
            for name in _CALLED:
                method = self._origins.method(made, name)
                if method is not None:
                    yield from self._run(method, self._origins.frame(method, owner=made))
                    break
        elif made.called:
            yield from self._of_library(made, at)

    def _of_library(self, made: Made, at: Op) -> Iterator[Draw]:
        """An object of a library, which may call all that it is given."""
        name = next(filter(loading.keeps_generator, made.names), None)
        if name is not None and self._is_held(made):
            yield Draw(at if at.code == "call" else made.op, name)
        elif name is None:
            yield from self._given(made)

    def _given(self, made: Made) -> Iterator[Draw]:
        if made.op.code != "call" or self._is_met("given", made):
            return
        for _, each in made.op.arguments():
            yield from self.of_callable(each, made.frame)

    # Functions

    def _run(self, function: Function, frame: Frame) -> Iterator[Draw]:
        owner = frame.owner
        if function in self._running or self._is_met(function, owner, frame.call):
            return  # it calls itself: what it draws is told already
        if len(self._running) > _LONGEST_CHAIN or self._runs >= _MOST_RUNS:
            self.is_blind = True
            return
        self._runs += 1
        self._running.append(function)
        for inner in function.everything():
            for op in inner.ops:
                if op.code == "call" and self._origins.may_run(op, frame):
                    yield from self._call(op, frame)
        self._running.pop()

    def _is_met(self, *key: object) -> bool:
        if key in self._met:
            return True
        self._met.add(key)
        return False

    def _call(self, op: Op, frame: Frame) -> Iterator[Draw]:
        names = op.called
        name = next(filter(self._is_global, names), None)
        if name is not None:
            yield Draw(op, name)
            return
        yield from self._passed(op, frame)
        function = op.args[0]
        if function.code == "attr" and not names:
            yield from self._method(op, function, frame)
        elif not any(map(loading.is_known, names)):
            yield from self._behind(op, function, frame)

    def _behind(self, op: Op, function: Op, frame: Frame) -> Iterator[Draw]:
        """What a call leads to: a function of the project, or an object that is called."""
        for each in self._origins.of(function, frame):
            if each is None:
                continue
            if each.function is not None:
                inner = self._origins.frame(each.function, op, frame, owner_of(each))
                yield from self._run(each.function, inner)
            elif each.called:
                yield from self._called(each, op)

    def _is_global(self, name: str) -> bool:
        return loading.draws_globally(name) or DRAWS.get(name) in self._drawn_from

    def _passed(self, op: Op, frame: Frame) -> Iterator[Draw]:
        """``torch.randperm(n, generator=self.rng)``."""
        for name, value in op.arguments():
            if name in loading.DRAWN_FROM:
                yield from self._drawn(op, value, frame)

    def _method(self, op: Op, function: Op, frame: Frame) -> Iterator[Draw]:
        base, name = function.args[0], str(function.name)
        if name not in loading.STATE_METHODS:
            yield from self._drawn(op, base, frame)
        yield from self._behind(op, function, frame)

    def _drawn(self, op: Op, value: Op, frame: Frame) -> Iterator[Draw]:
        """A draw from what may be a generator that the worker did not make."""
        makers = self._origins.of(value, frame)
        found = [each for each in makers if each is not None and each.called]
        for each in found:
            name = next((n for n in each.names if n in loading.GENERATORS), None)
            if name is None:
                name = next((n for n in each.names if loading.keeps_generator(n)), None)
            if name is None:
                continue
            if all(map(self._is_held, found)) and not self._is_renewed(value, frame):
                if name == _GUARD:
                    yield Draw(op, _unnamed(each) or name)
                else:
                    kept = name in loading.GENERATORS
                    yield Draw(op, name, self._field(value, frame) if kept else "")
            return

    def _is_held(self, made: Made) -> bool:
        """Whether something was made before the worker began."""
        running = set(self._running)
        if made.op.function.outermost in running:
            return False
        frame = made.frame
        while frame is not None:
            if frame.function in running:
                return False
            frame = frame.outer
        return True

    def _field(self, value: Op, frame: Frame) -> str:
        """The attribute of a data set that a value is read from."""
        if value.code != "attr" or frame.owner is None:
            return ""
        bases = self._origins.foreign(frame.owner)
        return str(value.name) if any(map(loading.is_dataset, bases)) else ""

    def _is_renewed(self, value: Op, frame: Frame) -> bool:
        """Whether anything but what builds the object gives the attribute another generator, or
        seeds it."""
        if value.code != "attr" or frame.owner is None:
            return False
        name = str(value.name)
        places = self._origins.lineage(frame.owner)
        around = dict.fromkeys((each.unit, "") for each in places)
        return any(
            not _builds(inner) and _renews(inner, name)
            for unit, owner in (*places, *around)
            for function in unit.methods_naming(owner, name)
            for inner in function.everything()
        )


def _unnamed(made: Made) -> str:
    """What ``guard.generator(0)`` is: of a seed, not of a name, so that guard does not reach it."""
    given = made.op.given("name_or_seed", 0)
    numbered = given is not None and isinstance(given.literal, int)
    return "torch.Generator" if numbered else ""


def _builds(function: Function) -> bool:
    """Whether a function builds objects of its class, as the class's own body does."""
    _, inside, word = function.outermost.name.rpartition(".")
    return word in BUILDING if inside else bool(function.class_name)


def _renews(function: Function, name: str) -> bool:
    if function.stores.get(name):
        return True
    for op in function.ops:
        if op.code == "store_attr" and op.name == "bit_generator" and _is_named(op.args[0], name):
            return True
        if op.code != "call":
            continue
        called = op.args[0]
        if (
            called.code == "attr"
            and called.name in loading.RESEEDING
            and _is_named(called.args[0], name)
        ):
            return True
        if called.name == "setattr" and any(each.name == name for each in op.args[1:]):
            return True
    return False


def _is_named(op: Op, name: str) -> bool:
    return op.code == "attr" and op.name == name
