"""Lists that are paired by place, and are made of one and the same list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.reads import Reads
    from detlint.module import Module

# How many arguments calls have that give one element for each of the last one's.
_CARRYING = {"list": 1, "tuple": 1, "tqdm": 1, "map": 2, "imap": 2}


class Pairings:
    """Answers for the calls of ``zip`` in one module."""

    def __init__(self, module: Module, reads: Reads) -> None:
        self._module = module
        self._reads = reads

    def pairs_with_itself(self, call: cst.Call) -> bool:
        """``zip(names, paths)`` where ``paths`` is ``[folder / name for name in names]``."""
        if self._module.called(call) != "builtins.zip":
            return False
        values = [arg.value for arg in call.args if arg.keyword is None]
        made = {self._listed(each) for each in values}
        # An iterator that is paired with itself gives neighbours.
        itself = [self._value(each) in made for each in values]
        return len(made) == 1 and itself.count(True) <= 1

    def _listed(self, node: cst.CSTNode) -> cst.CSTNode:
        """What a list has one element for each element of, in the same order."""
        value = self._value(node)
        if isinstance(value, (cst.ListComp, cst.GeneratorExp)):
            clause = value.for_in
            if not clause.ifs and clause.inner_for_in is None:
                return self._listed(clause.iter)
        if isinstance(value, cst.Call) and value.args and self._keeps_places(value):
            return self._listed(value.args[-1].value)
        return value

    @staticmethod
    def _keeps_places(call: cst.Call) -> bool:
        """``list(x)``, ``pool.map(f, x)``, ``Parallel(8)(delayed(f)(y) for y in x)``."""
        if isinstance(call.func, cst.Call):
            return call_word(call.func) == "Parallel"
        if any(each.keyword is not None or each.star for each in call.args):
            return False
        return _CARRYING.get(call_word(call)) == len(call.args)

    def _value(self, node: cst.CSTNode) -> cst.CSTNode:
        """What a local holds where it is read, also one that was bound before."""
        value = self._module.names.value_of(node)
        if not isinstance(value, cst.Name):
            return value
        given = self._reads.reaching(value)
        only = given[0] if len(given) == 1 else None
        if not isinstance(only, cst.Assign) or len(only.targets) > 1:
            return value
        return only.value if isinstance(only.targets[0].target, cst.Name) else value
