"""Dicts in which a loop puts what each file holds under the name of that file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption
    from detlint.analysis.order import Use


class ByName:
    """``found[name[:-5]] = json.load(file)``, and then ``json.dump(found, out)``: what is read
    from that is looked up by name, too."""

    def __init__(self, consumption: Consumption, target: cst.CSTNode | None) -> None:
        self._module = consumption.module
        self._keys = consumption.keys
        self._names = {target.value} if isinstance(target, cst.Name) else set()
        self._named: dict[str, bool] = {}

    def note(self, target: cst.Name, value: cst.BaseExpression) -> None:
        """``stem = name.split(".")[0]``."""
        if self._keys.are_names(value, self._names):
            self._names.add(target.value)
        else:
            self._names.discard(target.value)

    def note_slot(self, slot: cst.Subscript) -> None:
        """``found[stem]``, of which the loop fills one for each file."""
        owner, index = slot.value, slot.slice[0].slice
        if isinstance(owner, cst.Name) and isinstance(index, cst.Index):
            named = self._keys.are_names(index.value, self._names)
            self._named[owner.value] = named and self._named.get(owner.value, True)

    def are_written(self, name: str, use: Use) -> bool:
        """Whether a use writes such a dict to a file of names and values."""
        call = use.node
        if not isinstance(call, cst.Call) or not call.args or not self._named.get(name, False):
            return False
        written = call.args[0].value
        whole = isinstance(written, cst.Name) and written.value == name
        return whole and self._module.called(call) in ("json.dump", "json.dumps")
