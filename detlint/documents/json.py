"""JSON, also with comments and trailing commas, parsed by tree-sitter for its places."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from detlint.documents import configuration
from detlint.documents.flavours import may_be_recognised
from detlint.documents.grammar import Syntax
from detlint.documents.tree import Branch, Leaf, Tree, is_known

if TYPE_CHECKING:
    from tree_sitter import Node

    from detlint.documents.document import Document, Scalar
    from detlint.sources.source import Source

_CONSTANTS: dict[str, Scalar] = {"true": True, "false": False, "null": None}
# What JSON lacks and files have: NaN and Infinity, which Python writes, and trailing commas. And
# what the grammar lacks: the sign of `1e+17`.
# What is never closed goes on to the end, lest all that follows is looked through again and again.
_COMMENT = r"//[^\r\n]*(?=[\r\n]|\Z)|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"
_FOREIGN = re.compile(
    rf"""("[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|{_COMMENT})"""
    rf"|-?\b(?:NaN|Infinity)\b|(?<=\d[eE])\+(?=\d)|,(?=(?:\s|{_COMMENT})*[\]}}])",
    re.DOTALL,
)
_KEY = re.compile(r'"([^"\\\s]{1,60})"\s*:')
_CONTAINERS = ("object", "array")


def read(source: Source) -> Document:
    """The settings of a file."""
    import tree_sitter_json

    comments = [match.span() for match in _FOREIGN.finditer(source.text) if match[0][0] == "/"]
    # Most JSON is data, and can be large.
    if not may_be_recognised(_KEY.findall(source.text)):
        return configuration.document(source, (), comments)
    syntax = Syntax(source.text, tree_sitter_json.language(), _FOREIGN.sub(_own, source.text))
    if not syntax.is_whole(source, "JSON"):
        return configuration.document(source, (), comments)
    roots = [_tree(syntax, node) for node in syntax.root.named_children]
    branches = [root for root in roots if isinstance(root, Branch)]
    return configuration.document(source, branches, comments)


def _own(match: re.Match[str]) -> str:
    """Something of JSON's own that is as long, so that the places stay."""
    return match[1] or (" " if match[0] == "," else "1" * len(match[0]))


def _tree(syntax: Syntax, top: Node) -> Tree:
    if top.type not in _CONTAINERS:
        return _leaf(syntax, top)
    root = _branch(syntax, top)
    stack = [(top, root)]
    while stack:
        node, branch = stack.pop()
        for child in node.named_children:
            if child.type == "comment":
                continue
            key, value = (None, child) if branch.is_list else _pair(child)
            if value is None:
                continue
            below = _branch(syntax, value) if value.type in _CONTAINERS else _leaf(syntax, value)
            if isinstance(below, Branch):
                stack.append((value, below))
            if key is None:
                branch.append(below)
            else:
                branch.add(_string(syntax.text_of(key)), syntax.span(key)[0], below)
    return root


def _branch(syntax: Syntax, node: Node) -> Branch:
    return Branch(*syntax.span(node), is_list=node.type == "array")


def _pair(node: Node) -> tuple[Node | None, Node | None]:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    return (key, value) if key is not None else (None, None)


def _leaf(syntax: Syntax, node: Node) -> Leaf:
    written = syntax.text_of(node)
    start, end = syntax.span(node)
    if node.type == "string":
        text = _string(written)
        return Leaf(start, end, text, text, is_known(text))
    if written in _CONSTANTS:
        return Leaf(start, end, _CONSTANTS[written], written)
    try:
        number: int | float = json.loads(written)
    except ValueError:
        return Leaf(start, end, None, written, known=False)
    return Leaf(start, end, number, written)


def _string(written: str) -> str:
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return written
