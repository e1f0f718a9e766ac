"""The lines of a Makefile: assignments, rules with their recipes, and what stands in branches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOGICAL = re.compile(r"(?:[^\n\\]|\\(?:\r?\n|.)|\\\Z)*(?:\n|\Z)")
_ASSIGNMENT = re.compile(
    r"(?P<words>(?:(?:export|override|private|unexport)[ \t]+)*)"
    r"(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?P<operator>:::?=|::?=|\?=|\+=|!=|=)[ \t]*(?P<value>.*)",
    re.DOTALL,
)
_EXPORT = re.compile(r"(export|unexport)(?:[ \t]+([\w \t.-]+))?[ \t]*$")
_TARGET = re.compile(r"(?P<targets>[^\t#=:][^#=:]*?)[ \t]*::?(?!=)[ \t]*(?P<rest>.*)", re.DOTALL)
_BRANCH = re.compile(r"[ \t]*(ifeq|ifneq|ifdef|ifndef|else|endif|define|endef)\b[ \t]*(.*)")


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
