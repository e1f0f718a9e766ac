"""Rules and models of other packages, which name a module each under ``detlint.plugins``.

A run must not pay for the search: `detlint.catalogue` keeps what is found for as long as the
folders of installed packages are as they were, and the files of plugins.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from detlint.errors import UsageError
from detlint.sources.paths import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from detlint.rule import Rule

GROUP = "detlint.plugins"
_NEEDED = ("code", "summary", "triggers", "source", "examples")


class Plugin(NamedTuple):
    """An entry point: its name and module, and the package and version that bring it."""

    name: str
    module: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"plugin {self.name} ({self.package} {self.version})"


class Brought(NamedTuple):
    """What a plugin brings. ``models``: functions and what they do, as the settings say it."""

    rules: tuple[type[Rule], ...]
    models: tuple[tuple[str, str], ...]


def places() -> list[str]:
    """The folders in which packages are installed, each with a time that installing changes."""
    # Whoever lints in a folder has not installed what lies there.
    here = {"", os.getcwd()}
    return [f"{each} {stamp(each)}" for each in sys.path if each not in here]


def _may_bring(folder: str) -> bool:
    """Whether a package that is installed in a folder may bring a plugin: to read what packages say
    takes a tenth of the time in which the module is imported that reads all of it."""
    try:
        names = os.listdir(folder)
    except NotADirectoryError:
        return True  # an archive
    except OSError:
        return False
    return any(
        each.lower().endswith(".egg")
        or (each.lower().endswith("-info") and _names_group(folder, each))
        for each in names
    )


def _names_group(folder: str, name: str) -> bool:
    try:
        with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
            return GROUP.encode() in file.read()
    except OSError:
        return False


def installed() -> tuple[Plugin, ...]:
    """The plugins of this environment, sorted. Takes as long as the start of a run."""
    return tuple(sorted(_searched([each.rpartition(" (")[0] for each in places()])))


def _searched(folders: Iterable[str]) -> Iterator[Plugin]:
    path = list(filter(_may_bring, folders))
    if not path:
        return
    from importlib.metadata import distributions

    seen: set[str] = set()
    for each in distributions(path=path):
        if GROUP not in (each.read_text("entry_points.txt") or ""):
            continue
        package = str(each.metadata["Name"])
        if package not in seen:  # the first on the path is the one that is imported
            seen.add(package)
            for point in each.entry_points:
                if point.group == GROUP:
                    yield Plugin(point.name, point.value, package, each.version)


def state(plugins: Sequence[Plugin]) -> str:
    """Text that differs whenever one of them could; "" without any."""
    lines = [f"{' '.join(each)} {' '.join(_files(each.module))}" for each in plugins]
    return "\n".join(lines)


def _files(module: str) -> Iterator[str]:
    """The files of a module, or of all its package's, each with its time. Imports nothing."""
    spec, path, name = None, None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = _spec(name, path)
        if spec is None:
            return
        path = list(spec.submodule_search_locations or ())
    for folder in path or ():
        for above, folders, files in os.walk(folder):
            folders.sort()
            for file in sorted(files):
                if file.endswith(".py"):
                    yield f"{file} {stamp(os.path.join(above, file))}"
    if spec is not None and not path:
        yield f"{spec.origin} {stamp(spec.origin or '')}"


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    found = (each.find_spec(name, path) for each in sys.meta_path)
    return next((each for each in found if each is not None), None)


@cache
def brought(plugin: Plugin) -> Brought:
    """Its rules and models. Raises UsageError, with its name, if it cannot be used."""
    try:
        module = imported(plugin.module)
    except UsageError as error:
        raise _unusable(plugin, str(error)) from error
    members = (each for each in vars(module).values() if isinstance(each, type))
    rules = tuple(dict.fromkeys(each for each in members if _is_rule(each)))
    for each in rules:
        if fault := _fault(each):
            raise _unusable(plugin, f"{each.__module__}.{each.__name__}: {fault}")
    models = _models(plugin, getattr(module, "MODELS", {}))
    if not rules and not models:
        raise _unusable(plugin, f"{plugin.module} holds neither a Rule nor MODELS")
    return Brought(cast("tuple[type[Rule], ...]", rules), models)


def imported(module: str) -> ModuleType:
    """A module of a plugin. Raises UsageError if it cannot be imported."""
    try:
        return import_module(module)
    except Exception as error:  # whatever a plugin does when it is imported
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"cannot import {module}: {said}") from error


def _unusable(plugin: Plugin, why: str) -> UsageError:
    cure = f"mend it, or remove it with `pip uninstall {plugin.package}`"
    return UsageError(f"{plugin}: {why}; {cure}")


def _is_rule(member: type) -> bool:
    """Whether it is a rule of the plugin's own: no base (``_Base``), and none of ours."""
    from detlint.rule import Rule

    own = not member.__module__.startswith("detlint.") and not member.__name__.startswith("_")
    return own and issubclass(member, Rule)


def _fault(rule: type[Rule]) -> str:
    """What is wrong with a rule, "" if nothing is."""
    lacking = [each for each in _NEEDED if not hasattr(rule, each)]
    if lacking:
        return f"lacks {', '.join(lacking)}"
    from detlint.rule import CODE

    if not CODE.fullmatch(rule.code) or rule.code.startswith("DET"):
        return (
            f"its code is {rule.code!r}, and must be capital letters, other than DET, "
            "with three digits, such as ACME101"
        )
    return ""


def _models(plugin: Plugin, models: object) -> tuple[tuple[str, str], ...]:
    from detlint.configuration import models_of

    return models_of(models, f"{plugin}: MODELS") if models else ()


def all_rules(plugins: Sequence[Plugin] | None = None) -> tuple[type[Rule], ...]:
    """Our rules and those of plugins, sorted by code. Raises UsageError.

    ``plugins``: those that are installed, where they are known already.
    """
    from detlint.rules import every_rule

    by_code = {each.code: each for each in every_rule()}
    for plugin in installed() if plugins is None else plugins:
        for rule in brought(plugin).rules:
            other = by_code.setdefault(rule.code, rule)
            if other is not rule:
                name = f"{other.__module__}.{other.__name__}"
                raise _unusable(plugin, f"{rule.code} is the code of {name}, too")
    return tuple(by_code[code] for code in sorted(by_code))


def all_models(plugins: Sequence[Plugin]) -> tuple[tuple[str, str], ...]:
    """What plugins say of functions; of two, the last counts."""
    return tuple(row for plugin in plugins for row in brought(plugin).models)


def rule_of(code: str) -> type[Rule] | None:
    """The rule of a code. Looks among plugins only for what none of ours has."""
    from detlint.rules import every_rule

    rules = every_rule() if code.startswith("DET") else all_rules()
    return next((rule for rule in rules if rule.code == code), None)
