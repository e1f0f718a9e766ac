"""Where a program starts, and the edits that settle there what holds for all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.finding import Edit
from detlint.fixes.insertions import (
    below_imports,
    imports_of,
    in_block,
    is_imported,
    rows_at_load,
    with_import,
)
from detlint.index.entrypoints import main_line
from detlint.sources.kinds import PYTHON

if TYPE_CHECKING:
    from detlint.callgraph.program import Program
    from detlint.fixes.insertions import Place
    from detlint.sources.source import Source

# What a seed or a switch has to come before.
_SETTLED = ("draws", "builds", "orders", "trains")


def enabling(program: Program) -> tuple[Edit, ...]:
    """``import guard``, and ``guard.enable(seed=0)`` where the program starts; none where the file
    calls something else guard, or the project does."""
    place = start_of(program)
    if place is None or program.has_own_guard:
        return ()
    return with_import(program.source, "guard", place.insert("guard.enable(seed=0)"))


def advice(program: Program, otherwise: str) -> str:
    """To enable determinism where a program starts: by guard, if that name is ours, or else so."""
    ours = "" if program.has_own_guard else "guard.enable(seed=0), or "
    return f"call {ours}{otherwise}, at the start of {program.title}"


def start_of(program: Program, row: int = 0) -> Place | None:
    """Where a program can settle what holds for all of it, below the statement of a row: first in
    its main block, since others may import the rest of the file; below the imports where it has
    none, or does before what is to be settled."""
    source = program.source
    main = main_line(source.text) if source.kind == PYTHON else None
    if main is not None:
        main_row, _ = source.location(main)
        at_load = rows_at_load(source, main_row)
        facts = (each for kind in _SETTLED for each in program.facts(kind, own=True))
        if not any(each.fact.row in at_load for each in facts):
            return in_block(source, main_row)
    return below_imports(source, row)


def setting(source: Source, variable: str, value: str, library: str) -> tuple[Edit, ...]:
    """``os.environ.setdefault(…)`` above the first import of a library; none without such."""
    text, newline = source.text, source.newline
    found = next(imports_of(source, library), None)
    if found is None:
        return ()
    start = source.line_starts[found[0] - 1]
    above = "" if is_imported(source, "os", start) else f"import os{newline * 2}"
    call = f'os.environ.setdefault("{variable}", "{value}")'
    lead = newline if start and not text[:start].endswith(newline * 2) and not above else ""
    return (Edit(start, start, f"{lead}{above}{call}{newline * 2}"),)
