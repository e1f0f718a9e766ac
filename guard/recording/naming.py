"""The names of modules and parameters: their paths in the model that the program calls;
and objects known by their identity."""

from __future__ import annotations

import gc
import sys
import weakref
from collections import defaultdict
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from guard.digests.tensors import unlike
from guard.observe.places import is_library, local, outward
from guard.recording.events import source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    from torch.nn import Module

    from guard.digests.tensors import Form
    from guard.observe.places import Place
    from guard.recording.events import Row, Source

    Site = tuple[Source, Place | None]  # a module's output, and the line that called the module

# What only wraps a model: its own path is left out of the names below.
_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
}
_SEQUENTIAL = "torch.nn.modules.container.Sequential"
Value = TypeVar("Value")


class Known:
    """What is known of a module that has been called."""

    __slots__ = (
        *("around", "code", "entered", "form", "instruction", "is_like", "is_of_library"),
        *("learns", "name", "output", "passes", "reference", "row", "within"),
    )

    def __init__(self, name: str, module: Module, reference: weakref.ref[Module]) -> None:
        self.name = name
        self.output = source("output", name)
        self.entered = source("batch", f"{name} input")
        self.learns = _learns(module)  # whether it has parameters
        kind = type(module)
        # whether it gives what the last of its parts gave, as it is
        self.passes = f"{kind.__module__}.{kind.__qualname__}" == _SEQUENTIAL
        code = getattr(module.forward, "__code__", None)
        self.is_of_library = code is not None and is_library(code.co_filename)
        self.reference = reference
        # of what it gave the last time
        self.form: Any = None  # a Form
        self.is_like: Callable[[Any], bool] = unlike  # whether what it gives can be read as that
        self.row: Row = (self.output, "", None, "forward", ())  # that its event had then
        self.within: Site = (self.output, None)  # what it calls is called within this
        # Where it was called the last time: within what, and by which instruction of some code;
        # None where a library's forward calls it
        self.around: Site | None = None
        self.code: CodeType | None = None
        self.instruction = -1

    def meet(self, form: Form) -> bool:
        """It has given a tensor of a form; whether that is another one than the last time."""
        if form is self.form:
            return False
        self.form, self.is_like = form, unlike
        return True


class Names:
    """Names for modules by the first model that holds them, and for parameters likewise.

    The modules of the first model with parameters have their plain paths, "encoder.0"; those of
    others begin with the name of theirs, "Discriminator:main.0". A model itself has the name of
    its class, and a number from the second on.

    What is there together is numbered in the order in which it was made: a resumed run may call it
    in another one. The number of what has gone is given again.
    """

    def __init__(self) -> None:
        self.count = 0  # of models met, and of parts that one has got since
        # modules that have been called, by their ids; what goes is taken away
        self.known: dict[int, Known] = {}
        self._paths: ByIdentity[str] = ByIdentity()
        # what was made and has no number yet, and whether it was read from a file
        self._made: ByIdentity[bool] = ByIdentity()
        # of what has one: its place among all of these, and its class with its number
        self._labels: ByIdentity[tuple[int, str]] = ByIdentity()
        self._taken: dict[str, set[int]] = defaultdict(set)  # numbers, by class
        self._first: Callable[[], Module | None] = lambda: None  # whose parts have plain paths
        self._prefixes: ByIdentity[str] = ByIdentity()  # of models that have been called
        self._parameters: ByIdentity[tuple[int, str]] = ByIdentity()
        self._places = count()

    def made(self, thing: Any, *, is_read: bool = False) -> None:  # noqa: ANN401
        """A module, an optimizer or a loader of some data has been made now. What is read from a
        file comes after all of these: an earlier run has left it, and it is held beside them."""
        with suppress(TypeError):
            self._made.set(thing, is_read)

    def of(self, module: Module, *, outermost: bool) -> Known:
        """What is known of a module that is called; found out when it is called first."""
        found = self.known.get(id(module))
        if found is None:
            found = self._meet(module, outermost=outermost)
        return found

    def _meet(self, module: Module, *, outermost: bool) -> Known:
        name = self._paths.get(module)
        if name is None:
            self._add(module, outermost=outermost)
            name = self._paths.get(module) or type(module).__name__
        key, known = id(module), self.known
        reference = weakref.ref(module, lambda _: known.pop(key, None))
        found = known[key] = Known(name, module, reference)
        return found

    def _add(self, module: Module, *, outermost: bool) -> None:
        """Name a module and what is named with it: all of a model, or a part that one has got."""
        for model, prefix in self.models() if _learns(module) else ():
            if _holds(model, module):
                self._name(model, prefix)
                return
        self.add_model(_holder(module) if outermost else module)

    def add_model(self, model: Module) -> None:
        """Name all that a model holds."""
        self._number_made()
        model, first = self._wrapper(model), self._first()
        is_met = first is None or self._prefixes.get(first) is not None
        if first is not None and not is_met and _learns(model) and _holds(first, model):
            self._first = weakref.ref(model)  # it is called without what holds it
        label = self.label(model)
        prefix = "" if self._first() is model else f"{label}:"
        self._prefixes.set(model, prefix)
        self._name(model, prefix)

    def _wrapper(self, model: Module) -> Module:
        """What only wraps a model, as a whole, and is called in its place at other times."""
        for each, _ in self._labels.pairs() if _learns(model) else ():
            parts = each.named_modules() if _is_module(each) else ()
            paths = (path for path, part in parts if part is model)
            if any(not unwrapped_path(each, path) for path in paths):
                model = each
                break
        return model

    def _name(self, model: Module, prefix: str) -> None:
        for path, each in model.named_modules():
            if self._paths.get(each) is None:
                plain = unwrapped_path(model, path)
                itself = self.label(model) if each is model else type(each).__name__
                self._paths.set(each, prefix + plain if plain else itself)
        self._name_parameters(model, prefix)
        self.count += 1

    def label(self, thing: Any) -> str:  # noqa: ANN401 - as above
        """The name of its class, and a number from the second on."""
        found = self._labels.get(thing)
        if found is None:
            self._number_made()
            with suppress(TypeError):  # a list has no weak references
                self._number(thing)
            found = self._labels.get(thing)
        return found[1] if found else type(thing).__name__

    def _number_made(self) -> None:
        """Number what has been made since, but for what is part of something."""
        if not self.count:
            gc.collect()  # so that it does not depend on when it ran last what is there
        made = sorted(self._made.pairs(), key=lambda each: each[1])
        self._made = ByIdentity()
        modules = (each for each, _ in made if _is_module(each))
        parts = {id(part) for each in modules for part in each.children()}
        for each, _ in made:
            if id(each) not in parts and self._paths.get(each) is None:
                self._number(each)

    def _number(self, thing: Any) -> None:  # noqa: ANN401 - as above
        if self._labels.get(thing) is not None:
            return
        label = type(thing).__name__
        is_model = _is_module(thing)
        if not is_model or _learns(thing):
            number = self._take(label, thing)
            if is_model and self._take("", thing) == 1:
                self._first = weakref.ref(thing)
            label += f"#{number}" if number > 1 else ""
        self._labels.set(thing, (next(self._places), label))

    def _take(self, kind: str, thing: Any) -> int:  # noqa: ANN401 - as above
        """The first number that nothing has which is there; nor what was in a circle of references,
        as it is another time in each run at which that goes."""
        taken = self._taken[kind]
        number = next(each for each in count(1) if each not in taken)

        def free() -> None:
            if not Collection.runs:
                taken.discard(number)

        weakref.finalize(thing, free).atexit = False
        taken.add(number)
        return number

    def _name_parameters(self, model: Module, prefix: str) -> None:
        first, _ = self._labels.get(model) or (0, "")
        for path, each in model.named_parameters():
            if self._parameters.get(each) is None:
                name = prefix + unwrapped_path(model, path)
                self._parameters.set(each, ((first << 32) + next(self._places), name))

    def refresh(self) -> None:
        """Name the parameters that models have got since they were called first."""
        for model, prefix in self.models():
            self._name_parameters(model, prefix)

    def of_parameter(self, tensor: Any) -> tuple[int, str] | None:  # noqa: ANN401 - a tensor
        """Its place in the order of models, and its name; None outside the models that ran."""
        return self._parameters.get(tensor)

    def models(self) -> Iterator[tuple[Module, str]]:
        """The models that have been called and are still there, with the prefixes of their names,
        in the order in which they were made."""
        for model, _ in self._labels.pairs():
            prefix = self._prefixes.get(model)
            if prefix is not None:
                yield model, prefix


def unwrapped_path(model: Module, path: str) -> str:
    """A path in a model without the parts that only wrap it."""
    parts = path.split(".") if path else []
    kept: list[str] = []
    current: Any = model
    for part in parts:
        if _WRAPPERS.get(type(current).__name__) != part:
            kept.append(part)
        current = getattr(current, part, None)
    return ".".join(kept)


def _holder(module: Module) -> Module:
    """The module whose method calls a part of itself, as Lightning's ``training_step`` does."""
    import torch

    found = module
    for frame in outward(sys._getframe(3)):  # noqa: SLF001 - the documented way to a frame
        owner = local(frame, "self")
        if isinstance(owner, torch.nn.Module) and any(each is module for each in owner.modules()):
            found = owner
    return found


def _learns(module: Module) -> bool:
    return next(module.parameters(), None) is not None


def _holds(model: Module, part: Module) -> bool:
    return any(each is part for each in model.modules())


def _is_module(thing: object) -> bool:
    return hasattr(type(thing), "named_modules")


class Collection:
    """Whether the garbage collector runs now."""

    runs = False

    @classmethod
    def turn(cls, phase: str, _: object) -> None:
        """As ``gc.callbacks`` are called."""
        cls.runs = phase == "start"


class ByIdentity(Generic[Value]):
    """Like a WeakKeyDictionary, for objects that compare and hash as they like."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def get(self, owner: Any) -> Value | None:  # noqa: ANN401
        """What is kept for an object."""
        found = self._held.get(id(owner))
        return None if found is None else found[1]

    def set(self, owner: Any, value: Value) -> None:  # noqa: ANN401
        """Keep something for an object."""
        key, held = id(owner), self._held
        found = held.get(key)
        reference = found[0] if found else weakref.ref(owner, lambda _: held.pop(key, None))
        held[key] = (reference, value)

    def pairs(self) -> Iterator[tuple[Any, Value]]:
        """The objects that are still there, the first that was kept first."""
        for reference, value in list(self._held.values()):
            owner = reference()
            if owner is not None:
                yield owner, value

    def values(self) -> list[Value]:
        """What is kept for them."""
        return [value for _, value in self._held.values()]
