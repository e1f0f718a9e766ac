"""YAML: parsed by PyYAML into events, which say where each value, and each alias, is written.

Nothing is constructed: tags of programs (``!include``, ``!!python/object``) make a value unknown.
Plain values are what PyYAML and OmegaConf take them for: ``yes``, ``off`` and ``~`` mean
true, false and null.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import yaml

from detlint.documents import Unreadable, configuration
from detlint.documents.tree import Branch, Leaf, Tree, has_template_marks, is_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Document, Scalar
    from detlint.sources.source import Source

_PREFIX = "tag:yaml.org,2002:"
# An anchor or a tag in front of a value.
_PROPERTY = re.compile(r"(?:[&!][^\s,\[\]{}]*|\s|#[^\r\n]*(?=[\r\n]))*")
_COMMENT = re.compile(r"(?:^|(?<=[ \t\r\n\ufeff]))#[^\r\n]*")
_MERGE = "<<"


def read(source: Source) -> Document:
    """The settings, variables and commands of all documents in a file."""
    builder = _Builder(source.text)
    try:
        for event in yaml.parse(source.text, Loader=_loader()):
            builder.take(event)
    except yaml.YAMLError as error:
        if has_template_marks(source.text):
            return configuration.document(source, (), ())
        raise _unreadable(source, error) from None
    return configuration.document(source, builder.roots, _comments(source.text, builder.scalars))


def _loader() -> Any:  # noqa: ANN401  # types differ between releases of the stubs
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _unreadable(source: Source, error: yaml.YAMLError) -> Unreadable:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    index = getattr(mark, "index", None) or getattr(error, "position", 0) or 0
    place = source.location(min(index, len(source.text)))
    return Unreadable(f"cannot be read as YAML: {problem}", *place)


class _Builder:
    """Makes trees of events. A stack and not recursion: a file's depth is not ours to limit."""

    def __init__(self, text: str) -> None:
        self.roots: list[Branch] = []
        self.scalars: list[tuple[int, int]] = []
        self._text = text
        self._anchors: dict[str, Tree] = {}
        # Open mappings and lists; of a mapping, the key that waits for its value.
        self._open: list[tuple[Branch, list[Leaf | None]]] = []
        self._names: list[str | None] = []

    def take(self, event: Any) -> None:  # noqa: ANN401  # as _loader
        """Take the next event."""
        if isinstance(event, yaml.ScalarEvent):
            self._close(self._scalar(event), event.anchor)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            branch = Branch(*_span(event), is_list=is_list)
            self._open.append((branch, []))
            self._names.append(event.anchor)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            branch, _ = self._open.pop()
            branch.end = max(branch.start, _span(event)[1])
            self._close(branch, self._names.pop())
        elif isinstance(event, yaml.AliasEvent):
            self._close(self._alias(event), None)

    def _close(self, node: Tree, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._add_root(node)
            return
        branch, waiting = self._open[-1]
        if branch.is_list:
            branch.append(node)
        elif not waiting:
            waiting.append(node if isinstance(node, Leaf) else None)
        else:
            key = waiting.pop()
            if key is not None and key.text == _MERGE and not key.style:
                branch.parents = [*_mappings(node), *branch.parents]
            elif key is not None:
                branch.add(key.text, key.start, node)

    def _add_root(self, node: Tree) -> None:
        if isinstance(node, Branch):
            self.roots.append(node)

    def _alias(self, event: Any) -> Tree:  # noqa: ANN401  # as _loader
        start, end = _span(event)
        # Nothing of that name: an alias within what it names, or an error of the file.
        node = self._anchors.get(event.anchor, Leaf(start, end, None, "", known=False))
        return node._replace(start=start, end=end, style="*") if isinstance(node, Leaf) else node

    def _scalar(self, event: Any) -> Leaf:  # noqa: ANN401  # as _loader
        start, end = _span(event)
        if event.anchor is not None or event.tag is not None:
            skipped = _PROPERTY.match(self._text, start, end)
            start = skipped.end() if skipped else start
        self.scalars.append(self._extent(start, end, event.style))
        style = event.style or ""
        value, known = _value(event.value, event.tag, event.implicit)
        return Leaf(start, end, value, event.value, known, style)

    def _extent(self, start: int, end: int, style: str | None) -> tuple[int, int]:
        """Where a ``#`` begins no comment: behind the line of a block's ``|``, it does not."""
        if style not in ("|", ">"):
            return start, end
        body = self._text.find("\n", start, end)
        return (end if body < 0 else body), end


def _span(event: Any) -> tuple[int, int]:  # noqa: ANN401  # as _loader
    return event.start_mark.index, event.end_mark.index


def _mappings(node: Tree) -> list[Branch]:
    if isinstance(node, Leaf):
        return []
    return list(node.branches()) if node.is_list else [node]


@lru_cache(4096)  # configurations repeat each other
def _value(text: str, tag: str | None, implicit: tuple[bool, bool]) -> tuple[Scalar, bool]:
    """What a scalar means, and whether that can be told."""
    value, known = _meant(text, tag, implicit)
    return value, known and is_known(text)


def _meant(text: str, tag: str | None, implicit: tuple[bool, bool]) -> tuple[Scalar, bool]:
    if tag is None or tag == "!":
        tag = _resolve(text) if implicit[0] and tag is None else f"{_PREFIX}str"
    kind = tag.removeprefix(_PREFIX)
    if kind == "null":
        return None, True
    if kind == "bool":
        values = yaml.constructor.SafeConstructor.bool_values
        return (values[text.lower()], True) if text.lower() in values else (None, False)
    if kind in ("int", "float"):
        return _number(kind, text)
    return text, kind == "str" or kind in ("timestamp", "value")


@cache
def _resolver() -> Any:  # noqa: ANN401  # as _loader
    return yaml.resolver.Resolver()


def _resolve(text: str) -> str:
    tag: str = _resolver().resolve(yaml.ScalarNode, text, (True, False))
    return tag


def _number(kind: str, text: str) -> tuple[Scalar, bool]:
    constructor = yaml.constructor.SafeConstructor()
    node = yaml.ScalarNode(f"{_PREFIX}{kind}", text)
    try:
        value: int | float = getattr(constructor, f"construct_yaml_{kind}")(node)
    except (ValueError, IndexError, OverflowError):  # more digits than Python reads, or none
        return None, False
    return value, True


def _comments(text: str, scalars: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    starts = [start for start, _ in scalars]
    position = 0
    while match := _COMMENT.search(text, position):
        at = bisect_right(starts, match.start()) - 1
        if at >= 0 and match.start() < scalars[at][1]:
            position = scalars[at][1]
        else:
            position = match.end()
            yield match.span()
