"""What a program holds as a step begins, and as it ends: everything that its own frames and modules
lead to.

A resumed run must hold there what the other one does. Nothing of the program's is called for it.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections import deque
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.digests.traits import attributes, of_slots
from guard.digests.values import Digests
from guard.observe.modes import plainly
from guard.observe.patching import around
from guard.observe.places import is_own, outward
from guard.trace.statements import UNSAVED_BUFFER, Held, Snapshots, write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import ExitStack

_MOST = 50_000  # values
_SECONDS = 5.0
_ITEMS = 64  # of a container that are told one by one
_LONGEST = 40  # characters of a value that is told
_NUMBERS = (int, float, bool, complex, type(None))
_CODE = (ModuleType, BuiltinFunctionType, FrameType)
_GENERATORS = {"Generator", "Random", "RandomState"}
# What an object is by the names of its classes.
_ROLES = {
    "Optimizer": "optimizer",
    **dict.fromkeys(("LRScheduler", "_LRScheduler"), "scheduler"),
    "GradScaler": "scaler",
    "Module": "module",
    **dict.fromkeys(("Sampler", "DataLoader", "Dataset", "_BaseDataLoaderIter"), "data"),
    **dict.fromkeys(_GENERATORS, "generator"),
}
_FROM = ("torch", "numpy", "random")
# Of whom what they hold says nothing of the program.
_LEFT_OUT = {
    *("logging", "threading", "_thread", "concurrent", "multiprocessing", "subprocess", "socket"),
    *("argparse", "re", "_io", "weakref", "types", "typing", "abc", "inspect", "importlib"),
}
_SAVING = ("state_dict", "load_state_dict")
_UNSAVED = "_non_persistent_buffers_set"  # torch's own name of them
_COMPUTED = {"datetime", "pathlib", "uuid", "decimal", "fractions", "builtins", "collections"}


class _Found(NamedTuple):
    """A value, and how it was reached."""

    value: Any
    held: Held

    @property
    def is_bound(self) -> bool:
        """Whether a variable, or an attribute of the program's own, is bound to it."""
        return not self.held.below


class Snapshot:
    """Of one process, as its first step begins, as a later one does, and as it ends."""

    def __init__(self, at: int) -> None:
        self._at = at
        self._first: list[Held] | None = None
        self._taken: Snapshots | None = None
        self._trace = ""
        # Those of the last step: one that is kept has its variables still when it has returned.
        self._frames: list[FrameType] = []
        self._checkpoints = Checkpoints()

    def follow(self, stack: ExitStack) -> None:
        """See what is saved and loaded, until the stack is closed."""
        self._checkpoints.follow(stack)

    def take(self, number: int, trace: str) -> None:
        """A training step begins, whose forward has yet to run."""
        self._checkpoints.end()
        self._frames = _own_frames()
        if self._taken is not None or (self._first is not None and number < self._at):
            return
        walk = _Walk()
        now = list(walk.run(self._frames, self._checkpoints.is_new))
        self._first = self._first or now
        if number >= self._at:
            seen = self._checkpoints.states_of(walk.generators)
            self._trace, self._taken = trace, Snapshots(self._first, now, [], *seen)
            write(trace, self._taken)

    def end(self) -> None:
        """The program has ended. Raises OSError."""
        if self._taken is not None:
            write(self._trace, self._taken._replace(last=held(self._frames)))


_States = dict[int, dict[int, None]]


class Checkpoints:
    """What becomes of generators as a checkpoint is saved, and after one is loaded: a step may draw
    from them before its forward, and by how much can hang on what else was lost."""

    def __init__(self) -> None:
        # digests of each generator, by its identity: as one is saved, and after one is loaded
        self._states: tuple[_States, _States] = ({}, {})
        self._kept: dict[int, Any] = {}  # so that no other object gets the identity of one
        self._frames: list[FrameType] | None = None  # those that ran when one was saved last
        self._known: set[int] = set()  # objects that there were then
        self._left = _SECONDS
        self._looks = False

    def follow(self, stack: ExitStack) -> None:
        """See what torch saves and loads, until the stack is closed."""
        torch: Any = sys.modules["torch"]
        stack.callback(self.end)

        @around(stack, torch, "save")
        def _(save: Callable[..., Any], *args: Any, **options: Any) -> Any:  # noqa: ANN401
            self._saved()
            return save(*args, **options)

        @around(stack, torch, "load")
        def _(load: Callable[..., Any], *args: Any, **options: Any) -> Any:  # noqa: ANN401
            found = load(*args, **options)
            self._begin()
            return found

    def _saved(self) -> None:
        """A checkpoint is written: a run that is resumed from it begins with what there is."""
        self._states[0].clear()
        frames = _own_frames()
        self._known = self._look(frames, self._states[0])
        self._frames = frames

    def _begin(self) -> None:
        """A checkpoint was read: from here on, look at the generators before each statement."""
        if not self._looks and sys.gettrace() is None:
            self._looks = True
            for each in _own_frames():
                each.f_trace = self._happened
            sys.settrace(self._called)

    def end(self) -> None:
        """The first step begins: what moves from here on is none of a checkpoint's."""
        if self._looks:
            self._looks = False
            sys.settrace(None)
            for each in _own_frames():
                each.f_trace = None

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401
        del event, arg
        is_followed = self._looks and is_own(frame.f_code.co_filename)
        return self._happened if is_followed else None

    def _happened(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401
        del event, arg
        if self._looks:
            self._look(_own_frames(), self._states[1], is_traced=True)
            _ = frame.f_locals  # read last, since Python writes back what was read (bpo-30744)
        return self._happened

    def _look(
        self, frames: list[FrameType], states: _States, *, is_traced: bool = False
    ) -> set[int]:
        """Note the states of all generators, those that are known already if looking for more has
        taken too long; identities of what there is."""
        walk = _Walk(is_traced=is_traced)
        if self._left > 0:
            began = time.thread_time()
            deque(walk.run(frames), maxlen=0)
            self._left -= time.thread_time() - began
        self._kept.update((id(value), value) for value, _ in walk.generators)
        digests = Digests()
        for number, value in self._kept.items():
            states.setdefault(number, {})[digests.of(value)] = None
        return walk.seen

    def is_new(self, frame: FrameType, value: Any) -> bool:  # noqa: ANN401
        """Whether a variable, of a call that was made after a checkpoint was written, holds what
        was made after it as well: that is no state which the checkpoint could have."""
        if self._frames is None or any(frame is each for each in self._frames):
            return False
        return type(value) in (*_NUMBERS, str, bytes) or id(value) not in self._known

    def states_of(self, generators: list[tuple[Any, Held]]) -> list[list[Held]]:
        """Of generators, those that were seen as one was saved, and after one was loaded."""
        return [
            [
                found._replace(digest=digest)
                for value, found in generators
                for digest in states.get(id(value), ())
            ]
            for states in self._states
        ]


def held(frames: list[FrameType] | None = None) -> list[Held]:
    """All that is found, in the order of how near it is.

    frames  of the program's own functions, the innermost first; those that run unless given
    """
    return list(_Walk().run(_own_frames() if frames is None else frames))


def _own_frames() -> list[FrameType]:
    every = outward(sys._getframe(1))  # noqa: SLF001 - the documented way to a frame
    return [each for each in every if is_own(each.f_code.co_filename)]


class _Walk:
    """Breadth first: each object is told by its shortest path.

    is_traced  whether a frame of these is being traced: Python writes its variables back then
    """

    def __init__(self, *, is_traced: bool = False) -> None:
        self._digests = Digests()
        self.seen: set[int] = set()
        self.generators: list[tuple[Any, Held]] = []  # objects, and what is told of them
        self._next: deque[_Found] = deque()
        self._is_traced = is_traced

    def run(
        self, frames: list[FrameType], leaves_out: Callable[[FrameType, Any], bool] | None = None
    ) -> Iterator[Held]:
        """Leaves: numbers, texts, arrays, tensors, states of generators.

        leaves_out  says of a variable of a frame whether it counts as nothing
        """
        self._next.extend(_roots(frames, leaves_out, is_traced=self._is_traced))
        end, count = time.monotonic() + _SECONDS, 0
        while self._next and count < _MOST and time.monotonic() < end:
            count += 1
            found = self._next.popleft()
            try:
                yield from self._visit(found)
            except Exception:  # noqa: BLE001, S112 - an object that is half made
                continue

    def _visit(self, found: _Found) -> Iterator[Held]:
        value, kind = found.value, type(found.value)
        if kind in _NUMBERS or kind in (str, bytes):
            yield self._leaf(found)
        elif isinstance(value, _CODE) or id(value) in self.seen:
            return
        else:
            self.seen.add(id(value))
            if self._is_leaf(value):
                yield self._leaf(found)
            else:
                self._descend(_known(found))

    def _leaf(self, found: _Found) -> Held:
        value = found.value
        text = repr(value) if type(value) in (*_NUMBERS, str) else ""
        text = text if len(text) <= _LONGEST else ""
        digest, shape = self._digests.of(_at_hand(value)), _shape(value)
        told = _known(found).held._replace(digest=digest, text=text, shape=shape)
        if _is_generator(type(value)):
            self.generators.append((value, told))
        return told

    def _is_leaf(self, value: Any) -> bool:  # noqa: ANN401
        """Whether a value is told as a whole, since it is data."""
        kind = type(value)
        start = kind.__module__.partition(".")[0]
        if kind in (list, tuple, deque, set, frozenset, dict) and not value:
            return True
        if kind in (list, tuple, deque, set, frozenset):
            return all(type(each) in (*_NUMBERS, str, bytes) for each in value)
        if _is_generator(kind):
            return True
        if start == "numpy" or kind.__module__ in _COMPUTED - {"builtins", "collections"}:
            return True
        torch: Any = sys.modules["torch"]
        return isinstance(value, (torch.Tensor, torch.dtype, torch.device, torch.Size))

    # What a value leads to

    def _descend(self, found: _Found) -> None:  # noqa: C901 - a kind each
        value, kind = found.value, type(found.value)
        torch: Any = sys.modules["torch"]
        if issubclass(kind, dict):
            self._items(found, list(dict.items(value)))
        elif kind in (list, tuple, deque, set, frozenset) or issubclass(kind, (list, tuple)):
            self._items(found, list(enumerate(value)) if kind not in (set, frozenset) else [])
        elif issubclass(kind, (FunctionType, MethodType)):
            self._function(found)
        elif issubclass(kind, GeneratorType):
            if value.gi_frame is not None and is_own(value.gi_code.co_filename):
                inner = _of_frame(value.gi_frame, is_traced=self._is_traced)
                self._next.extend(e._replace(held=e.held._replace(path="")) for e in inner)
        elif issubclass(kind, type):
            if self._digests.is_own(value):
                self._fields(found, _plain(vars(value)), value)
        elif issubclass(kind, torch.nn.Module):
            self._module(found)
        elif issubclass(kind, torch.optim.Optimizer):
            self._optimizer(found)
        elif found.held.role == "scaler":
            self._items(found, list(value.state_dict().items()))
        elif kind.__module__.partition(".")[0] not in _LEFT_OUT:
            self._object(found)

    def _items(self, found: _Found, pairs: list[tuple[Any, Any]]) -> None:
        for key, value in pairs[:_ITEMS]:
            if type(key) in (int, str, bool):
                self._go(found, f"[{key!r}]", value)

    def _go(self, found: _Found, part: str, value: Any) -> None:  # noqa: ANN401
        held = found.held
        self._next.append(_Found(value, held._replace(below=held.below + part)))

    def _object(self, found: _Found) -> None:
        value = found.value
        parts = {**(attributes(value) or {}), **of_slots(value, self._digests.is_own)}
        self._object_with(found, parts)

    def _parts(self, found: _Found, parts: dict[str, Any]) -> None:
        for name, value in parts.items():
            self._go(found, f".{name}", value)

    def _fields(
        self, found: _Found, parts: dict[str, Any], owner: type, saved: Collection[str] = ()
    ) -> None:
        """Attributes of an object, or of a class, of the program's own.

        saved  those that its state_dict() holds
        """
        file = getattr(sys.modules.get(owner.__module__), "__file__", None) or ""
        start = found.held.path + found.held.below
        of = Held("", owner=owner.__qualname__, file=file, is_field=True, role=found.held.role)
        for name, value in parts.items():
            path, saved_in = f"{start}.{name}", start if name in saved else ""
            told = of._replace(path=path, name=name, saved_in=saved_in)
            self._next.append(_Found(value, told))

    def _module(self, found: _Found) -> None:
        """Attributes; parameters and buffers; whether these are trained, and how many hooks change
        their gradients."""
        value = found.value
        inside = attributes(value) or {}
        parts = {name: each for name, each in inside.items() if name not in _of_modules()}
        parts |= inside.get("_modules") or {}
        tensors = {**(inside.get("_parameters") or {}), **(inside.get("_buffers") or {})}
        parts |= {name: each for name, each in tensors.items() if each is not None}
        unsaved = inside.get(_UNSAVED) or set()
        self._object_with(found, {n: e for n, e in parts.items() if n not in unsaved}, tensors)
        buffers = {name: each for name, each in parts.items() if name in unsaved}
        of_buffers = found.held._replace(role=UNSAVED_BUFFER, saved_in="")
        self._object_with(found._replace(held=of_buffers), buffers)
        for name, each in (inside.get("_parameters") or {}).items():
            if each is not None:
                self._go(found, f".{name}.requires_grad", each.requires_grad)
                self._go(found, f".{name}.hooks", len(each._backward_hooks or ()))  # noqa: SLF001

    def _optimizer(self, found: _Found) -> None:
        """Its state and its groups; of one of the program's own, attributes as well."""
        value = found.value
        inside = attributes(value) or {}
        numbers: dict[int, int] = {}
        for number, group in enumerate(inside.get("param_groups") or ()):
            for each in group["params"]:
                numbers.setdefault(id(each), len(numbers))
            rest = {name: each for name, each in group.items() if name != "params"}
            self._go(found, f".param_groups[{number}]", rest)
        for parameter, state in (inside.get("state") or {}).items():
            self._go(found, f".state[{numbers.get(id(parameter), 0)}]", state)
        if self._digests.is_own(type(value)):
            left_out = {"state", "param_groups", "defaults"}
            parts = {n: v for n, v in inside.items() if n[0] != "_" and n not in left_out}
            self._fields(found, parts, type(value))

    def _object_with(
        self, found: _Found, parts: dict[str, Any], saved: Collection[str] = ()
    ) -> None:
        if self._digests.is_own(type(found.value)):
            self._fields(found, parts, type(found.value), saved)
        else:
            self._parts(found, parts)

    def _function(self, found: _Found) -> None:
        """What a function of the program's own holds: its closure, and what it is bound to."""
        value = found.value
        if isinstance(value, MethodType):
            self._go(found, ".__self__", value.__self__)
            return
        code = value.__code__
        if not is_own(code.co_filename):
            return
        self._parts(found, vars(value))
        for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=False):
            at = Held(name, owner=value.__name__, file=code.co_filename, name=name)
            self._next.append(_Found(cell.cell_contents, at))


def _known(found: _Found) -> _Found:
    """With the class of what is bound, and with the role of the value, where it has one."""
    value, kind, held = found.value, type(found.value), found.held
    if kind in (*_NUMBERS, str, bytes, list, tuple, dict, set, frozenset):
        return found
    names = [each.__name__ for each in kind.__mro__ if each.__module__ != "builtins"]
    role = next((_ROLES[each] for each in names if each in _ROLES), "")
    if not role and _sets_an_optimizer(value):
        role = "scheduler"
    if found.is_bound:
        saves = all(any(name in vars(each) for each in kind.__mro__) for name in _SAVING)
        saved_in = held.path if saves else held.saved_in
        held = held._replace(kind=_class_of(kind), saved_in=saved_in)
    return found._replace(held=held._replace(role=role or held.role))


def _class_of(kind: type) -> str:
    start = kind.__module__.partition(".")[0]  # torch and NumPy have a Generator each
    return f"{start}.{kind.__name__}" if _is_generator(kind) else kind.__qualname__


def _is_generator(kind: type) -> bool:
    return kind.__name__ in _GENERATORS and kind.__module__.partition(".")[0] in _FROM


def _sets_an_optimizer(value: Any) -> bool:  # noqa: ANN401
    """Whether an object holds an optimizer and no model: a schedule of the program's own."""
    torch: Any = sys.modules["torch"]
    parts = list((attributes(value) or {}).values())
    has_model = any(isinstance(each, torch.nn.Module) for each in parts)
    return not has_model and any(isinstance(each, torch.optim.Optimizer) for each in parts)


def _of_modules() -> set[str]:
    """Attributes of each module, of which these are no state of the program's."""
    torch: Any = sys.modules["torch"]
    return set(vars(torch.nn.Module())) - {"training"}


def _at_hand(value: Any) -> Any:  # noqa: ANN401
    """A tensor on a GPU as a copy in the CPU's memory; not while a CUDA graph is captured."""
    torch: Any = sys.modules["torch"]
    if not isinstance(value, torch.Tensor) or not value.is_cuda:
        return value
    if torch.cuda.is_current_stream_capturing():
        return value
    with plainly():
        return value.detach().cpu()


def _shape(value: Any) -> list[int] | None:  # noqa: ANN401
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    kinds = (torch.Tensor, *([numpy.ndarray] if numpy is not None else []))
    return list(value.shape) if isinstance(value, kinds) else None


def _roots(
    frames: list[FrameType],
    leaves_out: Callable[[FrameType, Any], bool] | None,
    *,
    is_traced: bool,
) -> Iterator[_Found]:
    """Variables of functions; those of the program's modules; attributes of its classes."""
    for frame in frames:
        if frame.f_code.co_name != "<module>":
            for each in _of_frame(frame, is_traced=is_traced):
                if leaves_out is None or not leaves_out(frame, each.value):
                    yield each
    for module in {id(each): each for each in list(sys.modules.values())}.values():
        inside = dict(vars(module)) if isinstance(module, ModuleType) else {}
        file = inside.get("__file__")
        if isinstance(file, str) and os.path.isabs(file) and is_own(file):
            for name, value in inside.items():
                if not name.startswith("__"):
                    yield _Found(value, Held(name, owner="<module>", file=file, name=name))


def _of_frame(frame: FrameType, *, is_traced: bool = False) -> Iterator[_Found]:
    code = frame.f_code
    variables = dict(frame.f_locals)
    is_copy = sys.version_info < (3, 13) and code.co_flags & inspect.CO_OPTIMIZED
    if is_copy and not is_traced:
        frame.f_locals.clear()  # a copy that lives as long as the frame
    for name, value in variables.items():
        held = Held(name, owner=code.co_name, file=code.co_filename, name=name)
        yield _Found(value, held)


def _plain(parts: Any) -> dict[str, Any]:  # noqa: ANN401 - of a class
    """What a class holds, but for its methods and what describes it."""
    named = (each for each in parts.items() if not each[0].startswith("__"))
    methods = (FunctionType, property, classmethod, staticmethod)
    return {name: value for name, value in named if not isinstance(value, methods)}
