"""Dockerfiles: the environment of an image, what builds it and what it runs.

Read by lines: an instruction is a line, what it goes on in and its here-documents. The parts
that are shell are left to the reader of shell. The grammar for tree-sitter of them does not
know here-documents with options, and tells nothing more.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents import shell
from detlint.documents.document import Command, Document, Variable
from detlint.sources.kinds import interpreted_by, kind_of_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.documents.document import Node
    from detlint.sources.source import Source

_PAIR = re.compile(
    r"(?<!\w)([A-Za-z_]\w*)=((?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[^\s\"'\\])*)", re.DOTALL
)
_OLD_FORM = re.compile(r"([A-Za-z_]\w*)[ \t]+(\S.*)", re.DOTALL)
_FLAGS = re.compile(r"(?:--[a-z]+(?:=\S*)?\s+)*")
_ELEMENT = re.compile(r'"((?:\\.|[^"\\])*)"')
_FROM = re.compile(r"(?:--platform=\S+\s+)?(\S+)(?:\s+as\s+(\S+))?", re.IGNORECASE)
_SHELL_SIGNS = frozenset(";&|<>()`")
_ESCAPING = frozenset("$\"'\\")
_ONLY_DOCUMENT = re.compile(r"<<-?\s*['\"]?\w+['\"]?\s*$")


def read(source: Source) -> Document:
    """An image's variables, and the commands that build and start it."""
    found, comments = instructions(source.text)
    reading = _Reading()
    for each in found:
        reading.read(each)
    reading.end_stage()
    return Document(source, reading.nodes, comments)


class _Stage(NamedTuple):
    """What holds in a stage of the build: variables of the image, and of its build alone."""

    image: dict[str, str | None]
    build: dict[str, str | None]


class _Reading:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._stages: dict[str, _Stage] = {}
        self._stage = _Stage({}, {})
        self._folder: str | None = ""
        self._shell_runs = True
        self._starts: dict[str, Instruction] = {}

    def read(self, each: Instruction) -> None:
        """Follow one instruction."""
        if each.name == "FROM":
            self._begin_stage(each)
        elif each.name in ("ENV", "ARG"):
            self._set(each)
        elif each.name == "WORKDIR":
            self._folder = each.text.strip() if "$" not in each.text else None
        elif each.name == "SHELL":
            words = [word for word, _ in _listed(each) or ()]
            self._shell_runs = any(interpreted_by(word) == "shell" for word in words)
        elif each.name == "RUN":
            self._run(each, {**self._stage.build, **self._stage.image})
        elif each.name in ("CMD", "ENTRYPOINT"):
            self._starts[each.name] = each

    def _begin_stage(self, each: Instruction) -> None:
        self.end_stage()
        match = _FROM.match(each.text)
        base = self._stages.get(match[1].lower()) if match else None
        image, build = ({**base.image}, {**base.build}) if base else ({}, {})
        self._stage = _Stage(image, build)
        self._folder, self._shell_runs = "", True
        if match and match[2]:
            self._stages[match[2].lower()] = self._stage

    def _set(self, each: Instruction) -> None:
        """``ENV A=b C=d``, ``ENV A b c``, ``ARG A=b``."""
        exported = each.name == "ENV"
        into = self._stage.image if exported else self._stage.build
        for name, raw, start in _settings(each):
            value = self._value(raw)
            ends = each.places[start], each.places[start + len(raw)]
            inside = int(len(raw) > 1 and raw[0] in "\"'" and raw[-1] == raw[0])
            begin = each.places[start - len(name) - 1] if start else ends[0]
            into[name] = value
            self.nodes.append(
                Variable(begin, ends[1], name, value, ends[0] + inside, ends[1] - inside, exported)
            )

    def _value(self, raw: str) -> str | None:
        """What a value stands for, variables of the build replaced."""
        if not _SHELL_SIGNS.isdisjoint(raw):
            return raw if _ESCAPING.isdisjoint(raw) else None
        if re.search(r"(?<!\\)\s", raw) and raw[0] not in "\"'":
            raw = f'"{raw}"'  # of the old form, which takes the rest of the line
        known = {**self._stage.build, **self._stage.image}
        for node in shell.parse(f"A={raw}", environment=known):
            if isinstance(node, Variable):
                return node.value
        return None

    # Commands

    def _run(self, each: Instruction, environment: dict[str, str | None]) -> None:
        """A command in exec form, in shell form, or of a here-document."""
        listed = _listed(each)
        if listed is not None:
            self._parse(*shell.quoted(listed), environment)
            return
        if not self._shell_runs:
            return
        flags = _FLAGS.match(each.text) if each.name == "RUN" else None
        begin, end = flags.end() if flags else 0, len(each.text)
        if each.document >= 0 and _ONLY_DOCUMENT.match(each.text[begin : each.document]):
            begin = each.document
            end = each.text.rstrip().rfind("\n") + 1
            first = each.text[begin:].partition("\n")[0]
            if first.startswith("#!") and kind_of_line(first.encode()) != "shell":
                return
        self._parse(each.text[begin:end], each.places[begin : end + 1], environment)

    def _parse(self, text: str, places: Sequence[int], environment: dict[str, str | None]) -> None:
        for node in shell.parse(text, environment=environment, places=places):
            if isinstance(node, Command):
                self.nodes.append(node._replace(folder=self._below(node.folder)))
            else:
                self.nodes.append(node)

    def _below(self, folder: str | None) -> str | None:
        if folder is None or self._folder is None or folder.startswith("/"):
            return folder
        return f"{self._folder}/{folder}".rstrip("/") if self._folder else folder

    def end_stage(self) -> None:
        """What the image runs, in its environment at the end."""
        entry, command = self._starts.get("ENTRYPOINT"), self._starts.get("CMD")
        self._starts = {}
        if entry is not None and command is not None:
            begun, given = _listed(entry), _listed(command)
            if given is None:  # in shell form
                nowhere = (command.start,) * 5
                text = command.text.rstrip()
                given = [("sh", nowhere), ("-c", nowhere), (text, command.places[: len(text) + 1])]
            if begun is not None:
                self._parse(*shell.quoted([*begun, *given]), self._stage.image)
                return
        for each in (entry or command,):
            if each is not None:
                self._run(each, self._stage.image)


def _settings(each: Instruction) -> Iterator[tuple[str, str, int]]:
    """Names, values as they are written, and where these begin in the argument."""
    if re.match(r"\s*[A-Za-z_]\w*=", each.text):
        for match in _PAIR.finditer(each.text):
            yield match[1], match[2], match.start(2)
    elif each.name == "ENV" and (old := _OLD_FORM.match(each.text)):
        yield old[1], old[2].rstrip(), old.start(2)


def _listed(each: Instruction) -> list[tuple[str, Sequence[int]]] | None:
    """The words of ``["python", "train.py"]`` with the places of their letters; None for a
    command in shell form."""
    text = each.text.strip()
    try:
        words = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(words, list) or not words or not all(isinstance(w, str) for w in words):
        return None
    found: list[tuple[str, Sequence[int]]] = []
    for word, match in zip(words, _ELEMENT.finditer(each.text), strict=False):
        places = each.places[match.start(1) : match.end(1) + 1]
        if len(places) != len(word) + 1:  # escapes in it
            places = (*(places[0],) * len(word), places[-1])
        found.append((word, places))
    return found


# Instructions: lines that go on behind a backslash, and here-documents

_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*([\\`])", re.IGNORECASE)
_NAMED = re.compile(r"[ \t]*(?:ONBUILD[ \t]+)?([A-Za-z]+)[ \t]+", re.IGNORECASE)
_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


class Instruction(NamedTuple):
    """``name`` in capitals; its argument with the place of each letter, and of the end.
    ``document`` is where the first here-document begins in the argument, -1 without such."""

    name: str
    start: int
    end: int
    text: str
    places: tuple[int, ...]
    document: int = -1


def instructions(text: str) -> tuple[list[Instruction], list[tuple[int, int]]]:
    """The instructions, and the spans of the comments."""
    lines = [(match.start(), match[0]) for match in _LINE.finditer(text)]
    escape = _ESCAPE.match(text)
    reading = _Lines(lines, escape[1] if escape else "\\")
    return list(reading.read()), reading.comments


class _Lines:
    def __init__(self, lines: list[tuple[int, str]], escape: str) -> None:
        self._lines = lines
        self._escape = escape
        self._next = 0
        self.comments: list[tuple[int, int]] = []

    def read(self) -> Iterator[Instruction]:
        while self._next < len(self._lines):
            logical = list(self._logical())
            text = "".join(piece for _, piece in logical)
            match = _NAMED.match(text)
            if match is None:
                continue
            places = [start + index for start, piece in logical for index in range(len(piece))]
            end = places[-1] + 1
            name = match[1].upper()
            document = -1
            found = _DOCUMENT.search(text) if name in ("RUN", "COPY", "ADD") else None
            if found is not None and "<<<" not in text:
                document = len(text) + 1 - match.end()
                body = list(self._document(found[2]))
                text = f"{text}\n" + "".join(piece for _, piece in body)
                places.append(end)
                places += [start + index for start, piece in body for index in range(len(piece))]
                end = places[-1] + 1
            argument = tuple(places[match.end() :])
            yield Instruction(name, places[0], end, text[match.end() :], (*argument, end), document)

    def _logical(self) -> Iterator[tuple[int, str]]:
        """A line and those that it goes on in: without the escapes, and comments between."""
        begun = False
        while self._next < len(self._lines):
            start, line = self._lines[self._next]
            self._next += 1
            content = line.rstrip("\r\n")
            bare = content.lstrip(" \t")
            if bare.startswith("#"):
                self.comments.append((start + len(content) - len(bare), start + len(content)))
            elif bare or not begun:
                stripped = content.rstrip(" \t")
                goes_on = stripped.endswith(self._escape)
                yield start, stripped[:-1] if goes_on else content
                begun = goes_on
            if not begun:
                return

    def _document(self, word: str) -> Iterator[tuple[int, str]]:
        while self._next < len(self._lines):
            start, line = self._lines[self._next]
            self._next += 1
            yield start, line
            if line.strip() == word:
                return
