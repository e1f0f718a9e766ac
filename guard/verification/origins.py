"""What a statement reads that is another in each run: by its text, and by what it was given.

Asked of the statement with which a difference begins. That it does was shown by running.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Source, Suspect
from guard.diff.sources import DOES, LISTING, UNSEEDED, VALUES, source_of, takes_any
from guard.digests.traits import OBJECTS, SETS, STRINGS
from guard.verification.reasons import FROM_A_THREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.diff.statements import Node
    from guard.digests.traits import Traits

_SET_CALLS = {"set", "frozenset", "union", "intersection", "difference", "symmetric_difference"}
_GROWING = {"append", "add", "put", "extend", "update", "put_nowait"}
# What takes items in their order, beside loops.
_ORDERED = {
    *("list", "tuple", "enumerate", "iter", "next", "zip", "map", "dict", "fromkeys", "pop"),
    *("join", "array", "tensor", "stack", "cat", "sum", "chain", "islice", "popitem"),
}
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension, ast.Starred)
_SETS = (ast.Set, ast.SetComp)
_BY_ITS_VALUES = (Source.OBJECT_ADDRESS, Source.STRING_HASH)  # what is hashed tells which it is
_LONGEST = 60  # characters of a statement that are shown
RAN = "it was given the same in both runs and gave something else"


class Origin(NamedTuple):
    """What a statement reads, and the part of it that does."""

    source: Source
    what: str


def origin_of(node: Node, traits: Traits, circumstance: str = "") -> Origin:
    """What a statement reads that is another in each run; else NOT_SHOWN."""
    return (
        _of_calls(node)
        or _of_hashes(node, traits, circumstance)
        or _of_listings(node)
        or _of_unseeded(node)
        or _of_arrivals(node)
        or _of_threads(node)
        or _of_generators(node)
        or Origin(Source.NOT_SHOWN, node.statement.text)
    )


def suspect(node: Node) -> Suspect:
    """A statement as a line that is to blame, and why by what it calls."""
    statement = node.statement
    text = statement.text
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    what, fits = _why(node)
    return Suspect("", f"`{shown}` {what}", node.file, statement.line, fits)


def is_value(node: Node) -> bool:
    """Whether a statement asks for what is another value in each run: a clock, a process id."""
    return any(source_of(each) in VALUES for each in node.statement.calls)


def _why(node: Node) -> tuple[str, str]:
    for name in node.statement.calls:
        source = source_of(name)
        if source in VALUES:
            return f"differs between the runs: {name}() {DOES[source]}", source.value
        if source is Source.READINESS:
            return "differs by what another thread or process has done by then", source.value
    if node.draws and node.is_in_thread:
        return "draws at any time: it runs in a thread", FROM_A_THREAD
    if node.branches:
        return "was decided otherwise, though all that is known of what it reads agrees", RAN
    return "gave something else in each run, though all that is known of what it reads agrees", RAN


def _of_calls(node: Node) -> Origin | None:
    sources = [(source_of(name), name) for name in node.statement.calls]
    told = [(source, name) for source, name in sources if source not in _BY_ITS_VALUES]
    told.sort(key=lambda each: each[0] is not Source.CLOCK)
    return next((Origin(source, f"{name}()") for source, name in told if source), None)


def _of_hashes(node: Node, traits: Traits, circumstance: str) -> Origin | None:
    text = node.statement.text
    parts = list(_parts(text))
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    if "id" in names and not _is_own_name(node, "id"):
        return Origin(Source.OBJECT_ADDRESS, f"id() in `{text}`")
    held = traits.read | traits.gave
    calls = _last_names(node)
    is_hash = "hash" in names or "__hash__" in calls
    is_set = bool(held & SETS) or not _SET_CALLS.isdisjoint(calls)
    is_set = is_set or any(isinstance(each, _SETS) for each in parts)
    is_ordered = not _ORDERED.isdisjoint(calls) or any(isinstance(each, _LOOPS) for each in parts)
    if not is_hash and not (is_set and is_ordered):
        return None
    shown = "hash()" if is_hash else "the order of a set"
    if circumstance == "hashes" or not held & OBJECTS:
        return Origin(Source.STRING_HASH, f"{shown} in `{text}`") if held & STRINGS else None
    return Origin(Source.OBJECT_ADDRESS, f"{shown} in `{text}`")


def _parts(text: str) -> Iterator[ast.AST]:
    """What a statement is made of; nothing for a head that does not stand by itself."""
    with suppress(SyntaxError):
        yield from ast.walk(ast.parse(f"{text} pass" if text.endswith(":") else text))


def _is_own_name(node: Node, name: str) -> bool:
    """Whether a name that Python has is the program's own there."""
    return (name,) in node.statement.writes or name in node.within.call.names


def _of_listings(node: Node) -> Origin | None:
    if LISTING.isdisjoint(_last_names(node)) or "sorted" in node.statement.calls:
        return None
    return Origin(Source.LISTING, f"`{node.statement.text}`")


def _of_unseeded(node: Node) -> Origin | None:
    """A generator that is another one for the same arguments: the system has seeded it."""
    made = (each for each in node.statement.calls if each.rpartition(".")[2] in UNSEEDED)
    return next((Origin(Source.ENTROPY, f"{each}() without a seed") for each in made), None)


def _of_arrivals(node: Node) -> Origin | None:
    """What comes first from any rank."""
    found = (each for each in _parts(node.statement.text) if isinstance(each, ast.Call))
    named = ((each, ast.unparse(each.func)) for each in found)
    names = (name for each, name in named if takes_any(each, name))
    return next(
        (
            Origin(Source.THREAD_ORDER, f"{each}() takes what comes first, from any rank")
            for each in names
        ),
        None,
    )


def _of_threads(node: Node) -> Origin | None:
    if not node.is_in_thread:
        return None
    statement = node.statement
    grows = statement.kind == "AugAssign" or bool(set(statement.writes) & set(statement.reads))
    names = _last_names(node)
    in_place = any(each.endswith("_") and not each.endswith("__") for each in names)  # torch's
    grows = grows or in_place or not _GROWING.isdisjoint(names)
    if not grows and not node.draws:
        return None
    does = "draws" if node.draws and not grows else "runs"
    return Origin(Source.THREAD_ORDER, f"`{statement.text}` {does} in several threads")


def _of_generators(node: Node) -> Origin | None:
    if not node.draws:
        return None
    return Origin(Source.GENERATOR, f"`{node.statement.text}` draws from it")


def _last_names(node: Node) -> set[str]:
    return {each.rpartition(".")[2] for each in node.statement.calls}
