"""Calls that build a loader of data, and what they give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.models import loading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Origins
    from detlint.dataflow.unit import Unit


class Loader(NamedTuple):
    """A call that builds a loader; ``plain``: with the signature of torch's DataLoader."""

    call: Op
    name: str
    plain: bool

    def given(self, keyword: str) -> Op | None:
        """What is given for a parameter of torch's DataLoader."""
        place = loading.PLACES[keyword] if self.plain or keyword == "dataset" else None
        return self.call.given(keyword, place)

    @property
    def has_workers(self) -> bool:
        """Whether it may have workers."""
        given = self.given("num_workers")
        return given is not None and may_be_positive(given)


class Loaders:
    """Looks for them in one file."""

    def __init__(self, unit: Unit, origins: Origins) -> None:
        self._unit = unit
        self._origins = origins

    def near(self, offsets: Iterable[int]) -> Iterator[Loader]:
        """Those in the functions that some offsets lie in."""
        for op in self._unit.ops_at(offsets):
            found = self._loader(op, op.function)
            if found is not None:
                yield found

    def _loader(self, op: Op, function: Function) -> Loader | None:
        if _is_super_init(op):
            base = self._base(function.class_name)
            return (
                Loader(op, f"{_last(base)}.__init__()", base in loading.LOADERS) if base else None
            )
        for name in self._unit.values.called(op):
            if loading.is_loader(name):
                return Loader(op, f"{_last(name)}()", name in loading.LOADERS)
            owner = name[1:] if name.startswith(".") else ""
            base = self._base(owner)
            if base and self._hands_on(owner):
                init = self._unit.method(owner, "__init__")
                return Loader(op, f"{owner}()", base in loading.LOADERS and init is None)
        return None

    def _base(self, owner: str) -> str:
        """The loader that a class of the file is derived from."""
        return next(filter(loading.is_loader, self._unit.qualified_bases(owner)), "")

    def _hands_on(self, owner: str) -> bool:
        """Whether a subclass leaves ``worker_init_fn`` to its callers."""
        pieces = self._unit.classes[owner]
        if any("worker_init_fn" in self._unit.text[each.start : each.end] for each in pieces):
            return False
        init = self._unit.method(owner, "__init__")
        return init is None or any(each.name[0] == "**" for each in init.params.values())


def drawing(call: Op) -> tuple[loading.Drawing, Op | None] | None:
    """What a call draws from torch's global generator, and what stands for its own; None where it
    draws nothing, or has one."""
    values = call.values
    rows = (loading.drawing(name) or _shuffling(call, name) for name in values.called(call))
    found = next(filter(None, rows), None)
    if found is None or call.unpacks:
        return None
    given = call.given("generator", found.position)
    own = given is not None and values.constant(given) is not None
    return None if own else (found, given)


def flag(call: Op) -> Op | None:
    """The parameter that decides whether a loader draws an order itself, from torch's generator."""
    for name in call.values.called(call):
        shuffle = _shuffle(call, name)
        own = Loader(call, name, name in loading.LOADERS).given("generator")
        if shuffle is not None and shuffle.code == "param" and own is None and not call.unpacks:
            return shuffle
    return None


def _shuffling(call: Op, name: str) -> loading.Drawing | None:
    """The same of a loader that certainly draws an order itself."""
    shuffle = _shuffle(call, name)
    if shuffle is None or call.values.constant(shuffle) is not True:
        return None
    place = loading.PLACES["generator"] if name in loading.LOADERS else None
    return loading.Drawing(f"{name.rpartition('.')[2]}(shuffle=True)", "order", place)


def _shuffle(call: Op, name: str) -> Op | None:
    """What a loader is given for whether it draws an order, unless a sampler does."""
    loader = Loader(call, name, name in loading.LOADERS)
    samplers = map(loader.given, ("sampler", "batch_sampler") if loading.hands_on(name) else ())
    apart = any(x is not None and call.values.constant(x) is not None for x in samplers)
    return loader.given("shuffle") if loading.hands_on(name) and not apart else None


def may_be_positive(op: Op) -> bool:
    """Whether a number of workers may be more than none, for all that one can see."""
    if op.code == "const":
        return isinstance(op.name, (int, float)) and op.name > 0
    if op.code in ("phi", "boolean", "free"):
        return any(map(may_be_positive, op.args)) or not op.args
    if op.code == "choice":
        return any(map(may_be_positive, op.args[1:]))
    if op.code == "global":
        bound = op.function.unit.module.bindings.get(str(op.name), ())
        return any(map(may_be_positive, bound)) or not bound
    return True


def _is_super_init(op: Op) -> bool:
    function = op.args[0]
    if function.code != "attr" or function.name != "__init__" or function.args[0].code != "call":
        return False
    return any(each == "builtins.super" for each in op.values.called(function.args[0]))


def _last(name: str) -> str:
    return name.rpartition(".")[2]
