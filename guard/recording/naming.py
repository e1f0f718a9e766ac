"""The names of modules and parameters: their paths in the model that the program calls;
and objects known by their identity."""

from __future__ import annotations

import sys
import weakref
from collections import Counter
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
        self.learns = next(module.parameters(), None) is not None  # whether it has parameters
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
    its class.
    """

    def __init__(self) -> None:
        self.count = 0  # of models met
        # modules that have been called, by their ids; what goes is taken away
        self.known: dict[int, Known] = {}
        self._paths: ByIdentity[str] = ByIdentity()
        self._classes: Counter[str] = Counter()
        self._models: list[tuple[weakref.ref[Module], str]] = []
        self._has_first = False
        self._parameters: ByIdentity[tuple[int, str]] = ByIdentity()
        self._optimizers: ByIdentity[str] = ByIdentity()
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
            self.add_model(_holder(module) if outermost else module)
            name = self._paths.get(module) or type(module).__name__
        key, known = id(module), self.known
        reference = weakref.ref(module, lambda _: known.pop(key, None))
        found = known[key] = Known(name, module, reference)
        return found

    def add_model(self, model: Module) -> str:
        """Name all that a model holds; the prefix of the names."""
        label = self._numbered(type(model).__name__)
        learns = next(model.parameters(), None) is not None
        prefix = "" if learns and not self._has_first else f"{label}:"
        self._has_first = self._has_first or learns
        for path, each in model.named_modules():
            if self._paths.get(each) is None:
                plain = unwrapped_path(model, path)
                itself = label if each is model else type(each).__name__
                self._paths.set(each, prefix + plain if plain else itself)
        self._models.append((weakref.ref(model), prefix))
        self._name_parameters(model, prefix)
        self.count += 1
        return prefix

    def _numbered(self, kind: str) -> str:
        self._classes[kind] += 1
        return kind if self._classes[kind] == 1 else f"{kind}#{self._classes[kind]}"

    def _name_parameters(self, model: Module, prefix: str) -> None:
        for path, each in model.named_parameters():
            if self._parameters.get(each) is None:
                name = prefix + unwrapped_path(model, path)
                self._parameters.set(each, (next(self._places), name))

    def refresh(self) -> None:
        """Name the parameters that models have got since they were called first."""
        for model, prefix in self.models():
            self._name_parameters(model, prefix)

    def of_parameter(self, tensor: Any) -> tuple[int, str] | None:  # noqa: ANN401 - a tensor
        """Its place in the order of models, and its name; None outside the models that ran."""
        return self._parameters.get(tensor)

    def of_optimizer(self, optimizer: Any) -> str:  # noqa: ANN401 - any optimizer
        """The name of an optimizer: its class, and a number from the second on."""
        found = self._optimizers.get(optimizer)
        if found is None:
            found = self._numbered(type(optimizer).__name__)
            self._optimizers.set(optimizer, found)
        return found

    def models(self) -> Iterator[tuple[Module, str]]:
        """The models that are still there, with the prefixes of their names."""
        for reference, prefix in self._models:
            model = reference()
            if model is not None:
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

    def owners(self) -> Iterator[Any]:
        """The objects that are still there."""
        for reference, _ in list(self._held.values()):
            owner = reference()
            if owner is not None:
                yield owner

    def values(self) -> list[Value]:
        """What is kept for them."""
        return [value for _, value in self._held.values()]
