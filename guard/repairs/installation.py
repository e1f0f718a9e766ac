"""Registering replacements with torch's dispatcher, and taking them away again."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.utils.checkpoint

from detlint.operations import OPERATIONS
from detlint.operations.extensions import REPLACED
from guard.dependencies import release
from guard.observe import places
from guard.observe.patching import around, when_imported
from guard.refusals.translation import FAILED_REPAIR
from guard.repairs import accounts
from guard.repairs.table import REPAIRS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from guard.repairs.table import Repair

    Function = Callable[..., Any]
    Schema = Any


# What the caller is to see as torch raises it: it may make a batch smaller, has a wrong index, or
# is a checkpoint that has recomputed enough.
_OWN_ERRORS = (
    IndexError,
    getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError),
    getattr(torch.utils.checkpoint, "_StopRecomputationError", IndexError),
)

_current: list[tuple[Repair, ...]] = [()]  # what holds, of nested blocks the innermost last
_undo: list[Callable[[], object]] = []  # what takes away what is registered
_keys: tuple[str, ...] = ()  # of a test, for all rows


class _Unfit(Exception):  # noqa: N818
    """Why a replacement does not fit this torch."""


class Variant(NamedTuple):
    """An overload of an operator, and where its results go."""

    overload: Any
    outputs: tuple[str, ...]  # names of the arguments that are written to


@contextmanager
def installed(repairs: tuple[Repair, ...], *, keys: tuple[str, ...] = ()) -> Iterator[None]:
    """These replacements and no others, until the block ends.

    ``keys`` are dispatch keys in the place of those of the rows: on a CPU, to test them there.
    """
    global _keys  # noqa: PLW0603
    before = _keys
    _keys = keys or before
    _current.append(repairs)
    with ExitStack() as stack:
        try:
            _install(repairs)
            # A package may bring its operators later: torchvision does when it is imported.
            around(stack, torch.ops, "load_library")(_load)
            yield
        finally:
            _current.pop()
            _keys = before
            _install(_current[-1])


def _load(load: Function, path: Any) -> None:  # noqa: ANN401
    """``torch.ops.load_library``, after which what it brought is replaced, too."""
    before = [each for each in _current[-1] if present(each)]
    load(path)
    if before != [each for each in _current[-1] if present(each)]:
        _install(_current[-1])


def in_force() -> frozenset[str]:
    """Names of the operations whose kernels are replaced."""
    return frozenset(each.operation for each in _current[-1] if needed(each) and not unfit(each))


def offered(key: str) -> dict[str, str]:
    """Operations that have a replacement for a dispatch key, each with "", or why it is left."""
    return {
        each.operation: unfit(each)
        for each in REPAIRS
        if any(own.endswith(key) for own in each.keys) and needed(each)
    }


def _install(repairs: tuple[Repair, ...]) -> None:
    while _undo:
        _undo.pop()()
    accounts.start()
    done: set[tuple[str, str]] = set()
    for repair in repairs:
        _await(repair)
    for repair in filter(needed, repairs):
        reason = unfit(repair)
        if reason:
            _tell(repair, reason)
            continue
        _undo.extend(map(_ask, _asked(repair), repeat(repair)))
        for key in _keys_of(repair):
            _register_all(repair, key, done)


def _keys_of(repair: Repair) -> tuple[str, ...]:
    if not _keys or not repair.kernels:
        return repair.keys
    if not any(each.startswith("Autograd") for each in repair.keys):
        return _keys
    return (*_keys, *(f"Autograd{each}" for each in _keys if not each.startswith("Sparse")))


def _await(repair: Repair) -> None:
    """Begin anew as soon as a module of it is imported."""
    missing = [each for each in repair.modules if each not in sys.modules]
    _undo.extend(when_imported(name, lambda: _install(_current[-1])) for name in missing)


def _register_all(repair: Repair, key: str, done: set[tuple[str, str]]) -> None:
    """``done``: kernels and keys; several rows may have the same."""
    library: Any = torch.library.Library(namespace(repair), "IMPL", key)  # type: ignore[no-untyped-call]
    _undo.append(library._destroy)  # noqa: SLF001
    for name, path in repair.kernels:
        if (name, key) not in done:
            done.add((name, key))
            _register(library, key, repair, name, path)


@cache
def _tell(repair: Repair, reason: str) -> None:
    """Once for each, in a process."""
    warnings.warn(f"guard leaves {repair.operation} as it is: {reason}", stacklevel=9)


def needed(repair: Repair) -> bool:
    """Whether torch's own kernel is not deterministic in this release, or a test wants it.

    That of a package which is not there is not needed yet.
    """
    if not present(repair):
        return False
    ended = bool(repair.until) and release(torch.__version__) >= release(repair.until)
    return bool(_keys) or not ended


def present(repair: Repair) -> bool:
    """Whether what it replaces has been brought by its package; torch is there."""
    if not repair.kernels:
        return bool(there(repair.modules))
    name = repair.kernels[0][0]
    return "::" not in name or bool(torch._C._dispatch_has_kernel(name))  # noqa: SLF001


def namespace(repair: Repair) -> str:
    """Where its operators live."""
    return _qualified(repair.kernels[0][0]).partition("::")[0]


def _qualified(name: str) -> str:
    return name if "::" in name else f"aten::{name}"


def unfit(repair: Repair) -> str:
    """Why a replacement cannot be installed in this torch; "" if it can."""
    return _replaced(repair.modules) or _misfit(repair)


@cache
def _misfit(repair: Repair) -> str:
    try:
        for name, path in repair.kernels:
            _check(name, function_at(path))
    except _Unfit as error:
        return str(error)
    return ""


def function_at(path: str) -> Function:
    """A replacement, by module and name within ``guard.repairs``."""
    module, _, name = path.partition(":")
    found: Function = getattr(importlib.import_module(f"guard.repairs.{module}"), name)
    return found


def _check(name: str, function: Function) -> None:
    try:
        schema = overload_of(name)._schema  # noqa: SLF001
    except AttributeError:
        raise _Unfit(f"torch {torch.__version__} has no operator {name}") from None
    parameters = inspect.signature(function).parameters
    given = [each.name for each in schema.arguments]
    named = not all(each.startswith("_") for each in given)  # a schema that C++ has inferred
    taken = _taken(function) if named else [f"_{each}" for each in range(len(_taken(function)))]
    if taken != given:
        raise _Unfit(f"torch {torch.__version__} gives {name} other arguments")
    own = parameters.get("original")
    required = own is not None and own.default is inspect.Parameter.empty
    if required and not hasattr(torch.library, "get_kernel"):
        raise _Unfit(f"torch {torch.__version__} does not hand out its own kernel of {name}")


def _taken(function: Function) -> list[str]:
    """The operator's arguments, as a replacement calls them."""
    return [each for each in inspect.signature(function).parameters if each != "original"]


def overload_of(name: str) -> Any:  # noqa: ANN401
    """An operator by its name, with or without the overload's; without a namespace of aten."""
    space, _, bare = _qualified(name).partition("::")
    packet, _, overload = bare.partition(".")
    return getattr(getattr(getattr(torch.ops, space), packet), overload or "default")


# Registering


def _register(library: Any, key: str, repair: Repair, name: str, path: str) -> None:  # noqa: ANN401
    function = function_at(path)
    own = overload_of(name)._schema.arguments  # noqa: SLF001
    names = dict(zip([each.name for each in own], _taken(function), strict=True))
    asks = "original" in inspect.signature(function).parameters
    if asks and hasattr(torch.library, "get_kernel"):
        function = _with_original(function, _own_kernel(name, key))
    function = function if key.startswith("Autograd") else _below_autograd(function)
    for variant in variants(name):
        kernel = _kernel(variant, function, names, repair)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"[\s\S]*verriding a previously registered")
            library.impl(_plain(variant.overload), kernel, key, **_overriding())


@cache
def _overriding() -> dict[str, bool]:
    """Newer releases ask whether it is on purpose."""
    asks = "allow_override" in inspect.signature(torch.library.Library.impl).parameters
    return {"allow_override": True} if asks else {}


def _plain(overload: Any) -> str:  # noqa: ANN401
    name: str = overload._schema.name.partition("::")[2]  # noqa: SLF001
    return f"{name}.{overload._overloadname}" if overload._overloadname != "default" else name  # noqa: SLF001


def variants(name: str) -> list[Variant]:
    """The overload itself, and those that take the same and write elsewhere."""
    first = overload_of(name)
    schema = first._schema  # noqa: SLF001
    found = [Variant(first, _written(schema))]
    space, _, packet = schema.name.partition("::")
    for other in (packet, packet + "_"):
        overloads = getattr(getattr(torch.ops, space), other, None)
        for each in overloads.overloads() if overloads is not None else ():
            overload = getattr(overloads, each)
            written = _written(overload._schema)  # noqa: SLF001
            if written and overload is not first and _same(schema, overload._schema, written):  # noqa: SLF001
                found.append(Variant(overload, written))
    return found


def _written(schema: Schema) -> tuple[str, ...]:
    return tuple(
        each.name for each in schema.arguments if each.alias_info and each.alias_info.is_write
    )


def _same(schema: Schema, other: Schema, written: Sequence[str]) -> bool:
    given = [each for each in other.arguments if not (each.is_out and each.name in written)]
    return [(each.name, str(each.type)) for each in schema.arguments] == [
        (each.name, str(each.type)) for each in given
    ]


def _own_kernel(name: str, key: str) -> Function:
    try:
        kernel = torch.library.get_kernel(_qualified(name), key)
    except RuntimeError:  # this torch was built without that backend

        def absent(*_: object, **__: object) -> Any:  # noqa: ANN401
            raise RuntimeError(f"this torch has no kernel of {name} for {key}")

        return absent
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))  # noqa: SLF001
    return lambda *args, **kwargs: kernel.call_boxed(keys, *args, **kwargs)


def _with_original(function: Function, original: Function) -> Function:
    return lambda **given: function(**given, original=original)


def _below_autograd(function: Function) -> Function:
    def below(**given: Any) -> Any:  # noqa: ANN401
        with torch._C._AutoDispatchBelowAutograd():  # noqa: SLF001
            return function(**given)

    return below


def _kernel(
    variant: Variant, function: Function, wanted: dict[str, str], repair: Repair
) -> Function:
    """What the dispatcher calls: the replacement, its result where the caller wants it.

    ``wanted``: the operator's arguments, and what the function calls them.
    """
    own = variant.overload._schema.arguments  # noqa: SLF001
    names = [each.name for each in own]
    defaults = {each.name: each.default_value for each in own if each.has_default_value()}

    def kernel(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        with _accounted(repair), torch._C._DisableAutocast():  # noqa: SLF001
            result = function(**{own: given[name] for name, own in wanted.items()})
            return _handed_out(result, [given[name] for name in variant.outputs])

    return kernel


@contextmanager
def _accounted(repair: Repair, place: places.Place | None = None) -> Iterator[None]:
    """A call of a replacement: its time is noted, and its failure is the operator's refusal."""
    begun = perf_counter()
    try:
        yield
    except _OWN_ERRORS:
        raise
    except Exception as error:
        raise refusal(repair, error) from error
    finally:
        accounts.note(repair.operation, perf_counter() - begun, place)


def _handed_out(result: Any, outputs: Sequence[Any]) -> Any:  # noqa: ANN401
    if not outputs:
        return result
    results = result if isinstance(result, tuple) else (result,)
    for output, each in zip(outputs, results, strict=True):
        if each is None or each is output:
            continue
        if output.shape != each.shape:
            output.resize_(each.shape)
        output.copy_(each)
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


def refusal(repair: Repair, error: Exception) -> RuntimeError:
    """The operator's own refusal, where its replacement fails."""
    row = next(each for each in (*OPERATIONS, *REPLACED) if each.name == repair.operation)
    alert = row.alerts[0] if row.alerts else row.name
    return RuntimeError(
        f"{alert} does not have a deterministic implementation, but you set "
        f"'torch.use_deterministic_algorithms(True)'{FAILED_REPAIR}{type(error).__name__}: {error}"
    )


def there(modules: Iterable[str]) -> list[str]:
    """Those of the modules that the program has imported."""
    return [name for name in modules if name in sys.modules]


def _replaced(modules: Iterable[str]) -> str:
    """Why a release cannot be asked for a deterministic backward; "" if it can."""
    for name in there(modules):
        if not list(_functions(name)):
            return f"the functions of this {name} take no argument deterministic"
    return ""


def _asked(repair: Repair) -> list[Any]:
    """The functions that are there, each of which is asked for it."""
    return [function for name in there(repair.modules) for function in _functions(name)]


def _functions(name: str) -> Iterator[Any]:
    for each in vars(sys.modules[name]).values():
        is_function = isinstance(each, type) and issubclass(each, torch.autograd.Function)
        own = is_function and each.__module__ == name
        if own and "deterministic" in inspect.signature(each.forward).parameters:
            yield each


def _ask(function: Any, repair: Repair) -> Callable[[], None]:  # noqa: ANN401
    """Have a function take its deterministic backward; what undoes it."""
    before = {name: vars(function)[name] for name in ("forward", "backward")}
    function.forward = staticmethod(_placed(function.forward))
    function.backward = staticmethod(_deterministic(function.backward, repair))

    def undo() -> None:
        for name, own in before.items():
            setattr(function, name, own)

    return undo


def _placed(own: Function) -> Function:
    """Keeps the line that calls it, for the account of its backward."""

    @functools.wraps(own)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        trail = places.here(outside=own.__code__.co_filename)
        ctx.guard_place = trail.place if trail is not None else None
        return own(ctx, *args, **kwargs)

    return forward


def _deterministic(own: Function, repair: Repair) -> Function:
    @functools.wraps(own)
    def backward(ctx: Any, *grads: Any) -> Any:  # noqa: ANN401
        with _accounted(repair, getattr(ctx, "guard_place", None)):
            if not hasattr(ctx, "deterministic"):
                raise AttributeError("the function does not keep its argument deterministic")
            ctx.deterministic = True
            return own(ctx, *grads)

    return backward
