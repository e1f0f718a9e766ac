"""Shell scripts: the variables that they set and the commands that they run.

Parsed by tree-sitter-bash. Where a script is broken, or holds what it does not know, the rest
is read all the same; it gives exact places, and reads megabytes in a second. bashlex gives up
on a whole script over one ``case`` or array in it, and takes a hundred times as long.

A script is not run. What an expansion stands for is worked out where the script itself says so;
all else, ``$( … )`` and what branches set in different ways, is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.documents.document import Document, Variable
from detlint.documents.shell_flow import HANDLERS
from detlint.documents.shell_found import Found
from detlint.documents.shell_run import Shell
from detlint.documents.shell_scope import Scope
from detlint.documents.shell_tree import Tree, preorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from detlint.documents.document import Command
    from detlint.sources.source import Source

_DIRECTIVE = re.compile(r"^#(?:SBATCH|PBS|BSUB|\$)[ \t]+(.*)$", re.MULTILINE)
_OPTION = re.compile(r"(--?[\w-]+)(?:[= \t]+([^\s#]+))?")
# What Slurm tells the script of its options.
_SLURM = {
    "--nodes": "SLURM_JOB_NUM_NODES",
    "-N": "SLURM_JOB_NUM_NODES",
    "--ntasks": "SLURM_NTASKS",
    "-n": "SLURM_NTASKS",
    "--ntasks-per-node": "SLURM_NTASKS_PER_NODE",
    "--cpus-per-task": "SLURM_CPUS_PER_TASK",
    "-c": "SLURM_CPUS_PER_TASK",
}


def read(source: Source) -> Document:
    """A script's variables and commands."""
    text = source.text
    environment: dict[str, str | None] = {}
    header = []
    for node in _directives(text):
        environment[node.name] = node.value
        header.append(node)
    nodes = parse(text, environment=environment, beside=source.beside)
    told = [each for each in header if not each.name.startswith("SLURM_")]
    return Document(source, [*told, *nodes], comments(text))


def parse(
    text: str,
    offset: int = 0,
    environment: Mapping[str, str | None] = {},
    places: Sequence[int] | None = None,
    beside: Callable[[str], str | None] | None = None,
) -> list[Variable | Command]:
    """The variables and commands of shell text that stands at an offset of some source.

    environment  the exported variables that it starts with
    places       the offset of each character, and of the end, where the source has the text
                 in another form: escaped in a string, say
    beside       as of Source
    """
    if not text.strip():
        return []
    found = Found()
    scope = Scope(environment, beside=beside)
    Shell(Tree(text, offset, places), scope, found, HANDLERS).read()
    return found.nodes()


def quoted(words: Iterable[tuple[str, Sequence[int]]]) -> tuple[str, list[int]]:
    """Words as shell text that stands for just them, and the places of its letters, for lists
    in which other kinds name a command. Each word comes with the places of its letters and of
    its end, one more than it has letters."""
    text: list[str] = []
    found: list[int] = []
    for word, places in words:
        text.append("'")
        found.append(max(places[0] - 1, 0))
        for each, place in zip(word, places, strict=False):
            letters = "'\\''" if each == "'" else each
            text.append(letters)
            found += [place] * len(letters)
        text.append("' ")
        found += [places[-1], places[-1] + 1]
    return "".join(text)[:-1], found


def comments(
    text: str, offset: int = 0, places: Sequence[int] | None = None
) -> list[tuple[int, int]]:
    """Where the comments lie."""
    tree = Tree(text, offset, places)
    found = (each for each in preorder(tree.root) if each.type == "comment")
    return [(tree.start(each), tree.end(each)) for each in found]


def _directives(text: str) -> Iterator[Variable]:
    """``#SBATCH --nodes=2 --export=ALL,A=b``, as the variables that come of it."""
    for line in _DIRECTIVE.finditer(text):
        for match in _OPTION.finditer(line[1]):
            option, value = match[1], match[2] or ""
            start = line.start(1) + max(match.start(2), 0)
            if option in _SLURM:
                end = start + len(value)
                yield Variable(start, end, _SLURM[option], value, start, end)
                if _SLURM[option] == "SLURM_JOB_NUM_NODES":
                    yield Variable(start, end, "SLURM_NNODES", value, start, end)
            elif option in ("--export", "-v"):
                yield from _exports(value, start)


def _exports(value: str, start: int) -> Iterator[Variable]:
    for match in re.finditer(r"(\w+)=([^,]*)", value):
        place = start + match.start(), start + match.end()
        yield Variable(*place, match[1], match[2], start + match.start(2), place[1])
