"""What a statement reads that is another in each run: by its text, and by what it was given.

Asked of the statement with which a difference begins. That it does was shown by running.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from guard.comparison.explanations import Source
from guard.statements.sources import FOLDERS, LISTING, TEMPORARY, UNIQUE, is_clock
from guard.statements.traits import OBJECTS, SETS, STRINGS
from guard.verification.flows import CLOCKS, LOAD, last_two
from guard.verification.readiness import ASKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.statements.pairs import Node
    from guard.statements.traits import Traits

# By the last part of a call's name, or the last two where one says little.
_CALLS: tuple[tuple[Source, frozenset[str]], ...] = (
    (Source.LOAD, frozenset(LOAD)),
    (Source.DRAWN_NAME, frozenset(TEMPORARY | FOLDERS)),
    (
        Source.ENTROPY,
        frozenset(UNIQUE)
        | {"urandom", "SystemRandom", "randbits", "token_bytes", "token_hex", "token_urlsafe"}
        | {"getrandom", "getrandbits", "torch.seed", "secrets.choice", "secrets.randbelow"},
    ),
    (
        Source.PROCESS,
        frozenset({"getpid", "getppid", "get_ident", "get_native_id", "gethostname"}),
    ),
    (Source.COLLECTION, frozenset({"gc.collect"})),
    (Source.READINESS, frozenset(ASKING | {"as_completed", "imap_unordered", "get_nowait"})),
    (
        Source.UNWRITTEN_MEMORY,
        frozenset({"empty_like", "new_empty", "empty_strided", "torch.empty", "np.empty"})
        | {"numpy.empty"},
    ),
)
_UNSEEDED = frozenset({"default_rng", "Random", "RandomState", "SeedSequence"})
_SET_CALLS = {"set", "frozenset", "union", "intersection", "difference", "symmetric_difference"}
_GROWING = {"append", "add", "add_", "put", "extend", "update", "put_nowait", "index_add_", "sub_"}
# What takes items in their order, beside loops.
_ORDERED = {
    *("list", "tuple", "enumerate", "iter", "next", "zip", "map", "dict", "fromkeys", "pop"),
    *("join", "array", "tensor", "stack", "cat", "sum", "chain", "islice", "popitem"),
}
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension, ast.Starred)
_SETS = (ast.Set, ast.SetComp)


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
        or _of_threads(node)
        or _of_generators(node)
        or Origin(Source.NOT_SHOWN, node.statement.text)
    )


def source_of_call(told: str) -> Source | None:
    """What a call reads, of which a sentence begins with the name: "id() is another value"."""
    name, call, _ = told.partition("()")
    if not call:
        return None
    if last_two(name) in CLOCKS:
        return Source.CLOCK
    if name in ("id", "hash"):
        return Source.OBJECT_ADDRESS if name == "id" else Source.STRING_HASH
    return next((source for source, names in _CALLS if _is_of(name, names)), None)


def _is_of(name: str, names: frozenset[str]) -> bool:
    return name.rpartition(".")[2] in names or last_two(name) in names


def _of_calls(node: Node) -> Origin | None:
    statement = node.statement
    for name in statement.calls:
        if is_clock(statement) and _is_clock(name):
            return Origin(Source.CLOCK, f"{name}()")
        for source, names in _CALLS:
            if _is_of(name, names):
                return Origin(source, f"{name}()")
    return None


def _is_clock(name: str) -> bool:
    return last_two(name) in CLOCKS or name.rpartition(".")[2].endswith(("time_ns", "_ns"))


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
    made = (each for each in node.statement.calls if each.rpartition(".")[2] in _UNSEEDED)
    return next((Origin(Source.ENTROPY, f"{each}() without a seed") for each in made), None)


def _of_threads(node: Node) -> Origin | None:
    if not node.is_in_thread:
        return None
    statement = node.statement
    grows = statement.kind == "AugAssign" or bool(set(statement.writes) & set(statement.reads))
    grows = grows or not _GROWING.isdisjoint(_last_names(node))
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
