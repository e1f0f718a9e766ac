"""Makefiles: the variables that recipes see, and the commands in them.

Read by lines, as make does; recipes, their variables replaced, are left to the reader of shell.
The grammar for tree-sitter takes ``$(…)`` apart no further than a line does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents import shell
from detlint.documents.document import Command, Document, Variable
from detlint.documents.shell_scope import EMPTY, Piece, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from detlint.documents.document import Node
    from detlint.sources.source import Source

_PREFIX = " \t@+-"  # of a line: whether make shows it, and what it does if it fails
# A backslash and the end of the line: what make hands to the shell, but for the tab behind.
_CONTINUED = re.compile(r"\\\r?\n\t?")
_REFERENCE = re.compile(r"\$(?:\(([^()$\s:,]+)\)|\{([^{}$\s:,]+)\}|(\$)|([\w@<^+?*%]))")
_DEEPEST = 30
_LOGICAL = re.compile(r"(?:[^\n\\]|\\(?:\r?\n|.)|\\\Z)*(?:\n|\Z)")
_ASSIGNMENT = re.compile(
    r"(?P<words>(?:(?:export|override|private|unexport)[ \t]+)*)"
    r"(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?P<operator>:::?=|::?=|\?=|\+=|!=|=)[ \t]*(?P<value>.*)",
    re.DOTALL,
)
_EXPORT = re.compile(r"(export|unexport)(?:[ \t]+([\w \t.-]+))?[ \t]*$")
_TARGET = re.compile(r"(?P<targets>[^\t#=:][^#=:]*?)[ \t]*::?(?!=)[ \t]*(?P<rest>.*)", re.DOTALL)
_BRANCH = re.compile(r"[ \t]*(ifeq|ifneq|ifdef|ifndef|else|endif|define|endef)\b[ \t]*(.*)")


def read(source: Source) -> Document:
    """A Makefile's variables and the commands of its recipes."""
    found, comments = lines(source.text)
    make = _Make(found)
    nodes: list[Node] = [*make.told()]
    for text, target in _recipes(source.text, found):
        seen = make.seen(target)
        piece = seen.expand(text)
        places = (*piece.places, piece.places[-1] + 1) if piece.places else (0,)
        environment = seen.environment()
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
    begin = len(line.value) - len(line.value.lstrip(_PREFIX))
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
        self._values: dict[str, dict[str, MakeValue]] = {"": {}}
        self._seen: dict[str, Variables] = {}
        self._every = any(each.kind == "export" and not each.name for each in found)
        exported = {name for each in found if each.kind == "export" for name in each.name.split()}
        exported |= {each.name for each in found if each.exported and not each.target}
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
            values[line.name] = MakeValue(
                text, exported or (old is not None and old.exported), line
            )

    def told(self) -> Iterator[Variable]:
        """Each assignment."""
        for line in self._lines:
            target = (line.target.split() or [""])[0]
            now = self._values[target][line.name]
            end = line.value_start + len(line.value)
            text = Piece(line.value, tuple(range(line.value_start, end)))
            if line.operator in ("+=", "!="):
                text = now.text if now.line == line else unknown(line.value_start)
            value = self.seen(target).expand(text).known
            place = line.value_start, end
            yield Variable(line.start, line.end, line.name, value, *place, now.exported)

    def seen(self, targets: str) -> Variables:
        """The variables that the recipe of some targets sees."""
        if targets not in self._seen:
            own = [self._values.get(each, {}) for each in targets.split()]
            self._seen[targets] = Variables({**self._values[""], **(own[0] if own else {})})
        return self._seen[targets]


# Variables, replaced in texts as make does: late, and values in values


class MakeValue(NamedTuple):
    """A variable's text as it is written, and the line that wrote it."""

    text: Piece
    exported: bool
    line: Line


class Variables:
    """Those that the recipe of a target sees."""

    def __init__(self, values: Mapping[str, MakeValue]) -> None:
        self._values = values
        self._expanded: dict[str, Piece] = {}

    def environment(self) -> dict[str, str | None]:
        """What the programs in it see."""
        exported = (name for name, each in self._values.items() if each.exported)
        return {name: self._value(name, frozenset()).known for name in exported}

    def expand(self, piece: Piece, around: frozenset[str] = frozenset()) -> Piece:
        """A text with the variables replaced; ``around`` are those that it is the value of."""
        found = EMPTY
        text, done = piece.text, 0
        while (place := text.find("$", done)) >= 0:
            found = found.plus(Piece(text[done:place], piece.places[done:place]))
            match = _REFERENCE.match(text, place)
            done = match.end() if match else _closing(text, place)
            name = (match[1] or match[2] or match[4]) if match else ""
            if match and match[3]:
                found = found.plus(Piece("$", (piece.places[place],)))
            elif name in self._values and name not in around and len(around) < _DEEPEST:
                found = found.plus(self._value(name, around))
            else:  # a function, or what nothing here sets
                found = found.plus(unknown(piece.places[place]))
        return found.plus(Piece(text[done:], piece.places[done:]))

    def _value(self, name: str, around: frozenset[str]) -> Piece:
        """The value of a variable, worked out once."""
        if name not in self._expanded:
            self._expanded[name] = self.expand(self._values[name].text, around | {name})
        return self._expanded[name]


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


class Line(NamedTuple):
    """One line, with those that it goes on in.

    kind    "assignment", "export", "unexport", "recipe", "rule" or "include"
    name    of the variable, or the targets
    value   what is assigned or run, and where it begins
    target  of which target alone the assignment is; "" for all
    branch  "" outside of any condition, "ifndef NAME" within such, else "if"
    """

    kind: str
    start: int
    end: int
    name: str = ""
    operator: str = ""
    value: str = ""
    value_start: int = 0
    target: str = ""
    exported: bool = False
    branch: str = ""


def lines(text: str) -> tuple[list[Line], list[tuple[int, int]]]:
    """The lines that tell something, and the spans of the comments outside of recipes."""
    reading = _Reading(text)
    return list(reading.read()), reading.comments


class _Reading:
    def __init__(self, text: str) -> None:
        self._text = text
        self._branches: list[str] = []
        self._in_rule = False
        self._defines = 0
        self.comments: list[tuple[int, int]] = []

    def read(self) -> Iterator[Line]:
        for match in _LOGICAL.finditer(self._text):
            line = match[0].rstrip("\r\n")
            if not line.strip():
                continue
            if line.startswith("\t") and self._in_rule:
                start = match.start() + 1
                yield Line(
                    "recipe", start, match.start() + len(line), value=line[1:], value_start=start
                )
            elif not self._branched(line) and not self._defines:
                yield from self._plain(match.start(), line)

    def _branched(self, line: str) -> bool:
        """Whether a line begins or ends a condition, or the definition of a text."""
        found = _BRANCH.match(line)
        if found is None:
            return False
        word, rest = found[1], found[2].strip()
        if word in ("define", "endef"):
            self._defines = max(0, self._defines + (1 if word == "define" else -1))
        elif word.startswith("if"):
            self._branches.append(f"ifndef {rest}" if word == "ifndef" else "if")
        elif word == "else" and self._branches:
            self._branches[-1] = "if"
        elif word == "endif" and self._branches:
            self._branches.pop()
        return True

    def _plain(self, start: int, line: str) -> Iterator[Line]:
        line = self._uncommented(start, line)
        body = line.lstrip(" \t")
        start += len(line) - len(body)
        if body.startswith(("include ", "-include ", "sinclude ")):
            yield Line("include", start, start + len(body), value=body.partition(" ")[2].strip())
        elif (given := _ASSIGNMENT.match(body)) is not None:
            yield self._assignment(start, given, "")
        elif (plain := _EXPORT.match(body)) is not None:
            yield Line(plain[1], start, start + len(body), name=(plain[2] or "").strip())
        elif (rule := _TARGET.match(body)) is not None:
            yield from self._rule(start, rule)

    def _rule(self, start: int, rule: re.Match[str]) -> Iterator[Line]:
        targets, rest = rule["targets"].strip(), rule["rest"]
        given = _ASSIGNMENT.match(rest)
        place = start + rule.start("rest")
        if given is not None:
            yield self._assignment(place, given, targets)
            return
        self._in_rule = True
        yield Line("rule", start, start + rule.end(), name=targets, value=rest.partition(";")[0])
        if ";" in rest:
            begin = place + rest.index(";") + 1
            recipe = rest[rest.index(";") + 1 :]
            yield Line("recipe", begin, begin + len(recipe), value=recipe, value_start=begin)

    def _assignment(self, start: int, given: re.Match[str], target: str) -> Line:
        return Line(
            "assignment",
            start,
            start + given.end(),
            given["name"],
            given["operator"],
            given["value"].rstrip(),
            start + given.start("value"),
            target,
            "export" in given["words"].split(),
            next((each for each in reversed(self._branches)), ""),
        )

    def _uncommented(self, start: int, line: str) -> str:
        """A line without its comment, which is kept."""
        found = re.search(r"(?<!\\)#", line)
        if found is None:
            return line
        self.comments.append((start + found.start(), start + len(line)))
        return line[: found.start()].rstrip()
