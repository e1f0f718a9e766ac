"""How a walk over a tree of folders is used: ``for root, dirs, files in os.walk(top)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.analysis.order import Use
    from detlint.finding import Edit

_DIRS, _FILES = 1, 2


class Walk:
    """One walk.

    folders  where the order of the folders themselves reaches a result
    entries  the lists of names in a folder whose order is used, with their first use
    """

    def __init__(self, consumption: Consumption, call: cst.Call) -> None:
        self._consumption = consumption
        self._module = consumption.module
        self._call = call
        self._outer, self._consumer = self._carried(call)
        self._target = getattr(self._consumer, "target", None)
        self.folders: list[Use] = []
        self.entries: dict[cst.CSTNode, Use] = {}
        first = self._first()
        if first is not None:
            self.entries = dict(self._uses_of_first(first))
        else:
            if not (self._sorts_dirs() or self._stops_at_first()):
                self.folders = list(consumption.uses(call))
            for name in self._lists():
                self.entries.update(self._uses_of_list(name))

    def _carried(self, call: cst.Call) -> tuple[cst.CSTNode, cst.CSTNode | None]:
        """What hands the walk's elements on (``tqdm(os.walk(x))``), and the loop over it."""
        node: cst.CSTNode = call
        parent = self._module.parent(node)
        while isinstance(parent, cst.Arg):
            above = self._module.parent(parent)
            if not isinstance(above, cst.Call):
                break
            name, word = self._module.called(above), call_word(above)
            carries = name in reductions.CARRYING or word in reductions.CARRYING_WORDS
            if not carries and not reductions.SORTING.search(word):
                break
            node, parent = above, self._module.parent(above)
        loop = parent if isinstance(parent, (cst.For, cst.CompFor)) else None
        return node, loop

    # The first element alone: next(os.walk(top)), list(os.walk(top))[0]

    def _first(self) -> cst.CSTNode | None:
        """The expression that takes the first element and no other."""
        taken = self._module.parent(self._call)
        if isinstance(taken, cst.CompFor):
            return self._first_listed(taken)
        if isinstance(taken, cst.Attribute) and taken.attr.value in ("next", "__next__"):
            return self._module.parent(taken)
        arg = self._module.parent(self._call)
        call = self._module.parent(arg) if isinstance(arg, cst.Arg) else None
        name, above = self._module.called(call), self._module.parent(call or self._call)
        if name not in ("builtins.list", "builtins.tuple") or not isinstance(above, cst.Subscript):
            return call if name == "builtins.next" else None
        index = above.slice[0].slice
        top = len(self._call.args) == 1  # else it may go from the bottom up
        zero = isinstance(index, cst.Index) and self._module.literal(index.value) == 0
        return above if top and zero else None

    def _first_listed(self, clause: cst.CompFor) -> cst.CSTNode | None:
        """``[each for each in os.walk(top)][0]``."""
        made = self._module.parent(clause)
        above = self._module.parent(made) if isinstance(made, cst.ListComp) else None
        plain = not clause.ifs and clause.inner_for_in is None and len(self._call.args) == 1
        if not isinstance(made, cst.ListComp) or not isinstance(above, cst.Subscript):
            return None
        index = above.slice[0].slice
        zero = isinstance(index, cst.Index) and self._module.literal(index.value) == 0
        return above if plain and zero and made.elt.deep_equals(clause.target) else None

    def _uses_of_first(self, first: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, Use]]:
        """The first folder is the top; only the names in it have no order."""
        parent = self._module.parent(first)
        if isinstance(parent, cst.Subscript):
            index = parent.slice[0].slice
            if isinstance(index, cst.Index) and self._module.literal(index.value) != 0:
                for use in self._consumption.uses(parent):
                    yield parent, use
        elif isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Tuple):
            for element in parent.targets[0].target.elements[1:]:
                if isinstance(element.value, cst.Name):
                    yield from self._consumption.used_reads(element.value, parent).items()

    # All elements

    def goes_up(self) -> bool:
        """``os.walk(top, topdown=False)``, which has read all folders before the loop sees one."""
        given = (each for each in self._call.args if each.keyword is not None)
        options = [each.value for each in given if each.keyword.value in ("topdown", "top_down")]  # type: ignore[union-attr]
        return any(self._module.literal(each) is False for each in options)

    def _names(self) -> dict[int, cst.Name]:
        """The names that a loop unpacks each element into, by place."""
        target = self._target
        if isinstance(target, cst.Tuple) and len(target.elements) == 2:  # enumerate
            target = target.elements[1].value
        if not isinstance(target, (cst.Tuple, cst.List)) or len(target.elements) != 3:
            return {}
        values = [element.value for element in target.elements]
        return {place: each for place, each in enumerate(values) if isinstance(each, cst.Name)}

    def _lists(self) -> list[cst.Name]:
        names = self._names()
        return [names[place] for place in (_DIRS, _FILES) if place in names]

    def _uses_of_list(self, name: cst.Name) -> Iterator[tuple[cst.CSTNode, Use]]:
        if isinstance(self._consumer, cst.For):
            if name is not self._names().get(_DIRS) or not self._sorts_dirs():
                yield from self._consumption.used_reads(name, self._consumer).items()
        else:
            for load in self._consumption.reads.loads(name):
                rows = self._uses_in_rows(load)
                uses = ((load, use) for use in self._consumption.uses(load))
                yield from uses if rows is None else rows.items()

    def _uses_in_rows(self, load: cst.Name) -> dict[cst.CSTNode, Use] | None:
        """Of ``[(top, files) for top, _, files in os.walk(x)]``, what loops do with ``files``;
        None where that is not all that is done with the list."""
        element, row, made, statement = list(self._module.ancestors(load))[:4]
        given = statement.targets[0].target if isinstance(statement, cst.Assign) else None
        inside = self._module.enclosing_function(load) is not None
        if not inside or not isinstance(row, cst.Tuple) or not isinstance(made, cst.ListComp):
            return None
        if not isinstance(element, cst.Element) or not isinstance(given, cst.Name):
            return None
        found: dict[cst.CSTNode, Use] = {}
        place = list(row.elements).index(element)
        for read in self._consumption.reads.loads(given):
            loop = self._module.parent(read)
            target = loop.target if isinstance(loop, cst.For) else None
            sides = target.elements if isinstance(target, cst.Tuple) else ()
            names = sides[place].value if len(sides) == len(row.elements) else None
            if isinstance(loop, cst.For) and isinstance(names, cst.Name):
                found.update(self._consumption.used_reads(names, loop).items())
            elif not self._consumption.sorts(read):
                return None
        return found

    def _sorts_dirs(self) -> bool:
        """``dirs.sort()`` or ``dirs[:] = sorted(…)`` in the loop: the walk follows that order."""
        name = self._names().get(_DIRS)
        if name is None or not isinstance(self._consumer, cst.For) or self.goes_up():
            return False
        for each in self._module.tree.descendants(self._consumer.body):
            if isinstance(each, cst.Call) and reductions.SORTING.search(call_word(each)):
                func, parent = each.func, self._module.parent(each)
                if isinstance(func, cst.Attribute) and _is_named(func.value, name):
                    return True
                target = parent.targets[0].target if isinstance(parent, cst.Assign) else None
                if isinstance(target, cst.Subscript) and _is_named(target.value, name):
                    return True
        return False

    def _stops_at_first(self) -> bool:
        """A body that always ends with ``break`` or ``return`` sees only the top folder."""
        body = self._consumer.body if isinstance(self._consumer, cst.For) else None
        if not isinstance(body, cst.IndentedBlock):
            return False
        lines = [line for line in body.body if isinstance(line, cst.SimpleStatementLine)]
        return any(isinstance(line.body[-1], (cst.Break, cst.Return)) for line in lines)

    # Edits

    def fix(self) -> tuple[Edit, ...]:
        """Sort the folders, and the names where they are used; nothing if one cannot be done."""
        edits: list[Edit] = []
        if self.folders:
            first = self._sorting_edits()
            if not first:
                return ()
            edits.extend(first)
        sorted_dirs = bool(self.folders) and len(edits) == 1 and self._names().get(_DIRS)
        for value in self.entries:
            if sorted_dirs and _is_named(value, sorted_dirs):
                continue
            edits.append(self._module.insert_before(value, "sorted("))
            edits.append(self._module.insert_after(value, ")"))
        return tuple(edits)

    def _sorting_edits(self) -> tuple[Edit, ...]:
        if len(self._call.args) > 1 or self._outer is not self._call:
            return ()  # bottom up, or already in another order
        names = self._names()
        if isinstance(self._consumer, cst.For) and _DIRS in names:
            name = names[_DIRS].value
            body = self._consumer.body
            if not name.startswith("_") and isinstance(body, cst.IndentedBlock):
                return self._insertion(body.body[0], f"{name}.sort()")
            if self._consumption.reads.loads(names[_DIRS]):
                return ()
        elif not isinstance(self._consumer, cst.CompFor):
            return ()
        return (
            self._module.insert_before(self._call, "sorted("),
            self._module.insert_after(self._call, ")"),
        )

    def _insertion(self, statement: cst.CSTNode, text: str) -> tuple[Edit, ...]:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return ()  # decorators may stand above
        source = self._module.source
        row, column = source.location(self._module.tree.span(statement)[0])
        indent = source.line(row)[: column - 1]
        return (self._module.insert_before(statement, f"{text}{source.newline}{indent}"),)


def _is_named(node: cst.CSTNode, name: cst.Name) -> bool:
    return isinstance(node, cst.Name) and node.value == name.value
