"""What the walk over a script finds: commands and variables, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.shell_scope import merged

if TYPE_CHECKING:
    from detlint.documents.document import Command, Variable, Word
    from detlint.documents.shell_fields import Field

_MOST = 8
_MISSING = object()


class Found:
    """Commands and variables by their place. One may be met several times, in a function that
    is called again, and is then known as far as it is the same each time."""

    def __init__(self) -> None:
        self._commands: dict[tuple[int, int], list[Command]] = {}
        self._variables: dict[int, Variable] = {}
        self._letters: dict[Word, tuple[int, ...]] = {}

    def command(self, command: Command) -> None:
        """Add a command."""
        met = self._commands.setdefault(command[:2], [])
        if len(met) < _MOST:
            met.append(command)

    def variable(self, variable: Variable) -> None:
        """Add a variable."""
        old = self._variables.get(variable.start)
        if old is not None:
            value = variable.value if variable.value == old.value else None
            variable = variable._replace(value=value, exported=old.exported or variable.exported)
        self._variables[variable.start] = variable

    def export(self, start: int) -> None:
        """What is assigned at a place is exported later."""
        if start in self._variables:
            self._variables[start] = self._variables[start]._replace(exported=True)

    def place(self, field: Field) -> Word:
        """Keep where the letters of a word stand, if it may be a script of its own."""
        if " " in (field.word.text or "") or "\n" in (field.word.text or ""):
            self._letters[field.word] = field.places
        return field.word

    def letters(self, word: Word) -> tuple[int, ...]:
        """The offsets of a word's letters, and of its end."""
        text = word.text or ""
        kept = self._letters.get(word, ())
        if len(kept) != len(text):
            kept = tuple(min(word.start + index, word.end) for index in range(len(text)))
        return (*kept, kept[-1] + 1 if kept else word.end)

    def nodes(self) -> list[Variable | Command]:
        """All of it, in order."""
        commands = [_one(met) for met in self._commands.values()]
        return sorted([*self._variables.values(), *commands], key=lambda each: each[:2])


def _one(met: list[Command]) -> Command:
    first, *others = met
    for other in others:
        one, two = first.environment, other.environment
        environment = {
            name: value if one.get(name, _MISSING) == two.get(name, _MISSING) else None
            for name, value in {**one, **two}.items()
        }
        first = first._replace(
            words=merged([first.words, other.words]),
            environment=environment,
            folder=first.folder if first.folder == other.folder else None,
            sourced=tuple(dict.fromkeys(first.sourced + other.sourced)),
        )
    return first
