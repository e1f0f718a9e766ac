"""Assignments of a shell: ``A=b``, ``export A=b``, ``ARGS+=(--more)``, ``unset A``."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from detlint.documents.document import Variable, Word
from detlint.documents.shell_scope import EMPTY, HOLE, Value, capped, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from detlint.documents.shell_run import Shell


def assign(shell: Shell, node: Node, *, exported: bool = False) -> None:
    """``A=b``, ``A+=b``, ``A=(b c)``."""
    target = node.child_by_field_name("name")
    if target is None or target.type != "variable_name" or node.has_error:
        shell.forget(node)  # one element of an array, too
        return
    name = shell.tree.text(target)
    start, end = shell.tree.start(node), shell.tree.end(node)
    given = node.child_by_field_name("value")
    value = _value(shell, given, end)
    if any(each.type == "+=" for each in node.children):
        value = _appended(shell.scope.values.get(name), value, start)
    value = shell.scope.set(name, value._replace(exported=exported, start=start))
    place = (end, end) if given is None else _inside(shell, given)
    known = None if value.words is not None else value.text.known
    shell.found.variable(Variable(start, end, name, known, *place, value.exported))


def declare(shell: Shell, node: Node) -> None:
    """``export A=b C``, ``declare -x A=b``, ``local A=b``."""
    keyword = shell.tree.text(node.children[0])
    options = [shell.tree.text(each) for each in node.named_children if each.type == "word"]
    if keyword == "export" and "-n" in options:
        for each in node.named_children:
            shell.scope.values.pop(shell.tree.text(each), None)
        return
    exported = keyword == "export" or any(re.match(r"-\w*x", each) for each in options)
    for each in node.named_children:
        if each.type == "variable_assignment":
            assign(shell, each, exported=exported)
        elif each.type == "variable_name" and exported:
            _export(shell, shell.tree.text(each))


def _export(shell: Shell, name: str) -> None:
    value = shell.scope.values.get(name)
    if value is None:
        shell.scope.marked |= {name}
    else:
        shell.scope.values[name] = value._replace(exported=True)
        shell.found.export(value.start)


def unset(shell: Shell, node: Node) -> None:
    """``unset A``."""
    for each in node.named_children:
        shell.scope.values.pop(shell.tree.text(each), None)


@contextmanager
def prefixed(shell: Shell, command: Node) -> Iterator[None]:
    """With the variables that are set in front of a command, for it alone."""
    given = [each for each in command.children if each.type == "variable_assignment"]
    outer = dict(shell.scope.values) if given else {}
    for each in given:
        assign(shell, each, exported=True)
    yield
    for each in given:
        name = shell.tree.text(each).partition("=")[0].rstrip("+")
        shell.scope.values.pop(name, None)
        if name in outer:
            shell.scope.values[name] = outer[name]


def _value(shell: Shell, node: Node | None, end: int) -> Value:
    if node is None:
        return Value(EMPTY)
    if node.type == "array":
        return Value(unknown(end), shell.values().array(node))
    return Value(shell.values().text(node))


def _inside(shell: Shell, node: Node) -> tuple[int, int]:
    """Where a value stands, without its quotes."""
    start, end = shell.tree.start(node), shell.tree.end(node)
    quoted = node.type in ("string", "raw_string")
    return (start + 1, end - 1) if quoted and end - start > 1 else (start, end)


def _appended(old: Value | None, value: Value, start: int) -> Value:
    """``A+=b`` and ``A+=(b)``."""
    unsure = Word(start, start, HOLE)
    if value.words is None:
        before = unknown(start) if old is None else old.text
        return value._replace(text=before.plus(value.text))
    words: tuple[Word, ...] = (unsure,)
    if old is not None:
        alone = Word(max(old.start, 0), max(old.start, 0), old.text.text)
        words = old.words if old.words is not None else (alone,) if old.text.text else ()
    return value._replace(words=capped((*words, *value.words)))
