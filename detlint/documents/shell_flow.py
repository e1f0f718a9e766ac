"""Which statements of a shell run, and in which order: branches, loops, lists, functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.shell_assignments import assign, declare, unset
from detlint.documents.shell_commands import run, run_fed
from detlint.documents.shell_scope import Piece, Value, unknown

if TYPE_CHECKING:
    from tree_sitter import Node

    from detlint.documents.shell_run import Handler, Shell

_TESTS = frozenset({"test_command", "negated_command"})


def _subshell(shell: Shell, node: Node) -> None:
    shell.branch(node.children)


def _pipeline(shell: Shell, node: Node) -> None:
    for child in node.named_children:
        shell.branch([child])


def _list(shell: Shell, node: Node) -> None:
    """``a && b || c``: what follows a test, or ``||``, may not run. That what follows another
    command runs is taken for granted, as its failure ends the matter."""
    rest: list[tuple[str, Node]] = []
    while node.type == "list" and len(node.children) == 3:
        node, operator, right = node.children
        rest.append((operator.type, right))
    shell.walk(node)
    tested = node.type in _TESTS
    for operator_, each in reversed(rest):
        if operator_ == "&&" and not tested:
            shell.walk(each)
        else:
            shell.scope.join([shell.scope.copy(), shell.branch([each])])
        tested = tested or each.type in _TESTS


def _if(shell: Shell, node: Node) -> None:
    own = [each for each in node.children if not each.type.endswith("_clause")]
    clauses = [each for each in node.children if each.type.endswith("_clause")]
    branches = []
    rest = shell.scope.copy()  # where no condition held so far
    for children in (own, *(each.children for each in clauses)):
        then = next((i for i, each in enumerate(children) if each.type == "then"), 0)
        shell.within(rest, lambda nodes=children[:then]: shell.walk_all(nodes))  # type: ignore[misc]
        body = children[then:]
        branch = rest.copy()
        branches.append(shell.within(branch, lambda nodes=body: shell.walk_all(nodes)))  # type: ignore[misc]
    complete = bool(clauses) and clauses[-1].type == "else_clause"
    shell.scope.join([*branches, *([] if complete else [rest])])


def _case(shell: Shell, node: Node) -> None:
    branches = []
    complete = False
    for item in node.children:
        if item.type == "case_item":
            patterns = item.children_by_field_name("value")
            complete = complete or "*" in map(shell.tree.text, patterns)
            branches.append(shell.branch([each for each in item.children if each not in patterns]))
    shell.scope.join([*branches, *([] if complete else [shell.scope.copy()])])


def _loop(shell: Shell, node: Node) -> None:
    values = node.children_by_field_name("value")
    for each in values:
        shell.values().words(each)  # for the commands in it
    before = shell.scope.copy()
    shell.forget(node, new=False)
    variable = node.child_by_field_name("variable")
    if variable is not None:
        shell.scope.set(shell.tree.text(variable), Value(unknown(shell.tree.start(variable))))
    shell.walk_all(each for each in node.children if each not in values and each != variable)
    shell.scope.join([before, shell.scope.copy()])


def _function(shell: Shell, node: Node) -> None:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is not None and body is not None:
        shell.define(shell.tree.text(name), body)


# Redirections


def _redirected(shell: Shell, node: Node) -> None:
    body = node.child_by_field_name("body")
    text = None
    for each in node.children:
        if each.type == "heredoc_redirect":
            text = _document(shell, each)
            for piped in each.named_children:  # cat <<EOF | bash
                if piped.type == "pipeline" and body is not None:
                    _feed(shell, piped, text if shell.tree.text(body) == "cat" else None)
                elif piped.type in ("list", "command"):
                    shell.walk(piped)
        elif each.type == "herestring_redirect" and each.named_children:
            text = shell.values().text(each.named_children[-1])
    if body is not None:
        shell.redirected[body.id] = node
        _feed(shell, body, text)
        del shell.redirected[body.id]


def _feed(shell: Shell, node: Node, text: Piece | None) -> None:
    """Walk a command that reads some text from its standard input."""
    if text is None:
        shell.walk(node)
    elif node.type == "command":
        run_fed(shell, node, text)
    elif node.type == "pipeline":
        first, *others = node.named_children
        shell.branch(others)
        _feed(shell, first, text)
    else:
        shell.walk(node)


def _document(shell: Shell, redirect: Node) -> Piece | None:
    """The text of a here-document."""
    parts = {each.type: each for each in redirect.children}
    body, begin = parts.get("heredoc_body"), parts.get("heredoc_start")
    if body is None or begin is None:
        return None
    if shell.tree.text(begin)[:1] in ("'", '"', "\\"):
        start, end = body.start_byte, body.end_byte
        return Piece(shell.tree.slice(start, end), shell.tree.places(start, end))
    return shell.values().document(body)


def _nothing(_shell: Shell, _node: Node) -> None:
    """A comment, or text that is no code."""


HANDLERS: dict[str, Handler] = {
    "subshell": _subshell,
    "command": run,
    "pipeline": _pipeline,
    "list": _list,
    "if_statement": _if,
    "case_statement": _case,
    "for_statement": _loop,
    "c_style_for_statement": _loop,
    "while_statement": _loop,
    "redirected_statement": _redirected,
    "function_definition": _function,
    "variable_assignment": assign,
    "declaration_command": declare,
    "unset_command": unset,
    "comment": _nothing,
    "heredoc_body": _nothing,
    "test_command": _nothing,
}
