"""The third part, measured on request: how time and memory grow with the number of files.

A tree holds copies of a small repository, once as projects of their own and once as folders of
one project. Each copy's files differ, so that nothing is known from another copy.

    python benchmarks/run.py --part scale --rounds 2
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import corpus
import measure
import programs
from programs import Program
from repositories import by_size, given, memory
from results import by_name, section, verdicts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from corpus import Corpus
    from measure import Result

FILES = (2_000, 10_000, 50_000)
# Trees from this size on are linted once: they take minutes, of which little is chance.
LARGE = 10_000
GIVEN_UP_SECONDS = 600.0


class Point(NamedTuple):
    """What a tree of so many copies took."""

    copies: int
    ruff: Result
    projects: Result
    folders: Result


def measured(options: argparse.Namespace, load: float) -> str:
    """Its section of the page."""
    chosen = given(options.work, options.only, options.also)
    name = by_size(chosen)[-1]
    folders = programs.install(options.work, ["ruff"])
    with tempfile.TemporaryDirectory(dir=options.work) as scratch:
        points = list(curve(chosen[name], folders, Path(scratch), options.rounds))
    version = corpus.REPOSITORIES.get(name, "as it lay on this machine")
    facts = [
        f"copies of {name} ({version}), each with files of its own content",
        f"ruff {programs.PEERS['ruff']}, on the same tree",
        "growth: seconds a file, over those of the smallest tree",
        f"from {LARGE:,} files on, one run, in which memory is watched as well",
        f"ended early where a run took {GIVEN_UP_SECONDS:.0f} s",
    ]
    every = by_name(each for point in points for each in point[1:])
    return section(facts, [table(points), verdicts([memory()], every)], load)


def curve(
    repository: Corpus, folders: dict[str, Path], scratch: Path, rounds: int
) -> Iterator[Point]:
    """Points until there are files enough, or one took too long."""
    trees = (scratch / "projects", scratch / "folders")
    made = 0
    for copies in sorted({-(-files // repository.files) for files in FILES}):
        for number in range(made, copies):
            _add(repository.folder, number, *trees)
        made = copies
        ruff, *ours = measure.all_programs(_programs(copies, folders, *trees), rounds)
        yield Point(copies, ruff, *ours)
        if max(each.median for each in ours) > GIVEN_UP_SECONDS:
            return


def _add(repository: Path, number: int, projects: Path, folders: Path) -> None:
    for tree in (projects, folders):
        copy = corpus.copied(repository, tree / f"copy{number:05}", project=tree == projects)
        for path in copy.rglob("*.py"):
            if path.is_file():
                with path.open("ab") as file:
                    file.write(b"\n# copy %d\n" % number)
    (folders / corpus.MARK).touch()


def _programs(copies: int, folders: dict[str, Path], projects: Path, plain: Path) -> list[Program]:
    ruff = (*programs.ruff_command(folders), "--no-cache", ".")
    detlint = (*programs.detlint_command(folders), "--no-cache", ".")
    tree = corpus.measured(projects)
    rounds = 0 if tree.files >= LARGE else 1000
    return [
        Program(f"ruff, {copies} copies", tree, ruff, rounds=rounds),
        Program(f"detlint, {copies} projects", tree, detlint, rounds=rounds),
        Program(f"detlint, {copies} folders", tree._replace(folder=plain), detlint, rounds=rounds),
    ]


def table(points: list[Point]) -> Iterator[str]:
    """The curve, a row a tree."""
    yield (
        "| copies | files | MB | runs of detlint | ruff, s "
        "| each a project: s | times ruff | growth | largest process, MB "
        "| folders of one project: s | times ruff | growth | largest process, MB |"
    )
    yield f"|{'--:|' * 13}"
    for point in points:
        tree = point.ruff.program.corpus
        yield (
            f"| {point.copies} | {tree.files} | {tree.megabytes:.1f} "
            f"| {len(point.projects.seconds)} | {point.ruff.median:.3f} "
            f"| {_cells(point.projects, point, points[0].projects)} "
            f"| {_cells(point.folders, point, points[0].folders)} |"
        )


def _cells(result: Result, point: Point, first: Result) -> str:
    files = result.program.corpus.files / first.program.corpus.files
    growth = result.median / first.median / files
    times = result.median / point.ruff.median
    return f"{result.median:.2f} | {times:.1f} | {growth:.2f} | {result.peak / 1e6:.0f}"
