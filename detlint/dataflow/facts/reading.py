"""Reads facts of each kind from operations: what seeds, draws, trains, turns on, sets."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, cast

from detlint.dataflow.arguments.required_arguments import Needs
from detlint.dataflow.facts.draws import DrawFacts
from detlint.dataflow.facts.environments import EnvironmentFacts
from detlint.dataflow.facts.found import Found
from detlint.dataflow.facts.processes import ProcessFacts
from detlint.dataflow.facts.seeds import SeedFacts, seed_of, seeds_given, takes_none
from detlint.dataflow.facts.switches import SwitchFacts
from detlint.dataflow.facts.training import TrainingFacts
from detlint.dataflow.facts.varying import VaryingFacts
from detlint.dataflow.learning import checkpoints
from detlint.dataflow.learning.training import Training
from detlint.dataflow.randomness.generators import Fate
from detlint.dataflow.randomness.idle_draws import doubt
from detlint.dataflow.randomness.loaders import flag
from detlint.grouping import grouped
from detlint.index.facts import DRAWING, SEEDING, STARTING, VARYING, Fact, is_of_module
from detlint.sources.kinds import NOTEBOOK
from detlint.syntax.layout import layout_of
from detlint.syntax.parsing import REFUSALS, UnparsedError
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.arguments.need import Need
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.notebooks.notebook import Notebook

    _Teller = Callable[[Unit, Training], object]


_SETTLING = SEEDING | {"freezes"}
_CONDITIONAL = _SETTLING | DRAWING | VARYING  # what an argument may turn on
# Words of which a function has to hold one beside the token that facts of a kind are looked for by.
_BESIDE = {"numbered": checkpoints.PARTS_OF_TEXT}
# Each tells facts of some kinds: by ``of_<kind>`` of a call, or by ``<kind>`` of a function.
_TELLERS: tuple[_Teller, ...] = (
    *(SeedFacts, DrawFacts, EnvironmentFacts, TrainingFacts, VaryingFacts, SwitchFacts),
    ProcessFacts,
)


def read_facts(unit: Unit, kind: str, parts: Iterable[Sequence[int]]) -> list[list[Fact] | None]:
    """The facts of a kind in the functions and classes around the places of each part of a file;
    None of a part that cannot be parsed. What one part holds does not depend on the others."""
    source = unit.source
    notebook = cast("Notebook", source) if source.kind == NOTEBOOK and kind == "sets" else None
    magics = list(_set_by_magics(notebook)) if notebook is not None else []
    layout = layout_of(source.text)
    live = [[each for each in places if not layout.hides(each)] for places in parts]
    told = in_deep_stack(lambda: [_read(unit, kind, places) for places in live])
    return [[*magics, *facts] if facts is not None else magics or None for facts in told]


def _read(unit: Unit, kind: str, places: Sequence[int]) -> list[Fact] | None:
    """Those of the functions at some places, None if they cannot be parsed."""
    with suppress(*REFUSALS):
        try:
            return unit.facts.read(kind, places)
        except UnparsedError:  # lines were misjudged, or it is no Python
            whole = unit.as_whole
            return whole.facts.read(kind, places) if whole is not None else None
    return None


def _set_by_magics(source: Notebook) -> Iterator[Fact]:
    """What ``%env`` sets in a notebook."""
    from detlint.documents.notebook import variables

    for each in variables(source):
        place = (*source.location(each.start), *source.location(each.end))
        yield Fact(each.name, each.value or "", *place)


def _told(needs: Needs, kind: str, op: Op) -> str:
    """What has to be passed for an operation to run, as a fact holds it."""
    if kind == "generators":
        seed = seed_of(op)
        found = needs.of_default(op, seed) if seed is not None else []
        found += [*needs.with_options(op), *_needed_to_draw(op)] if found else []
        return "\n".join(each.dump() for each in found)
    if kind in STARTING:
        return "\n".join(each.dump() for each in needs.with_options(op))
    if kind not in _CONDITIONAL:
        return ""
    if kind not in _SETTLING:
        found = needs.with_options(op)
        shuffle = flag(op) if kind == "orders" else None
        found += (needs.of_share(shuffle) or ()) if shuffle is not None else ()
    else:
        found = needs.settling(op)
        if op.code == "call" and op.args[1:] and (kind != "seeds" or takes_none(op)):
            given = op.args[1:2] if kind == "seeds" else seeds_given(op)
            found += [need for each in given for need in needs.of_value(each)]
    told = (each.dump() for each in found)
    # Who goes on from a checkpoint changes the constant that says so.
    return "\n".join(each for each in told if kind != "resumes" or not is_of_module(each))


def _needed_to_draw(made: Op) -> list[Need]:
    """What has to be passed for anything that the file shows to take a generator that is kept."""
    fate, reads = Fate(made), made.function.unit.reads
    taken = [each for name in fate.names for each in reads("attr", name)]
    asked = [Needs(each.function).with_options(each) for each in taken]
    common = asked[0] if asked and not fate.escapes else ()
    return [need for need in common if all(need in each for each in asked)]


def _needed_to_make(function: Function, kind: str) -> str:
    """What has to be passed for a function to be there, of one that stands in another one."""
    makers = function.makers if kind in _CONDITIONAL - _SETTLING else ()
    if len(makers) != 1 or function.outer is None:
        return ""
    made = (each.dump() for each in Needs(function.outer).with_options(makers[0]))
    return "\n".join(filter(None, (*made, _needed_to_make(function.outer, kind))))


class FactReader:
    """Reads the facts of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._facts: dict[tuple[str, Function], list[Fact]] = {}
        self._training = Training(unit)
        self._tellers: dict[_Teller, object] = {}

    def read(self, kind: str, offsets: Iterable[int]) -> list[Fact]:
        """The facts of a kind in the functions at some places, in order: not those that visibly
        never run. Raises UnparsedError."""
        beside = _BESIDE.get(kind, ())
        shown = (each for each in offsets if not beside or self._unit.may_hold(each, beside))
        functions = self._unit.functions_at(shown)
        return [fact for outer in functions for fact in self._facts_of(kind, outer)]

    def _facts_of(self, kind: str, outer: Function) -> list[Fact]:
        if (kind, outer) not in self._facts:
            self._facts[kind, outer] = list(self._read(kind, outer))
        return self._facts[kind, outer]

    def _read(self, kind: str, outer: Function) -> Iterator[Fact]:
        for function in filter(_may_be_called, outer.everything()):
            needs, all_found = Needs(function), list(self._found(kind, function))
            alike = grouped((each.what, each.op) for each in all_found if kind in DRAWING)
            for found in all_found:
                if needs.may_run(found.op):
                    made = _needed_to_make(function, kind)
                    told = (_told(needs, kind, found.op), found.need, made)
                    beside = alike.get(found.what, ())
                    yield self._fact(found, "\n".join(filter(None, told)), beside)

    def _found(self, kind: str, function: Function) -> Iterator[Found]:
        """What a function does of a kind, as ``of_<kind>`` tells it of a call, or ``<kind>`` of all
        of its operations."""
        made = _teller(kind)
        if made not in self._tellers:
            self._tellers[made] = made(self._unit, self._training)
        teller = self._tellers[made]
        judge = getattr(teller, f"of_{kind}", None)
        if judge is None:
            yield from getattr(teller, kind)(function)
            return
        for call in function.coded("call"):
            what = judge(call)
            if what is not None:
                yield Found(call, what)

    def _fact(self, found: Found, need: str, alike: Sequence[Op]) -> Fact:
        source, node = self._unit.source, found.node or found.op.node
        start, end = self._unit.span(node)
        text = " ".join(source.text[start:end].split()) if found.text is None else found.text
        place = (*source.location(start), *source.location(end))
        within = found.op.function.outermost.name
        return Fact(found.what, text, *place, need, doubt(found.op, alike), within)


@cache
def _teller(kind: str) -> _Teller:
    names = (kind, f"of_{kind}")
    return next(each for each in _TELLERS if any(hasattr(each, name) for name in names))


def _may_be_called(function: Function) -> bool:
    """Whether something names a function that stands in another one, or in the main block."""
    outer = function.outer
    if outer is None or not function.is_defined or function.decorators:
        return True
    made = function.makers
    if any(op.uses for op in made) or "." in function.name or not made:
        return True
    return outer.node is None and any(True for _ in outer.unit.reads("global", function.name))
