"""Lines of the program that may be to blame, where the linter finds none that fits."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from guard.comparison import Cause, Suspect
from guard.verification.circumstances import HASHES, LISTINGS, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.places import Place

_MOST = 3  # lines that are told
# What the linter says of these circumstances: where it says it, nothing is to be added.
_CODES = {
    HASHES.name: ("DET204", "DET105"),
    LISTINGS.name: ("DET203",),
    MEMORY.name: ("DET40", "DET305"),
}
_SETS = {"set", "frozenset"}
_ORDERED = {"list", "tuple", "enumerate", "iter", "zip", "map", "dict", "fromkeys"}
_LISTED = {"listdir", "scandir", "iterdir", "glob", "iglob", "rglob", "walk"}
_UNWRITTEN = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided"}
_CLOCKS = {
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
    "time.perf_counter_ns", "time.process_time", "perf_counter", "monotonic", "datetime.now",
    "datetime.utcnow", "datetime.today", "date.today",
}  # fmt: skip
_OWN = {
    "os.getpid", "getpid", "uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4", "os.urandom", "urandom",
    "SystemRandom", "random.SystemRandom", "secrets.randbits", "secrets.token_bytes",
    "secrets.token_hex", "id", "tempfile.mkdtemp",
}  # fmt: skip
_BY_CLOCK = (
    Cause.HYPERPARAMETER,
    Cause.LENGTH,
    Cause.CONTROL_FLOW,
    Cause.INITIALISATION,
    Cause.GENERATOR,
    Cause.BATCH_ORDER,
    Cause.BATCH_CONTENT,
)


class _Found(NamedTuple):
    """A line; the lower the rank, the likelier."""

    rank: int
    line: int
    what: str


def with_possibilities(
    suspects: tuple[Suspect, ...],
    cause: Cause,
    circumstance: str,
    files: Sequence[str],
    place: Place | None,
) -> tuple[Suspect, ...]:
    """The linter's suspects; if none fits the circumstance, lines that do come before them.

    circumstance  that makes the difference, "none", or "" where it is not known
    """
    fitting = _CODES.get(circumstance, ("DET",))
    if any(each.code.startswith(fitting) for each in suspects):
        return suspects
    here = os.path.realpath(place.filename) if place is not None else ""
    ranked = []
    for number, path in enumerate(files):
        is_far = os.path.realpath(path) != here
        for rank, line, what in _possible(path, cause, circumstance):
            suspect = Suspect("", what, path, line)
            ranked.append(((rank, is_far, number, line), suspect))
    told: dict[tuple[str, int], Suspect] = {}
    for _, suspect in sorted(ranked, key=lambda each: each[0]):
        told.setdefault((suspect.file, suspect.line), suspect)
    return (*list(told.values())[:_MOST], *suspects)


def _possible(path: str, cause: Cause, circumstance: str) -> Iterator[_Found]:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return
    if circumstance == HASHES.name:
        yield from _hashed(tree)
    elif circumstance == LISTINGS.name:
        yield from _listed(tree)
    elif circumstance == MEMORY.name or cause is Cause.UNWRITTEN_MEMORY:
        for call, name in _calls(tree):
            if name.rpartition(".")[2] in _UNWRITTEN:
                yield _Found(0, call.lineno, f"{name}() gives memory that nothing has written")
    elif cause in _BY_CLOCK:
        yield from _own(tree)


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node, ast.unparse(node.func)


def _hashed(tree: ast.AST) -> Iterator[_Found]:
    for node in ast.walk(tree):
        for each in _iterated(node):
            if _is_set(each):
                yield _Found(0, each.lineno, f"{_short(each)} is gone through in no fixed order")
    for call, name in _calls(tree):
        if name == "hash":
            yield _Found(1, call.lineno, "hash() gives another value in each process for strings")
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and _is_set(node):
            yield _Found(2, node.lineno, f"{_short(node)} has no fixed order")


def _iterated(node: ast.AST) -> tuple[ast.expr, ...]:
    """What is taken in its order."""
    if isinstance(node, (ast.For, ast.comprehension)):
        inner = node.iter
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            return (inner, *(inner.args if inner.func.id in _ORDERED else ()))
        return (inner,)
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        return tuple(node.args) if name in _ORDERED else ()
    return ()


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SETS


def _listed(tree: ast.AST) -> Iterator[_Found]:
    in_order = {
        id(each)
        for call, name in _calls(tree)
        if name == "sorted"
        for argument in call.args
        for each in ast.walk(argument)
    }
    for call, name in _calls(tree):
        if name.rpartition(".")[2] in _LISTED and id(call) not in in_order:
            yield _Found(0, call.lineno, f"{name}() lists in no fixed order")


def _own(tree: ast.AST) -> Iterator[_Found]:
    for call, name in _calls(tree):
        end = ".".join(name.split(".")[-2:])
        if end in _CLOCKS:
            yield _Found(0, call.lineno, f"{name}() reads the clock")
        elif end in _OWN:
            yield _Found(1, call.lineno, f"{name}() is another value in each run")
        elif name == "hash":
            yield _Found(2, call.lineno, "hash() gives another value in each process for strings")


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:37]}..."
