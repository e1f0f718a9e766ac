"""What of a run's findings is new: to the baseline of the project, and to an earlier commit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from detlint.settings import BASELINE, project_root

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from detlint.finding import Finding
    from detlint.settings import Settings
    from detlint.sources.source import Source
    from detlint.suppression.baseline import Baseline, Search
    from detlint.suppression.commits import Commit

    Read = Callable[[str], Source | None]
    Lint = Callable[[Settings, Sequence[str]], Sequence[Finding]]


class Novelty(NamedTuple):
    """What is known: each of these leaves out what it knows."""

    known: tuple[Baseline, ...] = ()
    baseline: Baseline | None = None  # one of them, which a person keeps

    def of(self, findings: Sequence[Finding], read: Read) -> list[Finding]:
        """The findings that are new to all of them, in their order."""
        new = list(findings)
        for each in self.known:
            new = each.new(new, read)
        return new

    def gone(self, findings: Sequence[Finding], search: Search, read: Read) -> int:
        """How much the baseline knows that a search looked for and is no longer there."""
        return len(self.baseline.sifted(findings, search, read).gone) if self.baseline else 0


def asked(options: argparse.Namespace, settings: Settings) -> bool:
    """Whether a run leaves out what is known. Costs a look at one file at most."""
    return bool(options.diff_base or options.staged or baseline_file(options, settings))


def baseline_file(options: argparse.Namespace, settings: Settings) -> str:
    """The file with the known findings; "" for none."""
    if options.no_baseline:
        return ""
    if options.baseline:
        given: str = options.baseline
        return given
    if options.isolated:
        return ""
    file = os.path.join(project_root(settings), BASELINE)
    return file if os.path.isfile(file) else ""


def novelty(
    options: argparse.Namespace,
    settings: Settings,
    findings: Sequence[Finding],
    lint: Lint,
    read: Read,
) -> Novelty:
    """What is known, as far as it matters for some findings. ``lint`` gives what is found in
    other files by other settings, ``read`` a source by its path.

    Raises BaselineError and UsageError.
    """
    from detlint.suppression.baseline import Baseline

    known, baseline = [], None
    if file := baseline_file(options, settings):
        baseline = Baseline.load(project_root(settings), file)
        known.append(baseline)
    # Also where nothing is found: a name with a slip in it would pass until something is.
    if options.diff_base or (options.staged and findings):
        from detlint.suppression.commits import began_at, staged_on

        root = project_root(settings)
        commit = options.diff_base or staged_on(root)
        began = began_at(root, commit) if commit else None
        if began is not None and findings:
            known.append(_at(began, settings, findings, lint, read))
    return Novelty(tuple(known), baseline)


def _at(
    began: tuple[str, str],
    settings: Settings,
    findings: Sequence[Finding],
    lint: Lint,
    read: Read,
) -> Baseline:
    """What was found already at the commit that a branch began at, in the files with findings."""
    from detlint.suppression.baseline import Baseline
    from detlint.suppression.commits import unpacked

    with unpacked(*began) as commit:
        paths = dict.fromkeys(commit.earlier(each.path) for each in findings)
        there = [each for each in (*paths, *commit.gone()) if os.path.isfile(each)]
        found = lint(_moved(settings, commit), there)
        earlier = Baseline.of(commit.folder, found, read)
    return earlier.moved_to(commit.top)


def _moved(settings: Settings, commit: Commit) -> Settings:
    """The settings for the files as they were; patterns are relative to its folders."""
    root, project = (
        commit.earlier(each) if each and _is_below(each, commit.top) else each
        for each in (settings.root, settings.project)
    )
    return settings._replace(root=root, project=project)


def _is_below(path: str, folder: str) -> bool:
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(folder, ""))
