"""The names of modules and parameters: their paths in the model that the program calls;
and objects known by their identity."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import defaultdict
from itertools import count, islice
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from guard.digests.tensors import unlike
from guard.digests.traits import attributes
from guard.observe.places import is_library, is_own, local, outward, variables
from guard.recording.events import source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType

    from torch.nn import Module

    from guard.digests.tensors import Form
    from guard.observe.places import Place
    from guard.recording.events import Row, Source

    Rank = tuple[int, int]  # of a parameter's model, and its own within
    Site = tuple[Source, Place | None]  # a module's output, and the line that called the module

# What only wraps a model: its own path is left out of the names below.
_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module",
    "OptimizedModule": "_orig_mod",
}
# How far from a variable things are looked for, how many at each distance, and of a container.
_DEPTH, _MOST, _ITEMS = 3, 1000, 64
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

    The number of what has gone is given again.

    by_variables  whether what is there together is numbered in the order in which the program's
                  text names the variables that lead to it, and not in that of the first calls: a
                  resumed run may make it, or call it first, in another one. Each time that one is
                  met, all are numbered anew: a variable may lead to another one by then
    """

    def __init__(self, *, by_variables: bool = False) -> None:
        self._by_variables = by_variables
        self.count = 0  # of models met, of parts that one has got since, of times they were renamed
        # modules that have been called, by their ids; what goes is taken away
        self.known: dict[int, Known] = {}
        self._paths: ByIdentity[str] = ByIdentity()
        # of what is numbered together: its place among all, and its class with its number; and the
        # numbers that are taken, by class
        self._labels: dict[str, ByIdentity[tuple[int, str]]] = defaultdict(ByIdentity)
        self._taken: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._first: Callable[[], Module | None] = lambda: None  # whose parts have plain paths
        self._prefixes: ByIdentity[str] = ByIdentity()  # of models that have been called
        self._parameters: ByIdentity[tuple[Rank, str]] = ByIdentity()
        self._places = count()

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
        bound = self._number_like(model)
        self._enter(self._root(model, bound))

    def _enter(self, model: Module) -> None:
        first = self._first()
        is_met = first is None or self._prefixes.get(first) is not None
        if first is not None and not is_met and _learns(model) and _holds(first, model):
            self._first = weakref.ref(model)  # it is called without what holds it
        self._number(model)
        prefix = "" if self._first() is model else f"{self._label(model)}:"
        self._prefixes.set(model, prefix)
        self._name(model, prefix)

    def _root(self, model: Module, bound: list[Any]) -> Module:
        """What holds a part that is called by itself: as a whole, or where no variable has it."""
        if not _learns(model):
            return model
        is_bound = not self._by_variables or any(each is model for each in bound)
        models: list[Module] = [each for each, _ in self._labels[""].pairs()]
        for each in models:
            paths = (path for path, part in each.named_modules() if part is model and path)
            if any(not is_bound or not unwrapped_path(each, path) for path in paths):
                return each
        return model

    def _name(self, model: Module, prefix: str) -> None:
        for path, each in model.named_modules():
            if self._paths.get(each) is None:
                plain = unwrapped_path(model, path)
                itself = self._label(model) if each is model else type(each).__name__
                self._paths.set(each, prefix + plain if plain else itself)
        self._name_parameters(model, prefix)
        self.count += 1

    def label(self, thing: Any) -> str:  # noqa: ANN401 - an optimizer or a data set
        """The name of its class, and a number from the second on."""
        if not self._place(thing) and type(thing).__weakrefoffset__:  # a list has none
            self._number_like(thing)
            self._number(thing)
        return self._label(thing)

    def _label(self, thing: Any) -> str:  # noqa: ANN401 - or a module
        found = self._place(thing)
        return found[1] if found else type(thing).__name__

    def _place(self, thing: Any) -> tuple[int, str] | None:  # noqa: ANN401
        return self._labels[_group(thing)].get(thing)

    def _number_like(self, thing: Any) -> list[Any]:  # noqa: ANN401 - as above
        """Number anew all that is numbered together with one: what variables lead to, but for its
        parts, then the others that were numbered before. What variables lead to, where asked."""
        if not self._by_variables or (_is_module(thing) and not _learns(thing)):
            return []
        bound, group = list(_bound()), _group(thing)
        alike = [e for e in bound if _group(e) == group and type(e).__weakrefoffset__]
        parts = {id(e) for each in alike if _is_module(each) for e in list(each.modules())[1:]}
        before, first = list(self._labels[group].pairs()), self._first
        known = {id(each) for each, _ in before}
        self._labels.pop(group, None)
        self._taken.pop(group, None)
        for each in (*alike, *(each for each, _ in before)):
            is_part = id(each) in parts or self._paths.get(each) is not None
            if id(each) in known or not is_part:
                self._number(each)
        if any(self._label(each) != label for each, (_, label) in before):
            models = [model for model, _ in self.models()]
            self.known.clear()
            self._paths, self._prefixes, self._parameters = ByIdentity(), ByIdentity(), ByIdentity()
            self.count += 1
            for model in models:  # those that have been called, by the numbers that they have now
                self._enter(model)
        elif first() is not None:
            self._first = first
        return bound

    def _number(self, thing: Any) -> None:  # noqa: ANN401 - as above
        if self._place(thing):
            return
        label = type(thing).__name__
        is_model = _is_module(thing)
        if not is_model or _learns(thing):
            number = self._take(label, thing)
            if is_model and self._take("", thing) == 1:
                self._first = weakref.ref(thing)
            label += f"#{number}" if number > 1 else ""
        self._labels[_group(thing)].set(thing, (next(self._places), label))

    def _take(self, kind: str, thing: Any) -> int:  # noqa: ANN401 - as above
        """The first number that nothing has which is there; nor what was in a circle of references,
        or let go by another thread, as that is at another time in each run."""
        taken, thread = self._taken[_group(thing)][kind], threading.get_ident()
        number = next(each for each in count(1) if each not in taken)

        def free() -> None:
            if not Collection.runs and threading.get_ident() == thread:
                taken.discard(number)

        if not self._by_variables:
            weakref.finalize(thing, free).atexit = False
        taken.add(number)
        return number

    def _name_parameters(self, model: Module, prefix: str) -> None:
        first, _ = self._place(model) or (0, "")
        for path, each in model.named_parameters():
            if self._parameters.get(each) is None:
                name = prefix + unwrapped_path(model, path)
                self._parameters.set(each, ((first, next(self._places)), name))

    def refresh(self) -> None:
        """Name the parameters that models have got since they were called first."""
        for model, prefix in self.models():
            self._name_parameters(model, prefix)

    def of_parameter(self, tensor: Any) -> tuple[Rank, str] | None:  # noqa: ANN401 - a tensor
        """Its place in the order of models, and its name; None outside the models that ran."""
        return self._parameters.get(tensor)

    def models(self) -> Iterator[tuple[Module, str]]:
        """The models that have been called and are still there, with the prefixes of their names,
        in the order of their numbers."""
        for model, _ in self._labels[""].pairs():
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


def _group(thing: object) -> str:
    """Of what is numbered together: its class; all modules are, by which the first is found."""
    return "" if _is_module(thing) else type(thing).__name__


def _bound() -> Iterator[Any]:
    """What the variables of the program's own frames lead to: those of the outermost first, and
    of each in the order in which its text names them."""
    frames = [each for each in outward(sys._getframe(1)) if is_own(each.f_code.co_filename)]  # noqa: SLF001
    seen: set[int] = set()
    for frame in reversed(frames):
        code, held = frame.f_code, variables(frame)
        names = code.co_varnames + code.co_cellvars + code.co_freevars + code.co_names
        values = [held[name] for name in names if name in held]
        # The variable of a loop over models is another one's at another time: these come first.
        values[:0] = [part for each in values if _is_of_models(each) for part in _held(each)]
        for _ in range(_DEPTH):
            values = [each for each in values if id(each) not in seen][:_MOST]
            seen.update(map(id, values))
            yield from values
            values = [part for each in values for part in _held(each)]


def _is_of_models(value: Any) -> bool:  # noqa: ANN401
    is_container = type(value) in (list, tuple, dict) and len(value) > 0
    return is_container and all(map(_is_module, _held(value)))


def _held(value: Any) -> Iterable[Any]:  # noqa: ANN401
    """What a container, or an object of the program's, holds."""
    if type(value) in (list, tuple):
        return islice(value, _ITEMS)
    if type(value) is dict:
        return list(value.values())[:_ITEMS]
    is_code = isinstance(value, (type, ModuleType, FunctionType)) or _is_module(value)
    return () if is_code else list((attributes(value) or {}).values())


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
