"""What a run needs to know of every rule before it needs any: kept from the first run, because
importing the rules takes longer than scanning a file."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.sources.paths import stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.unit import Unit
    from detlint.documents import Document
    from detlint.plugins import Plugin
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
    silencers: tuple[str, ...]
    needs: tuple[str, ...]
    clearable: bool
    programs: bool
    crosses_files: bool

    def may_be_cleared(self) -> bool:
        """``Rule.may_be_cleared``."""
        return self.clearable

    def judges_programs(self) -> bool:
        """``Rule.judges_programs``."""
        return self.programs

    @property
    def rule(self) -> type[Rule]:
        """The class itself."""
        return _class(self.module, self.name)

    def __call__(self, source: Document | Unit, settings: Settings) -> Rule:
        """An instance of the rule."""
        return self.rule(source, settings)


def class_of(rule: type[Rule] | Entry) -> type[Rule]:
    """The class of a rule, which it is itself once it has been imported."""
    return rule if isinstance(rule, type) else rule.rule


@cache
def _class(module: str, name: str) -> type[Rule]:
    from detlint.plugins import imported

    found: type[Rule] = getattr(imported(module), name)
    return found


class Catalogue(NamedTuple):
    """All rules, sorted by code, and what plugins say of functions. ``state``: text that differs
    whenever a plugin could."""

    rules: tuple[Entry, ...]
    models: tuple[tuple[str, str], ...] = ()
    state: str = ""


def catalogue(folder: str | None, key: str) -> Catalogue:
    """As kept in ``folder`` under ``key``, or else imported and kept. Raises UsageError where a
    plugin cannot be used.

    ``key`` is text that differs whenever a rule of ours could.
    """
    from detlint.plugins import installed, places, state

    file = os.path.join(folder, "rules.json") if folder else ""
    key = "\n".join([key, *places()])
    kept, plugins = _read(file, key, stamp(file)) if file else (None, ())
    if kept is not None and kept.state == state(plugins):
        return kept
    plugins = installed()
    found = _imported(plugins)._replace(state=state(plugins))
    if file:
        with suppress(OSError):
            _write(file, key, found, plugins)
    return found


def _imported(plugins: Sequence[Plugin]) -> Catalogue:
    from detlint.plugins import all_models, all_rules

    return Catalogue(tuple(map(_entry, all_rules(plugins))), all_models(plugins))


def _entry(rule: type[Rule]) -> Entry:
    return Entry(
        rule.__module__,
        rule.__name__,
        rule.code,
        rule.default,
        rule.triggers,
        rule.mentions,
        rule.settled,
        rule.silencers,
        rule.needs,
        rule.may_be_cleared(),
        rule.judges_programs(),
        rule.crosses_files,
    )


@lru_cache(maxsize=4)
def _read(
    file: str, key: str, _stamp: tuple[int, ...]
) -> tuple[Catalogue | None, tuple[Plugin, ...]]:
    from detlint.plugins import Plugin
    from detlint.sources.sealed import read_sealed

    kept = read_sealed(file, _header(key))
    try:
        rules = tuple(Entry._make(map(_frozen, entry)) for entry in kept["rules"])
        models = tuple((str(name), str(says)) for name, says in kept["models"])
        plugins = tuple(Plugin(*each) for each in kept["plugins"])
        return Catalogue(rules, models, str(kept["state"])), plugins
    except (LookupError, TypeError, ValueError):
        return None, ()


def _header(key: str) -> bytes:
    from json import dumps

    return b'{"key": %b,\n' % dumps(key).encode()


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _write(file: str, key: str, found: Catalogue, plugins: Sequence[Plugin]) -> None:
    from json import dumps

    from detlint.sources.sealed import make_folder, write_sealed

    make_folder(os.path.dirname(file))
    body = dumps({**found._asdict(), "plugins": plugins})
    write_sealed(file, _header(key), body.removeprefix("{").encode())
