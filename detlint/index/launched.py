"""What a script starts, and the variables that it sets for it, read from the script alone."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.grouping import grouped
from detlint.index.facts import HASH_SEED, VARIABLES, Fact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from detlint.documents import Document
    from detlint.documents.document import Command, Variable
    from detlint.sources.source import Source

_ASKED = (*VARIABLES, HASH_SEED)


class Start(NamedTuple):
    """A program or a script that is started.

    script   its path as it is written, "" for a ``module``
    folder   where it is started, seen from where the script is started; None if not known
    sourced  scripts that set more variables for it
    sets     variables, of those that rules ask about
    """

    script: str
    module: str
    folder: str | None
    sourced: tuple[str, ...]
    sets: tuple[Fact, ...]

    def dumped(self) -> list[Any]:
        """As JSON gives it back."""
        return [*self[:3], list(self.sourced), [list(each) for each in self.sets]]

    @classmethod
    def loaded(cls, kept: list[Any]) -> Start:
        """It itself."""
        script, module, folder, sourced, sets = kept
        return cls(script, module, folder, tuple(sourced), tuple(Fact(*each) for each in sets))


def starts(source: Source) -> list[Start]:
    """What a script starts."""
    from detlint.documents.document import Command, Variable
    from detlint.documents.launches import MARKS

    document = _document(source) if any(each in source.text for each in MARKS) else None
    if document is None:
        return []
    variables = grouped((x.name, x) for x in document.nodes if isinstance(x, Variable))
    found = []
    for node in document.nodes:
        if isinstance(node, Command) and (target := _target(node, source)) != ("", ""):
            sets = tuple(_sets(node, variables, source))
            found.append(Start(*target, node.folder, node.sourced, sets))
    return found


def exports(source: Source) -> list[Fact]:
    """The variables that a script exports, as they are at its end."""
    from detlint.documents.document import Variable

    document = _document(source)
    found: dict[str, Fact] = {}
    for node in document.nodes if document is not None else ():
        if isinstance(node, Variable) and node.exported and node.name in _ASKED:
            place = (*source.location(node.start), *source.location(node.end))
            old = found.get(node.name)
            value = node.value or ""
            same = old is None or old.text == value
            found[node.name] = Fact(node.name, value if same else "", *place)
    return list(found.values())


def _document(source: Source) -> Document | None:
    from detlint.documents import Unreadable, read

    try:
        return read(source)
    except Unreadable:
        return None


def _target(command: Command, source: Source) -> tuple[str, str]:
    """The script and the module that a command starts; "" for none."""
    from detlint.documents.launches import launched
    from detlint.documents.shell_scripts import path_of, script_of

    launch = launched(command)
    if launch is None:
        return script_of(command.words, source)[0], ""
    if launch.module is not None:
        return "", launch.module.text or ""
    return ("" if launch.script is None else path_of(launch.script, source)), ""


def _sets(
    command: Command, variables: Mapping[str, Sequence[Variable]], source: Source
) -> Iterator[Fact]:
    """The variables that hold for a command, where they are set if that is before it."""
    for name in _ASKED:
        if name in command.environment:
            known = variables.get(name, ())
            before = bisect_right(known, command.end, key=lambda each: each.start)
            node = known[before - 1] if before else command
            place = (*source.location(node.start), *source.location(node.end))
            yield Fact(name, command.environment[name] or "", *place)
