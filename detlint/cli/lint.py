"""``detlint PATH …``: report, fix, show what a fix would change, or silence."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from detlint.cli import parts
from detlint.cli.report import decoded, quoted, report
from detlint.cli.said import counted, say, tell_failures
from detlint.cli.status import CLEAN, FAILED, FOUND
from detlint.cli.streams import write
from detlint.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from detlint.cli.parts import Part
    from detlint.finding import Finding
    from detlint.sources.source import Source
    from detlint.suppression.novelty import Novelty


class Outcome(NamedTuple):
    """What became of one part of the files.

    known   how many findings are left out
    gone    how many known findings are mended
    patches what would change, or is silenced
    left    files with findings that no comment silences
    """

    findings: Sequence[Finding]
    known: int = 0
    gone: int = 0
    fixed: int = 0
    patches: Sequence[bytes] = ()
    left: Sequence[str] = ()
    failed: bool = False


def run(arguments: list[str]) -> int:
    """Lint what is named; the exit status."""
    from detlint.cli.arguments import parse

    options = parse(arguments)
    parts.check(options)
    if options.add_ignore is not None:
        from detlint.suppression.adding import checked

        options.add_ignore = checked(options.add_ignore)
        if options.fix:
            raise UsageError("--fix mends, and --add-ignore keeps: give one of them")
    if options.watch:
        from detlint.cli import watch

        watch.check(options)
        return watch.watch(options, arguments, lint_paths)
    if "-" in options.paths:
        return _lint_stdin(options)
    return lint_paths(options)


def lint_paths(options: argparse.Namespace) -> int:
    """Lint files once; the exit status."""
    found = parts.found(options, (lambda _: None) if options.quiet else parts.say_warning)
    if options.show_files or options.show_settings:
        from detlint.cli import showing

        return (showing.show_files if options.show_files else showing.show_settings)(found)
    if options.verbose:
        return _told(options, found)
    return _linted(options, found, [_outcome(options, part) for part in found])


def _told(options: argparse.Namespace, found: Sequence[Part]) -> int:
    """The same, with what was done on standard error."""
    from time import perf_counter

    from detlint import journal
    from detlint.cli import showing

    begun = perf_counter()
    journal.begin()
    showing.tell_parts(found)
    done = [_outcome(options, part) for part in found]
    showing.tell_work(found, _joined(done).findings, perf_counter() - begun)
    journal.close()
    return _linted(options, found, done)


def _linted(options: argparse.Namespace, found: Sequence[Part], done: Sequence[Outcome]) -> int:
    """Report what became of all parts; the exit status."""
    whole = _joined(done)
    files = sum(len(each.paths) for each in found)
    if not (files or options.quiet):
        say("warning: no file to lint found under the given paths")
    if options.add_ignore is not None:
        status = _told_silenced(options, whole)
    elif options.diff:
        status = _show_patches(whole.patches, whole.fixed)
    else:
        report(
            options,
            found[0].settings,
            whole.findings,
            files=files,
            fixed=whole.fixed,
            known=whole.known,
            programs=lambda: _programs(found, whole.findings),
        )
        status = FOUND if whole.findings and not options.exit_zero else CLEAN
    if whole.gone and not options.quiet:
        say(
            f"{counted(whole.gone, 'known finding')} of the baseline "
            f"{'are' if whole.gone != 1 else 'is'} mended: `detlint baseline --prune .` drops them"
        )
    return FAILED if whole.failed else status


def _programs(found: Sequence[Part], findings: Sequence[Finding]) -> dict[str, list[str]]:
    """The programs that have each file with a finding, by the path of that."""
    return {path: names for part in found for path, names in part.programs_of(findings).items()}


def _joined(done: Sequence[Outcome]) -> Outcome:
    if len(done) == 1:
        return done[0]
    return Outcome(
        sorted((each for one in done for each in one.findings), key=lambda each: each[:6]),
        sum(each.known for each in done),
        sum(each.gone for each in done),
        sum(each.fixed for each in done),
        [patch for each in done for patch in each.patches],
        [path for each in done for path in each.left],
        any(each.failed for each in done),
    )


def _outcome(options: argparse.Namespace, part: Part) -> Outcome:
    linted = part.lint(options)
    tell_failures(linted.failures)
    new = part.novelty(options, linted.findings)
    found = new.of(linted.findings, decoded)
    failed = bool(linted.failures)
    if options.add_ignore is not None:
        return _silenced(options, part, new, found)._replace(failed=failed)
    outcome = Outcome(found, len(linted.findings) - len(found), failed=failed)
    if options.fix or options.diff:
        return _fixed(options, part, new, outcome)
    return outcome._replace(gone=new.gone(linted.findings, part, decoded))


def _fixed(options: argparse.Namespace, part: Part, new: Novelty, outcome: Outcome) -> Outcome:
    """What is left after fixes."""
    from detlint.fixes.applying import fix_files

    fixes = fix_files(
        outcome.findings,
        _new_in(part.again(), new),
        unsafe=options.unsafe_fixes,
        dry_run=options.diff,
    )
    say(*fixes.failures)
    if fixes.importing and not options.quiet:
        from detlint import addresses

        say(
            f"{', '.join(fixes.importing)}: {'would import' if options.diff else 'now imports'} "
            f"guard. Add what brings it to the requirements: `{addresses.requirement()}`"
        )
    outcome = outcome._replace(
        fixed=fixes.fixed, patches=fixes.patches, failed=outcome.failed or bool(fixes.failures)
    )
    if options.diff or not fixes.fixed:
        return outcome
    linted = part.lint(options)  # a fix may mend what is found in another file
    tell_failures(linted.failures)
    found = new.of(linted.findings, decoded)
    return outcome._replace(findings=found, known=len(linted.findings) - len(found))


def _silenced(
    options: argparse.Namespace, part: Part, new: Novelty, found: Sequence[Finding]
) -> Outcome:
    """What is left after comments."""
    from detlint.suppression.adding import ignore_files

    done = ignore_files(
        found,
        _new_in(part.again(), new),
        options.add_ignore,
        dry_run=options.diff,
    )
    return Outcome((), fixed=done.silenced, patches=done.patches, left=done.left)


def _told_silenced(options: argparse.Namespace, outcome: Outcome) -> int:
    write(sys.stdout, outcome.patches)
    would = "would silence" if options.diff else "silenced"
    say(f"{would} {counted(outcome.fixed, 'finding')}")
    for path in outcome.left:
        say(f"{path}: has findings left that no comment can silence: use per-file-ignores")
    return FOUND if outcome.left else CLEAN


def _show_patches(patches: Iterable[bytes], fixed: int) -> int:
    write(sys.stdout, patches)
    say(f"would fix {counted(fixed, 'finding')}")
    return FOUND if fixed else CLEAN


def _lint_stdin(options: argparse.Namespace) -> int:
    if options.paths != ["-"]:
        raise UsageError("`-` reads one source from standard input: give no other path with it")
    if options.add_ignore is not None:
        raise UsageError("--add-ignore writes into files: it takes no standard input")
    if options.diff_base or options.staged:
        raise UsageError("standard input is of no commit: --diff-base and --staged take files")
    from detlint.sources.decoding import decode

    path = options.stdin_filename or "<stdin>"
    part = parts.Part(options, parts.settings_of(options, options.stdin_filename or "."), [path])
    data = sys.stdin.buffer.read()
    every = part.lint_bytes(path, data)
    new = part.novelty(options, every)
    findings = new.of(every, lambda _path: quoted(path, data))
    known, fixed = len(every) - len(findings), 0
    fixable = any(each.fixable and (each.safe or options.unsafe_fixes) for each in findings)
    if (options.fix or options.diff) and fixable:
        from detlint.fixes.applying import diff, fix

        before = decode(path, data)
        result = fix(before, _new_in(part.again(), new), unsafe=options.unsafe_fixes)
        if options.diff:
            return _show_patches([diff(path, before, result.source)], len(result.fixed))
        data, fixed = result.source.encode(), len(result.fixed)
        findings = result.remaining
    if options.fix:
        write(sys.stdout, [data])
    report(
        options,
        part.settings,
        findings,
        files=1,
        fixed=fixed,
        known=known,
        read=lambda _path: quoted(path, data),
    )
    return FOUND if findings and not options.exit_zero else CLEAN


def _new_in(
    lint: Callable[[Source], list[Finding]], new: Novelty
) -> Callable[[Source], list[Finding]]:
    return lambda source: new.of(lint(source), lambda _path: source)
