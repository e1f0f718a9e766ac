"""What a run needs to know of every rule before it needs any: kept from the first run, because
importing the rules takes longer than scanning a file."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from detlint.dataflow.unit import Unit
    from detlint.documents import Document
    from detlint.module import Module
    from detlint.rule import Rule
    from detlint.settings import Settings


class Entry(NamedTuple):
    """A rule that has not been imported. ``module`` and ``name`` say where its class is;
    the rest is as in ``Rule``."""

    module: str
    name: str
    code: str
    default: bool
    triggers: tuple[str, ...]
    mentions: tuple[str, ...]
    settled: tuple[tuple[str, tuple[int, int]], ...]
    scope: str
    silencers: tuple[str, ...]
    needs: tuple[str, ...]
    clearable: bool
    programs: bool
    flows: bool

    def may_be_cleared(self) -> bool:
        """``Rule.may_be_cleared``."""
        return self.clearable

    def judges_programs(self) -> bool:
        """``Rule.judges_programs``."""
        return self.programs

    def follows_values(self) -> bool:
        """``Rule.follows_values``."""
        return self.flows

    @property
    def rule(self) -> type[Rule]:
        """The class itself."""
        return _class(self.module, self.name)

    def __call__(self, source: Module | Document | Unit, settings: Settings) -> Rule:
        """An instance of the rule."""
        return self.rule(source, settings)


def class_of(rule: type[Rule] | Entry) -> type[Rule]:
    """The class of a rule, which it is itself once it has been imported."""
    return rule if isinstance(rule, type) else rule.rule


@cache
def _class(module: str, name: str) -> type[Rule]:
    from importlib import import_module

    found: type[Rule] = getattr(import_module(module), name)
    return found


def catalogue(folder: str | None, key: str) -> tuple[Entry, ...]:
    """All rules, sorted by code: as kept in ``folder`` under ``key``, or else imported and kept.

    ``key`` is text that differs whenever a rule could.
    """
    file = os.path.join(folder, "rules.json") if folder else None
    entries = _read(file, key) if file else ()
    if not entries:
        entries = _imported()
        if file:
            with suppress(OSError):
                _write(file, key, entries)
    return entries


def _imported() -> tuple[Entry, ...]:
    from detlint.rules import every_rule

    return tuple(
        Entry(
            rule.__module__,
            rule.__name__,
            rule.code,
            rule.default,
            rule.triggers,
            rule.mentions,
            rule.settled,
            rule.scope,
            rule.silencers,
            rule.needs,
            rule.may_be_cleared(),
            rule.judges_programs(),
            rule.follows_values(),
        )
        for rule in every_rule()
    )


def _read(file: str, key: str) -> tuple[Entry, ...]:
    from detlint.cache import read_sealed

    kept = read_sealed(file, _header(key))
    try:
        return tuple(Entry._make(map(_frozen, entry)) for entry in kept["rules"])
    except (LookupError, TypeError):
        return ()


def _header(key: str) -> bytes:
    from json import dumps

    return b'{"key": %b,\n' % dumps(key).encode()


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _write(file: str, key: str, entries: tuple[Entry, ...]) -> None:
    from json import dumps

    from detlint.cache import make_folder, write_sealed

    make_folder(os.path.dirname(file))
    write_sealed(file, _header(key), b'"rules": %b}' % dumps(entries).encode())
