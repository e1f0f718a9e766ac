"""Makefiles: the variables that recipes see, and the commands in them.

Read by lines, as make does; recipes, their variables replaced, are left to the reader of shell.
The grammar for tree-sitter takes ``$(…)`` apart no further than a line does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents import shell
from detlint.documents.document import Command, Document, Variable
from detlint.documents.makefile_lines import Line, lines
from detlint.documents.shell_scope import EMPTY, Piece, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detlint.documents.document import Node
    from detlint.source import Source

_REFERENCE = re.compile(r"\$(?:\(([^()$\s:,]+)\)|\{([^{}$\s:,]+)\}|(\$)|([\w@<^+?*%]))")
_DEEPEST = 12
_PREFIX = re.compile(r"[ \t]*[@+-]*[ \t]*(?:[@+-]+[ \t]*)*")
# A backslash and the end of the line: what make hands to the shell, but for the tab behind.
_CONTINUED = re.compile(r"\\\r?\n\t?")


class _Value(NamedTuple):
    text: Piece
    exported: bool
    line: Line


def read(source: Source) -> Document:
    """A Makefile's variables and the commands of its recipes."""
    found, comments = lines(source.text)
    make = _Make(found)
    nodes: list[Node] = [*make.told()]
    for text, target in _recipes(source.text, found):
        piece = make.expanded(text, target)
        places = (*piece.places, piece.places[-1] + 1) if piece.places else (0,)
        environment = make.environment(target)
        parsed = shell.parse(piece.text, environment=environment, places=places)
        nodes += [_sourcing(node, make.included) for node in parsed]
        if "#" in text.text:
            comments += shell.comments(text.text, places=(*text.places, text.places[-1] + 1))
    return Document(source, nodes, sorted(comments))


def _sourcing(node: Variable | Command, included: tuple[str, ...]) -> Variable | Command:
    """A command that may see what an included file exports."""
    if isinstance(node, Command):
        return node._replace(sourced=(*included, *node.sourced))
    return node


def _recipes(text: str, found: list[Line]) -> Iterator[tuple[Piece, str]]:
    """The shell text of each line of a recipe, or of a whole one under ``.ONESHELL``, and its
    target."""
    target = ""
    joined = EMPTY
    whole = re.search(r"^\.ONESHELL[ \t]*:", text, re.MULTILINE) is not None
    for line in found:
        if line.kind == "rule":
            if joined.text:
                yield joined, target
            target, joined = line.name, EMPTY
        elif line.kind == "recipe":
            piece = _shell_text(line)
            if whole:
                joined = joined.plus(piece).plus(Piece("\n", (line.end,)))
            elif piece.text.strip():
                yield piece, target
    if joined.text:
        yield joined, target


def _shell_text(line: Line) -> Piece:
    prefix = _PREFIX.match(line.value)
    begin = prefix.end() if prefix else 0
    letters: list[str] = []
    places: list[int] = []
    for match in re.finditer(rf"{_CONTINUED.pattern}|.", line.value[begin:], re.DOTALL):
        kept = match[0].rstrip("\t").replace("\r", "") if len(match[0]) > 1 else match[0]
        letters.append(kept)
        start = line.value_start + begin + match.start()
        places += range(start, start + len(kept))
    return Piece("".join(letters), tuple(places))


class _Make:
    """The variables of a Makefile, for all targets and for some alone, as they are at its end:
    recipes run only then."""

    def __init__(self, found: list[Line]) -> None:
        self._values: dict[str, dict[str, _Value]] = {"": {}}
        self._every = any(each.kind == "export" and not each.name for each in found)
        exported = {name for each in found if each.kind == "export" for name in each.name.split()}
        hidden = {name for each in found if each.kind == "unexport" for name in each.name.split()}
        self._lines = [each for each in found if each.kind == "assignment"]
        names = [each.value for each in found if each.kind == "include" and "$" not in each.value]
        self.included = tuple(name for each in names for name in each.split())
        for line in self._lines:
            shown = line.exported or line.name in exported or self._every
            self._assign(line, exported=shown and line.name not in hidden)

    def _assign(self, line: Line, *, exported: bool) -> None:
        places = tuple(range(line.value_start, line.value_start + len(line.value)))
        text = Piece(line.value, places)
        for target in line.target.split() or [""]:
            values = self._values.setdefault(target, {})
            old = values.get(line.name)
            if line.operator == "+=":
                before = old.text if old else self._values[""].get(line.name, (EMPTY,))[0]
                gap = Piece(" ", (line.value_start,)) if before.text else EMPTY
                text = before.plus(gap).plus(text)
            elif line.operator == "!=":
                text = unknown(line.value_start)
            elif line.operator == "?=" and old is not None:
                continue
            branched = line.branch not in ("", f"ifndef {line.name}")
            if branched and (old is None or old.text.text != text.text):
                text = unknown(line.value_start)
            elif line.branch and not branched and old is not None:
                continue
            values[line.name] = _Value(text, exported or (old is not None and old.exported), line)

    def told(self) -> Iterator[Variable]:
        """Each assignment."""
        for line in self._lines:
            target = (line.target.split() or [""])[0]
            now = self._values[target][line.name]
            places = tuple(range(line.value_start, line.value_start + len(line.value)))
            value = self._expand(Piece(line.value, places), self._seen(target), 0).known
            if line.operator in ("+=", "!="):
                value = (
                    self._expand(now.text, self._seen(target), 0).known
                    if now.line == line
                    else None
                )
            end = line.value_start + len(line.value)
            yield Variable(
                line.start, line.end, line.name, value, line.value_start, end, now.exported
            )

    def environment(self, target: str) -> dict[str, str | None]:
        """What the recipe of some targets sees."""
        seen = self._seen(target)
        return {
            name: self._expand(each.text, seen, 0).known
            for name, each in seen.items()
            if each.exported
        }

    def expanded(self, text: Piece, target: str) -> Piece:
        """A recipe's text with the variables replaced."""
        return self._expand(text, self._seen(target), 0)

    def _seen(self, targets: str) -> Mapping[str, _Value]:
        own = [self._values.get(each, {}) for each in targets.split()]
        return {**self._values[""], **(own[0] if own else {})}

    def _expand(self, piece: Piece, seen: Mapping[str, _Value], depth: int) -> Piece:
        if "$" not in piece.text:
            return piece
        found = EMPTY
        done = 0
        text = piece.text
        while (place := text.find("$", done)) >= 0:
            found = found.plus(Piece(text[done:place], piece.places[done:place]))
            match = _REFERENCE.match(text, place)
            if match is None:  # a function, or a reference within one
                done = _closing(text, place)
                found = found.plus(unknown(piece.places[place]))
                continue
            name = match[1] or match[2] or match[4]
            done = match.end()
            if match[3]:
                found = found.plus(Piece("$", (piece.places[place],)))
            elif name in seen and depth < _DEEPEST:
                found = found.plus(self._expand(seen[name].text, seen, depth + 1))
            else:
                found = found.plus(unknown(piece.places[place]))
        return found.plus(Piece(text[done:], piece.places[done:]))


def _closing(text: str, place: int) -> int:
    """The place behind ``$(…)``, whatever is in it."""
    opening = text[place + 1 : place + 2]
    closing = {"(": ")", "{": "}"}.get(opening)
    if closing is None:
        return min(place + 2, len(text))
    depth = 0
    for index in range(place + 1, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index + 1
    return len(text)
