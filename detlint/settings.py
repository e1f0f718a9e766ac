"""What a run is told to do, frozen before it starts: defaults, below the table
``[tool.detlint]`` of a TOML file, below the command line."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint import configuration
from detlint.errors import SettingsError
from detlint.finding import Confidence
from detlint.sources.paths import is_within, relative, repository_of, slashed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from detlint.finding import Finding

BASELINE = "detlint-baseline.json"  # in the root of a project: its known findings
# A command line that gives these adds to the table; its other keys replace.
_ADDING = frozenset(("extend_select", "ignore", "per_file_ignores", "extend_exclude"))


class Settings(NamedTuple):
    """The table ``[tool.detlint]`` with the command line laid over it."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    target_torch: tuple[int, int] = (2, 13)
    min_confidence: Confidence = Confidence.LIKELY
    confidence: tuple[tuple[str, Confidence], ...] = ()  # the same for codes, or their beginnings
    # What functions of the project do: "sorts", "keeps", "ignores" or "reads" an order, or seed:
    # "seeds torch", "seeds all".
    models: tuple[tuple[str, str], ...] = ()
    # What patterns are relative to: the folder of the pyproject.toml, else of the run.
    root: str = ""
    project: str = ""  # the folder of the pyproject.toml, if there is one

    def bar(self, code: str) -> Confidence:
        """The least confidence with which a rule's findings are reported."""
        if not self.confidence:  # asked for each trigger of a rule
            return self.min_confidence
        prefixes = [each for each in self.confidence if code.startswith(each[0])]
        return max(prefixes, key=lambda each: len(each[0]), default=("", self.min_confidence))[1]

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is sure enough to be reported."""
        return finding.confidence >= self.bar(finding.code)

    def with_bar(self, bar: Confidence) -> Settings:
        """The same with one bar for all rules."""
        return self._replace(min_confidence=bar, confidence=())


def load(
    named: Sequence[str],
    *,
    config: str | None,
    isolated: bool,
    overrides: Mapping[str, object],
    codes: Callable[[], Sequence[str]],
) -> Settings:
    """The settings for a run in which paths are named; the first one's. Raises SettingsError.

    ``overrides`` holds what the command line gave, by key; None means not given. ``codes``
    is called for the codes of all rules only if there is a code to check.
    """
    if isolated and config is not None:
        raise SettingsError("--isolated reads no configuration: it and --config exclude each other")
    here = os.path.realpath(os.getcwd())
    settings = Settings(root=_repository_beside(here, named) or here)
    if config is not None:
        # It may lie anywhere, so its patterns are relative to where the run starts.
        settings = settings._replace(**configuration.values(configuration.read(config), codes))
    elif not isolated and (file := configuration.nearest(named[0])):
        found = configuration.values(file, codes)
        folder = os.path.dirname(file.path)
        settings = Settings(root=folder, project=folder)._replace(**found)
    given = {key.replace("_", "-"): each for key, each in overrides.items() if each is not None}
    return _laid_over(settings, configuration.checked(given, "--{}".format, codes), here)


def _repository_beside(here: str, named: Sequence[str]) -> str:
    """The git repository of all that is named, if a run in ``here`` starts outside of it."""
    found = {repository_of(os.path.realpath(each)) for each in named}
    root = found.pop() if len(found) == 1 else None
    return root if root and not is_within(here, root) else ""


def _laid_over(settings: Settings, given: Mapping[str, Any], here: str) -> Settings:
    values = dict(given)
    for field in ("exclude", "extend_exclude"):
        if field in values:
            values[field] = tuple(_from_root(each, settings.root, here) for each in values[field])
    for field in _ADDING & values.keys():
        values[field] = (*getattr(settings, field), *values[field])
    return settings._replace(**values)


def _from_root(pattern: str, root: str, here: str) -> str:
    """A pattern that was typed in ``here``, as the file in ``root`` would have it."""
    negation = "!" if pattern.startswith("!") else ""
    body = pattern.removeprefix("!").removeprefix(os.path.join(os.curdir, ""))
    inside = os.path.join(root, "")
    if body.startswith(inside):
        return f"{negation}/{slashed(body.removeprefix(inside))}"
    if "/" not in body.rstrip("/"):
        return negation + body
    below = slashed(os.path.join(relative(root, here), ""))  # as a run above or beside names it
    if body.startswith(below):
        return f"{negation}/{body.removeprefix(below)}"
    if not here.startswith(inside):
        return negation + body
    folder = re.sub(r"([\\*?\[])", r"\\\1", slashed(os.path.relpath(here, root)))
    return f"{negation}/{folder}/{body.lstrip('/')}"


def project_root(settings: Settings) -> str:
    """The folder of the project: that of its pyproject.toml with our table, else of its git
    repository, else the one that the settings are for."""
    with suppress(SettingsError):  # one that the run was told not to read
        if file := configuration.nearest(settings.root):
            return os.path.dirname(file.path)
    return repository_of(settings.root) or settings.root


def enabled(settings: Settings, code: str, default_on: bool) -> bool:
    """Whether a rule runs. The longest prefix decides, and of equals ``ignore``.

    One that is off by default runs where it is chosen, or where what is possible is asked for.
    """
    chosen = _longest(settings.select + settings.extend_select, code)
    ignored = _longest(settings.ignore, code)
    if ignored:
        return chosen > ignored
    if chosen or code == "DET000":
        return True
    wanted = default_on or settings.bar(code) == Confidence.POSSIBLE
    return wanted and not settings.select


def ignored_for(settings: Settings, path: str, code: str) -> bool:
    """Whether ``per-file-ignores`` silences a code in a file."""
    patterns = [
        pattern for pattern, prefixes in settings.per_file_ignores if _longest(prefixes, code)
    ]
    if not patterns:
        return False
    folder = os.path.realpath(os.path.dirname(path) or os.curdir)
    absolute = os.path.join(folder, os.path.basename(path))
    root = os.path.realpath(settings.root or os.curdir)
    inside = absolute.startswith(os.path.join(root, ""))
    relative = os.path.relpath(absolute, root) if inside else os.path.basename(path)
    return any(_fits(pattern, relative) for pattern in patterns)


def _fits(pattern: str, path: str) -> bool:
    from pathspec import GitIgnoreSpec

    # "!src/" means every file but those of src.
    wanted = not pattern.startswith("!")
    spec = GitIgnoreSpec.from_lines([pattern.removeprefix("!")])
    return spec.match_file(path) is wanted


def _longest(prefixes: Sequence[str], code: str) -> int:
    return max((len(each) for each in prefixes if code.startswith(each)), default=0)
