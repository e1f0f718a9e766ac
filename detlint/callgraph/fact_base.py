"""What the files of a program hold, as far as it runs them and may give what that needs."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.grouping import grouped
from detlint.index.facts import (
    ABOUT,
    DRAWING,
    EVERY,
    HIDING,
    NEVER,
    SEEDING,
    TRAINER,
    VARYING,
    Fact,
)
from detlint.models.randomness import OF_OWN
from detlint.models.training import APART, FITS_BY_TEXT, WRAPPERS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from detlint.callgraph.closure import Closure
    from detlint.callgraph.conditions import Conditions

_SETTLING = SEEDING | {"enables", "sets", "tells"}
_USED = SEEDING | DRAWING | VARYING | {"freezes"}
_CALLED = (_USED - VARYING) | {"trains"}
_RARE = frozenset({"trains", "enables"})


class Located(NamedTuple):
    """A fact and the file that holds it."""

    path: str
    fact: Fact


class FactBase:
    """Answers for one program; ``launched`` are the variables that scripts set which start it."""

    def __init__(
        self, closure: Closure, conditions: Conditions, launched: Sequence[Located]
    ) -> None:
        self._closure = closure
        self._path = closure.path
        self._index = closure.index
        self._conditions = conditions
        self._launched = launched

    def facts(  # noqa: PLR0913 - how facts are chosen
        self,
        kind: str,
        what: str = "",
        *,
        runs: bool = False,
        own: bool = False,
        within: Mapping[str, Container[str]] | None = None,
        counts: Callable[[str, str, Fact], bool] | None = None,
    ) -> Iterator[Located]:
        """Facts of one kind, about one library or variable; ``own``: in the entrypoint alone;
        ``within``: in these parts of files; ``counts``: and that count, each with its file and
        part.

        What settles a matter counts wherever it stands, unless it visibly never runs, since code
        may be reached in ways that its text does not show; what raises one, or with ``runs`` any,
        where the text shows that it runs. ``NAME=value`` is about a variable that is set to just
        that.
        """
        anywhere = kind in _SETTLING and not runs
        paths = [each for each in self.holders.get(kind, ()) if each == self._path or not own]
        if within is not None:
            paths = [each for each in paths if each in within]
        for path, part, fact in self.standing(kind, what, paths, within, anywhere=anywhere):
            if counts is not None and not counts(path, part, fact):
                continue
            doubt = self.doubt(kind, path, part, fact, surely=not anywhere)
            if doubt != NEVER and not (kind == "seeds" and self._starts_workers(path, part)):
                yield Located(path, fact._replace(doubt=doubt or fact.doubt))
        if kind == "sets":
            # What a script sets to something unknown may be the value that is asked about.
            what, _, value = what.partition("=")
            asked = ("", value) if value else None
            yield from (
                each
                for each in self._launched
                if what in ("", each.fact.what) and (asked is None or each.fact.text in asked)
            )

    def _starts_workers(self, path: str, part: str) -> bool:
        """Whether a part of a file only runs when the workers of a loader start."""
        starts = "worker_starts" in self.holders
        return starts and self._closure.reach.starts_workers(self._path, path, part)

    def doubt(self, kind: str, path: str, part: str, fact: Fact, *, surely: bool) -> int:
        """What a fact needs that the program may not give."""
        doubt = self._conditions.doubt(fact.needs.splitlines(), surely=surely)
        if kind in _USED and doubt == 0:
            doubt = self._conditions.doubt_of_uses(path, part, default=kind not in DRAWING)
        if kind in _CALLED and not self._conditions.may_be_called(path, part):
            return NEVER
        return doubt

    def standing(
        self,
        kind: str,
        what: str = "",
        paths: Iterable[str] | None = None,
        within: Mapping[str, Container[str]] | None = None,
        *,
        anywhere: bool = False,
    ) -> Iterator[tuple[str, str, Fact]]:
        """Facts in some files, or in all, with the parts that they stand in, whatever they need;
        ``anywhere``: also where the text does not show that they run."""
        what, _, value = what.partition("=")
        if what and what not in ABOUT.get(kind, (what,)):
            return
        for path in self.holders.get(kind, ()) if paths is None else paths:
            for part, fact in self._running(kind, path, within, anywhere=anywhere):
                if (
                    self._is_about(fact, what)
                    and (kind != "trains" or self._learns_by(path, fact))
                    and value in ("", fact.text)
                ):
                    yield path, part, fact

    def _running(
        self,
        kind: str,
        path: str,
        within: Mapping[str, Container[str]] | None,
        *,
        anywhere: bool,
    ) -> Sequence[tuple[str, Fact]]:
        """Those in one file, whatever they are about."""
        reach = self._closure.reach
        runs = partial(reach.may_run if anywhere else reach.runs, self._path, path)
        if anywhere or kind in _RARE:
            found = self._index.facts(path, kind)
            return [each for each in found if kind == "tells" or runs(each[0])]
        # What a part does takes longer to tell than whether it runs, where there are many.
        given = None if within is None else within[path]
        return self._index.facts(
            path, kind, lambda part: (given is None or part in given) and runs(part)
        )

    def _is_about(self, fact: Fact, what: str) -> bool:
        if not what or fact.what == what:
            return True
        if what in OF_OWN:
            return False  # which no helper seeds
        if fact.what == EVERY:
            return True
        if fact.what == TRAINER:
            return what == "torch" and not self._closure.imports("tensorflow", "keras", "jax")
        # A helper of another library does what its name says; of one here, the facts are known,
        # unless it hands the seed on with options that it does not name.
        helper = fact.what.removesuffix("()")
        if helper == fact.what:
            return False
        found = self._closure.reach.defining.get(helper, ())
        defining = filter(self._closure.members.__contains__, found)
        return all(self._index.hands_on(each, helper) for each in defining)

    def _learns_by(self, path: str, fact: Fact) -> bool:
        """Whether a gradient changes something: not in a check of kernels, nor in a profiler; nor
        in what no network of Keras fits, by the library that other files import it from."""
        if fact.what == "keras":
            return not self._fits_apart(path, fact)
        if "backward(" in fact.text:
            return self._closure.known("may take steps", partial(self._takes_steps, hidden=True))
        # What one works out by itself, as a force, no step by another way takes up.
        worked_out = fact.what == "torch" and "grad" in fact.text
        return not worked_out or self._closure.known("takes steps", self._takes_steps)

    def _fits_apart(self, path: str, fact: Fact) -> bool:
        """Whether what is fitted is of such a library; of an import of that, its file has told."""
        if self._index.holds(path, WRAPPERS):
            return False
        told = self._index.receivers(path, FITS_BY_TEXT)
        owners = [x for each in told if each.row == fact.row for x in each.owners]
        found = [self._closure.project.libraries(path, each) for each in owners]
        direct = any(each.partition(".")[0] in APART for each in owners)
        return bool(found) and not direct and all(each and each <= APART for each in found)

    def _takes_steps(self, *, hidden: bool = False) -> bool:
        """Whether something that it runs takes a step, or may by a name that the text hides."""
        ways = (False, True) if hidden and self.hides_names else (False,)
        return any(
            self._conditions.may_be_called(path, part)
            for anywhere in ways
            for path, part, _ in self.one_by_one("steps", anywhere=anywhere)
        )

    def one_by_one(
        self,
        kind: str,
        what: str = "",
        *,
        anywhere: bool = False,
        among: Callable[[str, str], bool] | None = None,
    ) -> Iterator[tuple[str, str, Fact]]:
        """Facts, of which mostly the first will do: parts are read one after the other, first those
        of files that train. Else it is the same order for all programs, which share what they
        read."""
        train = self.holders.get("trains", ())
        for path in sorted(self.holders.get(kind, ()), key=lambda each: (each not in train, each)):
            if anywhere:
                yield from self.given(kind, self.standing(kind, what, (path,), anywhere=True))
                continue
            for part in self._index.parts_with(path, kind):
                if among is None or among(path, part):
                    found = self.standing(kind, what, (path,), {path: (part,)})
                    yield from self.given(kind, found)

    def given(
        self, kind: str, found: Iterable[tuple[str, str, Fact]]
    ) -> Iterator[tuple[str, str, Fact]]:
        """Those of some facts that the program may give what they need, if their kind says that."""
        for path, part, fact in found:
            doubt = self.doubt(kind, path, part, fact, surely=True) if kind in VARYING else 0
            if doubt != NEVER:
                yield path, part, fact._replace(doubt=doubt or fact.doubt)

    @cached_property
    def holders(self) -> dict[str, list[str]]:
        """The files that may hold facts, by their kind."""
        return grouped(
            (kind, path) for path in self._closure.paths for kind in self._index.kinds(path)
        )

    @property
    def hides_names(self) -> bool:
        """Whether something calls by names that the text hides."""
        return not HIDING.isdisjoint(self.holders)

    def part_of(self, located: Located) -> str:
        """The part of its file that a fact stands in."""
        return self._index.part_at(located.path, located.fact.row)


class ByFacts:
    """What answers for one program, by its facts."""

    def __init__(self, closure: Closure, base: FactBase) -> None:
        self._closure = closure
        self._path = closure.path
        self._index = closure.index
        self._project = closure.project
        self._base = base
