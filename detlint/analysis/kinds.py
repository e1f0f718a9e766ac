"""What a set holds, as far as its order goes: strings, objects, or numbers, whose order stays."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from detlint.analysis.uses import words
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Kind(Enum):
    """A kind of value, with the plural by which a message names it.

    LIKELY is text by the name or the use of a variable, or with something unknown beside it.
    Of STABLE values a set has the same order in every run.
    """

    TEXT = "strings"
    BYTES = "bytes"
    LIKELY = "strings, it seems"
    OBJECT = "objects"
    STABLE = "numbers"
    UNKNOWN = "unknown"

    @property
    def varies(self) -> bool:
        """Whether a set of these is in another order in another process."""
        return self not in (Kind.STABLE, Kind.UNKNOWN)

    @property
    def sorts(self) -> bool:
        """Whether these are known to compare with each other."""
        return self in (Kind.TEXT, Kind.BYTES)


def merge(kinds: Iterable[Kind | None]) -> Kind | None:
    """The kind of a mixture; None is no evidence at all."""
    found = {kind for kind in kinds if kind is not None}
    if len(found) <= 1:
        return found.pop() if found else None
    if not any(kind.varies for kind in found) or found == {Kind.STABLE, Kind.LIKELY}:
        return Kind.UNKNOWN
    text = found <= {Kind.TEXT, Kind.LIKELY, Kind.UNKNOWN}
    return Kind.LIKELY if text else Kind.OBJECT


# Annotations, by the last word of their names: text of other methods is read as well.

_ATOMS = (
    dict.fromkeys(("str", "LiteralString"), Kind.TEXT)
    | {"bytes": Kind.BYTES}
    | dict.fromkeys(("int", "float", "bool", "complex"), Kind.STABLE)
    | dict.fromkeys(
        ("Path", "PurePath", "date", "datetime", "dtype", "Tensor", "Module", "Parameter", "type"),
        Kind.OBJECT,
    )
)
_SETS = frozenset(("set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"))
_CONTAINERS = _SETS | words(
    """list List Sequence MutableSequence Iterable Iterator Collection Container deque Deque
    Generator KeysView ValuesView dict Dict Mapping MutableMapping OrderedDict defaultdict
    DefaultDict Counter"""
)
_TUPLES = frozenset(("tuple", "Tuple"))
_OBJECTS = frozenset(("Callable", "Type", "type"))
_WRAPPERS = frozenset(("Optional", "Union", "Annotated", "Final", "ClassVar"))


class Annotation:
    """A declared type."""

    def __init__(self, node: cst.BaseExpression) -> None:
        if isinstance(node, cst.SimpleString):
            node = parsed(str(node.evaluated_value)) or node
        self._node = node
        subscript = isinstance(node, cst.Subscript)
        self._word = _last_word(node.value if isinstance(node, cst.Subscript) else node)
        self._inner = _arguments(node) if subscript else []

    def value(self) -> Kind | None:
        """The kind of a value of this type."""
        if isinstance(self._node, cst.BinaryOperation) or self._word in _WRAPPERS:
            missing = Kind.UNKNOWN if self._word == "Optional" else None
            return merge((self._of_members("value"), missing))
        if not self._inner:
            return _ATOMS.get(self._word, Kind.UNKNOWN)
        if self._word == "Literal":
            return merge(_literal(each) for each in self._inner)
        if self._word in _TUPLES:
            return tuple_of(Annotation(each).value() for each in self._inner)
        return Kind.OBJECT if self._word in _OBJECTS else Kind.UNKNOWN

    def elements(self, place: int = 0) -> Kind | None:
        """The kind of what iterating over it gives: keys of a dict; ``place=1`` for its values."""
        if isinstance(self._node, cst.BinaryOperation) or self._word in _WRAPPERS:
            return self._of_members("elements", place)
        if self._word == "None":
            return None
        if self._word in _TUPLES and self._inner:
            return merge(
                Annotation(each).value()
                for each in self._inner
                if not isinstance(each, cst.Ellipsis)
            )
        if self._word in _CONTAINERS and len(self._inner) > place:
            return Annotation(self._inner[place]).value()
        return Kind.TEXT if self._word == "str" else Kind.UNKNOWN

    def is_set(self) -> bool:
        """Whether it says that a value is a set."""
        if isinstance(self._node, cst.BinaryOperation) or self._word in _WRAPPERS:
            members = [each for each in self._members() if not each.is_none()]
            return bool(members) and all(each.is_set() for each in members)
        return self._word in _SETS

    def is_none(self) -> bool:
        """Whether it is ``None``."""
        return self._word == "None"

    def _members(self) -> list[Annotation]:
        if isinstance(self._node, cst.BinaryOperation):
            return [Annotation(self._node.left), Annotation(self._node.right)]
        return [
            Annotation(each) for each in self._inner[: 1 if self._word == "Annotated" else None]
        ]

    def _of_members(self, method: str, *arguments: int) -> Kind | None:
        return merge(getattr(each, method)(*arguments) for each in self._members())


def tuple_of(kinds: Iterable[Kind | None]) -> Kind | None:
    """The kind of a tuple of some: its hash is made of theirs."""
    found = [kind for kind in kinds if kind is not None]
    if any(kind.varies for kind in found):
        return Kind.OBJECT
    return Kind.UNKNOWN if Kind.UNKNOWN in found else Kind.STABLE


def parsed(text: str) -> cst.BaseExpression | None:
    """An expression given as text, if it is one."""
    try:
        return cst.parse_expression(text.strip())
    except cst.ParserSyntaxError:
        return None


def _last_word(node: cst.CSTNode) -> str:
    return (dotted(node) or "").rpartition(".")[2]


def _arguments(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    elements: Sequence[cst.SubscriptElement] = getattr(node, "slice", ())
    return [each.slice.value for each in elements if isinstance(each.slice, cst.Index)]


def _literal(node: cst.BaseExpression) -> Kind:
    if isinstance(node, cst.SimpleString):
        return Kind.BYTES if "b" in node.prefix.lower() else Kind.TEXT
    return Kind.STABLE if isinstance(node, (cst.Integer, cst.Name)) else Kind.UNKNOWN


# Names that say that a value is text.

_TEXT_NAME = re.compile(
    r"(?:^|_)(?:name|filename|path|filepath|text|string|word|sentence|url|dirname)$", re.IGNORECASE
)
_TEXTS_NAME = re.compile(
    r"(?:^|_)(?:names|filenames|paths|filepaths|texts|strings|words|sentences|urls|dirnames|chars"
    r"|characters|files|columns|extensions|suffixes|prefixes|modules|imports|vocab|vocabulary"
    r"|alphabet|phonemes|graphemes)$",
    re.IGNORECASE,
)


def value_by_name(word: str) -> Kind:
    """What the name of a variable says of it."""
    return Kind.LIKELY if _TEXT_NAME.search(word) else Kind.UNKNOWN


def elements_by_name(word: str) -> Kind:
    """What the name of a collection says of its elements."""
    return Kind.LIKELY if _TEXTS_NAME.search(word) else Kind.UNKNOWN
