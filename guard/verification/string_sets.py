"""The small sets of strings that a program's own text makes, read and never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Strings = tuple[str, ...]

SIZES = range(2, 9)  # elements: larger sets come in another order by chance
_MAKERS = {"set", "frozenset"}
_MOST = 24  # of each
_DEEP = 4  # names and comprehensions, one made from the other


class Found(NamedTuple):
    """Groups of strings.

    sets    the elements of sets
    others  of lists, tuples and dictionaries, of which the program may make sets elsewhere
    """

    sets: tuple[Strings, ...]
    others: tuple[Strings, ...]


def string_sets(files: Iterable[str]) -> Found:
    """Those of a program's files, those of the first file first."""
    sets: dict[Strings, None] = {}
    others: dict[Strings, None] = {}
    for path in files:
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            continue
        reader = _Reader(tree)
        sets.update(dict.fromkeys(_small(reader.sets())))
        others.update(dict.fromkeys(_small(reader.others())))
    rest = [each for each in others if each not in sets]
    return Found(tuple(sets)[:_MOST], tuple(rest)[:_MOST])


def _small(groups: Iterable[Iterable[str]]) -> Iterator[Strings]:
    for each in groups:
        found = tuple(dict.fromkeys(each))
        if len(found) in SIZES:
            yield found


class _Reader:
    """Of one file. A name stands for all that is ever assigned to it."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                names = [each.id for each in node.targets if isinstance(each, ast.Name)]
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                names = [node.target.id]
            else:
                continue
            if node.value is not None:
                for name in names:
                    self._assigned.setdefault(name, []).append(node.value)

    def sets(self) -> Iterator[Strings]:
        """What is put into sets."""
        for node in self._nodes:
            if isinstance(node, ast.Set):
                yield _constants(node.elts)
            elif isinstance(node, ast.SetComp):
                yield from self._comprehended(node)
            elif isinstance(node, ast.Call) and _name(node.func) in _MAKERS and node.args:
                yield from self._given(node.args[0])

    def others(self) -> Iterator[Strings]:
        """What stands together otherwise."""
        for node in self._nodes:
            if isinstance(node, (ast.List, ast.Tuple)):
                yield _constants(node.elts)
            elif isinstance(node, ast.Dict):
                yield _constants(filter(None, node.keys))
            elif isinstance(node, ast.Call) and (split := _split(node)):
                yield split

    def _given(self, node: ast.expr, depth: int = 0) -> Iterator[Strings]:
        """The strings that going through an expression gives."""
        if depth > _DEEP:
            return
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            yield _constants(node.elts)
        elif isinstance(node, ast.Dict):
            yield _constants(filter(None, node.keys))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield tuple(node.value)
        elif isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
            yield from self._comprehended(node, depth)
        elif isinstance(node, ast.Name):
            for value in self._assigned.get(node.id, ()):
                yield from self._given(value, depth + 1)
        elif isinstance(node, ast.Call):
            yield _numbers(node) or _split(node)

    def _comprehended(
        self, node: ast.SetComp | ast.GeneratorExp | ast.ListComp, depth: int = 0
    ) -> Iterator[Strings]:
        first = node.generators[0]
        if len(node.generators) == 1 and isinstance(first.target, ast.Name):
            for values in self._given(first.iter, depth + 1):
                yield tuple(_text(node.elt, first.target.id, each) for each in values)


def _constants(nodes: Iterable[ast.expr]) -> Strings:
    return tuple(
        each.value
        for each in nodes
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _numbers(node: ast.Call) -> Strings:
    """The numbers of ``range(5)``, as text has them."""
    given = [each.value for each in node.args if isinstance(each, ast.Constant)]
    if _name(node.func) != "range" or len(given) != len(node.args) or not given:
        return ()
    if not all(type(each) is int for each in given):
        return ()
    found = range(*given)  # type: ignore[arg-type]
    return tuple(map(str, found)) if len(found) in SIZES else ()


def _split(node: ast.Call) -> Strings:
    """Of ``"a b c".split()``."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "split":
        return ()
    held = [node.func.value, *node.args]
    texts = _constants(held)
    return tuple(texts[0].split(*texts[1:2] or [None])) if len(texts) == len(held) <= 2 else ()


def _text(node: ast.expr, name: str, value: str) -> str:
    """What an element is made of, for a value of the name: of f-strings, else the value."""
    if not isinstance(node, ast.JoinedStr):
        return value
    parts = []
    for each in node.values:
        if isinstance(each, ast.Constant):
            parts.append(str(each.value))
        elif isinstance(each, ast.FormattedValue) and _name(each.value) == name:
            parts.append(value)
    return "".join(parts)
