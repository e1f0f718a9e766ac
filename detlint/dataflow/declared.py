"""What annotations say of types."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import last_of
from detlint.dataflow.lattice import ANY, NONE, NOTHING, Type, Types, container, joined, plain
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = {
    "str": "str",
    "LiteralString": "str",
    "bytes": "bytes",
    "int": "int",
    "float": "float",
    "complex": "float",
    "bool": "bool",
    "Path": "path",
    "PurePath": "path",
    "object": "object",
    "type": "type",
    "Type": "type",
    "Callable": "function",
    "date": "object",
    "datetime": "object",
    "dtype": "object",
    "Module": "object",
    "Parameter": "object",
    "Tensor": "object",
}
_SETS = frozenset(("set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"))
_LISTS = words("list List Sequence MutableSequence Collection deque Deque UserList")
_ITERATORS = words("Iterable Iterator Generator AsyncIterator AsyncIterable ValuesView Container")
_DICTS = words("dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict UserDict")
_WRAPPERS = words("Optional Union Annotated Final ClassVar Required NotRequired")
_HOLDERS = {
    **dict.fromkeys(_SETS, "set"),
    **dict.fromkeys(_LISTS, "list"),
    **dict.fromkeys(_ITERATORS, "iterator"),
    **dict.fromkeys(_DICTS, "dict"),
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
    "KeysView": "keys",
    "Counter": "counter",
}


def of(node: ast.AST | None, resolve: Callable[[str], Types]) -> Types:
    """The types that an annotation says; ``resolve`` gives those of a class, or of what another
    name stands for, by its dotted name."""
    if isinstance(node, ast.Constant):
        return _of_constant(node, resolve)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return joined(of(node.left, resolve), of(node.right, resolve))
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _of_generic(last_of(node.value), list(inner), resolve)
    if isinstance(node, (ast.Name, ast.Attribute)):
        word = last_of(node)
        known = _NAMES.get(word)
        if known is not None:
            return plain(known)
        return resolve(dotted(node)) if word not in _generic() else _of_generic(word, [], resolve)
    return ANY


def _generic() -> frozenset[str]:
    return _SETS | _LISTS | _ITERATORS | _DICTS | {"tuple", "Tuple", "Counter", "KeysView", "None"}


def _of_constant(node: ast.Constant, resolve: Callable[[str], Types]) -> Types:
    if node.value is None:
        return NONE
    if not isinstance(node.value, str):
        return ANY
    try:
        return of(ast.parse(node.value.strip(), mode="eval").body, resolve)
    except (SyntaxError, ValueError):
        return ANY


def _of_generic(word: str, inner: list[ast.expr], resolve: Callable[[str], Types]) -> Types:
    if word in _WRAPPERS:
        members = inner[:1] if word == "Annotated" else inner
        found = [of(each, resolve) for each in members]
        return joined(*found, NONE if word == "Optional" else NOTHING)
    if word == "Literal":
        return joined(*(_of_literal(each) for each in inner))
    given = [of(each, resolve) for each in inner if not _is_ellipsis(each)]
    first = given[0] if given else ANY
    holder = _HOLDERS.get(word)
    if holder == "dict":
        return container("dict", first, given[1] if len(given) > 1 else ANY)
    if holder == "tuple" and inner and not any(map(_is_ellipsis, inner)):
        return container("tuple", *given)
    if holder is not None:
        return container("list" if holder == "tuple" else holder, first)
    return plain(_NAMES[word]) if word in _NAMES else resolve(word)


def _of_literal(node: ast.expr) -> Types:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str):
        return lattice.TEXT
    if isinstance(value, bytes):
        return lattice.BYTES
    return lattice.INTEGER if isinstance(value, int) else NONE


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def dotted(node: ast.AST) -> str:
    """A name with all that stands before it: ``data.Images``."""
    above = f"{dotted(node.value)}." if isinstance(node, ast.Attribute) else ""
    return f"{above}{last_of(node)}"


def is_vague(types: Types) -> bool:
    """Whether something in it is left open."""
    return lattice.holds(types, lambda one: one == lattice.UNKNOWN)


__all__ = ["Type", "is_vague", "of"]


def classes(annotation: ast.expr | None) -> list[str]:
    """The dotted names in an annotation: ``Optional[np.random.Generator]``."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return []
    if isinstance(annotation, (ast.Name, ast.Attribute)):
        return [ast.unparse(annotation)]
    if isinstance(annotation, ast.BinOp):
        return classes(annotation.left) + classes(annotation.right)
    if isinstance(annotation, ast.Subscript):
        optional = ast.unparse(annotation.value).rpartition(".")[2] == "Optional"
        return classes(annotation.slice) if optional else []
    return []
