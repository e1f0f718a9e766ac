"""Running a program once for each seed, and reading its metric.

Results outlive an interruption: a file for each run that gave a value.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import json
import math
import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import GuardError
from guard.executors import Task, stop
from guard.executors.board import Row
from guard.program import Program, beside_guard, flags, text_of, write_whole
from guard.verification.program_files import digest_of, program_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.executors import Executor, Job
    from guard.executors.board import Board

    Before = dict[str, tuple[int, int, int]]


_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = (
    r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])"  # 12,345.6
    r"|(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?!\.?\d)"
    r"|(?:inf|infinity|nan)\b)"
)
# Between a name and its number: a colon, an equals sign, the border of a table, or only spaces;
# then a quote, or what NumPy and torch put around a number: np.float64(0.5), tensor(0.5).
_BETWEEN = r"[\"']?(?:\s*[:=|│┃║]\s*|\s+)[\"'\[]?(?:[A-Za-z_][\w.]*\(\[?)?"
_NAMED = re.compile(rf"([A-Za-z][\w/.-]*(?: [A-Za-z][\w/.-]*)?)[\"']?\s*[:=]\s*[\"']?{_NUMBER}")
_LONGEST = 160  # characters of a line that are shown


class Match(NamedTuple):
    """A metric's value, and the text in which it was found."""

    value: float
    text: str


def in_output(text: str, name: str) -> Match | None:
    """The last ``name: number``, ``name=number``, ``name number`` or JSON member of an output.

    Colours are taken out; a line that is overwritten, as a progress bar is, counts in each of
    its versions.
    """
    pattern = _pattern(name)
    found = None
    for line in _lines(text):
        if (match := _in_line(line, name, pattern)) is not None:
            found = match
    return found


def in_file(path: str, name: str) -> Match | None:
    """The last value in a CSV column, or under a key of a JSON or JSON Lines document.

    A key may be given with those above it: ``val.loss``. Any other file is read as an output.
    Raises GuardError where the name stands for several.
    """
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        text = file.read()
    if path.endswith((".csv", ".tsv")):
        return _in_table(text, name, "\t" if path.endswith(".tsv") else ",")
    document = _parsed(text)
    return in_output(text, name) if document is None else _in_document(document, name)


def names_in(text: str) -> list[str]:
    """What the last lines of an output call their numbers: for someone who mistyped a name."""
    found = (
        match.group(1).strip() for line in _lines(text)[-50:] for match in _NAMED.finditer(line)
    )
    return list(dict.fromkeys(found))[-12:]


def _pattern(name: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, name.split()))
    return re.compile(rf"(?<![\w./-])[\"']?{words}{_BETWEEN}({_NUMBER})", re.IGNORECASE)


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]+", _ANSI.sub("", text)) if line.strip()]


def _in_line(line: str, name: str, pattern: re.Pattern[str]) -> Match | None:
    if line.lstrip().startswith("{") and (document := _parsed(line)) is not None:
        found = _in_document(document, name)
        if found is not None:
            return Match(found.value, _shown(line))
    matches = pattern.findall(line)
    return Match(_number(matches[-1]), _shown(line)) if matches else None


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def _shown(line: str) -> str:
    text = "".join(each if each.isprintable() else " " for each in line).strip()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _parsed(text: str) -> object:
    """A JSON document, the documents of JSON Lines as a list, or None for neither."""
    try:
        document: object = json.loads(text)
    except ValueError:
        document = _parsed_lines(text)
    return document if isinstance(document, (dict, list)) else None


def _parsed_lines(text: str) -> list[object] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None


def _in_document(document: object, name: str) -> Match | None:
    paths = {
        path: value
        for path, value in _numbers(document, "")
        if path == name or path.endswith(f".{name}")
    }
    if name in paths:
        return Match(paths[name], f"{name}: {paths[name]!r}")
    if len(paths) > 1:
        raise GuardError(f"{name!r} could be each of {', '.join(paths)}: give it in full")
    return next((Match(value, f"{path}: {value!r}") for path, value in paths.items()), None)


def _numbers(document: object, path: str) -> Iterator[tuple[str, float]]:
    """Each number with the keys above it; the items of a list share their list's."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _numbers(value, f"{path}.{key}" if path else str(key))
    elif isinstance(document, list):
        for value in document:
            yield from _numbers(value, path)
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        yield path, float(document)


def _in_table(text: str, name: str, delimiter: str) -> Match | None:
    rows = csv.DictReader(text.splitlines(), delimiter=delimiter)
    names = [each.strip() for each in rows.fieldnames or ()]
    if name not in names:
        raise GuardError(f"it has no column {name!r}; it has {', '.join(names) or 'none'}")
    rows.fieldnames = names
    found = None
    for number, row in enumerate(rows, 2):
        found = _in_cell(row.get(name), f"line {number}, column {name}") or found
    return found


def _in_cell(cell: str | Iterable[str] | None, where: str) -> Match | None:
    """Loggers leave a column empty in rows that have nothing to say of it."""
    if not isinstance(cell, str) or not cell.strip():
        return None
    try:
        return Match(float(cell), f"{where}: {cell.strip()}")
    except ValueError:
        return None


PLACEHOLDER = "{seed}"


@dataclass(frozen=True)
class Plan:
    """How a program is run, and where its metric is read."""

    # script and arguments, or -m, module and arguments; ``{seed}`` stands for the seed
    program: tuple[str, ...]
    metric: str  # its name
    source: str | None = None  # the file to read it from, or None for the output
    # the program's own option for the seed: ``--seed``, ``seed=``; None for none
    seed_arg: str | None = None
    as_is: bool = False  # the program gets no seed; with neither, it runs under guard, which seeds
    logs: str | None = None  # folder for the outputs, or None

    def __str__(self) -> str:
        return " ".join(self.program)

    @property
    def seeding(self) -> str:
        """Who seeds, in words."""
        if self.seed_arg is not None:
            return f"seed given as {self.seed_arg}"
        return "run as it is" if self.as_is else "seeded by guard"

    def check(self) -> None:
        """Raise GuardError for a program that cannot be run so."""
        module = self.program[0] == "-m"
        words = self.program[1:] if module else self.program
        if not words or words[0].startswith("-"):
            raise GuardError(f"{str(self)!r} names no program: a script, or -m and a module")
        program = Program(words[0], list(words[1:]), module=module)
        if self.seed_arg is None and not self.as_is:
            _check_guarded(program)
        program.check_file()
        program.check_text()

    def command(self, seed: int) -> list[str]:
        """The command line of a run."""
        program = [each.replace(PLACEHOLDER, str(seed)) for each in self.program]
        start = [sys.executable, *flags()]
        if (name := self.seed_arg) is not None:
            option = [f"{name}{seed}"] if name.endswith("=") else [name, str(seed)]
            return [*start, *program, *option]
        under = [] if self.as_is else ["-m", "guard", "run", "--seed", str(seed)]
        return [*start, *under, *program]


def _check_guarded(program: Program) -> None:
    if program.launcher:
        raise GuardError(
            f"{program.launcher} starts its ranks by itself; guard goes inside: --as-is "
            f"-m torch.distributed.run … -m guard run --seed {PLACEHOLDER} train.py"
        )
    program.check()


def read(plan: Plan, seed: int, text: str, before: Before) -> Match:
    """The metric of a run that printed a text. Raises GuardError where there is none."""
    if plan.source is None:
        return _printed(text, plan.metric)
    path = _written(plan, seed, before)
    try:
        match = in_file(path, plan.metric)
    except (GuardError, OSError) as error:
        raise GuardError(f"{path}: {error}") from None
    if match is None:
        raise GuardError(f"{path} holds no number for {plan.metric!r}")
    return Match(match.value, f"{path}: {match.text}")


def _printed(text: str, name: str) -> Match:
    match = in_output(text, name)
    if match is None:
        names = ", ".join(names_in(text))
        also = f"; numbers that it names: {names}" if names else ""
        raise GuardError(f"it printed no number for {name!r}{also}")
    return match


def _written(plan: Plan, seed: int, before: Before) -> str:
    """The file that this run wrote; one of an earlier run would give that run's value."""
    after = look(plan, seed)
    written = [path for path in after if after[path] != before.get(path)]
    if not written:
        told = "it is there, but this run did not write it" if after else "there is no such file"
        raise GuardError(f"{_path(plan, seed)}: {told}")
    if len(written) > 1:
        raise GuardError(f"it wrote several files of that name: {', '.join(sorted(written))}")
    return written[0]


def _path(plan: Plan, seed: int) -> str:
    return (plan.source or "").replace(PLACEHOLDER, str(seed))


def look(plan: Plan, seed: int) -> Before:
    """The files of ``--from`` as they are now: one that stays so is not from the next run."""
    if plan.source is None:
        return {}
    path = _path(plan, seed)
    found: Iterable[str] = [path] if os.path.exists(path) else glob.glob(path, recursive=True)
    stats = {each: os.stat(each) for each in found if os.path.isfile(each)}
    return {each: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for each, stat in stats.items()}


_TAIL = 20  # lines of a run that failed
_PAUSE, _PAUSE_AWAY = 0.02, 0.2  # seconds between two looks, here and at a cluster


class Outcome(NamedTuple):
    """One run."""

    seed: int
    value: float | None  # of the metric; None where there is a problem
    seconds: float
    matched: str = ""  # the text in which it was found
    problem: str = ""  # why there is no value, or ""
    tail: str = ""  # the last lines of the output, where there is a problem
    place: str = ""  # where it ran, "" for this machine


@dataclass
class _Run:
    """One that is under way."""

    plan: Plan
    seed: int
    job: Job
    output: str
    before: Before
    begun: float

    @property
    def row(self) -> Row:
        """As the table has it; the time counts from where it was handed over."""
        place = self.job.place
        return Row(
            f"{self.plan}, seed {self.seed}",
            "running" if place else "waiting",
            place,
            time.monotonic() - self.begun,
        )


class Runs:
    """The runs of several programs with several seeds.

    most   runs at a time; None leaves that to what runs them
    folder for outputs where no plan names one; other machines have to see it
    kept   results of an earlier time, or None
    """

    def __init__(
        self, executor: Executor, most: int | None, folder: str, kept: Kept | None
    ) -> None:
        self._executor = executor
        self._most = most
        self._folder = folder
        self._kept = kept
        self._running: dict[tuple[int, int], _Run] = {}

    def all(
        self,
        programs: Sequence[Plan],
        seeds: Sequence[int],
        board: Board,
    ) -> list[list[Outcome]]:
        """Outcomes of each plan in the order of the seeds; the board shows each when it is there.

        Programs take turns, so that what changes on the machine meanwhile meets both alike.
        """
        waiting = [(index, seed) for seed in seeds for index in range(len(programs))]
        done = {key: found for key in waiting if (found := self._known(programs[key[0]], key))}
        count = len(waiting)
        waiting = [key for key in waiting if key not in done]
        if done:
            board.tell(f"{len(done)} of {count} runs are kept from before")
        try:
            while waiting or self._running:
                while waiting and (self._most is None or len(self._running) < self._most):
                    index, seed = key = waiting.pop(0)
                    self._running[key] = self._start(programs[index], index, seed)
                for key, outcome in self._ended():
                    done[key] = outcome
                    board.tell(f"[{len(done)}/{count}] {programs[key[0]]}, {_told(outcome)}")
                board.show(self._rows(programs, waiting), len(done))
                time.sleep(_PAUSE if self._executor.is_local else _PAUSE_AWAY)
        finally:
            stop([each.job for each in self._running.values()])
        return [[done[index, seed] for seed in seeds] for index in range(len(programs))]

    def _rows(self, programs: Sequence[Plan], waiting: Sequence[tuple[int, int]]) -> list[Row]:
        rows = [each.row for each in self._running.values()]
        return rows + [Row(f"{programs[i]}, seed {seed}", "waiting") for i, seed in waiting]

    def _known(self, plan: Plan, key: tuple[int, int]) -> Outcome | None:
        return self._kept.load(plan, *key) if self._kept else None

    def _start(self, plan: Plan, index: int, seed: int) -> _Run:
        folder = plan.logs or os.path.join(self._folder, "ab"[index])
        os.makedirs(folder, exist_ok=True)
        output = os.path.abspath(os.path.join(folder, f"seed{seed}.log"))
        before = look(plan, seed)
        task = Task(tuple(plan.command(seed)), _environment(plan, seed), os.getcwd(), output)
        return _Run(plan, seed, self._executor.start(task), output, before, time.monotonic())

    def _ended(self) -> Iterator[tuple[tuple[int, int], Outcome]]:
        for key, run in list(self._running.items()):
            status = run.job.poll()
            if status is not None:
                place = "" if self._executor.is_local else run.job.place
                outcome = _outcome(run, status)._replace(place=place)
                del self._running[key]
                if self._kept:
                    self._kept.save(run.plan, *key, outcome)
                yield key, outcome


def _outcome(run: _Run, status: int) -> Outcome:
    plan, seed = run.plan, run.seed
    seconds = time.monotonic() - run.begun
    text = text_of(run.output)  # nothing where it was called off before it began
    try:
        if status:
            raise GuardError(_status(status))  # noqa: TRY301 - one way to a problem
        match = read(plan, seed, text, run.before)
    except GuardError as error:
        return Outcome(seed, None, seconds, problem=str(error), tail=_tail(text))
    if not math.isfinite(match.value):
        problem = f"{plan.metric} is {match.value}, with which no mean can be taken"
        return Outcome(seed, None, seconds, match.text, problem, _tail(text))
    return Outcome(seed, match.value, seconds, match.text)


def _told(outcome: Outcome) -> str:
    where = f", {outcome.place}" if outcome.place else ""
    result = outcome.problem or outcome.matched
    return f"seed {outcome.seed}, {outcome.seconds:.0f} s{where}: {result}"


def _status(status: int) -> str:
    return f"it ended with status {status}" if status > 0 else f"signal {-status} ended it"


def _environment(plan: Plan, seed: int) -> dict[str, str]:
    environ = dict(os.environ)
    if plan.seed_arg is None and not plan.as_is:
        environ.setdefault("PYTHONHASHSEED", str(seed))  # the order of sets is chance as well
        return beside_guard(environ)
    return environ


def _tail(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-_TAIL:])


class Kept:
    """The results of a folder. One holds for the same program, as its files now are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, plan: Plan, index: int, seed: int) -> Outcome | None:
        """The result of that run, if it is there."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(self._path(index, seed), encoding="utf-8") as file:
                read = json.load(file)
            if read["key"] == _key(plan, seed):
                return Outcome(**read["outcome"])
        return None

    def save(self, plan: Plan, index: int, seed: int, outcome: Outcome) -> None:
        """Keep a result; a run without one is to be made again."""
        if outcome.value is None:
            return
        path = self._path(index, seed)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        told = {"key": _key(plan, seed), "outcome": outcome._asdict()}
        write_whole(path, json.dumps(told, indent=2))

    def _path(self, index: int, seed: int) -> str:
        return os.path.join(self._folder, "ab"[index], f"seed{seed}.json")


def _key(plan: Plan, seed: int) -> str:
    """A digest of what a result depends on, as far as it is known."""
    is_module = plan.program[0] == "-m"
    told: list[object] = [plan.command(seed), plan.metric, plan.source, plan.seeding]
    told.append(sorted(each for each in os.environ.items() if each[0].startswith("GUARD_")))
    files = digest_of(program_files(plan.program[is_module], module=is_module))
    return hashlib.sha256(json.dumps(told).encode() + files).hexdigest()
