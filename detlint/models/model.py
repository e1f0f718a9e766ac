"""A row of the models: what a function of a library gives, and what it does with an order."""

from __future__ import annotations

import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Order(Enum):
    """What becomes of the order of an iterable that a function is given.

    KEEPS    what is returned has it
    KEYED    a dict is returned that is filled in it
    FREE     it shows nowhere
    SORTS    the result has another, by ``key`` if there is one
    EXTREME  one element is chosen, by ``key`` if there is one: then the first of equals
    PICKS    elements are chosen by their places
    ADDS     a sum, which for floats depends on it
    PAIRS    elements are paired with those of other arguments, by their places
    DRAWS    elements are drawn at random
    READS    it shows, in another way
    """

    KEEPS = "keeps"
    KEYED = "keyed"
    FREE = "free"
    SORTS = "sorts"
    EXTREME = "extreme"
    PICKS = "picks"
    ADDS = "adds"
    PAIRS = "pairs"
    DRAWS = "draws"
    READS = "reads"


class Model(NamedTuple):
    """One function, method (``str.split``) or attribute, by its qualified name.

    returns  the type of what it gives: ``str``, ``list[str]``, ``tuple[int, E0]``. ``A0`` is the
             type of the first argument, ``E0`` that of its elements, ``R0`` of what it returns
             if it is a function, ``common[E0, E1]`` of what is in both; ``S`` is the type of a
             method's object, ``E`` of its elements, ``V`` of what it holds by key. "" says nothing.
    order    what becomes of the order of its arguments (of a method's object: ``own``)
    seeds    the libraries whose global generators it seeds with what it is given first
    unless   the keyword argument with which it shows: ``combine=nested``
    """

    name: str
    returns: str = ""
    order: Order | None = None
    own: Order | None = None
    seeds: tuple[str, ...] = ()
    unless: str = ""


def rows(
    prefix: str,
    names: str,
    returns: str = "",
    order: Order | None = None,
    own: Order | None = None,
) -> Iterator[Model]:
    """A row for each of some names below a prefix."""
    for each in names.split():
        yield Model(f"{prefix}.{each}", returns, order, own)


def words(text: str) -> frozenset[str]:
    """A set of names, written one after the other."""
    return frozenset(text.split())


_SIGNS = {"**.": r"(?:\w+\.)*", "*": r"\w*", "{": "(?:", "}": ")", ",": "|", ".": r"\."}


class Names:
    """The qualified names that patterns stand for, written one after the other: ``{a,b}`` is one
    of several, ``*`` any letters, ``[A-Z]`` one of some, ``(?!a|b)`` what begins with none of some,
    and ``**.`` any modules, or none."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    def __call__(self, name: str) -> bool:
        """Whether a name is one of them."""
        return self._compiled.fullmatch(name) is not None

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        patterns = "|".join(" ".join(self._patterns).split())
        return re.compile(re.sub(r"\*\*\.|[*{},.]", lambda sign: _SIGNS[sign[0]], patterns))
