"""Arguments of Lightning's ``Trainer`` and ``Fabric``, wherever they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_PACKAGES = frozenset({"lightning", "pytorch_lightning", "lightning_fabric"})
_CLASSES = frozenset({"Trainer", "Fabric"})


def trainer_argument(module: Module, call: cst.Call, name: str) -> cst.Arg | cst.DictElement | None:
    """The argument of that name that a call gives to a trainer of Lightning.

    ``Trainer(benchmark=True)``, ``Trainer.from_argparse_args(args, benchmark=True)``,
    ``LightningCLI(trainer_defaults={"benchmark": True})``.
    """
    parts = (module.called(call) or "").split(".")
    if parts[0] not in _PACKAGES:
        return None
    if parts[-1] == "from_argparse_args":
        parts.pop()
    if parts[-1] in _CLASSES:
        return _keyword(call, name)
    if parts[-1] == "LightningCLI":
        defaults = module.argument(call, "trainer_defaults")
        if isinstance(defaults, cst.Call) and module.called(defaults) == "builtins.dict":
            return _keyword(defaults, name)
        if isinstance(defaults, cst.Dict):
            return _element(module, defaults, name)
    return None


def _keyword(call: cst.Call, name: str) -> cst.Arg | None:
    named = (each for each in call.args if each.keyword is not None and each.keyword.value == name)
    return next(named, None)


def _element(module: Module, node: cst.Dict, name: str) -> cst.DictElement | None:
    for element in node.elements:
        if isinstance(element, cst.DictElement) and module.literal(element.key) == name:
            return element
    return None
