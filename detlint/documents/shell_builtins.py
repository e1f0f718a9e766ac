"""Commands that a shell carries out by itself, and that start no program."""

from __future__ import annotations

import re
from posixpath import isabs, join, normpath
from typing import TYPE_CHECKING

from detlint.documents.shell_scope import EMPTY, HOLE, Piece

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from detlint.documents.document import Word
    from detlint.documents.shell_run import Shell

    Words: TypeAlias = "tuple[Word, ...]"

# Scripts of others, that set up a shell and none of what a run depends on.
_OTHERS = re.compile(
    r"(?:activate|conda\.sh|\.?bashrc|\.?bash_profile|\.?profile|modules\.sh|init/\w+)$"
)


def _cd(shell: Shell, words: Words) -> None:
    given = [each.text or "" for each in words[1:] if not (each.text or "").startswith("-")]
    target = given[0] if given else HOLE
    folder = shell.scope.folder
    if HOLE in target or target.startswith("~") or (folder is None and not isabs(target)):
        shell.scope.folder = None
    else:
        shell.scope.folder = normpath(join(folder or "", target))


def _set(shell: Shell, words: Words) -> None:
    """``set -a`` exports what is set from here on; ``set -- a b`` gives ``$1`` and ``$2``."""
    for index, word in enumerate(words[1:], 1):
        text = word.text or ""
        if text == "--":
            shell.give(words[index + 1 :])
            return
        if re.fullmatch(r"[-+][a-z]*a[a-z]*", text) or text == "allexport":
            sign = words[index - 1].text if text == "allexport" else text
            shell.scope.exports_all = (sign or "").startswith("-")


def _source(shell: Shell, words: Words) -> None:
    name = words[1].text if len(words) > 1 else None
    if name and not _OTHERS.search(name):
        # $(dirname $0)/env.sh and $HERE/env.sh stand beside the script, most often.
        name = name.replace(HOLE, ".")
        shell.scope.sourced = (*shell.scope.sourced, name)
        text = shell.scope.beside(name) if shell.scope.beside is not None else None
        if text is not None:
            shell.include(text, words[1].start)


def _eval(shell: Shell, words: Words) -> None:
    text = EMPTY
    for word in words[1:]:
        *letters, end = shell.found.letters(word)
        text = text.plus(Piece(f"{word.text or ''} ", (*letters, end)))
    shell.evaluate(text)


def _forget(shell: Shell, words: Words) -> None:
    """``read A``."""
    names = [each.text or "" for each in words[1:]]
    shell.scope.forget(each for each in names if re.fullmatch(r"[A-Za-z_]\w*", each))


def _end(shell: Shell, words: Words) -> None:
    shell.scope.ended = words[0].text or "exit"


def _popd(shell: Shell, _words: Words) -> None:
    shell.scope.folder = None


def _shift(shell: Shell, _words: Words) -> None:
    shell.shift()


def _nothing(_shell: Shell, _words: Words) -> None:
    """Neither a program nor a variable."""


BUILTINS: dict[str, Callable[[Shell, Words], None]] = {
    "cd": _cd,
    "pushd": _cd,
    "popd": _popd,
    "set": _set,
    "source": _source,
    ".": _source,
    "eval": _eval,
    "read": _forget,
    "mapfile": _forget,
    "readarray": _forget,
    "getopts": _forget,
    "shift": _shift,
    "exit": _end,
    "return": _end,
    **dict.fromkeys(("echo", "printf", "true", "false", ":", "[", "test", "trap"), _nothing),
    **dict.fromkeys(("let", "alias", "ulimit", "umask", "shopt", "wait", "type"), _nothing),
}
