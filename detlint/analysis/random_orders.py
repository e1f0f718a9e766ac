"""Calls that draw an order, a choice or a split of data from torch's global generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.models import loading
from detlint.models.loading import LOADERS, Drawing, hands_on

if TYPE_CHECKING:
    import libcst as cst

    from detlint.module import Module


# Their places in the signature of torch's DataLoader.
_SHUFFLE, _SAMPLER, _BATCH_SAMPLER, _GENERATOR = 2, 3, 4, 12


def drawing(module: Module, call: cst.Call) -> Drawing | None:
    """What a call draws; None where it certainly draws nothing, or has its own generator."""
    found = _drawing(module, call)
    if found is None or module.has_unpacking(call):
        return None
    given = module.argument(call, "generator", found.position)
    return found if given is None or module.literal(given) is None else None


def _drawing(module: Module, call: cst.Call) -> Drawing | None:
    name = module.called(call)
    if name is None:
        return None
    if hands_on(name) and _shuffles(module, call, plain=name in LOADERS):
        shown = f"{name.rpartition('.')[2]}(shuffle=True)"
        return Drawing(shown, "order", _GENERATOR if name in LOADERS else None)
    return loading.drawing(name)


def _shuffles(module: Module, call: cst.Call, *, plain: bool) -> bool:
    """Whether a loader certainly draws an order itself."""

    def value(keyword: str, position: int) -> cst.BaseExpression | None:
        return module.argument(call, keyword, position if plain else None)

    samplers = (value("sampler", _SAMPLER), value("batch_sampler", _BATCH_SAMPLER))
    if any(each is not None and module.literal(each) is not None for each in samplers):
        return False
    shuffle = value("shuffle", _SHUFFLE)
    return shuffle is not None and module.literal(shuffle) is True
