"""The second part: what users wait for, on training repositories.

Each is linted anew and unchanged, the largest with one file changed, and the two largest at once.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import corpus
import measure
import programs
from corpus import Corpus
from programs import Program
from results import Bound, by_name, measurements, section, verdicts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from results import Results

    Repositories = Mapping[str, Corpus]

WARM_TIMES, WARM_SECONDS = 3, 0.15  # the larger of both is allowed
ONE_FILE = "one file changed"
SAMPLED = 24  # files that a hook names, beside those that stand for others
SHAPES = ("as one project", "as two projects")
# Caches do not trust the stat of a file that is younger than the coarsest clock of a file system.
SETTLED_SECONDS = 2.5
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+([\w.]+)", re.MULTILINE)


def measured(options: argparse.Namespace, load: float) -> str:
    """Its section of the page."""
    chosen = given(options.work, options.only, options.also)
    folders = programs.install(options.work, ["ruff"])
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        selected = list(_selected(chosen, folders, Path(scratch)))
        found = measure.all_programs(selected, options.rounds)
    results = by_name(found)
    tables = [ratios(chosen, results), verdicts(bounds(chosen), results), measurements(found)]
    return section(list(_facts(chosen)), tables, load)


def given(work: Path, only: str | None, also: Sequence[Path]) -> Repositories:
    """The pinned releases that are asked for, each a git repository, and further folders as they
    lie there."""
    found = {
        name: corpus.release(name, version, work, sdist=name in corpus.SDISTS)
        for name, version in corpus.REPOSITORIES.items()
        if only is None or re.search(only, name)
    }
    for each in found.values():
        corpus.repository(each.folder)
    for folder in map(Path.resolve, also):
        if folder.name in found:
            raise SystemExit(f"--also {folder}: there is a repository of this name already")
        found[folder.name] = corpus.measured(folder)
    if not found:
        raise SystemExit(f"--only {only}: none of {', '.join(corpus.REPOSITORIES)}")
    return found


def by_size(chosen: Repositories) -> list[str]:
    """Their names, the one with the most files first."""
    return sorted(chosen, key=lambda name: chosen[name].files, reverse=True)


def _facts(chosen: Repositories) -> Iterator[str]:
    pinned = corpus.REPOSITORIES | {"ruff": programs.PEERS["ruff"]}
    versions = [f"{name} {pinned[name]}" for name in (*chosen, "ruff") if name in pinned]
    yield f"versions: {', '.join(versions)}"
    if extra := [name for name in chosen if name not in pinned]:
        yield f"as they lay on this machine: {', '.join(extra)}"
    yield "`detlint --isolated` beside `ruff check --isolated --select=NPY,S311`, on one folder"
    yield "releases, and copies in which a file changes, are git repositories (`git init`)"
    yield "cold: with `--no-cache`; unchanged: with a cache of the same files; ratios of medians"


def _selected(chosen: Repositories, folders: dict[str, Path], scratch: Path) -> Iterator[Program]:
    for name, each in chosen.items():
        yield from programs.beside_ruff(each, name, folders, scratch)
    largest, *rest = by_size(chosen)
    yield from one_changed(chosen[largest], largest, folders, scratch)
    if rest:
        yield from together({name: chosen[name] for name in (largest, rest[0])}, folders, scratch)


def one_changed(
    whole: Corpus, name: str, folders: dict[str, Path], scratch: Path
) -> Iterator[Program]:
    """What a commit hook runs: one file by name, with the cache of its whole repository; and what
    `--watch` runs: all of it."""
    copy = corpus.copied(whole.folder, scratch / "changed", project=True)
    time.sleep(SETTLED_SECONDS)
    print(f"filling a cache of {name}")
    cache, filled = copy.with_suffix(".cache"), copy.with_suffix(".filled")
    command = (*programs.detlint_command(folders), f"--cache-dir={cache}")
    subprocess.run([*command, "--exit-zero", "."], cwd=copy, check=True, capture_output=True)
    cache.rename(filled)
    change = _Change(filled, cache)
    chosen = representatives(copy)
    for what, file in {**chosen, **{f"`{each}`": each for each in sample(copy)}}.items():
        changed = Corpus(copy, 1, (copy / file).stat().st_size)
        for title, named in ((ONE_FILE, str(file)), (f"all after {ONE_FILE}", ".")):
            if named != "." or what in chosen:
                prepare = partial(change, copy / file)
                yield Program(
                    f"{title}, {what}, {name}", changed, (*command, named), prepare=prepare
                )


def sample(folder: Path) -> list[Path]:
    """The same files of a repository each time, a third of them programs, of which more depends on
    other files."""
    files = sorted(path for path in folder.rglob("*.py") if path.is_file())
    starts = [x for x in files if "__main__" in x.read_text(encoding="utf-8", errors="replace")]
    chance = random.Random(0)  # noqa: S311 - which files are drawn is no secret
    drawn = [
        *chance.sample(files, min(SAMPLED - SAMPLED // 3, len(files))),
        *chance.sample(starts, min(SAMPLED // 3, len(starts))),
    ]
    return [path.relative_to(folder) for path in sorted({*drawn})]


def representatives(folder: Path) -> dict[str, Path]:
    """Files that a change may cost much of, and one that is like most."""
    files = sorted(
        (path for path in folder.rglob("*.py") if path.is_file()),
        key=lambda path: (path.stat().st_size, path),
    )
    imported = Counter[str]()
    for path in files:
        imported.update(_IMPORTED.findall(path.read_text(encoding="utf-8", errors="replace")))
    found = {
        "of median size": files[len(files) // 2],
        "the largest": files[-1],
        "the most imported": max(files, key=lambda path: imported[_module(path, folder)]),
    }
    return {what: path.relative_to(folder) for what, path in found.items()}


def _module(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Change:
    """Before each run: a definition that was never there, in one file, and the cache as the whole
    left it."""

    def __init__(self, filled: Path, cache: Path) -> None:
        self._filled, self._cache = filled, cache
        self._numbers = itertools.count()
        self._changed: tuple[Path, bytes] | None = None

    def __call__(self, file: Path) -> None:
        shutil.rmtree(self._cache, ignore_errors=True)
        shutil.copytree(self._filled, self._cache)
        if self._changed is not None:
            self._changed[0].write_bytes(self._changed[1])
        self._changed = file, file.read_bytes()
        number = next(self._numbers)
        added = f"\n\ndef changed_{number}():\n    return {number}\n"
        file.write_bytes(self._changed[1] + added.encode())


def together(pair: Repositories, folders: dict[str, Path], scratch: Path) -> Iterator[Program]:
    """Two repositories beside each other in one folder."""
    command = (*programs.detlint_command(folders), "--no-cache", ".")
    for projects, shape in enumerate(SHAPES):
        both = scratch / f"both-{projects}"
        for name, each in pair.items():
            corpus.copied(each.folder, both / name, project=bool(projects))
        if not projects:
            (both / corpus.MARK).touch()
        yield Program(_both(pair, shape), corpus.measured(both), command)


def _both(names: Iterable[str], shape: str) -> str:
    return f"detlint cold, {' and '.join(names)}, {shape}"


def ratios(chosen: Repositories, results: Results) -> Iterator[str]:
    """A row a repository, the slowest beside ruff first."""
    yield (
        "| | files | cold: times ruff | by the fastest | cold: largest process, MB "
        "| unchanged, s | allowed, s |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name in sorted(chosen, key=lambda name: cold(name, results), reverse=True):
        ours, ruff = results[f"detlint cold, {name}"], results[f"ruff cold, {name}"]
        unchanged = results[f"detlint warm, {name}"].median
        yield (
            f"| {name} | {chosen[name].files} | {cold(name, results):.1f} "
            f"| {ours.fastest / ruff.fastest:.1f} | {ours.peak / 1e6:.0f} "
            f"| {unchanged:.3f} | {allowed(name, results):.3f} |"
        )


def cold(name: str, results: Results) -> float:
    """The time of detlint over that of ruff, without a cache."""
    return results[f"detlint cold, {name}"].median / results[f"ruff cold, {name}"].median


def allowed(name: str, results: Results) -> float:
    """Seconds that an unchanged repository may take."""
    return max(WARM_TIMES * results[f"ruff warm, {name}"].median, WARM_SECONDS)


def bounds(chosen: Repositories) -> list[Bound]:
    """What must hold of all of them."""
    pair = by_size(chosen)[:2]
    return [
        Bound(
            "cold: detlint's time over ruff's, the worst repository",
            "at most 8",
            " times",
            lambda results: max(cold(name, results) for name in chosen),
            lambda figure: figure <= 8,
        ),
        Bound(
            "cold: detlint's time over ruff's, the median repository",
            "at most 5",
            " times",
            lambda results: median(cold(name, results) for name in chosen),
            lambda figure: figure <= 5,
        ),
        Bound(
            f"unchanged: detlint's time over what is allowed ({WARM_TIMES} times ruff's, or "
            f"{WARM_SECONDS} s if that is more), the worst repository",
            "at most 1",
            " times",
            lambda results: max(
                results[f"detlint warm, {name}"].median / allowed(name, results) for name in chosen
            ),
            lambda figure: figure <= 1,
            digits=2,
        ),
        Bound(
            f"{ONE_FILE}, as a hook names it, in a git repository, the slowest of {SAMPLED} files "
            f"of {pair[0]} that are drawn, a third of them programs, and three others",
            "at most 0.5",
            " s",
            lambda results: max(
                each.median for name, each in results.items() if name.startswith(ONE_FILE)
            ),
            lambda figure: figure <= 0.5,
            digits=2,
        ),
        *(_additivity(pair, shape) for shape in SHAPES if len(pair) == 2),
        memory(),
    ]


def _additivity(pair: Sequence[str], shape: str) -> Bound:
    return Bound(
        f"{' and '.join(pair)} in one folder, {shape}: cold time over the sum of theirs",
        "at most 1.1",
        " times",
        lambda results: (
            results[_both(pair, shape)].median
            / sum(results[f"detlint cold, {name}"].median for name in pair)
        ),
        lambda figure: figure <= 1.1,
        digits=2,
    )


def memory() -> Bound:
    """Of whatever detlint did."""
    return Bound(
        "peak memory of detlint's largest process",
        "under 500",
        " MB",
        lambda results: max(
            each.peak / 1e6 for name, each in results.items() if not name.startswith("ruff")
        ),
        lambda figure: figure < 500,
    )
