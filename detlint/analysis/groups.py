"""Local dicts of lists that a loop fills, and whose lists are only read sorted or counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption

_REDUCING = reductions.ORDER_FREE | {"builtins.sorted"}


class Groups:
    """The dicts of lists in the functions of one module."""

    def __init__(self, consumption: Consumption) -> None:
        self._module = consumption.module
        self._reads = consumption.reads

    def are_sorted(self, slot: cst.CSTNode) -> bool:
        """Whether all that read the lists of the dict in ``groups[key]`` sort or count them."""
        name = slot.value if isinstance(slot, cst.Subscript) else None
        scope = self._reads.home(name) if isinstance(name, cst.Name) else None
        if not isinstance(name, cst.Name) or scope is None:
            return False
        made = self._module.names.value_of(name)
        empty = isinstance(made, cst.Dict) and all(map(_is_empty_list, made.elements))
        local = isinstance(scope.node, cst.FunctionDef) and self._is_only_name(name, made)
        if not local or not (empty or self._makes_lists(made)):
            return False
        loads = self._reads.loads(name)
        if any(map(self._is_sorted_in_place, loads)):
            return True
        asks = self._fills, self._reduces, self._asks, self._sorts_keys
        return all(any(ask(each) for ask in asks) for each in loads)

    def _is_only_name(self, name: cst.Name, made: cst.CSTNode) -> bool:
        statement = self._module.parent(made)
        if isinstance(statement, cst.AnnAssign):
            return statement.target.deep_equals(name)
        if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
            return False
        return statement.targets[0].target.deep_equals(name)

    def _makes_lists(self, made: cst.CSTNode) -> bool:
        if not isinstance(made, cst.Call) or len(made.args) != 1:
            return False
        default = self._module.qualified_name(made.args[0].value)
        return self._module.called(made) == "collections.defaultdict" and default == "builtins.list"

    def _fills(self, load: cst.Name) -> bool:
        """``groups[key].append(x)``, ``groups[key] = [x]``, ``key in groups``."""
        slot = self._module.parent(load)
        if isinstance(slot, cst.ComparisonTarget):
            return isinstance(slot.operator, (cst.In, cst.NotIn))
        user = self._module.parent(slot) if isinstance(slot, cst.Subscript) else None
        above = self._module.parent(user) if user is not None else None
        if isinstance(user, cst.AssignTarget) and isinstance(above, cst.Assign):
            return len(above.targets) == 1 and isinstance(above.value, cst.List)
        appends = isinstance(user, cst.Attribute) and user.attr.value == "append"
        return appends and isinstance(above, cst.Call) and above.func is user

    def _is_sorted_in_place(self, load: cst.Name) -> bool:
        """``for key in groups: groups[key] = sorted(groups[key])``, or ``groups[key].sort()``."""
        slot = self._module.parent(load)
        around = [each for each in self._module.ancestors(load) if isinstance(each, cst.For)]
        dicts = (getattr(each.iter, "value", None) for each in around)
        if not isinstance(slot, cst.Subscript) or load.value not in dicts:
            return False
        user = self._module.parent(slot)
        if isinstance(user, cst.Attribute):
            return user.attr.value == "sort"
        statement = self._module.parent(user) if isinstance(user, cst.AssignTarget) else None
        value = statement.value if isinstance(statement, cst.Assign) else None
        return self._module.called(value) == "builtins.sorted"

    def _asks(self, load: cst.Name) -> bool:
        """``len(groups[key])``, ``if groups[key]:``."""
        slot = self._module.parent(load)
        if not isinstance(slot, cst.Subscript) or slot.value is not load:
            return False
        above = self._module.parent(slot)
        tested = isinstance(above, (cst.If, cst.IfExp)) and above.test is slot
        return tested or self._is_reduced(slot)

    def _reduces(self, load: cst.Name) -> bool:
        """``sorted((key, len(group)) for key, group in groups.items())``."""
        view = self._module.parent(load)
        call = self._module.parent(view) if isinstance(view, cst.Attribute) else None
        clause = self._module.parent(call) if isinstance(call, cst.Call) else None
        if not isinstance(clause, cst.CompFor) or clause.inner_for_in is not None:
            return False
        pair, made = clause.target, self._module.parent(clause)
        named = isinstance(view, cst.Attribute) and view.attr.value == "items"
        if not named or clause.iter is not call or not isinstance(pair, cst.Tuple):
            return False
        lists = {each.value for each in self._reads.variables(pair.elements[-1])}
        made_of = [getattr(made, "elt", clause.target), *(each.test for each in clause.ifs)]
        read = [n for part in made_of for n in self._reads.variables(part) if n.value in lists]
        return self._is_reduced(made) and all(map(self._is_reduced, read))

    def _sorts_keys(self, load: cst.Name) -> bool:
        """``sorted(groups)``, ``sorted(list(groups.keys()))``, ``len(groups)``."""
        node: cst.CSTNode = load
        view = self._module.parent(load)
        if isinstance(view, cst.Attribute) and view.attr.value == "keys":
            node = self._module.parent(view) or view
        above = self._module.parent(node)
        call = self._module.parent(above) if isinstance(above, cst.Arg) else None
        if self._module.called(call) in ("builtins.list", "builtins.tuple"):
            node = call or node
        return self._is_reduced(node)

    def _is_reduced(self, node: cst.CSTNode | None) -> bool:
        """Whether ``sorted``, ``len`` or the like is given an expression, and nothing else."""
        argument = self._module.parent(node) if node is not None else None
        call = self._module.parent(argument) if isinstance(argument, cst.Arg) else None
        reduced = isinstance(call, cst.Call) and len(call.args) == 1
        return reduced and self._module.called(call) in _REDUCING


def _is_empty_list(element: cst.BaseDictElement) -> bool:
    return isinstance(element.value, cst.List) and not element.value.elements
