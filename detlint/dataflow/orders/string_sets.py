"""The small sets of strings that the text of a program has, which hashes put in some order.

Of all files of a program, so that nothing is lowered for it: a name stands for all that is ever
assigned to it.
"""

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
    """Groups of strings."""

    sets: tuple[Strings, ...]  # the elements of sets
    # of lists, tuples and dictionaries, of which the program may make sets elsewhere
    others: tuple[Strings, ...]


def string_sets(trees: Iterable[ast.Module]) -> Found:
    """Those of a program's files, those of the first file first."""
    sets: dict[Strings, None] = {}
    others: dict[Strings, None] = {}
    for tree in trees:
        for is_set, group in _Reader(tree).groups():
            found = tuple(dict.fromkeys(group))
            if len(found) in SIZES:
                (sets if is_set else others)[found] = None
    rest = [each for each in others if each not in sets]
    return Found(tuple(sets)[:_MOST], tuple(rest)[:_MOST])


class _Reader:
    """Of one file. A name stands for all that is ever assigned to it."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in self._nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for each in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._assigned.setdefault(_name(each), []).append(node.value)

    def groups(self) -> Iterator[tuple[bool, Strings]]:
        """What stands together, and whether it is put into a set."""
        for node in self._nodes:
            if isinstance(node, ast.Call) and _name(node.func) in _MAKERS and node.args:
                yield from ((True, each) for each in self._given(node.args[0]))
            elif isinstance(node, ast.Call):
                yield False, _split(node)
            elif isinstance(node, (ast.Set, ast.SetComp, ast.List, ast.Tuple, ast.Dict)):
                is_set = isinstance(node, (ast.Set, ast.SetComp))
                yield from ((is_set, each) for each in self._given(node))

    def _given(self, node: ast.expr, depth: int = 0) -> Iterator[Strings]:
        """The strings that going through an expression gives."""
        if depth > _DEEP:
            return
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            yield _constants(node.keys if isinstance(node, ast.Dict) else node.elts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield tuple(node.value)
        elif isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
            first = node.generators[0]
            if len(node.generators) == 1 and isinstance(first.target, ast.Name):
                for values in self._given(first.iter, depth + 1):
                    yield tuple(_text(node.elt, first.target.id, each) for each in values)
        elif isinstance(node, ast.Name):
            for value in self._assigned.get(node.id, ()):
                yield from self._given(value, depth + 1)
        elif isinstance(node, ast.Call):
            yield _numbers(node) or _split(node)


def _constants(nodes: Iterable[ast.expr | None]) -> Strings:
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
    is_known = given and len(given) == len(node.args) and all(type(each) is int for each in given)
    if _name(node.func) != "range" or not is_known:
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
