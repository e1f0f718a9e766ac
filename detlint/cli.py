"""``detlint``: the command line, and the only place that maps outcomes to exit codes.

0 clean · 1 findings · 2 wrong usage, unreadable configuration or internal error · 130 interrupted
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NoReturn, cast

from detlint import __version__
from detlint.errors import DetlintError, OutputError, UsageError
from detlint.kinds import NOTEBOOK, kind_of_name
from detlint.streams import open_closed, tell, write
from detlint.terminal import leading, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

    from detlint.cache import Cache
    from detlint.catalogue import Entry
    from detlint.context import Context
    from detlint.engine import Engine
    from detlint.finding import Finding
    from detlint.notebooks.notebook import Notebook
    from detlint.novelty import Novelty
    from detlint.reporters import Report
    from detlint.rule import Rule
    from detlint.runner import Linted
    from detlint.settings import Settings
    from detlint.source import Source

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130
# A progress bar is worth its import, and a person's glance, from about this many files.
_LONG = 200
# Reading this many files takes longer than a fork.
_WORTH_A_FORK = 500


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the status to exit with. Usage errors raise SystemExit(2)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = _COMMANDS.get(arguments[0] if arguments else "")
    open_closed()
    try:
        return command(arguments[1:]) if command else _lint(arguments)
    except DetlintError as error:
        _say(*error.args)
        return FAILED
    except KeyboardInterrupt:
        _say("interrupted; every file is as it was or fixed whole")
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - the one place that turns a crash into exit 2
        import traceback

        _say_failed(traceback.format_exc())
        return FAILED


def run() -> NoReturn:
    """``detlint``: run the command line and leave."""
    status = main()
    if status in (CLEAN, FOUND):
        os._exit(status)  # taking a hundred megabytes of objects apart takes a tenth of a second
    sys.exit(status)


def _say(*lines: str) -> None:
    tell(f"detlint: {visible(line)}" for line in lines)


def _say_failed(traceback: str, where: str = "") -> None:
    lines = traceback.strip().split("\n")
    tell(map(leading, lines))
    _say(
        f"internal error{where}: {lines[-1]}. Please report it, with the lines above, at",
        "https://github.com/detlint/detlint/issues",
    )


def _lint(arguments: list[str]) -> int:
    from detlint import arguments as options_module

    options = options_module.parse(arguments)
    if options.add_ignore is not None:
        from detlint.ignoring import checked

        options.add_ignore = checked(options.add_ignore)
        if options.fix:
            raise UsageError("--fix mends, and --add-ignore keeps: give one of them")
    settings = _settings(options)
    if "-" in options.paths:
        return _lint_stdin(options, settings)
    return _lint_paths(options, settings)


def _settings(options: argparse.Namespace) -> Settings:
    from detlint import arguments as options_module
    from detlint import settings as settings_module

    if not options.paths:
        raise UsageError("give at least one file or folder to lint: `detlint .`")
    return settings_module.load(
        _first_path(options),
        config=options.config,
        isolated=options.isolated,
        overrides=options_module.overrides(options),
        codes=lambda: [rule.code for rule in _catalogue(options)],
    )


def _first_path(options: argparse.Namespace) -> str:
    first: str = options.paths[0]
    if first == "-":
        first = options.stdin_filename or "."
    return first


def _every_rule() -> Sequence[type[Rule]]:
    from detlint.rules import every_rule

    return every_rule()


def _catalogue(options: argparse.Namespace) -> Sequence[Entry]:
    from detlint.cache import folder_of
    from detlint.catalogue import catalogue

    # Also with --no-cache: it knows the rules, as compiled files do, and nothing of what is linted.
    return catalogue(folder_of(options.cache_dir), _version())


def _engine(options: argparse.Namespace, settings: Settings) -> Engine:
    from detlint.engine import Engine
    from detlint.settings import enabled

    rules = _catalogue(options)
    chosen = [rule for rule in rules if enabled(settings, rule.code, rule.default)]
    if not any(rule.code != "DET000" for rule in chosen):
        raise UsageError("no rule is left: --select and --ignore cancel out")
    return Engine(chosen, settings, known={rule.code for rule in rules})


def _lint_paths(options: argparse.Namespace, settings: Settings) -> int:
    from detlint.discovery import discover

    paths = discover(options.paths, settings, lambda text: _say(f"warning: {text}"))
    engine = cache(lambda: _engine(options, settings))
    linted = _lint_all(options, settings, engine, paths)
    if not paths:
        _say("warning: no file to lint found under the given paths")
    new = _new(options, settings, engine, linted.findings)
    if options.add_ignore is not None:
        status = _ignore(options, settings, engine, linted, paths, new)
    elif options.fix or options.diff:
        linted, status = _fix(options, settings, engine, linted, paths, new)
    else:
        findings = new.of(linted.findings, _decoded)
        known = len(linted.findings) - len(findings)
        _report(options, settings, findings, files=len(paths), known=known)
        status = _status(options, findings)
        if gone := new.gone(linted.findings, paths, _decoded):
            _say(
                f"{gone} known finding{'s' * (gone != 1)} of the baseline "
                f"{'are' if gone != 1 else 'is'} mended: `detlint baseline --prune .` drops them"
            )
    for path, failure in linted.failures.items():
        _say_failed(failure, f" at {path}, which is not linted")
    return FAILED if linted.failures else status


def _new(
    options: argparse.Namespace,
    settings: Settings,
    engine: Callable[[], Engine],
    findings: Sequence[Finding],
) -> Novelty:
    """What leaves out known findings; all of them are new where nothing says what is known."""
    from detlint.novelty import Novelty, asked, novelty

    if not asked(options, settings):
        return Novelty()

    def lint(settings: Settings, paths: Sequence[str]) -> Sequence[Finding]:
        from detlint.cache import Cache

        return _found(options, settings, engine, paths, Cache.disabled(), []).findings

    return novelty(options, settings, findings, lint, _decoded)


def _lint_all(
    options: argparse.Namespace,
    settings: Settings,
    engine: Callable[[], Engine],
    paths: Sequence[str],
) -> Linted:
    """The files as they stand, with what programs show."""
    results = _cache(options, settings)
    linted = _found(options, settings, engine, paths, results, options.paths)
    results.save()
    return linted


def _found(  # noqa: PLR0913, PLR0917 - what a run has
    options: argparse.Namespace,
    settings: Settings,
    engine: Callable[[], Engine],
    paths: Sequence[str],
    results: Cache,
    given: Sequence[str],
) -> Linted:
    from detlint.context import Context
    from detlint.runner import lint_files

    with _Progress(len(paths)) as progress:
        linted = lint_files(paths, engine, results, options.jobs, progress)
    context = Context(paths, settings, given=given)
    findings = _linked(linted, context, engine, results, jobs=options.jobs)
    return linted._replace(findings=_not_ignored(findings, settings))


def _linked(
    linted: Linted, context: Context, engine: Callable[[], Engine], results: Cache, *, jobs: int
) -> list[Finding]:
    """With what programs show: their own findings, and without those that they clear."""
    from detlint.callgraph.callers import are_asked, ignored
    from detlint.callgraph.scripts import may_differ, together

    scripted, returned = may_differ(context.paths), are_asked(linted.findings)
    if not (linted.entrypoints or scripted or linted.findings or context.may_start()):
        return linted.findings
    from detlint.unchanged import recall, remember

    known = recall(results, context)
    if known is not None:
        return known
    from detlint.aside import begun
    from detlint.link import Linker

    findings = linted.findings
    if scripted:
        findings = together(findings, context, engine())
    # Both look into most files, and neither asks the other.
    aside = jobs > 1 and len(context.files) >= _WORTH_A_FORK
    pointless = begun(ignored, findings, context.files, forks=aside) if returned else set
    linker = Linker(engine().rules, results, context, jobs=jobs)
    findings = linker.link(findings, linted.entrypoints)
    settled = pointless()
    findings = [each for each in findings if each not in settled]
    if results.keeps:
        remember(results, context, linker.looked_at(), findings)
    return findings


def _fix(  # noqa: PLR0913, PLR0917 - what a run has
    options: argparse.Namespace,
    settings: Settings,
    engine: Callable[[], Engine],
    linted: Linted,
    paths: Sequence[str],
    new: Novelty,
) -> tuple[Linted, int]:
    """What is left after fixes, and the exit status."""
    from detlint.fixer import fix_files

    every = _filtered(engine(), settings, paths)
    found = new.of(linted.findings, _decoded)
    outcome = fix_files(
        found,
        lambda source: new.of(every(source), lambda _path: source),
        unsafe=options.unsafe_fixes,
        dry_run=options.diff,
    )
    for failure in outcome.failures:
        _say(failure)
    if options.diff:
        status = _show_patches(outcome.patches, outcome.fixed)
    else:
        if outcome.fixed:  # a fix may mend what is found in another file
            linted = _lint_all(options, settings, engine, paths)
            found = new.of(linted.findings, _decoded)
        known = len(linted.findings) - len(found)
        _report(options, settings, found, files=len(paths), fixed=outcome.fixed, known=known)
        status = _status(options, found)
    return linted, FAILED if outcome.failures else status


def _ignore(  # noqa: PLR0913, PLR0917 - what a run has
    options: argparse.Namespace,
    settings: Settings,
    engine: Callable[[], Engine],
    linted: Linted,
    paths: Sequence[str],
    new: Novelty,
) -> int:
    """Comments for what is found; the exit status."""
    from detlint.ignoring import ignore_files

    every = _filtered(engine(), settings, paths)
    outcome = ignore_files(
        new.of(linted.findings, _decoded),
        lambda source: new.of(every(source), lambda _path: source),
        options.add_ignore,
        dry_run=options.diff,
    )
    write(sys.stdout, outcome.patches)
    would = "would silence" if options.diff else "silenced"
    _say(f"{would} {outcome.silenced} finding{'s' * (outcome.silenced != 1)}")
    for path in outcome.left:
        _say(f"{path}: has findings left that no comment can silence: use per-file-ignores")
    return FOUND if outcome.left else CLEAN


def _not_ignored(findings: Sequence[Finding], settings: Settings) -> list[Finding]:
    if not settings.per_file_ignores:
        return list(findings)
    from detlint.settings import ignored_for

    return [each for each in findings if not ignored_for(settings, each.path, each.code)]


def _filtered(
    engine: Engine, settings: Settings, paths: Sequence[str] = ()
) -> Callable[[Source], list[Finding]]:
    """What fixes re-lint by: they leave alone what ``per-file-ignores`` silences."""
    from detlint.cache import Cache
    from detlint.context import Context
    from detlint.link import Linker

    linker = Linker(engine.rules, Cache.disabled(), Context(paths, settings))
    return lambda source: _not_ignored(linker.link_one(source, engine.lint(source)), settings)


def _cache(options: argparse.Namespace, settings: Settings) -> Cache:
    from detlint.cache import Cache

    if options.no_cache:
        return Cache.disabled()
    key = f"{_version()} {sys.version_info[:2]} {settings!r}"
    return Cache.open(options.cache_dir, settings.root or os.getcwd(), key)


def _version() -> str:
    """Changes with any file of the package, so that a development install needs no new version."""
    entries = [__version__]
    package = os.path.dirname(__file__)
    with os.scandir(package) as inside:
        folders = [package, *(each.path for each in inside if each.is_dir())]
    for folder in folders:
        with os.scandir(folder) as files:
            entries += [f"{file.name} {file.stat().st_mtime_ns}" for file in files]
    return " ".join(sorted(entries))


def _show_patches(patches: Iterable[bytes], fixed: int) -> int:
    write(sys.stdout, patches)
    _say(f"would fix {fixed} finding{'s' * (fixed != 1)}")
    return FOUND if fixed else CLEAN


def _lint_stdin(options: argparse.Namespace, settings: Settings) -> int:
    if options.paths != ["-"]:
        raise UsageError("`-` reads one source from standard input: give no other path with it")
    from detlint.decoding import decode

    path = options.stdin_filename or "<stdin>"
    data = sys.stdin.buffer.read()
    if options.add_ignore is not None:
        raise UsageError("--add-ignore writes into files: it takes no standard input")
    if options.diff_base or options.staged:
        raise UsageError("standard input is of no commit: --diff-base and --staged take files")
    engine = _engine(options, settings)
    every = _linted_bytes(path, data, engine, _cache(options, settings), settings)
    new = _new(options, settings, lambda: engine, every)
    findings = new.of(every, lambda _path: _shown(path, data))
    known = len(every) - len(findings)
    fixable = any(each.fixable and (each.safe or options.unsafe_fixes) for each in findings)
    fixed = 0
    if (options.fix or options.diff) and fixable:
        from detlint.fixes import diff, fix

        before = decode(path, data)
        lint = _filtered(engine, settings)
        result = fix(
            before,
            lambda source: new.of(lint(source), lambda _path: source),
            unsafe=options.unsafe_fixes,
        )
        if options.diff:
            return _show_patches([diff(path, before, result.source)], len(result.fixed))
        data, fixed = result.source.encode(), len(result.fixed)
        findings = result.remaining
    if options.fix:
        write(sys.stdout, [data])
    _report(
        options,
        settings,
        findings,
        files=1,
        fixed=fixed,
        known=known,
        read=lambda _path: _shown(path, data),
    )
    return _status(options, findings)


def _linted_bytes(
    path: str, data: bytes, engine: Engine, results: Cache, settings: Settings
) -> list[Finding]:
    from detlint.callgraph.callers import are_asked, ignored
    from detlint.context import Context
    from detlint.decoding import decode
    from detlint.link import Linker
    from detlint.source import DecodeError

    findings = engine.lint_bytes(path, data)
    with suppress(DecodeError):
        context = Context([path], settings)
        findings = Linker(engine.rules, results, context).link_one(decode(path, data), findings)
        if are_asked(findings):
            settled = ignored(findings, context.files)
            findings = [each for each in findings if each not in settled]
    return _not_ignored(findings, settings)


def _status(options: argparse.Namespace, findings: Sequence[Finding]) -> int:
    return FOUND if findings and not options.exit_zero else CLEAN


def _report(  # noqa: PLR0913 - what a run has
    options: argparse.Namespace,
    settings: Settings,
    findings: Sequence[Finding],
    *,
    files: int,
    fixed: int = 0,
    known: int = 0,
    read: Callable[[str], Source | None] | None = None,
) -> None:
    """``read`` gives what was read from standard input, in which case ``--fix`` writes the
    fixed source to standard output."""
    from detlint.reporters import Report
    from detlint.settings import project_root

    stream = sys.stderr if read and options.fix else sys.stdout
    terminal = stream.isatty()
    sources = lru_cache(maxsize=1)(read or _decoded)
    report = Report(
        [_placed(each, sources) for each in findings],
        files=files,
        fixed=fixed,
        known=known,
        statistics=options.statistics,
        sources=sources,
        rules=lambda code: next((rule for rule in _every_rule() if rule.code == code), None),
        root=lambda: project_root(settings),
    )
    colour = terminal and not os.environ.get("NO_COLOR")
    show = terminal if options.show_source is None else options.show_source
    for name, file in options.outputs:
        if file:
            _write_report(name, file, report._replace(show_source=bool(options.show_source)))
        else:
            _print_report(name, stream, report._replace(colour=colour, show_source=show))


def _print_report(name: str, stream: TextIO, report: Report) -> None:
    from detlint.reporters import load

    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # a name or a line may not fit its encoding
    write(stream, load(name)(report))


def _write_report(name: str, file: str, report: Report) -> None:
    from detlint.reporters import load

    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(load(name)(report))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"{file}: cannot be written: {reason}") from error


def _decoded(path: str) -> Source | None:
    from detlint.decoding import decode
    from detlint.source import DecodeError

    try:
        with open(path, "rb") as file:
            return decode(path, file.read())
    except (OSError, DecodeError):
        return None


def _shown(path: str, data: bytes) -> Source:
    """A source to quote from, also where it is not text, or no notebook."""
    from detlint.decoding import decode
    from detlint.source import DecodeError, Source

    try:
        return decode(path, data)
    except DecodeError:
        return Source(path, data.decode("utf-8", "replace"))


def _placed(finding: Finding, sources: Callable[[str], Source | None]) -> Finding:
    """With the rows of its cell, for one in a notebook."""
    if kind_of_name(os.path.basename(finding.path)) != NOTEBOOK:
        return finding
    source = sources(finding.path)
    if source is None or source.kind != NOTEBOOK:
        return finding
    return cast("Notebook", source).placed(finding)


class _Progress:
    """A bar on standard error, if that is a terminal and the work is long."""

    def __init__(self, files: int) -> None:
        self._shown = files >= _LONG and sys.stderr.isatty()

    def __enter__(self) -> Callable[[int, int], None]:
        if not self._shown:
            return lambda _done, _total: None
        from rich.console import Console
        from rich.progress import Progress

        # Its refresh thread would stand in the way of forking workers.
        self._bar = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = self._bar.add_task("Linting", total=None)
        self._bar.start()
        return self._update

    def _update(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total, refresh=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._bar.stop()


def _explain(arguments: list[str]) -> int:
    from detlint.docs import explain

    known = {rule.code: rule for rule in _every_rule()}
    by_name = {rule.name(): rule for rule in _every_rule()}
    if not arguments or arguments[0] in ("-h", "--help"):
        raise UsageError("usage: detlint explain CODE …; `detlint rules` lists the codes")
    for word in arguments:
        rule = known.get(word.upper()) or by_name.get(word)
        if rule is None:
            raise UsageError(f"no rule {word!r}; there are {', '.join(known)}")
        write(sys.stdout, [explain(rule)])
    return CLEAN


def _rules(arguments: list[str]) -> int:
    if arguments:
        raise UsageError("usage: detlint rules (to lint a folder of that name: `detlint ./rules`)")
    write(sys.stdout, map(_listed, _every_rule()))
    return CLEAN


def _listed(rule: type[Rule]) -> str:
    state = "on " if rule.default else "off"
    return f"{rule.code}  {state}  {rule.confidence!s:<7}  {rule.name():<32}  {rule.summary}\n"


def _baseline(arguments: list[str]) -> int:
    from detlint import arguments as options_module
    from detlint.baseline import Baseline
    from detlint.configuration import shown
    from detlint.discovery import discover
    from detlint.settings import BASELINE, project_root

    options = options_module.parse_baseline(arguments)
    settings = _settings(options)
    root = project_root(settings)
    file = options.baseline or os.path.join(root, BASELINE)
    known = Baseline.load(root, file) if os.path.isfile(file) else Baseline(root)
    paths = discover(options.paths, settings, lambda text: _say(f"warning: {text}"))
    engine = cache(lambda: _engine(options, settings))
    linted = _lint_all(options, settings, engine, paths)
    for path, failure in linted.failures.items():
        _say_failed(failure, f" at {path}, which is not linted")
    if linted.failures:
        return FAILED
    still = known.shrunk(linted.findings, _decoded)
    found = still if options.prune else Baseline.of(root, linted.findings, _decoded)
    beside = known.kept_beside(paths)
    found.joined(beside).save(file)
    kept, gone = len(found) + len(beside), len(known) - len(still) - len(beside)
    _say(
        f"{shown(file)}: {kept} known finding{'s' * (kept != 1)}, of which "
        f"{len(found) - len(still)} new; {gone} gone"
    )
    return CLEAN


_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "baseline": _baseline,
    "explain": _explain,
    "rules": _rules,
}
