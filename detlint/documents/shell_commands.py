"""Commands of a shell: what they start, in which environment, and the scripts within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.document import Command, Variable, Word
from detlint.documents.shell_assignments import prefixed
from detlint.documents.shell_builtins import BUILTINS
from detlint.documents.shell_front import started
from detlint.documents.shell_scope import HOLE, Piece, Scope, Value
from detlint.documents.shell_scripts import takes_text
from detlint.sources.kinds import interpreted_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from detlint.documents.shell_front import Started
    from detlint.documents.shell_run import Shell

_REMOTE = frozenset({"ssh", "pdsh", "clush"})
_REMOTE_VALUES = frozenset(
    {"-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-W", "-w"}
)


def run(shell: Shell, node: Node) -> None:
    """``A=b program …``."""
    if node.has_error:
        shell.forget(node)
        return
    for each in node.children:
        if each.type == "herestring_redirect" and each.named_children:
            run_fed(shell, node, shell.values().text(each.named_children[-1]))
            return
    _run(shell, node)


def _run(shell: Shell, node: Node) -> None:
    with prefixed(shell, node):
        words = _words(shell, node)
        if words:
            _start(shell, (shell.tree.start(node), shell.tree.end(node)), words)


def run_fed(shell: Shell, node: Node, text: Piece) -> None:
    """A command that reads some text from its standard input: a shell runs that."""
    start = started([_known(each) for each in _words(shell, node)])
    if not _runs_input(start.words):
        _run(shell, node)
        return
    with prefixed(shell, node):
        scope = _inherited(shell, start)
        if _name(start.words) in _REMOTE:
            _away(scope)
        shell.inner(text, start.front, scope)


def _words(shell: Shell, node: Node) -> tuple[Word, ...]:
    values = shell.values()
    own = (
        child
        for child in node.named_children
        if child.type not in ("variable_assignment", "comment")
        and not child.type.endswith("_redirect")
    )
    return tuple(
        shell.found.place(field)
        for child in (*own, *_behind_redirections(shell.redirected.get(node.id)))
        for field in values.words(child)
    )


def _behind_redirections(redirected: Node | None) -> Iterator[Node]:
    """``--flag`` of ``program > log --flag``: to the grammar, ``>`` takes all that follows."""
    for each in redirected.children if redirected is not None else ():
        if each.type == "file_redirect":
            yield from each.children_by_field_name("destination")[1:]


def _start(shell: Shell, place: tuple[int, int], words: tuple[Word, ...]) -> None:
    name = words[0].text or ""
    if shell.defines(name):
        shell.call(name, words[1:])
    elif name in BUILTINS:
        BUILTINS[name](shell, words)
    else:
        start = started([_known(each) for each in words])
        scope = _inherited(shell, start)
        script = _script(start.words)
        if script is None:
            command = Command(*place, start.words, scope.environment())
            front = shell.front + start.front
            shell.found.command(
                command._replace(front=front, folder=scope.folder, sourced=scope.sourced)
            )
            return
        if _name(start.words) in _REMOTE:
            _away(scope)
        # With what is not known in it, which the words of `start` do not tell.
        script = words[len(words) - len(start.words) + start.words.index(script)]
        letters = shell.found.letters(script)[:-1]
        shell.inner(Piece(script.text or "", letters), start.front, scope)


def _known(word: Word) -> Word:
    return word if HOLE not in (word.text or "") else word._replace(text=None)


def _inherited(shell: Shell, start: Started) -> Scope:
    """What a program sees, by what stands in front of it."""
    scope = shell.scope.child()
    for name in start.unset:
        scope.values.pop(name, None)
    if start.fresh:
        scope.values = {name: scope.values[name] for name in start.passes if name in scope.values}
        scope.sourced = ()
    for word in start.sets:
        name, _, value = (word.text or "").partition("=")
        begin = max(word.start, word.end - len(value))
        shell.found.variable(Variable(word.start, word.end, name, value, begin, word.end))
        scope.values[name] = Value(Piece(value, (begin,) * len(value)), exported=True)
    return scope


def _away(scope: Scope) -> None:
    """On another machine, nothing is inherited."""
    scope.values, scope.sourced, scope.folder = {}, (), None


def _name(words: Sequence[Word]) -> str:
    return (words[0].text or "").rpartition("/")[2] if words else ""


def _script(words: Sequence[Word]) -> Word | None:
    """The word of a command that is shell text: ``bash -c '…'``, ``ssh host '…'``."""
    name = _name(words)
    if interpreted_by(name) == "shell":
        for index, word in enumerate(words[1:], 1):
            if word.text is None or not word.text.startswith("-"):
                break
            if takes_text(word.text):
                return words[index + 1] if index + 1 < len(words) else None
    elif name in _REMOTE:
        place = 1
        while place < len(words) and (words[place].text or "").startswith("-"):
            place += 2 if words[place].text in _REMOTE_VALUES else 1
        place += name == "ssh"  # the host
        return words[place] if place < len(words) else None
    return None


def _runs_input(words: Sequence[Word]) -> bool:
    """Whether a command runs its standard input as a script."""
    if _name(words) in _REMOTE:
        return _script(words) is None or interpreted_by(words[-1].text or "") == "shell"
    plain = all((each.text or "").startswith("-") and each.text != "-c" for each in words[1:])
    return interpreted_by(_name(words)) == "shell" and plain
